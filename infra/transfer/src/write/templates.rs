//! Writes templates and their versions, and checks how each version reads here.

use http::Method;
use posthaste_model::{TemplateId, VersionId};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::AccountWriter;
use crate::TransferError;
use crate::check::remarks;
use crate::folder::Lines;
use crate::part::AccountPart;
use crate::read::{list_in, text_in};
use crate::service::Here;

const PART: AccountPart = AccountPart::Templates;

/// The fields of a version that are its own.
const FIELDS: [&str; 6] = [
    "name",
    "subject",
    "html_content",
    "plain_content",
    "generate_plain_content",
    "editor",
];

impl AccountWriter<'_> {
    pub(super) async fn write_templates(&mut self) -> Result<(), TransferError> {
        for (number, line) in Lines::open(&self.folder.file(PART))?.enumerate() {
            let line = line?;
            self.report.counts(PART).read += 1;
            let what = line.label(number + 1);
            let template = match line.value() {
                Ok(template) => template,
                Err(fault) => {
                    self.report.refuse_item(PART, &what, fault.to_string());
                    continue;
                }
            };
            let Some(from) = text_in(&template, "id") else {
                self.report.refuse_item(PART, &what, "it has no id");
                continue;
            };
            let is_dynamic = text_in(&template, "generation") == Some("dynamic");
            let id = own_id(from, is_dynamic);
            if id.as_str() != from {
                let ids = &mut self.report.template_ids;
                ids.insert(from.to_owned(), id.to_string());
            }
            self.check(&id, from, &template).await;
            if self.is_unchanged(PART, from, &template) {
                continue;
            }
            let Some(here) = self.account().cloned() else {
                let existing = match self.target.clone() {
                    Some(here) => self.found(&here, &format!("/v3/templates/{id}")).await?,
                    None => None,
                };
                self.plan(PART, existing.is_some());
                continue;
            };
            if self.place_template(&here, &id, &template).await? {
                self.note_item(PART, from, &template)?;
            }
        }
        Ok(())
    }

    /// Lists what each version has that is read otherwise here.
    async fn check(&mut self, id: &TemplateId, from: &str, template: &Value) {
        for version in list_in(template, "versions") {
            let name = text_in(version, "name").unwrap_or_default();
            let size = version.to_string().len();
            let found = posthaste_offload::run(size, || remarks(id, version)).await;
            for remark in found {
                let what = format!("template {from}, version {name}");
                self.report.note_template(&what, remark);
            }
        }
    }

    /// Creates or changes a template with its versions; whether all of it was taken.
    async fn place_template(
        &mut self,
        here: &Here,
        id: &TemplateId,
        template: &Value,
    ) -> Result<bool, TransferError> {
        let path = format!("/v3/templates/{id}");
        let name = text_in(template, "name").unwrap_or_default();
        let existing = self.found(here, &path).await?;
        let body = json!({"name": name, "generation": generation(id)});
        let placed = match &existing {
            None => {
                let call = (Method::POST, "/v3/templates");
                self.call(here, call, Some(&body), Some(id.as_str()))
                    .await?
            }
            Some(own) if text_in(own, "name") != Some(name) => {
                self.call(here, (Method::PATCH, &path), Some(&body), None)
                    .await?
            }
            Some(own) => Ok(own.clone()),
        };
        if let Err(refusal) = placed {
            self.report.refuse_item(PART, id.as_str(), refusal.why);
            return Ok(false);
        }
        let held = existing.unwrap_or_default();
        let held: Vec<&str> = list_in(&held, "versions")
            .iter()
            .filter_map(|version| text_in(version, "id"))
            .collect();
        let (mut is_whole, mut active) = (true, None);
        for version in list_in(template, "versions") {
            let Some(from) = text_in(version, "id") else {
                continue;
            };
            let own = own_version_id(from);
            let is_active = version.get("active").and_then(Value::as_i64) == Some(1);
            let known = held.contains(&own.as_str());
            match self.place_version(here, id, (&own, known), version).await? {
                Ok(()) if is_active => active = Some(own),
                Ok(()) => {}
                Err(why) => {
                    is_whole = false;
                    self.report
                        .refuse(format!("templates: version {from} of {id}"), why);
                }
            }
        }
        self.activate(here, id, active).await?;
        let counts = self.report.counts(PART);
        if held.is_empty() {
            counts.created += 1;
        } else {
            counts.changed += 1;
        }
        Ok(is_whole)
    }

    async fn place_version(
        &mut self,
        here: &Here,
        id: &TemplateId,
        (own, is_known): (&VersionId, bool),
        version: &Value,
    ) -> Result<Result<(), String>, TransferError> {
        let item = self.name(PART);
        let key = format!("{id}/{own}");
        let body = body_of(id, version);
        let digest = crate::digest::digest(body.to_string().as_bytes());
        if is_known && self.journal.has(&item, &key, &digest) {
            return Ok(Ok(()));
        }
        let all = format!("/v3/templates/{id}/versions");
        let placed = if is_known {
            let path = format!("{all}/{own}");
            self.call(here, (Method::PATCH, &path), Some(&body), None)
                .await?
        } else {
            let call = (Method::POST, all.as_str());
            self.call(here, call, Some(&body), Some(own.as_str()))
                .await?
        };
        match placed {
            Ok(_) => {
                self.journal.note_item(&item, &key, &digest)?;
                Ok(Ok(()))
            }
            Err(refusal) => Ok(Err(refusal.why)),
        }
    }

    /// Makes the version active that is active there, or none.
    async fn activate(
        &mut self,
        here: &Here,
        id: &TemplateId,
        wanted: Option<VersionId>,
    ) -> Result<(), TransferError> {
        let path = format!("/v3/templates/{id}");
        let own = self.found(here, &path).await?.unwrap_or_default();
        let active = list_in(&own, "versions")
            .iter()
            .find(|version| version.get("active").and_then(Value::as_i64) == Some(1));
        let active = active.and_then(|version| text_in(version, "id"));
        let changed = match (active, wanted) {
            (own, Some(wanted)) if own != Some(wanted.as_str()) => {
                let path = format!("{path}/versions/{wanted}/activate");
                self.call(here, (Method::POST, &path), None, None).await?
            }
            (Some(own), None) => {
                let path = format!("{path}/versions/{own}");
                let body = json!({"active": 0});
                self.call(here, (Method::PATCH, &path), Some(&body), None)
                    .await?
            }
            _ => return Ok(()),
        };
        if let Err(refusal) = changed {
            let what = format!("templates: the active version of {id}");
            self.report.refuse(what, refusal.why);
        }
        Ok(())
    }
}

