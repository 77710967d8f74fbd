use posthaste_model::{EventKind, KeyId, MessageId};
use posthaste_store::{SearchStatus, Seek};
use serde_json::json;

use super::*;
use crate::mail::{CopyDetails, CustomArgs};

/// A mail whose row is of this release, with all that a query may need.
fn mail() -> FoundMail {
    let row: Seek = serde_json::from_value(json!({
        "message": MessageId::from_bytes([7; 16]), "recipient": 2,
        "to": "Ann@Example.com", "from": "news@shop.example", "subject": "Big Sale 50%",
        "status": "delivered", "opens": 3, "clicks": 0,
        "accepted_at": 1_800_000_000, "last_event_at": 1_800_000_100,
        "asm_group_id": 9, "categories": ["news", "sale"],
        "key": KeyId::from_bytes([5; 16]), "events": ["processed", "delivered", "open"],
    }))
    .unwrap();
    let args = [("order", "A 17"), ("empty", "")];
    FoundMail {
        copy: Some(CopyDetails {
            kinds: [EventKind::Deferred].into(),
            args: CustomArgs::merged(args.map(|(k, v)| (k.to_owned(), v.to_owned())).into()),
            outbound_ip: Some("192.0.2.7".to_owned()),
            reason: Some("250 ok".to_owned()),
            ..CopyDetails::default()
        }),
        template_name: Some("Welcome".to_owned()),
        group_name: Some("Weekly".to_owned()),
        ..FoundMail::from(row)
    }
}

fn read(text: &str) -> Result<Query, InvalidQuery> {
    Query::read(text, FieldSet::Messages)
}

