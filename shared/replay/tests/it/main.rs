//! Events that are posted again, over a table and a queue in memory.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod env;
mod jobs;
mod mails;
