//! Says what a refusal or a bounce means, and by which row of the mailer's table.
//!
//! It needs no table and no folder: what it says is what delivery and feedback would do.

use std::io::Read as _;
use std::path::Path;

use clap::ValueEnum;
use posthaste_mailer::{
    Cause, EnhancedStatus, Fate, RefusalMeaning, RefusalStage, SmtpStage, meaning,
};
use posthaste_model::BounceType;
use posthaste_store::SuppressionList;
use serde_json::json;

use crate::{CommandError, Report};

/// Octets of a bounce that are read.
const LONGEST: u64 = 30 * 1024 * 1024;

/// What to explain.
#[derive(Debug, clap::Args)]
pub struct Explain {
    /// The reply of a mail server, such as "550 5.1.1 User unknown", or a file with a bounce mail
    #[arg(value_name = "REPLY|FILE", required = true, num_args = 1..)]
    what: Vec<String>,
    /// What the server had been sent when it replied
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = At::Rcpt)]
    at: At,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

/// When a server replied.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum At {
    /// Nothing yet, or the greeting
    Connect,
    /// The sender
    Mail,
    /// The recipient
    Rcpt,
    /// The message
    Data,
}

impl At {
    fn stage(self) -> SmtpStage {
        match self {
            Self::Connect => SmtpStage::Connect,
            Self::Mail => SmtpStage::Mail,
            Self::Rcpt => SmtpStage::Rcpt,
            Self::Data => SmtpStage::Data,
        }
    }
}

/// What is said of a reply or of a bounce.
struct Explanation {
    kind: &'static str,
    note: Option<&'static str>,
    class: Option<&'static str>,
    list: Option<SuppressionList>,
    row: Option<RefusalMeaning>,
    status: Option<String>,
    response: Option<String>,
    /// The recipient of a bounce.
    recipient: Option<String>,
}

impl Explain {
    /// The answer to print.
    ///
    /// # Errors
    /// When it is neither a reply nor a file, or the file is no bounce.
    pub fn run(&self) -> Result<String, CommandError> {
        let what = self.what.join(" ");
        let explained = match of_reply(&what, self.at.stage()) {
            Some(explained) => explained,
            None => of_file(Path::new(&what))?,
        };
        Ok(explained.report().print(self.json))
    }
}

fn of_reply(reply: &str, stage: SmtpStage) -> Option<Explanation> {
    let explained = posthaste_mailer::explain(reply, stage)?;
    let row = explained.meaning;
    let status = explained.status.map(|status| status.to_string());
    let (kind, list) = match explained.fate {
        Fate::Accepted => ("accepted", None),
        Fate::Deferred(_) => ("deferred", None),
        Fate::Refused(kind) => {
            let class = Some(row.class.as_str());
            let list = SuppressionList::of_bounce(kind, status.as_deref(), class);
            (word(kind), list)
        }
    };
    let note = match explained.fate {
        Fate::Deferred(Cause::Relay | Cause::Sender) => {
            Some("the relay refuses the service, not the recipient")
        }
        Fate::Deferred(Cause::Mail) => Some("the relay breaks off at this mail"),
        Fate::Accepted | Fate::Deferred(Cause::Recipient) | Fate::Refused(_) => None,
    };
    let refused = explained.fate != Fate::Accepted;
    Some(Explanation {
        kind,
        note,
        class: refused.then(|| row.class.as_str()),
        list,
        row: refused.then_some(row),
        status,
        response: Some(explained.response),
        recipient: None,
    })
}

fn of_file(path: &Path) -> Result<Explanation, CommandError> {
    let name = path.display();
    let open = std::fs::File::open(path).map_err(|error| {
        CommandError::NotFound(format!(
            "{name} is no reply, which begins with a code such as 550, and no file: {error}"
        ))
    })?;
    let mut raw = Vec::new();
    open.take(LONGEST)
        .read_to_end(&mut raw)
        .map_err(|error| CommandError::Refused(format!("{name} cannot be read: {error}")))?;
    let read = ses_feedback::explain(&raw).ok_or_else(|| {
        CommandError::Refused(format!(
            "{name} is no bounce: it reports no failure, delay or complaint"
        ))
    })?;
    let list = match read.kind {
        "spamreport" => Some(SuppressionList::SpamReports),
        "unsubscribe" => Some(SuppressionList::Unsubscribes),
        other => kind_of(other)
            .and_then(|kind| SuppressionList::of_bounce(kind, read.status.as_deref(), read.class)),
    };
    Ok(Explanation {
        kind: read.kind,
        note: None,
        class: read.class,
        list,
        row: row_of(&read),
        status: read.status,
        response: read.reason,
        recipient: Some(read.recipient).filter(|address| !address.is_empty()),
    })
}

