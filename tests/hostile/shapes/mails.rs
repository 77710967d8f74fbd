//! Mails: parts inside parts, boundaries, folds, encoded words, parameters, lists of addresses,
//! transfer encodings, charsets.

use super::{Shape, count, fill, made, run};

const PARTS: &str = "From: a@b.example\nContent-Type: multipart/mixed; boundary=";

/// Mails of every shape.
pub(crate) fn mails() -> Vec<Shape> {
    let mut all = structures();
    all.extend(encodings());
    all
}

/// Those that are hostile before anything in them is decoded.
pub(crate) fn structures() -> Vec<Shape> {
    let mut all = parts();
    all.extend(headers());
    all
}

fn parts() -> Vec<Shape> {
    vec![
        run(
            "mails in mails",
            "",
            "Content-Type: message/rfc822\r\n\r\n",
            "Subject: y\r\n\r\nhi\r\n",
        ),
        made("multiparts in multiparts", |size| {
            let head = "From: a@b.example\n";
            let level = |n| format!("Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n");
            format!("{head}{}", count(size.saturating_sub(head.len()), level))
        }),
        run(
            "multiparts of one boundary",
            "From: a@b.example\n",
            "Content-Type: multipart/mixed; boundary=b\n\n--b\n",
            "",
        ),
        run(
            "parts whose boundary never comes",
            "From: a@b.example\nContent-Type: multipart/mixed; boundary=x\n\n",
            "--x\nContent-Type: multipart/mixed; boundary=never\n\n\n",
            "--x--\n",
        ),
        made("parts whose boundaries never come", |size| {
            let part = |n| format!("--x\nContent-Type: multipart/mixed; boundary=\"n{n} n\"\n\n\n");
            format!("{PARTS}x\n\n{}", count(size.saturating_sub(64), part))
        }),
        made("thirty-two levels to the end", |size| {
            // Each level is searched to the end of the mail for its own boundary.
            let level = |n| {
                format!(
                    "Content-Type: multipart/mixed; boundary=\"{}\"\n\n--{}\n",
                    "-".repeat(n),
                    "-".repeat(n)
                )
            };
            let head: String = (1..32).map(level).collect();
            let rest = size.saturating_sub(head.len() + 32);
            format!("From: a@b.example\n{head}{}", fill("-", rest))
        }),
        made("a thousand multiparts before the text", |size| {
            let part =
                |n| format!("--x\nContent-Type: multipart/mixed; boundary=y{n}\n\n--y{n}--\n");
            let head: String = (0..1_000).map(part).collect();
            let head = format!("{PARTS}x\n\n{head}--x\n\n");
            let rest = size.saturating_sub(head.len());
            format!("{head}{}", fill("--y\n", rest))
        }),
        run(
            "a body of hyphens",
            "From: a@b.example\nContent-Type: multipart/mixed; boundary=\"-\"\n\n",
            "-",
            "",
        ),
        run(
            "a part of hyphens",
            "From: a@b.example\nContent-Type: multipart/mixed; boundary=\"-\"\n\n---\n\n",
            "-",
            "",
        ),
        run(
            "lines of hyphens",
            "From: a@b.example\nContent-Type: multipart/mixed; boundary=\"-\"\n\n---\n\n",
            "----\n",
            "",
        ),
        run(
            "a boundary that is the beginning of every line",
            "From: a@b.example\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\n",
            "--bb\n",
            "",
        ),
        run(
            "a body of boundaries",
            "From: a@b.example\nContent-Type: multipart/mixed; boundary=b\n\n",
            "--b\n",
            "",
        ),
        run(
            "a body of ends",
            "From: a@b.example\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\n",
            "--b-- x\n",
            "",
        ),
        run(
            "a boundary before blanks",
            "From: a@b.example\nContent-Type: multipart/mixed; boundary=b\n\n--b",
            " ",
            "x\n--b\n",
        ),
        made("a boundary as long as a header", |size| {
            let boundary = "y".repeat(60_000);
            format!(
                "{PARTS}{boundary}\n\n{}",
                fill(&format!("--{boundary}x\n"), size.saturating_sub(70_000))
            )
        }),
        run(
            "a body of our own boundaries",
            "From: a@b.example\n\n",
            "--xYzZY00000000\n",
            "",
        ),
    ]
}

