//! Writes authenticated domains, with new keys and therefore new records, and verified senders.

use std::collections::HashSet;

use http::Method;
use posthaste_store::is_username;
use serde_json::{Map, Value, json};

use super::AccountWriter;
use crate::TransferError;
use crate::folder::{AccountFolder, Lines};
use crate::part::AccountPart;
use crate::read::{list_in, text_in, username};
use crate::report::RecordChange;
use crate::service::Here;

pub(super) const DOMAINS: &str = "/v3/whitelabel/domains";
const SENDERS: &str = "/v3/verified_senders";

/// Selectors in place of one that the other service's records have.
const OTHER_SELECTORS: [&str; 3] = ["ph", "pi", "pj"];

/// The fields of a sender that are its owner's.
const SENDER_FIELDS: [&str; 11] = [
    "nickname",
    "from_email",
    "from_name",
    "reply_to",
    "reply_to_name",
    "address",
    "address2",
    "state",
    "city",
    "zip",
    "country",
];

impl AccountWriter<'_> {
    pub(super) async fn write_domains(&mut self) -> Result<(), TransferError> {
        let part = AccountPart::Domains;
        let mut items = self.items(part)?;
        let of_subusers = self.domains_of_subusers()?;
        let all = items.len();
        items.retain(|item| !of_subusers.contains(&OwnedDomain::of(item)));
        self.report.counts(part).read -= all - items.len();
        let mut existing = Vec::new();
        if let Some(here) = self.target.clone() {
            let path = format!("{DOMAINS}?limit=500");
            let found = self.found(&here, &path).await?.unwrap_or_default();
            existing = found.as_array().cloned().unwrap_or_default();
        }
        for item in items {
            let domain = text_in(&item, "domain").unwrap_or_default().to_lowercase();
            let subdomain = text_in(&item, "subdomain")
                .unwrap_or_default()
                .to_lowercase();
            let key = format!("{subdomain}.{domain}");
            let body = self.domain_body(&item, &domain, &subdomain);
            let is_it = |own: &&Value| {
                text_in(own, "domain") == Some(domain.as_str())
                    && text_in(own, "subdomain") == Some(subdomain.as_str())
            };
            let own = existing.iter().find(is_it).cloned();
            let change = |own: &Value| RecordChange {
                domain: domain.clone(),
                before: records(&item),
                publish: records(own),
            };
            if self.is_unchanged(part, &key, &body) {
                // The run that made it may have been killed before it could print them.
                let is_open = |own: &Value| own.get("valid") != Some(&Value::Bool(true));
                let open = own.filter(|own| is_open(own));
                self.report.dns.extend(open.as_ref().map(change));
                continue;
            }
            let Some(here) = self.account().cloned() else {
                self.plan(part, own.is_some());
                continue;
            };
            match self.place_domain(&here, own, &body).await? {
                Ok(own) => {
                    self.note_item(part, &key, &body)?;
                    self.report.dns.push(change(&own));
                }
                Err(why) => self.report.refuse_item(part, &domain, why),
            }
        }
        Ok(())
    }

    /// The domains that subusers have themselves: SendGrid lists them with the account's, under their user names.
    pub(super) fn domains_of_subusers(&self) -> Result<HashSet<OwnedDomain>, TransferError> {
        let mut found = HashSet::new();
        for line in Lines::open(&self.folder.file(AccountPart::Subusers))? {
            let Some(name) = line?.value().ok().as_ref().and_then(username) else {
                continue;
            };
            if !is_username(&name) {
                continue;
            }
            let folder = AccountFolder::at(self.folder.subuser(&name));
            for line in Lines::open(&folder.file(AccountPart::Domains))? {
                let own = line?.value().map(|item| OwnedDomain::of(&item));
                found.extend(own.ok().filter(|own| own.username.as_ref() == Some(&name)));
            }
        }
        Ok(found)
    }

    /// What the domain is made of, with a selector that the other service's records do not have: both sign meanwhile.
    fn domain_body(&self, item: &Value, domain: &str, subdomain: &str) -> Value {
        let hosts: Vec<String> = records(item);
        let is_free = |selector: &&str| {
            let [one, other] = [
                format!("{selector}._domainkey."),
                format!("{selector}2._domainkey."),
            ];
            !hosts
                .iter()
                .any(|host| host.contains(&one) || host.contains(&other))
        };
        let wanted = self.options.dkim_selector.as_str();
        let mut selectors = [wanted].into_iter().chain(OTHER_SELECTORS);
        let flag = |name: &str, default: bool| {
            let value = item.get(name).and_then(Value::as_bool);
            value.unwrap_or(default)
        };
        json!({
            "domain": domain,
            "subdomain": subdomain,
            "custom_spf": flag("custom_spf", false),
            "default": flag("default", false),
            "automatic_security": flag("automatic_security", true),
            "custom_dkim_selector": selectors.find(is_free).unwrap_or(wanted),
        })
    }

    async fn place_domain(
        &mut self,
        here: &Here,
        own: Option<Value>,
        body: &Value,
    ) -> Result<Result<Value, String>, TransferError> {
        let Some(own) = own else {
            let made = self.call(here, (Method::POST, DOMAINS), Some(body), None);
            let made = made.await?;
            if made.is_ok() {
                self.report.counts(AccountPart::Domains).created += 1;
            }
            return Ok(made.map_err(|refusal| refusal.why));
        };
        let id = own.get("id").cloned().unwrap_or_default();
        let change = json!({"default": body["default"], "custom_spf": body["custom_spf"]});
        let path = format!("{DOMAINS}/{id}");
        let changed = self.call(here, (Method::PATCH, &path), Some(&change), None);
        Ok(match changed.await? {
            Ok(_) => {
                self.report.counts(AccountPart::Domains).changed += 1;
                Ok(own)
            }
            Err(refusal) => Err(refusal.why),
        })
    }

    pub(super) async fn write_senders(&mut self) -> Result<(), TransferError> {
        let part = AccountPart::Senders;
        let items = self.items(part)?;
        let mut existing = Vec::new();
        if let Some(here) = self.target.clone() {
            let found = self.found(&here, SENDERS).await?.unwrap_or_default();
            existing = list_in(&found, "results").to_vec();
        }
        let folded = |item: &Value| text_in(item, "from_email").map(str::to_lowercase);
        for item in items {
            let Some(email) = folded(&item) else {
                self.report
                    .refuse_item(part, "a sender", "it has no from_email");
                continue;
            };
            let mut body = Map::new();
            for name in SENDER_FIELDS {
                if let Some(value) = text_in(&item, name) {
                    body.insert(name.to_owned(), value.into());
                }
            }
            let body = Value::Object(body);
            if self.is_unchanged(part, &email, &body) {
                continue;
            }
            let own = existing
                .iter()
                .find(|own| folded(own).as_ref() == Some(&email));
            let Some(here) = self.account().cloned() else {
                self.plan(part, own.is_some());
                continue;
            };
            let was_verified = item.get("verified").and_then(Value::as_bool) == Some(true);
            let is_trusted = was_verified && self.options.trust_senders;
            let here = if is_trusted { here.vouching() } else { here };
            let path = own.and_then(|own| Some(format!("{SENDERS}/{}", own.get("id")?)));
            let (method, path) = match &path {
                None => (Method::POST, SENDERS),
                Some(path) => (Method::PATCH, path.as_str()),
            };
            match self.call(&here, (method, path), Some(&body), None).await? {
                Ok(sender) => {
                    let is_verified = sender.get("verified").and_then(Value::as_bool);
                    if is_verified == Some(false) {
                        let note = format!("sender {email}: a link was mailed to confirm it");
                        self.report.notes.push(note);
                    }
                    let counts = self.report.counts(part);
                    if own.is_some() {
                        counts.changed += 1;
                    } else {
                        counts.created += 1;
                    }
                    self.note_item(part, &email, &body)?;
                }
                Err(refusal) => self.report.refuse_item(part, &email, refusal.why),
            }
        }
        Ok(())
    }
}

/// A domain and whose it is.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct OwnedDomain {
    username: Option<String>,
    domain: Option<String>,
    subdomain: Option<String>,
}

impl OwnedDomain {
    fn of(item: &Value) -> Self {
        Self::named(username(item), item)
    }

    /// The same domain, as this account's.
    pub(super) fn named(username: Option<String>, item: &Value) -> Self {
        let text = |name: &str| text_in(item, name).map(str::to_lowercase);
        Self {
            username,
            domain: text("domain"),
            subdomain: text("subdomain"),
        }
    }
}

/// The records of a domain, as `TYPE HOST DATA`.
fn records(domain: &Value) -> Vec<String> {
    let dns = domain.get("dns").and_then(Value::as_object);
    let record = |record: &Value| {
        let [kind, host, data] = ["type", "host", "data"].map(|name| text_in(record, name));
        Some(format!("{} {} {}", kind?.to_uppercase(), host?, data?))
    };
    let records = dns.into_iter().flat_map(Map::values);
    records.filter_map(record).collect()
}
