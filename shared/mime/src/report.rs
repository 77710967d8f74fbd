//! Machine-generated mails about mails: delivery reports (RFC 3464), complaints (RFC 5965) and
//! automatic replies (RFC 3834).
//!
//! Anyone can send one. The caller must check that a report is about a mail of this service, by the
//! address it came to or by the message id it returns.

mod status;

use crate::parse::{
    Entity, HeaderFields, MultipartParts, Parameterised, WordContext, decoded, text,
};

pub use status::{Delivery, Recipient, ReportAction};

/// The most parts of a report that are read.
const MOST_PARTS: usize = 20;

/// The most fields of the returned message, and recipients of a report, that are stored.
const MOST: usize = 1_000;

/// The content of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    Delivery(Delivery),
    Complaint(Complaint),
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

/// Parses a mail as a report; `None` for any other mail.
///
/// The machine-readable part must be directly in the outermost multipart, so a forwarded bounce is
/// not a report.
pub fn read(raw: &[u8]) -> Option<Report> {
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
        match kind.value.as_str() {
            "message/delivery-status" | "message/global-delivery-status" => {
                report = report.or(Some(Report::Delivery(status::read(&body()))));
            }
            "message/feedback-report" => {
                report = report.or(Some(Report::Complaint(complaint(&body()))));
            }
            "message/rfc822"
            | "message/global"
            | "text/rfc822-headers"
            | "message/rfc822-headers"
            | "message/global-headers" => {
                original = Original::read(HeaderFields::new(Entity::read(&body()).header));
            }
            _ => {}
        }
    }
    match report.as_mut()? {
        Report::Delivery(delivery) => delivery.original = original,
        Report::Complaint(complaint) => complaint.original = original,
    }
    report
}

fn complaint(body: &[u8]) -> Complaint {
    let fields = HeaderFields::new(body);
    let one = |value: &[u8]| text(value, WordContext::Text, "");
    let [kind, from, ip, agent] = fields.pick([
        "Feedback-Type",
        "Original-Mail-From",
        "Source-IP",
        "User-Agent",
    ]);
    Complaint {
        feedback_type: kind.map(one).unwrap_or_default().to_lowercase(),
        recipients: fields
            .iter()
            .filter(|(name, _)| name.eq_ignore_ascii_case(b"Original-Rcpt-To"))
            .take(MOST)
            .map(|(_, value)| status::address(&one(value)))
            .collect(),
        mail_from: from.map(|from| status::address(&one(from))),
        source_ip: ip.map(one),
        user_agent: agent.map(one),
        original: Original::default(),
    }
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
