//! Any texts and files as a mail: every line is legal, and a parser that is not ours finds each of
//! them again, byte for byte.

#![no_main]

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use mail_parser::{MessageParser, PartType};
use posthaste_mime::{Outgoing, Stamp, build};
use posthaste_model::{Attachment, Content, Disposition, EmailAddress, Mailbox, Timestamp};

#[derive(Arbitrary, Debug)]
struct Parts<'a> {
    texts: Vec<(Kind, &'a str)>,
    files: Vec<File<'a>>,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Kind {
    Plain,
    Html,
    Amp,
    Calendar,
}

#[derive(Arbitrary, Debug)]
struct File<'a> {
    bytes: &'a [u8],
    name: &'a str,
    kind: Option<&'a str>,
    content_id: Option<&'a str>,
    inline: bool,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Plain => "text/plain",
            Self::Html => "text/html",
            Self::Amp => "text/x-amp-html",
            Self::Calendar => "text/calendar; method=REQUEST",
        }
    }
}

fuzz_target!(|parts: Parts<'_>| {
    let contents = parts.texts.iter().map(|(kind, value)| Content {
        mime_type: kind.name().to_owned(),
        value: (*value).to_owned(),
    });
    let contents: Vec<_> = contents.collect();
    let attachments = parts.files.iter().map(|file| Attachment {
        content: BASE64_STANDARD.encode(file.bytes),
        mime_type: file.kind.map(str::to_owned),
        filename: file.name.to_owned(),
        disposition: if file.inline {
Disposition::Inline
} else {
Disposition::Attachment
},
        content_id: file.content_id.map(str::to_owned),
    });
    let attachments: Vec<_> = attachments.collect();
    let ann = Mailbox {
        email: EmailAddress::parse("ann@example.com").expect("an address"),
        name: None,
    };
    let mail = Outgoing {
        from: &ann,
        to: std::slice::from_ref(&ann),
        cc: &[],
        reply_to: &[],
        subject: "Hello",
        contents: &contents,
        attachments: &attachments,
        headers: &BTreeMap::new(),
        extra: &[],
    };
    let stamp = Stamp {
        message_id: "1@example.com",
        date: Timestamp(1_800_000_000),
        boundary: "b",
    };
    match build(&mail, &stamp) {
        Ok(built) => sound(&built, &parts),
        Err(other) => panic!("{other}"),
    }
});

fn sound(built: &[u8], parts: &Parts<'_>) {
    let text = std::str::from_utf8(built).expect("UTF-8");
    assert!(text.is_ascii() && text.ends_with("\r\n"));
    for line in text.split("\r\n") {
        assert!(line.len() <= 998 && !line.contains(['\r', '\n', '\0']));
    }
    // A parser looks into these; what it finds there is not ours to count. A type without a slash is
    // text to it (RFC 2045, section 5.2).
    let opaque = |file: &File<'_>| {
        let kind = file.kind.unwrap_or_default().trim().to_ascii_lowercase();
        let essence = kind.split(';').next().unwrap_or_default();
        (kind.is_empty() || essence.contains('/'))
            && !["message/", "multipart/", "text/"]
                .iter()
                .any(|begin| kind.starts_with(begin))
    };
    if !parts.files.iter().all(opaque) {
        return;
    }
    let message = MessageParser::default().parse(built).expect("a message");
    let leaves = message.parts.iter();
    let leaves = leaves.filter(|part| !matches!(part.body, PartType::Multipart(_)));
    let (texts, files): (Vec<_>, Vec<_>) = leaves
        .partition(|part| !matches!(part.body, PartType::Binary(_) | PartType::InlineBinary(_)));
    // A mail of nothing has an empty text.
    let empty = parts.texts.is_empty() && parts.files.is_empty();
    assert_eq!(texts.len(), parts.texts.len() + usize::from(empty));
    let sorted = |mut list: Vec<Vec<u8>>| {
        list.sort();
        list
    };
    let lines = |text: &str| {
        text.replace("\r\n", "\n")
            .replace('\r', "\n")
            .replace('\n', "\r\n")
    };
    // A mail of one text ends like every line does.
    let end = |mut text: Vec<u8>| {
        if parts.texts.len() + parts.files.len() == 1 && !text.ends_with(b"\r\n") {
            text.extend_from_slice(b"\r\n");
        }
        text
    };
    if !empty {
        let got = texts
            .iter()
            .map(|part| end(part.contents().to_vec()))
            .collect();
        let want = parts
            .texts
            .iter()
            .map(|(_, text)| end(lines(text).into_bytes()))
            .collect();
        assert_eq!(sorted(got), sorted(want));
    }
    let got = files.iter().map(|part| part.contents().to_vec()).collect();
    let want = parts.files.iter().map(|file| file.bytes.to_vec()).collect();
    assert_eq!(sorted(got), sorted(want));
}
