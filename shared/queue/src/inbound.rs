//! Jobs about received mail, whose bytes are in `blob`: on the inbound queue one mail for one
//! recipient, and on the feedback queue a mail to the bounce domain.

use std::net::IpAddr;

use posthaste_model::{AccountId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::JobError;
use crate::job::read_versioned;

/// A received mail that is to be posted. The mail itself is stored in `blob`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inbound {
    /// Form of this record; 1.
    #[serde(default = "first_version")]
    pub v: u8,
    pub account: AccountId,
    /// Of the parse setting.
    pub hostname: String,
    /// A hash of Message-ID, envelope and bytes: the same mail has the same id.
    pub id: String,
    /// Name of the raw mail in `blob`.
    pub blob: String,
    /// Whether other recipients share the raw mail: it is deleted when the last one releases it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shared: bool,
    /// The return path; empty for the null sender.
    pub from: String,
    /// The one recipient.
    pub to: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip: Option<IpAddr>,
    /// The client's HELO name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hello: String,
    /// The value of the `Received` field that this service adds to the mail's header; absent where
    /// the mail has the field of the server that received it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// When the mail was received, or queued again.
    pub received: Timestamp,
    /// Number of the attempt, from 0.
    #[serde(default)]
    pub attempt: u32,
    /// The results of earlier checks of the mail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged: Option<Judged>,
}

/// The results of authentication and spam checks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// The result of SPF, as a keyword (RFC 7208, section 2.6).
    #[serde(default)]
    pub spf: String,
    /// The domain of each DKIM signature, and whether it is valid.
    #[serde(default)]
    pub dkim: Vec<(String, bool)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spam: Option<Scored>,
    /// Why there is no score, although one was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unscored: Option<String>,
}

/// A spam filter's result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scored {
    pub score: f64,
    pub report: String,
}

fn first_version() -> u8 {
    1
}

impl Inbound {
    /// The job as queue text.
    ///
    /// # Errors
    /// When a score is not a number.
    pub fn to_text(&self) -> Result<String, JobError> {
        Ok(serde_json::to_string(self)?)
    }

    /// Reads a job.
    ///
    /// # Errors
    /// When it is not one, or of a form newer than this release.
    pub fn from_text(text: &str) -> Result<Self, JobError> {
        read_versioned(text, 1, |job: &Self| job.v)
    }
}

/// A mail about mails. Its bytes are stored in `blob`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BounceMail {
    /// Form of this record; 1.
    pub v: u8,
    /// Name of the raw mail in `blob`.
    pub blob: String,
    /// The return path; empty for the null sender.
    #[serde(default)]
    pub from: String,
    pub to: Vec<String>,
}

impl BounceMail {
    /// The job as queue text.
    pub fn to_text(&self) -> Result<String, JobError> {
        Ok(serde_json::to_string(self)?)
    }

    /// Reads a job.
    ///
    /// # Errors
    /// When it is not one, or of a form newer than this release.
    pub fn from_text(text: &str) -> Result<Self, JobError> {
        read_versioned(text, 1, |job: &Self| job.v)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = r#"{"account":"abcdefghij","hostname":"in.example","id":"x","blob":"inbound/abcdefghij/x","from":"","to":"a@in.example","received":7}"#;

    #[test]
    fn a_job_written_by_the_first_release_still_reads() {
        let job = Inbound::from_text(FIRST).unwrap();
        assert_eq!((job.v, job.attempt, job.ip), (1, 0, None));
        assert!(!job.shared);
        assert_eq!(Inbound::from_text(&job.to_text().unwrap()).unwrap(), job);
    }

    #[test]
    fn what_is_no_such_job_is_an_error() {
        let newer = FIRST.replacen('{', "{\"v\":2,", 1);
        for bad in ["", "{}", "[]", newer.as_str()] {
            assert!(Inbound::from_text(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_job_that_was_written_is_read_back_and_a_newer_one_is_not() {
        let first = r#"{"v":1,"blob":"bounces/x","to":["b-1@bounce.example"]}"#;
        let job = BounceMail::from_text(first).unwrap();
        assert_eq!((job.from.as_str(), job.blob.as_str()), ("", "bounces/x"));
        assert_eq!(BounceMail::from_text(&job.to_text().unwrap()).unwrap(), job);
        for bad in ["", "{}", r#"{"v":2,"blob":"x","to":[]}"#] {
            assert!(BounceMail::from_text(bad).is_err(), "{bad}");
        }
    }
}
