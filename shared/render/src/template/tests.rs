//! Tables of templates, data, and what comes out (API facts 2.7).

use super::*;

fn compile(html: &str) -> Result<Compiled, CompileError> {
    Compiled::compile(&TemplateVersion {
        generation: Generation::Dynamic,
        subject: "",
        html_content: html,
        plain_content: "",
        generate_plain_content: false,
    })
}

fn run(html: &str, data: &str) -> Result<String, RenderError> {
    let compiled = compile(html).unwrap_or_else(|e| panic!("{html:?}: {e}"));
    let Body::Dynamic(texts) = &compiled.body else {
        panic!("not dynamic")
    };
    let data = Data::Map(Data::object(data).unwrap());
    let texts = texts.run(&data, &[], &mut Budget::default())?;
    Ok(texts.html.unwrap_or_default())
}

#[track_caller]
fn check(html: &str, data: &str, want: &str) {
    assert_eq!(run(html, data).as_deref(), Ok(want), "{html:?} with {data}");
}

#[track_caller]
fn refused(html: &str, line: usize, reason: &str) {
    let error = compile(html).expect_err(html);
    assert_eq!(
        (error.line, error.reason.as_str()),
        (line, reason),
        "{html:?}"
    );
}

const ANN: &str = r#"{"name":"Ann","user":{"name":"Bob","tags":["x","y"]},"n":3,"zero":0,"list":[1,2],
    "none":null,"yes":true,"no":false,"empty":"","nothing":[],"hash":{"b":1,"a":2},"first name":"C",
    "people":[{"name":"P"},{"name":"Q","n":9}]}"#;

#[test]
fn values_show_as_javascript_shows_them() {
    for (html, want) in [
        ("Hi {{name}}, {{user.name}}!", "Hi Ann, Bob!"),
        ("{{ name }}{{  user.name  }}", "AnnBob"),
        ("{{user/name}}", "Bob"),
        (
            "{{nobody}}{{user.nobody}}{{nobody.name.x}}{{name.x}}{{n.x}}",
            "",
        ),
        ("{{none}}", ""),
        ("{{yes}} {{no}}", "true false"),
        ("{{zero}} {{n}}", "0 3"),
        ("{{list}}", "1,2"),
        ("{{hash}}", "[object Object]"),
        ("{{list.0}} {{list.[1]}} {{list.7}}", "1 2 "),
        ("{{list.length}} {{name.length}} {{hash.length}}", "2 3 "),
        ("{{[first name]}} {{user.[name]}}", "C Bob"),
        ("{{this.name}} {{./name}}", "Ann Ann"),
        ("{{@root.user.name}}", "Bob"),
        ("{{../name}}", ""),
        ("{{user.tags.1}}", "y"),
        ("{{! a }}b{{!-- {{c}} --}}d", "bd"),
        (r"\{{name}} {{name}}", "{{name}} Ann"),
        (r"\\{{name}}", r"\Ann"),
        ("{ {name} } }} {", "{ {name} } }} {"),
        ("a\r\n{{name}}\r\nb", "a\r\nAnn\r\nb"),
    ] {
        check(html, ANN, want);
    }
}

#[test]
fn numbers_keep_their_digits() {
    let data = r#"{"a":9007199254740993,"b":1.0,"c":1.50,"d":-0.0,"e":1e21,"f":1.5e-7,"g":18446744073709551615,"h":0.1,"i":123456789.125}"#;
    check(
        "{{a}} {{b}} {{c}} {{d}} {{e}} {{f}} {{g}} {{h}} {{i}}",
        data,
        "9007199254740993 1 1.5 0 1e+21 1.5e-7 18446744073709551615 0.1 123456789.125",
    );
}

