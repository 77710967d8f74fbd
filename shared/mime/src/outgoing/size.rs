//! Estimates the size of a mail, without writing it where possible.

use posthaste_model::{Attachment, Content};

use super::body;

/// A composed mail is below so many octets, with headers, body and files (SPEC, "Limits").
pub const LARGEST_MAIL: usize = 30 << 20;

/// The size of a part's own header and its boundary, without the file name.
const AROUND: usize = 512;

/// Whether body and files, as they go out, exceed `limit` octets.
///
/// Most mails are far below; a mail close to the limit has its text encoded once to be counted.
/// Headers are added by the caller.
pub fn exceeds(limit: usize, contents: &[Content], attachments: &[Attachment]) -> bool {
    let files: usize = attachments.iter().map(file).sum();
    let bound: usize = contents.iter().map(|c| text_at_most(&c.value)).sum();
    if files.saturating_add(bound) <= limit {
        return false;
    }
    let exact: usize = contents.iter().map(text).sum();
    files.saturating_add(exact) > limit
}

/// Base64 in lines of 76 characters, and three times the name: twice it may be encoded.
fn file(file: &Attachment) -> usize {
    let data = file.content.len();
    let id = file.content_id.as_ref().map_or(0, String::len);
    data + data.div_ceil(76) * 2 + file.filename.len() * 6 + id * 3 + AROUND
}

/// No encoding is longer than base64 in lines, but lone line ends become two characters.
fn text_at_most(text: &str) -> usize {
    let ends = text.bytes().filter(|b| matches!(b, b'\r' | b'\n')).count();
    let base64 = (text.len() + ends).div_ceil(3) * 4;
    // Text with control characters is quoted-printable whatever its size.
    let quoted = |b: &u8| *b < b' ' && !b"\t\r\n".contains(b) || *b == 0x7f;
    let worst = if text.as_bytes().iter().any(quoted) {
        text.len() * 3 + ends
    } else {
        base64
    };
    worst + worst.div_ceil(72) * 3 + AROUND
}

fn text(content: &Content) -> usize {
    let mut out = Vec::new();
    // Characters that cannot be written are not sent.
    match body::write(&content.mime_type, &content.value, "=_size", &mut out) {
        Ok(()) => out.len() + AROUND,
        Err(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_is_never_below_what_is_written() {
        for value in [
            String::new(),
            "plain\n".repeat(1000),
            "\n".repeat(5000),
            "\r\n".repeat(5000),
            "x".repeat(10_000),
            "ü".repeat(10_000),
            "日本".repeat(3_000),
            "\x01".repeat(10_000),
            "=".repeat(10_000),
            "a ü \n".repeat(3_000),
        ] {
            for mime_type in ["text/plain", "application/json"] {
                let content = Content {
                    mime_type: mime_type.into(),
                    value: value.clone(),
                };
                assert!(
                    text(&content) <= text_at_most(&value) + AROUND,
                    "{value:.20?}"
                );
            }
        }
    }

    #[test]
    fn close_to_the_limit_the_text_is_counted() {
        let content = |value: String| Content {
            mime_type: "text/plain".into(),
            value,
        };
        // Short ASCII lines are written unchanged.
        let plain = [content("plain text\r\n".repeat(10_000))];
        assert!(!exceeds(121_000, &plain, &[]));
        assert!(exceeds(119_000, &plain, &[]));
        let file = Attachment {
            content: "QUJD".repeat(19 * 100),
            mime_type: None,
            filename: "a".into(),
            disposition: posthaste_model::Disposition::Attachment,
            content_id: None,
        };
        let files = [file];
        assert!(exceeds(7_700, &[], &files));
        assert!(!exceeds(9_000, &[], &files));
    }
}
