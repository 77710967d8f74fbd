//! `insert`, `formatDate`, and the list of missing variables.

use super::{ANN, check, compile};
use crate::RenderError;
use crate::template::missing_variables;

#[test]
fn insert_has_a_default() {
    for (html, want) in [
        ("{{insert name \"default=Customer\"}}", "Ann"),
        ("{{insert nobody \"default=Customer\"}}", "Customer"),
        ("{{insert empty \"default=Customer\"}}", "Customer"),
        ("{{insert nobody \"your business\"}}", "your business"),
        ("{{insert nobody 'a & b'}}", "a &amp; b"),
        ("{{{insert nobody 'a & b'}}}", "a & b"),
        ("{{insert nobody \"say \\\"hi\\\"\"}}", "say &quot;hi&quot;"),
        ("{{insert zero \"default=x\"}}", "0"),
        ("{{insert nobody name}}", "Ann"),
        ("{{#if (insert nobody \"\")}}y{{else}}n{{/if}}", "n"),
    ] {
        check(html, ANN, want);
    }
}

#[test]
fn lookup_follows_a_key() {
    let data = r#"{"hash":{"b":1,"a":2},"list":[1,2],"grid":[[1,2],[3,4]],"key":"a","i":1,"name":"Ann",
        "people":[{"name":"P"},{"name":"Q"}],"zero":0,"none":null,"empty":"","no":false,"wide":"é😀"}"#;
    // Each as handlebars.js 4.7 renders it.
    for (html, want) in [
        (
            "{{lookup hash key}} {{lookup hash \"b\"}} {{{lookup hash key}}}",
            "2 1 2",
        ),
        (
            "{{lookup list i}}{{lookup list 0}}{{lookup list \"1\"}}{{lookup list 1.0}}",
            "2122",
        ),
        (
            "{{lookup list -1}}{{lookup list \"01\"}}{{lookup list \"+1\"}}{{lookup list list}}",
            "",
        ),
        (
            "{{lookup nobody key}}{{lookup hash nobody}}{{lookup hash \"constructor\"}}",
            "",
        ),
        (
            "{{lookup hash hash}}{{lookup hash none}}{{lookup none \"x\"}}{{lookup empty 0}}",
            "",
        ),
        ("{{lookup zero \"x\"}} {{lookup no 1}}", "0 false"),
        (
            "{{lookup name 0}}{{lookup name \"length\"}}{{lookup \"abc\" 1}}",
            "A3b",
        ),
        (
            "{{lookup wide 0}}{{lookup wide \"length\"}}{{lookup wide 9}}",
            "é3",
        ),
        (
            "{{lookup list \"length\"}}{{lookup (lookup grid 1) 0}}",
            "23",
        ),
        ("{{#each people}}{{lookup ../list @index}}{{/each}}", "12"),
        ("{{#each (lookup grid 0)}}{{this}},{{/each}}", "1,2,"),
        ("{{#with (lookup people 1)}}{{name}}{{/with}}", "Q"),
        ("{{#if (lookup hash \"z\")}}y{{else}}n{{/if}}", "n"),
        ("{{lookup . \"name\"}}{{lookup this key}}", "Ann"),
    ] {
        check(html, data, want);
    }
}

#[test]
fn include_zero_makes_the_number_true() {
    // Each as handlebars.js 4.7 renders it.
    for (condition, holds) in [
        ("zero includeZero=true", true),
        ("zero includeZero = yes", true),
        ("zero includeZero=\"false\"", true),
        ("zero includeZero=(lookup hash \"b\")", true),
        ("zero includeZero=false", false),
        ("zero includeZero=nobody", false),
        ("nobody includeZero=true", false),
        ("empty includeZero=true", false),
        ("no includeZero=true", false),
        ("none includeZero=true", false),
        ("nothing includeZero=true", false),
        ("0 includeZero=true", true),
        ("-0 includeZero=true", true),
        ("name includeZero=false", true),
        ("length nothing includeZero=true", true),
    ] {
        let (yes, no) = if holds { ("y", "n") } else { ("n", "y") };
        check(
            &format!("{{{{#if {condition}}}}}y{{{{else}}}}n{{{{/if}}}}"),
            ANN,
            yes,
        );
        let unless = format!("{{{{#unless {condition}}}}}y{{{{else}}}}n{{{{/unless}}}}");
        check(&unless, ANN, no);
        let chain = format!("{{{{#if no}}}}a{{{{else if {condition}}}}}y{{{{else}}}}n{{{{/if}}}}");
        check(&chain, ANN, yes);
    }
}

