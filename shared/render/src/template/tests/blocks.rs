//! Conditions, comparisons, loops.

use super::{ANN, check};

#[test]
fn conditions_follow_the_truth_of_javascript() {
    for (name, truth) in [
        ("nobody", false),
        ("none", false),
        ("no", false),
        ("zero", false),
        ("empty", false),
        ("nothing", false),
        ("yes", true),
        ("n", true),
        ("name", true),
        ("list", true),
        ("hash", true),
    ] {
        let (yes, no) = if truth { ("y", "n") } else { ("n", "y") };
        check(
            &format!("{{{{#if {name}}}}}y{{{{else}}}}n{{{{/if}}}}"),
            ANN,
            yes,
        );
        check(
            &format!("{{{{#unless {name}}}}}y{{{{else}}}}n{{{{/unless}}}}"),
            ANN,
            no,
        );
    }
    check(
        "{{#if no}}a{{else if zero}}b{{else if name}}c{{else}}d{{/if}}",
        ANN,
        "c",
    );
    check("{{#if no}}a{{else if zero}}b{{/if}}", ANN, "");
    check("{{#if no}}a{{^}}b{{/if}}", ANN, "b");
    check(
        "{{#if \"\"}}a{{else}}b{{/if}}{{#if 1}}c{{/if}}{{#if false}}d{{/if}}",
        ANN,
        "bc",
    );
}

#[test]
fn comparisons_coerce() {
    let data = r#"{"one":1,"text":"1","word":"abc","yes":true,"f":1.0,"null":null,"l":[1],"z":0,"neg":-1}"#;
    for (block, holds) in [
        ("equals one text", true),
        ("equals text 1", true),
        ("equals \"1\" 1", true),
        ("equals 3 \"3\"", true),
        ("equals one f", true),
        ("equals yes one", true),
        ("equals word \"abc\"", true),
        ("equals word 'abc'", true),
        ("equals word one", false),
        ("equals null missing", true),
        ("equals null z", false),
        ("equals l l", true),
        ("equals l one", false),
        ("equals \"\" 0", true),
        ("notEquals one text", false),
        ("notEquals word \"abd\"", true),
        ("greaterThan \"10\" \"9\"", true),
        ("greaterThan one text", false),
        ("greaterThan 2 one", true),
        ("greaterThan missing 0", false),
        ("greaterThan \"2024-02-01\" \"2024-01-31\"", true),
        ("lessThan one 2", true),
        ("lessThan one one", false),
        ("lessThan missing 5", false),
        ("lessThan neg 0", true),
        ("and one word", true),
        ("and one z", false),
        ("and neg 0.0", false),
        ("and one word yes", true),
        ("or z \"\"", false),
        ("or z neg", true),
        ("or missing word", true),
        ("equals word.length 3", true),
    ] {
        let name = block.split(' ').next().unwrap();
        let html = format!("{{{{#{block}}}}}y{{{{else}}}}n{{{{/{name}}}}}");
        check(&html, data, if holds { "y" } else { "n" });
    }
    check(
        "{{#equals one 2}}a{{else equals one 1}}b{{else}}c{{/equals}}",
        data,
        "b",
    );
}

#[test]
fn length_is_called_without_parentheses() {
    let data = r#"{"cartItems":["raft","water"],"name":"héllo😀","n":5}"#;
    for (html, want) in [
        (
            "{{#greaterThan length cartItems 0}}y{{else}}n{{/greaterThan}}",
            "y",
        ),
        (
            "{{#greaterThan length cartItems 2}}y{{else}}n{{/greaterThan}}",
            "n",
        ),
        (
            "{{#greaterThan 0 length cartItems}}y{{else}}n{{/greaterThan}}",
            "n",
        ),
        (
            "{{#lessThan 0 length cartItems}}y{{else}}n{{/lessThan}}",
            "y",
        ),
        (
            "{{#equals length cartItems length cartItems}}y{{/equals}}",
            "y",
        ),
        (
            "{{#greaterThan (length cartItems) 1}}y{{/greaterThan}}",
            "y",
        ),
        ("{{#if length cartItems}}y{{/if}}", "y"),
        ("{{#if length missing}}y{{else}}n{{/if}}", "n"),
        (
            "{{length cartItems}} {{length name}} {{length n}} {{length missing}}",
            "2 7 0 0",
        ),
        ("{{length}}", ""),
    ] {
        check(html, data, want);
    }
}

