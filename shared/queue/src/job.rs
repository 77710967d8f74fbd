//! Jobs of the send queue: one accepted mail, or a range of its recipients.
//!
//! Old jobs can still be read: new fields have a default, and a test holds a literal of the first
//! release. SQS bills each 64 KB, so a mail past [`LARGEST_INLINE`] is compressed, and one that
//! stays large is stored in `blob` and the job names it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use posthaste_model::{AccountId, KeyId, Mail, MessageId, Millis, Span, Timestamp};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A mail whose JSON is at most this many bytes stays uncompressed: compression would cost more
/// time than the bytes cost money.
pub const LARGEST_INLINE: usize = 16 * 1024;

/// The largest compressed mail before it moves to `blob`: with the rest of the job it stays under
/// 256 KB, which every SQS queue takes, and under DynamoDB's 400 KB for a due row.
const LARGEST_PACKED: usize = 240 * 1024;

/// The most bytes that the jobs of one mail carry of it together; a mail that would be repeated
/// more often, for example with a separate time for each recipient, is stored in `blob` once.
const LARGEST_REPEATED: usize = 4 << 20;

/// One piece of delivery work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Form of this record: 1; 2 for a mail that was submitted whole, which the first release would
    /// send empty; 3 for one that may not leave, which earlier releases would send.
    #[serde(default = "first_version")]
    pub v: u8,
    pub account: AccountId,
    pub message: MessageId,
    /// When the request was accepted.
    pub accepted: Millis,
    /// Which recipients; all of them when empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spans: Vec<Span>,
    /// Number of the attempt, from 0.
    #[serde(default)]
    pub attempt: u32,
    /// Second at which this piece was to leave, for scheduled mail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<Timestamp>,
    /// Whether scheduled mail was cleared to leave already: its ranges are not checked again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub left: bool,
    /// Since when this attempt waits because the relay takes no mail. Its copies were reported as
    /// deferred then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_since: Option<Timestamp>,
    /// The key that sent it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<KeyId>,
    /// The address that it was sent from, where the host knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_ip: Option<String>,
    /// Whether the mail may not leave, because its key is marked as test.
    #[serde(rename = "test", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_test: bool,
    pub body: JobBody,
}

fn first_version() -> u8 {
    1
}

/// Where the mail is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobBody {
    /// Here, as JSON.
    Mail(Box<Mail>),
    /// Here, as JSON compressed by zstd, in base64.
    Packed(Packed),
    /// In `blob` under this name, as JSON compressed by zstd.
    Blob(String),
}

/// The compressed text of a mail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Packed(String);

/// A job or mail that cannot be read. Trying again will not help.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    #[error("job is of form {0}, newer than this release")]
    TooNew(u8),
    #[error("job is not JSON of the known form: {0}")]
    Json(#[from] serde_json::Error),
    #[error("compressed mail cannot be decompressed: {0}")]
    Packed(String),
    #[error("a mail of {0} bytes as JSON is above {MOST_UNPACKED}")]
    TooLarge(usize),
}

/// Reads a text of a queue of which this release knows the forms up to `newest`.
pub(crate) fn read_versioned<T: DeserializeOwned>(
    text: &str,
    newest: u8,
    form: impl Fn(&T) -> u8,
) -> Result<T, JobError> {
    let read: T = serde_json::from_str(text)?;
    let form = form(&read);
    if form > newest {
        return Err(JobError::TooNew(form));
    }
    Ok(read)
}

/// Bytes of a mail's JSON, compressed or not: what an accepted request becomes, and room for control characters, of
/// which JSON makes six bytes. The reader is held to it, so the writer is too.
const MOST_UNPACKED: usize = 96 << 20;

/// A mail ready for the queue.
#[derive(Debug)]
pub enum Packing {
    /// Goes into the job.
    Inline(JobBody),
    /// Too large: these compressed bytes go to `blob` first.
    Large(Vec<u8>),
}

