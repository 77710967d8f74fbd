//! Machine-generated mails about mails: delivery reports (RFC 3464), complaints (RFC 5965) and
//! automatic replies (RFC 3834), and bounces in words alone.
//!
//! Anyone can send one. The caller must check that a report is about a mail of this service, by the
//! address it came to or by the message id it returns.

mod fields;
mod human;
mod phrases;
mod plain;
mod reply;

use crate::parse::{
    Entity, HeaderFields, MultipartParts, Parameterised, WordContext, decoded, text,
};
use crate::read::ParsedMail;

use human::Human;

pub use fields::{Delivery, ReportAction, ReportedRecipient};
pub use reply::{QuotedReply, reply};

/// The most parts of a report that are read.
const MOST_PARTS: usize = 20;

/// The most fields of the returned message, and recipients of a report, that are stored.
const MOST: usize = 1_000;

/// The content of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MailReport {
    Delivery(Delivery),
    Complaint(Complaint),
}

impl MailReport {
    /// Whether it says nothing about any recipient.
    fn is_empty(&self) -> bool {
        matches!(self, Self::Delivery(delivery) if delivery.recipients.is_empty())
    }
}

/// An abuse report: a complaint of a recipient, or on a recipient's behalf, about a mail.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Complaint {
    /// `abuse`, `fraud`, `virus`, `not-spam`, …, in lower case.
    pub feedback_type: String,
    /// The recipient of the mail; often omitted or redacted.
    pub recipients: Vec<String>,
    /// The return path of the mail.
    pub mail_from: Option<String>,
    pub source_ip: Option<String>,
    pub user_agent: Option<String>,
    pub original: Original,
}

/// The header of the mail a report is about, as far as it was returned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Original {
    /// Names as written, values decoded to one line.
    pub headers: Vec<(String, String)>,
}

impl Original {
    /// The first field of this name, whose letter case does not count.
    pub fn header(&self, name: &str) -> Option<&str> {
        let same = |(other, _): &&(String, String)| other.eq_ignore_ascii_case(name);
        self.headers
            .iter()
            .find(same)
            .map(|(_, value)| value.as_str())
    }

    /// Without angle brackets.
    pub fn message_id(&self) -> Option<&str> {
        let id = self.header("Message-ID")?;
        Some(id.trim_matches(['<', '>', ' ']))
    }

    fn of_mail(raw: &[u8]) -> Self {
        Self::read(Entity::read(raw).fields())
    }

    fn read(header: HeaderFields<'_>) -> Self {
        let decoded = |(name, value): (&[u8], &[u8])| {
            let name = String::from_utf8_lossy(name).into_owned();
            (name, text(value, WordContext::Text, ""))
        };
        Self {
            headers: header.iter().take(MOST).map(decoded).collect(),
        }
    }
}

/// Parses a mail as a report in the form of the RFCs; `None` for any other mail.
///
/// The machine-readable part must be directly in the outermost multipart, so a forwarded bounce is
/// not a report. Of several, the first with content counts: some gateways add an empty one.
pub fn read(raw: &[u8]) -> Option<MailReport> {
    let mail = Entity::read(raw);
    let [kind] = mail.fields().pick(["Content-Type"]);
    let kind = Parameterised::read(kind?);
    if !kind.value.starts_with("multipart/") {
        return None;
    }
    let parts = MultipartParts::read(mail.body, &kind.raw("boundary")?)?;
    let mut report = None;
    let mut original = Original::default();
    for part in parts.take(MOST_PARTS) {
        let part = Entity::read(part);
        let names = ["Content-Type", "Content-Transfer-Encoding"];
        let [kind, encoding] = part.fields().pick(names);
        let kind = Parameterised::read(kind.unwrap_or_default());
        let body = || decoded(encoding, part.body);
        if is_original(&kind.value) {
            original = Original::of_mail(&body());
        } else if is_machine(&kind.value) {
            report = better(report, machine(&kind.value, &body()));
        }
    }
    let complained = || fields::marked_complaint(&original).map(MailReport::Complaint);
    report
        .or_else(complained)
        .map(|report| about(report, original))
}

