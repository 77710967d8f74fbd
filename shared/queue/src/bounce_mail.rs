//! A job of the feedback queue beside SES's own events: a mail that came to the bounce domain.

use serde::{Deserialize, Serialize};

use crate::JobError;

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
    ///
    /// # Errors
    /// Never for texts.
    pub fn to_text(&self) -> Result<String, JobError> {
        Ok(serde_json::to_string(self)?)
    }

    /// Reads a job.
    ///
    /// # Errors
    /// When it is not one, or of a form newer than this release.
    pub fn from_text(text: &str) -> Result<Self, JobError> {
        let job: Self = serde_json::from_str(text)?;
        match job.v {
            0 | 1 => Ok(job),
            newer => Err(JobError::TooNew(newer)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
