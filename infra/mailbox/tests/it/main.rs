//! The mailbox from outside: deliver mails, call it over HTTP.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

mod about;
mod api;
mod change;
mod checks;
mod copies;
mod corpus;
mod document;
mod extract;
mod guard;
mod hostile;
mod keep;
mod limits;
mod offload;
mod outgoing;
mod page;
mod place;
mod rows;
mod schedule;
mod search;
mod support;
mod tags;
mod wait;
mod watch;
