//! The request and response JSON of this function.

use posthaste_store::{Group, Mark};
use serde::{Deserialize, Serialize};

/// One address of a list; which members it has is the list's.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SuppressionEntry {
    pub(crate) created: i64,
    pub(crate) email: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ip: Option<String>,
}

impl SuppressionEntry {
    /// The fields that every list returns.
    pub(crate) fn new(email: String, mark: &Mark) -> Self {
        Self {
            created: mark.at.0,
            email,
            reason: None,
            status: None,
            ip: None,
        }
    }
}

/// The body that takes addresses off a list.
#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub(crate) struct Clear {
    pub(crate) delete_all: Option<bool>,
    pub(crate) emails: Option<Vec<String>>,
}

/// The body that makes or changes a group.
#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub(crate) struct GroupRequest {
    pub(crate) name: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) is_default: Option<bool>,
}

/// A group.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct GroupView {
    id: i64,
    name: String,
    description: String,
    is_default: bool,
    /// Left out of the answer that made the group.
    #[serde(skip_serializing_if = "Option::is_none")]
    unsubscribes: Option<i64>,
}

impl GroupView {
    pub(crate) fn new(group: Group) -> Self {
        Self {
            unsubscribes: None,
            ..Self::of(group)
        }
    }

    pub(crate) fn of(group: Group) -> Self {
        Self {
            id: group.id,
            name: group.name,
            description: group.description,
            is_default: group.is_default,
            unsubscribes: Some(group.unsubscribes),
        }
    }
}

/// Addresses, in a body and in its answer.
#[derive(Default, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub(crate) struct Emails {
    pub(crate) recipient_emails: Option<Vec<String>>,
}

/// An address that left a group.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Left {
    pub(crate) email: String,
    pub(crate) group_id: i64,
    pub(crate) group_name: String,
    pub(crate) created_at: i64,
}

/// Every group, and whether an address left it.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct GroupMembership {
    pub(crate) suppressions: Vec<MembershipEntry>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct MembershipEntry {
    pub(crate) description: String,
    pub(crate) id: i64,
    pub(crate) is_default: bool,
    pub(crate) name: String,
    pub(crate) suppressed: bool,
}

/// An address that left everything, or nothing at all.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Global {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) recipient_email: Option<String>,
}