/// The body that makes a version. Whether it is active follows once all versions are there.
fn body_of(id: &TemplateId, version: &Value) -> Value {
    let mut body = Map::new();
    for name in FIELDS {
        if let Some(value) = version.get(name).filter(|value| !value.is_null()) {
            body.insert(name.to_owned(), value.clone());
        }
    }
    body.entry("subject").or_insert_with(|| "".into());
    let data = text_in(version, "test_data").filter(|data| !data.is_empty());
    if let Some(data) = data.filter(|_| id.is_dynamic()) {
        body.insert("test_data".to_owned(), data.into());
    }
    Value::Object(body)
}

fn generation(id: &TemplateId) -> &'static str {
    if id.is_dynamic() { "dynamic" } else { "legacy" }
}

/// The id that the template had, or one that is derived from it where it is none of this service's form.
fn own_id(from: &str, is_dynamic: bool) -> TemplateId {
    match TemplateId::parse(from) {
        Ok(id) if id.is_dynamic() == is_dynamic => id,
        _ if is_dynamic => TemplateId::dynamic(derived(from)),
        _ => TemplateId::legacy(derived(from)),
    }
}

fn own_version_id(from: &str) -> VersionId {
    VersionId::parse(from).unwrap_or_else(|_| VersionId::from_bytes(derived(from)))
}

/// Bytes that are the same whenever the id is.
fn derived(from: &str) -> [u8; 16] {
    let mut bytes = [0; 16];
    for (to, from) in bytes.iter_mut().zip(Sha256::digest(from.as_bytes())) {
        *to = from;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_kept_where_it_can_be_one_here() {
        let dynamic = "d-5a963add2ec84305813ff860db277d7a";
        assert_eq!(own_id(dynamic, true).as_str(), dynamic);
        let legacy = "733ba07f-ead1-41fc-933a-3976baa23716";
        assert_eq!(own_id(legacy, false).as_str(), legacy);
        for (from, is_dynamic) in [
            (legacy, true),
            (dynamic, false),
            ("T-1", true),
            ("T-1", false),
        ] {
            let id = own_id(from, is_dynamic);
            assert_ne!(id.as_str(), from);
            assert_eq!(id.is_dynamic(), is_dynamic);
            assert_eq!(id, own_id(from, is_dynamic));
        }
        assert_eq!(own_version_id(legacy).as_str(), legacy);
        assert_eq!(own_version_id("v1"), own_version_id("v1"));
    }
}
