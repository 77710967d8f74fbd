//! The service from outside. Everything is under `it/`; see README.md.
