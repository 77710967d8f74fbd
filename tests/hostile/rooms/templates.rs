//! Templates: compiled, rendered, and searched for what their data lacks.

use posthaste_model::Mail;
use posthaste_render::{
    AccountDefaults, Compiled, Generation, Input, LARGEST_TEMPLATE, RenderError, TemplateVersion,
    effective, has_body_tag, missing_variables, render,
};
use serde_json::json;

use crate::guard::survive;
use crate::shapes::{MAIL, data, html, templates};

fn compile(generation: Generation, text: &str) -> Option<Compiled> {
    let version = TemplateVersion {
        generation,
        subject: "News",
        html_content: text,
        plain_content: "",
        generate_plain_content: true,
    };
    Compiled::compile(&version).ok()
}

/// The copy of a recipient with this data.
fn copy(template: &Compiled, data: &str) -> Result<usize, RenderError> {
    let mail = json!({
        "from": {"email": "news@example.com"}, "subject": "News",
        "content": [{"type": "text/html", "value": "<p>x</p>"}],
        "personalizations": [{"to": [{"email": "ann@example.com"}]}],
    });
    let mut mail: Mail = serde_json::from_value(mail).unwrap();
    let to = mail.personalizations.first_mut().unwrap();
    to.dynamic_template_data = Some(data.to_owned());
    let settings = effective(&AccountDefaults::default(), &mail);
    let rendered = render(&Input {
        mail: &mail,
        copy: mail.copies().next().unwrap(),
        template: Some(template),
        settings: &settings,
        links: None,
    })?;
    Ok(rendered.parts.iter().map(|part| part.value.len()).sum())
}

#[test]
fn any_template_is_compiled_and_rendered() {
    for (name, make) in templates() {
        survive(name, move || {
            let text = make(LARGEST_TEMPLATE);
            has_body_tag(&text);
            for generation in [Generation::Dynamic, Generation::Legacy] {
                if let Some(template) = compile(generation, &text) {
                    for (_, data) in data() {
                        let data = data(64 * 1024);
                        let _ = copy(&template, &data);
                        let _ = missing_variables(&template, &data);
                    }
                }
            }
        });
    }
}

#[test]
fn any_data_is_rendered() {
    for (name, make) in templates() {
        let Some(template) = compile(Generation::Dynamic, &make(LARGEST_TEMPLATE)) else {
            continue;
        };
        for (what, data) in data() {
            let template = template.clone();
            survive(&format!("{name}, {what}"), move || {
                if let Ok(size) = copy(&template, &data(MAIL)) {
                    assert!(size <= 4 * MAIL);
                }
            });
        }
    }
}

#[test]
fn any_html_is_an_older_template() {
    for (name, make) in html() {
        survive(name, move || {
            let text = make(LARGEST_TEMPLATE);
            if let Some(template) = compile(Generation::Legacy, &text) {
                let _ = copy(&template, "{}");
            }
        });
    }
}

#[test]
fn members_of_a_large_text_are_read_within_the_budget() {
    let text = "x".repeat(MAIL / 3);
    let turns = vec!["0"; 100_000].join(",");
    let data = format!("{{\"a\": \"{text}\", \"list\": [{turns}]}}");
    for (name, member) in [
        (
            "a member that no text has",
            "{{#each list}}{{../a.x}}{{/each}}",
        ),
        (
            "the length of a text",
            "{{#each list}}{{../a.length}}{{/each}}",
        ),
        (
            "a text in a block",
            "{{#with a}}{{#each ../list}}{{../x}}{{/each}}{{/with}}",
        ),
        (
            "a text with a name",
            "{{#each list as |one|}}{{#with ../a}}{{this.length}}{{/with}}{{/each}}",
        ),
    ] {
        let data = data.clone();
        survive(name, move || {
            let template = compile(Generation::Dynamic, member).unwrap();
            let _ = copy(&template, &data);
        });
    }
}