fn headers() -> Vec<Shape> {
    vec![
        run("fields", "From: a@b.example\n", "a:\n", "\n"),
        run("no field", "From: a@b.example\n", "a\n", "\n"),
        run("fields of a name", "", "From: a@b.example\n", "\n"),
        run(
            "traces",
            "",
            "Received: from a by b; Mon, 1 Jan 2026 00:00:00 +0000\n",
            "\n",
        ),
        run("separators", "", "From a\n", "\n"),
        run("folds", "From: a@b.example\nSubject: x\n", " \n", "\n"),
        run("folds of an address", "From: a@b.example\n", "\t\n", "\n"),
        run(
            "a name that does not end",
            "From: a@b.example\nX",
            " ",
            "\n\n",
        ),
        run(
            "a header that does not end",
            "From: a@b.example\nX: ",
            "x",
            "",
        ),
        run(
            "a subject of starts of words",
            "From: a@b.example\nSubject: ",
            "=?",
            "\n\n",
        ),
        run(
            "a subject of words that do not end",
            "From: a@b.example\nSubject: ",
            "=?utf-8?Q?a",
            "\n\n",
        ),
        run(
            "a subject of words",
            "From: a@b.example\nSubject: ",
            "=?utf-8?Q?=C3?= ",
            "\n\n",
        ),
        run(
            "a subject of words in two charsets",
            "From: a@b.example\nSubject: ",
            "=?utf-8?Q?=C3?= =?koi8-r?B?/w?=",
            "\n\n",
        ),
        run(
            "an author of words that do not end",
            "From: ",
            "=?aa?Q?",
            "\n\n",
        ),
        run(
            "authors in words",
            "From: ",
            "=?utf-8?Q?a?= ",
            "<a@b.example>\n\n",
        ),
        run("an author of quotes", "From: ", "\"", "\n\n"),
        run(
            "an author of escapes",
            "From: \"",
            "\\\"",
            "\" <a@b.example>\n\n",
        ),
        run("an author in comments", "From: ", "(", "\n\n"),
        run("an author in brackets", "From: ", "<", "\n\n"),
        run("an author of groups", "From: ", "a:", "\n\n"),
        run(
            "answers to many",
            "From: a@b.example\nReply-To: ",
            "a@b.example, ",
            "a@b.example\n\n",
        ),
        run(
            "answers to many words",
            "From: a@b.example\nReply-To: ",
            "=?utf-8?Q?a?= <a@b.example>,",
            "\n\n",
        ),
        run(
            "to many fields",
            "From: a@b.example\n",
            "To: a@b.example\n",
            "\n",
        ),
        run(
            "instructions in words",
            "From: a@b.example\nX-SMTPAPI: ",
            "=?utf-8?Q?{?=",
            "\n\n",
        ),
        run(
            "instructions in brackets",
            "From: a@b.example\nX-SMTPAPI: ",
            "[",
            "\n\n",
        ),
        run(
            "sections of a name",
            "From: a@b.example\nContent-Type: text/plain",
            "; name*0*=utf-8''%41",
            "\n\nx",
        ),
        made("sections without number", |size| {
            let section = |n| format!("; name*{n}*=%41");
            format!(
                "From: a@b.example\nContent-Type: text/plain{}\n\nx",
                count(size.saturating_sub(64), section)
            )
        }),
        run(
            "parameters",
            "From: a@b.example\nContent-Disposition: attachment",
            ";",
            "\n\nx",
        ),
        run(
            "a name that is not closed",
            "From: a@b.example\nContent-Disposition: attachment; filename=\"",
            "\\\"",
            "\n\nx",
        ),
        run(
            "names of words that do not end",
            "From: a@b.example\nContent-Disposition: attachment; filename=\"",
            "=?a?Q?",
            "\"\n\nx",
        ),
        run(
            "parts with headers",
            "From: a@b.example\nContent-Type: multipart/mixed; boundary=b\n\n",
            "--b\nContent-Type: a/b; name=\"=?utf-8?Q?a?=\"; charset*=''x\nContent-ID: <<>>\n\n",
            "--b--\n",
        ),
    ]
}

fn encodings() -> Vec<Shape> {
    bodies()
        .into_iter()
        .flat_map(|(name, make)| {
            let make = std::sync::Arc::new(std::sync::Mutex::new(make));
            ["base64", "quoted-printable"].map(|encoding| {
                let make = std::sync::Arc::clone(&make);
                let shape = move |size: usize| {
                    let head = format!("From: a@b.example\nContent-Type: text/html; charset=iso-2022-jp\nContent-Transfer-Encoding: {encoding}\n\n");
                    let body = (make.lock().unwrap())(size.saturating_sub(head.len()));
                    head + &body
                };
                made(name, shape)
            })
        })
        .collect()
}

/// What a transfer encoding or a charset does not say.
pub(crate) fn bodies() -> Vec<Shape> {
    vec![
        run("padding", "", "=", ""),
        run("lines of padding", "", "=\n", ""),
        run("pieces", "", "QQ==\n", ""),
        run("what is no base64", "QQ==\n", "----\n", ""),
        run("blanks before a line end", "", " ", "\n"),
        run("soft line breaks", "", "a= \t\r\n", ""),
        run("escapes", "", "=1B=24B", ""),
        run("one line", "", "A", ""),
    ]
}
