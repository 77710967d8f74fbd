//! The DKIM signatures of a received mail.
//!
//! The library looks up the key of a signature, reads the fields that the signature names, and goes
//! on to the next one, all in one future. That work is not moved away from the threads that serve:
//! it would take its slot of `posthaste_offload` along while a stranger's name server lets it wait.
//! It is bounded instead: what is verified at all is limited before the first lookup, by the size
//! of the header ([`is_checkable`]) and by the number of signatures and of the names in them
//! ([`limit`]), to a few milliseconds for the worst mail. Only the body is hashed elsewhere.

use std::borrow::Cow;

use hickory_resolver::proto::op::ResponseCode;
use mail_auth::dkim::{Canonicalization, Signature};
use mail_auth::{AuthenticatedMessage, DkimResult, DnsError, Error, MessageAuthenticator};

use super::Names;
use crate::canonical::{Relaxed, plain};

/// Octets of a header whose signatures are checked, and fields in it. Each signature may have the
/// whole header read and hashed once more.
const LONGEST_HEADER: usize = 64 * 1024;
const MOST_FIELDS: usize = 2_000;

/// Octets of a `From` whose signatures are checked. The library reads each encoded word that does
/// not end to the end of the field.
const LONGEST_FROM: usize = 16 * 1024;

/// The most signatures of a mail that are verified: each costs a DNS lookup. The job that carries
/// the results must fit a queue and a row, too.
const MOST_SIGNATURES: usize = 20;

/// Octets of a domain (RFC 1035, section 2.3.4); a longer one is invalid.
const LONGEST_DOMAIN: usize = 255;

/// The most comparisons of names that all signatures of a mail may cost. The library compares each
/// name that a signature lists with the other names in it and with the fields of the mail: some
/// 10,000 for a signature of 50 names and a mail of 150 fields.
const MOST_COMPARISONS: usize = 250_000;

/// Verifies the signatures of a mail: the domain of each, and whether it is valid.
pub(super) async fn check(
    authenticator: &MessageAuthenticator,
    names: &Names,
    raw: &[u8],
) -> Vec<(String, bool)> {
    if !is_checkable(raw) {
        return Vec::new();
    }
    let mut found = verified(authenticator, names, raw, |_| true).await;
    for (head, body) in [(true, true), (true, false), (false, true)] {
        let relaxed = Relaxed { head, body };
        if !found.iter().any(|one| !one.holds && one.relaxed == relaxed) {
            continue;
        }
        let plain = posthaste_offload::run(raw.len(), || plain(raw, relaxed)).await;
        if let Cow::Owned(plain) = plain {
            let is_so = |signature: &Signature| is_relaxed(signature) == relaxed;
            for other in verified(authenticator, names, &plain, is_so).await {
                let same = found.iter_mut().filter(|one| one.bytes == other.bytes);
                same.for_each(|one| one.holds |= other.holds);
            }
        }
    }
    found
        .into_iter()
        .map(|one| (one.domain, one.holds))
        .collect()
}

/// A signature that was checked.
struct Verified {
    domain: String,
    /// The signature itself.
    bytes: Vec<u8>,
    relaxed: Relaxed,
    holds: bool,
}

fn is_relaxed(signature: &Signature) -> Relaxed {
    Relaxed {
        head: signature.ch == Canonicalization::Relaxed,
        body: signature.cb == Canonicalization::Relaxed,
    }
}

async fn verified(
    authenticator: &MessageAuthenticator,
    names: &Names,
    raw: &[u8],
    wanted: impl Fn(&Signature) -> bool,
) -> Vec<Verified> {
    // Hashes the whole body.
    let parsed = posthaste_offload::run(raw.len(), || AuthenticatedMessage::parse(raw)).await;
    let Some(mut message) = parsed else {
        return Vec::new();
    };
    message.dkim_headers.retain(|found| wanted(&found.header));
    limit(&mut message);
    let outputs = authenticator.verify_dkim(names.asked(&message)).await;
    let known = outputs.iter().filter(|output| !is_unknown(output.result()));
    let found = known.filter_map(|output| {
        let signature = output.signature()?;
        Some(Verified {
            domain: signature.d.clone(),
            bytes: signature.b.clone(),
            relaxed: is_relaxed(signature),
            holds: *output.result() == DkimResult::Pass,
        })
    });
    found.collect()
}

/// Whether the header is small enough for its signatures to be checked quickly. A mail with a
/// larger one counts as unsigned.
fn is_checkable(raw: &[u8]) -> bool {
    // With the line end that follows the largest header; the rest would only be searched for lines.
    let head = raw.get(..LONGEST_HEADER + 2).unwrap_or(raw);
    let (mut read, mut fields, mut is_from, mut from) = (0, 0, false, 0);
    for line in head.split_inclusive(|byte| *byte == b'\n') {
        if line == b"\r\n" || line == b"\n" {
            break;
        }
        read += line.len();
        if !line.starts_with(b" ") && !line.starts_with(b"\t") {
            fields += 1;
            let name = line.get(..4).unwrap_or_default();
            is_from = name.eq_ignore_ascii_case(b"from");
        }
        from += if is_from { line.len() } else { 0 };
        if read > LONGEST_HEADER || fields > MOST_FIELDS || from > LONGEST_FROM {
            return false;
        }
    }
    true
}

