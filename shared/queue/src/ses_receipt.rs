//! What SES publishes about a mail that it received and stored in the bucket (SES developer guide,
//! "Contents of notifications for Amazon SES email receiving").

use serde::Deserialize;

/// A mail that SES stored in the bucket.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "Notification")]
pub struct SesReceipt {
    /// The return path; empty for the null sender.
    pub source: String,
    pub recipients: Vec<String>,
    /// Key of the mail in the bucket.
    pub object_key: String,
    pub spf: SesVerdict,
    pub dkim: SesVerdict,
    pub spam: SesVerdict,
    pub virus: SesVerdict,
}

/// What SES found: `PASS`, `FAIL`, `GRAY` or `PROCESSING_FAILED`; empty when it did not look.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct SesVerdict {
    #[serde(default)]
    pub status: String,
}

#[derive(Deserialize)]
struct Notification {
    #[serde(default)]
    mail: NotifiedMail,
    receipt: Receipt,
}

#[derive(Default, Deserialize)]
struct NotifiedMail {
    #[serde(default)]
    source: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Receipt {
    recipients: Vec<String>,
    #[serde(default)]
    spf_verdict: SesVerdict,
    #[serde(default)]
    dkim_verdict: SesVerdict,
    #[serde(default)]
    spam_verdict: SesVerdict,
    #[serde(default)]
    virus_verdict: SesVerdict,
    action: ReceiptAction,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReceiptAction {
    object_key: String,
}

impl From<Notification> for SesReceipt {
    fn from(Notification { mail, receipt }: Notification) -> Self {
        Self {
            source: mail.source,
            recipients: receipt.recipients,
            object_key: receipt.action.object_key,
            spf: receipt.spf_verdict,
            dkim: receipt.dkim_verdict,
            spam: receipt.spam_verdict,
            virus: receipt.virus_verdict,
        }
    }
}
