//! Any texts in the places where callers write into a header: every line is legal, and no field is
//! there that the mail or the caller did not name.

#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use posthaste_mime::{BuildError, HeaderRule, Outgoing, Stamp, build, header_rule, is_header_name};
use posthaste_model::{Content, EmailAddress, Mailbox, Timestamp};

#[derive(Arbitrary, Debug)]
struct Texts<'a> {
    subject: &'a str,
    from: (&'a str, &'a str),
    to: Vec<(&'a str, &'a str)>,
    headers: Vec<(&'a str, &'a str)>,
    extra: &'a str,
}

fn mailbox((email, name): (&str, &str)) -> Mailbox {
    let known = || EmailAddress::parse("ann@example.com");
    Mailbox {
        email: EmailAddress::parse(email)
            .or_else(|_| known())
            .expect("an address"),
        name: Some(name.to_owned()),
    }
}

fuzz_target!(|texts: Texts<'_>| {
    let from = mailbox(texts.from);
    let to: Vec<_> = texts.to.iter().map(|one| mailbox(*one)).collect();
    let headers: BTreeMap<String, String> = texts
        .headers
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    let contents = [Content {
        mime_type: "text/plain".to_owned(),
        value: "x".to_owned(),
    }];
    let mail = Outgoing {
        from: &from,
        to: &to,
        cc: &to,
        reply_to: &to,
        subject: texts.subject,
        contents: &contents,
        attachments: &[],
        headers: &headers,
        extra: &[("X-Extra", texts.extra.to_owned())],
    };
    let stamp = Stamp {
        message_id: "1@example.com",
        date: Timestamp(1_800_000_000),
        boundary: "b",
    };
    match build(&mail, &stamp) {
        Ok(built) => sound(&built, &mail),
        Err(BuildError::HeaderName(name)) => assert!(!is_header_name(&name)),
        Err(other) => panic!("{other}"),
    }
});

fn sound(built: &[u8], mail: &Outgoing<'_>) {
    let people = mail.to.iter().chain([mail.from]);
    let foreign = people.into_iter().any(|one| one.email.needs_smtputf8());
    assert!(foreign || built.is_ascii());
    let text = std::str::from_utf8(built).expect("UTF-8");
    let (header, body) = text.split_once("\r\n\r\n").expect("a header and a body");
    assert_eq!(body, "x\r\n");
    let mut seen = Vec::new();
    for line in header.split("\r\n") {
        assert!(line.len() <= 998 && !line.contains(['\r', '\n', '\0']));
        assert!(
            !line.trim().is_empty(),
            "a line of white space ends a header for some"
        );
        if !line.starts_with([' ', '\t']) {
            seen.push(
                line.split_once(':')
                    .expect("a field")
                    .0
                    .to_ascii_lowercase(),
            );
        }
    }
    let own = [
        "from",
        "to",
        "cc",
        "reply-to",
        "subject",
        "date",
        "message-id",
        "mime-version",
        "content-type",
        "content-transfer-encoding",
        "x-extra",
    ];
    for name in &seen {
        let asked = mail
            .headers
            .keys()
            .any(|key| key.eq_ignore_ascii_case(name));
        assert!(
            own.contains(&name.as_str()) || asked && header_rule(name) == HeaderRule::Written,
            "{name}"
        );
    }
    let fields = seen.len();
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), fields, "no field twice");
}
