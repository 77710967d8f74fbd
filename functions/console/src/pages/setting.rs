//! One setting, and the form that changes it.

use askama::Template;
use serde_json::Value;

use crate::content::{PageContent, PageError, PageResult};
use crate::texts::settings::{FieldKind, SETTINGS, SettingField};
use crate::visit::PageVisit;

#[derive(Template)]
#[template(path = "setting.html")]
struct SettingPage {
    title: &'static str,
    about: &'static str,
    path: String,
    fields: Vec<FieldShown>,
}

struct FieldShown {
    name: &'static str,
    label: &'static str,
    kind: FieldKind,
    /// As the field has it.
    value: String,
    is_on: bool,
    /// Choices, and whether each is chosen.
    choices: Vec<(&'static str, bool)>,
}

impl FieldShown {
    fn of(field: &SettingField, answer: &Value) -> Self {
        let value = answer.get(field.name).unwrap_or(&Value::Null);
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Array(entries) => {
                let entries: Vec<&str> = entries.iter().filter_map(Value::as_str).collect();
                entries.join("\n")
            }
            Value::Number(number) => number.to_string(),
            _ => String::new(),
        };
        let choices = match field.kind {
            FieldKind::OneOf(choices) => choices,
            _ => &[],
        };
        let is_chosen = |choice: &&'static str| (*choice, *choice == text);
        Self {
            name: field.name,
            label: field.label,
            kind: field.kind,
            is_on: *value == Value::Bool(true),
            choices: choices.iter().map(is_chosen).collect(),
            value: text,
        }
    }
}

pub(crate) async fn show(visit: PageVisit, name: String) -> PageResult {
    let form = SETTINGS.iter().find(|form| form.name == name);
    let form = form.ok_or_else(PageError::not_found)?;
    let path = form.path();
    let answer: Value = visit.api.get(&path).await?;
    let page = SettingPage {
        title: form.title,
        about: form.about,
        fields: form
            .fields
            .iter()
            .map(|field| FieldShown::of(field, &answer))
            .collect(),
        path,
    };
    PageContent::of(form.title, &page)
}
