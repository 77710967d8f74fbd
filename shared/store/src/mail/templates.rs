//! Templates: a row with the heads of their versions, and separate rows with their texts.
//!
//! The texts of a version are up to three megabytes, more than a row holds, so they are stored in
//! parts of their own. They never change: a new text gets a new id, the head names it, and the old
//! one is deleted. A reader that read the head a moment earlier finds the text gone and reads the
//! head again.

use posthaste_model::{AccountId, TemplateId, Timestamp, VersionId};
use serde::{Deserialize, Serialize};

use crate::key::Key;
use crate::table::{PageQuery, RowChange, Store, StoreError, StoredRow, Transact};

/// Bytes of text in a part: a row holds 400 KB, names and numbers included.
const PART: usize = 300_000;

/// The counter of an account's templates and versions together.
const COUNTER: &str = "TEMPLATES";

/// Bytes of names and subjects that the versions of one template may have together.
const HEADS: usize = 250_000;

/// A template and the heads of its versions, the oldest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Template {
    pub id: TemplateId,
    pub account: AccountId,
    pub name: String,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    #[serde(default)]
    pub versions: Vec<Version>,
}

/// The head of a version, without its texts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    pub id: VersionId,
    pub name: String,
    pub subject: String,
    pub updated_at: Timestamp,
    /// Whether sends use it; one version of a template at most.
    #[serde(default)]
    pub active: bool,
    #[serde(default)]
    pub generate_plain_content: bool,
    /// The editor, `code` or `design`.
    pub editor: String,
    /// Names the texts.
    pub texts: VersionId,
    /// Whether there is any text to build a mail from.
    pub has_content: bool,
}

/// The texts of a version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionTexts {
    pub html_content: String,
    pub plain_content: String,
    /// JSON for previews, as the owner wrote it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub test_data: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct VersionPart {
    text: String,
}

/// The result of a creation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Placed<T> {
    Done(T),
    /// The account has reached its limit of templates and versions.
    Full,
    /// The names and subjects of the template's versions exceed what its row can hold.
    TooLong,
    /// There is no such template.
    Missing,
}

impl Template {
    /// The version that sends use.
    pub fn active(&self) -> Option<&Version> {
        self.versions.iter().find(|version| version.active)
    }

    /// One version.
    pub fn version(&self, id: &VersionId) -> Option<&Version> {
        self.versions.iter().find(|version| version.id == *id)
    }

    /// Makes this version the one that sends use; false when there is none of this id.
    pub fn activate(&mut self, id: &VersionId) -> bool {
        let known = self.version(id).is_some();
        if known {
            for version in &mut self.versions {
                version.active = version.id == *id;
            }
        }
        known
    }

    fn fits(&self) -> bool {
        let heads = self.versions.iter();
        heads.map(|v| v.name.len() + v.subject.len()).sum::<usize>() <= HEADS
    }
}

impl Store {
    /// The templates of an account, the oldest first.
    pub async fn templates(&self, account: &AccountId) -> Result<Vec<Template>, StoreError> {
        let pk = Key::account_pk(account);
        let rows: Vec<StoredRow<Template>> = self.list(&pk, "TPL#", &PageQuery::all()).await?;
        let mut all: Vec<_> = rows.into_iter().map(|row| row.value).collect();
        all.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
        Ok(all)
    }

    /// One template of an account.
    pub async fn template(
        &self,
        account: &AccountId,
        id: &TemplateId,
    ) -> Result<Option<Template>, StoreError> {
        let row = self.get(&Key::template(account, id)).await?;
        Ok(row.map(|row| row.value))
    }

    /// Writes a new template without versions unless the account has reached `limit` templates and
    /// versions.
    pub async fn create_template(
        &self,
        template: &Template,
        limit: i64,
    ) -> Result<Placed<()>, StoreError> {
        let steps = vec![
            self.write_take(&Key::count(&template.account, COUNTER), limit)?,
            self.write_new(
                &Key::template(&template.account, &template.id),
                template,
                None,
            )?,
        ];
        match self.transact(steps).await? {
            Transact::Done => Ok(Placed::Done(())),
            Transact::Refused(0) => Ok(Placed::Full),
            Transact::Refused(_) => Err(StoreError::Contended(template.id.to_string())),
        }
    }

    /// Adds a version whose texts are stored already. The first one of a template is active.
    pub async fn add_version(
        &self,
        account: &AccountId,
        id: &TemplateId,
        version: &Version,
        limit: i64,
    ) -> Result<Placed<Template>, StoreError> {
        let key = Key::template(account, id);
        let mut attempts = self.conflict_attempts();
        while attempts.next().await {
            let Some(row) = self.get::<Template>(&key).await? else {
                return Ok(Placed::Missing);
            };
            let mut template = row.value;
            let active = version.active || template.versions.is_empty();
            template.versions.push(version.clone());
            if active {
                template.activate(&version.id);
            }
            template.updated_at = version.updated_at;
            if !template.fits() {
                return Ok(Placed::TooLong);
            }
            let steps = vec![
                self.write_take(&Key::count(account, COUNTER), limit)?,
                self.write_unchanged(&key, &template, row.rev)?,
            ];
            match self.transact(steps).await? {
                Transact::Done => return Ok(Placed::Done(template)),
                Transact::Refused(0) => return Ok(Placed::Full),
                Transact::Refused(_) => {}
            }
        }
        Err(StoreError::Contended(id.to_string()))
    }

