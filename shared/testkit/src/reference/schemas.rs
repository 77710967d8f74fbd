//! The schemas of the types that operations name.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value};

/// How a schema comes about.
#[derive(Clone, Debug)]
pub enum SchemaOf {
    /// From a type.
    Made(fn(&mut SchemaGenerator) -> Value),
    /// As it is, from a table of the code.
    Given(Value),
}

/// The schema of a type.
pub fn schema_of<T: JsonSchema>() -> SchemaOf {
    SchemaOf::Made(|schemas| schemas.subschema_for::<T>().to_value())
}

impl SchemaOf {
    pub(crate) fn value(&self, schemas: &mut SchemaGenerator) -> Value {
        match self {
            Self::Made(make) => make(schemas),
            Self::Given(value) => value.clone(),
        }
    }
}

/// Where the generators put their schemas; [`Schemas::add_to`] brings both together.
const ANSWERS: &str = "/components/schemas";
const BODIES: &str = "/components/bodies";

/// What bodies may be, and what answers are: a type that serves as both has different schemas, because a field that
/// may be left out of a body can always be in an answer.
pub(crate) struct Schemas {
    function: &'static str,
    pub(crate) answers: SchemaGenerator,
    pub(crate) bodies: SchemaGenerator,
}

impl Schemas {
    pub(crate) fn new(function: &'static str) -> Self {
        let generator = |settings: SchemaSettings, path: &'static str| {
            let settings = settings.with(|settings| {
                settings.definitions_path = path.into();
                settings.meta_schema = None;
            });
            settings.into_generator()
        };
        let settings = SchemaSettings::draft2020_12;
        Self {
            function,
            answers: generator(settings().for_serialize(), ANSWERS),
            bodies: generator(settings().for_deserialize(), BODIES),
        }
    }

    /// Adds the schemas as `schemas`, each named by the function and its type (functions have types of the same
    /// name), and makes the references in the document lead to them.
    pub(crate) fn add_to(mut self, document: &mut Value) {
        let answers = self.answers.take_definitions(true);
        let bodies = self.bodies.take_definitions(true);
        let named = |schemas: &Map<String, Value>, path: &str| {
            let entries = schemas.iter().map(|(name, schema)| {
                let mut schema = schema.clone();
                // Words for those who read the type, not for callers; a field's own are for both.
                schema
                    .as_object_mut()
                    .and_then(|schema| schema.remove("description"));
                self.rename(&mut schema, &bodies, &answers);
                (self.name(name, path, &bodies, &answers), schema)
            });
            entries.collect::<Map<_, _>>()
        };
        let mut all = named(&answers, ANSWERS);
        all.extend(named(&bodies, BODIES));
        self.rename(document, &bodies, &answers);
        if let Some(document) = document.as_object_mut() {
            document.insert("schemas".to_owned(), Value::Object(all));
        }
    }

    /// The name of a schema in the document.
    fn name(
        &self,
        name: &str,
        path: &str,
        bodies: &Map<String, Value>,
        answers: &Map<String, Value>,
    ) -> String {
        let other = answers.get(name);
        let differs = path == BODIES && other.is_some_and(|other| Some(other) != bodies.get(name));
        let kind = if differs { "Body" } else { "" };
        format!("{}.{name}{kind}", self.function)
    }

    fn rename(&self, value: &mut Value, bodies: &Map<String, Value>, answers: &Map<String, Value>) {
        match value {
            Value::Object(members) => {
                if let Some(Value::String(target)) = members.get_mut("$ref")
                    && let Some((path, name)) = target.trim_start_matches('#').rsplit_once('/')
                    && (path == ANSWERS || path == BODIES)
                {
                    *target = format!("#{ANSWERS}/{}", self.name(name, path, bodies, answers));
                }
                members
                    .values_mut()
                    .for_each(|value| self.rename(value, bodies, answers));
            }
            Value::Array(values) => {
                values
                    .iter_mut()
                    .for_each(|value| self.rename(value, bodies, answers));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}
