//! Parses command lines: strict where security depends on it, lenient where clients differ.

use crate::{SmtpReply, path};

/// One command of RFC 5321 section 4.1.1 or an extension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SmtpCommand {
    Hello {
        name: String,
        extended: bool,
    },
    Mail(MailFrom),
    Rcpt(String),
    Data,
    Rset,
    Noop,
    Vrfy,
    Help,
    Quit,
    StartTls,
    Auth {
        mechanism: String,
        initial: Option<String>,
    },
}

/// MAIL FROM and its parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MailFrom {
    pub(crate) from: String,
    pub(crate) size: Option<u64>,
    pub(crate) eight_bit: bool,
    pub(crate) utf8: bool,
}

/// Parses a line without its CRLF; an unreadable line yields the reply to it.
pub(crate) fn parse(line: &[u8]) -> Result<SmtpCommand, SmtpReply> {
    let garbled = || SmtpReply::new(500, "5.5.2", "a command is a line of printable UTF-8");
    let line = std::str::from_utf8(line).map_err(|_| garbled())?;
    let line = line.trim_end_matches([' ', '\t']);
    if line.chars().any(char::is_control) {
        return Err(garbled());
    }
    let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
    match verb.to_ascii_uppercase().as_str() {
        "EHLO" => hello(rest, true),
        "HELO" => hello(rest, false),
        "MAIL" => mail(rest),
        "RCPT" => rcpt(rest),
        "AUTH" => auth(rest),
        "DATA" => alone(rest, SmtpCommand::Data),
        "RSET" => alone(rest, SmtpCommand::Rset),
        "STARTTLS" => alone(rest, SmtpCommand::StartTls),
        "QUIT" => alone(rest, SmtpCommand::Quit),
        "NOOP" => Ok(SmtpCommand::Noop),
        "VRFY" => Ok(SmtpCommand::Vrfy),
        "HELP" => Ok(SmtpCommand::Help),
        "EXPN" | "ETRN" | "TURN" | "SEND" | "SOML" | "SAML" | "BDAT" => {
            Err(SmtpReply::new(502, "5.5.1", "command not implemented"))
        }
        // A browser that posts here would otherwise have its body read as commands.
        "GET" | "POST" | "PUT" | "HEAD" | "OPTIONS" | "CONNECT" | "HOST:" => {
            Err(SmtpReply::new(421, "4.7.0", "this is no web server"))
        }
        _ => Err(SmtpReply::new(500, "5.5.1", "command not known")),
    }
}

fn syntax(text: &str) -> SmtpReply {
    SmtpReply::new(501, "5.5.4", text)
}

fn alone(rest: &str, command: SmtpCommand) -> Result<SmtpCommand, SmtpReply> {
    if rest.trim().is_empty() {
        Ok(command)
    } else {
        Err(syntax("this command takes no parameter"))
    }
}

fn hello(rest: &str, extended: bool) -> Result<SmtpCommand, SmtpReply> {
    let name = rest.trim();
    if name.is_empty() || name.len() > 255 || name.contains(' ') {
        return Err(syntax("give the name of your host"));
    }
    Ok(SmtpCommand::Hello {
        name: name.to_owned(),
        extended,
    })
}

/// What follows `FROM:` or `TO:`, in any case.
fn after<'a>(rest: &'a str, word: &str) -> Result<(&'a str, &'a str), SmtpReply> {
    let wrong = || syntax(&format!("the form is {word}<address>"));
    let rest = rest.trim_start();
    let head = rest.get(..word.len()).ok_or_else(wrong)?;
    if !head.eq_ignore_ascii_case(word) {
        return Err(wrong());
    }
    path::take(rest.get(word.len()..).unwrap_or_default()).ok_or_else(wrong)
}

