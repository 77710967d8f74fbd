//! DNS records that an owner publishes to authenticate a domain.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The kinds of records that are looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RecordKind {
    Cname,
    Mx,
    Txt,
}

impl fmt::Display for RecordKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cname => "CNAME",
            Self::Mx => "MX",
            Self::Txt => "TXT",
        })
    }
}

/// One record to publish.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// What it is for, as the API names it: `mail_cname`, `dkim1`, ….
    pub name: String,
    #[serde(rename = "type")]
    pub kind: RecordKind,
    pub host: String,
    pub data: String,
    /// Whether the last lookup found it.
    #[serde(default)]
    pub valid: bool,
}
