//! Reports of mail servers, and bounces without one.

use super::{Shape, fill, made, run};

/// Reports: of delivery and of complaints, inside each other and without end.
pub(crate) fn reports() -> Vec<Shape> {
    const HEAD: &str = "From: a@b.example\nContent-Type: multipart/report; boundary=b\n\n";
    const GROUP: &str = "Final-Recipient: rfc822; a@b\nAction: failed\nStatus: 5.1.1\n\n";
    let status =
        |text: &str| format!("{HEAD}--b\nContent-Type: message/delivery-status\n\n{text}\n--b--\n");
    let complaint =
        |text: &str| format!("{HEAD}--b\nContent-Type: message/feedback-report\n\n{text}\n--b--\n");
    vec![
        made("groups", move |size| {
            status(&fill(GROUP, size.saturating_sub(256)))
        }),
        made("groups and then blank lines", move |size| {
            status(&format!(
                "{}{}",
                GROUP.repeat(1_000),
                fill("\n", size.saturating_sub(100_000))
            ))
        }),
        made("groups and then blanks", move |size| {
            status(&format!(
                "{}{}",
                GROUP.repeat(1_000),
                fill(" ", size.saturating_sub(100_000))
            ))
        }),
        made("blank lines", move |size| {
            status(&fill(" \t\r\n", size.saturating_sub(256)))
        }),
        made("fields of a group", move |size| {
            status(&fill("Status:\n", size.saturating_sub(256)))
        }),
        made("one recipient without end", move |size| {
            status(&format!(
                "Final-Recipient: {}\nAction: failed",
                fill("rfc822;<>", size.saturating_sub(256))
            ))
        }),
        made("a status without end", move |size| {
            status(&format!(
                "{GROUP}Status: {}",
                fill("5.", size.saturating_sub(512))
            ))
        }),
        made("a diagnosis of words", move |size| {
            status(&format!(
                "Action: failed\nFinal-Recipient: a@b\nDiagnostic-Code: {}",
                fill("=?a?Q?", size.saturating_sub(256))
            ))
        }),
        made("recipients of a complaint", move |size| {
            complaint(&fill("Original-Rcpt-To: <a@b>\n", size.saturating_sub(256)))
        }),
        made("a complaint without end", move |size| {
            complaint(&format!(
                "Feedback-Type: {}",
                fill("a", size.saturating_sub(256))
            ))
        }),
        made("a mail returned in words", move |size| {
            let header = fill(
                &format!("X: {}\n", "=?a?Q?".repeat(2_000)),
                size.saturating_sub(256),
            );
            format!("{HEAD}--b\nContent-Type: text/rfc822-headers\n\n{header}\n--b--\n")
        }),
        run(
            "reports in reports",
            "From: a@b.example\n",
            "Content-Type: multipart/report; boundary=b\n\n--b\nContent-Type: message/rfc822\n\n",
            "",
        ),
        run(
            "reports beside reports",
            HEAD,
            "--b\nContent-Type: message/delivery-status\n\nAction: failed\nFinal-Recipient: a@b\n",
            "--b--\n",
        ),
    ]
}

/// Bounces without a report, whose words are searched.
pub(crate) fn bounces() -> Vec<Shape> {
    const HEAD: &str = "From: MAILER-DAEMON\nSubject: failure notice\n\n";
    vec![
        run("codes", HEAD, "550 ", "\n"),
        run("statuses", HEAD, "5.1.1 ", "\n"),
        run("lines of codes", HEAD, "550-5.1.1 no\n", ""),
        run("digits", HEAD, "5", ""),
        run("numbers", HEAD, "5.", ""),
        run("addresses", HEAD, "<a@b.example>:\n", ""),
        run("an address without end", HEAD, "a@", ""),
        run("brackets", HEAD, "<", ""),
        run("words that are no code", HEAD, "port 550 ", ""),
        run("blanks before a code", HEAD, " ", "550 no\n"),
        run("separators of nothing", HEAD, "--- original\n", ""),
        run(
            "fields in a text",
            HEAD,
            "Action: failed\nFinal-Recipient: a@b\n\n",
            "",
        ),
        run(
            "failed recipients",
            "From: MAILER-DAEMON\nX-Failed-Recipients: ",
            "a@b.example,",
            "\n\nno\n",
        ),
        run(
            "texts",
            "From: MAILER-DAEMON\nContent-Type: multipart/mixed; boundary=b\n\n",
            "--b\n\nfailed\n",
            "--b--\n",
        ),
        run(
            "tags",
            "From: MAILER-DAEMON\nContent-Type: text/html\n\n",
            "<a>",
            "",
        ),
        run(
            "styles",
            "From: MAILER-DAEMON\nContent-Type: text/html\n\n",
            "<style>",
            "",
        ),
        run("characters of three bytes", HEAD, "不", ""),
        run(
            "mails that are returned",
            "From: MAILER-DAEMON\nContent-Type: multipart/mixed; boundary=b\n\n",
            "--b\nContent-Type: message/rfc822\n\nX-HmXmrOriginalRecipient: a\n\n",
            "--b--\n",
        ),
    ]
}
