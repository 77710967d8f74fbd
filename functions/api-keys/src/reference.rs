//! What the API reference says of these routes.

use posthaste_testkit::reference::{Operation, Reference, SchemaOf, values};

use serde_json::json;

use crate::docs::PlaceLinks;
use crate::keys::{Brief, CreatedKey, KeyList, KeyRequest, Scopes, Whole};
use crate::{App, routes};

#[tokio::test]
async fn reference() {
    described().check(App::from_env, routes).await;
}

fn described() -> Reference {
    const MANY: &str = "An account holds 100 keys.";
    const SCOPES: &str = "`scopes` are at most those of the calling key. Billing scopes do not go together with others.";
    let id = |operation: Operation| {
        operation.path("api_key_id", "The id of a key, the part between its dots.")
    };
    Reference::new(
        "api-keys",
        "API keys",
        "The keys of an account. A key is shown once, when it is created; the service stores its hash.",
    )
    .on(
        "POST /v3/api_keys",
        Operation::new("Creates an API key")
            .about("Only this answer contains the key itself. Without `scopes` the new key holds what the calling key holds.")
            .about(SCOPES)
            .limit(MANY)
            .requires(["name"])
            .body::<KeyRequest>()
            .answers::<CreatedKey>(201, "The key."),
    )
    .on(
        "GET /v3/api_keys",
        Operation::new("Lists the API keys of the account")
            .query("limit", values::integer(1, 100), "How many keys; 100 when it is left out.")
            .query(
                "details",
                values::flag(),
                "Whether each has its `kind`, `scopes`, `created_at` and `last_used_at` too; an extension.",
            )
            .answers::<KeyList>(200, "The keys, oldest first, without their scopes."),
    )
    .on(
        "GET /v3/api_keys/{api_key_id}",
        id(Operation::new("Shows an API key and its scopes").answers::<Whole>(200, "The key.")),
    )
    .on(
        "PUT /v3/api_keys/{api_key_id}",
        id(Operation::new("Changes the name and the scopes of an API key")
            .about("Without `scopes` the current ones stay. Other instances use the change within ten seconds.")
            .about(SCOPES)
            .requires(["name"])
            .body::<KeyRequest>()
            .answers::<Whole>(200, "The key.")),
    )
    .on(
        "PATCH /v3/api_keys/{api_key_id}",
        id(Operation::new("Renames an API key")
            .about("Fields other than `name` are ignored.")
            .requires(["name"])
            .body::<KeyRequest>()
            .answers::<Brief>(200, "The key.")),
    )
    .on(
        "DELETE /v3/api_keys/{api_key_id}",
        id(Operation::new("Revokes an API key")
            .about("Other instances refuse it within ten seconds.")
            .answers_nothing(204, "The key is revoked.")),
    )
    .on(
        "GET /v3/scopes",
        Operation::new("Lists the scopes of the calling key").answers::<Scopes>(200, "The scopes."),
    )
    .on(
        "GET /docs/errors",
        Operation::new("Shows the catalogue of errors")
            .about("The `help` of an error leads here.")
            .extension()
            .answers_text(200, "A page.", "text/html"),
    )
    .on(
        "GET /docs",
        Operation::new("Shows this reference as a page")
            .extension()
            .answers_text(200, "A page.", "text/html"),
    )
    .on(
        "GET /openapi.json",
        Operation::new("Shows this reference as an OpenAPI document")
            .extension()
            .answers_as(200, "The document, OpenAPI 3.1.", SchemaOf::Given(json!({"type": "object"}))),
    )
    .on(
        "GET /",
        Operation::new("Says where things are")
            .about("JSON for clients that ask for it, otherwise a page.")
            .extension()
            .answers::<PlaceLinks>(200, "Links by name.")
            .answers_text(200, "Links by name.", "text/html"),
    )
}
