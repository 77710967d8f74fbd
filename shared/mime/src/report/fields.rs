//! The machine-readable parts of reports: of a delivery (RFC 3464, section 2), and of a complaint
//! (RFC 5965, section 3), or the mark of the service that reports it.

use super::{Complaint, MOST, Original};
use crate::parse::{HeaderFields, WordContext, text};

/// A delivery report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delivery {
    /// The reporting server.
    pub reporting_mta: Option<String>,
    pub recipients: Vec<ReportedRecipient>,
    pub original: Original,
}

impl Delivery {
    /// The recipients without a diagnostic whose mail did not arrive.
    pub(super) fn silent(&mut self) -> impl Iterator<Item = &mut ReportedRecipient> {
        self.recipients.iter_mut().filter(|recipient| {
            let lost = matches!(
                recipient.action,
                ReportAction::Failed | ReportAction::Delayed
            );
            lost && recipient.diagnostic.is_none()
        })
    }
}

/// The result of the mail for one recipient.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedRecipient {
    /// The address of the last delivery attempt.
    pub address: String,
    /// The sender's original address, where forwarding has changed it.
    pub original: Option<String>,
    pub action: ReportAction,
    /// `5.1.1` (RFC 3463).
    pub status: Option<String>,
    /// The other server's reply, on one line: `550 5.1.1 User unknown`.
    pub diagnostic: Option<String>,
    pub remote_mta: Option<String>,
}

/// RFC 3464, section 2.3.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportAction {
    Failed,
    Delayed,
    Delivered,
    Relayed,
    Expanded,
}

impl ReportAction {
    fn read(text: &str) -> Option<Self> {
        let word = text.split([' ', '(', ';']).next().unwrap_or_default();
        match word.to_ascii_lowercase().as_str() {
            // Old gateways write the other words.
            "failed" | "failure" | "fail" | "error" | "undeliverable" | "expired" => {
                Some(Self::Failed)
            }
            "delayed" | "delay" | "deferred" => Some(Self::Delayed),
            // Of an address that was only probed.
            "delivered" | "deliverable" => Some(Self::Delivered),
            "relayed" => Some(Self::Relayed),
            "expanded" => Some(Self::Expanded),
            _ => None,
        }
    }

    /// What a group without the field says by its status (RFC 3463, section 3.1): one that is to be
    /// retried has not failed.
    fn of_status(status: &str) -> Option<Self> {
        match status.split('.').next() {
            Some("5") => Some(Self::Failed),
            Some("4") => Some(Self::Delayed),
            Some("2") => Some(Self::Delivered),
            _ => None,
        }
    }
}

/// Parses the groups of fields: the first is about the report, each other about one recipient. Some
/// servers omit the empty line between them.
pub(super) fn delivery(body: &[u8]) -> Delivery {
    let mut delivery = Delivery::default();
    for group in groups(body).take(MOST + 1) {
        let [
            reporting,
            original,
            last,
            actual,
            action,
            code,
            diagnostic,
            remote,
        ] = HeaderFields::new(group)
            .pick([
                "Reporting-MTA",
                "Original-Recipient",
                "Final-Recipient",
                "X-Actual-Recipient",
                "Action",
                "Status",
                "Diagnostic-Code",
                "Remote-MTA",
            ])
            .map(|value| value.map(|value| text(value, WordContext::Text, "")));
        let reporting = reporting.as_deref().map(typed);
        delivery.reporting_mta = delivery.reporting_mta.or(reporting);
        let original = original.map(|who| address(&typed(&who)));
        // Sendmail names the address that a forward led to in a field of its own.
        let last = last.or(actual).map(|who| address(&typed(&who)));
        let code = code.as_deref().and_then(status);
        let action = match &action {
            Some(word) => ReportAction::read(word),
            None => code.as_deref().and_then(ReportAction::of_status),
        };
        let (Some(address), Some(action)) = (last.or_else(|| original.clone()), action) else {
            continue;
        };
        delivery.recipients.push(ReportedRecipient {
            address,
            original,
            action,
            status: code,
            diagnostic: diagnostic
                .as_deref()
                .map(typed)
                .filter(|said| !said.is_empty()),
            remote_mta: remote.as_deref().map(typed),
        });
    }
    delivery
}

fn groups(body: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = body;
    std::iter::from_fn(move || {
        while let Some(end) = memchr::memchr(b'\n', rest) {
            if !rest.get(..end)?.trim_ascii().is_empty() {
                break;
            }
            rest = rest.get(end + 1..)?;
        }
        // Trimmed at its start only: trimming the end would rescan the blank rest of the body for
        // each group.
        if rest.trim_ascii_start().is_empty() {
            return None;
        }
        let mut end = rest.len();
        let mut from = 0;
        for at in memchr::memchr_iter(b'\n', rest) {
            if rest.get(from..at)?.trim_ascii().is_empty() {
                end = from;
                break;
            }
            from = at + 1;
        }
        let (group, next) = rest.split_at_checked(end)?;
        rest = next;
        Some(group)
    })
}

/// `rfc822; ann@example.com` without its type.
fn typed(value: &str) -> String {
    let (kind, text) = value.split_once(';').unwrap_or(("", value));
    let kind = kind.trim();
    // A diagnostic without a type may hold a semicolon of its own.
    let is_type = kind.starts_with(|c: char| c.is_ascii_alphabetic())
        && kind.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    (if is_type { text } else { value }).trim().to_owned()
}

pub(super) fn address(text: &str) -> String {
    let text = text.trim();
    let inner = text
        .rsplit_once('<')
        .and_then(|(_, tail)| tail.split_once('>'));
    inner.map_or(text, |(address, _)| address).to_owned()
}

/// `class.subject.detail`, at the start.
fn status(text: &str) -> Option<String> {
    let word = text.trim_start().split([' ', '(', ';']).next()?;
    let numbers: Vec<_> = word.split('.').collect();
    let number = |n: &&str| (1..=3).contains(&n.len()) && n.bytes().all(|b| b.is_ascii_digit());
    (numbers.len() == 3 && numbers.iter().all(number)).then(|| word.to_owned())
}

/// The feedback type of a complaint that states none.
pub(super) const ABUSE: &str = "abuse";

/// The field that Outlook.com's Junk Mail Reporting Program adds to the mail it returns: its reports
/// are a `multipart/mixed` with that mail and nothing else.
const MARK: &str = "X-HmXmrOriginalRecipient";

/// Parses the fields of an abuse report.
pub(super) fn complaint(body: &[u8]) -> Complaint {
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
            .map(|(_, value)| address(&one(value)))
            .collect(),
        mail_from: from.map(|from| address(&one(from))),
        source_ip: ip.map(one),
        user_agent: agent.map(one),
        original: Original::default(),
    }
}

/// The complaint about a returned mail with the mark of a reporting service.
pub(super) fn marked_complaint(original: &Original) -> Option<Complaint> {
    let recipient = original.header(MARK)?;
    Some(Complaint {
        feedback_type: ABUSE.to_owned(),
        recipients: vec![address(recipient)],
        source_ip: original.header("X-Reporter-IP").map(str::to_owned),
        ..Complaint::default()
    })
}
