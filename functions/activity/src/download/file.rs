//! The file of a download: a line for each event of each mail, the latest accepted mail first, with
//! the columns of SendGrid's export, so that what reads that file reads this one.

use std::collections::BTreeMap;

use posthaste_http::Rejection;
use posthaste_model::{AccountId, csv_cell};
use posthaste_store::Sought;

use crate::App;
use crate::look_up::{EXAMINED, KnownNames, matching, with_copies};
use crate::mail::FoundMail;
use crate::message::{EventDetail, MessageDetail};
use crate::query::Query;

/// The columns. SendGrid documents none; these are the ones that a published importer of its file
/// lists. What does not exist here (logins by user name, campaigns) is empty.
const COLUMNS: [&str; 28] = [
    "processed",
    "message_id",
    "event",
    "api_key_id",
    "recv_message_id",
    "credential_id",
    "subject",
    "from",
    "email",
    "asm_group_id",
    "template_id",
    "originating_ip",
    "reason",
    "outbound_ip",
    "outbound_ip_type",
    "mx",
    "url",
    "attempt",
    "user_agent",
    "type",
    "is_unique",
    "username",
    "categories",
    "marketing_campaign_id",
    "marketing_campaign_name",
    "marketing_campaign_split_id",
    "marketing_campaign_version",
    "unique_args",
];

/// The most bytes of a part, as Lambda carries it: a function answers with 6 MB, in which its text
/// is a string of JSON.
const LARGEST: usize = 5_000_000;

/// Mails read at a time.
const LOT: usize = 100;

/// A part of the file.
pub(crate) struct CsvPart {
    /// With the names of the columns in its first line.
    pub(crate) text: String,
    /// The place of its last mail, if there may be mails behind it.
    pub(crate) next: Option<String>,
}

/// The part behind the place `after`: of all mails that match, as many as fit, out of as many as one
/// search examines.
pub(crate) async fn write(
    app: &App,
    account: &AccountId,
    query: &Query,
    mut after: Option<String>,
) -> Result<CsvPart, Rejection> {
    let (store, until, since) = (&app.store, query.until(), query.since());
    let names = KnownNames::of(app, account, query).await?;
    let mut part = PartWriter::new(LARGEST);
    let mut examined = 0;
    while examined < EXAMINED {
        let Sought { rows, next } = match query.recipient() {
            Some(to) => store.seek_to((account, to), until, after, LOT).await?,
            None => store.seek(account, until, after, LOT).await?,
        };
        examined += rows.len().max(1);
        let is_past = rows
            .last()
            .zip(since)
            .is_some_and(|(row, since)| row.accepted_at < since);
        let mails = rows.into_iter().map(|row| names.with(row)).collect();
        let mails = if query.needs().copy {
            with_copies(app, account, mails, |_| true).await?
        } else {
            mails
        };
        let mails = matching(mails, query, usize::MAX).await;
        if !add(app, account, &mut part, &mails).await? {
            let next = part.last.take();
            return Ok(part.end(next));
        }
        after = next.filter(|_| !is_past);
        if after.is_none() {
            return Ok(part.end(None));
        }
    }
    Ok(part.end(after))
}

