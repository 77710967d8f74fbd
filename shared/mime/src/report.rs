//! Mails that machines write about mails: delivery reports (RFC 3464), complaints (RFC 5965) and
//! automatic replies (RFC 3834).
//!
//! Anyone can send one. Whether a report is about a mail of ours is for the caller to check, by
//! the address it came to or by the message id it returns.

mod status;

use crate::parse::{Entity, Fields, Parameterised, Parts, Place, decoded, text};

pub use status::{Action, Delivery, Recipient};

/// Parts of a report that are looked at.
const MOST_PARTS: usize = 20;

/// Fields of the returned message that are kept, and recipients of a report.
const MOST: usize = 1_000;

/// What a report says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    Delivery(Delivery),
    Complaint(Complaint),
}

/// An abuse report: a recipient, or someone acting for him, complains about a mail.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Complaint {
    /// `abuse`, `fraud`, `virus`, `not-spam`, …, in lower case.
    pub feedback_type: String,
    /// Who received the mail; often left out or blackened.
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

    fn read(header: Fields<'_>) -> Self {
        let decoded = |(name, value): (&[u8], &[u8])| {
            let name = String::from_utf8_lossy(name).into_owned();
            (name, text(value, Place::Text, ""))
        };
        Self {
            headers: header.iter().take(MOST).map(decoded).collect(),
        }
    }
}

/// Reads a mail as a report; `None` for any other mail.
///
/// The machine-readable part must stand directly in the outermost multipart, so a forwarded
/// bounce is none.
pub fn read(raw: &[u8]) -> Option<Report> {
    let mail = Entity::read(raw);
    let kind = Parameterised::read(mail.fields().get("Content-Type")?);
    if !kind.value.starts_with("multipart/") {
        return None;
    }
    let parts = Parts::read(mail.body, &kind.raw("boundary")?)?;
    let mut report = None;
    let mut original = Original::default();
    for part in parts.take(MOST_PARTS) {
        let part = Entity::read(part);
        let fields = part.fields();
        let kind = Parameterised::read(fields.get("Content-Type").unwrap_or_default());
        let body = || decoded(fields.get("Content-Transfer-Encoding"), part.body);
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
                original = Original::read(Fields::new(Entity::read(&body()).header));
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
    let fields = Fields::new(body);
    let one = |name| fields.get(name).map(|value| text(value, Place::Text, ""));
    Complaint {
        feedback_type: one("Feedback-Type").unwrap_or_default().to_lowercase(),
        recipients: fields
            .all("Original-Rcpt-To")
            .take(MOST)
            .map(|value| status::address(&text(value, Place::Text, "")))
            .collect(),
        mail_from: one("Original-Mail-From").map(|from| status::address(&from)),
        source_ip: one("Source-IP"),
        user_agent: one("User-Agent"),
        original: Original::default(),
    }
}

/// Whether a machine wrote this mail, so that answering it by machine could go round for ever
/// (RFC 3834, section 2): it has no return path, says so itself, or went to a list.
pub fn is_auto_reply(raw: &[u8], envelope_from: &str) -> bool {
    let sender = envelope_from.trim_matches(['<', '>', ' ']);
    if sender.is_empty() || sender.to_ascii_lowercase().starts_with("mailer-daemon@") {
        return true;
    }
    let fields = Entity::read(raw).fields();
    let word = |name: &'static str| {
        let value = fields.get(name).map(Parameterised::read);
        value.map(|v| {
            v.value
                .split(['(', ' '])
                .next()
                .unwrap_or_default()
                .to_owned()
        })
    };
    let submitted = word("Auto-Submitted").is_some_and(|word| word != "no");
    let precedence = word("Precedence").is_some_and(|word| {
        ["bulk", "junk", "list", "auto_reply", "auto-reply"].contains(&word.as_str())
    });
    let report = word("Content-Type").is_some_and(|kind| kind == "multipart/report");
    let marked = [
        "X-Autoreply",
        "X-Autorespond",
        "X-Auto-Reply-From",
        "List-Id",
    ]
    .iter()
    .any(|name| fields.get(name).is_some());
    submitted || precedence || report || marked
}
