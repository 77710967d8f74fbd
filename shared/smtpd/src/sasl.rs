//! AUTH PLAIN (RFC 4616) and LOGIN, without the network.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};

use crate::{Login, SmtpReply};

/// A login in progress.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Exchange {
    /// Waiting for all three fields of PLAIN.
    Plain,
    /// Waiting for the user name of LOGIN.
    User,
    /// Waiting for the password of LOGIN.
    Password { user: String },
}

/// The next step.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Send this after 334; the answer is the next input.
    Ask(Exchange, &'static str),
    Done(Login),
    Failed(SmtpReply),
}

/// Some clients omit the padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// AUTH, with its initial response if it came along.
pub(crate) fn start(mechanism: &str, initial: Option<&str>) -> Step {
    let (exchange, challenge) = match mechanism {
        "PLAIN" => (Exchange::Plain, ""),
        // "Username:"
        "LOGIN" => (Exchange::User, "VXNlcm5hbWU6"),
        _ => {
            return Step::Failed(SmtpReply::new(
                504,
                "5.5.4",
                "the mechanisms are PLAIN and LOGIN",
            ));
        }
    };
    match initial {
        // A lone equals sign is an empty response (RFC 4954 section 4).
        Some("=") => exchange.answer(b""),
        Some(initial) => exchange.answer(initial.as_bytes()),
        None => Step::Ask(exchange, challenge),
    }
}

impl Exchange {
    /// The client's answer to the last challenge.
    pub(crate) fn answer(self, line: &[u8]) -> Step {
        if line == b"*" {
            return Step::Failed(SmtpReply::new(501, "5.7.0", "login cancelled"));
        }
        let text = BASE64
            .decode(line)
            .ok()
            .and_then(|bytes| String::from_utf8(bytes).ok());
        let Some(text) = text else {
            return Step::Failed(SmtpReply::new(
                501,
                "5.5.2",
                "the response is not base64 of UTF-8",
            ));
        };
        match self {
            Self::Plain => plain(&text),
            // "Password:"
            Self::User => Step::Ask(Self::Password { user: text }, "UGFzc3dvcmQ6"),
            Self::Password { user } => Step::Done(Login { user, secret: text }),
        }
    }
}

fn plain(text: &str) -> Step {
    let fields: Vec<&str> = text.split('\0').collect();
    match fields.as_slice() {
        // Acting on behalf of another user is not supported.
        [role, user, secret] if role.is_empty() || role == user => Step::Done(Login {
            user: (*user).to_owned(),
            secret: (*secret).to_owned(),
        }),
        [_, _, _] => Step::Failed(SmtpReply::bad_login()),
        _ => Step::Failed(SmtpReply::new(501, "5.5.2", "PLAIN has three fields")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encode(text: &str) -> String {
        BASE64.encode(text)
    }

    fn login(user: &str, secret: &str) -> Step {
        Step::Done(Login {
            user: user.to_owned(),
            secret: secret.to_owned(),
        })
    }

    fn code(step: Step) -> u16 {
        match step {
            Step::Failed(reply) => reply.code,
            other @ (Step::Ask(..) | Step::Done(_)) => panic!("{other:?}"),
        }
    }

    #[test]
    fn plain_comes_at_once_or_when_asked() {
        let fields = encode("\0ann\0se\u{20ac}ret");
        assert_eq!(start("PLAIN", Some(&fields)), login("ann", "se\u{20ac}ret"));
        assert_eq!(
            start("PLAIN", Some(fields.trim_end_matches('='))),
            login("ann", "se\u{20ac}ret")
        );
        let Step::Ask(exchange, challenge) = start("PLAIN", None) else {
            panic!()
        };
        assert_eq!(challenge, "");
        assert_eq!(
            exchange.answer(encode("ann\0ann\0x").as_bytes()),
            login("ann", "x")
        );
    }

    #[test]
    fn login_asks_twice() {
        let Step::Ask(exchange, challenge) = start("LOGIN", None) else {
            panic!()
        };
        assert_eq!(BASE64.decode(challenge).unwrap(), b"Username:");
        let Step::Ask(exchange, challenge) = exchange.answer(encode("ann").as_bytes()) else {
            panic!()
        };
        assert_eq!(BASE64.decode(challenge).unwrap(), b"Password:");
        assert_eq!(exchange.answer(encode("x").as_bytes()), login("ann", "x"));
        let Step::Ask(exchange, _) = start("LOGIN", Some(&encode("ann"))) else {
            panic!()
        };
        assert_eq!(
            exchange,
            Exchange::Password {
                user: "ann".to_owned()
            }
        );
    }

    #[test]
    fn what_is_not_a_login_is_refused() {
        assert_eq!(code(start("CRAM-MD5", None)), 504);
        assert_eq!(code(start("PLAIN", Some("*"))), 501);
        assert_eq!(code(start("PLAIN", Some("!!"))), 501);
        assert_eq!(code(start("PLAIN", Some("="))), 501);
        assert_eq!(code(start("PLAIN", Some(&encode("ann\0x")))), 501);
        assert_eq!(code(start("PLAIN", Some(&encode("\0a\0b\0c")))), 501);
        assert_eq!(code(start("PLAIN", Some(&encode("boss\0ann\0x")))), 535);
        assert_eq!(code(Exchange::Plain.answer(b"/////w==")), 501);
    }

    #[test]
    fn a_login_never_prints_itself() {
        let shown = format!("{:?}", login("ann", "geheim"));
        assert!(!shown.contains("geheim"), "{shown}");
    }
}
