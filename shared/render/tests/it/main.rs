//! The renderer from outside.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop where something is not as it says"
)]

mod content;
mod corpus;
mod finish;
mod golden;
mod handlebars;
mod links;
mod properties;
mod test_app;
mod unsubscribe;
mod utm;