    /// Changes a template; `change` may run several times.
    ///
    /// # Errors
    /// What `change` refused with, or the table's error in that type.
    pub async fn change_template<E: From<StoreError>>(
        &self,
        account: &AccountId,
        id: &TemplateId,
        mut change: impl FnMut(&mut Template) -> Result<(), E>,
    ) -> Result<Placed<Template>, E> {
        let key = Key::template(account, id);
        let mut fits = true;
        let changed = self.modify(&key, None, |old: Option<&Template>| {
            let Some(old) = old else {
                return Ok::<_, E>(RowChange::Keep);
            };
            let mut new = old.clone();
            change(&mut new)?;
            fits = new.fits();
            Ok(if fits {
                RowChange::Put(new)
            } else {
                RowChange::Keep
            })
        });
        Ok(match changed.await? {
            None => Placed::Missing,
            Some(_) if !fits => Placed::TooLong,
            Some(template) => Placed::Done(template),
        })
    }

    /// Deletes a version and its texts; `false` when there is none.
    pub async fn delete_version(
        &self,
        account: &AccountId,
        id: &TemplateId,
        version: &VersionId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let key = Key::template(account, id);
        let mut attempts = self.conflict_attempts();
        while attempts.next().await {
            let Some(row) = self.get::<Template>(&key).await? else {
                return Ok(false);
            };
            let mut template = row.value;
            let Some(at) = template.versions.iter().position(|v| v.id == *version) else {
                return Ok(false);
            };
            let gone = template.versions.remove(at);
            template.updated_at = now;
            let steps = vec![
                self.write_give(&Key::count(account, COUNTER))?,
                self.write_unchanged(&key, &template, row.rev)?,
            ];
            if self.transact(steps).await? == Transact::Done {
                self.delete_texts(account, &gone.texts).await?;
                return Ok(true);
            }
        }
        Err(StoreError::Contended(id.to_string()))
    }

    /// Deletes a template with all its versions; `false` when there is none.
    pub async fn delete_template(
        &self,
        account: &AccountId,
        id: &TemplateId,
    ) -> Result<bool, StoreError> {
        let key = Key::template(account, id);
        let mut attempts = self.conflict_attempts();
        while attempts.next().await {
            let Some(row) = self.get::<Template>(&key).await? else {
                return Ok(false);
            };
            let held = 1 + i64::try_from(row.value.versions.len()).unwrap_or(i64::MAX - 1);
            let steps = vec![
                self.write_give_many(&Key::count(account, COUNTER), held)?,
                self.write_delete_unchanged(&key, row.rev)?,
            ];
            if self.transact(steps).await? == Transact::Done {
                for version in &row.value.versions {
                    self.delete_texts(account, &version.texts).await?;
                }
                return Ok(true);
            }
        }
        Err(StoreError::Contended(id.to_string()))
    }

    /// Writes the texts of a version. Nothing refers to them yet.
    pub async fn put_texts(
        &self,
        account: &AccountId,
        id: &VersionId,
        texts: &VersionTexts,
    ) -> Result<(), StoreError> {
        let whole =
            serde_json::to_string(texts).map_err(|e| StoreError::Unreachable(e.to_string()))?;
        let mut rows = Vec::new();
        let mut rest = whole.as_str();
        while !rest.is_empty() {
            let (part, after) = rest.split_at(rest.floor_char_boundary(PART.min(rest.len())));
            let key = Key::template_texts(account, id, rows.len());
            let text = part.to_owned();
            rows.push((key, VersionPart { text }));
            rest = after;
        }
        self.put_many(&rows, None).await
    }

    /// The texts of a version; `None` when it was replaced or deleted meanwhile.
    ///
    /// # Errors
    /// When the table fails or holds something else.
    pub async fn texts(
        &self,
        account: &AccountId,
        id: &VersionId,
    ) -> Result<Option<VersionTexts>, StoreError> {
        let pk = Key::account_pk(account);
        let prefix = format!("TPLTEXT#{id}#");
        let parts: Vec<StoredRow<VersionPart>> = self.list(&pk, &prefix, &PageQuery::all()).await?;
        let whole: String = parts.into_iter().map(|row| row.value.text).collect();
        // Parts of a text that is being deleted are incomplete.
        Ok(serde_json::from_str(&whole).ok())
    }

    /// Deletes the texts of a version.
    pub async fn delete_texts(
        &self,
        account: &AccountId,
        id: &VersionId,
    ) -> Result<(), StoreError> {
        let pk = Key::account_pk(account);
        let prefix = format!("TPLTEXT#{id}#");
        let parts: Vec<StoredRow<VersionPart>> = self.list(&pk, &prefix, &PageQuery::all()).await?;
        let keys: Vec<Key> = parts.into_iter().map(|row| row.key).collect();
        self.delete_many(&keys).await
    }
}
