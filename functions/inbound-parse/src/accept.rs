//! Turns a received mail into one job per recipient.

use std::collections::{BTreeMap, HashSet};
use std::net::IpAddr;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use posthaste_model::{AccountId, EmailAddress, Timestamp};
use posthaste_queue::{Inbound, Judged};
use posthaste_runtime::WorkError;
use posthaste_store::{ParseSetting, StoreError};
use sha2::{Digest as _, Sha256};

use crate::App;

/// A mail that has passed this many servers is in a loop (RFC 5321, section 6.3).
const MOST_HOPS: usize = 100;

/// Seconds within which the same content, without a Message-ID, from and to the same addresses
/// counts as a client's retry of a mail whose 250 it did not read.
///
/// RFC 5321, section 4.5.4.1, asks for 30 minutes between attempts, but an MTA's queue adds a
/// Message-ID and is identified by it for as long as arrivals are stored. This rule covers a device
/// or a script, which retries at once or not at all. A later repeat is a separate mail: the alarms
/// of a camera, one every few minutes, may all have the same text.
pub const RETRY_WINDOW: i64 = 2 * 60;

/// A mail as submitted.
#[derive(Clone, Copy, Debug)]
pub struct ArrivedMail<'a> {
    /// The return path; empty for the null sender.
    pub from: &'a str,
    pub to: &'a [String],
    pub ip: Option<IpAddr>,
    /// The name the client gave itself.
    pub hello: &'a str,
    /// The protocol by which this service received the mail (RFC 3848: `SMTP`, `ESMTP`, `ESMTPS`),
    /// for its `Received` field; `None` for a mail that has the field of its receiving server.
    pub protocol: Option<&'a str>,
    /// Octets that the receiving server added in front of the mail: they differ each time the same
    /// mail is submitted.
    pub added: usize,
    /// The unique name under which this mail was stored before, such as its object in the bucket;
    /// `None` for a mail that a client submits directly.
    pub object: Option<&'a str>,
    /// The verdicts of an earlier check.
    pub judged: Option<&'a Judged>,
}

impl ArrivedMail<'_> {
    /// The value of the `Received` field (RFC 5321, section 4.4) of the copy `id` for one recipient;
    /// `None` if the mail has it already.
    fn received_field(
        &self,
        host: &str,
        to: &str,
        id: &str,
        received: Timestamp,
    ) -> Option<String> {
        let protocol = self.protocol?;
        // The client chose its name: only what cannot end the word or the field is written.
        let is_plain = |c: char| c.is_ascii_graphic() && !"()<>;\"\\,".contains(c);
        let hello = self.hello;
        let hello = if !hello.is_empty() && hello.chars().all(is_plain) {
            hello
        } else {
            "unknown"
        };
        let address = match self.ip {
            Some(IpAddr::V4(ip)) => format!(" (unknown [{ip}])"),
            Some(IpAddr::V6(ip)) => format!(" (unknown [IPv6:{ip}])"),
            None => String::new(),
        };
        let date = received.rfc5322();
        Some(format!(
            "from {hello}{address} by {host} with {protocol} id {id} for <{to}>; {date}"
        ))
    }
}

/// What became of a mail that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum MailFate {
    /// Durable for this many recipients.
    Accepted(usize),
    /// The mail has passed 100 servers, so it is in a loop (RFC 5321, section 6.3).
    Loop,
}

/// The parse setting that applies to this address.
pub async fn receiver(app: &App, address: &str) -> Result<Option<ParseSetting>, StoreError> {
    let domain = address.rsplit_once('@').map_or("", |(_, domain)| domain);
    // Every local part matches, including those invalid for a mailbox.
    let Ok(host) = EmailAddress::parse(&format!("any@{domain}")) else {
        return Ok(None);
    };
    app.store.receiver(&host.ascii_domain()).await
}

