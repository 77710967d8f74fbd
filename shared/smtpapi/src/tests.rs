use posthaste_model::Toggle;
use proptest::prelude::*;

use super::*;

const NOW: i64 = 1_800_000_000;

const WORLD: HeaderContext = HeaderContext {
    recipients: 1,
    now: Timestamp(NOW),
    horizon: 72 * 3600,
};

#[track_caller]
fn good(text: &str) -> Instructions {
    read(text, &WORLD).unwrap_or_else(|why| panic!("{why}: {text}"))
}

#[track_caller]
fn bad(text: &str, word: &str) {
    let why = read(text, &WORLD).unwrap_err().to_string();
    assert!(why.contains(word), "{why}: {text}");
}

#[test]
fn everything_a_header_can_say_is_read() {
    let header = r#"{
        "to": ["Ben <ben@example.com>", "joe@example.com"],
        "sub": {"%name%": ["Ben", "Joe"], "%role%": ["%seller%", "%buyer%"]},
        "section": {"%seller%": "Seller of %name%", "%buyer%": "Buyer"},
        "category": ["Orders", "Orders", "caf\u00e9"],
        "unique_args": {"orderNumber": "12345", "n": 6789, "list": [1]},
        "send_each_at": [1800000060, 1800000120],
        "asm_group_id": 7, "asm_groups_to_display": [7, "8"],
        "batch_id": "HkJ5yLYULb7Rj8GKSx7u025ouWVlMgAi",
        "ip_pool": "slow", "unknown": {"x": 1}}"#;
    let got = good(header);
    assert_eq!(got.categories, ["Orders", "café"]);
    assert_eq!(got.unique_args["n"], "6789");
    assert_eq!(got.unique_args["list"], "[1]");
    assert_eq!(got.sections["%buyer%"], "Buyer");
    let asm = got.asm.as_ref().unwrap();
    assert_eq!(
        (asm.group_id, asm.groups_to_display.as_slice()),
        (7, &[7, 8][..])
    );
    assert!(got.batch_id.is_some());
    assert_eq!(got.ip_pool.as_deref(), Some("slow"));

    let people = got.personalizations(&[]);
    let shown: Vec<_> = people
        .iter()
        .map(|p| {
            (
                p.to[0].email.as_str(),
                p.substitutions["%name%"].as_str(),
                p.send_at,
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            ("ben@example.com", "Ben", Some(Timestamp(NOW + 60))),
            ("joe@example.com", "Joe", Some(Timestamp(NOW + 120))),
        ]
    );
    assert_eq!(people[0].to[0].name.as_deref(), Some("Ben"));
}

