//! The texts of a version in a form, and what the renderer makes of them as they are stored.

use posthaste_render::plain_from_html;
use serde::Deserialize;

use crate::api::encoded;
use crate::texts;
use crate::visit::PageVisit;

/// Bytes of texts that come with the page, which has 15 KB compressed. The script reads longer ones from the API.
const MOST_INSIDE: usize = 16 << 10;

/// Missing variables that are named.
const MOST_NAMED: usize = 50;

/// Characters of the plain text that the page shows.
const MOST_PLAIN: usize = 4_000;

/// The scope of a version.
pub(super) const READ: &str = "templates.versions.read";

/// A version in its editor.
pub(super) struct VersionEditor {
    pub(super) version: VersionAnswer,
    /// Whether its texts are with the page.
    pub(super) is_inside: bool,
    pub(super) bytes: String,
    /// Whether its plain text is made from its HTML.
    pub(super) has_made_plain: bool,
    /// As it is stored, with its own data; or why it cannot be rendered.
    pub(super) preview: Result<PreviewAnswer, String>,
}

/// What the API answers for a version.
#[derive(Default, Deserialize)]
pub(super) struct VersionAnswer {
    pub(super) id: String,
    pub(super) name: String,
    active: u8,
    pub(super) subject: String,
    pub(super) generate_plain_content: bool,
    pub(super) html_content: String,
    pub(super) plain_content: String,
    #[serde(default)]
    pub(super) test_data: String,
}

/// What the API answers for a preview.
#[derive(Deserialize)]
pub(crate) struct PreviewAnswer {
    pub(crate) subject: Option<String>,
    pub(crate) html_content: Option<String>,
    pub(crate) plain_content: Option<String>,
    pub(crate) missing: Vec<String>,
}

impl VersionAnswer {
    pub(super) fn is_active(&self) -> bool {
        self.active == 1
    }

    /// Whether the plain text was made from the HTML, and is made again when that changes.
    fn has_made_plain(&self) -> bool {
        self.generate_plain_content && self.plain_content == plain_from_html(&self.html_content)
    }

    fn size(&self) -> usize {
        self.html_content.len() + self.plain_content.len() + self.test_data.len()
    }
}

impl PreviewAnswer {
    pub(super) fn subject(&self) -> &str {
        self.subject.as_deref().unwrap_or_default()
    }

    pub(super) fn plain(&self) -> &str {
        self.plain_content.as_deref().unwrap_or_default()
    }
}

/// The version of this id of the template at this path of the API.
///
/// # Errors
/// Why there is no editor, in words.
pub(super) async fn of(
    visit: &PageVisit,
    template: &str,
    id: &str,
    is_dynamic: bool,
) -> Result<VersionEditor, String> {
    let mut version = read(visit, template, id).await?;
    let has_made_plain = version.has_made_plain();
    if has_made_plain {
        version.plain_content.clear();
    }
    let bytes = version.size();
    let is_inside = bytes <= MOST_INSIDE;
    if !is_inside {
        version.html_content.clear();
        version.plain_content.clear();
        version.test_data.clear();
    }
    if is_inside && is_dynamic && version.test_data.is_empty() {
        "{}".clone_into(&mut version.test_data);
    }
    Ok(VersionEditor {
        preview: preview(visit, template, id).await,
        version,
        has_made_plain,
        is_inside,
        bytes: texts::count(i64::try_from(bytes).unwrap_or(i64::MAX)),
    })
}

/// A version with its texts.
pub(super) async fn read(
    visit: &PageVisit,
    template: &str,
    id: &str,
) -> Result<VersionAnswer, String> {
    let path = format!("{template}/versions/{}", encoded(id));
    let version = visit.api.get::<VersionAnswer>(&path).await;
    version.map_err(|error| error.without(READ))
}

async fn preview(visit: &PageVisit, template: &str, id: &str) -> Result<PreviewAnswer, String> {
    let path = format!("{template}/versions/{}/preview", encoded(id));
    let preview = visit.api.get::<PreviewAnswer>(&path).await;
    let mut preview = preview.map_err(|error| error.without(READ))?;
    preview.missing.truncate(MOST_NAMED);
    if let Some(plain) = &mut preview.plain_content
        && let Some((end, _)) = plain.char_indices().nth(MOST_PLAIN)
    {
        plain.truncate(end);
        plain.push('…');
    }
    Ok(preview)
}
