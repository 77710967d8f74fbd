//! The form of a POST, and its bytes as `multipart/form-data` (RFC 7578).

use std::borrow::Cow;

use memchr::memmem;
use serde_json::{Map, Value};

use super::content::{File, TextBody};

/// The usual boundary of SendGrid's posts (API facts, section 4).
const USUAL: &str = "xYzZY";

/// Digits that distinguish another boundary from the usual one.
const DIGITS: usize = 8;

/// The fields of one POST, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseForm<'a> {
    pub entries: Vec<FormEntry<'a>>,
}

/// One field or file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormEntry<'a> {
    pub name: Cow<'static, str>,
    pub value: Cow<'a, [u8]>,
    /// Only files have one.
    pub file: Option<FileFacts>,
}

/// The headers of a file part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFacts {
    pub filename: String,
    /// With its charset for text.
    pub content_type: String,
}

impl<'a> ParseForm<'a> {
    /// The first entry of this name.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        let entry = self.entries.iter().find(|entry| entry.name == name);
        entry.map(|entry| entry.value.as_ref())
    }

    /// The value of the `Content-Type` header, and the body.
    ///
    /// The boundary is `xYzZY`, as receivers expect, unless the content contains it.
    pub fn encode(&self) -> (String, Vec<u8>) {
        encode(self)
    }

    pub(super) fn text(&mut self, name: &'static str, value: String) {
        self.owned(name, value.into_bytes());
    }

    pub(super) fn owned(&mut self, name: &'static str, value: Vec<u8>) {
        self.entries.push(FormEntry {
            name: name.into(),
            value: Cow::Owned(value),
            file: None,
        });
    }

    pub(super) fn maybe(&mut self, name: &'static str, value: Option<String>) {
        if let Some(value) = value {
            self.text(name, value);
        }
    }

    pub(super) fn bytes(&mut self, name: &'static str, value: &'a [u8]) {
        self.entries.push(FormEntry {
            name: name.into(),
            value: Cow::Borrowed(value),
            file: None,
        });
    }

    pub(super) fn body(
        &mut self,
        name: &'static str,
        body: Option<TextBody<'a>>,
        charsets: &mut Map<String, Value>,
    ) {
        if let Some(body) = body {
            charsets.insert(name.to_owned(), body.charset.as_str().into());
            self.entries.push(FormEntry {
                name: name.into(),
                value: body.into_bytes(),
                file: None,
            });
        }
    }

    pub(super) fn file(&mut self, n: usize, file: File<'a>) {
        self.entries.push(FormEntry {
            name: format!("attachment{n}").into(),
            value: file.bytes,
            file: Some(FileFacts {
                filename: file.filename,
                content_type: file.content_type,
            }),
        });
    }
}

fn encode(form: &ParseForm<'_>) -> (String, Vec<u8>) {
    let boundary = boundary(form);
    let overhead = |filename: usize| 160 + boundary.len() + filename;
    let size: usize = form
        .entries
        .iter()
        .map(|entry| {
            let file = entry.file.as_ref();
            let facts = file.map_or(0, |f| f.filename.len() * 3 + f.content_type.len());
            entry.value.len() + entry.name.len() + overhead(facts)
        })
        .sum();
    let mut out = Vec::with_capacity(size);
    for entry in &form.entries {
        let mut head = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"",
            entry.name
        );
        if let Some(file) = &entry.file {
            let filename = escaped(&file.filename);
            head.push_str(&format!(
                "; filename=\"{filename}\"\r\nContent-Type: {}",
                file.content_type
            ));
        }
        out.extend_from_slice(head.as_bytes());
        out.extend_from_slice(b"\r\n\r\n");
        out.extend_from_slice(&entry.value);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    (format!("multipart/form-data; boundary={boundary}"), out)
}

/// Names in the form that browsers use (the HTML standard's multipart/form-data encoding
/// algorithm).
fn escaped(filename: &str) -> String {
    filename
        .replace('"', "%22")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// The usual boundary, or the usual one and the lowest number that does not follow it anywhere in
/// the content. One pass, so that a mail full of boundaries costs no more than any other.
fn boundary(form: &ParseForm<'_>) -> String {
    let usual = format!("--{USUAL}");
    let finder = memmem::Finder::new(&usual);
    let mut found = false;
    let mut taken = Vec::new();
    for entry in &form.entries {
        for at in finder.find_iter(entry.value.as_ref()) {
            found = true;
            let from = at + usual.len();
            let digits = entry.value.get(from..from + DIGITS);
            let digits = digits.filter(|digits| digits.iter().all(u8::is_ascii_digit));
            let number = digits.and_then(|d| std::str::from_utf8(d).ok()?.parse::<u32>().ok());
            taken.extend(number);
        }
    }
    if !found {
        return USUAL.to_owned();
    }
    taken.sort_unstable();
    taken.dedup();
    let free = taken.iter().zip(0_u32..).find(|(number, at)| *number != at);
    let free = free.map_or(taken.len(), |(_, at)| {
        usize::try_from(at).unwrap_or_default()
    });
    format!("{USUAL}{free:0DIGITS$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(value: &[u8]) -> ParseForm<'_> {
        ParseForm {
            entries: vec![FormEntry {
                name: "text".into(),
                value: value.into(),
                file: None,
            }],
        }
    }

    #[test]
    fn fields_have_a_name_and_files_a_type_too() {
        let mut form = with(b"a\r\nb");
        form.entries.push(FormEntry {
            name: "attachment1".into(),
            value: b"\0\xff"[..].into(),
            file: Some(FileFacts {
                filename: "a\"b\r\nü.pdf".to_owned(),
                content_type: "application/pdf".to_owned(),
            }),
        });
        let (content_type, body) = form.encode();
        assert_eq!(content_type, "multipart/form-data; boundary=xYzZY");
        let want = [
            &b"--xYzZY\r\nContent-Disposition: form-data; name=\"text\"\r\n\r\na\r\nb\r\n"[..],
            b"--xYzZY\r\nContent-Disposition: form-data; name=\"attachment1\"; filename=\"a%22b%0D%0A",
            "ü.pdf\"\r\nContent-Type: application/pdf\r\n\r\n".as_bytes(),
            b"\0\xff\r\n--xYzZY--\r\n",
        ];
        assert_eq!(body, want.concat());
    }

    #[test]
    fn the_boundary_is_never_in_the_content() {
        for (content, want) in [
            ("xYzZY", "xYzZY"),
            ("-xYzZY", "xYzZY"),
            ("a --xYzZY b", "xYzZY00000000"),
            ("--xYzZY00000000 --xYzZY00000002", "xYzZY00000001"),
            ("--xYzZY00000001", "xYzZY00000000"),
            ("--xYzZY00000000--xYzZY00000001", "xYzZY00000002"),
            ("--xYzZY0000000", "xYzZY00000000"),
            ("--xYzZY000000001", "xYzZY00000001"),
        ] {
            let boundary = boundary(&with(content.as_bytes()));
            assert_eq!(boundary, want, "{content}");
            assert!(!content.contains(&format!("--{boundary}")), "{content}");
        }
    }
}
