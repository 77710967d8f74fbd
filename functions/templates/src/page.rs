//! One page of templates, and the way to the pages beside it.

use axum::http::{HeaderMap, HeaderValue, header};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use posthaste_http::{Query, Rejection};
use posthaste_model::TemplateId;
use posthaste_store::Template;
use serde_json::{Value, json};
use url::form_urlencoded;

use crate::wire::{TemplateBody, generation};

/// The largest `page_size` (API facts, section 1).
const LARGEST_PAGE: u64 = 200;

/// What a caller wants to see.
pub(crate) struct Wanted {
    generations: Vec<String>,
    /// Without it everything is answered at once, in the older form.
    size: Option<usize>,
    /// The place of the first template: how old it is, and its id.
    from: Option<(i64, String)>,
}

impl Wanted {
    /// Reads `generations`, `page_size`, `page_token`.
    ///
    /// # Errors
    /// 400 about the parameter that is wrong.
    pub(crate) fn read(query: &Query) -> Result<Self, Rejection> {
        let generations = query.text("generations").unwrap_or("legacy");
        let generations: Vec<String> = generations.split(',').map(str::to_owned).collect();
        if !generations.iter().all(|g| g == "legacy" || g == "dynamic") {
            return Err(Rejection::on(
                "generations",
                "generations must be legacy, dynamic, or both with a comma between them",
            ));
        }
        let size = match query.number("page_size")? {
            Some(size) if !(1..=LARGEST_PAGE).contains(&size) => {
                return Err(Rejection::on(
                    "page_size",
                    format!("page_size must be 1 to {LARGEST_PAGE}"),
                ));
            }
            size => size.and_then(|size| usize::try_from(size).ok()),
        };
        let from = match query.text("page_token").filter(|token| !token.is_empty()) {
            Some(token) => Some(place(token).ok_or_else(|| {
                Rejection::on("page_token", "page_token is not one of this service's")
            })?),
            None => None,
        };
        Ok(Self {
            generations,
            size,
            from,
        })
    }

    pub(crate) fn takes(&self, id: &TemplateId) -> bool {
        self.generations.iter().any(|g| g == generation(id))
    }

    /// The answer out of all templates that were asked for, the oldest first.
    pub(crate) fn answer(&self, all: &[Template], headers: &HeaderMap) -> Value {
        let Some(size) = self.size else {
            let all: Vec<_> = all.iter().map(TemplateBody::of).collect();
            return json!({ "templates": all });
        };
        let start = match &self.from {
            None => 0,
            Some((age, id)) => {
                all.partition_point(|t| (t.created_at.0, t.id.as_str()) < (*age, id.as_str()))
            }
        };
        let shown = all.iter().skip(start).take(size);
        let result: Vec<_> = shown.map(TemplateBody::of).collect();
        let to = |index: usize| {
            let first = all.get(index)?;
            Some(self.address(headers, Some(&token(first))))
        };
        let own = self.from.as_ref().map(|(age, id)| encode(*age, id));
        let mut meta = serde_json::Map::new();
        meta.insert("self".into(), self.address(headers, own.as_deref()).into());
        meta.insert("count".into(), all.len().into());
        let prev = (start > 0).then(|| start.saturating_sub(size));
        for (name, index) in [("prev", prev), ("next", Some(start + size))] {
            if let Some(address) = index.and_then(to) {
                meta.insert(name.into(), address.into());
            }
        }
        json!({ "result": result, "_metadata": meta })
    }

    /// Where a page is found, at the address the caller called.
    fn address(&self, headers: &HeaderMap, token: Option<&str>) -> String {
        let text = |name| {
            headers
                .get(name)
                .and_then(|v: &HeaderValue| v.to_str().ok())
        };
        let host = text(header::HOST);
        let scheme = text(header::HeaderName::from_static("x-forwarded-proto"));
        let base = match (scheme.filter(|s| matches!(*s, "http" | "https")), host) {
            (_, None) => String::new(),
            (scheme, Some(host)) => format!("{}://{host}", scheme.unwrap_or("http")),
        };
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.append_pair("generations", &self.generations.join(","));
        if let Some(size) = self.size {
            query.append_pair("page_size", &size.to_string());
        }
        if let Some(token) = token {
            query.append_pair("page_token", token);
        }
        format!("{base}/v3/templates?{}", query.finish())
    }
}

fn token(template: &Template) -> String {
    encode(template.created_at.0, template.id.as_str())
}

fn encode(age: i64, id: &str) -> String {
    URL_SAFE_NO_PAD.encode(format!("{age} {id}"))
}

fn place(token: &str) -> Option<(i64, String)> {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(token).ok()?).ok()?;
    let (age, id) = text.split_once(' ')?;
    Some((age.parse().ok()?, id.to_owned()))
}
