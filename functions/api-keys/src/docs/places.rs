//! `/`: where things are.

use std::collections::BTreeMap;

use askama::Template;
use serde::Serialize;

use super::page::framed;

/// Places that a host has beside the API, by name: the mailbox of the local service.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OtherPlaces(pub BTreeMap<String, String>);

/// Where things are.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct PlaceLinks {
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
    /// Paths, and URLs of other servers, by what is there.
    pub(crate) links: BTreeMap<String, String>,
}

impl PlaceLinks {
    pub(crate) fn of(others: &OtherPlaces) -> Self {
        let own = [
            ("docs", "/docs"),
            ("openapi", "/openapi.json"),
            ("errors", "/docs/errors"),
        ];
        let own = own.map(|(name, path)| (name.to_owned(), path.to_owned()));
        let mut links = others.0.clone();
        links.extend(own);
        Self {
            name: "Posthaste",
            version: env!("CARGO_PKG_VERSION"),
            links,
        }
    }
}

#[derive(Template)]
#[template(
    ext = "html",
    source = r#"<h1>Posthaste</h1><p>Version {{ places.version }}. Where things are:</p><ul>
{%- for (name, target) in places.links %}<li><a href="{{ target }}">{{ name }}</a>
{%- if let Some(what) = self::about(name) %}: {{ what }}{% endif %}</li>{% endfor %}</ul>"#
)]
struct PlacesPage<'p> {
    places: &'p PlaceLinks,
}

/// What a person finds in a place, in words.
fn about(name: &str) -> Option<&'static str> {
    match name {
        "docs" => Some("the API reference, as a page"),
        "openapi" => Some("the same as OpenAPI 3.1, for programs"),
        "errors" => Some("what the messages of errors mean, and what to do"),
        "health" => Some("whether the service is well"),
        "mailbox" => Some("the mail that this service recorded"),
        _ => None,
    }
}

/// Where things are.
pub(crate) fn page(places: &PlaceLinks) -> String {
    framed("Where things are", &[], &PlacesPage { places })
}
