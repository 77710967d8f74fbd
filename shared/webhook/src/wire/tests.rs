use std::path::PathBuf;

use posthaste_model::{AccountId, KeyId, MessageId, Timestamp};

use super::*;

/// A record with every field, so that a missing field is omitted on purpose.
fn full(kind: EventKind) -> Event {
    let account = AccountId::parse("abcdefghij").unwrap();
    let id = format!("{}-id", kind.flag());
    let at = Timestamp(1_700_000_000);
    let bytes = std::array::from_fn(|i| u8::try_from(i).unwrap());
    let custom = [("order", "A-17"), ("plan", "pro \"max\"")];
    Event {
        message: Some(MessageId::from_bytes(bytes)),
        recipient: 3,
        smtp_id: Some("1.ann@mail.example.com".into()),
        category: Some(Category::Many(vec!["welcome".into(), "Größe".into()])),
        custom_args: custom.map(|(k, v)| (k.into(), v.into())).into(),
        asm_group_id: Some(42),
        pool: Some(Pool {
            name: "bulk".into(),
            id: 7,
        }),
        send_at: Some(Timestamp(1_700_003_600)),
        template_id: Some("d-0123456789abcdef".into()),
        key: Some(KeyId::from_bytes(bytes)),
        reason: Some("because".into()),
        status: Some("5.1.1".into()),
        response: Some("250 2.0.0 OK".into()),
        attempt: Some(3),
        ip: Some("192.0.2.25".into()),
        tls: Some(true),
        bounce_type: Some(BounceType::Bounce),
        bounce_classification: Some("Invalid Address".into()),
        useragent: Some("Mozilla/5.0 (X11)".into()),
        sg_machine_open: Some(false),
        sg_content_type: Some("html".into()),
        url: Some("https://example.com/?a=1&b=2".into()),
        url_offset: Some(UrlOffset {
            index: 2,
            part: "html".into(),
        }),
        ..Event::new(id, account, kind, at, "ann@example.com".into())
    }
}

/// The same with only its identity.
fn bare(kind: EventKind) -> Event {
    let Event {
        id,
        account,
        at,
        email,
        ..
    } = full(kind);
    Event::new(id, account, kind, at, email)
}

fn parsed(event: &Event) -> serde_json::Map<String, serde_json::Value> {
    serde_json::from_str(&event_json(event)).unwrap()
}

#[test]
fn every_kind_reads_as_its_golden_file() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/events");
    for kind in EventKind::ALL {
        let path = folder.join(format!("{}.json", kind.flag()));
        let golden = std::fs::read_to_string(&path).unwrap();
        let actual = format!("{}\n", event_json(&full(kind)));
        if actual != golden {
            std::fs::write(path.with_extension("json.actual"), &actual).unwrap();
        }
        assert_eq!(actual, golden, "{kind:?}");
    }
}

#[test]
fn what_an_event_does_not_have_is_left_out() {
    for kind in EventKind::ALL {
        let keys: Vec<_> = parsed(&bare(kind)).keys().cloned().collect();
        let want: &[&str] = match kind {
            EventKind::Processed => &["email", "event", "send_at", "sg_event_id", "timestamp"],
            EventKind::AccountStatusChange => &["event", "sg_event_id", "timestamp"],
            _ => &["email", "event", "sg_event_id", "timestamp"],
        };
        assert_eq!(keys, want, "{kind:?}");
    }
    assert_eq!(parsed(&bare(EventKind::Processed))["send_at"], 0);
}

#[test]
fn a_custom_argument_never_replaces_a_field_of_the_event() {
    for kind in EventKind::ALL {
        let honest = full(kind);
        let fields = parsed(&honest);
        let mut sly = honest.clone();
        for name in fields.keys() {
            let fake = sly.custom_args.entry(name.clone());
            fake.or_insert_with(|| "fake".to_owned());
        }
        assert_eq!(event_json(&sly), event_json(&honest), "{kind:?}");
    }
}

#[test]
fn a_custom_argument_may_have_a_name_that_another_kind_uses() {
    let mut event = bare(EventKind::Delivered);
    event.custom_args.insert("type".into(), "invoice".into());
    assert_eq!(parsed(&event)["type"], "invoice");
}

#[test]
fn a_category_keeps_the_shape_it_was_sent_in() {
    let mut event = bare(EventKind::Open);
    for (category, want) in [
        (
            Some(Category::One("a".into())),
            Some(serde_json::json!("a")),
        ),
        (
            Some(Category::Many(vec!["a".into()])),
            Some(serde_json::json!(["a"])),
        ),
        (Some(Category::Many(vec![])), None),
        (None, None),
    ] {
        event.category = category;
        assert_eq!(parsed(&event).get("category"), want.as_ref());
    }
}

#[test]
fn an_event_stays_on_one_line_whatever_is_in_it() {
    let mut event = full(EventKind::Bounce);
    event.reason = Some("550 a\r\nb\u{2028}\0\"\\".into());
    event.custom_args.insert("k\n".into(), "v\r".into());
    let json = event_json(&event);
    assert!(!json.contains(['\r', '\n', '\0']), "{json}");
    assert_eq!(parsed(&event)["reason"], "550 a\r\nb\u{2028}\0\"\\");
}

#[test]
fn a_bounce_without_a_known_message_has_no_message_id() {
    let mut event = full(EventKind::Bounce);
    event.message = None;
    assert!(!parsed(&event).contains_key("sg_message_id"));
}
