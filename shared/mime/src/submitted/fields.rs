//! The fields of a submitted mail, unchanged and as they are written.

use crate::parse::{HeaderPiece, is_folded, is_parameter, lines, pieces};

/// Fields that only the service reads, removed from the mail.
pub(super) const OURS: [&str; 3] = ["bcc", "resent-bcc", "x-smtpapi"];

/// Fields that describe the encoding of a text.
pub(super) const WRITTEN: [&str; 3] = ["content-type", "content-transfer-encoding", "content-md5"];

/// Octets of a line without its line end (RFC 5321, section 4.5.3.1.6, and RFC 5322, section
/// 2.1.1).
pub(super) const LONGEST_LINE: usize = 998;

/// Each field's name and the field unchanged. Lines that are no field are left out.
pub(super) fn fields(header: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    pieces(header).filter_map(|piece| {
        let HeaderPiece::Field(field) = piece else {
            return None;
        };
        let colon = memchr::memchr(b':', field)?;
        let name = field.get(..colon)?.trim_ascii_end();
        (!name.is_empty()).then_some((name, field))
    })
}

/// Writes a field without blanks before its colon, which RFC 5322, section 4.5, forbids to write,
/// without lines that are no part of it, and in lines that are not too long where it has blanks to
/// fold at. The header may have ended without a line end.
pub(super) fn put_field(field: &[u8], out: &mut Vec<u8>) {
    let colon = memchr::memchr(b':', field).unwrap_or_default();
    let (name, _) = field.split_at_checked(colon).unwrap_or_default();
    let name = name.trim_ascii_end();
    for (at, line) in lines(field).enumerate() {
        let mut line = line;
        if at == 0 {
            out.extend_from_slice(name);
            line = line.get(colon..).unwrap_or_default();
        } else if !is_folded(line) {
            if !is_parameter(line) {
                continue;
            }
            out.push(b'\t');
        }
        let used = if at == 0 { name.len() } else { 1 };
        fold(line, used, out);
    }
    if !out.ends_with(b"\n") {
        out.extend_from_slice(b"\r\n");
    }
}

/// Writes a line, in pieces where it is too long: a line end before white space that is followed by
/// anything else changes no value (RFC 5322, section 2.2.3).
fn fold(line: &[u8], used: usize, out: &mut Vec<u8>) {
    let (text, end) = line
        .split_at_checked(line.trim_ascii_end().len())
        .unwrap_or((line, b""));
    let mut rest = text;
    let mut room = LONGEST_LINE.saturating_sub(used);
    while rest.len() > room {
        // The white space of a fold would be all of its line.
        let indent = rest.len() - rest.trim_ascii_start().len();
        let head = rest.get(..=room).unwrap_or(rest);
        let blank = |b: &u8| matches!(b, b' ' | b'\t');
        let ends = |at: &usize| *at > indent && head.get(at + 1).is_none_or(|b| !blank(b));
        let mut blanks = memchr::memrchr2_iter(b' ', b'\t', head);
        let Some(at) = blanks.find(ends) else { break };
        let (piece, next) = rest.split_at_checked(at).unwrap_or((rest, b""));
        out.extend_from_slice(piece);
        out.extend_from_slice(b"\r\n");
        (rest, room) = (next, LONGEST_LINE);
    }
    out.extend_from_slice(rest);
    // Blanks at the end stay where they fit; a line of nothing else ends the header for some.
    let blanks = end.iter().filter(|b| !matches!(b, b'\r' | b'\n')).count();
    if rest.len() + blanks <= room {
        out.extend_from_slice(end);
    } else {
        out.extend_from_slice(b"\r\n");
    }
}

pub(super) fn is_one_of(name: &[u8], names: &[&str]) -> bool {
    names
        .iter()
        .any(|wanted| name.eq_ignore_ascii_case(wanted.as_bytes()))
}
