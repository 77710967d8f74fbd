//! Alerts: mails with figures that an account has sent to an address, each day, week or month, or when much of its
//! sending allowance is used.
//!
//! Each alert has one due row, for the moment at which it is looked at next. A due row that is not for that moment is
//! one of before a change, and means nothing.

use posthaste_model::{AccountId, Clock, Timestamp};
use serde::{Deserialize, Serialize};

use super::due::{Due, DueTarget};
use crate::access::Frequency;
use crate::key::Key;
use crate::table::{PageQuery, RowChange, Store, StoreError};

/// Seconds between two looks at how much of an allowance is used.
const USAGE_PAUSE: i64 = 900;

/// Seconds between two looks at whether an account has an allowance.
const ALLOWANCE_PAUSE: i64 = 3_600;

/// Seconds after the end of a period until its figures are read: those of its last mails are counted by then.
const COUNTED: i64 = 1_800;

/// One alert.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alert {
    /// Counts up from 1 within the account; never given twice.
    pub id: i64,
    pub account: AccountId,
    pub email_to: String,
    pub kind: AlertKind,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// When it is looked at next.
    pub next: Timestamp,
    /// Of a usage alert: whether the threshold was reached when it was looked at last, so that one period causes one
    /// mail.
    #[serde(default)]
    pub is_past: bool,
}

/// What an alert is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum AlertKind {
    /// The figures of the day, week or month that has ended.
    StatsNotification { frequency: Frequency },
    /// So many percent of the allowance are used.
    UsageLimit { percentage: u8 },
}

/// What a look at an alert found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlertLook {
    /// Nothing that a threshold was reached by.
    Within,
    /// The threshold of a usage alert is reached.
    Past,
    /// The account of a usage alert may send as much as it likes.
    NoAllowance,
}

impl AlertKind {
    /// When an alert of this kind is looked at after this moment.
    pub fn next(self, now: Timestamp) -> Timestamp {
        let counted = now.plus(-COUNTED);
        match self {
            Self::StatsNotification { frequency } => {
                let end = match frequency {
                    Frequency::Daily => counted.next_day(),
                    Frequency::Weekly => counted.next_week(),
                    Frequency::Monthly => counted.next_month(),
                };
                end.plus(COUNTED)
            }
            Self::UsageLimit { .. } => now.plus(USAGE_PAUSE),
        }
    }
}

impl Alert {
    fn due(&self) -> Due {
        Due {
            target: DueTarget::Alert,
            account: self.account.clone(),
            at: self.next,
            id: format!("alert.{}", self.id),
            body: self.id.to_string(),
        }
    }
}

impl Store {
    /// An id for a new alert.
    pub async fn next_alert_id(&self, account: &AccountId) -> Result<i64, StoreError> {
        self.next_id(account, "ALERTIDS").await
    }

    /// Stores an alert, a new one or one that was changed, and when it is looked at.
    pub async fn put_alert(&self, alert: &Alert, clock: &Clock) -> Result<(), StoreError> {
        // First: a due row without its alert means nothing, an alert without its due row would never be sent.
        self.put_due(&[alert.due()], clock).await?;
        self.put(&Key::alert(&alert.account, alert.id), alert, None)
            .await
    }

    /// The alerts of an account, oldest first.
    pub async fn alerts(&self, account: &AccountId) -> Result<Vec<Alert>, StoreError> {
        let pk = Key::account_pk(account);
        let rows = self.list(&pk, "ALERT#", &PageQuery::all()).await?;
        Ok(rows.into_iter().map(|row| row.value).collect())
    }

    /// One alert of an account.
    pub async fn alert(&self, account: &AccountId, id: i64) -> Result<Option<Alert>, StoreError> {
        let row = self.get(&Key::alert(account, id)).await?;
        Ok(row.map(|row| row.value))
    }

    /// Changes an alert, after which it is looked at as a new one would be; none when there is none. `change` may run
    /// several times.
    pub async fn change_alert(
        &self,
        account: &AccountId,
        id: i64,
        clock: &Clock,
        mut change: impl FnMut(&mut Alert),
    ) -> Result<Option<Alert>, StoreError> {
        let Some(mut alert) = self.alert(account, id).await? else {
            return Ok(None);
        };
        let mut edit = |alert: &mut Alert| {
            change(alert);
            alert.updated_at = clock.now();
            alert.next = alert.kind.next(alert.updated_at);
            alert.is_past = false;
        };
        edit(&mut alert);
        self.put_due(&[alert.due()], clock).await?;
        let next = alert.next;
        self.modify(&Key::alert(account, id), None, |old: Option<&Alert>| {
            let Some(mut alert) = old.cloned() else {
                return Ok::<_, StoreError>(RowChange::Keep);
            };
            edit(&mut alert);
            // That of the due row.
            alert.next = next;
            Ok(RowChange::Put(alert))
        })
        .await
    }

    /// Deletes an alert; `false` when there is none.
    pub async fn delete_alert(&self, account: &AccountId, id: i64) -> Result<bool, StoreError> {
        self.delete(&Key::alert(account, id)).await
    }

    /// The alert that a due row is for; none if it was changed or deleted since.
    pub async fn due_alert(&self, due: &Due) -> Result<Option<Alert>, StoreError> {
        let Ok(id) = due.body.parse() else {
            return Ok(None);
        };
        let alert = self.alert(&due.account, id).await?;
        Ok(alert.filter(|alert| alert.next == due.at))
    }

    /// Stores when an alert that was looked at is looked at next, unless it was changed or deleted meanwhile.
    pub async fn go_on_with_alert(
        &self,
        seen: &Alert,
        found: AlertLook,
        clock: &Clock,
    ) -> Result<(), StoreError> {
        let next = match found {
            AlertLook::NoAllowance => clock.now().plus(ALLOWANCE_PAUSE),
            AlertLook::Within | AlertLook::Past => seen.kind.next(clock.now()),
        };
        let next = Alert {
            next,
            is_past: found == AlertLook::Past,
            ..seen.clone()
        };
        self.put_due(&[next.due()], clock).await?;
        let key = Key::alert(&seen.account, seen.id);
        self.modify(&key, None, |old: Option<&Alert>| {
            Ok::<_, StoreError>(if old == Some(seen) {
                RowChange::Put(next.clone())
            } else {
                RowChange::Keep
            })
        })
        .await?;
        Ok(())
    }
}
