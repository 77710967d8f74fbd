//! One template: its versions, one of them in the editor, two of them compared.

mod compare;
mod editor;
mod listed;

use askama::Template;
use posthaste_store::ApiKey;

use crate::api::encoded;
use crate::content::{PageContent, PageResult};
use crate::visit::PageVisit;
use compare::Comparison;
pub(crate) use editor::PreviewAnswer;
use editor::VersionEditor;
use listed::ListedVersion;
pub(super) use listed::{ListedTemplate, rfc3339};

/// The longest name of a template or a version, in characters, by the API's rule.
pub(super) const LONGEST_NAME: usize = 100;

#[derive(Template)]
#[template(path = "template.html")]
struct TemplatePage {
    template: ListedTemplate,
    is_dynamic: bool,
    /// Latest first, as far as they are shown.
    versions: Vec<ListedVersion>,
    /// The version of the address, in its editor; or why it is not there.
    editor: Option<Result<VersionEditor, String>>,
    comparison: Option<Result<Comparison, String>>,
    /// The ids of the two that are compared.
    compared: (String, String),
    longest_name: usize,
    rights: TemplateRights,
}

/// What the reader may do with templates.
pub(super) struct TemplateRights {
    pub(super) can_create: bool,
    can_rename: bool,
    can_delete: bool,
    can_add: bool,
    can_edit: bool,
    can_drop: bool,
    can_activate: bool,
    can_send: bool,
}

impl TemplateRights {
    pub(super) fn of(key: &ApiKey) -> Self {
        Self {
            can_create: key.holds("templates.create"),
            can_rename: key.holds("templates.update"),
            can_delete: key.holds("templates.delete"),
            can_add: key.holds("templates.versions.create"),
            can_edit: key.holds("templates.versions.update"),
            can_drop: key.holds("templates.versions.delete"),
            can_activate: key.holds("templates.versions.activate.create"),
            can_send: key.holds("mail.send"),
        }
    }
}

pub(crate) async fn show(visit: PageVisit, id: String) -> PageResult {
    let path = format!("/v3/templates/{}", encoded(&id));
    let mut template = visit.api.get::<ListedTemplate>(&path).await?;
    let mut versions = std::mem::take(&mut template.versions);
    versions.reverse();
    let is_dynamic = template.generation == "dynamic";
    let editor = match visit.params.text("version") {
        "" => None,
        version => Some(editor::of(&visit, &path, version, is_dynamic).await),
    };
    let compared = (
        visit.params.text("from").to_owned(),
        visit.params.text("to").to_owned(),
    );
    let comparison = if compared.0.is_empty() || compared.1.is_empty() {
        None
    } else {
        Some(compare::of(&visit, &path, &compared).await)
    };
    let page = TemplatePage {
        is_dynamic,
        versions,
        editor,
        comparison,
        compared,
        longest_name: LONGEST_NAME,
        rights: TemplateRights::of(&visit.caller.key),
        template,
    };
    PageContent::of(page.template.name.clone(), &page)
}

impl TemplatePage {
    /// Whether this version is in the editor.
    fn is_open(&self, version: &ListedVersion) -> bool {
        let editor = self.editor.as_ref().and_then(|editor| editor.as_ref().ok());
        editor.is_some_and(|editor| editor.version.id == version.id)
    }
}
