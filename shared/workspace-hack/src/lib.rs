//! Nothing but a list of features (see Cargo.toml).
//!
//! Cargo compiles a crate anew for each set of features that is asked of it. The functions are built one by
//! one, and each asks for a little more or less of crates that lie beneath the AWS SDKs: without this list
//! `sam build` compiles those, and everything above them, up to five times.