/// Leaves only signatures that are verified quickly, by one lookup each. The others count as
/// missing (RFC 6376, section 6.1: a verifier may limit the number of signatures it tries).
fn limit(message: &mut AuthenticatedMessage<'_>) {
    let fields = message.headers.len();
    let signatures = &mut message.dkim_headers;
    signatures.retain(|found| found.header.d.len() <= LONGEST_DOMAIN);
    signatures.truncate(MOST_SIGNATURES);
    let mut left = MOST_COMPARISONS;
    signatures.retain_mut(|found| {
        let signature = &mut found.header;
        // Where failures are reported to and whom the author's domain trusts (RFC 6651, RFC 6541)
        // would each be looked up as well. Neither makes a signature valid or invalid.
        signature.r = false;
        signature.atps = None;
        let names = signature.h.len();
        let rest = left.checked_sub(names.saturating_mul(names + fields));
        left = rest.unwrap_or(left);
        rest.is_some()
    });
}

/// Whether a signature was not checked, because the lookup of its key failed. A missing key is an
/// answer (RFC 6376, section 6.1.2).
fn is_unknown(result: &DkimResult) -> bool {
    match result {
        DkimResult::TempError(_) => true,
        // A server failure is reported like a missing record.
        DkimResult::PermError(Error::Dns(DnsError::RecordNotFound(code))) => {
            !matches!(code, ResponseCode::NoError | ResponseCode::NXDomain)
        }
        DkimResult::Pass
        | DkimResult::Neutral(_)
        | DkimResult::Fail(_)
        | DkimResult::PermError(_)
        | DkimResult::None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_of_any_size_costs_no_time() {
        let from = |octets: usize| format!("From: {}\r\n", "a".repeat(octets - 8));
        let body = "x\r\n".repeat(1_000_000);
        for (header, want) in [
            (from(LONGEST_FROM), true),
            (from(LONGEST_FROM + 1), false),
            (format!("FROM: a\r\n {}", from(LONGEST_FROM)), false),
            ("a:\r\n".repeat(MOST_FIELDS), true),
            ("a:\r\n".repeat(MOST_FIELDS + 1), false),
            (format!("a:{}\r\n", "x".repeat(LONGEST_HEADER - 4)), true),
            (format!("a:{}\r\n", "x".repeat(LONGEST_HEADER - 3)), false),
            ("x".repeat(LONGEST_HEADER + 1), false),
        ] {
            let raw = format!("{header}\r\n{body}");
            assert_eq!(
                is_checkable(raw.as_bytes()),
                want,
                "{} octets",
                header.len()
            );
        }
    }

    /// A signature of this domain that names these fields.
    fn signature(domain: &str, names: &str) -> String {
        format!(
            "DKIM-Signature: v=1; a=rsa-sha256; r=y; atps=b.example; d={domain}; s=s; bh=AAAA; \
             b=AAAA; h={names}\r\n"
        )
    }

    #[test]
    fn what_would_take_long_to_verify_counts_as_missing() {
        let usual = signature("b.example", &format!("{}from", "subject:".repeat(39)));
        let long = signature("b.example", &format!("{}from", "a:".repeat(600)));
        let wide = signature("b.example", &format!("{}from", "a:".repeat(150)));
        let fields = "X-Field: a\r\n".repeat(1_900);
        for (what, header, want) in [
            ("no signature", String::new(), 0),
            ("one", usual.clone(), 1),
            ("the most", usual.repeat(MOST_SIGNATURES), MOST_SIGNATURES),
            ("too many", usual.repeat(100), MOST_SIGNATURES),
            ("one of too many names", long.clone(), 0),
            ("the others beside it", format!("{long}{usual}"), 1),
            ("many names", wide.clone(), 1),
            ("many names of many fields", format!("{wide}{fields}"), 0),
            (
                "a domain that cannot be",
                signature(&"a".repeat(LONGEST_DOMAIN + 1), "from"),
                0,
            ),
        ] {
            let raw = format!("{header}From: ann@b.example\r\n\r\nHi\r\n");
            let mut message = AuthenticatedMessage::parse(raw.as_bytes()).unwrap();
            limit(&mut message);
            let left = &message.dkim_headers;
            assert_eq!(left.len(), want, "{what}");
            let asks_once = left
                .iter()
                .all(|found| !found.header.r && found.header.atps.is_none());
            assert!(asks_once, "{what}");
        }
    }

    #[test]
    fn a_key_that_cannot_be_looked_up_is_no_failure() {
        let absent = |code| DkimResult::PermError(Error::Dns(DnsError::RecordNotFound(code)));
        let broken = || Error::Dns(DnsError::Resolver("no answer".to_owned()));
        for (result, want) in [
            (DkimResult::TempError(broken()), true),
            (absent(ResponseCode::ServFail), true),
            (absent(ResponseCode::Refused), true),
            (absent(ResponseCode::NXDomain), false),
            (absent(ResponseCode::NoError), false),
            (
                DkimResult::PermError(Error::Dns(DnsError::InvalidRecordType)),
                false,
            ),
            (DkimResult::Pass, false),
            (DkimResult::None, false),
        ] {
            assert_eq!(is_unknown(&result), want, "{result:?}");
        }
    }
}
