//! The list of the page: a line for each copy, or for each request.

use askama::Template;

use crate::ApiAddress;
use crate::copies::DeliveryStatus;
use crate::params::{PAGE, Params};
use crate::rows::{self, ListRow, ListSlice, RequestRow, Totals};
use crate::schedule::{Wait, WaitingParts};
use crate::store::RequestSlice;

/// The list, and what leads from it to others.
#[derive(Template)]
#[template(path = "list.html")]
pub(crate) struct MailList {
    /// Of the page: the subject of the open message, if there is one.
    pub title: String,
    pub base: String,
    pub query: String,
    pub start: usize,
    pub total: usize,
    /// How many lines the whole list has, and how many mails of them are unread.
    matching: usize,
    unread: usize,
    /// What a line is, for their number.
    noun: &'static str,
    /// How many messages the last deletion removed, if they can be had back.
    pub deleted: usize,
    by_request: bool,
    /// The request that is open.
    request: String,
    /// The same list in the other form.
    other: String,
    /// Which lines are shown, `51–100`; empty when there are none.
    range: String,
    newer: Option<String>,
    older: Option<String>,
    /// Back to the list from a message.
    pub home: String,
    rows: Vec<ListLine>,
}

/// One line of the list.
struct ListLine {
    id: String,
    href: String,
    current: bool,
    unread: bool,
    from: String,
    to: String,
    more: usize,
    subject: String,
    /// The beginning of the text, or the reason of a copy without one.
    snippet: String,
    at: String,
    size: String,
    files: usize,
    pills: Vec<Pill>,
    /// Of a request: whether its copies follow.
    open: Option<bool>,
    /// Whether it is a copy below the line of its request.
    below: bool,
}

/// A state, coloured; of a request with the number of its copies in it.
pub(crate) struct Pill {
    pub word: String,
    pub tone: &'static str,
    /// When scheduled mail leaves; empty for any other.
    pub at: String,
}

/// The fields of a form that keep the reader's place in the list.
#[derive(Template)]
#[template(
    ext = "html",
    source = r#"<input type="hidden" name="q" value="{{ query }}"><input type="hidden" name="start" value="{{ start }}">{% if by_request %}<input type="hidden" name="by" value="request"><input type="hidden" name="request" value="{{ request }}">{% endif %}"#
)]
pub(crate) struct PlaceFields<'a> {
    query: &'a str,
    start: usize,
    by_request: bool,
    request: &'a str,
}

impl MailList {
    pub(crate) fn place_fields(&self) -> PlaceFields<'_> {
        PlaceFields {
            query: &self.query,
            start: self.start,
            by_request: self.by_request,
            request: &self.request,
        }
    }

    pub(crate) fn of_copies(params: &Params, slice: &ListSlice, waiting: &WaitingParts) -> Self {
        let rows = slice.rows.iter();
        let rows = rows.map(|row| ListLine::copy(row, params, waiting));
        Self::new(
            params,
            slice.totals.total,
            slice.matching,
            slice.rows.len(),
            rows.collect(),
        )
    }

    /// `copies` are those of the open request.
    pub(crate) fn of_requests(
        params: &Params,
        slice: &RequestSlice,
        copies: &[ListRow],
        waiting: &WaitingParts,
    ) -> Self {
        let mut rows = Vec::new();
        for request in &slice.rows {
            let line = ListLine::request(request, params, waiting);
            let is_open = line.open == Some(true);
            rows.push(line);
            if is_open {
                let below = copies.iter().map(|copy| ListLine {
                    below: true,
                    ..ListLine::copy(copy, params, waiting)
                });
                rows.extend(below);
            }
        }
        let matching = Totals {
            total: slice.requests,
            ..slice.totals
        };
        Self::new(params, slice.totals.total, matching, slice.rows.len(), rows)
    }

    fn new(
        params: &Params,
        total: usize,
        matching: Totals,
        shown: usize,
        rows: Vec<ListLine>,
    ) -> Self {
        let start = params.start;
        let Totals {
            total: matching,
            unread,
        } = matching;
        let link = |start: usize| params.link("/", start, &[]);
        let other = Params {
            by_request: !params.by_request,
            request: String::new(),
            ..params.clone()
        };
        let mut list = Self {
            title: if unread > 0 {
                format!("({unread}) Mailbox")
            } else {
                "Mailbox".to_owned()
            },
            base: params.base.clone(),
            query: params.query.clone(),
            start,
            total,
            unread,
            matching,
            noun: match (params.by_request, matching) {
                (true, 1) => "request",
                (true, _) => "requests",
                (false, 1) => "message",
                (false, _) => "messages",
            },
            deleted: 0,
            by_request: params.by_request,
            request: params.request.clone(),
            other: other.link("/", 0, &[]),
            range: match shown {
                0 => String::new(),
                shown => format!("{}–{}", start + 1, start + shown),
            },
            newer: (start > 0).then(|| link(start.saturating_sub(PAGE))),
            older: (start + shown < matching && shown > 0).then(|| link(start + PAGE)),
            home: link(start),
            rows,
        };
        list.mark(&params.open);
        list
    }

    /// Marks the message that is open, whose subject is the title of the page.
    pub(crate) fn choose(&mut self, id: &str, subject: &str) {
        subject.clone_into(&mut self.title);
        self.mark(id);
    }

    fn mark(&mut self, id: &str) {
        for row in &mut self.rows {
            row.current = row.id == id && row.open.is_none();
        }
    }
}

