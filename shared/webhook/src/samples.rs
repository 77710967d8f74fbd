//! The fixed events of `POST /v3/user/webhooks/event/test` (API facts 3.6).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE;
use posthaste_model::{Entropy, EventKind, Timestamp};

use crate::wire::{EventFields, FieldValue};

const USER_AGENT: &str =
    "Mozilla/4.0 (compatible; MSIE 6.1; Windows XP; .NET CLR 1.1.4322; .NET CLR 2.0.50727)";
const ADDRESS: &str = "255.255.255.255";
const LINK: &str = "http://www.sendgrid.com/";

/// One sample of every kind that is about a mail, ready for [`crate::batch::pack`].
pub fn events(now: Timestamp, entropy: &Entropy) -> Vec<String> {
    let about_mail = |kind: &&EventKind| **kind != EventKind::AccountStatusChange;
    let kinds = EventKind::ALL.iter().filter(about_mail);
    kinds.map(|kind| sample(*kind, now, entropy)).collect()
}

fn sample(kind: EventKind, now: Timestamp, entropy: &Entropy) -> String {
    let mut fields = EventFields::default();
    let id = URL_SAFE.encode(entropy.bytes::<16>());
    fields.put("sg_event_id", FieldValue::Owned(id));
    fields.put("timestamp", FieldValue::Number(now.0));
    for (name, text) in [
        ("category", "cat facts"),
        ("email", "example@test.com"),
        ("event", kind.wire()),
        (
            "sg_message_id",
            "14c5d75ce93.dfd.64b469.filter0001.16648.5515E0B88.0",
        ),
        ("smtp-id", "<14c5d75ce93.dfd.64b469@ismtpd-555>"),
    ] {
        fields.text(name, Some(text));
    }
    for (name, text) in particulars(kind) {
        fields.text(name, Some(text));
    }
    if matches!(
        kind,
        EventKind::GroupUnsubscribe | EventKind::GroupResubscribe
    ) {
        fields.put("asm_group_id", FieldValue::Number(10));
    }
    fields.into_json()
}

fn particulars(kind: EventKind) -> &'static [(&'static str, &'static str)] {
    match kind {
        EventKind::Deferred => &[("response", "400 try again later"), ("attempt", "5")],
        EventKind::Delivered => &[("response", "250 OK")],
        EventKind::Open => &[("useragent", USER_AGENT), ("ip", ADDRESS)],
        EventKind::Click | EventKind::GroupUnsubscribe | EventKind::GroupResubscribe => {
            &[("useragent", USER_AGENT), ("ip", ADDRESS), ("url", LINK)]
        }
        EventKind::Bounce => &[("reason", "500 unknown recipient"), ("status", "5.0.0")],
        EventKind::Dropped => &[("reason", "Bounced Address"), ("status", "5.0.0")],
        EventKind::Processed
        | EventKind::SpamReport
        | EventKind::Unsubscribe
        | EventKind::AccountStatusChange => &[],
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value as Json;

    use super::*;

    #[test]
    fn the_test_post_has_one_event_of_each_kind_and_fresh_ids() {
        let texts = events(Timestamp(1_700_000_000), &Entropy::counting());
        let events: Vec<Json> = texts
            .iter()
            .map(|text| serde_json::from_str(text).unwrap())
            .collect();

        let kinds: Vec<_> = events
            .iter()
            .map(|e| e["event"].as_str().unwrap())
            .collect();
        assert_eq!(
            kinds,
            [
                "processed",
                "delivered",
                "deferred",
                "bounce",
                "dropped",
                "open",
                "click",
                "spamreport",
                "unsubscribe",
                "group_unsubscribe",
                "group_resubscribe",
            ]
        );
        let ids: BTreeSet<_> = events.iter().map(|e| e["sg_event_id"].as_str()).collect();
        assert_eq!(ids.len(), events.len());
        assert!(
            ids.iter()
                .flatten()
                .all(|id| id.len() == 24 && id.ends_with("=="))
        );
        assert!(events.iter().all(|e| e["timestamp"] == 1_700_000_000));
        assert_eq!(events[2]["attempt"], "5");
        assert_eq!(events[9]["asm_group_id"], 10);
    }
}
