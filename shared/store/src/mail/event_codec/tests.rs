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
