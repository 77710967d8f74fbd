//! The account a message belongs to, for fairness between accounts.
//!
//! On SQS it is the message's `MessageGroupId`, by which a standard queue becomes a fair queue (SQS
//! developer guide, "Amazon SQS fair queues"): an account with more than a tenth of the messages in
//! flight, and at least 30, waits behind the others. It is read from the message, so that every sender
//! and every replay of old messages sets it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use posthaste_model::AccountId;
use serde::Deserialize;

/// The members of all forms of messages that name an account.
#[derive(Deserialize)]
struct OwnedMessage<'a> {
    #[serde(borrow, default)]
    account: Option<Cow<'a, str>>,
    /// Of a webhook retry.
    #[serde(borrow, default)]
    retry: Option<Owner<'a>>,
    /// Of a batch of events.
    #[serde(borrow, default)]
    events: Vec<Owner<'a>>,
    /// Of a batch whose recording was deferred.
    #[serde(borrow, default)]
    unrecorded: Option<OwnedEvents<'a>>,
}

#[derive(Deserialize)]
struct OwnedEvents<'a> {
    #[serde(borrow, default)]
    events: Vec<Owner<'a>>,
}

#[derive(Deserialize)]
struct Owner<'a> {
    #[serde(borrow)]
    account: Cow<'a, str>,
}

/// The account of a message; of a batch of events, the account with the most of them. `None` for a
/// message that belongs to no account, such as an event of SES.
pub fn account_of(message: &str) -> Option<AccountId> {
    let message: OwnedMessage<'_> = serde_json::from_str(message).ok()?;
    let deferred = message.unrecorded.map(|batch| batch.events);
    let events = message
        .events
        .into_iter()
        .chain(deferred.into_iter().flatten());
    let mut counts = BTreeMap::<Cow<'_, str>, usize>::new();
    for event in events {
        *counts.entry(event.account).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    let one = message.account.or(message.retry.map(|retry| retry.account));
    let account = one.or(most.map(|(account, _)| account))?;
    AccountId::parse(&account).ok()
}

#[cfg(test)]
mod tests {
    use posthaste_model::{Event, EventKind, Timestamp, WebhookId};

    use super::*;
    use crate::{EventBatch, Retry, WebhookRetry};

    fn event(account: u8) -> Event {
        let (id, account) = ("id".to_owned(), AccountId::from_bytes([account; 10]));
        Event::new(
            id,
            account,
            EventKind::Open,
            Timestamp(1),
            "a@b.co".to_owned(),
        )
    }

    #[test]
    fn every_form_of_a_message_names_its_account() {
        let (one, two) = (
            AccountId::from_bytes([1; 10]),
            AccountId::from_bytes([2; 10]),
        );
        let mail = format!(
            r#"{{"v":1,"account":"{one}","message":"m","accepted":1,"body":{{"mail":{{"account":"{two}"}}}}}}"#
        );
        let retry = WebhookRetry {
            retry: Retry {
                account: one.clone(),
                webhook: WebhookId::from_bytes([1; 16]),
                attempt: 1,
                not_before: Timestamp(0),
                last: "\"quoted\"".to_owned(),
            },
            events: vec![event(1)],
        };
        let batch = |accounts: &[u8]| {
            let events: Vec<_> = accounts.iter().map(|account| event(*account)).collect();
            EventBatch::to_texts(&events).unwrap().remove(0)
        };
        for (text, want) in [
            (mail, Some(&one)),
            (retry.to_texts().unwrap().remove(0), Some(&one)),
            (batch(&[1]), Some(&one)),
            (batch(&[1, 2, 2]), Some(&two)),
            (format!(r#"{{"unrecorded":{}}}"#, batch(&[2])), Some(&two)),
            (r#"{"account":"no account at all"}"#.to_owned(), None),
            (r#"{"v":1,"blob":"bounces/x","to":[]}"#.to_owned(), None),
            (r#"{"eventType":"Send","mail":{}}"#.to_owned(), None),
            ("no JSON".to_owned(), None),
        ] {
            assert_eq!(account_of(&text).as_ref(), want, "{text}");
        }
    }
}
