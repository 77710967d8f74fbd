//! Writes unsubscribe groups. One keeps its id where that is free; the journal has the others.

use std::collections::HashMap;

use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::AccountWriter;
use crate::TransferError;
use crate::part::AccountPart;
use crate::read::text_in;
use crate::service::Here;

const PART: AccountPart = AccountPart::Groups;
const PATH: &str = "/v3/asm/groups";

impl AccountWriter<'_> {
    pub(super) async fn write_groups(&mut self) -> Result<(), TransferError> {
        let items = self.items(PART)?;
        let mut existing: HashMap<String, i64> = HashMap::new();
        if let Some(here) = self.target.clone() {
            let found = self.found(&here, PATH).await?.unwrap_or_default();
            for group in found.as_array().into_iter().flatten() {
                if let (Some(name), Some(id)) = (text_in(group, "name"), id_of(group)) {
                    existing.insert(folded(name), id);
                }
            }
        }
        for item in items {
            let (Some(from), Some(name)) = (id_of(&item), text_in(&item, "name")) else {
                self.report
                    .refuse_item(PART, "a group", "it has no id or no name");
                continue;
            };
            let body = json!({
                "name": name,
                "description": text_in(&item, "description").unwrap_or_default(),
                "is_default": item.get("is_default").and_then(Value::as_bool).unwrap_or(false),
            });
            // How many left it changes without the group being another.
            let known = self.journal.group(&self.prefix, from);
            if self.is_unchanged(PART, &from.to_string(), &body) && known.is_some() {
                self.map(from, known);
                continue;
            }
            let known = known.or_else(|| existing.get(&folded(name)).copied());
            let Some(here) = self.account().cloned() else {
                self.plan(PART, known.is_some());
                let is_taken = known.is_none() && existing.values().any(|id| *id == from);
                let to = known.unwrap_or(from);
                if is_taken {
                    let note = format!("group {from} ({name}) gets another id: {from} is in use");
                    self.report.notes.push(note);
                }
                self.journal.note_group(&self.prefix, from, to)?;
                continue;
            };
            match self.place_group(&here, (from, known), &body).await? {
                Ok(to) => {
                    existing.insert(folded(name), to);
                    self.journal.note_group(&self.prefix, from, to)?;
                    self.map(from, Some(to));
                    self.note_item(PART, &from.to_string(), &body)?;
                }
                Err(why) => self
                    .report
                    .refuse_item(PART, &format!("{from} ({name})"), why),
            }
        }
        Ok(())
    }

    fn map(&mut self, from: i64, to: Option<i64>) {
        if let Some(to) = to.filter(|to| *to != from) {
            self.report.group_ids.insert(from, to);
        }
    }

    /// Creates a group, or changes the one that stands for it; its id here.
    async fn place_group(
        &mut self,
        here: &Here,
        (from, known): (i64, Option<i64>),
        body: &Value,
    ) -> Result<Result<i64, String>, TransferError> {
        if let Some(id) = known {
            let path = format!("{PATH}/{id}");
            let changed = self.call(here, (Method::PATCH, &path), Some(body), None);
            match changed.await? {
                Ok(_) => {
                    self.report.counts(PART).changed += 1;
                    return Ok(Ok(id));
                }
                // It was deleted here since.
                Err(refusal) if refusal.status == StatusCode::NOT_FOUND => {}
                Err(refusal) => return Ok(Err(refusal.why)),
            }
        }
        let taken = self.found(here, &format!("{PATH}/{from}")).await?;
        let own = from.to_string();
        let id = taken.is_none().then_some(own.as_str());
        let made = self
            .call(here, (Method::POST, PATH), Some(body), id)
            .await?;
        Ok(match made {
            Ok(group) => {
                self.report.counts(PART).created += 1;
                id_of(&group).ok_or_else(|| "the answer has no id".to_owned())
            }
            Err(refusal) => Err(refusal.why),
        })
    }
}

fn id_of(group: &Value) -> Option<i64> {
    group.get("id").and_then(Value::as_i64)
}

/// A name as groups compare by it.
fn folded(name: &str) -> String {
    name.trim().to_lowercase()
}
