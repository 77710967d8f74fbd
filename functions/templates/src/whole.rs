//! A template with the texts of its versions.

use std::collections::BTreeMap;

use posthaste_http::Rejection;
use posthaste_store::Template;

use crate::App;
use crate::wire::TemplateBody;

/// Bytes of text in one answer. Lambda passes on at most 6 MB, and JSON makes some texts longer;
/// one version of any size fits.
const MOST: usize = 3 << 20;

/// The template with the texts of its versions: of the active one first, then of the latest, as
/// long as they fit into one response. A version requested alone always has its texts. A version
/// that is being changed or deleted has none.
pub(crate) async fn of(app: &App, template: &Template) -> Result<TemplateBody, Rejection> {
    let mut versions: Vec<_> = template.versions.iter().rev().collect();
    versions.sort_by_key(|version| !version.active);
    let (mut found, mut left) = (BTreeMap::new(), MOST);
    for version in versions {
        let texts = app.store.texts(&template.account, &version.texts).await?;
        let Some(texts) = texts else { continue };
        let size = texts.html_content.len() + texts.plain_content.len();
        let Some(rest) = left.checked_sub(size) else {
            break;
        };
        left = rest;
        found.insert(version.id.clone(), texts);
    }
    Ok(TemplateBody::with(template, &mut found))
}
