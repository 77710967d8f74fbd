use super::*;
use posthaste_model::MessageId;
use posthaste_store::SearchStatus;
use serde_json::json;

fn mail() -> Seek {
    serde_json::from_value(json!({
        "message": MessageId::from_bytes([7; 16]), "recipient": 2,
        "to": "Ann@Example.com", "from": "news@shop.example", "subject": "Big Sale 50%",
        "status": "delivered", "opens": 3, "clicks": 0,
        "accepted_at": 1_800_000_000, "last_event_at": 1_800_000_100,
        "asm_group_id": 9, "categories": ["news", "sale"],
    }))
    .unwrap()
}

#[test]
fn conditions_hold_or_do_not() {
    let mail = mail();
    assert_eq!(mail.status, SearchStatus::Delivered);
    let id = mail.message.as_str();
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
    ] {
        let query = Query::read(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(query.holds(&mail), want, "{text}");
    }
}

#[test]
fn what_is_no_query_says_why() {
    for (text, want) in [
        ("bad_field = 1", "'bad_field' is not a known field"),
        ("", "the query ends too early"),
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
    ] {
        let error = Query::read(text).unwrap_err();
        assert_eq!(error.0, want, "{text}");
    }
}

#[test]
fn nobody_asks_without_end() {
    let deep = |n: usize| format!("{}opens=1{}", "(".repeat(n), ")".repeat(n));
    assert!(Query::read(&deep(32)).is_ok());
    assert!(Query::read(&deep(34)).is_err());
    assert!(Query::read(&deep(4_000)).is_err());
    assert!(Query::read(&format!("{}opens=1", "NOT ".repeat(1_000))).is_err());
    let many = |n: usize| vec!["opens=1"; n].join(" OR ");
    assert!(Query::read(&many(100)).is_ok());
    assert!(Query::read(&many(101)).is_err());
    assert!(Query::read(&format!("opens in ({})", vec!["1"; 101].join(","))).is_err());
    assert!(Query::read(&"x".repeat(9_000)).is_err());
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
            assert!(Query::read(&text).is_err(), "{unit}");
        }
        let deep = format!("{}opens=3{}", "NOT (".repeat(16), ")".repeat(16));
        assert!(Query::read(&deep).unwrap().holds(&mail));
        let pattern = "%_a".repeat((LONGEST - 32) / 3);
        let query = Query::read(&format!("subject LIKE \"{pattern}b\"")).unwrap();
        assert!(!query.holds(&mail));
    };
    let small = std::thread::Builder::new().stack_size(256 * 1024);
    small.spawn(run).unwrap().join().unwrap();
}

#[test]
fn patterns_cost_no_more_than_their_lengths() {
    let mut mail = mail();
    mail.subject = "a".repeat(900);
    let query = Query::read(&format!("subject LIKE \"{}b\"", "%a".repeat(300))).unwrap();
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
    let read = |text: &str| Query::read(text).unwrap();
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
