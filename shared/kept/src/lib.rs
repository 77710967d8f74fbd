//! Composed mails, of accounts that keep them (`/v3/mail_settings/kept_mail`): a small one in the table, a
//! larger one in the bucket.
//!
//! Each is stored once, by `delivery` before its first attempt. The row of the copy says so already
//! ([`KeepTerm`]), so that whatever dies in between, an erasure finds it. It expires with its row, or by the
//! lifecycle of its folder in the bucket (`kept/<days>/`), and nothing shows it from the second of its term.
//! Both are encrypted by AWS at rest, as scheduled mail and large bodies are; on the local host they lie in the
//! data folder as those do.

mod again;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use posthaste_blob::{Blob, BlobError};
use posthaste_model::{AccountId, Mail, MessageId, Timestamp};
use posthaste_offload::UNKNOWN;
use posthaste_queue::{JobError, packed, unpacked};
use posthaste_store::{KeepTerm, KeptMailSetting, Store, StoreError};
use serde::{Deserialize, Serialize};

pub use again::{composed, repeatable};

/// The largest compressed mail in the table: beyond it the writes of its row cost more than an object, as
/// `tests/cost/days.py` counts.
pub const LARGEST_IN_TABLE: usize = 4 << 10;

/// The folder of the bucket.
const FOLDER: &str = "kept";

/// Names of the bucket that are deleted between two listings.
const NAMES: usize = 1_000;

const SECONDS_OF_DAY: i64 = 86_400;

/// A copy: its account, its message, and the position of its recipient.
pub type CopyName<'a> = (&'a AccountId, &'a MessageId, u32);

/// A composed mail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptMail {
    /// Form of this record: 1.
    v: u8,
    /// Whether it was the mail of a test key, and may not leave.
    #[serde(rename = "test", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_test: bool,
    /// The mail that sends it again to its recipient; its message is the composed one.
    pub mail: Mail,
}

/// The mail could not be stored or read.
#[derive(Debug, thiserror::Error)]
pub enum KeptError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Blob(#[from] BlobError),
    #[error("a composed mail cannot be read: {0}")]
    Unreadable(#[from] JobError),
}

/// Why there is no composed mail of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotKept {
    /// The account kept none, or the copy was dropped before.
    #[error(
        "the mail was not kept: kept_mail was off when it was sent, or it was dropped before it was composed"
    )]
    Never,
    #[error("the mail was kept until {}", .0.iso())]
    Expired(Timestamp),
    /// It was dropped by a filter, or the table or the bucket failed.
    #[error("the mail was not kept: it was dropped, or could not be stored")]
    Missing,
}

/// Where composed mails are stored. Cheap to clone.
#[derive(Clone)]
pub struct KeptMails {
    store: Store,
    blob: Blob,
}

/// For how long a mail is kept that is composed now; `None` where the account keeps none. Never longer than
/// the row of its copy, which is stored for `retention` seconds.
pub fn term(
    setting: KeptMailSetting,
    now: Timestamp,
    retention: i64,
    shared: bool,
) -> Option<KeepTerm> {
    let seconds = i64::from(setting.days) * SECONDS_OF_DAY;
    setting.enabled.then(|| KeepTerm {
        days: setting.days,
        until: now.plus(seconds.min(retention)),
        shared,
    })
}

/// The name of a mail in the bucket.
fn name((account, message, recipient): CopyName<'_>, term: KeepTerm) -> String {
    let (days, until) = (term.days, term.until.0);
    format!("{FOLDER}/{days}/{account}/{until:010}-{message}.{recipient}")
}

impl KeptMails {
    /// The composed mails in this table and this bucket.
    pub fn new(store: Store, blob: Blob) -> Self {
        Self { store, blob }
    }

    /// Stores the mail of a copy; a repeat replaces it. Returns the mail.
    pub async fn put(
        &self,
        copy: CopyName<'_>,
        term: KeepTerm,
        kept: KeptMail,
    ) -> (KeptMail, Result<(), KeptError>) {
        let bytes = posthaste_offload::run(UNKNOWN, || packed(&kept)).await;
        let stored = match bytes {
            Ok(bytes) => self.put_packed(copy, term, bytes).await,
            Err(error) => Err(error.into()),
        };
        (kept, stored)
    }

