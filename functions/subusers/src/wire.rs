//! The JSON of subusers.

use posthaste_store::{Account, AccountStatus, Credits, Frequency, Region};
use serde::{Deserialize, Serialize};

/// The body of a creation.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct CreateSubuser {
    #[serde(default)]
    pub(crate) username: Option<String>,
    #[serde(default)]
    pub(crate) email: Option<String>,
    /// Accepted and discarded: there is no web application to log in to.
    #[serde(default)]
    pub(crate) password: Option<String>,
    #[serde(default)]
    pub(crate) ips: Option<Vec<String>>,
    #[serde(default)]
    #[cfg_attr(test, schemars(with = "Option<String>", extend("enum" = ["global", "eu", null])))]
    pub(crate) region: Option<Region>,
    #[serde(default)]
    pub(crate) include_region: Option<bool>,
}

/// What a creation answers.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct CreatedSubuser {
    pub(crate) username: String,
    pub(crate) user_id: u32,
    pub(crate) email: String,
    pub(crate) credit_allocation: Allocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<String>", extend("enum" = ["global", "eu", null])))]
    pub(crate) region: Option<Region>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Allocation {
    #[serde(rename = "type")]
    pub(crate) kind: CreditKind,
}

/// One subuser.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Subuser {
    disabled: bool,
    id: u32,
    username: String,
    email: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<String>", extend("enum" = ["global", "eu", null])))]
    region: Option<Region>,
}

impl Subuser {
    pub(crate) fn of(account: &Account, include_region: bool) -> Self {
        Self {
            disabled: account.status != AccountStatus::Active,
            id: account.user_id,
            username: account.username.clone(),
            email: account.email.clone(),
            region: include_region.then_some(account.region),
        }
    }
}

/// A page of customer accounts.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct CustomerList {
    accounts: Vec<Customer>,
    pages: LastCustomer,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Customer {
    id: String,
    created_at: String,
}

/// What the next page follows; nothing when this one is empty.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct LastCustomer {
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<String>,
}

impl CustomerList {
    pub(crate) fn of(accounts: &[Account]) -> Self {
        let customer = |account: &Account| Customer {
            id: account.id.to_string(),
            created_at: account.created_at.iso(),
        };
        Self {
            accounts: accounts.iter().map(customer).collect(),
            pages: LastCustomer {
                last: accounts.last().map(|account| account.id.to_string()),
            },
        }
    }
}

/// The body that switches something off or on.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Disable {
    #[serde(default)]
    pub(crate) disabled: Option<bool>,
}

/// What the addresses of a subuser are now.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Ips {
    pub(crate) ips: Vec<String>,
}

/// The kinds of allowances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum CreditKind {
    Unlimited,
    Recurring,
    Nonrecurring,
}

/// The body that gives an allowance.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Allot {
    #[serde(default, rename = "type")]
    pub(crate) kind: Option<CreditKind>,
    #[serde(default)]
    #[cfg_attr(test, schemars(with = "Option<String>", extend("enum" = ["daily", "weekly", "monthly", null])))]
    pub(crate) reset_frequency: Option<Frequency>,
    #[serde(default)]
    pub(crate) total: Option<u32>,
}

/// The body that changes what is left of one.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Adjust {
    #[serde(default)]
    pub(crate) allocation_update: Option<i64>,
}

/// An allowance.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Allowance {
    #[serde(rename = "type")]
    kind: CreditKind,
    #[cfg_attr(test, schemars(with = "Option<String>", extend("enum" = ["daily", "weekly", "monthly", null])))]
    reset_frequency: Option<Frequency>,
    remain: Option<i64>,
    total: Option<i64>,
    used: Option<i64>,
}

impl From<Option<Credits>> for Allowance {
    fn from(credits: Option<Credits>) -> Self {
        let frequency = credits.and_then(|credits| credits.frequency);
        Self {
            kind: match (credits, frequency) {
                (None, _) => CreditKind::Unlimited,
                (Some(_), None) => CreditKind::Nonrecurring,
                (Some(_), Some(_)) => CreditKind::Recurring,
            },
            reset_frequency: frequency,
            remain: credits.map(|credits| credits.remain),
            total: credits.map(|credits| credits.total),
            used: credits.map(|credits| credits.used),
        }
    }
}
