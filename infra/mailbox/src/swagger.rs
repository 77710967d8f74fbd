//! The document of the REST calls, as Swagger 2.0, made of the list that the routes are made of.

use axum::Json;
use axum::extract::State;
use serde_json::{Map, Value, json};

use crate::app::App;
use crate::operations::{CallAnswer, Operation, operations};

/// Where the document is.
pub(crate) const PATH: &str = "/api/v1/swagger.json";

/// `GET /api/v1/swagger.json`.
pub(crate) async fn document(State(app): State<App>) -> Json<Value> {
    Json(of(app.mailbox.base(), &operations()))
}

/// The document of these calls under a path.
fn of(base: &str, operations: &[Operation]) -> Value {
    let mut paths: Map<String, Value> = Map::new();
    for operation in operations {
        let methods = paths
            .entry(operation.path)
            .or_insert_with(|| Value::Object(Map::new()));
        if let Some(methods) = methods.as_object_mut() {
            methods.insert(operation.method.to_ascii_lowercase(), described(operation));
        }
    }
    let definitions: Value =
        serde_json::from_str(include_str!("swagger/definitions.json")).unwrap_or_default();
    json!({
        "swagger": "2.0",
        "info": {
            "title": "Mailbox of Posthaste",
            "description": "The REST calls of the local service's mailbox, for automated tests. Calls with the tag \
                Mailpit are those that users of Mailpit know. An error is a line of text, of POST /api/v1/send JSON.",
            "version": env!("CARGO_PKG_VERSION"),
        },
        "basePath": if base.is_empty() { "/" } else { base },
        "schemes": ["http", "https"],
        "consumes": ["application/json"],
        "paths": paths,
        "definitions": definitions,
    })
}

fn described(operation: &Operation) -> Value {
    let (kind, schema) = match operation.answer {
        CallAnswer::Json(name) => ("application/json", reference(name)),
        CallAnswer::Socket(name) => ("application/json", reference(name)),
        CallAnswer::Done => ("text/plain", json!({"type": "string", "enum": ["ok"]})),
        CallAnswer::Bytes(kind) => (kind, json!({"type": "string"})),
    };
    let code = match operation.answer {
        CallAnswer::Socket(_) => "101",
        CallAnswer::Json(_) | CallAnswer::Done | CallAnswer::Bytes(_) => "200",
    };
    let error = json!({"description": "What is wrong, as a line", "schema": {"type": "string"}});
    let mut responses = Map::new();
    responses.insert(
        code.to_owned(),
        json!({"description": "Done", "schema": schema}),
    );
    responses.insert("400".to_owned(), error.clone());
    if operation.path.contains("{id}") || !operation.is_mailpits {
        responses.insert("404".to_owned(), error);
    }
    json!({
        "summary": operation.summary,
        "operationId": id(operation),
        "tags": [if operation.is_mailpits { "Mailpit" } else { "Posthaste" }],
        "produces": [kind],
        "parameters": parameters(operation),
        "responses": responses,
    })
}

/// `get_message_id_part`: the method and the words of the path.
fn id(operation: &Operation) -> String {
    let path = operation
        .path
        .trim_start_matches("/api")
        .trim_start_matches("/v1");
    let words = path.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    format!(
        "{}_{}",
        operation.method.to_ascii_lowercase(),
        words.join("_")
    )
}

fn parameters(operation: &Operation) -> Vec<Value> {
    let pieces = operation.path.split('{').skip(1);
    let names = pieces.filter_map(|piece| Some(piece.split_once('}')?.0));
    let in_path = names.map(|name| {
        let about = match name {
            "id" => "the ID of a message, or `latest`",
            "part" => "the PartID of an attachment",
            _ => "the name of a tag",
        };
        json!({"name": name, "in": "path", "required": true, "type": "string", "description": about})
    });
    let in_query = operation.query.iter().map(|parameter| {
        json!({
            "name": parameter.name,
            "in": "query",
            "required": parameter.is_required,
            "type": parameter.kind,
            "description": parameter.about,
        })
    });
    let body = operation.body.map(
        |name| json!({"name": "body", "in": "body", "required": true, "schema": reference(name)}),
    );
    in_path.chain(in_query).chain(body).collect()
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/definitions/{name}")})
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn references(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(fields) => {
                let reference = fields.get("$ref").and_then(Value::as_str);
                let name = reference.and_then(|path| path.strip_prefix("#/definitions/"));
                found.extend(name.map(str::to_owned));
                fields.values().for_each(|value| references(value, found));
            }
            Value::Array(values) => values.iter().for_each(|value| references(value, found)),
            _ => {}
        }
    }

    #[test]
    fn every_definition_exists_and_is_used() {
        let document = of("", &operations());
        let mut used = BTreeSet::new();
        references(&document, &mut used);
        let defined = document["definitions"].as_object().unwrap();
        let defined: BTreeSet<_> = defined.keys().cloned().collect();
        assert_eq!(used, defined);
    }

    #[test]
    fn every_call_is_listed_once_under_a_name_of_its_own() {
        let all = operations();
        let ids: BTreeSet<_> = all.iter().map(id).collect();
        assert_eq!(ids.len(), all.len());
        let document = of("/mail", &all);
        assert_eq!(document["basePath"], "/mail");
        let paths = document["paths"].as_object().unwrap();
        let methods = paths
            .values()
            .map(|methods| methods.as_object().unwrap().len());
        assert_eq!(methods.sum::<usize>(), all.len());
    }
}
