//! What a version of a template has that this service reads in another way than SendGrid, or not at all.
//!
//! The version is rendered with its test data by the renderer that sends. Remarks are about tags: those that cannot be
//! compiled, those without a value in the test data, and those that are still there in what was rendered.

use std::collections::BTreeSet;

use posthaste_model::{AccountDefaults, Mail, TemplateId};
use posthaste_render::{
    Compiled, Generation, Input, TemplateVersion, effective, missing_variables, render,
};
use serde_json::{Value, json};

use crate::read::text_in;

/// Tags that one remark names.
const MOST_NAMED: usize = 20;

/// Characters of a tag; longer ones are text between two marks.
const LONGEST_TAG: usize = 200;

/// Opening and closing marks of tags that SendGrid's editors and other services use.
const MARKS: [(&str, &str, &str); 5] = [
    ("{{", "}}", "a Handlebars tag"),
    ("<%", "%>", "a tag of legacy templates"),
    ("[%", "%]", "a tag of marketing campaigns"),
    ("*|", "|*", "a merge tag of another service"),
    ("[Unsubscribe", "]", "a tag of marketing campaigns"),
];

/// What is to be said about a version; nothing about most.
pub(crate) fn remarks(id: &TemplateId, version: &Value) -> Vec<String> {
    let text = |name: &str| text_in(version, name).unwrap_or_default();
    let generates = version.get("generate_plain_content");
    let source = TemplateVersion {
        generation: Generation::of(id),
        subject: text("subject"),
        html_content: text("html_content"),
        plain_content: text("plain_content"),
        generate_plain_content: generates.and_then(Value::as_bool).unwrap_or(true),
    };
    let compiled = match Compiled::compile(&source) {
        Ok(compiled) => compiled,
        Err(error) => return vec![format!("not read: {error}")],
    };
    let data = match text("test_data") {
        "" => "{}",
        data => data,
    };
    if !matches!(serde_json::from_str(data), Ok(Value::Object(_))) {
        return vec!["its test data is no JSON object, so that it was not rendered".to_owned()];
    }
    let mut found = Vec::new();
    let has_data = !text("test_data").is_empty();
    match missing_variables(&compiled, data) {
        Ok(missing) if !missing.is_empty() && has_data => {
            let names = missing.iter().map(|name| format!("{{{{{name}}}}}"));
            found.push(format!("empty with its test data: {}", named(names)));
        }
        Ok(_) => {}
        Err(error) => found.push(format!("not rendered: {error}")),
    }
    match rendered(id, &compiled, data) {
        Ok(texts) => found.extend(left_over(&texts)),
        Err(why) => found.push(format!("not rendered with its test data: {why}")),
    }
    found
}

/// Subject and parts, as a mail with this data has them.
fn rendered(id: &TemplateId, compiled: &Compiled, data: &str) -> Result<Vec<String>, String> {
    let mail = json!({
        "personalizations": [{
            "to": [{"email": "preview@example.com"}],
            "dynamic_template_data": id.is_dynamic().then_some(data),
        }],
        "from": {"email": "preview@example.com"},
        "subject": "Subject",
        "content": [],
        "template_id": id,
    });
    let mail: Mail = serde_json::from_value(mail).map_err(|error| error.to_string())?;
    let settings = effective(&AccountDefaults::default(), &mail);
    let copy = mail.copies().next().ok_or("there is no recipient")?;
    let input = Input {
        mail: &mail,
        copy,
        template: Some(compiled),
        settings: &settings,
        links: None,
    };
    let rendered = render(&input).map_err(|error| error.to_string())?;
    let parts = rendered.parts.into_iter().map(|part| part.value);
    Ok([rendered.subject].into_iter().chain(parts).collect())
}

/// Tags that are still there: recipients would see them.
fn left_over(texts: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for (open, close, what) in MARKS {
        let mut tags = BTreeSet::new();
        for text in texts {
            let mut rest = text.as_str();
            while let Some(at) = rest.find(open) {
                rest = rest.get(at..).unwrap_or_default();
                let Some(end) = rest.find(close) else { break };
                let tag = rest.get(..end + close.len()).unwrap_or_default();
                let is_unsubscribe = open == "<%" && is_unsubscribe(tag);
                if tag.chars().count() <= LONGEST_TAG && !is_unsubscribe {
                    tags.insert(tag.to_owned());
                }
                rest = rest.get(open.len()..).unwrap_or_default();
            }
        }
        if !tags.is_empty() {
            found.push(format!(
                "{what} stays as it is: {}",
                named(tags.into_iter())
            ));
        }
    }
    found
}

/// Whether a tag is replaced when links are made, which a check makes none of.
fn is_unsubscribe(tag: &str) -> bool {
    let name = tag.trim_start_matches("<%").trim_end_matches("%>").trim();
    name.is_empty() || name.starts_with("asm_") || name.to_lowercase().contains("unsubscribe")
}

fn named(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.collect();
    let beside = names.len().saturating_sub(MOST_NAMED);
    let mut text = names
        .iter()
        .take(MOST_NAMED)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    if beside > 0 {
        text.push_str(&format!(" and {beside} more"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(generation: &str, html: &str, data: &str) -> Vec<String> {
        let id = match generation {
            "dynamic" => "d-5a963add2ec84305813ff860db277d7a",
            _ => "733ba07f-ead1-41fc-933a-3976baa23716",
        };
        let version = json!({"subject": "", "html_content": html, "test_data": data,
            "generate_plain_content": false});
        remarks(&TemplateId::parse(id).unwrap(), &version)
    }

    #[test]
    fn a_remark_is_made_about_what_reads_otherwise() {
        let data = r#"{"name":"Ada","items":[1]}"#;
        for (generation, html, data, want) in [
            (
                "dynamic",
                "<p>{{name}} {{#each items}}{{this}}{{/each}}</p>",
                data,
                vec![],
            ),
            ("dynamic", "<p>{{name}}</p>", "", vec![]),
            (
                "dynamic",
                "{{name}} {{surname}}",
                data,
                vec!["empty with its test data: {{surname}}"],
            ),
            (
                "dynamic",
                "[%first_name%] {{name}}",
                data,
                vec!["a tag of marketing campaigns stays as it is: [%first_name%]"],
            ),
            (
                "legacy",
                "<p><%body%></p> <% asm_group_unsubscribe_raw_url %>",
                "",
                vec![],
            ),
            (
                "legacy",
                "<p><%body%></p> {{name}} *|FNAME|*",
                "",
                vec![
                    "a Handlebars tag stays as it is: {{name}}",
                    "a merge tag of another service stays as it is: *|FNAME|*",
                ],
            ),
            (
                "dynamic",
                "{{name}}",
                "[1]",
                vec!["its test data is no JSON object, so that it was not rendered"],
            ),
        ] {
            assert_eq!(of(generation, html, data), want, "{html}");
        }
        let broken = of("dynamic", "a\n{{#if name}}", data);
        assert!(
            broken[0].starts_with("not read: html_content, line"),
            "{broken:?}"
        );
    }
}
