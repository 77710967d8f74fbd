//! Converts envelopes to RFC 5322 bytes and back.
//!
//! Pure: no input or output, no clock, no randomness. Values that a message would otherwise
//! generate come in as a [`Stamp`], so the same mail gives the same bytes.
//!
//! Mails are read here because no crate fits. `mail-parser` 0.11 overflows its stack on 6 MB of
//! nested `message/rfc822`, takes minutes for 2 MB of boundaries that never occur, and converts texts
//! to UTF-8 where the inbound form needs the received bytes; its tables of charsets are used.
//! `mailparse` refuses a whole mail for one line of the header that is no field, which gateways
//! produce.
//!
//! ```
//! use posthaste_mime::inbound::{Facts, Mode, Spf, form};
//! use posthaste_mime::read::ParsedMail;
//!
//! let raw = b"From: Ann <ann@example.com>\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\n\r\nHello\r\n";
//! let mail = ParsedMail::read(raw);
//! assert_eq!(mail.text("Subject").as_deref(), Some("Grüße"));
//!
//! // The same mail as the fields of an inbound POST.
//! let facts = Facts {
//!     envelope_from: "ann@example.com",
//!     envelope_to: "box@in.example.com",
//!     sender_ip: None,
//!     received: None,
//!     spf: Spf::Pass,
//!     dkim: &[],
//!     spam: None,
//! };
//! let form = form(raw, &facts, Mode::Parsed);
//! assert_eq!(form.get("text"), Some(&b"Hello\r\n"[..]));
//! let (content_type, body) = form.encode();
//! assert_eq!(content_type, "multipart/form-data; boundary=xYzZY");
//! assert!(body.ends_with(b"--xYzZY--\r\n"));
//! ```

pub mod inbound;
mod media_type;
mod outgoing;
mod parse;
pub mod read;
pub mod report;
pub mod submitted;

pub use outgoing::{
    BuildError, HEADER_RULES, HeaderRule, LARGEST_MAIL, LONGEST_HEADER_NAME, Outgoing, Stamp,
    build, exceeds, header_rule, is_base64, is_body_type, is_header_name, message_id,
};
