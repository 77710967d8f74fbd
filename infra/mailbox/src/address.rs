//! Addresses as the headers of a mail write them.

use posthaste_mime::read::ParsedMail;
use serde::{Deserialize, Serialize};

/// A name and an address, either of which may be empty in a bad mail. Field names as in Mailpit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct ApiAddress {
    /// The display name, decoded.
    pub name: String,
    /// The address itself, unchecked.
    pub address: String,
}

impl ApiAddress {
    /// `Ann <ann@example.com>`, or only the half that is present.
    pub fn shown(&self) -> String {
        match (self.name.as_str(), self.address.as_str()) {
            ("", address) => address.to_owned(),
            (name, "") => name.to_owned(),
            (name, address) => format!("{name} <{address}>"),
        }
    }

    /// The shortest label for a person: the name, else the address.
    pub fn short(&self) -> &str {
        if self.name.is_empty() {
            &self.address
        } else {
            &self.name
        }
    }
}

/// The addresses in every header field of this name.
pub(crate) fn all(mail: &ParsedMail<'_>, header: &str) -> Vec<ApiAddress> {
    let found = mail.addresses(header).into_iter();
    found
        .map(|found| ApiAddress {
            name: found.name,
            address: found.address,
        })
        .collect()
}
