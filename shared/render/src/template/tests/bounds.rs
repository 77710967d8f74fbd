//! Refused templates, and limits.

use super::{ANN, check, refused, run};
use crate::RenderError;
use crate::template::{Data, LARGEST};

#[test]
fn blocks_that_do_not_fit_are_refused() {
    refused("a\nb {{#if x}}\nc", 2, "{{#if}} is not closed");
    refused("a\n{{/if}}", 2, "{{/if}} closes nothing");
    refused(
        "{{#if a}}\n{{#each b}}\n{{/if}}",
        3,
        "{{/if}} closes {{#each}} of line 2",
    );
    refused("{{else}}", 1, "{{else}} without a block");
    refused(
        "{{#if a}}{{else}}\n{{else}}{{/if}}",
        2,
        "a second {{else}} in {{#if}}",
    );
    refused(
        "{{#if a > b}}{{/if}}",
        1,
        "`>` is not the name of a variable",
    );
    refused("{{a.[b}}", 1, "`[` is not closed");
    refused("{{(length a}}", 1, "`(` is not closed");
    refused("{{#if a)}}{{/if}}", 1, "`)` without `(`");
}

#[test]
fn tags_that_make_no_sense_are_refused() {
    refused("{{name", 1, "the tag is not closed with `}}`");
    refused("{{{name}}", 1, "`}` is out of place");
    refused("{{}}", 1, "the tag is empty");
    refused("{{a..b}}", 1, "`a..b` is not the name of a variable");
    refused("{{insert a \"b}}", 1, "a text is not closed with \"");
    refused("{{! never", 1, "the comment is not closed with `}}`");
    refused("{{!-- never }}", 1, "the comment is not closed with `--}}`");
    refused(
        "{{#each a as |b}}{{/each}}",
        1,
        "block names are written `as |item index|`",
    );
    refused(
        "{{user@mail}}",
        1,
        "`user@mail` is not the name of a variable",
    );
}

#[test]
fn helpers_without_their_values_are_refused() {
    refused("{{#if}}{{/if}}", 1, "`if` takes 1 value, not 0");
    refused("{{#if a b}}{{/if}}", 1, "`if` takes 1 value, not 2");
    refused(
        "{{#equals a}}{{/equals}}",
        1,
        "`equals` takes 2 values, not 1",
    );
    refused(
        "{{#and a}}{{/and}}",
        1,
        "`and` takes 2 values or more, not 1",
    );
    refused(
        "{{insert a}}",
        1,
        "`insert` takes a variable and a default, not 1",
    );
    refused(
        "{{formatDate a b c d}}",
        1,
        "`formatDate` takes a time, a format and an offset, not 4",
    );
}

#[test]
fn helpers_that_are_unknown_are_refused() {
    refused(
        "{{first name}}",
        1,
        "`first` is not a helper (and the name of a variable holds no spaces)",
    );
    refused("{{#bold x}}{{/bold}}", 1, "`bold` is not a block helper");
    refused(
        "{{#each a}}{{else bold}}{{/each}}",
        1,
        "`bold` cannot follow `else`",
    );
    refused(
        "{{#if (eq a b)}}{{/if}}",
        1,
        "`eq` is not supported: use the blocks equals, notEquals, greaterThan, lessThan, and, or, unless",
    );
    refused(
        "{{equals a b}}",
        1,
        "`equals` is a block: write {{#equals …}}",
    );
    refused(
        "{{#if a == b}}{{/if}}",
        1,
        "`a=` is not supported: give values in order",
    );
    refused(
        "{{#each a includeZero=true}}{{/each}}",
        1,
        "`includeZero=` is not supported: give values in order",
    );
    refused("{{> header}}", 1, "partials are not supported");
    refused("{{#> header}}{{/header}}", 1, "partials are not supported");
    refused("{{* x}}", 1, "decorators are not supported");
    refused("{{{{raw}}}}{{{{/raw}}}}", 1, "raw blocks are not supported");
    refused(
        "{{a b=\"c\"}}",
        1,
        "`b=` is not supported: give values in order",
    );
}

#[test]
fn depth_and_size_are_bounded() {
    let nested = |n: usize| format!("{}x{}", "{{#if yes}}".repeat(n), "{{/if}}".repeat(n));
    check(&nested(64), ANN, "x");
    refused(&nested(65), 1, "more than 64 blocks inside one another");
    let parens = |n: usize| format!("{{{{{}a{}}}}}", "(length ".repeat(n), ")".repeat(n));
    check(&parens(8), r#"{"a":"b"}"#, "0");
    refused(&parens(9), 1, "more than 8 parentheses inside one another");
    refused(
        &"x".repeat(LARGEST + 1),
        1,
        "the text exceeds 1048576 bytes",
    );
    let chain = format!(
        "{{{{#if no}}}}{}{{{{/if}}}}",
        "{{else if no}}".repeat(50_000)
    );
    check(&chain, ANN, "");
}

#[test]
fn loops_and_output_are_bounded() {
    let list = format!(
        "{{\"l\":[{}0],\"t\":\"{}\"}}",
        "0,".repeat(999),
        "x".repeat(1_000)
    );
    let loops = |n: usize, body: &str| {
        format!(
            "{}{body}{}",
            "{{#each @root.l}}".repeat(n),
            "{{/each}}".repeat(n)
        )
    };
    assert!(run(&loops(1, "."), &list).is_ok());
    assert_eq!(run(&loops(2, ""), &list), Err(RenderError::TooManySteps));
    assert_eq!(run(&loops(6, ""), &list), Err(RenderError::TooManySteps));
    let loud = format!("{{{{#each l}}}}{}{{{{/each}}}}", "y".repeat(40_000));
    assert_eq!(run(&loud, &list), Err(RenderError::TooLarge));
    let heavy = format!(
        "{{\"l\":[{}0],\"t\":\"{}\"}}",
        "0,".repeat(999),
        "x".repeat(5_000_000)
    );
    assert_eq!(
        run("{{#each l}}{{#equals ../t 1}}{{/equals}}{{/each}}", &heavy),
        Err(RenderError::TooManySteps)
    );
}

#[test]
fn a_large_template_compiles_in_one_pass() {
    // The `handlebars` crate takes minutes for this (see `parse`); quadratic time would make this
    // test hang rather than fail by a clock.
    let unit = "<td style=\"padding:0\">{{user.name}}</td>{{#if yes}}x{{/if}}\n";
    let html = unit.repeat(LARGEST / unit.len());
    let out = run(&html, ANN).unwrap();
    assert_eq!(
        out,
        "<td style=\"padding:0\">Bob</td>x\n".repeat(LARGEST / unit.len())
    );
}

#[test]
fn data_is_an_object_of_bounded_depth() {
    for bad in ["", "null", "3", "\"x\"", "[1]", "{\"a\":}", "{} x"] {
        assert_eq!(Data::object(bad), None, "{bad:?}");
    }
    let deep = |n: usize| format!("{{\"a\":{}{}}}", "[".repeat(n), "]".repeat(n));
    assert!(Data::object(&deep(100)).is_some());
    assert_eq!(Data::object(&deep(10_000)), None);
    // The object and its list are values too.
    let many = |n: usize| format!("{{\"a\":[{}0]}}", "[],".repeat(n - 3));
    assert!(Data::object(&many(1_000_000)).is_some());
    assert_eq!(Data::object(&many(1_000_001)), None);
}

#[test]
fn a_compiled_template_can_be_shared_between_threads() {
    fn shared<T: Send + Sync + 'static>() {}
    shared::<crate::Compiled>();
    shared::<crate::KeyRing>();
}