#[test]
fn double_braces_escape_and_triple_braces_do_not() {
    let data = r#"{"x":"<a href=\"b\">O'Neil & Co=`"}"#;
    check(
        "{{x}}",
        data,
        "&lt;a href=&quot;b&quot;&gt;O&#x27;Neil &amp; Co=`",
    );
    for raw in ["{{{x}}}", "{{{ x }}}", "{{& x}}", "{{&x}}"] {
        check(raw, data, "<a href=\"b\">O'Neil & Co=`");
    }
}

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
fn white_space_follows_handlebars() {
    for (html, want) in [
        ("a {{~name~}} b", "aAnnb"),
        ("a\n{{#if yes}}\n  b\n{{/if}}\nc\n", "a\n  b\nc\n"),
        (
            "a\n  {{#if yes}}  \n  b\n  {{else}}\n  x\n  {{/if}}\nc",
            "a\n  b\nc",
        ),
        ("{{#if yes}}\r\nb\r\n{{/if}}\r\nc", "b\r\nc"),
        ("{{#each list}}\n{{this}}\n{{/each}}\n", "1\n2\n"),
        ("a {{#if yes}}\nb\n{{/if}} c", "a \nb\n c"),
        ("a\n{{! note }}\nb", "a\nb"),
        ("a\n {{!-- note --}} \nb", "a\nb"),
        ("a\n{{name}}\nb", "a\nAnn\nb"),
        ("{{#if yes~}}\n  b\n{{~/if}}", "b"),
    ] {
        check(html, ANN, want);
    }
    check("a {{~{name}~}} b", ANN, "aAnnb");
}

#[test]
fn what_cannot_be_compiled_is_refused_with_its_line() {
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
    refused("{{name", 1, "the tag is not closed with `}}`");
    refused("{{{name}}", 1, "`}` is out of place");
    refused("{{}}", 1, "the tag is empty");
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
        "{{#if a > b}}{{/if}}",
        1,
        "`>` is not the name of a variable",
    );
    refused(
        "{{#if a == b}}{{/if}}",
        1,
        "`a=` is not supported: give values in order",
    );
    refused(
        "{{#if a includeZero=true}}{{/if}}",
        1,
        "`includeZero=` is not supported: give values in order",
    );
    refused("{{> header}}", 1, "partials are not supported");
    refused("{{#> header}}{{/header}}", 1, "partials are not supported");
    refused("{{* x}}", 1, "decorators are not supported");
    refused("{{{{raw}}}}{{{{/raw}}}}", 1, "raw blocks are not supported");
    refused("{{a..b}}", 1, "`a..b` is not the name of a variable");
    refused(
        "{{a b=\"c\"}}",
        1,
        "`b=` is not supported: give values in order",
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
    refused("{{insert a \"b}}", 1, "a text is not closed with \"");
    refused("{{a.[b}}", 1, "`[` is not closed");
    refused("{{! never", 1, "the comment is not closed with `}}`");
    refused("{{!-- never }}", 1, "the comment is not closed with `--}}`");
    refused(
        "{{#each a as |b}}{{/each}}",
        1,
        "block names are written `as |item index|`",
    );
    refused("{{(length a}}", 1, "`(` is not closed");
    refused("{{#if a)}}{{/if}}", 1, "`)` without `(`");
    refused(
        "{{user@mail}}",
        1,
        "`user@mail` is not the name of a variable",
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
    // The `handlebars` crate takes minutes for this (see `parse`); a slip into quadratic time would
    // make this test hang rather than fail by a clock.
    let unit = "<td style=\"padding:0\">{{user.name}}</td>{{#if yes}}x{{/if}}\n";
    let html = unit.repeat(LARGEST / unit.len());
    let out = run(&html, ANN).unwrap();
    assert_eq!(
        out,
        "<td style=\"padding:0\">Bob</td>x\n".repeat(LARGEST / unit.len())
    );
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

#[test]
fn data_is_an_object_of_bounded_depth() {
    for bad in ["", "null", "3", "\"x\"", "[1]", "{\"a\":}", "{} x"] {
        assert_eq!(Data::object(bad), None, "{bad:?}");
    }
    let deep = |n: usize| format!("{{\"a\":{}{}}}", "[".repeat(n), "]".repeat(n));
    assert!(Data::object(&deep(100)).is_some());
    assert_eq!(Data::object(&deep(10_000)), None);
}
