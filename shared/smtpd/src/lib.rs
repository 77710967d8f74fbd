//! An SMTP server: the one session engine behind the recording relay of the local host, the inbound
//! port and the submission port.
//!
//! ESMTP of RFC 5321 with PIPELINING, SIZE, 8BITMIME, SMTPUTF8, ENHANCEDSTATUSCODES, STARTTLS and
//! AUTH PLAIN and LOGIN. The [`Handler`] decides who may connect, log in and write to whom, and
//! what happens to a mail.
//!
//! Written here because no crate fits: `mailin-embedded` blocks a thread per connection and has no
//! deadlines, `samotop` depends on the abandoned async-std, `rs-smtp`, `rust-smtp-server`,
//! `minismtp` and `smtpd` had no release since 2023 or only a first one, and no crate bounds memory
//! over all connections. `smtp-proto` parses commands and message ends and leaves everything else to
//! its caller: states, deadlines, limits, TLS, the order of pipelined replies. What would be taken
//! from it is `command.rs` and `data.rs`, a quarter of this crate, and both hold rules of their own:
//! bare line ends, and what is skipped of a line that is too long.
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use posthaste_smtpd::{Config, Handler, Session, SmtpEnvelope, SmtpReply, serve};
//!
//! /// Accepts mail for one domain and prints its size.
//! struct Counter;
//!
//! impl Handler for Counter {
//!     type Identity = ();
//!
//!     async fn rcpt(&self, _: &Session<()>, _: &SmtpEnvelope, to: &str) -> Result<(), SmtpReply> {
//!         if to.ends_with("@example.com") {
//!             Ok(())
//!         } else {
//!             Err(SmtpReply::new(550, "5.7.1", "this server does not relay"))
//!         }
//!     }
//!
//!     async fn data(&self, _: &Session<()>, envelope: SmtpEnvelope, message: Vec<u8>) -> SmtpReply {
//!         println!("{} bytes from {}", message.len(), envelope.from);
//!         SmtpReply::new(250, "2.0.0", "accepted")
//!     }
//! }
//!
//! # async fn example() -> std::io::Result<()> {
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:2525").await?;
//! let stop = std::future::pending();
//! serve(listener, Config::new("mx.example.com"), Arc::new(Counter), stop).await;
//! # Ok(())
//! # }
//! ```
//!
//! Against abuse:
//! * Only CRLF `.` CRLF ends a message. A bare CR or LF never ends a line, so nothing can be
//!   smuggled past a relay that sees line ends elsewhere; [`BareLineEnds`] says whether such a
//!   message is kept as it is or refused. Commands must end with CRLF.
//! * Text between STARTTLS and TLS closes the connection.
//! * Everything has a limit: the length of a line, of what is skipped after a line too long, the
//!   time for a line and for a message, errors, failed logins, commands that lead nowhere,
//!   connections, connections of one address, and the bytes held for messages not yet handed on,
//!   over all connections together.
//! * Replies are written in one go after a pipelined group, and a client that does not read them
//!   is left when a write takes too long.

mod command;
mod config;
mod connection;
mod data;
mod handler;
mod path;
mod protocol;
mod reply;
mod sasl;
mod server;

pub use config::{Auth, BareLineEnds, Config, Extensions, ServerTls, SmtpLimits};
pub use handler::{Handler, Login, Session, SmtpEnvelope};
pub use reply::SmtpReply;
pub use server::serve;
