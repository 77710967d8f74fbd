//! The samples themselves.

use super::{DOT, Sample, mailbox};

pub(crate) fn all() -> Vec<Sample> {
    [shapes(), people(), headers(), bodies(), files()].concat()
}

fn shapes() -> Vec<Sample> {
    let new = Sample::new;
    vec![
        new("text_only", "text/plain").body("text/plain", "Hi Ann,\n\nsee you.\n"),
        new("html_only", "text/html").body("text/html", "<p>Hi Ann</p>"),
        new("text_and_html", "alternative(text/plain text/html)")
            .body("text/plain", "Hi Ann")
            .body("text/html", "<p>Hi Ann</p>"),
        new(
            "inline_image",
            "related(alternative(text/plain text/html) image/gif)",
        )
        .body("text/plain", "Hi")
        .body("text/html", "<img src=\"cid:dot\">")
        .inline("image/gif", "dot.gif", Some("dot")),
        new("inline_image_without_text", "related(text/html image/gif)")
            .body("text/html", "<img src=\"cid:dot@example.com\">")
            .inline("image/gif", "dot.gif", Some("<dot@example.com>")),
        new("inline_image_without_html", "mixed(text/plain image/gif)")
            .body("text/plain", "Hi")
            .inline("image/gif", "dot.gif", Some("dot")),
        new("inline_image_without_id", "mixed(text/html image/gif)")
            .body("text/html", "<p>Hi</p>")
            .inline("image/gif", "dot.gif", None),
        new(
            "everything",
            "mixed(related(alternative(text/plain text/x-amp-html text/html text/calendar) image/gif image/gif) application/pdf text/csv)",
        )
        .body("text/plain", "Grüße")
        .body("text/x-amp-html", "<!doctype html><html ⚡4email></html>")
        .body("text/html", "<p>Grüße</p><img src=cid:a><img src=cid:b>")
        .body("text/calendar; method=REQUEST", CALENDAR)
        .inline("image/gif", "a.gif", Some("a"))
        .inline("image/gif", "b.gif", Some("b"))
        .file("application/pdf", "report.pdf", b"%PDF-1.7\n\0\xff")
        .file("text/csv", "table.csv", b"a,b\n1,2\n"),
        new(
            "amp_after_html",
            "alternative(text/plain text/x-amp-html text/html text/calendar)",
        )
        .body("text/plain", "Hi")
        .body("text/html", "<p>Hi</p>")
        .body("text/calendar; method=REQUEST", CALENDAR)
        .body("text/x-amp-html", "<!doctype html><html amp4email></html>"),
        new("one_file_only", "application/pdf").file("application/pdf", "a.pdf", b"%PDF"),
        new("two_files_only", "mixed(application/pdf image/gif)")
            .file("application/pdf", "a.pdf", b"%PDF")
            .inline("image/gif", "dot.gif", Some("dot")),
        new("nothing", "text/plain"),
    ]
}

fn new(name: &'static str) -> Sample {
    Sample::new(name, "text/plain").body("text/plain", "Hi")
}

fn people() -> Vec<Sample> {
    let mut names = new("names_that_need_care");
    names.from = mailbox("a@example.com", "Müller, \"Max\" & Söhne; GmbH");
    names.to = vec![
        mailbox("b@example.com", "Last, First"),
        mailbox("c@example.com", "Semi; Colon"),
        mailbox("d@example.com", "Quote \" and \\ slash"),
        mailbox("e@example.com", "🎉 Party 🎉"),
        mailbox("f@example.com", "مرحبا بالعالم"),
        mailbox("g@example.com", "שלום (comment) <x@y.z>"),
        mailbox("h@example.com", "Dot. Ted"),
        mailbox("i@example.com", ""),
        mailbox("j@example.com", "   "),
    ];
    names.cc = vec![
        mailbox("k@example.com", &"Very Long Name ".repeat(20)),
        mailbox("l@example.com", &"長い名前".repeat(40)),
    ];
    names.reply_to = vec![
        mailbox("m@example.com", "R, One"),
        mailbox("n@example.com", "R Two"),
    ];
    let mut idn = new("international_domain");
    idn.from = mailbox("max@müller.example", "Max");
    idn.to = vec![mailbox("伊@例え.jp", "伊")];
    idn.cc = vec![mailbox("\"a b\"@example.com", "Quoted")];
    let mut many = new("many_recipients");
    many.to = (0..60)
        .map(|n| mailbox(&format!("reader{n}@example.org"), &format!("Reader {n}")))
        .collect();
    let mut blind = new("blind_copies_only");
    blind.to = vec![];
    vec![names, idn, many, blind]
}

