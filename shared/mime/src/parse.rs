//! Parses an untrusted mail: header fields, parameters, parts, transfer encodings and charsets.
//! Everything borrows from the raw bytes, and nothing here recurses.
//!
//! The splitting is implemented here rather than with `mail-parser` for three reasons, each
//! observed with its version 0.11.9: a 6 MB mail of nested `message/rfc822` overflows its stack, a
//! 2 MB mail of boundaries that never occur takes it minutes, and it converts text to UTF-8, while
//! the inbound form needs the original bytes. Its charset tables are used.

pub(crate) mod charset;
mod entity;
mod fields;
mod lines;
mod params;
mod strict;
mod transfer;
mod words;

pub(crate) use entity::{Entity, MultipartParts};
pub(crate) use fields::{HeaderFields, unfolded};
pub(crate) use lines::{HeaderPiece, is_folded, is_parameter, lines, pieces, separators};
pub(crate) use params::Parameterised;
pub(crate) use transfer::decoded;
pub(crate) use words::{LONGEST, WordContext, encoded, text};
