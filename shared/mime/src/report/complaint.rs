//! Complaints: abuse reports (RFC 5965, section 3), and mails that return what is complained of with
//! a mark of the reporting service.

use super::{Complaint, MOST, Original, status};
use crate::parse::{HeaderFields, WordContext, text};

/// The feedback type of a complaint that states none.
pub(super) const ABUSE: &str = "abuse";

/// The field that Outlook.com's Junk Mail Reporting Program adds to the mail it returns: its reports
/// are a `multipart/mixed` with that mail and nothing else.
const MARK: &str = "X-HmXmrOriginalRecipient";

/// Parses the fields of an abuse report.
pub(super) fn read(body: &[u8]) -> Complaint {
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

/// The complaint about a returned mail with the mark of a reporting service.
pub(super) fn marked(original: &Original) -> Option<Complaint> {
    let recipient = original.header(MARK)?;
    Some(Complaint {
        feedback_type: ABUSE.to_owned(),
        recipients: vec![status::address(recipient)],
        source_ip: original.header("X-Reporter-IP").map(str::to_owned),
        ..Complaint::default()
    })
}
