//! The request and response JSON of this function.

use std::collections::BTreeMap;

use posthaste_model::{TemplateId, VersionId};
use posthaste_store::{Template, Version, VersionTexts};
use serde::{Deserialize, Serialize};

/// The body of a new template, of another name, and of a duplicate.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct NameRequest {
    pub(crate) name: Option<String>,
    pub(crate) generation: Option<String>,
}

/// The body of a version. What is left out of a change stays.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Draft {
    pub(crate) active: Option<i64>,
    pub(crate) name: Option<String>,
    pub(crate) subject: Option<String>,
    pub(crate) html_content: Option<String>,
    pub(crate) plain_content: Option<String>,
    pub(crate) generate_plain_content: Option<bool>,
    pub(crate) editor: Option<String>,
    pub(crate) test_data: Option<String>,
}

/// A template with its versions.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct TemplateBody {
    #[cfg_attr(test, schemars(with = "String"))]
    id: TemplateId,
    name: String,
    generation: &'static str,
    updated_at: String,
    versions: Vec<Inside>,
}

/// A version inside its template: a list has no texts.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Inside {
    #[serde(flatten)]
    head: VersionHead,
    #[serde(skip_serializing_if = "Option::is_none")]
    html_content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    plain_content: Option<String>,
}

/// A version without its texts.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct VersionHead {
    #[cfg_attr(test, schemars(with = "String"))]
    id: VersionId,
    #[cfg_attr(test, schemars(with = "String"))]
    template_id: TemplateId,
    active: u8,
    name: String,
    subject: String,
    updated_at: String,
    generate_plain_content: bool,
    editor: String,
    /// Empty: the service makes no picture of a template.
    thumbnail_url: &'static str,
}

/// A whole version.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct VersionBody {
    #[serde(flatten)]
    head: VersionHead,
    html_content: String,
    plain_content: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    test_data: String,
    /// Only in the answer to a change, and only if there are any.
    // Of two clients in use, one reads an object here and the other a list of strings (API facts, appendix C).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<Warning>,
}

/// An oddity of a version that is not an error.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Warning {
    pub(crate) message: String,
}

/// `legacy` or `dynamic`.
pub(crate) fn generation(id: &TemplateId) -> &'static str {
    if id.is_dynamic() { "dynamic" } else { "legacy" }
}

fn head(template: &TemplateId, version: &Version) -> VersionHead {
    VersionHead {
        id: version.id.clone(),
        template_id: template.clone(),
        active: u8::from(version.active),
        name: version.name.clone(),
        subject: version.subject.clone(),
        updated_at: version.updated_at.sql(),
        generate_plain_content: version.generate_plain_content,
        editor: version.editor.clone(),
        thumbnail_url: "",
    }
}

impl TemplateBody {
    /// Without texts.
    pub(crate) fn of(template: &Template) -> Self {
        Self::with(template, &mut BTreeMap::new())
    }

    /// With these texts, by version.
    pub(crate) fn with(template: &Template, texts: &mut BTreeMap<VersionId, VersionTexts>) -> Self {
        let versions = template.versions.iter();
        let inside = |version: &Version| {
            let texts = texts.remove(&version.id);
            let (html, plain) = texts.map(|t| (t.html_content, t.plain_content)).unzip();
            Inside {
                head: head(&template.id, version),
                html_content: html,
                plain_content: plain,
            }
        };
        Self {
            id: template.id.clone(),
            name: template.name.clone(),
            generation: generation(&template.id),
            updated_at: template.updated_at.sql(),
            versions: versions.map(inside).collect(),
        }
    }
}

impl VersionBody {
    pub(crate) fn of(template: &TemplateId, version: &Version, texts: VersionTexts) -> Self {
        Self {
            head: head(template, version),
            html_content: texts.html_content,
            plain_content: texts.plain_content,
            test_data: texts.test_data,
            warnings: Vec::new(),
        }
    }

    /// The answer to a creation or a change.
    pub(crate) fn changed(template: &TemplateId, version: &Version, texts: VersionTexts) -> Self {
        let warning = || Warning {
            message: "the version has no content".to_owned(),
        };
        let empty = !version.has_content;
        Self {
            warnings: empty.then(warning).into_iter().collect(),
            ..Self::of(template, version, texts)
        }
    }
}
