//! Negentropy v1 over a storage that can supply range fingerprints.
