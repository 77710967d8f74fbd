//! Handlebars templates, and the data that they are filled with.

use super::{Shape, fill, made, run};

/// Templates of every shape.
pub(crate) fn templates() -> Vec<Shape> {
    vec![
        run("openings", "", "{{", ""),
        run("raw openings", "", "{{{", ""),
        run("blocks in blocks", "", "{{#if a}}", ""),
        run("blocks", "", "{{#if a}}x{{/if}}", ""),
        made("sixty-four loops in loops", |_| {
            format!(
                "{}x{}",
                "{{#each @root.l}}".repeat(64),
                "{{/each}}".repeat(64)
            )
        }),
        made("sixty-four blocks with arms", |_| {
            let open = "{{#with a}}{{else if a}}{{#each l}}".repeat(32);
            format!("{open}x{}", "{{/each}}{{/with}}".repeat(32))
        }),
        run("arms", "{{#if no}}", "{{else if no}}", "{{/if}}"),
        run("conditions", "{{#and", " a", "}}{{/and}}"),
        run("parentheses", "{{", "(", "}}"),
        run("lengths", "{{#if", " length", "}}{{/if}}"),
        run("a text that is not closed", "{{a \"", "\\\"", ""),
        run("comments that do not end", "{{!--", "}} ", ""),
        run("blanks around blocks", "", " {{#if a}} {{/if}} ", ""),
        run("one line of blanks", "{{#if a}}", " ", "{{/if}}"),
        run("escaped openings", "", "\\{{", ""),
        run("a path", "{{#each l}}{{a", ".a", "}}{{/each}}"),
        run("a long name", "{{#each l}}{{", "a", "}}{{/each}}"),
        run(
            "a long name of a block",
            "{{#each l as |",
            "a",
            "b|}}{{c}}{{/each}}",
        ),
        run("steps outwards", "{{", "../", "a}}"),
        run("values", "", "{{l}}", ""),
        run(
            "values of a loop",
            "{{#each l}}",
            "{{../t}}{{@key}}",
            "{{/each}}",
        ),
        run("a date of brackets", "{{formatDate d \"", "[", "\"}}"),
        run("a date of months", "{{formatDate d \"", "MMMM", "\"}}"),
        run(
            "dates of a form that was sent",
            "",
            "{{formatDate d t}}",
            "",
        ),
        run(
            "conditions on dates of lists",
            "{{#each l}}",
            "{{#if (formatDate ../n ../t)}}{{/if}}",
            "{{/each}}",
        ),
        run(
            "comparisons",
            "{{#each l}}",
            "{{#equals ../t ../n}}{{/equals}}",
            "{{/each}}",
        ),
        run("tags of an older template", "", "<%body%>", ""),
        run("what is no tag", "", "}}{{a", ""),
    ]
}

/// Data for them: `l` a list, `n` a list of lists, `t` a text, `d` a date, `a` an object.
pub(crate) fn data() -> Vec<Shape> {
    let of = |l: &str, n: &str, t: &str| {
        format!(
            r#"{{"d":"2026-01-01T00:00:00Z","a":{{"a":{{"a":1}}}},"l":[{l}0],"n":[{n}0],"t":"{t}"}}"#
        )
    };
    vec![
        made("little data", move |_| of(&"0,".repeat(300), "", "x")),
        made("a long list", move |size| {
            of(&fill("0,", size.saturating_sub(128)), "", "[")
        }),
        made("lists in lists", move |size| {
            let deep = format!("{}{},", "[".repeat(120), "]".repeat(120));
            of(
                &"0,".repeat(300),
                &fill(&deep, size.saturating_sub(2_000)),
                "[",
            )
        }),
        made("a long form", move |size| {
            of(
                &"0,".repeat(300),
                "",
                &fill("[", size.saturating_sub(2_000)),
            )
        }),
        made("a form of months", move |size| {
            of(
                &"0,".repeat(300),
                "",
                &fill("MMMM[x]", size.saturating_sub(2_000)),
            )
        }),
    ]
}
