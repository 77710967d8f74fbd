//! What the API reference says of mail/send. The body's schema is made of the same [`Shape`] that names wrong types.

use posthaste_testkit::reference::{Operation, Reference, SchemaOf, values};
use serde_json::{Map, Value, json};

use crate::wire::{Mail, Shape, Shaped as _};
use crate::{App, routes};

#[tokio::test]
async fn reference() {
    described().check(App::from_env, routes).await;
}

fn described() -> Reference {
    Reference::new("mail-send", "Sending", "One call accepts a mail, for now or for later.").on(
        "POST /v3/mail/send",
        Operation::new("Sends a mail")
            .about("Every problem of a request is answered at once, and a refused request has changed nothing. Each rule with its message is in [the catalogue of errors](/docs/errors).")
            .about("Repeating a request with the same `Idempotency-Key` and body within 24 hours sends nothing again; a header of that name is an extension.")
            .limit("3,000 recipients, 1,000 personalizations; 1,000 `cc` and 1,000 `bcc` to a personalization.")
            .limit("A body has at most 30 MiB, a decompressed one 48 MiB; on AWS a request has at most 6 MB, compressed 4.5 MB.")
            .limit("`send_at` lies at most 72 hours ahead.")
            .header("Idempotency-Key", "1 to 255 ASCII characters that name the request.")
            .header("Content-Encoding", "`gzip`, for an account that may send compressed bodies.")
            .body_as(SchemaOf::Given(body()))
            .answers_nothing(202, "The mail is accepted: it is stored, and will be delivered.")
            .with_header("X-Message-Id", "The id of the mail.")
            .with_header("Idempotency-Replayed", "`true` when the answer is that of an earlier request.")
            .answers_nothing(200, "With `sandbox_mode`: the mail is right, and is not sent.")
            .refuses(409)
            .refuses(415)
            .refuses(422),
    )
    .on(
        "POST /v3/messages/{msg_id}/send_again",
        Operation::new("Sends a kept mail again to its recipient")
            .extension()
            .path("msg_id", "An `sg_message_id`, or the `X-Message-Id` of a mail to one recipient.")
            .about("The mail as it was composed, where the account keeps that (`/v3/mail_settings/kept_mail`); otherwise the answer is 404, with the reason. It is a message of its own, with its own id and links: suppressions apply, and it takes a credit. What was sent with a test key does not leave.")
            .about("Within a minute the same call sends nothing again; with an `Idempotency-Key`, within 24 hours.")
            .header("Idempotency-Key", "1 to 255 ASCII characters that name the request.")
            .answers_nothing(202, "The mail is accepted: it is stored, and will be delivered.")
            .with_header("X-Message-Id", "The id of the mail.")
            .with_header("Idempotency-Replayed", "`true` when the answer is that of an earlier request.")
            .refuses(400)
            .refuses(403)
            .refuses(409)
            .refuses(422),
    )
}

const HEADERS: &str = "Header fields of the mail. [Some names](/docs/errors#headers-of-the-caller) are refused or left out.";

