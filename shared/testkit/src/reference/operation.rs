//! One operation of the API reference.

use posthaste_http::{Access, Dialect, Route};
use schemars::JsonSchema;
use serde_json::{Map, Value, json};

use super::schemas::{SchemaOf, Schemas, schema_of};

#[derive(Clone, Debug)]
struct DocumentedParameter {
    name: &'static str,
    place: &'static str,
    schema: Value,
    about: &'static str,
    required: bool,
}

#[derive(Clone, Debug)]
struct DocumentedAnswer {
    status: u16,
    about: &'static str,
    /// Media types with their schemas; none for an answer without a body.
    content: Vec<(&'static str, SchemaOf)>,
    headers: Vec<(&'static str, &'static str)>,
}

/// What the reference says of a route beside what the route itself says.
#[derive(Clone, Debug, Default)]
pub struct Operation {
    summary: String,
    about: Vec<&'static str>,
    parameters: Vec<DocumentedParameter>,
    body: Option<(SchemaOf, bool)>,
    required: Vec<&'static str>,
    answers: Vec<DocumentedAnswer>,
    limits: Vec<String>,
    is_extension: bool,
    refusals: Vec<u16>,
}

impl Operation {
    /// In a few words, such as `Lists API keys`.
    pub fn new(summary: impl Into<String>) -> Self {
        Self {
            summary: summary.into(),
            ..Self::default()
        }
    }

    /// A sentence or paragraph more, in Markdown.
    #[must_use]
    pub fn about(mut self, text: &'static str) -> Self {
        self.about.push(text);
        self
    }

    /// The route is not part of SendGrid's API.
    #[must_use]
    pub fn extension(mut self) -> Self {
        self.is_extension = true;
        self
    }

    /// A limit, as a sentence.
    #[must_use]
    pub fn limit(mut self, text: impl Into<String>) -> Self {
        self.limits.push(text.into());
        self
    }

    /// What a capture of the path is.
    #[must_use]
    pub fn path(self, name: &'static str, about: &'static str) -> Self {
        self.parameter(DocumentedParameter {
            name,
            place: "path",
            schema: super::values::text(),
            about,
            required: true,
        })
    }

    /// A parameter of the query that may be left out.
    #[must_use]
    pub fn query(self, name: &'static str, schema: Value, about: &'static str) -> Self {
        self.parameter(DocumentedParameter {
            name,
            place: "query",
            schema,
            about,
            required: false,
        })
    }

    /// A parameter of the query that must be given.
    #[must_use]
    pub fn must_query(self, name: &'static str, schema: Value, about: &'static str) -> Self {
        self.parameter(DocumentedParameter {
            name,
            place: "query",
            schema,
            about,
            required: true,
        })
    }

    /// A header of the request that may be left out.
    #[must_use]
    pub fn header(self, name: &'static str, about: &'static str) -> Self {
        self.parameter(DocumentedParameter {
            name,
            place: "header",
            schema: super::values::text(),
            about,
            required: false,
        })
    }

    fn parameter(mut self, parameter: DocumentedParameter) -> Self {
        self.parameters.push(parameter);
        self
    }

    /// The JSON body.
    #[must_use]
    pub fn body<T: JsonSchema>(self) -> Self {
        self.body_as(schema_of::<T>())
    }

    /// The JSON body, by its schema.
    #[must_use]
    pub fn body_as(mut self, schema: SchemaOf) -> Self {
        self.body = Some((schema, true));
        self
    }

