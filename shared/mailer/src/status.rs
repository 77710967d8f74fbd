//! Enhanced status codes (RFC 3463).

use std::fmt;
use std::str::FromStr;

/// `class.subject.detail`, for example `5.1.1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EnhancedStatus {
    /// 2 success, 4 for now, 5 for good.
    pub class: u8,
    pub subject: u16,
    pub detail: u16,
}

/// The text is not an enhanced status code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an enhanced status code")]
pub struct InvalidStatus;

impl EnhancedStatus {
    /// A status of the given parts.
    pub const fn new(class: u8, subject: u16, detail: u16) -> Self {
        Self {
            class,
            subject,
            detail,
        }
    }

    /// The status at the start of a reply's text (RFC 2034 section 4), also in the forms `#5.1.1`
    /// and `[5.1.1]` that some servers write. One whose class contradicts the reply code is
    /// ignored.
    pub(crate) fn of_reply(code: u16, text: &str) -> Option<Self> {
        let word = text.split_whitespace().next()?;
        let bare = word.trim_matches(|c| matches!(c, '#' | '[' | ']' | '(' | ')' | ':' | ';'));
        let status: Self = bare.parse().ok()?;
        (u16::from(status.class) == code / 100).then_some(status)
    }
}

impl FromStr for EnhancedStatus {
    type Err = InvalidStatus;
    fn from_str(text: &str) -> Result<Self, InvalidStatus> {
        let mut parts = text.split('.').map(|part| {
            let digits = (1..=3).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
            digits.then(|| part.parse::<u16>().ok()).flatten()
        });
        let mut next = || parts.next().flatten().ok_or(InvalidStatus);
        let (class, subject, detail) = (next()?, next()?, next()?);
        let class = match class {
            2 => 2,
            4 => 4,
            5 => 5,
            _ => return Err(InvalidStatus),
        };
        if parts.next().is_some() {
            return Err(InvalidStatus);
        }
        Ok(Self::new(class, subject, detail))
    }
}

impl fmt::Display for EnhancedStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.class, self.subject, self.detail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reads_as_a_status_and_what_does_not() {
        for (text, want) in [
            ("5.1.1", Some(EnhancedStatus::new(5, 1, 1))),
            ("4.7.650", Some(EnhancedStatus::new(4, 7, 650))),
            ("2.0.0", Some(EnhancedStatus::new(2, 0, 0))),
            ("3.0.0", None),
            ("5.1", None),
            ("5.1.1.1", None),
            ("5..1", None),
            ("5.1.1234", None),
            ("5.+1.1", None),
            ("", None),
        ] {
            assert_eq!(text.parse().ok(), want, "{text:?}");
            if let Some(status) = want {
                assert_eq!(status.to_string(), text);
            }
        }
    }

    #[test]
    fn a_reply_names_its_status_first_and_in_its_own_class() {
        for (code, text, want) in [
            (
                550,
                "5.1.1 no such user",
                Some(EnhancedStatus::new(5, 1, 1)),
            ),
            (
                550,
                "#5.1.0 Address rejected.",
                Some(EnhancedStatus::new(5, 1, 0)),
            ),
            (550, "[5.7.1] blocked", Some(EnhancedStatus::new(5, 7, 1))),
            (450, "4.2.0 greylisted", Some(EnhancedStatus::new(4, 2, 0))),
            (550, "4.2.0 greylisted", None),
            (550, "blocked by 5.1.1", None),
            (550, "1.2.3.4 is listed", None),
            (550, "", None),
        ] {
            assert_eq!(
                EnhancedStatus::of_reply(code, text),
                want,
                "{code} {text:?}"
            );
        }
    }
}