/// The row that decided about a bounce: by the server's words with the code of the report, or
/// without it, where the two disagree.
fn row_of(read: &ses_feedback::ExplainedMail) -> Option<RefusalMeaning> {
    let reason = read.reason.as_deref()?;
    let code = reason.get(..3).and_then(|digits| digits.parse().ok());
    let status: Option<EnhancedStatus> = read.status.as_deref().and_then(|s| s.parse().ok());
    let by = |status| meaning(code.unwrap_or(550), status, reason, RefusalStage::Data);
    let is_it = |one: &RefusalMeaning| {
        (Some(word(one.kind)), Some(one.class.as_str())) == (Some(read.kind), read.class)
    };
    [status, None].map(by).into_iter().find(is_it)
}

fn word(kind: BounceType) -> &'static str {
    match kind {
        BounceType::Bounce => "bounce",
        BounceType::Blocked => "blocked",
        BounceType::Expired => "expired",
    }
}

fn kind_of(name: &str) -> Option<BounceType> {
    let all = [BounceType::Bounce, BounceType::Blocked, BounceType::Expired];
    all.into_iter().find(|kind| word(*kind) == name)
}

impl Explanation {
    fn report(self) -> Report {
        let suppressed = self.list.is_some_and(SuppressionList::keeps_back);
        let list = self.list.map(SuppressionList::name);
        let row = self.row.map(|row| row.row);
        let phrase = self.row.and_then(|row| row.phrase);
        let json = json!({
            "type": self.kind,
            "note": self.note,
            "classification": self.class,
            "suppressed": suppressed,
            "list": list,
            "row": row,
            "phrase": phrase,
            "status": self.status,
            "response": self.response,
            "recipient": self.recipient,
        });
        let yes_or_no = if suppressed { "yes" } else { "no" };
        let by = match (row, phrase) {
            (Some(row), Some(phrase)) => Some(format!("{row}: \"{phrase}\"")),
            (row, _) => row.map(str::to_owned),
        };
        let lines = [
            ("type", Some(self.kind.to_owned())),
            ("note", self.note.map(str::to_owned)),
            ("class", self.class.map(str::to_owned)),
            ("suppressed", Some(yes_or_no.to_owned())),
            ("list", list),
            ("row", by),
            ("status", self.status),
            ("recipient", self.recipient),
            ("response", self.response),
        ];
        let lines = lines
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)));
        let lines: Vec<_> = lines
            .map(|(name, value)| format!("{name:<10}  {value}"))
            .collect();
        Report::new(lines.join("\n"), json)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_is_told_with_its_list_and_its_row() {
        for (reply, stage, kind, list, row) in [
            (
                "550 5.1.1 User unknown",
                SmtpStage::Rcpt,
                "bounce",
                Some(SuppressionList::Bounces),
                Some("recipient-unknown"),
            ),
            (
                "550 5.1.2 No such domain",
                SmtpStage::Rcpt,
                "bounce",
                Some(SuppressionList::InvalidEmails),
                Some("recipient-domain"),
            ),
            (
                "550 5.7.1 spam",
                SmtpStage::Data,
                "blocked",
                Some(SuppressionList::Blocks),
                Some("content"),
            ),
            (
                "451 4.7.1 greylisted",
                SmtpStage::Rcpt,
                "deferred",
                None,
                Some("reputation"),
            ),
            ("250 ok", SmtpStage::Data, "accepted", None, None),
        ] {
            let told = of_reply(reply, stage).unwrap();
            let named = told.row.map(|row| row.row);
            assert_eq!((told.kind, told.list, named), (kind, list, row), "{reply}");
        }
        let told = of_reply("550 who are you", SmtpStage::Mail).unwrap();
        assert_eq!((told.kind, told.note.is_some()), ("deferred", true));
    }
}
