//! The pages: readable without scripts, in light and dark, on a phone as on a laptop.

#![allow(
    clippy::indexing_slicing,
    reason = "the documents are embedded, and a test puts all of them together"
)]

use askama::Template;
use posthaste_http::BASE_STYLE;
use pulldown_cmark::{Options, Parser, html};
use serde_json::Value;

use super::fields::{SchemaField, about, fields, kind, resolved};

/// The frame of every page.
#[derive(Template)]
#[template(path = "frame.html")]
struct DocsFrame<'p> {
    /// CSS that other pages have too.
    style: &'p str,
    title: &'p str,
    /// Links beside the text: target and words. Empty for a page without them.
    contents: &'p [(String, String)],
    /// HTML.
    body: &'p str,
}

#[derive(Template)]
#[template(path = "reference.html")]
struct ReferencePage {
    /// HTML.
    introduction: String,
    version: String,
    sections: Vec<ReferenceSection>,
    not_served: Vec<NotServed>,
    count: usize,
    missing: usize,
}

struct ReferenceSection {
    anchor: String,
    title: String,
    about: String,
    operations: Vec<OperationView>,
}

struct OperationView {
    anchor: String,
    method: String,
    path: String,
    summary: String,
    /// HTML.
    about: String,
    /// How a key opens it, or that none is needed.
    access: AccessView,
    is_extension: bool,
    /// HTML each.
    limits: Vec<String>,
    parameters: Vec<ParameterView>,
    body: Option<BodyView>,
    answers: Vec<AnswerView>,
    refusals: String,
}

enum AccessView {
    Public,
    AnyKey,
    Scopes(Vec<String>),
}

struct ParameterView {
    name: String,
    place: String,
    kind: String,
    is_required: bool,
    /// HTML.
    about: String,
}

struct BodyView {
    is_required: bool,
    kind: String,
    fields: Vec<FieldView>,
}

struct FieldView {
    name: String,
    kind: String,
    is_required: bool,
    /// HTML.
    about: String,
}

struct AnswerView {
    status: String,
    /// HTML.
    about: String,
    media: String,
    headers: Vec<(String, String)>,
    fields: Vec<FieldView>,
}

struct NotServed {
    title: String,
    /// HTML.
    why: String,
    /// Without a route.
    calls: Vec<String>,
    /// With a route, whose answer is a refusal, or that there is nothing.
    answered: Vec<String>,
}

/// The reference.
pub(crate) fn reference(document: &Value) -> String {
    let sections: Vec<_> = list(&document["tags"])
        .map(|tag| section(document, tag))
        .collect();
    let not_served: Vec<_> = list(&document["x-not-served"]).map(not_served).collect();
    let mut contents: Vec<_> = sections
        .iter()
        .map(|section| (format!("#{}", section.anchor), section.title.clone()))
        .collect();
    contents.push(("#not-served".to_owned(), "Not served, and why".to_owned()));
    contents.push(("/docs/errors".to_owned(), "Errors".to_owned()));
    let page = ReferencePage {
        introduction: markdown(text(&document["info"]["description"])),
        version: text(&document["info"]["version"]).to_owned(),
        count: sections
            .iter()
            .map(|section| section.operations.len())
            .sum(),
        missing: not_served.iter().map(|group| group.calls.len()).sum(),
        sections,
        not_served,
    };
    framed("API reference", &contents, &page)
}

/// The catalogue of errors, from its Markdown.
pub(crate) fn errors(catalogue: &str) -> String {
    let body = markdown(catalogue);
    framed_html("Errors", &[], &body)
}

pub(crate) fn framed(title: &str, contents: &[(String, String)], page: &impl Template) -> String {
    framed_html(title, contents, &rendered(page))
}

fn framed_html(title: &str, contents: &[(String, String)], body: &str) -> String {
    rendered(&DocsFrame {
        style: BASE_STYLE,
        title,
        contents,
        body,
    })
}

/// Writing to a string fails only if a value that is shown does.
fn rendered(page: &impl Template) -> String {
    page.render().unwrap_or_default()
}

fn section(document: &Value, tag: &Value) -> ReferenceSection {
    let title = text(&tag["name"]);
    let paths = document["paths"].as_object().into_iter().flatten();
    let operations = paths.flat_map(|(path, methods)| {
        let methods = methods.as_object().into_iter().flatten();
        let own = methods.filter(|(_, value)| value["tags"][0] == title);
        own.map(move |(method, value)| operation(document, (method, path), value))
    });
    ReferenceSection {
        anchor: anchor(title),
        title: title.to_owned(),
        about: markdown(text(&tag["description"])),
        operations: operations.collect(),
    }
}

