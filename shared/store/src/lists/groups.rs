//! Unsubscribe groups: kinds of mail that a recipient can leave one by one.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use posthaste_model::{AccountId, Timestamp};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::suppressions::SuppressionList;
use crate::key::Key;
use crate::table::{
    PageQuery, RowChange, Store, StoreError, StoredRow, Transact, UpdateBuilder, Write, number,
};

/// One group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// Counts up from 1 within the account; never given twice.
    pub id: i64,
    pub name: String,
    pub description: String,
    /// A day, at least, of the last mail to it; `None` before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mailed_at: Option<Timestamp>,
    /// Whether it is the account's default group.
    #[serde(skip)]
    pub is_default: bool,
    /// How many addresses have left it.
    #[serde(skip)]
    pub unsubscribes: i64,
}

/// What is to change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupChange {
    pub name: Option<String>,
    pub description: Option<String>,
    pub is_default: Option<bool>,
}

/// The result of creating or changing a group.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum GroupSaved {
    Done(Box<Group>),
    Missing,
    /// The account has a group of this name.
    NameTaken,
    /// The account has reached its limit.
    Full,
    /// The account has a group of this id.
    IdTaken,
}

/// A pointer to a group.
#[derive(Debug, Serialize, Deserialize)]
struct Points {
    group: i64,
}

#[derive(Debug, Deserialize)]
struct GroupCount {
    n: i64,
}

/// How many groups an account may hold (API facts 1, asm group).
const MOST: i64 = 200;

fn name_key(account: &AccountId, name: &str) -> Key {
    let hash = Sha256::digest(name.trim().to_lowercase().as_bytes());
    Key::group_name(account, &URL_SAFE_NO_PAD.encode(hash))
}

fn count_key(account: &AccountId, id: i64) -> Key {
    Key::count(account, &SuppressionList::Group(id).name())
}

impl Store {
    /// Creates a group with the next id.
    pub async fn create_group(
        &self,
        account: &AccountId,
        texts: (&str, &str),
        is_default: bool,
    ) -> Result<GroupSaved, StoreError> {
        let id = self.next_id(account, "GROUPIDS").await?;
        self.add_group(account, id, texts, is_default).await
    }

    /// Creates a group with an id that it had elsewhere; ids that are given later are higher.
    pub async fn place_group(
        &self,
        account: &AccountId,
        id: i64,
        texts: (&str, &str),
        is_default: bool,
    ) -> Result<GroupSaved, StoreError> {
        let past = UpdateBuilder::default()
            .set("n", number(id))
            .condition("attribute_not_exists(#n) OR #n < :n", []);
        self.update(&Key::count(account, "GROUPIDS"), &past).await?;
        self.add_group(account, id, texts, is_default).await
    }

    async fn add_group(
        &self,
        account: &AccountId,
        id: i64,
        (name, description): (&str, &str),
        is_default: bool,
    ) -> Result<GroupSaved, StoreError> {
        let group = Group {
            id,
            name: name.to_owned(),
            description: description.to_owned(),
            mailed_at: None,
            is_default,
            unsubscribes: 0,
        };
        let points = Points { group: group.id };
        let mut steps = vec![
            self.write_new(&name_key(account, name), &points, None)?,
            self.write_take(&Key::count(account, "GROUPS"), MOST)?,
            self.write_new(&Key::group(account, group.id), &group, None)?,
        ];
        if is_default {
            steps.push(self.write(&Key::default_group(account), &points, None)?);
        }
        Ok(match self.transact(steps).await? {
            Transact::Done => GroupSaved::Done(Box::new(group)),
            Transact::Refused(0) => GroupSaved::NameTaken,
            Transact::Refused(1) => GroupSaved::Full,
            Transact::Refused(_) => GroupSaved::IdTaken,
        })
    }

    /// The groups of an account, oldest first.
    pub async fn groups(&self, account: &AccountId) -> Result<Vec<Group>, StoreError> {
        let pk = Key::account_pk(account);
        let rows = self.list(&pk, "GROUP#", &PageQuery::all()).await?;
        self.filled(account, rows).await
    }

    /// Those of these groups that the account has, oldest first.
    pub async fn groups_among(
        &self,
        account: &AccountId,
        ids: &[i64],
    ) -> Result<Vec<Group>, StoreError> {
        let mut rows = self.group_rows(account, ids).await?;
        rows.sort_by_key(|row| row.value.id);
        self.filled(account, rows).await
    }

    /// The same in one read, without what is stored in other rows (the default, the count).
    pub async fn known_groups(
        &self,
        account: &AccountId,
        ids: &[i64],
    ) -> Result<Vec<Group>, StoreError> {
        let rows = self.group_rows(account, ids).await?;
        Ok(rows.into_iter().map(|row| row.value).collect())
    }

    async fn group_rows(
        &self,
        account: &AccountId,
        ids: &[i64],
    ) -> Result<Vec<StoredRow<Group>>, StoreError> {
        let mut keys: Vec<_> = ids.iter().map(|id| Key::group(account, *id)).collect();
        keys.sort_unstable();
        keys.dedup();
        self.get_many(&keys).await
    }

