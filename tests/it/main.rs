//! End-to-end tests, one module a story.
