//! Conversations line by line, with a handler that accepts everything.

use super::*;
use crate::command;

fn config() -> Config {
    Config {
        max_size: 1000,
        max_recipients: 2,
        ..Config::new("mx.test")
    }
}

/// Runs the lines with a handler that accepts everything; the code of each answer.
fn run(config: &Config, protocol: &mut Protocol, lines: &[&str]) -> Vec<u16> {
    let answer = |protocol: &mut Protocol, line: &&str| {
        let next = protocol.next(config, command::parse(line.as_bytes()));
        let reply = match next {
            Next::Say(reply) => reply,
            Next::Hello { extended, .. } => protocol.greet(config, extended),
            Next::Mail(envelope) => {
                protocol.open(envelope);
                SmtpReply::new(250, "", "")
            }
            Next::Rcpt(to) => {
                protocol.add(to);
                SmtpReply::new(250, "", "")
            }
            Next::Data => {
                protocol.take();
                protocol.reset_errors();
                SmtpReply::new(354, "", "")
            }
            Next::StartTls => {
                protocol.encrypted();
                SmtpReply::new(220, "", "")
            }
            Next::Auth { .. } => {
                protocol.logged_in();
                SmtpReply::new(235, "", "")
            }
        };
        protocol.count_error(config, reply).code
    };
    lines.iter().map(|line| answer(protocol, line)).collect()
}

#[track_caller]
fn check(config: &Config, talk: &[(&str, u16)]) {
    let (lines, codes): (Vec<&str>, Vec<u16>) = talk.iter().copied().unzip();
    let got = run(config, &mut Protocol::new(false), &lines);
    assert_eq!(got, codes, "{lines:?}");
}

#[test]
fn a_mail_goes_through_and_the_next_may_come() {
    check(
        &config(),
        &[
            ("NOOP", 250),
            ("EHLO a", 250),
            ("MAIL FROM:<a@b.c>", 250),
            ("RCPT TO:<d@e.f>", 250),
            ("DATA", 354),
            ("MAIL FROM:<>", 250),
            ("RSET", 250),
            ("MAIL FROM:<a@b.c>", 250),
            ("EHLO a", 250),
            ("RCPT TO:<d@e.f>", 503),
            ("VRFY d", 252),
            ("HELP", 214),
            ("QUIT", 221),
        ],
    );
}

#[test]
fn commands_out_of_order_change_nothing() {
    check(
        &config(),
        &[
            ("MAIL FROM:<a@b.c>", 503),
            ("RCPT TO:<d@e.f>", 503),
            ("DATA", 503),
            ("HELO a", 250),
            ("DATA", 503),
            ("MAIL FROM:<a@b.c>", 250),
            ("DATA", 503),
            ("MAIL FROM:<x@b.c>", 503),
            ("RCPT TO:<d@e.f>", 250),
            ("RCPT TO:<d@e.f>", 250),
            ("RCPT TO:<d@e.f>", 452),
            ("DATA", 354),
            ("DATA", 503),
        ],
    );
}

#[test]
fn what_is_announced_is_checked() {
    check(
        &config(),
        &[
            ("EHLO a", 250),
            ("MAIL FROM:<a@b.c> SIZE=1001", 552),
            ("MAIL FROM:<\u{e9}@b.c>", 553),
            ("MAIL FROM:<a@b.c> SIZE=1000", 250),
            ("RCPT TO:<\u{e9}@b.c>", 553),
            ("RSET", 250),
            ("MAIL FROM:<\u{e9}@b.c> SMTPUTF8", 250),
            ("RCPT TO:<\u{e9}@b.c>", 250),
        ],
    );
    let mut plain = config();
    plain.offers.smtputf8 = false;
    plain.offers.eight_bit = false;
    check(
        &plain,
        &[
            ("EHLO a", 250),
            ("MAIL FROM:<a@b.c> SMTPUTF8", 555),
            ("MAIL FROM:<a@b.c> BODY=8BITMIME", 555),
        ],
    );
}

#[test]
fn a_login_comes_once_and_in_its_place() {
    check(
        &config(),
        &[("EHLO a", 250), ("AUTH PLAIN x", 502), ("STARTTLS", 502)],
    );
    let required = Config {
        auth: Auth::Required,
        ..config()
    };
    check(
        &required,
        &[
            ("AUTH PLAIN x", 503),
            ("EHLO a", 250),
            ("MAIL FROM:<a@b.c>", 530),
            ("AUTH PLAIN x", 235),
            ("AUTH PLAIN x", 503),
            ("MAIL FROM:<a@b.c>", 250),
        ],
    );
    let optional = Config {
        auth: Auth::Optional,
        ..config()
    };
    check(
        &optional,
        &[
            ("EHLO a", 250),
            ("MAIL FROM:<a@b.c>", 250),
            ("AUTH PLAIN x", 503),
        ],
    );
}

#[test]
fn patience_ends() {
    let mut short = config();
    short.limits.errors = 2;
    short.limits.idle_commands = 3;
    check(&short, &[("X", 500), ("X", 500), ("X", 421)]);
    check(
        &short,
        &[
            ("NOOP", 250),
            ("RSET", 250),
            ("EHLO a", 250),
            ("HELP", 214),
            ("VRFY a", 421),
        ],
    );
    let mail = [
        "EHLO a",
        "X",
        "X",
        "MAIL FROM:<a@b.c>",
        "RCPT TO:<d@e.f>",
        "DATA",
        "X",
        "X",
        "X",
    ];
    let codes = run(&short, &mut Protocol::new(false), &mail);
    assert_eq!(
        codes,
        [250, 500, 500, 250, 250, 354, 500, 500, 421],
        "a mail wins patience back"
    );
    short.limits.failed_logins = 2;
    let mut protocol = Protocol::new(false);
    assert_eq!(
        protocol.login_failed(&short, SmtpReply::bad_login()).code,
        535
    );
    assert_eq!(
        protocol.login_failed(&short, SmtpReply::bad_login()).code,
        421
    );
}

#[test]
fn bad_commands_are_counted_apart() {
    let config = config();
    let reply = |code, status| SmtpReply::new(code, status, "");
    let mut protocol = Protocol::new(false);
    for (code, status) in [
        (550, "5.1.1"),
        (501, "5.1.3"),
        (503, "5.5.1"),
        (452, "4.5.3"),
    ] {
        let counted = protocol.count_error(&config, reply(code, status));
        assert_eq!(counted.code, code, "{code} is no bad command");
    }
    for _ in 0..config.limits.bad_commands {
        assert_eq!(protocol.count_error(&config, reply(500, "5.5.1")).code, 500);
    }
    assert_eq!(protocol.count_error(&config, reply(501, "5.5.4")).code, 421);
    protocol.reset_errors();
    assert_eq!(protocol.count_error(&config, reply(501, "5.5.4")).code, 501);
}

#[test]
fn the_answer_to_ehlo_names_what_is_offered() {
    let text = Protocol::new(false).greet(&config(), true).text;
    assert_eq!(
        text,
        "mx.test\nPIPELINING\nSIZE 1000\n8BITMIME\nSMTPUTF8\nENHANCEDSTATUSCODES\nHELP"
    );
    assert_eq!(Protocol::new(false).greet(&config(), false).text, "mx.test");
    let login = Config {
        auth: Auth::Optional,
        ..config()
    };
    assert!(
        Protocol::new(false)
            .greet(&login, true)
            .text
            .contains("\nAUTH PLAIN LOGIN\n")
    );
}