    /// One group.
    pub async fn group(&self, account: &AccountId, id: i64) -> Result<Option<Group>, StoreError> {
        let found = self.groups_among(account, &[id]).await?;
        Ok(found.into_iter().next())
    }

    /// Adds what is stored in other rows.
    async fn filled(
        &self,
        account: &AccountId,
        rows: Vec<StoredRow<Group>>,
    ) -> Result<Vec<Group>, StoreError> {
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let default = self.default_group(account).await?;
        let keys: Vec<_> = rows
            .iter()
            .map(|row| count_key(account, row.value.id))
            .collect();
        let counts: Vec<StoredRow<GroupCount>> = self.get_many(&keys).await?;
        let fill = |mut group: Group| {
            let key = count_key(account, group.id);
            let count = counts.iter().find(|row| row.key == key);
            group.unsubscribes = count.map_or(0, |row| row.value.n);
            group.is_default = default == Some(group.id);
            group
        };
        Ok(rows.into_iter().map(|row| fill(row.value)).collect())
    }

    async fn default_group(&self, account: &AccountId) -> Result<Option<i64>, StoreError> {
        let row = self.get::<Points>(&Key::default_group(account)).await?;
        Ok(row.map(|row| row.value.group))
    }

    /// Changes a group.
    pub async fn change_group(
        &self,
        account: &AccountId,
        id: i64,
        change: &GroupChange,
    ) -> Result<GroupSaved, StoreError> {
        let key = Key::group(account, id);
        let mut attempts = self.conflict_attempts();
        while attempts.next().await {
            let Some(row) = self.get::<Group>(&key).await? else {
                return Ok(GroupSaved::Missing);
            };
            let (old, mut new) = (row.value.clone(), row.value);
            new.name = change.name.clone().unwrap_or(new.name);
            new.description = change.description.clone().unwrap_or(new.description);
            let mut steps = vec![self.write_unchanged(&key, &new, row.rev)?];
            let (was, is) = (name_key(account, &old.name), name_key(account, &new.name));
            if was != is {
                steps.push(self.write_new(&is, &Points { group: id }, None)?);
                steps.push(self.write_absent(&was)?);
            }
            if let Some(step) = self.default_step(account, id, change.is_default).await? {
                steps.push(step);
            }
            match self.transact(steps).await? {
                Transact::Done => {
                    let now = self.group(account, id).await?;
                    return Ok(now.map_or(GroupSaved::Missing, |g| GroupSaved::Done(Box::new(g))));
                }
                Transact::Refused(1) if was != is => return Ok(GroupSaved::NameTaken),
                Transact::Refused(_) => {}
            }
        }
        Err(StoreError::Contended(format!("group {id} of {account}")))
    }

    async fn default_step(
        &self,
        account: &AccountId,
        id: i64,
        wanted: Option<bool>,
    ) -> Result<Option<Write>, StoreError> {
        let is = self.default_group(account).await? == Some(id);
        let key = Key::default_group(account);
        Ok(match wanted {
            Some(true) if !is => Some(self.write(&key, &Points { group: id }, None)?),
            Some(false) if is => Some(self.write_absent(&key)?),
            Some(_) | None => None,
        })
    }

    /// Records that a group was mailed; once a day is enough.
    pub async fn note_group_mailed(
        &self,
        account: &AccountId,
        id: i64,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let key = Key::group(account, id);
        let note = |group: Option<&Group>| match group.filter(|group| !group.is_noted(now)) {
            None => Ok::<_, StoreError>(RowChange::Keep),
            Some(group) => Ok(RowChange::Put(Group {
                mailed_at: Some(now),
                ..group.clone()
            })),
        };
        self.modify(&key, None, note).await?;
        Ok(())
    }

    /// Deletes a group; `false` when there is none. Its addresses are deleted: an unsubscribe from
    /// one of its mails is global from now on.
    pub async fn delete_group(&self, account: &AccountId, id: i64) -> Result<bool, StoreError> {
        let key = Key::group(account, id);
        let mut attempts = self.conflict_attempts();
        while attempts.next().await {
            let Some(row) = self.get::<Group>(&key).await? else {
                return Ok(false);
            };
            let mut steps = vec![
                self.write_delete_unchanged(&key, row.rev)?,
                self.write_absent(&name_key(account, &row.value.name))?,
                self.write_give(&Key::count(account, "GROUPS"))?,
            ];
            steps.extend(self.default_step(account, id, Some(false)).await?);
            if self.transact(steps).await? == Transact::Done {
                self.clear_list(account, SuppressionList::Group(id)).await?;
                self.delete(&count_key(account, id)).await?;
                return Ok(true);
            }
        }
        Err(StoreError::Contended(format!("group {id} of {account}")))
    }
}

impl Group {
    /// Whether a mail at this time needs no further record.
    pub fn is_noted(&self, now: Timestamp) -> bool {
        self.mailed_at.is_some_and(|at| now.since(at) < 86_400)
    }
}
