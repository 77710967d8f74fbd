//! JSON values in the forms that clients write in the header.

use serde_json::{Map, Value};

use crate::{HeaderTexts, Invalid, invalid};

/// A text; numbers and booleans are converted.
pub(crate) fn string(what: &str, value: &Value) -> Result<String, Invalid> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(on) => Ok(on.to_string()),
        Value::Null => Ok(String::new()),
        Value::Array(_) | Value::Object(_) => invalid(format!("{what} holds no text")),
    }
}

pub(crate) fn strings(what: &str, values: &[Value]) -> Result<Vec<String>, Invalid> {
    values.iter().map(|value| string(what, value)).collect()
}

/// A list; a single value counts as a list of one.
pub(crate) fn one_or_many(what: &str, value: Option<&Value>) -> Result<Vec<String>, Invalid> {
    match value {
        None => Ok(Vec::new()),
        Some(Value::Array(values)) => strings(what, values),
        Some(one) => Ok(vec![string(what, one)?]),
    }
}

/// An object. PHP writes an empty object as an empty list.
pub(crate) fn object<'a>(
    what: &str,
    value: Option<&'a Value>,
) -> Result<Option<&'a Map<String, Value>>, Invalid> {
    match value {
        None => Ok(None),
        Some(Value::Object(object)) => Ok(Some(object)),
        Some(Value::Array(list)) if list.is_empty() => Ok(None),
        Some(_) => invalid(format!("{what} is no object")),
    }
}

/// An object of texts; a value that is a list or an object becomes its JSON.
pub(crate) fn texts(what: &str, value: Option<&Value>) -> Result<HeaderTexts, Invalid> {
    let entries = object(what, value)?.into_iter().flatten();
    Ok(entries
        .map(|(key, value)| (key.clone(), text(value)))
        .collect())
}

/// A text; a list or an object becomes its JSON.
pub(crate) fn text(value: &Value) -> String {
    string("", value).unwrap_or_else(|_| value.to_string())
}

/// A whole number, or a text of one.
pub(crate) fn integer(what: &str, value: &Value) -> Result<i64, Invalid> {
    let number = match value {
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_i64(),
    };
    number.ok_or_else(|| Invalid(format!("{what} is no whole number")))
}

/// `1`, `true` and their texts.
pub(crate) fn flag(what: &str, value: &Value) -> Result<bool, Invalid> {
    let text = string(what, value)?;
    match text.trim().to_ascii_lowercase().as_str() {
        "1" | "true" | "on" | "yes" => Ok(true),
        "" | "0" | "false" | "off" | "no" => Ok(false),
        _ => invalid(format!("{what} is no switch")),
    }
}