/// Parses a mail that came from the null sender to an envelope sender of ours.
///
/// Beyond [`read`], it reads a report anywhere below a multipart, its fields in a text, and the plain words of servers that
/// write no report. `None` for automatic replies, notices of reading, and everything else.
///
/// The words decide here, so the caller must know by the addresses that the mail answers one of its
/// own.
pub fn bounce(raw: &[u8]) -> Option<MailReport> {
    let mail = ParsedMail::read(raw);
    let human = Human::read(&mail);
    let mut report = None;
    let mut original = None;
    for part in mail.parts() {
        if is_machine(&part.media_type) {
            let text = human.decoded(part);
            report = better(report, machine(&part.media_type, text.as_bytes()));
        } else if original.is_none() && is_original(&part.media_type) {
            original = Some(Original::of_mail(&part.bytes()));
        }
    }
    let original = original.unwrap_or_default();
    let mut report = match report {
        Some(report) if !report.is_empty() => report,
        _ => fields::marked_complaint(&original)
            .map(MailReport::Complaint)
            .or_else(|| human.fields().map(MailReport::Delivery))
            .or_else(|| plain::read(&mail, &human).map(MailReport::Delivery))?,
    };
    if let MailReport::Delivery(delivery) = &mut report {
        let mut silent = delivery.silent().peekable();
        if silent.peek().is_some() {
            let said = human.diagnostic();
            silent.for_each(|recipient| recipient.diagnostic.clone_from(&said));
        }
    }
    Some(about(report, original))
}

/// Parses a mail to a mailbox for complaints that has the mail complained of attached, and nothing
/// machine-readable: readers forward spam so.
pub fn attached(raw: &[u8]) -> Option<Complaint> {
    let mail = ParsedMail::read(raw);
    let mut parts = mail.parts().iter();
    let part = parts.find(|part| part.parent == Some(0) && is_original(&part.media_type))?;
    Some(Complaint {
        feedback_type: fields::ABUSE.to_owned(),
        original: Original::of_mail(&part.bytes()),
        ..Complaint::default()
    })
}

/// Media types of machine-readable reports (RFC 3464, RFC 6533, RFC 5965).
fn is_machine(media_type: &str) -> bool {
    matches!(
        media_type,
        "message/delivery-status" | "message/global-delivery-status" | "message/feedback-report"
    )
}

/// Media types of a returned mail, or of its header (RFC 6522, RFC 6533).
fn is_original(media_type: &str) -> bool {
    matches!(
        media_type,
        "message/rfc822"
            | "message/global"
            | "text/rfc822-headers"
            | "message/rfc822-headers"
            | "message/global-headers"
    )
}

fn machine(media_type: &str, body: &[u8]) -> MailReport {
    match media_type {
        "message/feedback-report" => MailReport::Complaint(fields::complaint(body)),
        _ => MailReport::Delivery(fields::delivery(body)),
    }
}

/// The first report, unless only the next one has content.
fn better(first: Option<MailReport>, next: MailReport) -> Option<MailReport> {
    match first {
        Some(first) if !first.is_empty() || next.is_empty() => Some(first),
        _ => Some(next),
    }
}

/// The report with the mail it returns.
fn about(mut report: MailReport, original: Original) -> MailReport {
    match &mut report {
        MailReport::Delivery(delivery) => delivery.original = original,
        MailReport::Complaint(complaint) => complaint.original = original,
    }
    report
}

/// The subject of a mail, decoded to one line; empty without one.
pub fn subject(raw: &[u8]) -> String {
    let [subject] = Entity::read(raw).fields().pick(["Subject"]);
    text(subject.unwrap_or_default(), WordContext::Text, "")
}

/// Whether the mail is machine-generated, so that an automatic answer could loop for ever (RFC
/// 3834, section 2): it has no return path, declares it, or was sent to a list.
pub fn is_auto_reply(raw: &[u8], envelope_from: &str) -> bool {
    let sender = envelope_from.trim_matches(['<', '>', ' ']);
    if sender.is_empty() || sender.to_ascii_lowercase().starts_with("mailer-daemon@") {
        return true;
    }
    let fields = Entity::read(raw).fields();
    let [submitted, precedence, kind] = fields
        .pick(["Auto-Submitted", "Precedence", "Content-Type"])
        .map(word);
    let marks = fields.pick([
        "X-Autoreply",
        "X-Autorespond",
        "X-Auto-Reply-From",
        "List-Id",
    ]);
    let bulk = ["bulk", "junk", "list", "auto_reply", "auto-reply"];
    submitted.is_some_and(|word| word != "no")
        || precedence.is_some_and(|word| bulk.contains(&word.as_str()))
        || kind.is_some_and(|kind| kind == "multipart/report")
        || marks.iter().any(Option::is_some)
}

/// The first word of a value, in lower case.
fn word(value: Option<&[u8]>) -> Option<String> {
    let value = Parameterised::read(value?).value;
    value.split(['(', ' ']).next().map(str::to_owned)
}
