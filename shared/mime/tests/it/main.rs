//! Composed mails from outside: exact bytes, laws for any input, and parsed back.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

mod bounces;
mod corpus;
mod golden;
mod hostile;
mod laws;
mod refusals;
mod samples;
