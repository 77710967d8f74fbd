//! How a copy's row stores its events: without what the row's key says, and each after the first
//! only with what differs from the one before.
//!
//! What that saves: the row of a mail with a template, a category and two unique arguments is 623
//! bytes with `processed` and `delivered`, and would be 1,058 with whole events (the test below). The
//! outcome is then written in one unit of 1 KB instead of two: $0.63 for a million mails, and $0.20
//! for each month that the difference is stored and backed up, of $3.99 that a million mails cost
//! (`tests/cost`). A mail without any of these fits one unit either way, and saves storage alone. It
//! also bounds the row: what a sender may add to a mail is stored once, however many events there
//! are.

use aws_sdk_dynamodb::types::AttributeValue;
use posthaste_model::{AccountId, Event, EventKind, MessageId, cut};
use serde::Deserialize as _;
use serde_json::{Map, Value};

use crate::table::largest::REASON;
use crate::table::{StoreError, text};

/// The copy whose row it is.
pub(crate) type CopyId<'a> = (&'a AccountId, &'a MessageId, u32);

type EventMembers = Map<String, Value>;

/// What is appended to a row for events that are written together.
pub(crate) fn list(copy: CopyId<'_>, events: &[Event]) -> Result<AttributeValue, StoreError> {
    let texts = texts(copy, events).map_err(|e| StoreError::Unreadable(e.to_string()))?;
    Ok(AttributeValue::L(texts.into_iter().map(text).collect()))
}

/// Members that are equal in every event of a copy.
const SHARED: [&str; 6] = [
    "v",
    "email",
    "smtp_id",
    "category",
    "custom_args",
    "template_id",
];

/// Every other member that an event of a copy's row may have.
const OWN: [&str; 16] = [
    "id",
    "kind",
    "at",
    "asm_group_id",
    "pool",
    "send_at",
    "key",
    "client_ip",
    "reason",
    "status",
    "response",
    "attempt",
    "ip",
    "tls",
    "bounce_type",
    "bounce_classification",
];

/// The text to store for an event that comes later than others of its copy: what differs from any
/// of them. So it is written without reading the row.
pub(crate) fn later(copy: CopyId<'_>, event: &Event) -> Result<String, StoreError> {
    let text = || -> serde_json::Result<String> {
        let mut members = compress(copy, event)?;
        if members.contains_key("account") {
            return serde_json::to_string(&members);
        }
        members.retain(|name, _| !SHARED.contains(&name.as_str()));
        for name in OWN {
            members.entry(name).or_insert(Value::Null);
        }
        serde_json::to_string(&[members])
    };
    text().map_err(|e| StoreError::Unreadable(e.to_string()))
}

/// The texts to store for events that are written together: an object each; in a list of its own
/// where it is only what differs from the event before.
fn texts(copy: CopyId<'_>, events: &[Event]) -> serde_json::Result<Vec<String>> {
    let mut before: Option<EventMembers> = None;
    let mut texts = Vec::new();
    for event in events {
        let members = compress(copy, event)?;
        texts.push(match &before {
            None => serde_json::to_string(&members)?,
            Some(before) => serde_json::to_string(&[change(before, &members)])?,
        });
        before = Some(members);
    }
    Ok(texts)
}

/// The whole events of stored texts, as JSON, oldest first; one that cannot be read is unchanged.
/// `last` is the last deferral where the row stores it apart, after every other event that is not
/// an end.
pub(crate) fn whole(
    copy: CopyId<'_>,
    email: &str,
    texts: &[String],
    last: Option<&str>,
) -> Vec<String> {
    let mut before = None;
    let mut all = Vec::new();
    // After the deferrals that the list has, or at its end.
    let mut place = None;
    for text in texts {
        let members = read(text, before.as_ref()).or_else(|| alone(text, email));
        if members.as_ref().is_some_and(is_underway) {
            place = Some(all.len() + 1);
        }
        all.push(in_full(copy, members.as_ref(), text));
        before = members;
    }
    if let Some(last) = last {
        let base = texts.iter().find_map(|text| read(text, None));
        let members = read(last, base.as_ref()).or_else(|| alone(last, email));
        let place = place.unwrap_or(all.len());
        all.insert(place, in_full(copy, members.as_ref(), last));
    }
    all
}