#[test]
fn dates_are_formatted() {
    let data = r#"{"iso":"2020-01-02T03:04:05.678Z","epoch":1577934245,"ms":1577934245678,"text":"1577934245",
        "east":"2020-01-02T05:04:05+02:00","day":"2020-01-02","bare":"2020-01-02T15:04:05","bad":"tomorrow","far":9e99,"off":"-0800","fmt":"YYYY"}"#;
    for (html, want) in [
        (
            "{{formatDate iso \"MMMM DD, YYYY h:mm:ss A\"}}",
            "January 02, 2020 3:04:05 AM",
        ),
        (
            "{{formatDate iso \"MMMM DD, YYYY h:mm:ss A\" -0800}}",
            "January 01, 2020 7:04:05 PM",
        ),
        (
            "{{formatDate iso \"D MMM YY HH:mm Z\" \"-08:00\"}}",
            "1 Jan 20 19:04 -08:00",
        ),
        ("{{formatDate iso \"HH:mm ZZ\" off}}", "19:04 -0800"),
        (
            "{{formatDate iso \"H:m:s ddd dddd\" \"+0530\"}}",
            "8:34:5 Thu Thursday",
        ),
        ("{{formatDate epoch \"YYYY-MM-DD hh\"}}", "2020-01-02 03"),
        ("{{formatDate ms \"YYYY-MM-DD\"}}", "2020-01-02"),
        ("{{formatDate text \"M/D\"}}", "1/2"),
        ("{{formatDate east \"HH\"}}", "03"),
        ("{{formatDate day \"D MMM\"}}", "2 Jan"),
        ("{{formatDate bare \"hh A a\"}}", "03 PM pm"),
        ("{{formatDate iso fmt}}", "2020"),
        ("{{formatDate iso}}", "2020-01-02T03:04:05.678Z"),
        (
            "{{formatDate iso \"\" -0800}}",
            "2020-01-01T19:04:05.678-08:00",
        ),
        ("{{formatDate iso \"[Day] D\"}}", "Day 2"),
        ("{{formatDate iso \"YYYY\" \"nowhere\"}}", "2020"),
        ("{{formatDate iso \"YYYY\" \"+9999\"}}", "2020"),
        ("{{formatDate bad \"YYYY\"}}", "tomorrow"),
        ("{{formatDate far \"YYYY\"}}", "9e+99"),
        ("{{formatDate missing \"YYYY\"}}", ""),
        ("{{formatDate iso \"é D\"}}", "é 2"),
    ] {
        check(html, data, want);
    }
}

#[test]
fn missing_variables_are_listed() {
    let list = |html: &str, data: &str| missing_variables(&compile(html).unwrap(), data);
    let want = |names: &[&str]| Ok(names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>());
    assert_eq!(
        list("{{name}}{{{nick}}}{{user.age}}", ANN),
        want(&["nick", "user.age"])
    );
    assert_eq!(
        list(
            "{{#if a}}{{b}}{{else if c}}{{d}}{{else}}{{name}}{{/if}}",
            ANN
        ),
        want(&["a", "b", "c", "d"])
    );
    assert_eq!(
        list(
            "{{#each people}}{{name}}{{n}}{{../x}}{{@index}}{{/each}}",
            ANN
        ),
        want(&["../x", "n"])
    );
    assert_eq!(
        list("{{#each cart}}{{price}}{{/each}}", ANN),
        want(&["cart"])
    );
    assert_eq!(
        list(
            "{{insert nick \"x\"}}{{#equals length cart size}}{{/equals}}",
            ANN
        ),
        want(&["cart", "size"])
    );
    assert_eq!(list("{{formatDate when \"YYYY\"}}", ANN), want(&["when"]));
    assert_eq!(list("{{none}}", ANN), want(&[]));
    assert_eq!(
        list(
            "{{#with user}}{{name}}{{x}}{{/with}}{{#hash}}{{a}}{{z}}{{/hash}}",
            ANN
        ),
        want(&["x", "z"])
    );
    assert_eq!(list("x", "[]"), Err(RenderError::Data));
    assert_eq!(list("x", "{"), Err(RenderError::Data));
}
