//! From a received mail to one job per recipient.

use std::net::IpAddr;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use posthaste_blob::BlobError;
use posthaste_model::EmailAddress;
use posthaste_queue::{Inbound, JobError, Judged, QueueError};
use posthaste_store::{ParseSetting, StoreError};
use sha2::{Digest as _, Sha256};

use crate::App;

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
    let mut jobs = Vec::new();
    for to in arrived.to {
        let Some(setting) = receiver(app, to).await? else {
            continue;
        };
        let id = id(&raw, arrived.from, to);
        let job = Inbound {
            v: 1,
            blob: format!("inbound/{}/{id}", setting.account),
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
        app.blob.put(&job.blob, raw.clone()).await?;
        jobs.push((job.to_text()?, Duration::ZERO));
    }
    let count = jobs.len();
    app.inbound.send_all(jobs).await?;
    Ok(count)
}

/// The same bytes from and to the same addresses have the same id; the Message-ID is among them.
fn id(raw: &[u8], from: &str, to: &str) -> String {
    let mut hash = Sha256::new();
    for word in [from, to] {
        hash.update(word.as_bytes());
        // No address holds a NUL.
        hash.update([0]);
    }
    hash.update(raw);
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
