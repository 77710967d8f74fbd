//! What cannot be composed is said, not guessed.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use posthaste_mime::{BuildError, Stamp, build, is_body_type};
use posthaste_model::{EmailAddress, LONGEST_ON_THE_WIRE, Mailbox};

use crate::samples::{STAMP, Sample};

fn sample() -> Sample {
    Sample::new("refused", "").body("text/plain", "Hi")
}

#[track_caller]
fn check(sample: &Sample, want: BuildError) {
    assert_eq!(build(&sample.outgoing(), &STAMP), Err(want));
}

#[test]
fn a_stamp_that_could_break_the_header_is_refused() {
    let sample = sample();
    let long = "x".repeat(61);
    for boundary in ["", "a b", "a\r\n", "a\"", "ä", "a/b", &long] {
        let stamp = Stamp { boundary, ..STAMP };
        let got = build(&sample.outgoing(), &stamp);
        assert_eq!(got, Err(BuildError::Stamp("boundary")), "{boundary:?}");
    }
    let long = format!("{}@example.com", "x".repeat(240));
    for message_id in [
        "",
        "a",
        "no at",
        "<a@b>",
        "a@b\r\nBcc: c@d",
        "a @b",
        "ä@b",
        &long,
    ] {
        let stamp = Stamp {
            message_id,
            ..STAMP
        };
        let got = build(&sample.outgoing(), &stamp);
        assert_eq!(got, Err(BuildError::Stamp("message id")), "{message_id:?}");
    }
}

#[test]
fn a_name_that_is_no_token_is_no_header() {
    for name in ["", "X A", "X:", "X\r\nBcc", "X\0", "Ä"] {
        let want = BuildError::HeaderName(name.to_owned());
        check(&sample().header(name, "x"), want.clone());
        let mut extra = sample();
        let name: &'static str = String::from(name).leak();
        extra.extra = vec![(name, "x".to_owned())];
        check(&extra, want);
    }
}

#[test]
fn a_type_with_a_line_end_is_refused() {
    for mime_type in [
        "text/plain\r\nBcc: a@b",
        "text/plain; a=\"\n\"",
        "a\0",
        " ",
        "ä/b",
    ] {
        let want = BuildError::MediaType(mime_type.to_owned());
        check(&sample().body(mime_type, "x"), want);
        assert!(!is_body_type(mime_type), "{mime_type:?}");
    }
}

#[test]
fn a_body_is_neither_a_message_nor_many() {
    for mime_type in ["multipart/mixed", "MESSAGE/rfc822", "text plain", "text/"] {
        let want = BuildError::MediaType(mime_type.to_owned());
        check(&sample().body(mime_type, "x"), want);
        assert!(!is_body_type(mime_type), "{mime_type:?}");
    }
    for mime_type in ["text/plain", "html", "text/calendar; method=REQUEST"] {
        assert!(is_body_type(mime_type), "{mime_type:?}");
    }
}

#[test]
fn a_file_of_a_type_that_cannot_be_written_is_sent_as_one_of_none() {
    for mime_type in [
        "image/gif\r\nBcc: a@b",
        "image/gif; a=\"\n\"",
        "a\0",
        "a b",
        " ",
        "ä/b",
        "image/",
        "image/png, image/jpeg",
    ] {
        let sample = sample().file(mime_type, "a", b"x");
        let mail = String::from_utf8(build(&sample.outgoing(), &STAMP).unwrap()).unwrap();
        let types = mail.matches("Content-Type: application/octet-stream;");
        assert_eq!(types.count(), 1, "{mail}");
        assert!(!mail.contains("Bcc"), "{mail}");
    }
}

#[test]
fn what_is_not_base64_is_refused_with_its_place() {
    for content in [
        "QUJ",
        "QUI=\r\n.\r\n",
        "QUJDQ",
        "QU JD",
        "ä",
        "data:image/png;base64,QUJD",
    ] {
        let mut sample = sample()
            .file("image/gif", "a.gif", b"abc")
            .file("a/b", "b", b"x");
        sample.attachments[1].content = content.to_owned();
        let valid = content.len() == 3;
        if valid {
            assert!(
                build(&sample.outgoing(), &STAMP).is_ok(),
                "padding may be left out"
            );
        } else {
            check(&sample, BuildError::Base64(1));
        }
    }
}

#[test]
fn the_longest_address_fits_on_a_line() {
    // New ones have a local part of at most 64 octets; a stored one may be longer.
    let wide = "𝕏".repeat((LONGEST_ON_THE_WIRE - "@example.com".len()) / 4);
    let mut sample = sample();
    sample.to = vec![Mailbox {
        email: EmailAddress::try_from(format!("{wide}@example.com")).unwrap(),
        name: Some("A name beside it".to_owned()),
    }];
    sample.reply_to.clone_from(&sample.to);
    let mail = build(&sample.outgoing(), &STAMP).unwrap();
    assert!(
        mail.split(|byte| *byte == b'\n')
            .all(|line| line.len() <= 999)
    );
}

#[test]
fn a_large_file_keeps_its_bytes() {
    let bytes: Vec<u8> = (0..1_000_003_u32).map(|n| (n * 31 % 251) as u8).collect();
    let sample = sample().file("application/zip", "a.zip", &bytes);
    let mail = build(&sample.outgoing(), &STAMP).unwrap();
    let text = String::from_utf8(mail).unwrap();
    let body = text.rsplit_once("base64\r\n\r\n").unwrap().1;
    let body: String = body.split("\r\n--").next().unwrap().split("\r\n").collect();
    assert_eq!(BASE64_STANDARD.decode(body).unwrap(), bytes);
}
