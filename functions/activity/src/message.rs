//! `GET /v3/messages/{msg_id}`: the events of one copy (API facts, email activity).

use axum::Json;
use axum::extract::State;
use posthaste_http::{Caller, PathParams, Rejection};
use posthaste_model::{BounceType, Event, MessageId, Problem};
use posthaste_store::{CopyState as Standing, Recipient, Visit, VisitKind};
use serde::Serialize;

use crate::App;
use crate::look_up::waiting_copy;
use crate::mail::{CopyDetails, FoundMail, event_name};

/// The fields that the v3 API documents of a message, and no other (API facts, appendix A). Every
/// field is always there: clients read them into fixed types. Opens and clicks are events here; only
/// the list of messages has their numbers.
///
/// The v3 API has no value for a mail without a group or an event that is no bounce: `asm_group_id`
/// and `bounce_type` are required and never null, from 1 and `soft` or `hard`. Both have the empty
/// value of their type then, as the other fields do.
#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct MessageDetail {
    pub(crate) from_email: String,
    pub(crate) msg_id: String,
    pub(crate) subject: String,
    pub(crate) to_email: String,
    pub(crate) status: &'static str,
    /// Empty without a template.
    pub(crate) template_id: String,
    /// 0 without a group.
    pub(crate) asm_group_id: i64,
    /// Empty: there are no teammates here.
    pub(crate) teammate: &'static str,
    /// Empty when no key sent it, as with a notice of the service.
    pub(crate) api_key_id: String,
    pub(crate) events: Vec<EventDetail>,
    /// The client that sent it; empty when it is not known.
    pub(crate) originating_ip: String,
    pub(crate) categories: Vec<String>,
    /// The custom arguments: the text of a JSON object.
    pub(crate) unique_args: String,
    /// The address that handed it to the receiving side; empty when it is not known.
    pub(crate) outbound_ip: String,
    /// Addresses belong to the relay, which many senders may share.
    pub(crate) outbound_ip_type: &'static str,
}

/// One event, in the words of the activity feed. The fields that may be absent are optional in the
/// v3 API too.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct EventDetail {
    pub(crate) event_name: &'static str,
    pub(crate) processed: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) attempt_num: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) url: Option<String>,
    /// `soft` or `hard`; empty for what is no bounce.
    pub(crate) bounce_type: &'static str,
    /// Empty for what is no open or click.
    pub(crate) http_user_agent: String,
    /// Empty: the relay does not report which server took the mail.
    pub(crate) mx_server: &'static str,
}

/// One copy, by its `sg_message_id`, or by the `X-Message-Id` of a mail to one recipient.
pub(crate) async fn one(
    State(app): State<App>,
    caller: Caller,
    PathParams(id): PathParams<String>,
) -> Result<Json<MessageDetail>, Rejection> {
    let missing = || Rejection::unknown_id([Problem::on("message_id", "not found")]);
    let (message, recipient) = read_id(&id).ok_or_else(missing)?;
    let row = app
        .store
        .recipient(caller.id(), &message, recipient)
        .await?;
    if let Some(row) = row {
        return Ok(Json(MessageDetail::of(row, &message, recipient)));
    }
    let waiting = waiting_copy(&app, caller.id(), &message, recipient).await?;
    let waiting = waiting.ok_or_else(missing)?;
    Ok(Json(MessageDetail::waiting(waiting)))
}

/// The message and the position of the recipient; the first one when the id names none.
pub(crate) fn read_id(id: &str) -> Option<(MessageId, u32)> {
    let (message, recipient) = MessageId::read_copy(id)?;
    Some((message, recipient.unwrap_or(0)))
}

impl MessageDetail {
    /// A scheduled copy, to which nothing has happened yet.
    fn waiting(mail: FoundMail) -> Self {
        let row = mail.row;
        Self {
            msg_id: row.message.of_copy(row.recipient),
            from_email: row.from,
            subject: row.subject,
            to_email: row.to,
            status: row.status.as_str(),
            categories: row.categories,
            ..Self::of_details(mail.copy.unwrap_or_default())
        }
    }

    /// The members that the details of a copy have.
    fn of_details(details: CopyDetails) -> Self {
        Self {
            template_id: details.template_id.unwrap_or_default(),
            asm_group_id: details.group.unwrap_or_default(),
            api_key_id: details.key.map(|key| key.to_string()).unwrap_or_default(),
            originating_ip: details.client_ip.unwrap_or_default(),
            categories: details.categories,
            unique_args: serde_json::json!(details.args.all()).to_string(),
            outbound_ip: details.outbound_ip.unwrap_or_default(),
            outbound_ip_type: "shared",
            ..Self::default()
        }
    }

