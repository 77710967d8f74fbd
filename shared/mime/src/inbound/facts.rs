//! The data of a POST besides the mail's content.

use std::net::IpAddr;

/// The data about a mail besides its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// The return path; empty for the null sender of bounces.
    pub envelope_from: &'a str,
    /// The one recipient this POST is for.
    pub envelope_to: &'a str,
    /// The client's address; absent for mails stored without it.
    pub sender_ip: Option<IpAddr>,
    pub spf: Spf,
    /// One per checked signature.
    pub dkim: &'a [Signature],
    /// Only with `spam_check`.
    pub spam: Option<&'a Spam>,
}

/// Result of the SPF check (RFC 7208, section 2.6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spf {
    Pass,
    Fail,
    SoftFail,
    Neutral,
    #[default]
    None,
}

impl Spf {
    /// As it is sent.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::SoftFail => "softfail",
            Self::Neutral => "neutral",
            Self::None => "none",
        }
    }
}

/// One DKIM signature after its check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The signing domain, `d=`.
    pub domain: String,
    pub passed: bool,
}

/// What the spam filter found.
#[derive(Clone, Debug, PartialEq)]
pub struct Spam {
    pub score: f64,
    /// Several lines, verbatim from the filter.
    pub report: String,
}

/// `{@example.com : pass}`, or `none`.
pub(super) fn dkim(signatures: &[Signature]) -> String {
    if signatures.is_empty() {
        return "none".to_owned();
    }
    let results: Vec<_> = signatures
        .iter()
        .map(|s| format!("@{} : {}", s.domain, if s.passed { "pass" } else { "fail" }))
        .collect();
    format!("{{{}}}", results.join(", "))
}
