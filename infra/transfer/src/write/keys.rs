//! Makes keys with the names and scopes of the others, and with secrets of their own.

use std::collections::BTreeSet;

use posthaste_model::{AccountId, scope};
use posthaste_store::{ApiKey, KeyKind, Secret};
use serde_json::Value;

use super::AccountWriter;
use crate::TransferError;
use crate::part::AccountPart;
use crate::read::{list_in, text_in};
use crate::report::ShownKey;

const PART: AccountPart = AccountPart::ApiKeys;

/// Keys of one account (SPEC, "Limits").
const MOST: i64 = 100;

/// Characters of a name.
const LONGEST_NAME: usize = 255;

impl AccountWriter<'_> {
    /// Makes the keys that the account has none of the same name of. Those of a run that was stopped before it could show
    /// their secrets are made anew: no report has them.
    pub(crate) async fn write_keys(&mut self) -> Result<(), TransferError> {
        if self.options.without_keys {
            return Ok(());
        }
        let items = self.items(PART)?;
        let part = self.name(PART);
        if let Some(here) = self.account().cloned() {
            for id in self.journal.keys_not_shown(&part) {
                self.store.delete_key(&here.account().id, &id).await?;
            }
        }
        let mut existing = BTreeSet::new();
        if let Some(here) = &self.target {
            let keys = self.store.keys(&here.account().id).await?;
            existing.extend(keys.into_iter().map(|key| key.name));
        }
        for item in items {
            let name = text_in(&item, "name").unwrap_or_default().trim().to_owned();
            if name.is_empty() || name.chars().count() > LONGEST_NAME {
                let why = format!("a name has 1 to {LONGEST_NAME} characters");
                self.report.refuse_item(PART, &name, why);
                continue;
            }
            let (kind, scopes) = match self.grant(&name, &item) {
                Ok(grant) => grant,
                Err(why) => {
                    self.report.refuse_item(PART, &name, why);
                    continue;
                }
            };
            let Some(here) = self.account().cloned() else {
                let counts = self.report.counts(PART);
                if existing.contains(&name) {
                    counts.unchanged += 1;
                } else {
                    counts.created += 1;
                }
                continue;
            };
            // Of two keys with one name the first one is made: which is which could not be seen.
            if !existing.insert(name.clone()) {
                self.report.counts(PART).unchanged += 1;
                continue;
            }
            let id = here.account().id.clone();
            let is_test = item.get("test").and_then(Value::as_bool).unwrap_or(false);
            self.make_key(id, name, (kind, scopes), is_test).await?;
        }
        Ok(())
    }

    async fn make_key(
        &mut self,
        account: AccountId,
        name: String,
        (kind, scopes): (KeyKind, Vec<String>),
        is_test: bool,
    ) -> Result<(), TransferError> {
        let secret = Secret::generate(&self.entropy);
        let key = ApiKey {
            id: secret.id().clone(),
            account,
            name: name.clone(),
            kind,
            scopes,
            hash: secret.hash(),
            created_at: self.clock.now(),
            is_test,
            used_at: None,
        };
        let part = self.name(PART);
        self.journal.note_key(&part, &key.id)?;
        if !self.store.create_key(&key, MOST).await? {
            let why = format!("the account holds {MOST} keys already");
            self.report.refuse_item(PART, &name, why);
            return Ok(());
        }
        self.progress.say(format!("{part}: {name} made"));
        self.report.counts(PART).created += 1;
        self.report.keys.push(ShownKey {
            name,
            api_key_id: key.id.to_string(),
            api_key: secret.expose().to_owned(),
        });
        Ok(())
    }

    /// The kind of a key with these scopes, and those of them that a restricted key holds here.
    fn grant(&mut self, name: &str, item: &Value) -> Result<(KeyKind, Vec<String>), String> {
        let scopes = list_in(item, "scopes").iter().filter_map(Value::as_str);
        let scopes: BTreeSet<&str> = scopes.collect();
        let held = |name: &&str| scopes.contains(name);
        if scope::full_access().iter().all(held) {
            return Ok((KeyKind::Full, Vec::new()));
        }
        let billing: Vec<String> = scopes
            .iter()
            .filter(|name| scope::is_billing(name))
            .map(|&name| name.to_owned())
            .collect();
        let grantable = |name: &&&str| scope::in_full_access(name) || scope::is_mark(name);
        let own: Vec<String> = scopes
            .iter()
            .filter(grantable)
            .map(|&name| name.to_owned())
            .collect();
        if own.is_empty() {
            if billing.is_empty() {
                return Err("none of its scopes is one of this service".to_owned());
            }
            return Ok((KeyKind::Billing, billing));
        }
        let lost: Vec<&str> = scopes
            .iter()
            .filter(|name| !own.iter().any(|own| own == **name))
            .copied()
            .collect();
        if !lost.is_empty() {
            let note = format!("key {name}: without the scopes {}", lost.join(", "));
            self.report.notes.push(note);
        }
        Ok((KeyKind::Restricted, own))
    }
}
