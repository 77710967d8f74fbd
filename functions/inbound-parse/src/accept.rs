//! From a received mail to one job per recipient.

use std::collections::{BTreeMap, HashSet};
use std::net::IpAddr;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use posthaste_blob::BlobError;
use posthaste_model::{AccountId, EmailAddress};
use posthaste_queue::{Inbound, JobError, Judged, QueueError};
use posthaste_store::{ParseSetting, StoreError};
use sha2::{Digest as _, Sha256};

use crate::App;
use crate::work::Trouble;

/// A mail that has passed this many servers goes in circles (RFC 5321, section 6.3).
const MOST_HOPS: usize = 100;

/// A mail as it was handed in.
#[derive(Clone, Copy, Debug)]
pub struct Arrived<'a> {
    /// The return path; empty for the null sender.
    pub from: &'a str,
    pub to: &'a [String],
    pub ip: Option<IpAddr>,
    /// The name the client gave itself.
    pub hello: &'a str,
    /// Octets in front of the mail that whoever took it for us wrote: they differ each time the
    /// same mail is handed in.
    pub added: usize,
    /// What others have found out about it.
    pub judged: Option<&'a Judged>,
}

/// Why a mail was not taken.
#[derive(Debug, thiserror::Error)]
pub enum Unaccepted {
    #[error("the mail goes in circles: it has passed {MOST_HOPS} servers")]
    Loop,
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Blob(#[from] BlobError),
    #[error(transparent)]
    Queue(#[from] QueueError),
    #[error("the mail has no form on the queue: {0}")]
    Job(#[from] JobError),
}

/// The setting that mail to this address is posted by.
///
/// # Errors
/// When the table fails.
pub async fn receiver(app: &App, address: &str) -> Result<Option<ParseSetting>, StoreError> {
    let domain = address.rsplit_once('@').map_or("", |(_, domain)| domain);
    // Every local part matches, also one that no mailbox of ours could have.
    let Ok(host) = EmailAddress::parse(&format!("any@{domain}")) else {
        return Ok(None);
    };
    app.store.receiver(&host.ascii_domain()).await
}

/// Takes a mail: with each recipient of a configured hostname durable once this returns. Gives
/// back how many there were. Taking it twice posts it once.
///
/// # Errors
/// When the mail is not wanted, or could not be kept; some recipients may have it then.
pub async fn accept(app: &App, arrived: Arrived<'_>, raw: Bytes) -> Result<usize, Unaccepted> {
    if hops(&raw) >= MOST_HOPS {
        return Err(Unaccepted::Loop);
    }
    let received = app.clock.now();
    let content = raw.get(arrived.added..).unwrap_or_default();
    let content = Sha256::digest(content);
    let (mut seen, mut jobs) = (HashSet::new(), BTreeMap::<AccountId, Vec<Inbound>>::new());
    for to in arrived.to {
        let Some(setting) = receiver(app, to).await? else {
            continue;
        };
        let id = id(&content, arrived.from, to);
        if !seen.insert(id.clone()) {
            continue;
        }
        let job = Inbound {
            v: 1,
            blob: String::new(),
            shared: false,
            account: setting.account,
            hostname: setting.hostname,
            id,
            from: arrived.from.to_owned(),
            to: to.clone(),
            ip: arrived.ip,
            hello: arrived.hello.to_owned(),
            received,
            attempt: 0,
            judged: arrived.judged.cloned(),
        };
        jobs.entry(job.account.clone()).or_default().push(job);
    }
    let mut texts = Vec::with_capacity(seen.len());
    for (account, mut jobs) in jobs {
        keep(app, &account, &mut jobs, raw.clone()).await?;
        for job in jobs {
            texts.push((job.to_text()?, Duration::ZERO));
        }
    }
    app.inbound.send_all(texts).await?;
    Ok(seen.len())
}

/// Keeps the raw mail once for all of an account's recipients: a client can name a thousand of
/// them for one mail of 30 MB.
async fn keep(
    app: &App,
    account: &AccountId,
    jobs: &mut [Inbound],
    raw: Bytes,
) -> Result<(), Unaccepted> {
    let mut ids: Vec<String> = jobs.iter().map(|job| job.id.clone()).collect();
    let name = match ids.as_mut_slice() {
        [one] => one.clone(),
        // The same mail to the same recipients has the same name, in whatever order they came.
        many => {
            many.sort_unstable();
            URL_SAFE_NO_PAD.encode(Sha256::digest(many.concat()))
        }
    };
    let blob = format!("inbound/{account}/{name}");
    let shared = ids.len() > 1;
    if shared {
        // Longer than the mail can be under way or wait for a replay.
        let expires = app.clock.now().plus(app.retention.saturating_mul(2));
        app.store.hold_raw(&blob, &ids, expires).await?;
    }
    app.blob.put(&blob, raw).await?;
    for job in jobs {
        job.blob.clone_from(&blob);
        job.shared = shared;
    }
    Ok(())
}

/// Lets go of a job's raw mail, for good. One that recipients share goes with the last of them.
pub(crate) async fn release(app: &App, job: &Inbound) -> Result<(), Trouble> {
    if !job.shared || app.store.release_raw(&job.blob, &job.id).await? {
        app.blob.delete(&job.blob).await?;
    }
    Ok(())
}

/// The same content (given by its hash) from and to the same addresses has the same id; the
/// Message-ID is part of it.
fn id(content: &[u8], from: &str, to: &str) -> String {
    let mut hash = Sha256::new();
    for word in [from, to] {
        hash.update(word.as_bytes());
        // No address holds a NUL.
        hash.update([0]);
    }
    hash.update(content);
    URL_SAFE_NO_PAD.encode(hash.finalize())
}

/// How many `Received` fields the header has.
fn hops(raw: &[u8]) -> usize {
    let name = b"received:";
    let lines = raw.split(|byte| *byte == b'\n');
    let header = lines.take_while(|line| !matches!(line, [] | [b'\r']));
    let is_hop = |line: &&[u8]| {
        line.get(..name.len())
            .is_some_and(|begin| begin.eq_ignore_ascii_case(name))
    };
    header.filter(is_hop).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_header_counts_hops() {
        let mail = b"Received: a\r\n\tReceived: folded\r\nreceived: b\r\nSubject: x\r\n\r\nReceived: c\r\n";
        assert_eq!(hops(mail), 2);
        assert_eq!(hops(b"Received: a\nReceived: b"), 2);
        assert_eq!(hops(b""), 0);
    }

    #[test]
    fn an_id_tells_mails_and_envelopes_apart() {
        let one = id(b"mail", "a@b", "c@d");
        assert_eq!(one, id(b"mail", "a@b", "c@d"));
        for other in [
            id(b"mail2", "a@b", "c@d"),
            id(b"mail", "a@bc", "@d"),
            id(b"mail", "a@b", "c@e"),
            id(b"mail", "", "c@d"),
        ] {
            assert_ne!(one, other);
        }
    }
}