#[test]
fn conditions_hold_or_do_not() {
    let mail = mail();
    assert_eq!(mail.row.status, SearchStatus::Delivered);
    let id = mail.row.message.as_str();
    for (text, want) in [
        (r#"to_email="ann@EXAMPLE.com""#, true),
        (
            r#"to_email='ann@example.com' and status = "DELIVERED""#,
            true,
        ),
        (r#"to_email="bob@example.com""#, false),
        (r#"to_email!="bob@example.com""#, true),
        (r#"to_email LIKE "%@example.com""#, true),
        (r#"to_email NOT LIKE "%@example.com""#, false),
        (r#"subject="big sale 50%""#, true),
        (r#"subject LIKE "big%""#, true),
        (r#"subject LIKE "%sale""#, false),
        (r#"status IN ("processed","delivered")"#, true),
        (r#"status NOT IN ("processed","delivered")"#, false),
        ("opens>2", true),
        (r#"opens>"2""#, true),
        ("opens > 3 OR clicks = 0", true),
        ("opens <= 3 AND NOT clicks >= 1", true),
        ("NOT (opens = 3 OR clicks = 0)", false),
        ("asm_group_id = 9", true),
        ("template_id IS NULL", true),
        ("template_id IS NOT NULL", false),
        (r#"template_id = "d-1""#, false),
        (r#"template_id != "d-1""#, true),
        (r#"category = "sale" AND category != "x""#, true),
        (
            r#"last_event_time > TIMESTAMP "2027-01-15T08:00:00Z""#,
            true,
        ),
        (
            r#"last_event_time BETWEEN TIMESTAMP "2027-01-15T08:01:40Z" AND TIMESTAMP "2027-01-15T08:01:40.000Z""#,
            true,
        ),
        (r#"last_event_time < "2027-01-15T09:01:40+01:00""#, false),
        (&format!(r#"msg_id="{id}""#), true),
        (&format!(r#"msg_id="{id}.posthaste-0.2.0""#), true),
        (&format!(r#"msg_id="{id}.posthaste-0.3.0""#), false),
        // AND binds before OR.
        ("opens = 3 OR opens = 3 AND opens = 4", true),
        (r#"((((opens=3))))"#, true),
        ("", true),
        ("  ", true),
        (r#"categories = "news""#, true),
        (r#"categories IN ("x","sale")"#, true),
        (r#"Contains(categories, "sale")"#, true),
        (r#"CONTAINS(categories,"Sale")"#, false),
        (r#"contains ( category , sale ) AND opens=3"#, true),
        (r#"NOT CONTAINS(categories,"sal")"#, true),
        (r#"events = "opened""#, true),
        (r#"events = "open""#, true),
        (r#"events = "clicked""#, false),
        (r#"events IN ("clicked","deferred")"#, true),
        (r#"events LIKE "deliver%""#, true),
        (r#"Contains(events,"DELIVERED")"#, true),
        (r#"Contains(events,"spamreport")"#, false),
        (r#"unique_args['order'] = "A 17""#, true),
        (r#"unique_args["order"]="a 17""#, false),
        (r#"unique_args[order] LIKE "a%""#, true),
        (r#"unique_args['order'] != "A 18""#, true),
        (r#"unique_args['order'] IN ("A 1","A 17")"#, true),
        (r#"unique_args['none'] = "A 17""#, false),
        (r#"unique_args['none'] IS NULL"#, true),
        (r#"unique_args['empty'] IS NULL"#, false),
        (r#"unique_args['empty'] = """#, true),
        (r#"unique_args['Order'] = "A 17""#, false),
        (r#"Contains(unique_args,"order")"#, true),
        (r#"Contains(unique_args,"A 17")"#, true),
        (r#"Contains(unique_args,"A")"#, false),
        (r#"template_name = "Welcome""#, true),
        (r#"template_name LIKE "%come""#, true),
        (r#"template_name = "welcome""#, false),
        (r#"asm_group_name = "Weekly""#, true),
        (r#"outbound_ip = "192.0.2.7""#, true),
        (r#"api_key_id = "x""#, false),
        (r#"api_key_id IS NULL"#, false),
        (
            &format!(r#"api_key_id = "{}""#, KeyId::from_bytes([5; 16])),
            true,
        ),
    ] {
        let query = read(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(query.holds(&mail), want, "{text}");
    }
}

#[test]
fn what_is_no_query_says_why() {
    for (text, want) in [
        ("bad_field = 1", "'bad_field' is not a known field"),
        ("to_email", "the query ends too early"),
        ("to_email=", "the query ends too early"),
        ("to_email=\"x", "a quote is not closed"),
        ("to_email \"x\"", "unexpected '\"x\"'"),
        ("to_email=\"x\" status=\"delivered\"", "unexpected 'status'"),
        ("to_email=(", "unexpected '('"),
        ("(opens=1", "the query ends too early"),
        ("opens=1)", "unexpected ')'"),
        ("opens=many", "'many' is not a number"),
        ("status=\"gone\"", "'gone' is not a status"),
        ("last_event_time>\"yesterday\"", "'yesterday' is not a time"),
        (
            "subject>\"a\"",
            "only numbers and times are greater or less",
        ),
        ("opens between 1 or 2", "unexpected 'or'"),
        ("opens in 1", "unexpected '1'"),
        ("opens in (1", "the query ends too early"),
        ("opens is 1", "unexpected '1'"),
        ("; DROP", "unexpected ';'"),
        ("opens=1 AND", "the query ends too early"),
        ("subject like 5", "unexpected '5'"),
        ("\u{0}", "unexpected '\\0'"),
        (
            "unique_args = \"x\"",
            "unique_args takes a name: unique_args['name']",
        ),
        ("unique_args[", "the query ends too early"),
        ("unique_args['a'", "the query ends too early"),
        ("unique_args['a')", "unexpected ')'"),
        ("unique_args[] = 1", "unexpected ']'"),
        ("unique_args[(]", "unexpected '('"),
        (
            "unique_args['a'] > \"b\"",
            "only numbers and times are greater or less",
        ),
        ("subject['a'] = \"b\"", "unexpected '['"),
        ("events = \"sold\"", "'sold' is not an event"),
        (
            "events = \"account_status_change\"",
            "'account_status_change' is not an event",
        ),
        ("Contains", "'Contains' is not a known field"),
        ("Contains(", "the query ends too early"),
        (
            "Contains(subject,\"Invoice\")",
            "CONTAINS expects an array or map type as the first argument",
        ),
        (
            "Contains(unique_args['a'],\"b\")",
            "CONTAINS expects an array or map type as the first argument",
        ),
        ("Contains(nothing,\"b\")", "'nothing' is not a known field"),
        ("Contains(categories \"b\")", "unexpected '\"b\"'"),
        ("Contains(categories,)", "unexpected ')'"),
        ("Contains(categories,\"b\"", "the query ends too early"),
        ("Contains(categories,\"b\",\"c\")", "unexpected ','"),
        ("Contains(events,\"sold\")", "'sold' is not an event"),
        (
            "sg_message_id = \"x\"",
            "'sg_message_id' is not a known field",
        ),
    ] {
        let error = read(text).unwrap_err();
        assert_eq!(error.0, want, "{text}");
    }
}

#[test]
fn nobody_asks_without_end() {
    let deep = |n: usize| format!("{}opens=1{}", "(".repeat(n), ")".repeat(n));
    assert!(read(&deep(32)).is_ok());
    assert!(read(&deep(34)).is_err());
    assert!(read(&deep(4_000)).is_err());
    assert!(read(&format!("{}opens=1", "NOT ".repeat(1_000))).is_err());
    let many = |n: usize| vec!["opens=1"; n].join(" OR ");
    assert!(read(&many(100)).is_ok());
    assert!(read(&many(101)).is_err());
    assert!(read(&format!("opens in ({})", vec!["1"; 101].join(","))).is_err());
    assert!(read(&"x".repeat(9_000)).is_err());
    let like = |n: usize| format!("subject LIKE '{}%'", "é".repeat(n - 1));
    assert!(read(&like(256)).is_ok());
    let error = read(&like(257)).unwrap_err();
    assert_eq!(error.0, "a pattern has at most 256 characters");
    assert!(
        read(&format!("NOT ({} OR opens=1)", like(256)))
            .unwrap()
            .has_pattern()
    );
    assert!(!read("subject='a%' AND opens=1").unwrap().has_pattern());
}

/// On an eighth of the stack that a thread has by default.
#[test]
fn the_largest_query_costs_no_stack() {
    const LONGEST: usize = 8 * 1024;
    let run = || {
        let mail = mail();
        for unit in [
            "(",
            "NOT ",
            "NOT (",
            "opens=1 OR (",
            "opens in (",
            "\"\\\"",
            "subject like \"%a\" AND ",
        ] {
            let text = unit.repeat(LONGEST / unit.len());
            assert!(read(&text).is_err(), "{unit}");
        }
        let deep = format!("{}opens=3{}", "NOT (".repeat(16), ")".repeat(16));
        assert!(read(&deep).unwrap().holds(&mail));
        let pattern = "%_a".repeat(85);
        let query = read(&format!("subject LIKE \"{pattern}b\"")).unwrap();
        assert!(!query.holds(&mail));
    };
    let small = std::thread::Builder::new().stack_size(256 * 1024);
    small.spawn(run).unwrap().join().unwrap();
}

#[test]
fn patterns_cost_no_more_than_their_lengths() {
    let mut mail = mail();
    mail.row.subject = "a".repeat(900);
    let query = read(&format!("subject LIKE \"{}b\"", "%a".repeat(127))).unwrap();
    assert!(!query.holds(&mail));
    for (text, pattern, want) in [
        ("abc", "a_c", true),
        ("abc", "a_", false),
        ("abc", "%", true),
        ("", "%", true),
        ("", "_", false),
        ("abcabc", "%abc", true),
        ("Ärger", "ä%", true),
    ] {
        assert_eq!(is_like(text, pattern), want, "{text} {pattern}");
    }
}

#[test]
fn what_narrows_the_search_is_found() {
    let read = |text: &str| read(text).unwrap();
    let both = read(
        r#"status="delivered" AND (to_email="Ann@Example.com") AND last_event_time<"2027-01-15T08:00:00Z""#,
    );
    assert_eq!(both.recipient(), Some("ann@example.com"));
    assert_eq!(both.until(), Some(Timestamp(1_800_000_000)));
    for broad in [
        r#"to_email="a@b.co" OR opens=1"#,
        r#"NOT to_email="a@b.co""#,
        r#"to_email!="a@b.co""#,
        r#"to_email IN ("a@b.co","c@d.co")"#,
        r#"to_email LIKE "a@b.co""#,
        r#"last_event_time>"2027-01-15T08:00:00Z""#,
    ] {
        let query = read(broad);
        assert_eq!((query.recipient(), query.until()), (None, None), "{broad}");
    }
}

#[test]
fn the_logs_have_fields_and_statuses_of_their_own() {
    let mail = mail();
    let read = |text: &str| Query::read(text, FieldSet::Logs);
    for (text, want) in [
        ("", true),
        (r#"status IN ('delivered','blocked')"#, true),
        (
            r#"status IN ('deferred','bounced','dropped','processed')"#,
            false,
        ),
        (
            r#"reason = "250 ok" AND to_email = 'ann@example.com'"#,
            true,
        ),
        (r#"categories IN ('sale')"#, true),
        (
            r#"sg_message_id_created_at > TIMESTAMP "2027-01-15T07:59:59Z" AND sg_message_id_created_at <= TIMESTAMP "2027-01-15T08:00:00Z""#,
            true,
        ),
        (
            r#"sg_message_id_created_at > "2027-01-15T08:00:00Z""#,
            false,
        ),
    ] {
        assert_eq!(read(text).unwrap().holds(&mail), want, "{text}");
    }
    for (text, want) in [
        (
            r#"status = "not_delivered""#,
            "'not_delivered' is not a status",
        ),
        (
            r#"last_event_time > "2027-01-15T08:00:00Z""#,
            "'last_event_time' is not a known field",
        ),
        (
            r#"unique_args['a'] = "b""#,
            "'unique_args' is not a known field",
        ),
    ] {
        assert_eq!(read(text).unwrap_err().0, want, "{text}");
    }
    let query = read(r#"sg_message_id_created_at >= "2027-01-15T08:00:00Z""#).unwrap();
    assert_eq!(query.since(), Some(Timestamp(1_800_000_000)));
    let query = read(r#"NOT sg_message_id_created_at >= "2027-01-15T08:00:00Z""#).unwrap();
    assert_eq!((query.since(), query.until()), (None, None));
}

#[test]
fn only_what_a_query_names_is_loaded() {
    let needs = |text: &str| read(text).unwrap().needs();
    for cheap in [
        "",
        "opens=1",
        r#"Contains(events,"open")"#,
        r#"api_key_id="x""#,
    ] {
        assert_eq!(needs(cheap), Needs::default(), "{cheap}");
    }
    let copy = Needs {
        copy: true,
        ..Needs::default()
    };
    for text in [
        r#"unique_args['a']="b""#,
        r#"opens=1 OR NOT (unique_args['a'] IS NULL)"#,
        r#"Contains(unique_args,"a")"#,
        r#"outbound_ip IN ("a")"#,
    ] {
        assert_eq!(needs(text), copy, "{text}");
    }
    let names = needs(r#"template_name LIKE "a%" AND asm_group_name="b""#);
    assert!(names.template_names && names.group_names && !names.copy);
}

#[test]
fn what_cannot_match_a_mail_that_waits_is_known() {
    for (text, want) in [
        ("", false),
        ("status=\"delivered\"", true),
        ("status=\"not_delivered\" AND subject=\"a\"", true),
        ("status=\"processed\"", false),
        ("status!=\"delivered\"", false),
        ("status=\"delivered\" OR subject=\"a\"", false),
        ("NOT status=\"delivered\"", false),
        ("Contains(events,\"opened\")", true),
    ] {
        let query = Query::read(text, FieldSet::Messages).unwrap();
        assert_eq!(query.is_of_left(), want, "{text}");
    }
}