    async fn put_packed(
        &self,
        copy: CopyName<'_>,
        term: KeepTerm,
        bytes: Vec<u8>,
    ) -> Result<(), KeptError> {
        if bytes.len() > LARGEST_IN_TABLE {
            return Ok(self.blob.put(&name(copy, term), bytes.into()).await?);
        }
        let text = STANDARD_NO_PAD.encode(bytes);
        let store = &self.store;
        let put = || store.put_kept(copy, text.clone(), term.until);
        Ok(store.through_throttles(put).await?)
    }

    /// The mail of a copy whose row has this term, or why there is none.
    pub async fn get(
        &self,
        copy: CopyName<'_>,
        term: Option<KeepTerm>,
        now: Timestamp,
    ) -> Result<Result<KeptMail, NotKept>, KeptError> {
        let Some(term) = term else {
            return Ok(Err(NotKept::Never));
        };
        if now >= term.until {
            return Ok(Err(NotKept::Expired(term.until)));
        }
        let bytes = match self.store.kept(copy).await? {
            Some(text) => {
                let decoded = STANDARD_NO_PAD.decode(text);
                decoded.map_err(|e| JobError::Packed(e.to_string()))?.into()
            }
            None => match self.blob.get(&name(copy, term)).await {
                Ok(bytes) => bytes,
                Err(BlobError::Missing(_)) => return Ok(Err(NotKept::Missing)),
                Err(error @ BlobError::Unreachable(_)) => return Err(error.into()),
            },
        };
        let read = posthaste_offload::run(UNKNOWN, || unpacked::<KeptMail>(&bytes)).await?;
        Ok(Ok(read))
    }

    /// Deletes the mail of a copy with this term, wherever it is.
    pub async fn forget(&self, copy: CopyName<'_>, term: KeepTerm) -> Result<(), KeptError> {
        self.blob.delete(&name(copy, term)).await?;
        Ok(self.store.forget_kept(copy).await?)
    }

    /// Deletes the mail of a copy, and where its header names other recipients, theirs: they name this one.
    /// Returns how many there were.
    pub async fn forget_shared(
        &self,
        copy: CopyName<'_>,
        term: KeepTerm,
    ) -> Result<usize, KeptError> {
        let (account, message, recipient) = copy;
        let mut all = vec![(recipient, term)];
        if term.shared {
            let others = self.store.shared_kept(account, message).await?.into_iter();
            all.extend(others.filter(|(other, _)| *other != recipient));
        }
        for (recipient, term) in &all {
            self.forget((account, message, *recipient), *term).await?;
        }
        Ok(all.len())
    }

    /// Deletes what the bucket has of an account that is deleted; the table deletes its rows itself.
    pub async fn forget_account(&self, account: &AccountId) -> Result<(), KeptError> {
        for days in posthaste_store::KEPT_DAYS {
            let folder = format!("{FOLDER}/{days}/{account}");
            loop {
                let names = self.blob.list(&folder, NAMES).await?;
                for name in &names {
                    self.blob.delete(name).await?;
                }
                if names.len() < NAMES {
                    break;
                }
            }
        }
        Ok(())
    }
}

/// When the time of a stored mail is over, by its name.
fn until(name: &str) -> Option<Timestamp> {
    let (_, name) = name.rsplit_once('/')?;
    let (until, _) = name.split_once('-')?;
    until.parse().ok().map(Timestamp)
}

/// Deletes the stored mails whose time is over, as the lifecycle of a bucket does on AWS; returns how many there were.
pub async fn forget_expired(blob: &Blob, now: Timestamp) -> Result<usize, BlobError> {
    let names = blob.list(FOLDER, usize::MAX).await?;
    let over = |name: &&String| until(name).is_some_and(|until| until <= now);
    let over: Vec<_> = names.iter().filter(over).collect();
    for name in &over {
        blob.delete(name).await?;
    }
    Ok(over.len())
}
