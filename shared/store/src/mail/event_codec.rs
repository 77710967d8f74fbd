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
        all.push(told(copy, members.as_ref(), text));
        before = members;
    }
    if let Some(last) = last {
        let base = texts.iter().find_map(|text| read(text, None));
        let members = read(last, base.as_ref()).or_else(|| alone(last, email));
        let place = place.unwrap_or(all.len());
        all.insert(place, told(copy, members.as_ref(), last));
    }
    all
}

/// The whole event as JSON; the text itself where it cannot be read.
fn told(copy: CopyId<'_>, members: Option<&EventMembers>, text: &str) -> String {
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
mod tests {
    use posthaste_model::{Category, Timestamp};
    use proptest::prelude::*;

    use super::*;

    fn account() -> AccountId {
        AccountId::from_bytes([7; 10])
    }

    fn message() -> MessageId {
        MessageId::from_bytes([9; 16])
    }

    /// Two events as delivery writes them.
    fn ordinary() -> [Event; 2] {
        [EventKind::Processed, EventKind::Delivered].map(|kind| {
            let id = Event::derived_id(&message(), 3, kind, 0);
            let mut event = Event::new(id, account(), kind, Timestamp(5), "ann@b.co".to_owned());
            event.message = Some(message());
            event.recipient = 3;
            event.smtp_id = Some("made.of.many.letters@mail.example.com".to_owned());
            event.category = Some(Category::Many(vec!["news".to_owned()]));
            match kind {
                EventKind::Processed => event.send_at = Some(Timestamp(0)),
                _ => event.response = Some("250 ok".to_owned()),
            }
            event
        })
    }

    /// The bytes of a row with these events, as DynamoDB counts them: names and values, 3 and 1 for
    /// each entry of the list (its developer guide, "DynamoDB item sizes and formats").
    fn row(texts: &[String]) -> usize {
        let rest = [
            ("pk", 46),
            ("sk", 7),
            ("v", 2),
            ("state", 9),
            ("attempt", 2),
            ("email", 24),
            ("from", 24),
            ("subject", 40),
            ("accepted_at", 6),
            ("updated_at", 6),
            ("exp", 6),
        ];
        let rest = rest.iter().map(|(name, bytes)| name.len() + bytes);
        let events = texts.iter().map(|text| text.len() + 1);
        rest.sum::<usize>() + "events".len() + 3 + events.sum::<usize>()
    }

    #[test]
    fn an_ordinary_mail_is_written_in_one_unit_and_would_be_in_two() {
        let (account, message) = (account(), message());
        let events = ordinary().map(|mut event| {
            event.at = Timestamp(1_800_000_000);
            event.template_id = Some("d-0123456789abcdef0123456789abcdef".to_owned());
            if event.kind == EventKind::Delivered {
                event.response = Some("250 2.0.0 Ok: queued as 4Zk1Xy3bq9z9rxK".to_owned());
                (event.ip, event.tls) = (Some("10.0.0.7".to_owned()), Some(true));
            }
            let args = [("campaign", "welcome-2026-11"), ("user_id", "8834021")];
            event.custom_args = args.map(|(k, v)| (k.to_owned(), v.to_owned())).into();
            event
        });
        let lean = texts((&account, &message, 3), &events).unwrap();
        let whole = events.map(|event| serde_json::to_string(&event).unwrap());
        let sizes = [row(&lean), row(&whole)];
        assert_eq!(sizes, [623, 1_058]);
        assert_eq!(sizes.map(|bytes| bytes.div_ceil(1024)), [1, 2]);
    }

    fn back(copy: CopyId<'_>, texts: &[String]) -> Vec<Event> {
        let whole = whole(copy, "ann@b.co", texts, None);
        assert_eq!(whole.len(), texts.len());
        let read = |text: &String| serde_json::from_str(text).ok();
        whole.iter().filter_map(read).collect()
    }

    #[test]
    fn what_the_key_says_and_what_stays_the_same_is_not_kept() {
        let (account, message) = (account(), message());
        let kept = texts((&account, &message, 3), &ordinary()).unwrap();
        let first = r#"{"at":5,"category":["news"],"email":"ann@b.co","id":0,"kind":"processed","send_at":0,"smtp_id":"made.of.many.letters@mail.example.com","v":1}"#;
        let second = r#"[{"kind":"delivered","response":"250 ok","send_at":null}]"#;
        assert_eq!(kept, [first, second]);
        assert_eq!(back((&account, &message, 3), &kept), ordinary());
    }

    #[test]
    fn a_later_event_is_read_after_any_other_of_its_copy() {
        let (account, message) = (account(), message());
        let copy = (&account, &message, 3);
        let [mut first, last] = ordinary();
        first.custom_args = [("k".to_owned(), "v".repeat(9_000))].into();
        let mut deferred = Event {
            id: Event::derived_id(&message, 3, EventKind::Deferred, 4),
            kind: EventKind::Deferred,
            custom_args: first.custom_args.clone(),
            response: Some("451 later".to_owned()),
            attempt: Some(5),
            ..last.clone()
        };
        deferred.at = Timestamp(9);
        let text = later(copy, &deferred).unwrap();
        assert!(text.len() < 300, "{text}");
        let lean = texts(copy, std::slice::from_ref(&first)).unwrap();
        let old = vec![serde_json::to_string(&first).unwrap()];
        for before in [lean, old] {
            // In the list, and where the row stores it apart.
            let all = [before.clone(), vec![text.clone()]].concat();
            assert_eq!(back(copy, &all), [first.clone(), deferred.clone()]);
            let ended = later(
                copy,
                &Event {
                    at: Timestamp(10),
                    custom_args: first.custom_args.clone(),
                    ..last.clone()
                },
            )
            .unwrap();
            let ended = [before, vec![ended]].concat();
            let told = whole(copy, "ann@b.co", &ended, Some(&text));
            let kinds: Vec<Event> = told
                .iter()
                .map(|t| serde_json::from_str(t).unwrap())
                .collect();
            assert_eq!(kinds[1], deferred);
            assert_eq!(kinds[2].kind, EventKind::Delivered);
        }
        // Without any it lacks what they have in common.
        let only = back(copy, &[text]);
        assert_eq!(
            (only[0].kind, only[0].custom_args.len()),
            (EventKind::Deferred, 0)
        );
        assert_eq!(only[0].email, "ann@b.co");
    }

    #[test]
    fn events_that_are_kept_whole_and_such_of_others_stay_what_they_are() {
        let (account, message) = (account(), message());
        let [mut other, last] = ordinary();
        other.message = None;
        let old = serde_json::to_string(&last).unwrap();
        let mut kept = vec![old];
        let events = [other, last.clone()];
        kept.extend(texts((&account, &message, 3), &events).unwrap());
        let want = [&[last], &events[..]].concat();
        assert_eq!(back((&account, &message, 3), &kept), want);
    }

    #[test]
    fn what_cannot_be_read_is_passed_over() {
        let (account, message) = (account(), message());
        let good = texts((&account, &message, 3), &ordinary()[..1]).unwrap();
        for bad in ["", "{", "7", "[]", "[7]", "[{},{}]"] {
            let all = [bad.to_owned(), good[0].clone()];
            assert_eq!(back((&account, &message, 3), &all).len(), 1, "{bad}");
        }
        // Nor can what differs from it, whatever came before that.
        let [first, second] =
            <[_; 2]>::try_from(texts((&account, &message, 3), &ordinary()).unwrap()).unwrap();
        let broken = [first, "{".to_owned(), second.clone()];
        assert_eq!(back((&account, &message, 3), &broken).len(), 1);
        assert_eq!(back((&account, &message, 3), &[second]), []);
    }

    proptest! {
        #[test]
        fn whatever_is_kept_comes_back(
            steps in proptest::collection::vec((0_usize..4, 0_u32..3, any::<bool>(), ".{0,8}"), 0..6),
        ) {
            let (account, message) = (account(), message());
            let kinds = [EventKind::Processed, EventKind::Deferred, EventKind::SpamReport, EventKind::Bounce];
            let events: Vec<_> = steps
                .into_iter()
                .map(|(kind, attempt, derived, text)| {
                    let kind = kinds[kind];
                    let id = if derived {
                        Event::derived_id(&message, 3, kind, attempt)
                    } else {
                        text.clone()
                    };
                    let mut event = Event::new(id, account.clone(), kind, Timestamp(5), "a@b.co".to_owned());
                    event.message = (attempt < 2).then(|| message.clone());
                    event.recipient = 3;
                    event.attempt = Some(attempt);
                    event.reason = Some(text).filter(|text| text.len() > 3);
                    event
                })
                .collect();
            let kept = texts((&account, &message, 3), &events).unwrap();
            prop_assert_eq!(back((&account, &message, 3), &kept), events);
        }
    }
}
