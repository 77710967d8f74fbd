//! Events as they are posted, and where they are posted to.

use posthaste_model::{AccountId, Event, EventKind};
use posthaste_webhook::batch::pack;
use posthaste_webhook::{Guard, LONGEST_URL, check_url, event_json};
use serde_json::json;

use crate::guard::survive;
use crate::shapes::{MAIL, text};

#[test]
fn any_text_is_an_event_and_a_url_or_none() {
    for (name, make) in text() {
        survive(name, move || {
            let event = json!({
                "id": "1",
                "account": AccountId::from_bytes([1; 10]),
                "kind": EventKind::Bounce,
                "at": 1_800_000_000,
                "email": make(1_000),
                "custom_args": {"a": make(10_000)},
                "reason": make(MAIL),
            });
            let event: Event = serde_json::from_value(event).unwrap();
            let json = event_json(&event);
            let packed = pack(&[json.as_str(), "{}", &json]);
            assert_eq!(packed.iter().map(|one| one.events.len()).sum::<usize>(), 3);
            assert!(check_url(&make(MAIL), &Guard::default()).is_err());
            let _ = check_url(
                &format!("http://{}", make(LONGEST_URL - 7)),
                &Guard::default(),
            );
        });
    }
}

#[test]
fn events_of_every_number_are_packed() {
    survive("small events", || {
        let events = vec!["{}"; MAIL / 16];
        let packed = pack(&events);
        assert_eq!(
            packed.iter().map(|one| one.events.len()).sum::<usize>(),
            events.len()
        );
    });
}
