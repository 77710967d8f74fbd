use super::*;

fn compose_of(header: &str, to: &[&str]) -> Result<Mail, SmtpReply> {
    let message = format!("From: Ann <ann@example.com>\r\n{header}\r\nhello\r\n");
    let envelope = SmtpEnvelope {
        to: to.iter().map(|to| (*to).to_owned()).collect(),
        ..SmtpEnvelope::default()
    };
    compose(&SubmittedMail {
        head: SubmittedHead::read(message.as_bytes()),
        envelope: &envelope,
        message: message.as_bytes(),
        trace: "from here; now",
        hostname: &"post.example".parse().unwrap(),
        now: Timestamp(1_800_000_000),
        horizon: 3600,
    })
}

fn recipients(mail: &Mail) -> Vec<&str> {
    mail.copies()
        .map(|copy| copy.mailbox.email.as_str())
        .collect()
}

#[test]
fn the_envelope_is_written_to_unless_the_header_says_otherwise() {
    let plain = compose_of("To: x@example.com\r\n", &["a@example.com", "b@example.com"]);
    let plain = plain.unwrap();
    assert_eq!(recipients(&plain), ["a@example.com", "b@example.com"]);
    let whole = plain.submitted.as_ref().unwrap();
    assert!(!whole.apart && whole.refused.is_none());
    assert!(
        whole
            .mime
            .bytes()
            .starts_with(b"Received: from here;\r\n\tnow\r\nFrom: Ann")
    );
    let told = compose_of(
        "X-SMTPAPI: {\"to\": [\"c@example.com\", \"d@example.com\"]}\r\n",
        &["a@example.com"],
    );
    let told = told.unwrap();
    assert_eq!(recipients(&told), ["c@example.com", "d@example.com"]);
    assert!(told.submitted.unwrap().apart);
}

#[test]
fn unique_arguments_are_substituted_for_each_recipient() {
    let header = "X-SMTPAPI: {\"sub\": {\"-n-\": [\"1\", \"-s-\"]}, \"section\": {\"-s-\": \"two\"},\r\n \
        \"unique_args\": {\"number\": \"no -n-\"}}\r\n";
    let mail = compose_of(header, &["a@example.com", "b@example.com"]).unwrap();
    let args: Vec<_> = mail
        .personalizations
        .iter()
        .map(|p| mail.merged_args(p)["number"].clone())
        .collect();
    assert_eq!(args, ["no 1", "no two"]);
}

#[test]
fn a_header_that_cannot_be_read_drops_the_mail_for_everybody() {
    for header in [
        "{\"to\": [",
        "[]",
        "{\"send_at\": 1800003601}",
        "{\"to\": [\"x\"]}",
    ] {
        let header = format!("X-SMTPAPI: {header}\r\n");
        let mail = compose_of(&header, &["a@example.com"]).unwrap();
        let whole = mail.submitted.as_ref().unwrap();
        assert_eq!(
            whole.refused,
            Some(DropReason::InvalidSmtpapiHeader),
            "{header}"
        );
        assert_eq!(recipients(&mail), ["a@example.com"]);
    }
}

#[test]
fn unique_arguments_that_grow_past_their_limit_drop_the_mail() {
    for (times, dropped) in [(99, false), (100, true)] {
        let (tags, value) = ("-n-".repeat(times), "v".repeat(100));
        let header = format!(
            "X-SMTPAPI: {{\"sub\": {{\"-n-\": \"{value}\"}}, \"unique_args\": {{\"k\": \"{tags}\"}}}}\r\n"
        );
        let mail = compose_of(&header, &["a@example.com"]).unwrap();
        let reason = mail.submitted.unwrap().refused;
        assert_eq!(reason.is_some(), dropped, "{times}");
    }
}

#[test]
fn unique_arguments_that_fill_the_memory_drop_the_mail() {
    // 8 MiB in 8,192 copies of one KiB, and a tag of three letters that becomes one.
    let header = |fill: usize| {
        let args = "x".repeat(fill);
        format!(
            "X-SMTPAPI: {{\"sub\": {{\"-n-\": \"1\"}}, \"unique_args\": {{\"k\": \"-n-{args}\"}}}}\r\n"
        )
    };
    let to: Vec<_> = (0..8192).map(|n| format!("a{n}@example.com")).collect();
    let to: Vec<_> = to.iter().map(String::as_str).collect();
    for (fill, dropped) in [(1022, false), (1023, true)] {
        let mail = compose_of(&header(fill), &to).unwrap();
        let reason = mail.submitted.unwrap().refused;
        assert_eq!(reason.is_some(), dropped, "{fill}");
    }
}

#[test]
fn a_mail_whose_author_receivers_may_not_agree_on_is_refused() {
    for header in [
        "From: b@example.com\r\n",
        "Sender: a@evil.example <b@good.example>\r\n",
        "Reply-To: A\u{2028}B <b@good.example>\r\n",
        "X-A: a\0b\r\n",
        "From : b@evil.example\r\n",
        "Fr om: b@evil.example\r\n",
    ] {
        let reply = compose_of(header, &["a@example.com"]).unwrap_err();
        assert_eq!(reply.code, 550, "{header:?}");
    }
}

#[test]
fn the_same_recipient_twice_gets_one_copy() {
    let to = [
        "a@example.com",
        "A@example.com",
        "a@EXAMPLE.com",
        "a@example.com",
        "b@example.com",
    ];
    let mail = compose_of("", &to).unwrap();
    let want = ["a@example.com", "A@example.com", "b@example.com"];
    assert_eq!(recipients(&mail), want);
}

#[test]
fn the_postmaster_needs_no_domain() {
    let mail = compose_of("", &["Postmaster", "postmaster@post.example"]).unwrap();
    assert_eq!(recipients(&mail), ["postmaster@post.example"]);
    let host = "post.example".parse().unwrap();
    assert!(recipient("nobody", &host).is_err());
}

#[test]
fn a_line_that_is_no_field_is_removed_and_hides_nothing() {
    let header = "P8Fxcut\r\nSubject: hello\r\nMessage-ID: <a@b.example>\r\n";
    let mail = compose_of(header, &["a@example.com"]).unwrap();
    assert_eq!(mail.subject.as_deref(), Some("hello"));
    let whole = mail.submitted.unwrap();
    assert_eq!(whole.message_id.as_deref(), Some("a@b.example"));
    let text = String::from_utf8_lossy(whole.mime.bytes()).into_owned();
    assert!(!text.contains("P8Fxcut") && text.contains("\r\nSubject: hello\r\n"));
}

#[test]
fn a_line_that_is_too_long_is_encoded_or_refused() {
    let long = "x".repeat(1500);
    let mail = compose_of(&format!("\r\n{long}\r\n"), &["a@example.com"]).unwrap();
    let whole = mail.submitted.unwrap();
    let lines = whole.mime.bytes().split(|b| *b == b'\n');
    assert!(lines.map(<[u8]>::len).all(|length| length <= 999));
    let reply = compose_of(&format!("X: {long}\r\n"), &["a@example.com"]).unwrap_err();
    assert_eq!(reply.code, 550);
    assert!(reply.text.contains("998 octets"), "{}", reply.text);
}
