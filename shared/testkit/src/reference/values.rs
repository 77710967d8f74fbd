//! Schemas of single values, for parameters and for what no type of the code describes.

use schemars::JsonSchema;
use serde_json::{Value, json};

use super::schemas::SchemaOf;

/// Any text.
pub fn text() -> Value {
    json!({"type": "string"})
}

/// A whole number in these bounds.
pub fn integer(least: i64, most: i64) -> Value {
    json!({"type": "integer", "minimum": least, "maximum": most})
}

/// A whole number, 0 or more.
pub fn count() -> Value {
    json!({"type": "integer", "minimum": 0})
}

/// A whole number.
pub fn any_integer() -> Value {
    json!({"type": "integer"})
}

/// `true` or `false`.
pub fn flag() -> Value {
    json!({"type": "boolean"})
}

/// A day, `2026-11-29`.
pub fn day() -> Value {
    json!({"type": "string", "format": "date"})
}

/// One of these words.
pub fn one_of(words: &[&str]) -> Value {
    json!({"type": "string", "enum": words})
}

/// Texts; as a parameter, the name is repeated for each.
pub fn texts() -> Value {
    json!({"type": "array", "items": {"type": "string"}})
}

/// Whole numbers; as a parameter, the name is repeated for each.
pub fn integers() -> Value {
    json!({"type": "array", "items": any_integer()})
}

/// A page of a list that is continued by `after` (`posthaste_http::UndeliveredPage`).
pub fn undelivered_page<T: JsonSchema>() -> SchemaOf {
    SchemaOf::Made(|answers| {
        let items = answers.subschema_for::<Vec<T>>();
        json!({
            "type": "object",
            "required": ["result", "next"],
            "properties": {
                "result": items,
                "next": {
                    "type": ["string", "null"],
                    "description": "Pass this as `after` for the next page; `null` on the last one.",
                },
            },
        })
    })
}
