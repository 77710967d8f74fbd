//! The templates of the account, of both generations.

use askama::Template;
use serde::Deserialize;
use url::{Url, form_urlencoded};

use super::template::{LONGEST_NAME, ListedTemplate, TemplateRights, rfc3339};
use crate::api::encoded;
use crate::content::{PageContent, PageResult};
use crate::texts;
use crate::visit::PageVisit;

/// Templates on a page.
const SHOWN: usize = 25;

/// The scope of the list.
pub(super) const READ: &str = "templates.read";

#[derive(Template)]
#[template(path = "templates.html")]
struct TemplatesPage {
    generations: [(&'static str, &'static str); 3],
    /// Which of them are shown.
    generation: String,
    rows: Vec<TemplateRow>,
    total: usize,
    /// Why there is no list.
    problem: Option<String>,
    first: Option<String>,
    next: Option<String>,
    longest_name: usize,
    rights: TemplateRights,
}

/// One template.
struct TemplateRow {
    id: String,
    name: String,
    generation: String,
    versions: String,
    /// The active version's.
    subject: Option<String>,
    updated: String,
}

#[derive(Default, Deserialize)]
struct TemplatesAnswer {
    result: Vec<ListedTemplate>,
    #[serde(rename = "_metadata")]
    metadata: TemplatesMeta,
}

#[derive(Default, Deserialize)]
struct TemplatesMeta {
    count: usize,
    next: Option<String>,
}

impl TemplateRow {
    fn of(template: ListedTemplate) -> Self {
        let active = template.versions.iter().find(|one| one.is_active());
        Self {
            subject: active.map(|one| one.subject.clone()),
            versions: texts::versions(template.versions.len()),
            updated: rfc3339(&template.updated_at),
            id: template.id,
            name: template.name,
            generation: template.generation,
        }
    }
}

pub(crate) async fn show(visit: PageVisit) -> PageResult {
    let generation = match visit.params.text("generation") {
        known @ ("dynamic" | "legacy") => known.to_owned(),
        _ => String::new(),
    };
    let wanted = match generation.as_str() {
        "" => "dynamic,legacy",
        one => one,
    };
    let token = visit.params.text("after");
    let after = encoded(token);
    let path = format!("/v3/templates?generations={wanted}&page_size={SHOWN}&page_token={after}");
    let (found, problem) = match visit.api.get::<TemplatesAnswer>(&path).await {
        Ok(found) => (found, None),
        Err(error) => (TemplatesAnswer::default(), Some(error.without(READ))),
    };
    let next = found.metadata.next.as_deref().and_then(page_token);
    let page = TemplatesPage {
        generations: texts::GENERATIONS,
        rows: found.result.into_iter().map(TemplateRow::of).collect(),
        total: found.metadata.count,
        problem,
        first: (!token.is_empty()).then(|| place(&generation, None)),
        next: next.map(|token| place(&generation, Some(&token))),
        longest_name: LONGEST_NAME,
        rights: TemplateRights::of(&visit.caller.key),
        generation,
    };
    PageContent::of(texts::TEMPLATES, &page)
}

/// The token of a page, out of the address that the API gives for it.
fn page_token(address: &str) -> Option<String> {
    let address = Url::parse(address).ok()?;
    let mut pairs = address.query_pairs();
    let token = pairs.find(|(name, _)| name == "page_token");
    token.map(|(_, token)| token.into_owned())
}

/// The address of a page of the list.
fn place(generation: &str, token: Option<&str>) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    if !generation.is_empty() {
        query.append_pair("generation", generation);
    }
    if let Some(token) = token {
        query.append_pair("after", token);
    }
    format!("/console/templates?{}", query.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_page_is_named_by_its_token() {
        let next = "https://api.example/v3/templates?generations=legacy&page_size=25&page_token=MQ";
        assert_eq!(page_token(next).as_deref(), Some("MQ"));
        assert_eq!(page_token("https://api.example/v3/templates"), None);
        assert_eq!(page_token("no address"), None);
        assert_eq!(
            place("dynamic", Some("M Q")),
            "/console/templates?generation=dynamic&after=M+Q"
        );
    }

    #[test]
    fn a_time_is_one_of_utc() {
        assert_eq!(rfc3339("2026-11-30 10:00:00"), "2026-11-30T10:00:00Z");
    }
}
