//! The envelope of the SMTP dialogue, as opposed to the headers.

use serde::{Deserialize, Serialize};

/// The envelope a mail arrived in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct StoredEnvelope {
    /// The address of `MAIL FROM`, without angle brackets; empty for the null sender.
    pub from: String,
    /// The addresses of `RCPT TO`, in their order.
    pub to: Vec<String>,
    /// The client, as `address:port`; empty when unknown.
    pub peer: String,
}
