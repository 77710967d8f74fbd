//! The bodies of these endpoints (API facts, appendix A).

use std::collections::BTreeMap;

use posthaste_model::{Record, RecordKind, Timestamp};
use posthaste_store::{Account, Borrower, Domain, SenderFields, VerifiedSender};
use serde::{Deserialize, Serialize};

#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct CreateDomain {
    pub(crate) domain: Option<String>,
    pub(crate) subdomain: Option<String>,
    pub(crate) username: Option<String>,
    pub(crate) ips: Option<Vec<String>>,
    pub(crate) custom_spf: Option<bool>,
    pub(crate) default: Option<bool>,
    pub(crate) automatic_security: Option<bool>,
    pub(crate) custom_dkim_selector: Option<String>,
    pub(crate) region: Option<String>,
}

#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Update {
    pub(crate) default: Option<bool>,
    pub(crate) custom_spf: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Ip {
    pub(crate) ip: Option<String>,
}

#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Username {
    pub(crate) username: Option<String>,
}

#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct MailRecords {
    pub(crate) domain_id: Option<i64>,
    /// A branded link whose records the mail has too.
    pub(crate) link_id: Option<i64>,
    pub(crate) email: Option<String>,
    pub(crate) message: Option<String>,
}

/// A domain as the API shows it.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct DomainView {
    id: i64,
    user_id: u32,
    subdomain: String,
    domain: String,
    username: String,
    ips: Vec<String>,
    custom_spf: bool,
    default: bool,
    legacy: bool,
    automatic_security: bool,
    valid: bool,
    dns: BTreeMap<String, Dns>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    subusers: Vec<User>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<i64>"))]
    last_validation_attempt_at: Option<Timestamp>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Dns {
    valid: bool,
    #[serde(rename = "type")]
    #[cfg_attr(test, schemars(with = "String", extend("enum" = ["cname", "txt", "mx"])))]
    kind: RecordKind,
    host: String,
    data: String,
}

impl Dns {
    /// The records by their names.
    pub(crate) fn of_all(records: Vec<Record>) -> BTreeMap<String, Self> {
        let dns = |record: Record| {
            let Record {
                name,
                kind,
                host,
                data,
                valid,
            } = record;
            let dns = Self {
                valid,
                kind,
                host,
                data,
            };
            (name, dns)
        };
        records.into_iter().map(dns).collect()
    }
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct User {
    user_id: u32,
    username: String,
}

impl DomainView {
    /// The domain of this owner.
    pub(crate) fn of(domain: Domain, owner: &Account) -> Self {
        let valid = domain.is_valid();
        let user = |borrower: Borrower| User {
            user_id: borrower.user_id,
            username: borrower.username,
        };
        Self {
            id: domain.id,
            user_id: owner.user_id,
            subdomain: domain.subdomain,
            domain: domain.domain,
            username: owner.username.clone(),
            ips: domain.ips,
            custom_spf: domain.custom_spf,
            default: domain.default,
            legacy: false,
            automatic_security: domain.automatic_security,
            valid,
            dns: Dns::of_all(domain.records),
            subusers: domain.subusers.into_iter().map(user).collect(),
            last_validation_attempt_at: domain.checked_at,
        }
    }
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Validated {
    pub(crate) id: i64,
    pub(crate) valid: bool,
    pub(crate) validation_results: BTreeMap<String, Result>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Result {
    pub(crate) valid: bool,
    pub(crate) reason: Option<String>,
}

/// What is said about a sender: all of it to create one, parts to change one.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SenderBody {
    pub(crate) nickname: Option<String>,
    pub(crate) from_email: Option<String>,
    pub(crate) from_name: Option<String>,
    pub(crate) reply_to: Option<String>,
    pub(crate) reply_to_name: Option<String>,
    pub(crate) address: Option<String>,
    pub(crate) address2: Option<String>,
    pub(crate) state: Option<String>,
    pub(crate) city: Option<String>,
    pub(crate) zip: Option<String>,
    pub(crate) country: Option<String>,
}

impl SenderBody {
    /// Writes what is given over what was there.
    pub(crate) fn over(&self, fields: &mut SenderFields) {
        let pairs = [
            (&self.nickname, &mut fields.nickname),
            (&self.from_email, &mut fields.from_email),
            (&self.from_name, &mut fields.from_name),
            (&self.reply_to, &mut fields.reply_to),
            (&self.reply_to_name, &mut fields.reply_to_name),
            (&self.address, &mut fields.address),
            (&self.address2, &mut fields.address2),
            (&self.state, &mut fields.state),
            (&self.city, &mut fields.city),
            (&self.zip, &mut fields.zip),
            (&self.country, &mut fields.country),
        ];
        for (given, kept) in pairs {
            if let Some(given) = given {
                kept.clone_from(given);
            }
        }
    }
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ShownSender {
    id: i64,
    #[serde(flatten)]
    #[cfg_attr(test, schemars(with = "DocumentedSender"))]
    fields: SenderFields,
    verified: bool,
    locked: bool,
}

/// The fields of `posthaste_store::SenderFields`, which has no schema.
#[cfg(test)]
#[derive(schemars::JsonSchema)]
#[expect(dead_code, reason = "it is only described")]
struct DocumentedSender {
    nickname: String,
    from_email: String,
    from_name: String,
    reply_to: String,
    reply_to_name: String,
    address: String,
    address2: String,
    state: String,
    city: String,
    zip: String,
    country: String,
}

impl From<VerifiedSender> for ShownSender {
    fn from(sender: VerifiedSender) -> Self {
        Self {
            id: sender.id,
            fields: sender.fields,
            verified: sender.verified,
            locked: false,
        }
    }
}

/// The envelope of every answer about senders.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "{T}Results"))]
pub(crate) struct Results<T> {
    pub(crate) results: T,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Failures {
    pub(crate) soft_failures: Vec<&'static str>,
    pub(crate) hard_failures: Vec<&'static str>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Steps {
    pub(crate) sender_verified: bool,
    pub(crate) domain_verified: bool,
}