impl JobBody {
    /// Chooses how a mail travels in each of its `jobs`, by the bytes of its JSON: they can be many
    /// times those of the request, which names once what is stored for each recipient.
    ///
    /// # Errors
    /// When its JSON is larger than [`unpack`] reads: the mail cannot be accepted.
    pub fn pack(mail: Mail, jobs: usize) -> Result<Packing, JobError> {
        let repeats_little =
            |bytes: usize| jobs <= 1 || bytes.saturating_mul(jobs) <= LARGEST_REPEATED;
        let json = serde_json::to_vec(&mail)?;
        if json.len() > MOST_UNPACKED {
            return Err(JobError::TooLarge(json.len()));
        }
        if json.len() <= LARGEST_INLINE && repeats_little(json.len()) {
            return Ok(Packing::Inline(Self::Mail(Box::new(mail))));
        }
        let small = compress(&json)?;
        let packed = small.len() / 3 * 4;
        if packed > LARGEST_PACKED || !repeats_little(packed) {
            return Ok(Packing::Large(small));
        }
        Ok(Packing::Inline(Self::Packed(Packed(
            STANDARD.encode(small),
        ))))
    }
}

/// zstd's level 1: a mail of 100 KB takes well under a millisecond.
pub(crate) fn compress(json: &[u8]) -> Result<Vec<u8>, JobError> {
    zstd::bulk::compress(json, 1).map_err(|e| JobError::Packed(e.to_string()))
}

/// The compressed JSON of a record beside a queue, which [`unpacked`] reads. It is written as it is compressed, so
/// that the JSON is never in memory whole.
///
/// # Errors
/// When the record has no JSON.
pub fn packed<T: Serialize>(record: &T) -> Result<Vec<u8>, JobError> {
    let broken = |e: std::io::Error| JobError::Packed(e.to_string());
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).map_err(broken)?;
    serde_json::to_writer(&mut encoder, record)?;
    encoder.finish().map_err(broken)
}

/// Reads what [`packed`] made.
///
/// # Errors
/// When the bytes are not that of such a record, or of more than 96 MiB of JSON.
pub fn unpacked<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, JobError> {
    // The decoder reads as a stream, so the cap is not allocated up front.
    let most = u64::try_from(MOST_UNPACKED).unwrap_or(u64::MAX);
    Ok(serde_json::from_slice(&unzip(bytes, most)?)?)
}

/// Reads the compressed text of a mail, as stored in `blob`.
///
/// # Errors
/// When the bytes are not what [`JobBody::pack`] made.
pub fn unpack(bytes: &[u8]) -> Result<Mail, JobError> {
    unpacked(bytes)
}

/// Decompresses at most `most` bytes; longer data is cut and fails to parse.
pub(crate) fn unzip(bytes: &[u8], most: u64) -> Result<Vec<u8>, JobError> {
    let reader =
        zstd::stream::read::Decoder::new(bytes).map_err(|e| JobError::Packed(e.to_string()))?;
    let mut json = Vec::new();
    std::io::Read::read_to_end(&mut std::io::Read::take(reader, most), &mut json)
        .map_err(|e| JobError::Packed(e.to_string()))?;
    Ok(json)
}

impl Packed {
    /// The mail inside.
    ///
    /// # Errors
    /// When the text is not what [`JobBody::pack`] made.
    pub fn unpack(&self) -> Result<Mail, JobError> {
        let bytes = STANDARD.decode(&self.0);
        unpack(&bytes.map_err(|e| JobError::Packed(e.to_string()))?)
    }
}

impl Job {
    /// A job for a mail that the service writes itself, to be sent now.
    pub fn notice(account: AccountId, message: MessageId, accepted: Millis, mail: Mail) -> Self {
        Self {
            v: 1,
            account,
            message,
            accepted,
            spans: Vec::new(),
            attempt: 0,
            due: None,
            left: false,
            waits_since: None,
            key: None,
            client_ip: None,
            is_test: false,
            body: JobBody::Mail(Box::new(mail)),
        }
    }

    /// The same job for a mail that may not leave.
    #[must_use]
    pub fn of_test(self) -> Self {
        Self {
            v: 3,
            is_test: true,
            ..self
        }
    }

    /// The job as queue text.
    ///
    /// # Errors
    /// Never for a job with a mail that was read from JSON.
    pub fn to_text(&self) -> Result<String, JobError> {
        Ok(serde_json::to_string(self)?)
    }

    /// Reads a job.
    ///
    /// # Errors
    /// When it is not one, or of a form newer than this release.
    pub fn from_text(text: &str) -> Result<Self, JobError> {
        read_versioned(text, 3, |job: &Self| job.v)
    }

    /// The first recipient, which names a piece of scheduled mail.
    pub fn first(&self) -> u32 {
        self.spans.first().map_or(0, |span| span.from)
    }