fn mail(rest: &str) -> Result<SmtpCommand, SmtpReply> {
    let (from, params) = after(rest, "FROM:")?;
    if !from.is_empty() && !path::is_address(from) {
        return Err(SmtpReply::new(501, "5.1.7", "the sender is not an address"));
    }
    let mut sender = MailFrom {
        from: from.to_owned(),
        ..MailFrom::default()
    };
    for param in params.split_ascii_whitespace() {
        let (name, value) = param.split_once('=').unwrap_or((param, ""));
        match name.to_ascii_uppercase().as_str() {
            "SIZE" => sender.size = Some(size(value)?),
            "BODY" => sender.eight_bit = eight_bit(value)?,
            "SMTPUTF8" if param.len() == name.len() => sender.utf8 = true,
            // AUTH= of RFC 4954 section 5 and RFC 3461's notifications are accepted and ignored.
            "AUTH" | "RET" | "ENVID" => {}
            _ => return Err(unknown_param()),
        }
    }
    Ok(SmtpCommand::Mail(sender))
}

fn size(value: &str) -> Result<u64, SmtpReply> {
    let digits = (1..=20).contains(&value.len()) && value.bytes().all(|b| b.is_ascii_digit());
    if !digits {
        return Err(syntax("SIZE= wants a number of octets"));
    }
    // Twenty digits may exceed 64 bits; that is too large in any case.
    Ok(value.parse().unwrap_or(u64::MAX))
}

fn eight_bit(value: &str) -> Result<bool, SmtpReply> {
    match value.to_ascii_uppercase().as_str() {
        "7BIT" => Ok(false),
        "8BITMIME" => Ok(true),
        _ => Err(syntax("BODY= is 7BIT or 8BITMIME")),
    }
}

fn rcpt(rest: &str) -> Result<SmtpCommand, SmtpReply> {
    let (to, params) = after(rest, "TO:")?;
    // RFC 5321 section 4.5.1: postmaster needs no domain.
    if !path::is_address(to) && !to.eq_ignore_ascii_case("postmaster") {
        return Err(SmtpReply::new(
            501,
            "5.1.3",
            "the recipient is not an address",
        ));
    }
    for param in params.split_ascii_whitespace() {
        let name = param.split('=').next().unwrap_or_default();
        if !matches!(name.to_ascii_uppercase().as_str(), "NOTIFY" | "ORCPT") {
            return Err(unknown_param());
        }
    }
    Ok(SmtpCommand::Rcpt(to.to_owned()))
}

fn unknown_param() -> SmtpReply {
    SmtpReply::new(555, "5.5.4", "parameter not known")
}

