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

/// What a key is known by: its name, and what it may do.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct KeyGrant {
    name: String,
    kind: &'static str,
    scopes: BTreeSet<String>,
}

impl KeyGrant {
    fn new(name: &str, kind: KeyKind, scopes: &[String]) -> Self {
        let kind = match kind {
            KeyKind::Full => "full",
            KeyKind::Restricted => "restricted",
            KeyKind::Billing => "billing",
        };
        Self {
            name: name.to_owned(),
            kind,
            scopes: scopes.iter().cloned().collect(),
        }
    }

    fn of(key: &ApiKey) -> Self {
        Self::new(&key.name, key.kind, &key.scopes)
    }

    /// For the journal.
    fn text(&self) -> String {
        let scopes: Vec<&str> = self.scopes.iter().map(String::as_str).collect();
        format!("{} {} {}", self.kind, scopes.join(","), self.name)
    }
}

/// The keys of the account before the import makes others.
struct KnownKeys {
    existing: BTreeSet<KeyGrant>,
    /// Those that are made anew.
    anew: BTreeSet<KeyGrant>,
    /// How many the account may have beside them.
    free: i64,
}

/// Why another key is not made.
fn full() -> String {
    format!("the account holds {MOST} keys already")
}

impl AccountWriter<'_> {
    /// Makes the keys that the account has none of the same name and scopes of. Those of a run that was stopped before it could show
    /// their secrets are made anew: no report has them.
    pub(crate) async fn write_keys(&mut self) -> Result<(), TransferError> {
        if self.options.without_keys {
            return Ok(());
        }
        let items = self.items(PART)?;
        let part = self.name(PART);
        let KnownKeys {
            mut existing,
            anew,
            mut free,
        } = self.known_keys(&part).await?;
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
            let grant = KeyGrant::new(&name, kind, &scopes);
            // One that was made by an earlier run may have other scopes by now, or be revoked.
            let item_key = grant.text();
            let is_made = self.journal.has(&part, &item_key, "") && !anew.contains(&grant);
            if !existing.insert(grant) || is_made {
                self.report.counts(PART).unchanged += 1;
                continue;
            }
            free -= 1;
            let Some(here) = self.account().cloned() else {
                if free < 0 {
                    self.report.refuse_item(PART, &name, full());
                } else {
                    self.report.counts(PART).created += 1;
                }
                continue;
            };
            let id = here.account().id.clone();
            let is_test = item.get("test").and_then(Value::as_bool).unwrap_or(false);
            if self.make_key(id, name, (kind, scopes), is_test).await? {
                self.journal.note_item(&part, &item_key, "")?;
            }
        }
        Ok(())
    }

    /// The keys of the account, without those of a run that was stopped before it could show their secrets: unless this
    /// is a plan, these are deleted.
    async fn known_keys(&mut self, part: &str) -> Result<KnownKeys, TransferError> {
        let not_shown = self.journal.keys_not_shown(part);
        let mut known = KnownKeys {
            existing: BTreeSet::new(),
            anew: BTreeSet::new(),
            free: MOST,
        };
        if let Some(here) = &self.target {
            for key in self.store.keys(&here.account().id).await? {
                let own = KeyGrant::of(&key);
                if not_shown.contains(&key.id) {
                    known.anew.insert(own);
                } else {
                    known.existing.insert(own);
                    known.free -= 1;
                }
            }
        }
        if let Some(here) = self.account().cloned() {
            for id in not_shown {
                self.store.delete_key(&here.account().id, &id).await?;
            }
        }
        Ok(known)
    }

    /// Whether the account took the key.
    async fn make_key(
        &mut self,
        account: AccountId,
        name: String,
        (kind, scopes): (KeyKind, Vec<String>),
        is_test: bool,
    ) -> Result<bool, TransferError> {
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
            self.report.refuse_item(PART, &name, full());
            return Ok(false);
        }
        self.progress.say(format!("{part}: {name} made"));
        self.report.counts(PART).created += 1;
        self.report.keys.push(ShownKey {
            name,
            api_key_id: key.id.to_string(),
            api_key: secret.expose().to_owned(),
        });
        Ok(true)
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