fn operation(document: &Value, (method, path): (&str, &str), value: &Value) -> OperationView {
    let scopes: Vec<_> = list(&value["x-scopes"])
        .map(|scope| text(scope).to_owned())
        .collect();
    let access = match (list(&value["security"]).next(), scopes.is_empty()) {
        (None, _) => AccessView::Public,
        (Some(_), true) => AccessView::AnyKey,
        (Some(_), false) => AccessView::Scopes(scopes),
    };
    let parameters = list(&value["parameters"]).map(|parameter| resolved(document, parameter));
    // The introduction says what every call with a key takes.
    let parameters = parameters.filter(|parameter| parameter["name"] != "on-behalf-of");
    let responses = value["responses"].as_object();
    let (mut answers, mut refusals) = (Vec::new(), Vec::new());
    for (status, response) in responses.into_iter().flatten() {
        if response["$ref"].is_string() {
            refusals.push(status.as_str());
        } else {
            answers.extend(self::answers(document, status, response));
        }
    }
    OperationView {
        anchor: text(&value["operationId"]).to_owned(),
        method: method.to_uppercase(),
        path: path.to_owned(),
        summary: text(&value["summary"]).to_owned(),
        about: markdown(text(&value["description"])),
        access,
        is_extension: value["x-extension"] == true,
        limits: list(&value["x-limits"])
            .map(|limit| inline(text(limit)))
            .collect(),
        parameters: parameters.map(|one| parameter(document, one)).collect(),
        body: body(document, &value["requestBody"]),
        answers,
        refusals: refusals.join(", "),
    }
}

fn parameter(document: &Value, value: &Value) -> ParameterView {
    let schema = &value["schema"];
    let texts = [
        text(&value["description"]).to_owned(),
        about(document, schema),
    ];
    ParameterView {
        name: text(&value["name"]).to_owned(),
        place: text(&value["in"]).to_owned(),
        kind: kind(document, schema),
        is_required: value["required"] == true,
        about: inline(texts.join(" ").trim()),
    }
}

fn body(document: &Value, value: &Value) -> Option<BodyView> {
    let schema = value["content"]["application/json"].get("schema")?;
    Some(BodyView {
        is_required: value["required"] == true,
        kind: kind(document, schema),
        fields: views(fields(document, schema)),
    })
}

/// One for each media type, or one without a body.
fn answers(document: &Value, status: &str, response: &Value) -> Vec<AnswerView> {
    let headers = response["headers"].as_object().into_iter().flatten();
    let headers: Vec<_> = headers
        .map(|(name, header)| (name.clone(), inline(text(&header["description"]))))
        .collect();
    let answer = |media: &str, fields: Vec<SchemaField>| AnswerView {
        status: status.to_owned(),
        about: inline(text(&response["description"])),
        media: media.to_owned(),
        headers: headers.clone(),
        fields: views(fields),
    };
    let Some(content) = response["content"].as_object() else {
        return vec![answer("no body", Vec::new())];
    };
    let each = content.iter().map(|(media, value)| {
        let schema = &value["schema"];
        let media = if media == "application/json" {
            format!("JSON, {}", kind(document, schema))
        } else {
            media.clone()
        };
        answer(&media, fields(document, schema))
    });
    each.collect()
}

fn views(fields: Vec<SchemaField>) -> Vec<FieldView> {
    let view = |field: SchemaField| FieldView {
        name: field.name,
        kind: field.kind,
        is_required: field.is_required,
        about: inline(&field.about),
    };
    fields.into_iter().map(view).collect()
}

fn not_served(group: &Value) -> NotServed {
    let calls = |name: &str| {
        let calls = list(&group[name]);
        calls.map(|call| text(call).to_owned()).collect()
    };
    NotServed {
        title: text(&group["title"]).to_owned(),
        why: inline(text(&group["why"])),
        calls: calls("calls"),
        answered: calls("answered"),
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// `IP access` is `ip-access`.
fn anchor(title: &str) -> String {
    title.to_lowercase().replace(' ', "-")
}

fn markdown(text: &str) -> String {
    let mut html = String::new();
    html::push_html(&mut html, Parser::new_ext(text, Options::ENABLE_TABLES));
    html
}

/// A sentence, without the paragraph around it.
fn inline(text: &str) -> String {
    let html = markdown(text);
    let html = html.trim();
    let inner = html
        .strip_prefix("<p>")
        .and_then(|html| html.strip_suffix("</p>"));
    inner.unwrap_or(html).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::docs::document::document;

    #[test]
    fn the_page_has_every_call_that_is_served_and_every_one_that_is_not() {
        let document = document();
        let page = reference(&document);
        let paths = document["paths"].as_object().unwrap();
        for (path, methods) in paths {
            for (method, operation) in methods.as_object().unwrap() {
                let id = text(&operation["operationId"]);
                assert!(page.contains(&format!("id=\"{id}\"")), "{method} {path}");
                for scope in list(&operation["x-scopes"]) {
                    assert!(
                        page.contains(&format!("<code>{}</code>", text(scope))),
                        "{scope}"
                    );
                }
            }
        }
        for group in list(&document["x-not-served"]) {
            let (calls, answered) = (list(&group["calls"]), list(&group["answered"]));
            for (call, after) in calls
                .map(|call| (call, ""))
                .chain(answered.map(|call| (call, " answered")))
            {
                let entry = format!("<li><code>{}</code>{after}</li>", text(call));
                assert!(page.contains(&entry), "{call}");
            }
        }
        assert!(page.contains("personalizations[].to[].email"));
    }

    #[test]
    fn a_page_loads_nothing_and_runs_nothing() {
        let page = reference(&document());
        for foreign in ["<script", "src=", "@import", "url(", "<link"] {
            assert!(!page.contains(foreign), "{foreign}");
        }
    }
}
