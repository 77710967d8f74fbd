use super::*;
use proptest::prelude::*;

fn read(value: &str) -> Result<Vec<(String, Option<String>)>, Unreadable> {
    let all = mailboxes(value.as_bytes())?;
    let plain = |one: Mailbox| (one.email.as_str().to_owned(), one.name);
    Ok(all.into_iter().map(plain).collect())
}

#[track_caller]
fn check(value: &str, want: &[(&str, Option<&str>)]) {
    let owned =
        |(email, name): &(&str, Option<&str>)| ((*email).to_owned(), name.map(str::to_owned));
    assert_eq!(
        read(value),
        Ok(want.iter().map(owned).collect()),
        "{value:?}"
    );
}

#[test]
fn mailboxes_are_read_with_their_names() {
    check("a@b.example", &[("a@b.example", None)]);
    check(" <a@b.example> ", &[("a@b.example", None)]);
    check("Ann <a@b.example>", &[("a@b.example", Some("Ann"))]);
    check("Ann <a@b.example>", &[("a@b.example", Some("Ann"))]);
    check(
        "Ann B. Smith\t<a@b.example>",
        &[("a@b.example", Some("Ann B. Smith"))],
    );
    check(
        "\"Smith, Ann\" <a@b.example>",
        &[("a@b.example", Some("Smith, Ann"))],
    );
    check(
        "\"a \\\"b\\\"\" <a@b.example>",
        &[("a@b.example", Some("a \"b\""))],
    );
    check(
        "\"x@y.example\" <a@b.example>",
        &[("a@b.example", Some("x@y.example"))],
    );
    check("Jörg <a@b.example>", &[("a@b.example", Some("Jörg"))]);
    check(
        "=?utf-8?Q?J=C3=B6rg?= <a@b.example>",
        &[("a@b.example", Some("Jörg"))],
    );
    check(
        "=?utf-8?Q?a?= =?utf-8?Q?b?= c <a@b.example>",
        &[("a@b.example", Some("ab c"))],
    );
    check(
        "=?utf-8?Q?A_=40_B?= <a@b.example>",
        &[("a@b.example", Some("A @ B"))],
    );
    check(
        "=?utf-8?Q?a=40b.example?= <A@b.example>",
        &[("A@b.example", Some("a@b.example"))],
    );
    check(
        "a@b.example (Ann (at work))",
        &[("a@b.example", Some("Ann (at work)"))],
    );
    check(
        "(x) Ann (y) <a@b.example> (z)",
        &[("a@b.example", Some("Ann"))],
    );
    check("\"a b\"@c.example", &[("\"a b\"@c.example", None)]);
    check("<\"a>b\"@c.example>", &[("\"a>b\"@c.example", None)]);
    check(
        "a@b.example, ,c@d.example,",
        &[("a@b.example", None), ("c@d.example", None)],
    );
    check(
        "Us: a@b.example, B <c@d.example>;",
        &[("a@b.example", None), ("c@d.example", Some("B"))],
    );
    check("Us:;", &[]);
    check("", &[]);
}

#[track_caller]
fn refuse(value: &str, want: Unreadable) {
    assert_eq!(read(value), Err(want), "{value:?}");
}

#[test]
fn what_can_be_read_in_two_ways_is_not_read() {
    for value in [
        "a@evil.example <b@good.example>",
        "Ann a@evil.example <b@good.example>",
        "a@evil.example\"x\" <b@good.example>",
        "<a@evil.example> <b@good.example>",
        "<b@good.example> a@evil.example",
        "a@evil.example: <b@good.example>;",
        "=?utf-8?Q?a=40evil.example?= <b@good.example>",
        "=?utf-8?Q?x_=3Ca=40evil.example=3E?= <b@good.example>",
        "\"=?utf-8?B?YUBldmlsLmV4YW1wbGU=?=\" <b@good.example>",
        "b@good.example (=?utf-8?Q?a=40evil.example?=)",
    ] {
        refuse(value, Unreadable::TwoAddresses);
    }
}

#[test]
fn characters_that_end_a_line_are_not_read() {
    for c in [
        '\0', '\u{1}', '\u{b}', '\u{7f}', '\u{85}', '\u{2028}', '\u{2029}',
    ] {
        refuse(&format!("A{c}B <a@b.example>"), Unreadable::Control);
        refuse(&format!("\"A{c}B\" <a@b.example>"), Unreadable::Control);
        refuse(&format!("<a@b.example> ({c})"), Unreadable::Control);
        let bytes: String = c.to_string().bytes().map(|b| format!("={b:02X}")).collect();
        refuse(
            &format!("=?utf-8?Q?A{bytes}?= <a@b.example>"),
            Unreadable::Control,
        );
    }
    refuse(
        "=?utf-8?Q?A=0D=0AFrom:_x?= <a@b.example>",
        Unreadable::Control,
    );
    check(
        "A\t\u{2027}\u{202a} <a@b.example>",
        &[("a@b.example", Some("A \u{2027}\u{202a}"))],
    );
}

#[test]
fn what_is_no_list_of_mailboxes_is_not_read() {
    for value in [
        "nobody",
        "a b@c.example",
        "a@b@c.example",
        "<a@b.example",
        "\"a <b@c.example>",
        "(a <b@c.example>",
        "<@x.example:a@b.example>",
        "<>",
        "a: b: c@d.example;",
        "a: b@c.example",
        "a@b.example;",
        "a\\b <c@d.example>",
        "<a@b.example> x",
    ] {
        refuse(value, Unreadable::Syntax);
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_not(value: Vec<u8>, more in "[ a@.<>,;:\"()\\\\]{0,40}") {
        let _ = mailboxes(&value);
        let _ = mailboxes(more.as_bytes());
    }
}