/// Adds the mails with what their rows say; `false` when the part is full.
async fn add(
    app: &App,
    account: &AccountId,
    part: &mut PartWriter,
    mails: &[FoundMail],
) -> Result<bool, Rejection> {
    let which: Vec<_> = mails
        .iter()
        .map(|mail| (&mail.row.message, mail.row.recipient))
        .collect();
    let copies = app.store.copies(account, &which).await?.into_iter();
    let mut copies: BTreeMap<_, _> = copies
        .map(|(message, recipient, copy)| ((message, recipient), copy))
        .collect();
    for mail in mails {
        let (message, recipient) = (&mail.row.message, mail.row.recipient);
        let Some(copy) = copies.remove(&(message.clone(), recipient)) else {
            continue;
        };
        let detail = MessageDetail::of(copy, message, recipient);
        if !part.add(&mail.row.place(), message.as_str(), &detail) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Writes a part until it is full.
struct PartWriter {
    text: String,
    /// The bytes that may still be added.
    left: usize,
    /// The place of the last mail that was added.
    last: Option<String>,
}

impl PartWriter {
    fn new(largest: usize) -> Self {
        let head = COLUMNS.join(",") + "\r\n";
        Self {
            left: largest.saturating_sub(carried(&head)),
            text: head,
            last: None,
        }
    }

    /// Adds the lines of a mail; `false` when they do not fit. Of a mail that no part has room for,
    /// those of its first events are added.
    fn add(&mut self, place: &str, request: &str, mail: &MessageDetail) -> bool {
        let (mut lines, mut size) = (String::new(), 0);
        let mut seen = Vec::new();
        for event in &mail.events {
            let is_first = !seen.contains(&event.event_name);
            seen.push(event.event_name);
            let line = line(request, mail, event, is_first);
            let more = carried(&line);
            if size + more > self.left {
                if self.last.is_some() {
                    return false;
                }
                break;
            }
            size += more;
            lines.push_str(&line);
        }
        self.text.push_str(&lines);
        self.left -= size;
        self.last = Some(place.to_owned());
        true
    }

    fn end(self, next: Option<String>) -> CsvPart {
        CsvPart {
            text: self.text,
            next,
        }
    }
}

/// The bytes that a text takes within a string of JSON.
fn carried(text: &str) -> usize {
    let escaped = |byte: u8| match byte {
        b'"' | b'\\' | b'\r' | b'\n' | b'\t' | 0x08 | 0x0c => 2,
        0..0x20 => 6,
        _ => 1,
    };
    text.bytes().map(escaped).sum()
}

fn line(request: &str, mail: &MessageDetail, event: &EventDetail, is_first: bool) -> String {
    let group = Some(mail.asm_group_id).filter(|id| *id != 0);
    let is_unique = match event.event_name {
        "opened" | "clicked" if is_first => "true",
        "opened" | "clicked" => "false",
        _ => "",
    };
    let cells: [&str; COLUMNS.len()] = [
        &event.processed,
        &mail.msg_id,
        event.event_name,
        &mail.api_key_id,
        request,
        "",
        &mail.subject,
        &mail.from_email,
        &mail.to_email,
        &group.map(|id| id.to_string()).unwrap_or_default(),
        &mail.template_id,
        &mail.originating_ip,
        event.reason.as_deref().unwrap_or_default(),
        &mail.outbound_ip,
        mail.outbound_ip_type,
        event.mx_server,
        event.url.as_deref().unwrap_or_default(),
        &event.attempt_num.map(|n| n.to_string()).unwrap_or_default(),
        &event.http_user_agent,
        event.bounce_type,
        is_unique,
        mail.teammate,
        &serde_json::json!(mail.categories).to_string(),
        "",
        "",
        "",
        "",
        &mail.unique_args,
    ];
    let cells = cells.map(csv_cell);
    cells.join(",") + "\r\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_json_makes_of_a_text_is_counted() {
        let text: String = (0..0x80_u8)
            .map(char::from)
            .chain(['é', '\u{2028}', '😀'])
            .collect();
        let json = serde_json::to_string(&text).unwrap();
        assert_eq!(carried(&text), json.len() - 2);
    }

    fn mail(id: &str, events: usize) -> MessageDetail {
        let event = |_| EventDetail {
            event_name: "opened",
            processed: "2026-11-29T12:00:00Z".to_owned(),
            reason: None,
            attempt_num: None,
            url: None,
            bounce_type: "",
            http_user_agent: String::new(),
            mx_server: "",
        };
        MessageDetail {
            msg_id: id.to_owned(),
            events: (0..events).map(event).collect(),
            ..MessageDetail::default()
        }
    }

    #[test]
    fn a_part_ends_before_the_mail_that_does_not_fit() {
        let one = {
            let mut whole = PartWriter::new(usize::MAX);
            let before = whole.left;
            whole.add("a", "r", &mail("a", 2));
            before - whole.left
        };
        let head = carried(&(COLUMNS.join(",") + "\r\n"));
        let mut part = PartWriter::new(head + 2 * one + 1);
        assert!(part.add("a", "r", &mail("a", 2)) && part.add("b", "r", &mail("b", 2)));
        assert!(!part.add("c", "r", &mail("c", 2)));
        assert_eq!(part.last.as_deref(), Some("b"));
        assert_eq!(part.text.lines().count(), 5);
        assert!(carried(&part.text) <= head + 2 * one + 1);
        // A mail that fits nowhere is cut, so that the next part goes on.
        let mut small = PartWriter::new(head + one - 1);
        assert!(small.add("a", "r", &mail("a", 2)));
        assert_eq!(
            (small.text.lines().count(), small.last.as_deref()),
            (2, Some("a"))
        );
        let of_unique = |n: usize| small.text.lines().nth(n).unwrap().contains(",true,");
        assert!(of_unique(1));
    }

    #[test]
    fn a_line_has_a_cell_for_each_column() {
        let mail = mail("a.0", 1);
        let line = line("a", &mail, &mail.events[0], true);
        assert_eq!(line.matches(',').count(), COLUMNS.len() - 1);
        assert!(line.ends_with("\r\n"));
    }
}
