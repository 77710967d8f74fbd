//! What the API reference says of these routes.

use posthaste_testkit::reference::{Operation, Reference, SchemaOf, values};

use serde_json::{Value, json};

use crate::version::PreviewRequest;
use crate::wire::{Draft, NameRequest, TemplateBody, VersionBody};
use crate::{App, LIMIT, routes};
use posthaste_render::LARGEST_TEMPLATE;

#[tokio::test]
async fn reference() {
    described().check(App::from_env, routes).await;
}

fn described() -> Reference {
    let many = format!("An account holds {LIMIT} templates and versions together.");
    let size = format!("The HTML and the text have at most {LARGEST_TEMPLATE} bytes each.");
    Reference::new(
        "templates",
        "Templates",
        "Templates of both generations: legacy ones with substitutions, dynamic ones with Handlebars.",
    )
    .on(
        "POST /v3/templates",
        Operation::new("Creates a template")
            .about("`generation` is `legacy`, unless it is given, or `dynamic`.")
            .limit(&many)
            .requires(["name"])
            .body::<NameRequest>()
            .answers::<TemplateBody>(201, "The template."),
    )
    .on(
        "GET /v3/templates",
        Operation::new("Lists the templates")
            .about("With `page_size` a page in `result`; without it all of them in `templates`.")
            .query("generations", values::text(), "`legacy`, `dynamic`, or both with a comma; `legacy` when it is left out.")
            .query("page_size", values::integer(1, 200), "How many to a page.")
            .query("page_token", values::text(), "Of the link to a page in `_metadata`.")
            .answers_as(200, "The templates, oldest first, without the texts of their versions.", SchemaOf::Made(list)),
    )
    .on(
        "GET /v3/templates/{template_id}",
        Operation::new("Shows a template and its versions")
            .about("Has the texts of versions as long as they have 3 MiB together.")
            .answers::<TemplateBody>(200, "The template."),
    )
    .on(
        "POST /v3/templates/{template_id}",
        Operation::new("Duplicates a template")
            .limit(&many)
            .optional_body::<NameRequest>()
            .answers::<TemplateBody>(201, "The copy."),
    )
    .on(
        "PATCH /v3/templates/{template_id}",
        Operation::new("Renames a template")
            .body::<NameRequest>()
            .answers::<TemplateBody>(200, "The template."),
    )
    .on(
        "DELETE /v3/templates/{template_id}",
        Operation::new("Deletes a template and its versions").answers_nothing(204, "The template is deleted."),
    )
    .on(
        "POST /v3/templates/{template_id}/versions",
        Operation::new("Creates a version")
            .about("With `active: 1` mails use it from now on, and the first version is active in any case.")
            .limit(&many)
            .limit(&size)
            .requires(["name", "subject"])
            .body::<Draft>()
            .answers::<VersionBody>(201, "The version."),
    )
    .on(
        "GET /v3/templates/{template_id}/versions/{version_id}",
        Operation::new("Shows a version").answers::<VersionBody>(200, "The version.").refuses(409),
    )
    .on(
        "PATCH /v3/templates/{template_id}/versions/{version_id}",
        Operation::new("Changes a version")
            .about("What is left out stays.")
            .limit(&size)
            .body::<Draft>()
            .answers::<VersionBody>(200, "The version.")
            .refuses(409),
    )
    .on(
        "DELETE /v3/templates/{template_id}/versions/{version_id}",
        Operation::new("Deletes a version").answers_nothing(204, "The version is deleted."),
    )
    .on(
        "POST /v3/templates/{template_id}/versions/{version_id}/activate",
        Operation::new("Makes a version the one that mails use")
            .about("A body is ignored.")
            .answers::<VersionBody>(200, "The version.")
            .refuses(409),
    )
    .on(
        "GET /v3/templates/{template_id}/versions/{version_id}/preview",
        Operation::new("Renders a version with its own data")
            .extension()
            .about("A dynamic template with the version's `test_data`, a legacy one without substitutions.")
            .answers_as(200, "The rendered mail.", SchemaOf::Given(preview()))
            .refuses(409),
    )
    .on(
        "POST /v3/templates/{template_id}/versions/{version_id}/preview",
        Operation::new("Renders a version")
            .extension()
            .about("By the renderer that sends. A dynamic template without data takes the version's `test_data`.")
            .about("With `version` it is rendered as after that change, which is not stored; what the change would be \
                    refused for, the preview is refused for.")
            .optional_body::<PreviewRequest>()
            .answers_as(200, "The rendered mail.", SchemaOf::Given(preview()))
            .refuses(409),
    )
}

fn list(answers: &mut schemars::SchemaGenerator) -> Value {
    let templates = answers.subschema_for::<Vec<TemplateBody>>();
    let link = json!({"type": "string", "format": "uri"});
    json!({
        "type": "object",
        "properties": {
            "templates": templates,
            "result": templates,
            "_metadata": {
                "type": "object",
                "required": ["self", "count"],
                "properties": {"self": link, "prev": link, "next": link, "count": {"type": "integer"}},
            },
        },
    })
}

fn preview() -> Value {
    let text = json!({"type": ["string", "null"]});
    json!({
        "type": "object",
        "required": ["subject", "html_content", "plain_content", "missing"],
        "properties": {
            "subject": text,
            "html_content": text,
            "plain_content": text,
            "missing": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Names that the template uses and the data does not have.",
            },
        },
    })
}
