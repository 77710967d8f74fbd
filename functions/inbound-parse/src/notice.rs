//! What SES says of a mail it has received and put into the bucket (SES developer guide,
//! "Contents of notifications for Amazon SES email receiving").

use std::net::IpAddr;

use posthaste_blob::BlobError;
use posthaste_queue::{Judged, Scored};
use serde::Deserialize;

use crate::work::Trouble;
use crate::{App, Arrived, Unaccepted, accept};

/// A mail that waits in the bucket.
#[derive(Deserialize)]
pub(crate) struct Notice {
    mail: Mail,
    receipt: Receipt,
}

#[derive(Deserialize)]
struct Mail {
    #[serde(default)]
    source: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Receipt {
    recipients: Vec<String>,
    #[serde(default)]
    spf_verdict: Word,
    #[serde(default)]
    dkim_verdict: Word,
    #[serde(default)]
    spam_verdict: Word,
    #[serde(default)]
    virus_verdict: Word,
    action: Action,
}

#[derive(Default, Deserialize)]
struct Word {
    #[serde(default)]
    status: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Action {
    object_key: String,
}

impl Notice {
    /// Reads a notice, delivered by SNS without its own envelope.
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// SES names no domain with its DKIM verdict; the sender's stands for it.
    fn judged(&self) -> Judged {
        let receipt = &self.receipt;
        let spf = match receipt.spf_verdict.status.as_str() {
            "PASS" => "pass",
            "FAIL" => "fail",
            "GRAY" => "neutral",
            "PROCESSING_FAILED" => "temperror",
            _ => "none",
        };
        let domain = self.mail.source.rsplit_once('@').map(|(_, domain)| domain);
        let dkim = match (domain, receipt.dkim_verdict.status.as_str()) {
            (Some(domain), status @ ("PASS" | "FAIL")) => {
                vec![(domain.to_owned(), status == "PASS")]
            }
            _ => Vec::new(),
        };
        let (spam, virus) = (&receipt.spam_verdict.status, &receipt.virus_verdict.status);
        // SES has words and no scores: 5 is where SpamAssassin begins to call a mail spam.
        let score = match spam == "FAIL" || virus == "FAIL" {
            true => 5.0,
            false => 0.0,
        };
        Judged {
            spf: spf.to_owned(),
            dkim,
            spam: Some(Scored {
                score,
                report: format!("SES: spam {spam}, virus {virus}"),
            }),
        }
    }
}

/// Turns the mail of a notice into jobs. A notice that comes again finds nothing to do.
pub(crate) async fn take(app: &App, notice: &Notice) -> Result<(), Trouble> {
    let key = &notice.receipt.action.object_key;
    let raw = match app.blob.get(key).await {
        Ok(raw) => raw,
        Err(BlobError::Missing(_)) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let mut judged = notice.judged();
    if app.filter.is_some() {
        // A filter of the operator's own knows more than a word.
        judged.spam = None;
    }
    let arrived = Arrived {
        from: &notice.mail.source,
        to: &notice.receipt.recipients,
        ip: client(&raw),
        hello: "",
        added: 0,
        judged: Some(&judged),
    };
    match accept(app, arrived, raw).await {
        Ok(count) => tracing::debug!("SES brought a mail for {count} recipients"),
        Err(Unaccepted::Loop) => tracing::warn!("SES brought a mail that goes in circles"),
        Err(other) => return Err(other.into()),
    }
    app.blob.delete(key).await?;
    Ok(())
}

/// Who handed the mail to SES: the address in brackets of the first `Received`, which SES wrote.
fn client(raw: &[u8]) -> Option<IpAddr> {
    let head = raw.get(..raw.len().min(4096))?;
    let text = String::from_utf8_lossy(head);
    let at = text.to_ascii_lowercase().find("received:")?;
    let field = text.get(at..)?;
    let (_, rest) = field.split_once('[')?;
    let (address, _) = rest.split_once(']')?;
    address.trim_start_matches("IPv6:").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_client_of_ses_is_read_from_what_ses_wrote() {
        let head = |bracket: &str| {
            format!(
                "Return-Path: <a@b>\r\nReceived: from x.example (x.example [{bracket}])\r\n by inbound-smtp.us-east-1.amazonaws.com\r\n\r\nHi"
            )
        };
        let want = |text: &str| text.parse::<IpAddr>().ok();
        assert_eq!(client(head("192.0.2.7").as_bytes()), want("192.0.2.7"));
        assert_eq!(
            client(head("IPv6:2001:db8::1").as_bytes()),
            want("2001:db8::1")
        );
        assert_eq!(client(head("nonsense").as_bytes()), None);
        assert_eq!(client(b""), None);
    }
}