/// Accepts a mail: durable for each recipient of a configured hostname once this returns.
///
/// The same bytes from and to the same addresses are posted once, for as long as arrivals are
/// stored, if they have a Message-ID; without one, if they come from the same object, or from a
/// client within [`RETRY_WINDOW`]. The same Message-ID over other bytes is another mail: a list's
/// copy, a corrected text, or a mail sent by a third party that guessed the Message-ID.
///
/// # Errors
/// If the mail could not be stored; it may be durable for some recipients then.
pub async fn accept(
    app: &App,
    arrived: ArrivedMail<'_>,
    raw: Bytes,
) -> Result<MailFate, WorkError> {
    let content = raw.get(arrived.added..).unwrap_or_default();
    let read = || (hops(&raw), has_message_id(content), Sha256::digest(content));
    let (hops, has_message_id, content) = posthaste_offload::run(raw.len(), read).await;
    if hops >= MOST_HOPS {
        return Ok(MailFate::Loop);
    }
    let received = app.clock.now();
    let (mut seen, mut jobs) = (HashSet::new(), BTreeMap::<AccountId, Vec<Inbound>>::new());
    for to in arrived.to {
        let Some(setting) = receiver(app, to).await? else {
            continue;
        };
        let same = id(&content, arrived.from, to);
        let id = match arrived.object {
            _ if has_message_id => same,
            Some(object) => of(&same, object.as_bytes()),
            None => {
                let new = of(&same, &received.0.to_be_bytes());
                let which = (&setting.account, same.as_str());
                let when = (received, RETRY_WINDOW);
                app.store.arrival_id(which, &new, when).await?
            }
        };
        if !seen.insert(id.clone()) {
            continue;
        }
        let trace = arrived.received_field(app.hostname.as_str(), to, &id, received);
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
            trace,
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
    Ok(MailFate::Accepted(seen.len()))
}

/// Stores the raw mail once for all of an account's recipients: a client can name a thousand of
/// them for one mail of 30 MB.
async fn keep(
    app: &App,
    account: &AccountId,
    jobs: &mut [Inbound],
    raw: Bytes,
) -> Result<(), WorkError> {
    let mut ids: Vec<String> = jobs.iter().map(|job| job.id.clone()).collect();
    let name = match ids.as_mut_slice() {
        [one] => one.clone(),
        // The same mail to the same recipients has the same name, whatever their order.
        many => {
            many.sort_unstable();
            URL_SAFE_NO_PAD.encode(Sha256::digest(many.concat()))
        }
    };
    let blob = format!("inbound/{account}/{name}");
    let shared = ids.len() > 1;
    if shared {
        // Longer than the mail can be in progress or wait for a replay.
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

/// Releases a job's raw mail permanently. A shared one is deleted with its last recipient.
pub(crate) async fn release(app: &App, job: &Inbound) -> Result<(), WorkError> {
    if !job.shared || app.store.release_raw(&job.blob, &job.id).await? {
        app.blob.delete(&job.blob).await?;
    }
    Ok(())
}

/// One of the mails that have the same id by their content.
fn of(same: &str, which: &[u8]) -> String {
    let hash = Sha256::new().chain_update(same).chain_update(which);
    URL_SAFE_NO_PAD.encode(hash.finalize())
}

/// The same content (given by its hash) from and to the same addresses has the same id; a
/// Message-ID is part of it.
fn id(content: &[u8], from: &str, to: &str) -> String {
    let mut hash = Sha256::new();
    for word in [from, to] {
        hash.update(word.as_bytes());
        // An address contains no NUL.
        hash.update([0]);
    }
    hash.update(content);
    URL_SAFE_NO_PAD.encode(hash.finalize())
}

/// The lines of the header.
fn header(raw: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = raw.split(|byte| *byte == b'\n');
    lines.take_while(|line| !matches!(line, [] | [b'\r']))
}

/// Whether the header has a non-empty Message-ID.
fn has_message_id(raw: &[u8]) -> bool {
    let mut inside = false;
    header(raw).any(|line| {
        let value = match line {
            [b' ' | b'\t', ..] => line,
            _ => {
                let colon = line.iter().position(|byte| *byte == b':');
                let field = colon.and_then(|colon| line.split_at_checked(colon));
                let (name, value) = field.unwrap_or_default();
                // White space before the colon is RFC 5322's obsolete syntax.
                inside = name.trim_ascii_end().eq_ignore_ascii_case(b"message-id");
                value.get(1..).unwrap_or_default()
            }
        };
        inside && !matches!(value.trim_ascii(), b"" | b"<>")
    })
}

/// The number of `Received` fields in the header.
fn hops(raw: &[u8]) -> usize {
    let name = b"received:";
    let is_hop = |line: &&[u8]| {
        line.get(..name.len())
            .is_some_and(|begin| begin.eq_ignore_ascii_case(name))
    };
    header(raw).filter(is_hop).count()
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
    fn a_message_id_counts_where_it_says_something() {
        for (with, head) in [
            (true, "Message-ID: <1@a>\r\n"),
            (true, "From: a@b\nmessage-id:<1@a>\n"),
            (true, "Message-Id : 1\r\n"),
            (true, "Message-ID:\r\n\t<1@a>\r\n"),
            (true, "Message-ID: <1@a>"),
            (false, "Message-ID:\r\n <>\r\nFrom: a@b\r\n"),
            (false, "Message-ID: \r\nFrom: a@b\r\n folded\r\n"),
            (false, "X-Message-ID: <1@a>\r\n"),
            (false, "Message-ID-Of-List: <1@a>\r\n"),
            (false, "From: a@b\r\n Message-ID: <1@a>\r\n"),
            (false, "From: a@b\r\n\r\nMessage-ID: <1@a>\r\n"),
            (false, "no field\r\n"),
            (false, ""),
        ] {
            assert_eq!(has_message_id(head.as_bytes()), with, "{head:?}");
        }
    }

    #[test]
    fn a_client_writes_nothing_into_the_received_field_but_a_name() {
        let field = |hello: &str, ip: Option<&str>| {
            let arrived = ArrivedMail {
                from: "a@b",
                to: &[],
                ip: ip.and_then(|ip| ip.parse().ok()),
                hello,
                protocol: Some("ESMTPS"),
                added: 0,
                object: None,
                judged: None,
            };
            let received = Timestamp(1_796_000_000);
            let field = arrived.received_field("mx.example", "c@d.example", "X1", received);
            field.unwrap()
        };
        let end =
            "by mx.example with ESMTPS id X1 for <c@d.example>; Mon, 30 Nov 2026 00:53:20 +0000";
        for (hello, ip, want) in [
            (
                "mail.a.example",
                Some("192.0.2.7"),
                "from mail.a.example (unknown [192.0.2.7])",
            ),
            (
                "[192.0.2.7]",
                Some("2001:db8::1"),
                "from [192.0.2.7] (unknown [IPv6:2001:db8::1])",
            ),
            ("", None, "from unknown"),
            ("a) by evil; x", None, "from unknown"),
            ("a\r\nSubject:", None, "from unknown"),
            ("m\u{e4}il", None, "from unknown"),
        ] {
            assert_eq!(field(hello, ip), format!("{want} {end}"));
        }
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
