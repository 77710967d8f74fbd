//! The two ways of reading a body agree.

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

use super::*;

const BODIES: [&str; 3] = [
    include_str!("../../tests/bodies/kitchen-sink.json"),
    include_str!("../../tests/bodies/helper.json"),
    include_str!("../../tests/bodies/dynamic-template.json"),
];

/// The fast parse takes a text exactly when the walk finds nothing in it.
#[track_caller]
fn check_agreement(text: &str) -> bool {
    let parsed = serde_json::from_str::<Mail<'_>>(text);
    let mut found = ValidationErrors::default();
    let walked = wrong_types(text, Mail::SHAPE, &mut found);
    let fits = walked.is_ok() && found.is_empty();
    assert_eq!(
        parsed.is_ok(),
        fits,
        "{parsed:?} {walked:?} {found:?} {text}"
    );
    fits
}

fn places(value: &Value) -> usize {
    let inner: usize = match value {
        Value::Array(items) => items.iter().map(places).sum(),
        Value::Object(object) => object.values().map(places).sum(),
        _ => 0,
    };
    1 + inner
}

/// Puts `new` in the `place`-th value below `value`, counted from itself.
fn replace(value: &mut Value, place: &mut usize, new: &Value) -> bool {
    if *place == 0 {
        *value = new.clone();
        return true;
    }
    *place -= 1;
    match value {
        Value::Array(items) => items.iter_mut().any(|v| replace(v, place, new)),
        Value::Object(object) => object.values_mut().any(|v| replace(v, place, new)),
        _ => false,
    }
}

fn replacement() -> impl Strategy<Value = Value> {
    prop::sample::select(vec![
        json!(null),
        json!(true),
        json!(17),
        json!(-1),
        json!(u64::MAX),
        json!(1.0),
        json!(1e300),
        json!(""),
        json!("text \u{1f381}\n"),
        json!([]),
        json!([null]),
        json!(["a"]),
        json!([{}]),
        json!([[[]]]),
        json!({}),
        json!({"a": "b"}),
        json!({"a": 1}),
        json!({"email": "a@b.co", "name": null}),
        json!({"enable": null, "email": []}),
    ])
}

#[test]
fn the_two_ways_of_reading_agree_on_numbers_and_spellings() {
    for value in [
        "0",
        "-0",
        "-1",
        "1.0",
        "1e2",
        "1E400",
        "9223372036854775807",
        "9223372036854775808",
        "18446744073709551616",
        "-9223372036854775808",
        "-9223372036854775809",
        "01",
        "+1",
        "1.",
        ".5",
        "NaN",
        "null",
        "\"1\"",
        "\"\\ud800\"",
        "\"\\ud83d\\ude00\"",
        "tru",
        "",
    ] {
        for text in [
            format!(r#"{{"send_at":{value}}}"#),
            format!(r#"{{"subject":{value}}}"#),
            format!(r#"{{"from":{{"name":{value}}}}}"#),
            format!(r#"{{"headers":{{"a":{value}}}}}"#),
            format!(r#"{{"sections":{{"a":{value}}}}}"#),
            format!(r#"{{"sections":{{"a":{{"b":{value}}}}}}}"#),
            format!(r#"{{"sections":{{"a":{{"b":{{"c":{value}}}}}}}}}"#),
            format!(r#"{{"custom_args":{value}}}"#),
            format!(r#"{{"unknown":{value}}}"#),
            format!(r#"{{"personalizations":[{{"dynamic_template_data":{{"a":{value}}}}}]}}"#),
            format!(r#"{{{value}:1}}"#),
            format!(r#"{{"headers":{{{value}:"x"}}}}"#),
            format!(r#"{{"sections":{{{value}:"x"}}}}"#),
            format!(r#"{{"mail_settings":{{"footer":{{"enable":{value}}}}}}}"#),
            format!(r#"{{"asm":{{"groups_to_display":[1,{value}]}}}}"#),
            format!(r#"{{"subject":{value},"subject":"x"}}"#),
            format!("{value}{{}}"),
            format!("{{}}{value}"),
        ] {
            check_agreement(&text);
        }
    }
}

#[test]
fn every_value_can_be_replaced_by_every_type_and_both_detect_it() {
    let kinds = [
        json!(null),
        json!(true),
        json!(17),
        json!(1.5),
        json!("x"),
        json!([]),
        json!({}),
    ];
    let (mut fits, mut does_not) = (0, 0);
    for body in BODIES {
        let body: Value = serde_json::from_str(body).unwrap();
        for place in 0..places(&body) {
            for kind in &kinds {
                let mut spoilt = body.clone();
                assert!(replace(&mut spoilt, &mut place.clone(), kind));
                if check_agreement(&spoilt.to_string()) {
                    fits += 1;
                } else {
                    does_not += 1;
                }
            }
        }
    }
    assert!(fits > 200 && does_not > 500, "{fits} {does_not}");
}

proptest! {
    #[test]
    fn the_two_ways_of_reading_agree(
        body in prop::sample::select(BODIES.to_vec()),
        changes in prop::collection::vec((any::<Index>(), replacement()), 1..6),
    ) {
        let mut body: Value = serde_json::from_str(body).unwrap();
        for (place, new) in changes {
            let mut place = place.index(places(&body));
            replace(&mut body, &mut place, &new);
        }
        check_agreement(&body.to_string());
    }

    #[test]
    fn the_two_ways_of_reading_agree_on_damaged_text(
        body in prop::sample::select(BODIES.to_vec()),
        cuts in prop::collection::vec((any::<Index>(), "[\\[\\]{}:,\"\\\\0-9a-z]{0,3}"), 1..4),
    ) {
        let mut text: Vec<char> = body.chars().collect();
        for (place, new) in cuts {
            let place = place.index(text.len());
            text.splice(place..=place, new.chars());
        }
        check_agreement(&text.into_iter().collect::<String>());
    }

    #[test]
    fn no_bytes_make_it_panic(body in prop::collection::vec(any::<u8>(), 0..64)) {
        let refused = decode(&body).is_err_and(|found| !found.is_empty());
        let closed = body.contains(&b'}');
        prop_assert!(refused || closed);
    }
}