    /// Whether the job is about this recipient.
    pub fn holds(&self, recipient: u32) -> bool {
        self.spans.is_empty() || self.spans.iter().any(|span| span.holds(recipient))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mail(text: &str) -> Mail {
        let json = serde_json::json!({
            "from": {"email": "f@example.com"},
            "content": [{"type": "text/plain", "value": text}],
            "personalizations": [{"to": [{"email": "a@example.com"}]}],
        });
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn a_job_written_by_the_first_release_still_reads() {
        let old = r#"{"account":"abcdefghij","message":"AAAAAAAAAAAAAAAAAAAAAA","accepted":1,
            "body":{"mail":{"from":{"email":"f@example.com"},"personalizations":[{"to":[{"email":"a@example.com"}]}]}}}"#;
        let job = Job::from_text(old).unwrap();
        assert_eq!((job.v, job.attempt, job.holds(7)), (1, 0, true));
    }

    #[test]
    fn a_job_from_the_future_is_not_guessed_at() {
        let new = r#"{"v":4,"account":"abcdefghij","message":"AAAAAAAAAAAAAAAAAAAAAA","accepted":1,"body":{"blob":"x"}}"#;
        assert!(matches!(Job::from_text(new), Err(JobError::TooNew(4))));
    }

    #[test]
    fn the_job_of_a_test_is_read_by_no_release_that_would_send_it() {
        let job = Job::notice(
            AccountId::parse("abcdefghij").unwrap(),
            MessageId::parse("AAAAAAAAAAAAAAAAAAAAAA").unwrap(),
            Millis(1),
            mail("hello"),
        );
        assert!(!job.to_text().unwrap().contains("test"));
        let test = job.of_test();
        let text = test.to_text().unwrap();
        assert!(text.contains(r#""v":3"#), "{text}");
        assert_eq!(Job::from_text(&text).unwrap(), test);
    }

    #[test]
    fn a_mail_travels_plain_packed_or_beside_by_its_size() {
        let small = mail("hello");
        let Packing::Inline(JobBody::Mail(kept)) = JobBody::pack(small.clone(), 1).unwrap() else {
            unreachable!("a small mail travels as it is");
        };
        assert_eq!(*kept, small);

        let middle = mail(&"hello ".repeat(20_000));
        let Packing::Inline(JobBody::Packed(packed)) = JobBody::pack(middle.clone(), 1).unwrap()
        else {
            unreachable!("a compressible mail is packed");
        };
        assert_eq!(packed.unpack().unwrap(), middle);

        let mut state = 1_u64;
        let noise: String = std::iter::repeat_with(|| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            char::from(b'a' + u8::try_from(state >> 60).unwrap())
        })
        .take(1_000_000)
        .collect();
        let large = mail(&noise);
        let Packing::Large(bytes) = JobBody::pack(large.clone(), 1).unwrap() else {
            unreachable!("a mail that does not compress goes to blob");
        };
        assert_eq!(unpack(&bytes).unwrap(), large);
        assert!(unpack(b"not zstd").is_err());
    }
    #[test]
    fn a_small_request_that_repeats_its_arguments_is_packed() {
        // What submission makes of 250 recipients with one substitution each and 10 KB of arguments.
        let mut mail = mail("hello");
        let mut one = mail.personalizations.remove(0);
        one.custom_args.insert("k".to_owned(), "v".repeat(9_999));
        mail.personalizations = vec![one; 250];
        let Packing::Inline(body @ JobBody::Packed(_)) = JobBody::pack(mail, 1).unwrap() else {
            unreachable!("2.5 MB of JSON that compress well");
        };
        assert!(serde_json::to_string(&body).unwrap().len() < 256 * 1024);
    }

    #[test]
    fn what_could_not_be_unpacked_is_not_packed() {
        // A control character is six bytes of JSON.
        let around = serde_json::to_vec(&mail("")).unwrap().len();
        let most = (MOST_UNPACKED - around) / 6;
        for (letters, fits) in [(most, true), (most + 1, false)] {
            let large = mail(&"\u{1}".repeat(letters));
            match JobBody::pack(large.clone(), 1) {
                Ok(Packing::Inline(JobBody::Packed(packed))) => {
                    assert!(fits && packed.unpack().unwrap() == large);
                }
                Ok(other) => unreachable!("{other:?}"),
                Err(error) => assert!(!fits && matches!(error, JobError::TooLarge(_)), "{error}"),
            }
        }
    }
}
