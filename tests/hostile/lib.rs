//! Everything is in the test binary; see `main.rs`.
