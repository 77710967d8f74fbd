//! Mail that waits in the bucket while the relay takes none.
//!
//! On the queue it would be received again every few minutes, however long the outage is. So `delivery`
//! moves it here: the jobs of a batch as one blob, named by when they are released at the latest.
//! `schedule-sweep` releases it ([`OutageStore::release`]): every few minutes one job, to see whether the
//! relay takes it; once nothing comes back a hundred times as many each minute, until all is on the queue
//! again. Jobs that expire are released in any case: `delivery` ends them. So are those that have waited
//! for six hours: where the relay takes some mails and not others, new ones are stored all the time, which
//! looks the same as a probe that came back.
//!
//! Each job is stored before its message leaves the queue, and sent before its blob is deleted. A process
//! that dies in between leaves a job twice, which the claims of its copies absorb.
//!
//! A blob that cannot be read is set aside (`waiting/unread/`), and an alarm rings: moved back from there it is
//! found within the hour, as is all mail there of which the table knows nothing.

mod release;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use posthaste_blob::{Blob, BlobError};
use posthaste_metrics::Metric;
use posthaste_model::{Clock, Entropy, Timestamp};
use posthaste_runtime::WorkError;
use posthaste_store::{OutageScope, Store};
use serde::{Deserialize, Serialize};

pub use release::OutageRelease;

/// Outages of which this process remembers when it noted them last.
const MOST_NOTED: usize = 1_000;

/// The seconds that a job waits here at most, before it is tried whatever becomes of the others.
const LONGEST: i64 = 6 * 3_600;

/// A job that waits for the end of an outage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredJob {
    pub scope: OutageScope,
    /// As on the queue.
    pub text: String,
    /// When it no longer waits.
    pub expires: Timestamp,
}

/// The mail that waits in the bucket. Clones share what they know.
#[derive(Clone)]
pub struct OutageStore {
    store: Store,
    blob: Blob,
    clock: Clock,
    entropy: Entropy,
    noted: Arc<Mutex<HashMap<OutageScope, Timestamp>>>,
    /// When this process looked for mail without a row.
    searched_at: Arc<Mutex<Option<Timestamp>>>,
}

/// What is stored under a name.
enum FoundPack {
    Jobs(JobPack),
    Gone,
    /// Why it cannot be read.
    Unread(String, Bytes),
}

/// The jobs in one blob.
#[derive(Debug, Deserialize, Serialize)]
struct JobPack {
    /// Form of this record: 1.
    v: u8,
    jobs: Vec<String>,
}

/// The folder of those of all outages.
const FOLDER: &str = "waiting";

/// The one within it of blobs that cannot be read.
const UNREAD: &str = "unread";

/// The folder of the blobs of an outage.
fn folder(scope: &OutageScope) -> String {
    format!("{FOLDER}/{}", scope.as_str())
}

/// When the jobs in a blob no longer wait.
fn wait_ends(name: &str) -> Option<Timestamp> {
    let (_, name) = name.rsplit_once('/')?;
    let (at, _) = name.split_once('-')?;
    at.parse().ok().map(Timestamp)
}

impl OutageStore {
    /// The mail that waits in this bucket, whose outages are rows of this table.
    pub fn new(store: Store, blob: Blob, clock: Clock, entropy: Entropy) -> Self {
        Self {
            store,
            blob,
            clock,
            entropy,
            noted: Arc::default(),
            searched_at: Arc::default(),
        }
    }

    /// Stores jobs until they are released; durable once this returns.
    pub async fn put(&self, jobs: Vec<StoredJob>) -> Result<(), WorkError> {
        let mut packs = BTreeMap::<OutageScope, (Timestamp, Vec<String>)>::new();
        for job in jobs {
            let pack = packs.entry(job.scope).or_insert((job.expires, Vec::new()));
            pack.0 = pack.0.min(job.expires);
            pack.1.push(job.text);
        }
        for (scope, (expires, jobs)) in packs {
            self.note(&scope).await?;
            let ends = expires.min(self.clock.now().plus(LONGEST));
            self.put_pack(&scope, ends, jobs).await?;
        }
        Ok(())
    }

    /// Notes that mail is stored: once a second, which is as exact as the release reads it.
    async fn note(&self, scope: &OutageScope) -> Result<(), WorkError> {
        let now = self.clock.now();
        let known = {
            let noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
            noted.get(scope).copied()
        };
        if known == Some(now) {
            return Ok(());
        }
        self.store.note_stored(scope, now).await?;
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.len() >= MOST_NOTED {
            noted.clear();
        }
        noted.insert(scope.clone(), now);
        Ok(())
    }

    async fn put_pack(
        &self,
        scope: &OutageScope,
        ends: Timestamp,
        jobs: Vec<String>,
    ) -> Result<(), WorkError> {
        let own = u64::from_le_bytes(self.entropy.bytes());
        let name = format!("{}/{:010}-{own:016x}", folder(scope), ends.0.max(0));
        let bytes = serde_json::to_vec(&JobPack { v: 1, jobs });
        let bytes = bytes.map_err(|e| WorkError::Job(e.into()))?;
        Ok(self.blob.put(&name, Bytes::from(bytes)).await?)
    }

    /// The jobs in a blob.
    async fn pack(&self, name: &str) -> Result<FoundPack, WorkError> {
        let bytes = match self.blob.get(name).await {
            Ok(bytes) => bytes,
            Err(BlobError::Missing(_)) => return Ok(FoundPack::Gone),
            Err(error @ BlobError::Unreachable(_)) => return Err(error.into()),
        };
        Ok(match serde_json::from_slice::<JobPack>(&bytes) {
            Ok(pack) if pack.v <= 1 => FoundPack::Jobs(pack),
            Ok(pack) => {
                let why = format!("it is of form {}, newer than this release", pack.v);
                FoundPack::Unread(why, bytes)
            }
            Err(error) => FoundPack::Unread(error.to_string(), bytes),
        })
    }

    /// Moves a blob that cannot be read to where it holds up nothing; the error says where it is.
    async fn set_aside(&self, name: &str, why: &str, bytes: Bytes) -> Result<WorkError, WorkError> {
        let rest = name.strip_prefix(FOLDER).unwrap_or(name);
        let aside = format!("{FOLDER}/{UNREAD}{rest}");
        self.blob.put(&aside, bytes).await?;
        self.blob.delete(name).await?;
        posthaste_metrics::record(&[Metric::Unrecordable.of(1)]);
        let text = format!("mail that waits cannot be read, and lies in {aside} now: {why}");
        Ok(WorkError::Unreadable(text))
    }
}