#[test]
fn without_to_the_envelope_is_written_to() {
    let world = HeaderContext {
        recipients: 2,
        ..WORLD
    };
    let got = read(r#"{"sub": {"-n-": ["1", 2], "-all-": "x"}}"#, &world).unwrap();
    let envelope = ["a@example.com", "b@example.com"].map(|a| EmailAddress::parse(a).unwrap());
    let people = got.personalizations(&envelope);
    assert_eq!(people[1].to[0].email, envelope[1]);
    assert_eq!(people[1].substitutions["-n-"], "2");
    assert_eq!(people[0].substitutions["-all-"], "x");
}

#[test]
fn a_single_value_counts_as_a_list_of_one() {
    let got = good(r#"{"to": "a@example.com", "category": "one", "unique_args": [], "sub": []}"#);
    assert_eq!((got.to.len(), got.categories.len()), (1, 1));
    let again = r#"{"to": ["a@example.com", "a@example.com"], "sub": {"-x-": ["1", "2"]}}"#;
    assert_eq!(good(again).personalizations(&[]).len(), 2);
    assert_eq!(good("{}"), Instructions::default());
    assert_eq!(
        good(r#"{"to": null, "send_at": null}"#),
        Instructions::default()
    );
}

#[test]
fn a_category_as_a_text_differs_from_a_list_of_one() {
    for (header, single) in [
        (r#"{"category": "one"}"#, true),
        (r#"{"category": 7}"#, true),
        (r#"{"category": ["one"]}"#, false),
        (r#"{"category": ["one", "two"]}"#, false),
        (r#"{"category": null}"#, false),
        ("{}", false),
    ] {
        assert_eq!(good(header).single_category, single, "{header}");
    }
}

#[test]
fn sections_may_be_in_an_object_of_their_own() {
    let got =
        good(r#"{"section": {"section": {":one": "1", ":n": 2}, ":three": "3", ":list": [1]}}"#);
    let want = [
        (":list", "[1]"),
        (":n", "2"),
        (":one", "1"),
        (":three", "3"),
    ];
    let want = want.map(|(tag, text)| (tag.to_owned(), text.to_owned()));
    assert_eq!(got.sections, HeaderTexts::from(want));
}

#[test]
fn a_time_is_a_number_of_seconds() {
    assert_eq!(
        good(r#"{"send_at": 1800000900}"#).send_at,
        Some(Timestamp(NOW + 900))
    );
    assert_eq!(good(r#"{"send_at": 5}"#).send_at, Some(Timestamp(5)));
    assert_eq!(good(r#"{"send_at": ""}"#).send_at, None);
    assert_eq!(good(r#"{"send_each_at": [""]}"#).send_each_at, [None]);
    for text in ["1800000900", "tomorrow", "now", " "] {
        bad(&format!(r#"{{"send_at": "{text}"}}"#), "number of seconds");
        let each = format!(r#"{{"send_each_at": ["{text}"]}}"#);
        bad(&each, "number of seconds");
    }
    let last = format!(r#"{{"send_at": {}}}"#, NOW + 72 * 3600);
    good(&last);
    bad(
        &format!(r#"{{"send_at": {}}}"#, NOW + 72 * 3600 + 1),
        "72 hours",
    );
    bad(r#"{"send_at": 1.5}"#, "number of seconds");
    bad(r#"{"send_each_at": [1, 2]}"#, "2 times for 1");
    bad(r#"{"send_each_at": 1}"#, "list");
    bad(
        r#"{"send_at": 1800000900, "send_each_at": [1800000900]}"#,
        "exclude",
    );
}

#[test]
fn an_unreadable_header_names_its_error() {
    for (text, word) in [
        ("", "no JSON"),
        ("{", "no JSON"),
        ("[]", "no JSON object"),
        ("\"x\"", "no JSON object"),
        (r#"{"to": [1]}"#, "no address"),
        (r#"{"to": ["a@example.com", "nobody"]}"#, "no address"),
        (r#"{"to": {"a": 1}}"#, "no text"),
        (r#"{"sub": {"-a-": ["1", "2"]}}"#, "2 values for 1"),
        (r#"{"sub": {"-a-": [["1"]]}}"#, "no text"),
        (r#"{"sub": "x"}"#, "no object"),
        (r#"{"section": ["x"]}"#, "no object"),
        (r#"{"category": {"a": 1}}"#, "no text"),
        (r#"{"unique_args": "x"}"#, "no object"),
        (r#"{"filters": "x"}"#, "no object"),
        (r#"{"filters": {"footer": 1}}"#, "no object"),
        (r#"{"filters": {"footer": {"settings": 1}}}"#, "no object"),
        (
            r#"{"filters": {"footer": {"settings": {"enable": "maybe"}}}}"#,
            "no switch",
        ),
        (
            r#"{"filters": {"footer": {"settings": {"enable": 1, "text/html": {}}}}}"#,
            "no text",
        ),
        (r#"{"asm_group_id": "x"}"#, "whole number"),
        (r#"{"asm_groups_to_display": [1]}"#, "without asm_group_id"),
        (r#"{"asm_group_id": 1, "asm_groups_to_display": 1}"#, "list"),
        (r#"{"batch_id": "not one!"}"#, "batch_id"),
        (r#"{"ip_pool": ["x"]}"#, "no text"),
    ] {
        bad(text, word);
    }
}

#[test]
fn limits_hold_at_and_past_their_value() {
    let list =
        |n: usize, item: &dyn Fn(usize) -> String| (0..n).map(item).collect::<Vec<_>>().join(",");
    let people = |n| {
        format!(
            r#"{{"to": [{}]}}"#,
            list(n, &|i| format!("\"a{i}@example.com\""))
        )
    };
    assert_eq!(good(&people(MOST_RECIPIENTS)).to.len(), MOST_RECIPIENTS);
    bad(&people(MOST_RECIPIENTS + 1), "recipients");
    let categories = |n| format!(r#"{{"category": [{}]}}"#, list(n, &|i| format!("\"c{i}\"")));
    good(&categories(10));
    bad(&categories(11), "more than 10");
    let category = |n| format!(r#"{{"category": "{}"}}"#, "ü".repeat(n));
    good(&category(255));
    bad(&category(256), "255");
    let groups = |n| {
        let list = list(n, &|i| i.to_string());
        format!(r#"{{"asm_group_id": 1, "asm_groups_to_display": [{list}]}}"#)
    };
    good(&groups(25));
    bad(&groups(26), "more than 25");
    let args = |n| format!(r#"{{"unique_args": {{"k": "{}"}}}}"#, "x".repeat(n));
    good(&args(9_999));
    bad(&args(10_000), "bytes");
    let tags = |n| format!(r#"{{"sub": {{"k": ["{}"]}}}}"#, "x".repeat(n));
    good(&tags(9_999));
    bad(&tags(10_000), "bytes");
    let pool = |n| format!(r#"{{"ip_pool": "{}"}}"#, "x".repeat(n));
    assert_eq!(good(&pool(0)).ip_pool, None);
    bad(&pool(1), "from 2");
    good(&pool(2));
    good(&pool(64));
    bad(&pool(65), "64");
    let long = |n| format!(r#"{{"unknown": "{}"}}"#, "x".repeat(n - 15));
    assert_eq!(long(LONGEST_HEADER).len(), LONGEST_HEADER);
    good(&long(LONGEST_HEADER));
    bad(&long(LONGEST_HEADER + 1), "octets");
}

/// A short header with a large result: shared values are copied for each recipient.
#[test]
fn what_is_copied_for_all_recipients_has_a_limit() {
    // 8 MiB in 8,192 copies of one KiB.
    let world = |recipients| HeaderContext {
        recipients,
        ..WORLD
    };
    let header = format!(r#"{{"sub": {{"k": "{}"}}}}"#, "x".repeat(1023));
    assert!(read(&header, &world(8192)).is_ok());
    let why = read(&header, &world(8193)).unwrap_err().to_string();
    assert!(why.contains("together"), "{why}");
    // The tag is copied with each value.
    let header = |count| {
        let values = vec!["1"; count].join(",");
        format!(r#"{{"sub": {{"{}": [{values}]}}}}"#, "x".repeat(1023))
    };
    assert!(read(&header(8192), &world(8192)).is_ok());
    assert!(read(&header(8193), &world(8193)).is_err());
}

#[test]
fn filters_are_the_settings_of_mail_send() {
    let got = good(
        r#"{"filters": {
        "bypass_list_management": {"settings": {"enable": "1"}},
        "footer": {"setting": {"enable": 1, "text/plain": "bye", "text/html": "<p>bye"}},
        "clicktrack": {"settings": {"enable": true, "enable_text": false}},
        "opentrack": {"settings": {"enable": 1, "replace": "%open%"}},
        "subscriptiontrack": {"settings": {"enable": 1, "text/html": "<% out %>", "replace": ""}},
        "ganalytics": {"settings": {"enable": 1, "utm_source": "s", "utm_campaign": "c"}},
        "templates": {"settings": {"enable": 1, "template_id": "5997fcf6-2b9f-484d-acd5-7e9a99f0dc1f"}},
        "template": {"settings": {"enable": 1, "text/html": "<i><% body %></i>"}},
        "dkim": {"settings": {"domain": "example.com", "use_from": 0}},
        "gravatar": {"settings": {"enable": 1}}, "spamcheck": []}}"#,
    );
    let (mail, tracking) = (&got.mail_settings, &got.tracking_settings);
    assert_eq!(mail.bypass_list_management, Some(Toggle { enable: true }));
    let footer = mail.footer.as_ref().unwrap();
    assert_eq!(
        (footer.text.as_deref(), footer.html.as_deref()),
        (Some("bye"), Some("<p>bye"))
    );
    assert_eq!(mail.wrapper.as_deref(), Some("<i><% body %></i>"));
    let click = tracking.click_tracking.unwrap();
    assert!(click.enable && click.enable_text == Some(false));
    let open = tracking.open_tracking.as_ref().unwrap();
    assert_eq!(open.substitution_tag.as_deref(), Some("%open%"));
    let leave = tracking.subscription_tracking.as_ref().unwrap();
    assert_eq!(
        (leave.html.as_deref(), &leave.substitution_tag),
        (Some("<% out %>"), &None)
    );
    let utm = tracking.ganalytics.as_ref().unwrap();
    assert_eq!(
        (utm.utm_source.as_deref(), &utm.utm_medium),
        (Some("s"), &None)
    );
    assert!(got.template_id.is_some());
}

#[test]
fn a_filter_is_switched_off_or_left_to_the_account() {
    let got = good(
        r#"{"filters": {"clicktrack": {"settings": {"enable": 0}}, "opentrack": {"settings": {}},
        "templates": {"settings": {"enable": 0, "template_id": "x"}},
        "template": {"settings": {"enable": "false"}}, "footer": {}}}"#,
    );
    assert!(!got.tracking_settings.click_tracking.unwrap().enable);
    assert_eq!(got.tracking_settings.open_tracking, None);
    assert_eq!((got.template_id, got.mail_settings.footer), (None, None));
    assert_eq!(got.mail_settings.wrapper.as_deref(), Some(""));
    bad(
        r#"{"filters": {"bypass_list_management": {"settings": {"enable": 1}},
        "bypass_spam_management": {"settings": {"enable": 1}}}}"#,
        "combined",
    );
}

#[test]
fn invalid_reply_addresses_are_left_out() {
    let got = good(
        r#"{"reply_to_list": ["a@example.com", "nobody", {"email": "b@example.com", "name": "Bea"},
        {"name": "x"}, {"email": 5}, "A@example.com", null]}"#,
    );
    let shown: Vec<_> = got
        .reply_to
        .iter()
        .map(|m| (m.email.as_str(), m.name.as_deref()))
        .collect();
    assert_eq!(
        shown,
        [("a@example.com", None), ("b@example.com", Some("Bea"))]
    );
    assert_eq!(good(r#"{"reply_to_list": ["nobody"]}"#).reply_to, []);
    assert_eq!(good(r#"{"reply_to_list": 7}"#).reply_to, []);
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC{0,80}", json in "[{}\\[\\]\":,a-z0-9]{0,80}") {
        let _ = read(&text, &WORLD);
        let _ = read(&json, &WORLD);
    }
}
