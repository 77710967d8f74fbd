//! The API reference of one function: its operations as OpenAPI 3.1, made from its routes and from the types that
//! its handlers read and answer.
//!
//! Each function describes its routes in `src/reference.rs`, which is compiled for its tests only; so is the
//! derived schema of each type. The result is `reference.json` in the function's folder, which is served
//! (`functions/api-keys/src/docs`). The test that makes it compares it with the file, and writes the file when
//! `REFERENCE` is `write`. It fails when a route has no description, or a description no route.
//!
//! Method, path, scopes and the form of errors are those of the route. Whether answers are as described is what
//! `tests/reference` tests, against the running service.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    reason = "only tests make the API reference: what is wrong ends them"
)]

mod operation;
mod schemas;
pub mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use posthaste_http::{Authorizer, Route, Routes};
use posthaste_runtime::{Error, Platform};
use serde_json::{Map, Value, json};

pub use operation::Operation;
use schemas::Schemas;
pub use schemas::{SchemaOf, schema_of};

use crate::Services;

/// The variable that makes the test write the file instead of comparing it.
const VARIABLE: &str = "REFERENCE";

/// The reference of one function, while it is described.
#[derive(Debug)]
pub struct Reference {
    function: &'static str,
    title: &'static str,
    about: &'static str,
    operations: BTreeMap<String, Operation>,
}

impl Operation {
    /// The `limit` and `offset` of a list, which answers at most so many entries at once.
    #[must_use]
    pub fn paged(self, most: i64, about_limit: &'static str) -> Self {
        self.query("limit", values::integer(1, most), about_limit)
            .query("offset", values::count(), "How many to skip.")
    }
}

impl Reference {
    /// Of the function in this folder; `title` and `about` head its operations.
    pub fn new(function: &'static str, title: &'static str, about: &'static str) -> Self {
        Self {
            function,
            title,
            about,
            operations: BTreeMap::new(),
        }
    }

    /// Describes the route `METHOD path`.
    ///
    /// # Panics
    /// When it is described already.
    #[must_use]
    #[track_caller]
    pub fn on(mut self, route: impl Into<String>, operation: Operation) -> Self {
        let route = route.into();
        let before = self.operations.insert(route.clone(), operation);
        assert!(before.is_none(), "{route} is described twice");
        self
    }

    /// Describes several routes in one way.
    #[must_use]
    #[track_caller]
    pub fn on_all<const N: usize>(self, routes: [&'static str; N], operation: Operation) -> Self {
        let mut all = self;
        for route in routes {
            all = all.on(route, operation.clone());
        }
        all
    }

    /// Compares the reference of a function's routes with the file in its folder, or writes it:
    /// `described().check(App::from_env, routes)`.
    ///
    /// # Panics
    /// When the function does not start, a route is not described, a description has no route, or the file
    /// differs.
    pub async fn check<A, E: Into<Error>>(
        self,
        open: impl FnOnce(&Platform) -> Result<A, E>,
        routes: impl FnOnce(A, Authorizer) -> Routes,
    ) {
        let services = Services::start().await;
        self.compare(&routes(services.open(open), services.gate()));
    }

    fn compare(self, routes: &Routes) {
        let Self { function, .. } = self;
        let described = format!("functions/{function}/src/reference.rs");
        let remake = format!("tests/reference/write {function}");
        let names: BTreeSet<String> = routes.list().iter().map(name).collect();
        for name in &names {
            assert!(
                self.operations.contains_key(name.as_str()),
                "the API reference says nothing about {name}: add `.on(\"{name}\", …)` to {described}, then run \
                 {remake}"
            );
        }
        for name in self.operations.keys() {
            assert!(
                names.contains(name),
                "the API reference describes {name}, which is not a route: take it out of {described}, then run \
                 {remake}"
            );
        }
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../functions");
        let file = folder.join(function).join("reference.json");
        let made = serde_json::to_string_pretty(&self.document(routes)).expect("JSON") + "\n";
        if std::env::var_os(VARIABLE).is_some_and(|wish| wish == "write") {
            std::fs::write(&file, made).expect("the file can be written");
            return;
        }
        let kept = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(
            kept == made,
            "functions/{function}/reference.json is not what its routes and types are now: run {remake}, and look \
             at the difference"
        );
    }

    fn document(&self, routes: &Routes) -> Value {
        let mut schemas = Schemas::new(self.function);
        let mut paths = Map::new();
        for route in routes.list() {
            let Some(operation) = self.operations.get(name(route).as_str()) else {
                continue;
            };
            let value = operation.value(route, self.title, &mut schemas);
            let methods = paths.entry(route.path).or_insert_with(|| json!({}));
            methods[route.method.as_str().to_lowercase()] = value;
        }
        let mut document = json!({
            "tag": {"name": self.title, "description": self.about},
            "paths": paths,
        });
        schemas.add_to(&mut document);
        document
    }
}

/// A route as it is described: `METHOD path`.
fn name(route: &Route) -> String {
    format!("{} {}", route.method, route.path)
}