impl ListLine {
    fn copy(row: &ListRow, params: &Params, waiting: &WaitingParts) -> Self {
        let mail = &row.summary;
        let is_delivered = row.status == DeliveryStatus::Delivered && row.is_recorded;
        Self {
            id: mail.id.clone(),
            href: params.link(&format!("/message/{}", mail.id), params.start, &[]),
            current: false,
            unread: row.is_recorded && !mail.read,
            from: mail.from.short().to_owned(),
            to: recipient(row),
            more: row.envelope.to.len().saturating_sub(1),
            subject: mail.subject.clone(),
            snippet: if is_delivered || row.reason.is_empty() {
                mail.snippet.clone()
            } else {
                row.reason.clone()
            },
            at: mail.created.clone(),
            size: if row.is_recorded {
                rows::size(mail.size)
            } else {
                String::new()
            },
            files: mail.attachments,
            pills: if is_delivered {
                Vec::new()
            } else {
                vec![Pill::of(row, waiting)]
            },
            open: None,
            below: false,
        }
    }

    /// The line of a request to several recipients; to one, it is that of its copy.
    fn request(row: &RequestRow, params: &Params, waiting: &WaitingParts) -> Self {
        let line = Self::copy(&row.first, params, waiting);
        let copies: usize = row.states.iter().map(|(_, copies)| copies).sum();
        let Some(request) = row.first.request.as_ref().filter(|_| copies > 1) else {
            return line;
        };
        let is_open = params.request == *request;
        let target = Params {
            request: if is_open {
                String::new()
            } else {
                request.clone()
            },
            ..params.clone()
        };
        let pills = row.states.iter().map(|(status, copies)| Pill {
            word: format!("{copies} {}", status.word()),
            tone: status.tone(),
            at: String::new(),
        });
        Self {
            href: target.link("/", params.start, &[]),
            unread: false,
            more: copies - 1,
            snippet: String::new(),
            size: String::new(),
            pills: pills.collect(),
            open: Some(is_open),
            ..line
        }
    }
}

impl Pill {
    pub(crate) fn of(row: &ListRow, waiting: &WaitingParts) -> Self {
        match Wait::of(row, waiting) {
            Some(wait) => Self {
                word: wait.word.to_owned(),
                tone: row.status.tone(),
                at: if wait.can_change {
                    wait.at
                } else {
                    String::new()
                },
            },
            None => Self {
                word: row.status.word().to_owned(),
                tone: row.status.tone(),
                at: String::new(),
            },
        }
    }
}

/// The recipient of this copy: every recipient gets one, and the headers are the same in all.
fn recipient(row: &ListRow) -> String {
    let mail = &row.summary;
    match row.envelope.to.first() {
        Some(to) => to.clone(),
        None => mail.to.first().map(ApiAddress::shown).unwrap_or_default(),
    }
}