/// What a field is, and what must be so beside its type. Each rule is a rule of `check`.
const FIELDS: [(&str, &str, &str); 32] = [
    (
        "personalizations",
        "Envelopes: each is a mail to its recipients.",
        r#"{"minItems": 1, "maxItems": 1000}"#,
    ),
    ("personalizations.0", "", r#"{"required": ["to"]}"#),
    (
        "personalizations.0.to",
        "Recipients, who see each other.",
        r#"{"minItems": 1}"#,
    ),
    (
        "personalizations.0.cc",
        "Recipients of a copy.",
        r#"{"maxItems": 1000}"#,
    ),
    (
        "personalizations.0.bcc",
        "Recipients that others do not see.",
        r#"{"maxItems": 1000}"#,
    ),
    (
        "personalizations.0.from",
        "Replaces `from`; in the same domain.",
        "",
    ),
    ("personalizations.0.subject", "Replaces `subject`.", ""),
    ("personalizations.0.headers", HEADERS, ""),
    (
        "personalizations.0.substitutions",
        "Texts by the tags that they replace.",
        "",
    ),
    (
        "personalizations.0.dynamic_template_data",
        "What a dynamic template is filled with.",
        "",
    ),
    (
        "personalizations.0.custom_args",
        "Texts that come back with events.",
        "",
    ),
    ("personalizations.0.send_at", "Replaces `send_at`.", ""),
    (
        "from",
        "The sender: verified, or in an authenticated domain.",
        r#"{"required": ["email"]}"#,
    ),
    (
        "reply_to",
        "Where answers go.",
        r#"{"required": ["email"]}"#,
    ),
    (
        "reply_to_list",
        "Where answers go; not together with `reply_to`.",
        r#"{"maxItems": 1000}"#,
    ),
    (
        "subject",
        "Required, unless each personalization or the template has one.",
        "",
    ),
    (
        "content",
        "The parts of the body, `text/plain` before `text/html`. Required without a template.",
        "",
    ),
    ("content.0", "", r#"{"required": ["type", "value"]}"#),
    ("attachments", "Files.", ""),
    (
        "attachments.0",
        "",
        r#"{"required": ["content", "filename"]}"#,
    ),
    ("attachments.0.content", "The file in Base64.", ""),
    (
        "attachments.0.disposition",
        "`attachment`, or `inline` with a `content_id`.",
        r#"{"enum": ["attachment", "inline"]}"#,
    ),
    (
        "template_id",
        "A template, whose active version is the content.",
        "",
    ),
    ("headers", HEADERS, ""),
    (
        "categories",
        "Names that statistics and events have.",
        r#"{"maxItems": 10, "uniqueItems": true}"#,
    ),
    ("sections", "Texts that substitutions name.", ""),
    ("send_at", "When to send, as Unix time.", ""),
    (
        "batch_id",
        "A batch, by which the mail can be cancelled or paused.",
        "",
    ),
    (
        "asm",
        "The unsubscribe group of the mail.",
        r#"{"required": ["group_id"]}"#,
    ),
    (
        "asm.groups_to_display",
        "Groups on the preferences page.",
        r#"{"maxItems": 25}"#,
    ),
    (
        "mail_settings.sandbox_mode",
        "Checks the request and sends nothing.",
        "",
    ),
    (
        "ip_pool_name",
        "Accepted without effect: the relay chooses the address.",
        "",
    ),
];

fn body() -> Value {
    let mut body = schema(Mail::SHAPE);
    for (path, about, rules) in FIELDS {
        let mut place = &mut body;
        for step in path.split('.') {
            let member = if step == "0" { "items" } else { "properties" };
            place = &mut place[member];
            if step != "0" {
                place = &mut place[step];
            }
            assert!(place.is_object(), "mail/send has no field {path}");
        }
        if !about.is_empty() {
            place["description"] = about.into();
        }
        let rules: Map<String, Value> = serde_json::from_str(rules).unwrap_or_default();
        for (name, rule) in rules {
            place[name] = rule;
        }
    }
    body["required"] = json!(["personalizations", "from"]);
    body
}

fn schema(shape: &Shape) -> Value {
    let strings = || json!({"type": "object", "additionalProperties": {"type": "string"}});
    match shape {
        Shape::Text => values::text(),
        Shape::Integer => values::any_integer(),
        Shape::Boolean => values::flag(),
        Shape::List(items) => json!({"type": "array", "items": schema(items)}),
        Shape::Object(fields) => {
            let properties = fields
                .iter()
                .map(|(name, shape)| ((*name).to_owned(), schema(shape)));
            let properties: Map<_, _> = properties.collect();
            json!({"type": "object", "properties": properties})
        }
        Shape::Nullable(shape) => {
            let mut value = schema(shape);
            value["type"] = json!([value["type"], "null"]);
            value
        }
        Shape::Strings => strings(),
        Shape::Args => json!({"oneOf": [strings(), {
            "type": "string",
            "description": "The text of a JSON object of texts.",
        }]}),
        Shape::Sections => json!({
            "type": "object",
            "additionalProperties": schema(&Shape::Section),
        }),
        Shape::Section => json!({"oneOf": [{"type": "string"}, strings()]}),
        Shape::Data => json!({"type": "object"}),
    }
}
