//! Creates subusers; what is theirs follows in a folder of their own.

use http::Method;
use posthaste_store::is_username;
use serde_json::{Value, json};

use super::AccountWriter;
use super::domains::{DOMAINS, OwnedDomain};
use crate::TransferError;
use crate::part::AccountPart;
use crate::read::{account_of, in_path, list_in, text_in, username};
use crate::service::Here;

const PART: AccountPart = AccountPart::Subusers;
const PATH: &str = "/v3/subusers";

impl AccountWriter<'_> {
    /// The names of the subusers of the folder that the account has now, or in a plan would have.
    pub(crate) async fn write_subusers(&mut self) -> Result<Vec<String>, TransferError> {
        let mut names = Vec::new();
        for item in self.items(PART)? {
            let name = username(&item).unwrap_or_default();
            if !is_username(&name) {
                self.report
                    .refuse_item(PART, &name, "no user name of this service");
                continue;
            }
            if self.is_unchanged(PART, &name, &item) {
                names.push(name);
                continue;
            }
            if self.hides_account(&name).await? {
                let why = "the account itself is called so, and a name that two have is not guessed at: create it by \
                           hand, and name the account by its id";
                self.report.refuse_item(PART, &name, why);
                continue;
            }
            let Some(here) = self.account().cloned() else {
                let existing = match self.target.clone() {
                    Some(here) => account_of(&self.store, here.account(), &name).await?,
                    None => None,
                };
                self.plan(PART, existing.is_some());
                names.push(name);
                continue;
            };
            match self.place_subuser(&here, &name, &item).await? {
                Ok(()) => {
                    if self.lend_domains(&here, &name, &item).await? {
                        self.note_item(PART, &name, &item)?;
                    }
                    names.push(name);
                }
                Err(why) => self.report.refuse_item(PART, &name, why),
            }
        }
        Ok(names)
    }

    /// Lets a subuser send from those domains of the account that it sends from there; whether it has all of them.
    async fn lend_domains(
        &mut self,
        here: &Here,
        name: &str,
        item: &Value,
    ) -> Result<bool, TransferError> {
        let wanted = list_in(item, "domains");
        if wanted.is_empty() {
            return Ok(true);
        }
        let path = format!("{DOMAINS}?limit=500");
        let own = self.found(here, &path).await?.unwrap_or_default();
        let of_subusers = self.domains_of_subusers()?;
        let mut is_whole = true;
        for one in wanted {
            if of_subusers.contains(&OwnedDomain::named(Some(name.to_owned()), one)) {
                continue;
            }
            let is_it = |domain: &&Value| {
                let same = |name: &str| text_in(domain, name) == text_in(one, name);
                same("domain") && same("subdomain")
            };
            let found = own.as_array().into_iter().flatten().find(is_it);
            let lent = match found.and_then(|domain| domain.get("id")) {
                None => Err("the account does not have the domain".to_owned()),
                Some(id) => {
                    let path = format!("{DOMAINS}/{id}/subuser:add");
                    let body = json!({"username": name});
                    let call = (Method::POST, path.as_str());
                    let lent = self.call(here, call, Some(&body), None).await?;
                    lent.map(|_| ()).map_err(|refusal| refusal.why)
                }
            };
            if let Err(why) = lent {
                let domain = text_in(one, "domain").unwrap_or_default();
                let what = format!("subusers: the domain {domain} for {name}");
                self.report.refuse(what, why);
                is_whole = false;
            }
        }
        Ok(is_whole)
    }

    /// Whether a subuser of this name would be the second account that `--account` could mean by it.
    async fn hides_account(&self, name: &str) -> Result<bool, TransferError> {
        let Some(here) = self.target.as_ref() else {
            return Ok(false);
        };
        let parent = here.account();
        let is_named_so = parent.username == name;
        Ok(is_named_so && account_of(&self.store, parent, name).await?.is_none())
    }

    async fn place_subuser(
        &mut self,
        here: &Here,
        name: &str,
        item: &Value,
    ) -> Result<Result<(), String>, TransferError> {
        let one = format!("{PATH}/{}", in_path(name));
        let existing = account_of(&self.store, here.account(), name).await?;
        if existing.is_none() {
            // There is no web application to log in to: the password is discarded.
            let body = json!({"username": name, "email": text_in(item, "email"),
                "password": "none", "ips": []});
            let made = self.call(here, (Method::POST, PATH), Some(&body), None);
            if let Err(refusal) = made.await? {
                return Ok(Err(refusal.why));
            }
        }
        let disabled = item
            .get("disabled")
            .and_then(Value::as_bool)
            .unwrap_or(false);
        if disabled || existing.is_some() {
            let body = json!({"disabled": disabled});
            let changed = self.call(here, (Method::PATCH, &one), Some(&body), None);
            if let Err(refusal) = changed.await? {
                return Ok(Err(refusal.why));
            }
        }
        let credits = item.get("credits").filter(|credits| credits.is_object());
        if let Some(credits) = credits {
            let path = format!("{one}/credits");
            let own = self.found(here, &path).await?.unwrap_or_default();
            let names = ["type", "reset_frequency", "total"];
            let is_same = names.iter().all(|name| own.get(name) == credits.get(name));
            if !is_same {
                let body = json!({"type": credits["type"], "total": credits["total"],
                    "reset_frequency": credits["reset_frequency"]});
                let changed = self.call(here, (Method::PUT, &path), Some(&body), None);
                if let Err(refusal) = changed.await? {
                    let what = format!("subusers: the credits of {name}");
                    self.report.refuse(what, refusal.why);
                }
            }
        }
        let counts = self.report.counts(PART);
        if existing.is_some() {
            counts.changed += 1;
        } else {
            counts.created += 1;
        }
        Ok(Ok(()))
    }
}
