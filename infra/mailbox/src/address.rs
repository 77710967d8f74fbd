//! Addresses as the headers of a mail write them.

use mail_parser::{HeaderName, Message};
use serde::{Deserialize, Serialize};

/// A name and an address, either of which may be empty in a bad mail. Field names as in Mailpit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Address {
    /// The display name, decoded.
    pub name: String,
    /// The address itself, unchecked.
    pub address: String,
}

impl Address {
    /// `Ann <ann@example.com>`, or whichever half there is.
    pub fn shown(&self) -> String {
        match (self.name.as_str(), self.address.as_str()) {
            ("", address) => address.to_owned(),
            (name, "") => name.to_owned(),
            (name, address) => format!("{name} <{address}>"),
        }
    }

    /// The shortest thing that tells people apart: the name, else the address.
    pub fn short(&self) -> &str {
        if self.name.is_empty() {
            &self.address
        } else {
            &self.name
        }
    }

    /// Whether `other` is this address; RFC 5321 lets local parts differ by case, people do not.
    pub fn is(&self, other: &str) -> bool {
        self.address.eq_ignore_ascii_case(other)
    }
}

/// Every address in every header of this name.
pub(crate) fn all(message: &Message<'_>, header: HeaderName<'static>) -> Vec<Address> {
    message
        .header_values(header)
        .filter_map(|value| value.as_address())
        .flat_map(|addresses| addresses.iter())
        .map(|found| Address {
            name: tidy(found.name()),
            address: tidy(found.address()),
        })
        .filter(|address| !address.short().is_empty())
        .collect()
}

fn tidy(text: Option<&str>) -> String {
    text.unwrap_or_default().trim().to_owned()
}
