//! Values, escapes, white space.

use super::{ANN, check};

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
        (
            "{{./.}}{{././name}}{{this/.}}",
            "[object Object]Ann[object Object]",
        ),
        (
            "{{#each list}}{{./.}}{{./this}}{{../.}};{{/each}}",
            "11[object Object];22[object Object];",
        ),
        (
            "{{#each list}}{{.././name}}{{./../name}}{{../this.name}} {{/each}}",
            "AnnAnnAnn AnnAnnAnn ",
        ),
        ("{{list.01}}{{list.[+1]}}", ""),
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
