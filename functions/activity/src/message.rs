//! `GET /v3/messages/{msg_id}`: the events of one copy (API facts, email activity).

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use posthaste_http::{Caller, PathParams, Rejection};
use posthaste_model::{Event, EventKind, MessageId, Problem};
use posthaste_store::{CopyState as Standing, Recipient, Visit, VisitKind};
use serde::Serialize;

use crate::App;

/// Every field is always there (API facts, appendix A): clients read them into fixed types.
#[derive(Serialize)]
pub(crate) struct MessageDetail {
    from_email: String,
    msg_id: String,
    subject: String,
    to_email: String,
    status: &'static str,
    /// Empty without a template.
    template_id: String,
    /// 0 without a group.
    asm_group_id: i64,
    /// Empty: there are no teammates here.
    teammate: &'static str,
    /// Empty when no key sent it, as with a notice of the service.
    api_key_id: String,
    opens_count: usize,
    clicks_count: usize,
    events: Vec<EventDetail>,
}

/// One event, in the words of the activity feed.
#[derive(Serialize)]
struct EventDetail {
    event_name: &'static str,
    processed: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attempt_num: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
}

/// One copy, by its `sg_message_id`, or by the `X-Message-Id` of a mail to one recipient.
pub(crate) async fn one(
    State(app): State<App>,
    caller: Caller,
    PathParams(id): PathParams<String>,
) -> Result<Json<MessageDetail>, Rejection> {
    let missing = || {
        let problem = Problem::on("message_id", "not found");
        Rejection::all(StatusCode::NOT_FOUND, vec![problem])
    };
    let (message, recipient) = read(&id).ok_or_else(missing)?;
    let row = app
        .store
        .recipient(caller.id(), &message, recipient)
        .await?;
    let row = row.ok_or_else(missing)?;
    Ok(Json(MessageDetail::of(&row, &message, recipient)))
}

/// The message and the position of the recipient; the first one when the id names none.
fn read(id: &str) -> Option<(MessageId, u32)> {
    let mut parts = id.split('.');
    let message = MessageId::parse(parts.next()?).ok()?;
    let recipient = match parts.next() {
        None => 0,
        Some("posthaste-0") => parts.next()?.parse().ok()?,
        Some(_) => return None,
    };
    Some((message, recipient))
}

impl MessageDetail {
    fn of(row: &Recipient, message: &MessageId, recipient: u32) -> Self {
        let events = row.events();
        let (opens, clicks) = (row.visits(VisitKind::Open), row.visits(VisitKind::Click));
        let visits = opens
            .iter()
            .map(|visit| ("opened", visit))
            .chain(clicks.iter().map(|visit| ("clicked", visit)));
        let visits = visits.map(|(name, visit)| (visit.at, EventDetail::visit(name, visit)));
        let mut told: Vec<_> = events
            .iter()
            .map(|event| (event.at, EventDetail::of(event)))
            .chain(visits)
            .collect();
        // Events of the same second stay in the order they were written.
        told.sort_by_key(|(at, _)| *at);
        Self {
            from_email: row.from.clone(),
            msg_id: message.of_copy(recipient),
            subject: row.subject.clone(),
            to_email: row.email.clone(),
            status: match row.state {
                Standing::Claimed | Standing::Deferred | Standing::Handed => "processed",
                Standing::Delivered => "delivered",
                Standing::Bounced | Standing::Dropped => "not_delivered",
            },
            template_id: events
                .iter()
                .find_map(|event| event.template_id.clone())
                .unwrap_or_default(),
            asm_group_id: events
                .iter()
                .find_map(|event| event.asm_group_id)
                .unwrap_or_default(),
            teammate: "",
            api_key_id: events
                .iter()
                .find_map(|event| event.key.as_ref())
                .map(ToString::to_string)
                .unwrap_or_default(),
            opens_count: opens.len(),
            clicks_count: clicks.len(),
            events: told.into_iter().map(|(_, told)| told).collect(),
        }
    }
}

impl EventDetail {
    fn visit(event_name: &'static str, visit: &Visit) -> Self {
        Self {
            event_name,
            processed: visit.at.iso(),
            reason: None,
            attempt_num: None,
            url: visit.url.clone(),
        }
    }

    fn of(event: &Event) -> Self {
        Self {
            event_name: match event.kind {
                EventKind::Bounce => "bounced",
                EventKind::Open => "opened",
                EventKind::Click => "clicked",
                other @ (EventKind::Processed
                | EventKind::Delivered
                | EventKind::Deferred
                | EventKind::Dropped
                | EventKind::SpamReport
                | EventKind::Unsubscribe
                | EventKind::GroupUnsubscribe
                | EventKind::GroupResubscribe
                | EventKind::AccountStatusChange) => other.flag(),
            },
            processed: event.at.iso(),
            reason: event.reason.clone().or_else(|| event.response.clone()),
            attempt_num: event.attempt,
            url: event.url.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ids_of_a_message_are_read_and_nothing_else() {
        let id = "A".repeat(22);
        let read = |tail: &str| read(&format!("{id}{tail}")).map(|(_, n)| n);
        assert_eq!(read(""), Some(0));
        assert_eq!(read(".posthaste-0.7.0"), Some(7));
        for odd in [
            ".other.7.0",
            ".posthaste-0.x.0",
            ".posthaste-0",
            ".posthaste-0.-1.0",
        ] {
            assert_eq!(read(odd), None, "{odd}");
        }
    }
}