fn auth(rest: &str) -> Result<SmtpCommand, SmtpReply> {
    let mut words = rest.split_ascii_whitespace();
    let (mechanism, initial, more) = (words.next(), words.next(), words.next());
    match (mechanism, more) {
        (Some(mechanism), None) => Ok(SmtpCommand::Auth {
            mechanism: mechanism.to_ascii_uppercase(),
            initial: initial.map(str::to_owned),
        }),
        _ => Err(syntax("the form is AUTH mechanism [response]")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sender(from: &str) -> MailFrom {
        MailFrom {
            from: from.to_owned(),
            ..MailFrom::default()
        }
    }

    #[test]
    fn commands_are_read_in_any_case() {
        let auth = |mechanism: &str, initial: Option<&str>| SmtpCommand::Auth {
            mechanism: mechanism.to_owned(),
            initial: initial.map(str::to_owned),
        };
        let hello = |name: &str, extended| SmtpCommand::Hello {
            name: name.to_owned(),
            extended,
        };
        for (line, want) in [
            ("EHLO mx.example.com", hello("mx.example.com", true)),
            ("helo [192.0.2.1]  ", hello("[192.0.2.1]", false)),
            ("MAIL FROM:<a@b.c>", SmtpCommand::Mail(sender("a@b.c"))),
            ("mail from: <a@b.c>", SmtpCommand::Mail(sender("a@b.c"))),
            ("MAIL FROM:<>", SmtpCommand::Mail(sender(""))),
            ("MAIL FROM:a@b.c", SmtpCommand::Mail(sender("a@b.c"))),
            (
                "MAIL FROM:<a@b.c> SIZE=12 body=8bitmime SMTPUTF8 RET=HDRS ENVID=x AUTH=<>",
                SmtpCommand::Mail(MailFrom {
                    size: Some(12),
                    eight_bit: true,
                    utf8: true,
                    ..sender("a@b.c")
                }),
            ),
            (
                "MAIL FROM:<a@b.c> BODY=7BIT",
                SmtpCommand::Mail(sender("a@b.c")),
            ),
            (
                "MAIL FROM:<a@b.c> SIZE=99999999999999999999",
                SmtpCommand::Mail(MailFrom {
                    size: Some(u64::MAX),
                    ..sender("a@b.c")
                }),
            ),
            ("RCPT TO:<a@b.c>", SmtpCommand::Rcpt("a@b.c".to_owned())),
            (
                "RCPT TO:<Postmaster>",
                SmtpCommand::Rcpt("Postmaster".to_owned()),
            ),
            (
                "RCPT TO:<a@b.c> NOTIFY=NEVER ORCPT=rfc822;a@b.c",
                SmtpCommand::Rcpt("a@b.c".to_owned()),
            ),
            ("DATA", SmtpCommand::Data),
            ("data ", SmtpCommand::Data),
            ("RSET", SmtpCommand::Rset),
            ("NOOP hello there", SmtpCommand::Noop),
            ("VRFY ann", SmtpCommand::Vrfy),
            ("HELP me", SmtpCommand::Help),
            ("QUIT", SmtpCommand::Quit),
            ("STARTTLS", SmtpCommand::StartTls),
            ("AUTH plain AGEAYg==", auth("PLAIN", Some("AGEAYg=="))),
            ("AUTH LOGIN", auth("LOGIN", None)),
        ] {
            assert_eq!(parse(line.as_bytes()), Ok(want), "{line}");
        }
    }

    #[test]
    fn what_is_wrong_has_its_code() {
        for (line, code) in [
            (&b""[..], 500),
            (b"BLAH", 500),
            (b"\xff\xfe", 500),
            (b"EHLO a\0b", 500),
            (b"MAIL FROM:<a@b.c>\rRCPT TO:<d@e.f>", 500),
            (b"EHLO", 501),
            (b"EHLO a b", 501),
            (b"MAIL", 501),
            (b"MAIL TO:<a@b.c>", 501),
            (b"MAIL FROM:", 501),
            (b"MAIL FROM:<a@b.c", 501),
            (b"MAIL FROM:<a b@c.d>", 501),
            (b"MAIL FROM:<nobody>", 501),
            (b"MAIL FROM:<a@b.c> SIZE=", 501),
            (b"MAIL FROM:<a@b.c> SIZE=-1", 501),
            (b"MAIL FROM:<a@b.c> BODY=BINARYMIME", 501),
            (b"MAIL FROM:<a@b.c> SMTPUTF8=yes", 555),
            (b"MAIL FROM:<a@b.c> X", 555),
            (b"MAIL FROM:<a@b.c>SIZE", 501),
            (b"RCPT TO:<>", 501),
            (b"RCPT TO:<a@b.c> X=1", 555),
            (b"RCPT FROM:<a@b.c>", 501),
            (b"RCPT TO:\xc3\xa9", 501),
            (b"DATA now", 501),
            (b"QUIT now", 501),
            (b"AUTH", 501),
            (b"AUTH PLAIN a b", 501),
            (b"EXPN list", 502),
            (b"BDAT 10 LAST", 502),
            (b"GET / HTTP/1.1", 421),
            (b"Host: x", 421),
        ] {
            let got = parse(line).unwrap_err();
            assert_eq!(got.code, code, "{:?}", String::from_utf8_lossy(line));
        }
    }

    proptest::proptest! {
        #[test]
        fn no_line_makes_the_parser_panic(verb in "(MAIL FROM:|RCPT TO:|EHLO |AUTH )?", rest in "\\PC{0,60}", bytes: Vec<u8>) {
            let _ = parse(format!("{verb}{rest}").as_bytes());
            let _ = parse(&bytes);
        }
    }
}