#[test]
fn loops_know_where_they_are() {
    for (html, want) in [
        ("{{#each list}}{{@index}}:{{this}} {{/each}}", "0:1 1:2 "),
        (
            "{{#each people}}{{name}}{{this.n}}{{#unless @last}}, {{/unless}}{{/each}}",
            "P, Q9",
        ),
        (
            "{{#each people}}{{#if @first}}first {{/if}}{{name}} of {{../name}} {{@root.n}};{{/each}}",
            "first P of Ann 3;Q of Ann 3;",
        ),
        (
            "{{#each people}}{{#if n}}{{../name}}{{/if}}{{/each}}",
            "Ann",
        ),
        ("{{#each hash}}{{@key}}={{this}};{{/each}}", "b=1;a=2;"),
        ("{{#each hash}}{{@index}}{{/each}}", "01"),
        ("{{#each nothing}}x{{else}}none{{/each}}", "none"),
        ("{{#each missing}}x{{else}}none{{/each}}", "none"),
        ("{{#each name}}x{{else}}none{{/each}}", "none"),
        (
            "{{#each people as |p i|}}{{i}}{{p.name}}{{#each ../list as |v|}}{{p.name}}{{v}}{{i}}{{/each}} {{/each}}",
            "0PP10P20 1QQ11Q21 ",
        ),
        ("{{#each hash as |v k|}}{{k}}{{v}}{{/each}}", "b1a2"),
        (
            "{{#each people}}{{#each ../list}}{{@../index}}{{@index}}{{../../name}} {{/each}}{{/each}}",
            "00Ann 01Ann 10Ann 11Ann ",
        ),
        ("{{#each people}}{{nobody}}{{/each}}", ""),
        ("{{#with user}}{{name}} {{../name}}{{/with}}", "Bob Ann"),
        ("{{#with user.tags}}{{this.[0]}}{{length}}{{/with}}", "x2"),
        ("{{#with nobody}}x{{else}}no{{/with}}", "no"),
        ("{{#with user as |u|}}{{u.name}}{{/with}}", "Bob"),
        ("{{#with zero}}{{this}}{{else}}no{{/with}}", "0"),
        ("{{#with empty}}x{{else}}no{{/with}}", "no"),
        ("{{#zero}}{{this}}{{/zero}}{{^zero}}x{{/zero}}", "0"),
        ("{{#empty}}x{{else}}no{{/empty}}{{#none}}x{{/none}}", "x"),
        ("{{#people}}{{name}}{{/people}}", "PQ"),
        ("{{#user}}{{name}}{{/user}}", "Bob"),
        (
            "{{#yes}}{{name}}{{/yes}}{{#no}}x{{else}}{{name}}{{/no}}",
            "AnnAnn",
        ),
        ("{{^nothing}}none{{/nothing}}{{^list}}x{{/list}}", "none"),
        (
            "{{#each list}}{{#equals this 2}}two{{else}}{{@root.name}}{{/equals}}{{/each}}",
            "Anntwo",
        ),
        ("{{#each nothing}}a{{else if yes}}b{{else}}c{{/each}}", "b"),
    ] {
        check(html, ANN, want);
    }
}

#[test]
fn the_outer_context_stays_visible_inside_comparing_blocks() {
    let html = "{{#each people}}{{#greaterThan n 5}}{{name}} {{n}} {{../name}}{{/greaterThan}}{{/each}}{{#equals n 3}}{{name}}{{/equals}}";
    check(html, ANN, "Q 9 AnnAnn");
}
