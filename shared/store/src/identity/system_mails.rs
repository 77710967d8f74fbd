//! Mails that the service itself writes on a caller's request: how many an account may cause, and
//! an address may receive, in a day.
//!
//! An account counts together with its subusers, because a parent creates subusers at will. An
//! address counts over all accounts, and without any `+` tag: the limit applies to what one mailbox
//! receives in the service's name. Both rows are written in one transaction under their revisions,
//! so that of two concurrent requests one takes the last place.
//!
//! A row holds at most [`SYSTEM_MAILS_PER_ACCOUNT`] entries of two fields (a second and a hash):
//! it stays below 1 KB. Both rows expire a day after the last mail.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use posthaste_model::{AccountId, EmailAddress, MessageId, Timestamp};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::access::{Account, Ancestors};
use crate::key::Key;
use crate::lists::SuppressionList;
use crate::table::{RowChange, Store, StoreError, StoredRow, Transact, Write};

/// System mails that an account, together with its subusers, causes in [`SYSTEM_MAIL_PERIOD`].
pub const SYSTEM_MAILS_PER_ACCOUNT: usize = 5;

/// System mails that one mailbox receives in [`SYSTEM_MAIL_PERIOD`], over all accounts.
pub const SYSTEM_MAILS_PER_ADDRESS: usize = 2;

/// Seconds for which a mail counts: any 24 hours, not a calendar day, so that the limit does not
/// double at midnight.
pub const SYSTEM_MAIL_PERIOD: i64 = 86_400;

/// Seconds after a mail before the same link is mailed anew, and for which the same request is a
/// repeat of the first one, which is not counted again.
pub const SYSTEM_MAIL_PAUSE: i64 = 600;

/// A mail to count.
#[derive(Clone, Copy, Debug)]
pub struct SystemMail<'a> {
    /// The requesting account, then those above it, the topmost last.
    pub accounts: &'a [AccountId],
    pub to: &'a EmailAddress,
    /// What the mail is about. Two requests with the same value within [`SYSTEM_MAIL_PAUSE`] are
    /// one mail.
    pub about: &'a str,
    /// Whether it repeats an earlier mail, so that [`SYSTEM_MAIL_PAUSE`] must lie between them.
    pub resend: bool,
}

/// A mail that was counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedMail {
    /// The id to send it under; a repeated request gets the id of the first.
    pub message: MessageId,
    /// `None` for a repeated request: the first one's place is not to be released.
    places: Option<([Key; 2], Sent)>,
}

/// Whether a mail may leave.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Counted {
    Allowed(CountedMail),
    /// Nothing was counted.
    Limited {
        /// How many mails are allowed in a period.
        limit: u32,
        /// The first second at which the same request is allowed.
        until: Timestamp,
    },
}

/// One mail of the period.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Sent {
    at: Timestamp,
    /// Hash of what it was about, of its account and its address.
    about: String,
}

/// The mails of the period, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct SentMails {
    sent: Vec<Sent>,
}

impl SentMails {
    fn find(&self, about: &str, now: Timestamp) -> Option<&Sent> {
        let recent = |sent: &&Sent| sent.about == about && now.since(sent.at) < SYSTEM_MAIL_PAUSE;
        self.sent.iter().find(recent)
    }

    /// When a place becomes free; `None` when one is.
    fn full_until(&self, limit: usize) -> Option<Timestamp> {
        let first_to_go = self.sent.len().checked_sub(limit)?;
        let sent = self.sent.get(first_to_go)?;
        Some(sent.at.plus(SYSTEM_MAIL_PERIOD))
    }

    fn paused_until(&self, now: Timestamp) -> Option<Timestamp> {
        let until = self.sent.last()?.at.plus(SYSTEM_MAIL_PAUSE);
        (until > now).then_some(until)
    }
}

/// A row as it was read, without expired entries.
struct Counter {
    key: Key,
    rev: Option<u64>,
    mails: SentMails,
}

fn hash(parts: &[&str]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.len().to_be_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize().into()
}