    pub(crate) fn of(row: Recipient, message: &MessageId, recipient: u32) -> Self {
        let events = row.events();
        let details = CopyDetails::of(&row);
        let (opens, clicks) = (row.visits(VisitKind::Open), row.visits(VisitKind::Click));
        let visits = opens
            .iter()
            .map(|visit| ("opened", visit))
            .chain(clicks.iter().map(|visit| ("clicked", visit)));
        let visits = visits.map(|(name, visit)| (visit.at, EventDetail::visit(name, visit)));
        let mut all: Vec<_> = events
            .iter()
            .map(|event| (event.at, EventDetail::of(event)))
            .chain(visits)
            .collect();
        // Events of the same second stay in the order they were written.
        all.sort_by_key(|(at, _)| *at);
        Self {
            from_email: row.from,
            msg_id: message.of_copy(recipient),
            subject: row.subject,
            to_email: row.email,
            status: match row.state {
                Standing::Claimed | Standing::Deferred | Standing::Handed => "processed",
                Standing::Delivered => "delivered",
                Standing::Bounced | Standing::Dropped => "not_delivered",
            },
            events: all.into_iter().map(|(_, event)| event).collect(),
            ..Self::of_details(details)
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
            bounce_type: "",
            http_user_agent: visit.agent.clone().unwrap_or_default(),
            mx_server: "",
        }
    }

    fn of(event: &Event) -> Self {
        Self {
            event_name: event_name(event.kind),
            processed: event.at.iso(),
            reason: event.reason.clone().or_else(|| event.response.clone()),
            attempt_num: event.attempt,
            url: event.url.clone(),
            bounce_type: match event.bounce_type {
                None => "",
                Some(BounceType::Bounce) => "hard",
                Some(BounceType::Blocked | BounceType::Expired) => "soft",
            },
            http_user_agent: event.useragent.clone().unwrap_or_default(),
            mx_server: "",
        }
    }
}

#[cfg(test)]
mod tests {
    use posthaste_model::{AccountId, EventKind, Timestamp};
    use serde_json::Value;

    use super::*;

    fn event(kind: EventKind) -> Event {
        let account = AccountId::parse("abcdefghij").unwrap();
        Event::new(
            "id".to_owned(),
            account,
            kind,
            Timestamp(0),
            "ann@example.com".to_owned(),
        )
    }

    /// The documented fields of an event, of which the last five are required.
    const FIELDS: [&str; 8] = [
        "reason",
        "attempt_num",
        "url",
        "event_name",
        "processed",
        "bounce_type",
        "http_user_agent",
        "mx_server",
    ];

    #[test]
    fn an_event_has_the_required_fields_and_only_documented_ones() {
        let bare = EventKind::ALL.map(|kind| EventDetail::of(&event(kind)));
        let full = EventKind::ALL.map(|kind| {
            let mut event = event(kind);
            event.reason = Some("550 5.1.1 unknown".to_owned());
            event.response = Some("250 ok".to_owned());
            event.attempt = Some(2);
            event.url = Some("https://example.com/".to_owned());
            event.useragent = Some("Mozilla/5.0".to_owned());
            event.bounce_type = Some(BounceType::Bounce);
            EventDetail::of(&event)
        });
        let visit = EventDetail::visit(
            "opened",
            &Visit {
                at: Timestamp(0),
                id: "id".to_owned(),
                url: None,
                agent: None,
            },
        );
        for (details, want) in [
            (bare.as_slice(), &FIELDS[3..]),
            (full.as_slice(), &FIELDS[..]),
            (std::slice::from_ref(&visit), &FIELDS[3..]),
        ] {
            for detail in details {
                let shown = serde_json::to_value(detail).unwrap();
                let names = shown.as_object().unwrap().keys().map(String::as_str);
                let mut names: Vec<_> = names.collect();
                let mut want = want.to_vec();
                names.sort_unstable();
                want.sort_unstable();
                assert_eq!(names, want, "{}", detail.event_name);
                assert!(!shown.as_object().unwrap().values().any(Value::is_null));
            }
        }
    }

    #[test]
    fn a_bounce_is_hard_or_soft_and_any_other_event_has_no_type() {
        for (how, want) in [
            (Some(BounceType::Bounce), "hard"),
            (Some(BounceType::Blocked), "soft"),
            (Some(BounceType::Expired), "soft"),
            (None, ""),
        ] {
            let mut event = event(EventKind::Bounce);
            event.bounce_type = how;
            assert_eq!(EventDetail::of(&event).bounce_type, want, "{how:?}");
        }
    }

    #[test]
    fn both_ids_of_a_message_are_read_and_nothing_else() {
        let id = "A".repeat(22);
        let read = |tail: &str| read_id(&format!("{id}{tail}")).map(|(_, n)| n);
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