/// The whole event as JSON; the text itself where it cannot be read.
fn in_full(copy: CopyId<'_>, members: Option<&EventMembers>, text: &str) -> String {
    match members {
        Some(members) => Value::Object(expand(copy, members.clone())).to_string(),
        None => text.to_owned(),
    }
}

/// Whether the copy was still on its way.
fn is_underway(members: &EventMembers) -> bool {
    let kind = members.get("kind").and_then(Value::as_str);
    matches!(kind, Some("processed" | "deferred"))
}

/// A later event whose earlier ones are lost: it lacks the members they share.
fn alone(text: &str, email: &str) -> Option<EventMembers> {
    let base = EventMembers::from_iter([("email".to_owned(), email.into())]);
    let members = read(text, Some(&base))?;
    let says = |name: &&str| members.contains_key(*name);
    ["id", "kind", "at"].iter().all(says).then_some(members)
}

/// The members that a text stands for, given the one before; a difference from an unknown event
/// yields nothing.
fn read(text: &str, before: Option<&EventMembers>) -> Option<EventMembers> {
    match serde_json::from_str(text).ok()? {
        Value::Object(members) => Some(members),
        Value::Array(list) => match <[Value; 1]>::try_from(list) {
            Ok([Value::Object(change)]) => Some(changed(before?.clone(), change)),
            Ok(_) | Err(_) => None,
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

/// The members of an event without what the key of its copy says; all of one that is not of this
/// copy.
fn compress(
    (account, message, recipient): CopyId<'_>,
    event: &Event,
) -> serde_json::Result<EventMembers> {
    let Value::Object(mut members) = serde_json::to_value(event)? else {
        return Ok(EventMembers::new());
    };
    let of_copy = event.message.as_ref() == Some(message) && event.recipient == recipient;
    if of_copy && event.account == *account {
        members.retain(|name, _| !["account", "message", "recipient"].contains(&name.as_str()));
        if let Some(attempt) = attempt(message, recipient, event) {
            members.insert("id".to_owned(), attempt.into());
        }
    }
    for name in ["reason", "response"] {
        if let Some(Value::String(text)) = members.get_mut(name) {
            text.truncate(cut(text, REASON).len());
        }
    }
    Ok(members)
}

/// The attempt that the event's id is derived from, if it is formed like delivery's.
fn attempt(message: &MessageId, recipient: u32, event: &Event) -> Option<u32> {
    let rest = event
        .id
        .strip_prefix(event.kind.wire())?
        .strip_prefix('-')?;
    let attempt = rest.split('-').next()?.parse().ok()?;
    (Event::derived_id(message, recipient, event.kind, attempt) == event.id).then_some(attempt)
}

/// The inverse of [`compress`].
fn expand((account, message, recipient): CopyId<'_>, mut members: EventMembers) -> EventMembers {
    if !members.contains_key("account") {
        members.insert("account".to_owned(), account.as_str().into());
        members.insert("message".to_owned(), message.as_str().into());
        members.insert("recipient".to_owned(), recipient.into());
    }
    // Also one that differs from an event that was stored whole.
    if let Some(id) = derived(message, recipient, &members) {
        members.insert("id".to_owned(), id.into());
    }
    members
}

/// The id where only its attempt was stored.
fn derived(message: &MessageId, recipient: u32, members: &EventMembers) -> Option<String> {
    let attempt = u32::try_from(members.get("id")?.as_u64()?).ok()?;
    let kind = EventKind::deserialize(members.get("kind")?).ok()?;
    Some(Event::derived_id(message, recipient, kind, attempt))
}

/// What turns `before` into `after`; a member that is removed is `null` (RFC 7396, top level only).
fn change(before: &EventMembers, after: &EventMembers) -> EventMembers {
    let new = after
        .iter()
        .filter(|(name, value)| before.get(*name) != Some(*value));
    let gone = before.keys().filter(|name| !after.contains_key(*name));
    let new = new.map(|(name, value)| (name.clone(), value.clone()));
    new.chain(gone.map(|name| (name.clone(), Value::Null)))
        .collect()
}

/// The inverse of [`change`].
fn changed(mut before: EventMembers, change: EventMembers) -> EventMembers {
    for (name, value) in change {
        if value.is_null() {
            before.remove(&name);
        } else {
            before.insert(name, value);
        }
    }
    before
}

#[cfg(test)]
mod tests;
