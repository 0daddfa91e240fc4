//! The sync wire: messages, frames, session machines, markers, watermarks.