    /// Fields that the body must have, by a rule and not by its type.
    #[must_use]
    pub fn requires<const N: usize>(mut self, fields: [&'static str; N]) -> Self {
        self.required.extend(fields);
        self
    }

    /// A JSON body that may be left out.
    #[must_use]
    pub fn optional_body<T: JsonSchema>(mut self) -> Self {
        self.body = Some((schema_of::<T>(), false));
        self
    }

    /// An answer with this JSON.
    #[must_use]
    pub fn answers<T: JsonSchema>(self, status: u16, about: &'static str) -> Self {
        self.answers_as(status, about, schema_of::<T>())
    }

    /// An answer with JSON of this schema.
    #[must_use]
    pub fn answers_as(self, status: u16, about: &'static str, schema: SchemaOf) -> Self {
        self.answer(status, about, vec![("application/json", schema)])
    }

    /// An answer without a body.
    #[must_use]
    pub fn answers_nothing(self, status: u16, about: &'static str) -> Self {
        self.answer(status, about, Vec::new())
    }

    /// An answer with text of this media type: a page, an image, comma-separated values.
    #[must_use]
    pub fn answers_text(self, status: u16, about: &'static str, media: &'static str) -> Self {
        let text = SchemaOf::Given(super::values::text());
        self.answer(status, about, vec![(media, text)])
    }

    fn answer(
        mut self,
        status: u16,
        about: &'static str,
        content: Vec<(&'static str, SchemaOf)>,
    ) -> Self {
        // A second media type of one status.
        if let Some(known) = self.answers.iter_mut().find(|known| known.status == status) {
            known.content.extend(content);
            return self;
        }
        self.answers.push(DocumentedAnswer {
            status,
            about,
            content,
            headers: Vec::new(),
        });
        self
    }

    /// A header of the last answer.
    #[must_use]
    pub fn with_header(mut self, name: &'static str, about: &'static str) -> Self {
        if let Some(answer) = self.answers.last_mut() {
            answer.headers.push((name, about));
        }
        self
    }

    /// A refusal beside those that the route has by its nature.
    #[must_use]
    pub fn refuses(mut self, status: u16) -> Self {
        self.refusals.push(status);
        self
    }

    /// The operation in OpenAPI's form.
    pub(crate) fn value(&self, route: &Route, tag: &str, schemas: &mut Schemas) -> Value {
        let mut value = json!({
            "operationId": operation_id(route),
            "summary": self.summary,
            "tags": [tag],
            "security": security(route.access),
            "responses": self.responses(route, schemas),
        });
        let mut add = |name: &str, member: Value| value[name] = member;
        if !self.about.is_empty() {
            add("description", self.about.join("\n\n").into());
        }
        let parameters = self.parameters(route);
        if !parameters.is_empty() {
            add("parameters", parameters.into());
        }
        if let Some((schema, required)) = &self.body {
            let mut schema = schema.value(&mut schemas.bodies);
            if !self.required.is_empty() {
                schema["required"] = json!(self.required);
            }
            let content = json!({"application/json": {"schema": schema}});
            add(
                "requestBody",
                json!({"required": required, "content": content}),
            );
        }
        let scopes = scopes(route.access);
        if !scopes.is_empty() {
            add("x-scopes", json!(scopes));
        }
        if self.is_extension {
            add("x-extension", true.into());
        }
        if !self.limits.is_empty() {
            add("x-limits", json!(self.limits));
        }
        value
    }

    fn parameters(&self, route: &Route) -> Vec<Value> {
        let captures = captures(route.path).map(|name| {
            let own = self.parameters.iter().find(|own| own.name == name);
            let known = CAPTURES.iter().find(|(known, _)| *known == name);
            let about = own.map(|own| own.about).or(known.map(|(_, about)| *about));
            let about = about.unwrap_or_else(|| {
                panic!("{}: say what {{{name}}} is, by `.path(\"{name}\", …)`", route.path)
            });
            let schema = json!({"type": "string", "minLength": 1});
            json!({"name": name, "in": "path", "required": true, "schema": schema, "description": about})
        });
        let is_capture = |name| captures_of(route.path, name);
        let others = self.parameters.iter().filter(|own| !is_capture(own.name));
        let others = others.map(|own| {
            let mut value = json!({
                "name": own.name,
                "in": own.place,
                "schema": own.schema,
                "description": own.about,
            });
            if own.required {
                value["required"] = true.into();
            }
            value
        });
        captures.chain(others).collect()
    }

    fn responses(&self, route: &Route, schemas: &mut Schemas) -> Value {
        let mut responses = Map::new();
        for answer in &self.answers {
            let mut value = json!({"description": answer.about});
            let content = answer.content.iter().map(|(media, schema)| {
                let schema = schema.value(&mut schemas.answers);
                ((*media).to_owned(), json!({"schema": schema}))
            });
            let content: Map<_, _> = content.collect();
            if !content.is_empty() {
                value["content"] = content.into();
            }
            let headers = answer.headers.iter().map(|(name, about)| {
                let header = json!({"description": about, "schema": {"type": "string"}});
                ((*name).to_owned(), header)
            });
            let headers: Map<_, _> = headers.collect();
            if !headers.is_empty() {
                value["headers"] = headers.into();
            }
            responses.insert(answer.status.to_string(), value);
        }
        for status in self.refused(route) {
            let reference = format!("#/components/responses/{}{status}", form(route.dialect));
            let refusal = json!({"$ref": reference});
            responses.entry(status.to_string()).or_insert(refusal);
        }
        responses.into()
    }

    /// The refusals that a route has by what it takes, and the operation's own.
    fn refused(&self, route: &Route) -> Vec<u16> {
        let mut all = self.refusals.clone();
        // A page for people.
        if route.access == Access::Public {
            return all;
        }
        all.extend([401, 403, 429, 500, 503]);
        if self.body.is_some() {
            all.extend([400, 408, 413]);
        }
        if self.parameters.iter().any(|own| own.place == "query") {
            all.push(400);
        }
        if captures(route.path).next().is_some() {
            all.push(404);
        }
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// What captures of paths are, unless an operation says it.
const CAPTURES: [(&str, &str); 8] = [
    ("batch_id", "The id of a batch."),
    ("email", "An email address."),
    ("group_id", "The number of an unsubscribe group."),
    ("id", "The id."),
    ("subuser_name", "The user name of a subuser."),
    (
        "template_id",
        "The id of a template; of a dynamic one it begins with `d-`.",
    ),
    ("token", "The token of a mailed link."),
    ("version_id", "The id of a version."),
];

/// What the responses of a dialect are called in the document: `Error404`.
fn form(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::General => "Error",
        Dialect::Mail => "MailError",
        Dialect::Senders => "SenderError",
    }
}

fn captures(path: &str) -> impl Iterator<Item = &str> {
    let parts = path.split('/');
    parts.filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

fn captures_of(path: &str, name: &str) -> bool {
    captures(path).any(|capture| capture == name)
}

/// `get-api_keys-api_key_id`.
fn operation_id(route: &Route) -> String {
    let path = route.path.trim_start_matches("/v3");
    let parts = path
        .split(['/', ':'])
        .map(|part| part.trim_matches(['{', '}']));
    let parts = parts.filter(|part| !part.is_empty());
    let method = route.method.as_str().to_lowercase();
    let parts = std::iter::once(method.as_str()).chain(parts);
    parts.collect::<Vec<_>>().join("-")
}

/// The scopes of which a key needs one.
fn scopes(access: Access) -> Vec<&'static str> {
    match access {
        Access::Scope(scope) => vec![scope],
        Access::Either(one, other) => vec![one, other],
        Access::OneOf(scopes) => scopes.to_vec(),
        Access::AnyKey | Access::Public => Vec::new(),
    }
}

/// One requirement for each scope that opens the route.
fn security(access: Access) -> Value {
    match access {
        Access::Public => json!([]),
        Access::AnyKey => json!([{"key": []}]),
        Access::Scope(_) | Access::Either(..) | Access::OneOf(_) => {
            let each = scopes(access).into_iter();
            each.map(|scope| json!({"key": [scope]})).collect()
        }
    }
}