fn headers() -> Vec<Sample> {
    let mut wide = new("callers_headers")
        .header("X-Plain", "as it is")
        .header("X-Unicode", "Grüße aus Köln 🎉")
        .header(
            "X-Encoded",
            "=?utf-8?Q?Gr=C3=BC=C3=9Fe?=\r\n =?utf-8?Q?_aus?=",
        )
        .header("X-Empty", "")
        .header(
            "References",
            &"<abcdefghijklmnop@mail.example.com> ".repeat(12),
        )
        .header("X-Unbroken", &"x".repeat(1500))
        .header("x-plain", "the same name again")
        .header("List-Unsubscribe", "<https://evil.example>");
    wide.extra = vec![
        (
            "List-Unsubscribe",
            format!("<https://example.com/u?t={}>", "a".repeat(300)),
        ),
        (
            "List-Unsubscribe-Post",
            "List-Unsubscribe=One-Click".to_owned(),
        ),
    ];
    vec![
        wide,
        new("long_ascii_subject").subject(&"A rather long subject, ".repeat(40)),
        new("long_unicode_subject").subject(&"Über große Töne – ".repeat(50)),
        new("unbroken_subject").subject(&"x".repeat(1200)),
        new("callers_reserved_headers")
            .header("Subject", "not this")
            .header("bcc", "secret@example.com")
            .header("Content-Type", "text/evil")
            .header("MIME-Version", "2.0")
            .header("Message-ID", "<not@this>")
            .header("date", "never")
            .header("DKIM-Signature", "v=1")
            .header("Received", "from nowhere")
            .header("X-SG-EID", "1"),
    ]
}

fn bodies() -> Vec<Sample> {
    let new = Sample::new;
    let plain = |name, text: &str| new(name, "text/plain").body("text/plain", text);
    vec![
        plain("quoted_printable", "Grüße = Gr\u{fc}ße \nmit Rand \n"),
        plain("base64_text", &"日本語のメール。\n".repeat(10)),
        plain(
            "long_lines",
            &format!("{}\n{}\n", "x".repeat(5000), "wort ".repeat(1000)),
        ),
        plain("lone_dots", "one\n.\n..\n.dot\n\n.\nFrom here\n"),
        plain("every_line_end", "unix\nmac\rdos\r\nblank\n\n\r\rend"),
        plain("controls", "nul\0 bell\x07 escape\x1b[1m del\x7f\n"),
        new("boundary_in_the_text", "alternative(text/plain text/html)")
            .body("text/plain", "--=_0123456789abcdef_1--\nno end\n")
            .body("text/html", "<p>--=_0123456789abcdef_1</p>\n"),
        new("calendar", "alternative(text/plain text/calendar)")
            .body("text/plain", "An invitation")
            .body("text/calendar; method=REQUEST", CALENDAR),
        new(
            "data_alternative",
            "alternative(text/plain application/json)",
        )
        .body("text/plain", "Hi")
        .body("application/json", "{\"ä\":1}\n"),
    ]
}

fn files() -> Vec<Sample> {
    let new = |name, shape| Sample::new(name, shape).body("text/plain", "Hi");
    vec![
        new(
            "filenames",
            "mixed(text/plain application/pdf application/pdf application/pdf application/pdf application/pdf)",
        )
        .file("application/pdf", "Übersicht für März.pdf", b"1")
        .file("application/pdf", &format!("{}.pdf", "長い名前".repeat(30)), b"2")
        .file("application/pdf", &format!("{}.pdf", "long name ".repeat(20)), b"3")
        .file("application/pdf", "a \"b\" \\c; d, e.pdf", b"4")
        .file("application/pdf", "", b"5"),
        new("text_files", "mixed(text/plain text/csv text/plain text/plain text/html)")
            .file("text/csv", "utf8.csv", "ä;ö\nü;ß".as_bytes())
            .file("text/plain; charset=iso-8859-1", "latin.txt", b"gr\xfc\xdfe\n")
            .file("text/plain", "raw.txt", b"\xff\xfe\r\r\n\0")
            .file("text/html", "page.html", b"<p>ascii</p>\n"),
        new(
            "odd_types",
            "mixed(text/plain gif application/octet-stream application/octet-stream text/calendar)",
        )
        .file("gif", "dot.gif", DOT)
        .file("", "untyped.bin", b"\0\x01")
        .file("multipart/mixed; boundary=x", "parts.txt", b"--x\n")
        .file("text/calendar; method=REQUEST", "invite.ics", CALENDAR.as_bytes()),
        new(
            "attached_messages",
            "mixed(text/plain message/rfc822 application/octet-stream)",
        )
        .file("message/rfc822", "plain.eml", b"Subject: In\nTo: a@example.com\n\nHi\n")
        .file("message/rfc822", "eight.eml", "Subject: In\r\n\r\nGrüße\r\n".as_bytes()),
    ]
}

const CALENDAR: &str = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nMETHOD:REQUEST\r\nBEGIN:VEVENT\r\nUID:1@example.com\r\nSUMMARY:Treffen im Café\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
