//! A schema as lines of a table, for the page.

use serde_json::Value;

/// The deepest field that is shown; mail/send has six levels.
const DEEPEST: usize = 8;

/// A field of a body or an answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SchemaField {
    /// With the fields around it: `personalizations[].to[].email`; empty for a body that is no object.
    pub(crate) name: String,
    /// `string`, `array of integer`, `string or null`.
    pub(crate) kind: String,
    pub(crate) is_required: bool,
    /// Markdown.
    pub(crate) about: String,
}

/// The fields of a schema of this document, each before those within it.
pub(crate) fn fields(document: &Value, schema: &Value) -> Vec<SchemaField> {
    let mut found = Vec::new();
    walk(document, schema, "", 0, &mut found);
    found
}

/// What a reference leads to.
pub(crate) fn resolved<'d>(document: &'d Value, schema: &'d Value) -> &'d Value {
    let target = schema["$ref"]
        .as_str()
        .and_then(|target| target.strip_prefix('#'));
    match target.and_then(|target| document.pointer(target)) {
        Some(found) if found["$ref"].is_null() => found,
        Some(_) | None => schema,
    }
}

fn walk(
    document: &Value,
    schema: &Value,
    before: &str,
    depth: usize,
    found: &mut Vec<SchemaField>,
) {
    // Beside a reference, what one call requires of the type.
    let own = schema["required"].as_array();
    let schema = resolved(document, schema);
    if depth > DEEPEST {
        return;
    }
    if let Some(items) = schema.get("items") {
        let before = if before.is_empty() {
            "[]".to_owned()
        } else {
            format!("{before}[]")
        };
        return walk(document, items, &before, depth + 1, found);
    }
    for variant in alternatives(schema) {
        walk(document, variant, before, depth + 1, found);
    }
    let required = [own, schema["required"].as_array()];
    let is_required = |name: &str| {
        required
            .into_iter()
            .flatten()
            .flatten()
            .any(|one| one == name)
    };
    let properties = schema["properties"].as_object().into_iter().flatten();
    let mut properties: Vec<_> = properties.collect();
    // What must be there comes first.
    properties.sort_by_key(|(name, _)| !is_required(name));
    for (name, inner) in properties {
        let path = if before.is_empty() {
            name.clone()
        } else {
            format!("{before}.{name}")
        };
        found.push(SchemaField {
            kind: kind(document, inner),
            is_required: is_required(name),
            about: about(document, inner),
            name: path.clone(),
        });
        walk(document, inner, &path, depth + 1, found);
    }
}

fn alternatives(schema: &Value) -> impl Iterator<Item = &Value> {
    let lists = ["anyOf", "oneOf", "allOf"].into_iter();
    lists.filter_map(|name| schema[name].as_array()).flatten()
}

/// The type of a schema in words.
pub(crate) fn kind(document: &Value, schema: &Value) -> String {
    let schema = resolved(document, schema);
    if let Some(items) = schema.get("items") {
        let items = kind(document, items);
        let end = if schema["type"].is_array() {
            " or null"
        } else {
            ""
        };
        return format!("array of {items}{end}");
    }
    match &schema["type"] {
        Value::String(one) => one.clone(),
        Value::Array(all) => {
            let all = all.iter().filter_map(Value::as_str);
            all.collect::<Vec<_>>().join(" or ")
        }
        _ => {
            let mut kinds: Vec<_> = alternatives(schema)
                .map(|one| kind(document, one))
                .collect();
            kinds.dedup();
            if kinds.is_empty() {
                "any".to_owned()
            } else {
                kinds.join(" or ")
            }
        }
    }
}

/// The description of a schema, and its bounds.
pub(crate) fn about(document: &Value, schema: &Value) -> String {
    let target = resolved(document, schema);
    // What a field is says more than what its type is.
    let text = [schema, target]
        .into_iter()
        .find_map(|one| one["description"].as_str());
    let mut parts: Vec<String> = text
        .map(|text| text.replace('\n', " "))
        .into_iter()
        .collect();
    let words = target["enum"].as_array().into_iter().flatten();
    let words: Vec<_> = words
        .filter_map(Value::as_str)
        .map(|word| format!("`{word}`"))
        .collect();
    if !words.is_empty() {
        parts.push(format!("One of {}.", words.join(", ")));
    }
    let bound = |least: &str, most: &str| match (target[least].as_i64(), target[most].as_i64()) {
        (Some(least), Some(most)) if most < i64::from(i32::MAX) => {
            Some(format!("{least} to {most}"))
        }
        (None, Some(most)) => Some(format!("at most {most}")),
        (Some(_), Some(_)) | (Some(_), None) | (None, None) => None,
    };
    parts.extend(bound("minimum", "maximum").map(|bound| format!("From {bound}.")));
    parts.extend(bound("minItems", "maxItems").map(|bound| format!("Items: {bound}.")));
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_schema_is_a_table_of_its_fields() {
        let document = json!({"components": {"schemas": {"Box": {
            "type": "object",
            "required": ["email"],
            "properties": {
                "email": {"type": "string", "description": "An address."},
                "tag": {"enum": ["a", "b"], "type": ["string", "null"]},
            },
        }}}});
        let schema = json!({"type": "object", "properties": {
            "to": {"type": "array", "maxItems": 3, "items": {"$ref": "#/components/schemas/Box"}},
        }});
        let lines: Vec<_> = fields(&document, &schema)
            .into_iter()
            .map(|field| (field.name, field.kind, field.is_required, field.about))
            .collect();
        let line = |name: &str, kind: &str, is_required, about: &str| {
            (
                name.to_owned(),
                kind.to_owned(),
                is_required,
                about.to_owned(),
            )
        };
        assert_eq!(
            lines,
            [
                line("to", "array of object", false, "Items: at most 3."),
                line("to[].email", "string", true, "An address."),
                line("to[].tag", "string or null", false, "One of `a`, `b`."),
            ]
        );
    }

    #[test]
    fn a_schema_within_itself_ends() {
        let document = json!({"components": {"schemas": {"Node": {
            "type": "object",
            "properties": {"next": {"$ref": "#/components/schemas/Node"}},
        }}}});
        let schema = json!({"$ref": "#/components/schemas/Node"});
        assert_eq!(fields(&document, &schema).len(), DEEPEST + 1);
    }
}