/// The mailbox behind an address: `ann+x@example.com` is `ann@example.com`'s.
fn mailbox(to: &EmailAddress) -> String {
    let folded = to.folded();
    match folded.rsplit_once('@') {
        Some((local, domain)) => {
            let local = local.split_once('+').map_or(local, |(local, _)| local);
            format!("{local}@{domain}")
        }
        None => folded,
    }
}

fn message(about: &str, at: Timestamp) -> MessageId {
    MessageId::from_digest(hash(&["system mail", about, &at.0.to_string()]))
}

impl Store {
    /// The account and those above it, the topmost last.
    pub async fn accounts_upwards(&self, account: &Account) -> Result<Vec<AccountId>, StoreError> {
        let mut line = vec![account.id.clone()];
        let mut above = Ancestors::of(account);
        while let Some(id) = above.next() {
            if let Some(parent) = self.account(&id).await? {
                above.go_on(&parent);
            }
            line.push(id);
        }
        Ok(line)
    }

    /// Whether one of these accounts has the address on a list that prevents mail to it. Blocks and
    /// unsubscribe groups do not; neither the whitelist nor the bounce purge of the account
    /// overrides a list here, because this mail is not the account's.
    pub async fn is_suppressed_for(
        &self,
        accounts: &[AccountId],
        to: &EmailAddress,
    ) -> Result<bool, StoreError> {
        const LISTS: [SuppressionList; 4] = [
            SuppressionList::Bounces,
            SuppressionList::InvalidEmails,
            SuppressionList::SpamReports,
            SuppressionList::Unsubscribes,
        ];
        let folded = to.folded();
        for account in accounts {
            let lists = self.suppressed(account, &folded).await?;
            if LISTS.iter().any(|list| lists.on(*list).is_some()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Counts a mail, if the account and the address are below their limits.
    pub async fn count_system_mail(
        &self,
        mail: &SystemMail<'_>,
        now: Timestamp,
    ) -> Result<Counted, StoreError> {
        // A lost round means that another request took a place, or released one.
        const MAX_ATTEMPTS: usize = 4 * (SYSTEM_MAILS_PER_ACCOUNT + SYSTEM_MAILS_PER_ADDRESS);
        let own = mail.accounts.first().map_or("", AccountId::as_str);
        let about = URL_SAFE_NO_PAD.encode(hash(&[own, &mail.to.folded(), mail.about]));
        let most = u32::try_from(MAX_ATTEMPTS).unwrap_or(u32::MAX);
        let mut attempts = self.conflict_attempts().at_most(most);
        while attempts.next().await {
            let account = self.counter(account_key(mail.accounts)?, now).await?;
            let address = self.counter(address_key(mail.to), now).await?;
            let earlier = address.mails.find(&about, now);
            if let Some(sent) = earlier.filter(|sent| account.mails.sent.contains(sent)) {
                return Ok(Counted::Allowed(CountedMail {
                    message: message(&about, sent.at),
                    places: None,
                }));
            }
            if let Some((limit, until)) = refusal(&account.mails, &address.mails, mail.resend, now)
            {
                let limit = u32::try_from(limit).unwrap_or(u32::MAX);
                return Ok(Counted::Limited { limit, until });
            }
            let sent = Sent {
                at: now,
                about: about.clone(),
            };
            let keys = [account.key.clone(), address.key.clone()];
            let steps = vec![
                self.write_counter(account, &sent)?,
                self.write_counter(address, &sent)?,
            ];
            if self.transact(steps).await? == Transact::Done {
                return Ok(Counted::Allowed(CountedMail {
                    message: message(&about, now),
                    places: Some((keys, sent)),
                }));
            }
        }
        let top = mail.accounts.last().map_or("", AccountId::as_str);
        Err(StoreError::Contended(format!("system mails of {top}")))
    }

    /// Releases the places of a mail that was not sent after all.
    ///
    /// # Errors
    /// When the table fails; the mail then stays counted.
    pub async fn uncount_system_mail(&self, counted: &CountedMail) -> Result<(), StoreError> {
        let Some((keys, sent)) = &counted.places else {
            return Ok(());
        };
        for key in keys {
            let expires = Some(sent.at.plus(SYSTEM_MAIL_PERIOD));
            let remove = |old: Option<&SentMails>| {
                let mut mails = old.cloned().unwrap_or_default();
                let place = mails.sent.iter().position(|one| one == sent);
                Ok::<_, StoreError>(match place {
                    None => RowChange::Keep,
                    Some(place) => {
                        mails.sent.remove(place);
                        RowChange::Put(mails)
                    }
                })
            };
            self.modify(key, expires, remove).await?;
        }
        Ok(())
    }

    async fn counter(&self, key: Key, now: Timestamp) -> Result<Counter, StoreError> {
        let row: Option<StoredRow<SentMails>> = self.get(&key).await?;
        let rev = row.as_ref().map(|row| row.rev);
        let mut mails = row.map(|row| row.value).unwrap_or_default();
        mails
            .sent
            .retain(|sent| now.since(sent.at) < SYSTEM_MAIL_PERIOD);
        Ok(Counter { key, rev, mails })
    }

    fn write_counter(&self, counter: Counter, sent: &Sent) -> Result<Write, StoreError> {
        let Counter {
            key,
            rev,
            mut mails,
        } = counter;
        mails.sent.push(sent.clone());
        let expires = Some(sent.at.plus(SYSTEM_MAIL_PERIOD));
        match rev {
            None => self.write_new(&key, &mails, expires),
            Some(rev) => self.write_unchanged_until(&key, &mails, rev, expires),
        }
    }
}

/// The row of the topmost account.
fn account_key(accounts: &[AccountId]) -> Result<Key, StoreError> {
    let top = accounts.last();
    let top = top.ok_or_else(|| StoreError::Unreadable("a system mail of no account".into()))?;
    Ok(Key::system_mails(top))
}

fn address_key(to: &EmailAddress) -> Key {
    Key::system_mails_to(&URL_SAFE_NO_PAD.encode(hash(&[&mailbox(to)])))
}

/// Why a mail may not leave: the limit that applies longest, and until when. The pause comes before the
/// limits: the mail that was just sent is the answer to a request for another, and none is counted.
fn refusal(
    account: &SentMails,
    address: &SentMails,
    resend: bool,
    now: Timestamp,
) -> Option<(usize, Timestamp)> {
    let (per_account, per_address) = (SYSTEM_MAILS_PER_ACCOUNT, SYSTEM_MAILS_PER_ADDRESS);
    if let Some(until) = address.paused_until(now).filter(|_| resend) {
        return Some((1, until));
    }
    let reasons = [
        (per_account, account.full_until(per_account)),
        (per_address, address.full_until(per_address)),
    ];
    let held = reasons.into_iter().filter_map(|(n, at)| Some((n, at?)));
    held.max_by_key(|(_, until)| *until)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mailbox_is_the_same_whatever_stands_behind_a_plus() {
        for (address, want) in [
            ("Ann@Example.com", "ann@example.com"),
            ("ann+1@example.com", "ann@example.com"),
            ("ann+1+2@example.com", "ann@example.com"),
            ("an.n@example.com", "an.n@example.com"),
        ] {
            let address = EmailAddress::parse(address).unwrap();
            assert_eq!(mailbox(&address), want);
        }
    }

    #[test]
    fn a_place_is_free_when_the_oldest_mail_is_a_day_old() {
        let sent = |at| Sent {
            at: Timestamp(at),
            about: String::new(),
        };
        let mails = SentMails {
            sent: vec![sent(10), sent(20)],
        };
        assert_eq!(mails.full_until(3), None);
        assert_eq!(mails.full_until(2), Some(Timestamp(10 + 86_400)));
        assert_eq!(mails.full_until(1), Some(Timestamp(20 + 86_400)));
        assert_eq!(mails.paused_until(Timestamp(619)), Some(Timestamp(620)));
        assert_eq!(mails.paused_until(Timestamp(620)), None);
    }

    #[test]
    fn the_largest_row_is_small() {
        let sent = Sent {
            at: posthaste_model::TIMESTAMP_MAX,
            about: URL_SAFE_NO_PAD.encode([0xff; 32]),
        };
        let mails = SentMails {
            sent: vec![sent; SYSTEM_MAILS_PER_ACCOUNT],
        };
        assert!(serde_json::to_vec(&mails).unwrap().len() < 1_024);
    }
}
