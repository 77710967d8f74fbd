//! The account-wide mail and tracking settings, in one row.
//!
//! Every change bumps `settings` of the account's own row in the same transaction, so that an
//! account without settings costs no read, and a cache can tell whether they changed.

use posthaste_model::{AccountDefaults, AccountId, EmailAddress, EnforcedTls, Timestamp};
use serde::{Deserialize, Serialize};

use crate::key::Key;
use crate::table::{Store, StoreError, Transact};

/// The mail and tracking settings of an account.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AccountSettings {
    /// The defaults of a copy where the request does not set a value.
    pub defaults: AccountDefaults,
    pub landing: Landing,
    pub whitelist: Whitelist,
    pub bounce_purge: BouncePurge,
    pub forward_bounce: Forward,
    pub forward_spam: Forward,
    pub spam_check: SpamCheck,
    pub enforced_tls: EnforcedTls,
    pub kept_mail: KeptMailSetting,
    /// Stored for clients that still set it; it has no effect on mail.
    pub bcc: Forward,
    /// Likewise.
    pub plain_content: bool,
}

/// What people see after they unsubscribe.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Landing {
    /// The URL they are redirected to; empty: none.
    pub url: String,
    /// Otherwise the HTML they are shown; empty: a page of the service.
    pub html: String,
}

/// Addresses and domains to which bounces and unsubscribes do not apply.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Whitelist {
    pub enabled: bool,
    /// Addresses as they compare, and domains in lower-case A-labels.
    pub list: Vec<String>,
}

impl Whitelist {
    /// Whether the address, or its whole domain, is on the list.
    pub fn holds(&self, email: &EmailAddress) -> bool {
        if !self.enabled {
            return false;
        }
        let (folded, domain) = (email.folded(), email.ascii_domain());
        self.list
            .iter()
            .any(|entry| *entry == folded || *entry == domain)
    }
}

/// Days after which a bounce no longer counts; none: never.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BouncePurge {
    pub enabled: bool,
    /// Of the list of blocks.
    pub soft: Option<u16>,
    /// Of the list of bounces.
    pub hard: Option<u16>,
}

impl BouncePurge {
    /// Hard bounces before this moment no longer count.
    pub fn hard_since(self, now: Timestamp) -> Option<Timestamp> {
        self.since(self.hard, now)
    }

    /// Blocks before this moment no longer count.
    pub fn soft_since(self, now: Timestamp) -> Option<Timestamp> {
        self.since(self.soft, now)
    }

    fn since(self, days: Option<u16>, now: Timestamp) -> Option<Timestamp> {
        let days = days.filter(|_| self.enabled)?;
        Some(now.plus(-86_400 * i64::from(days)))
    }
}

/// Where mail or reports are forwarded to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Forward {
    pub enabled: bool,
    /// One address, or several with a comma between them.
    pub email: Option<String>,
}

impl Forward {
    /// The addresses that are forwarded to; none while the setting is off.
    pub fn addresses(&self) -> Vec<EmailAddress> {
        let text = self.email.as_deref().filter(|_| self.enabled);
        let all = text.unwrap_or_default().split(',');
        all.filter_map(|one| EmailAddress::parse_stored(one.trim()).ok())
            .collect()
    }
}

/// The score from which on the account's mail counts as spam.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SpamCheck {
    pub enabled: bool,
    /// 1 (strict) to 10.
    pub max_score: u8,
}

/// Whether the composed mail of each copy is kept, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KeptMailSetting {
    pub enabled: bool,
    /// One of [`KEPT_DAYS`].
    pub days: u16,
}

/// The days for which mail may be kept. Few, because the bucket has a folder for each, whose objects
/// its lifecycle deletes.
pub const KEPT_DAYS: [u16; 5] = [1, 3, 7, 14, 30];

impl Default for KeptMailSetting {
    fn default() -> Self {
        Self {
            enabled: false,
            days: 7,
        }
    }
}

impl Default for SpamCheck {
    fn default() -> Self {
        Self {
            enabled: false,
            max_score: 5,
        }
    }
}

impl Store {
    /// The settings of an account; the defaults when none were set.
    pub async fn settings(&self, account: &AccountId) -> Result<AccountSettings, StoreError> {
        let row = self.get(&Key::settings(account)).await?;
        Ok(row.map(|row| row.value).unwrap_or_default())
    }

    /// Changes settings; `change` may run several times, each time on what they are then. The
    /// settings as they are now; `None` when there is no such account.
    ///
    /// # Errors
    /// What `change` refused with, or the table's error in that type.
    pub async fn change_settings<E: From<StoreError>>(
        &self,
        account: &AccountId,
        mut change: impl FnMut(&mut AccountSettings) -> Result<(), E>,
    ) -> Result<Option<AccountSettings>, E> {
        let key = Key::settings(account);
        let mut attempts = self.conflict_attempts();
        while attempts.next().await {
            let row = self.get::<AccountSettings>(&key).await?;
            let rev = row.as_ref().map(|row| row.rev);
            let mut settings = row.map(|row| row.value).unwrap_or_default();
            change(&mut settings)?;
            let write = match rev {
                None => self.write_new(&key, &settings, None)?,
                Some(rev) => self.write_unchanged(&key, &settings, rev)?,
            };
            let bump = self.write_bump(&Key::account(account), "settings")?;
            match self.transact(vec![bump, write]).await? {
                Transact::Done => return Ok(Some(settings)),
                Transact::Refused(0) => return Ok(None),
                // They were changed in between.
                Transact::Refused(_) => {}
            }
        }
        Err(StoreError::Contended(format!("settings of {account}")).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whitelist_holds_addresses_and_whole_domains_and_no_more() {
        let mut whitelist = Whitelist {
            enabled: true,
            list: vec!["ann@x.example".to_owned(), "y.example".to_owned()],
        };
        let holds =
            |list: &Whitelist, email: &str| list.holds(&EmailAddress::parse(email).unwrap());
        for (email, want) in [
            ("ANN@X.example", true),
            ("bob@x.example", false),
            ("anyone@Y.example", true),
            ("anyone@sub.y.example", false),
            ("joann@x.example", false),
        ] {
            assert_eq!(holds(&whitelist, email), want, "{email}");
        }
        whitelist.enabled = false;
        assert!(!holds(&whitelist, "ann@x.example"));
    }

    #[test]
    fn a_purge_counts_only_where_it_is_on_and_has_days() {
        let now = Timestamp(10 * 86_400);
        let purge = |enabled, hard| BouncePurge {
            enabled,
            soft: None,
            hard,
        };
        assert_eq!(
            purge(true, Some(3)).hard_since(now),
            Some(Timestamp(7 * 86_400))
        );
        assert_eq!(purge(false, Some(3)).hard_since(now), None);
        assert_eq!(purge(true, None).hard_since(now), None);
        assert_eq!(purge(true, Some(3)).soft_since(now), None);
    }
}
