//! Templates of both generations: compiled once, rendered for every recipient.

mod block;
mod data;
mod date;
mod expr;
pub(crate) mod legacy;
mod missing;
mod parse;
mod path;
mod run;
mod scope;
mod tree;
mod value;
mod words;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;

use posthaste_model::TemplateId;

pub(crate) use data::Data;
pub(crate) use legacy::Legacy;
pub use legacy::has_body_tag;
pub(crate) use scope::Given;
use tree::Node;

use crate::budget::{Budget, RenderError};
use crate::plain;

/// The largest text of a template, in bytes (the templates API accepts 1 MB of HTML).
pub const LARGEST: usize = 1 << 20;

/// The names that the service provides to dynamic templates (API facts 2.7): the unsubscribe link,
/// and the groups page.
pub(crate) const GIVEN_NAMES: [&str; 2] = ["unsubscribe", "unsubscribe_preferences"];

/// Which language a template is written in (API facts 2.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generation {
    /// `<%body%>`, `<%subject%>` and substitutions.
    Legacy,
    /// Handlebars.
    Dynamic,
}

impl Generation {
    /// The language of a template with this id (SPEC: a dynamic one starts with `d-`).
    pub fn of(id: &TemplateId) -> Self {
        if id.is_dynamic() {
            Self::Dynamic
        } else {
            Self::Legacy
        }
    }
}

/// A version of a template as its owner saved it. Empty texts count as absent.
#[derive(Clone, Copy, Debug)]
pub struct TemplateVersion<'a> {
    pub generation: Generation,
    pub subject: &'a str,
    pub html_content: &'a str,
    pub plain_content: &'a str,
    /// Whether the text part is made from the HTML where none is written.
    pub generate_plain_content: bool,
}

impl TemplateVersion<'_> {
    /// Whether the text part is generated from the HTML (API facts 1, "Templates": if it is empty).
    /// A text that equals what the HTML yields was generated before, and is generated again.
    pub fn makes_plain(&self) -> bool {
        self.generate_plain_content
            && !self.html_content.is_empty()
            && (self.plain_content.is_empty()
                || self.plain_content == plain::from_html(self.html_content))
    }
}

/// A field of a template version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemplateField {
    Subject,
    Html,
    Plain,
}

impl fmt::Display for TemplateField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Subject => "subject",
            Self::Html => "html_content",
            Self::Plain => "plain_content",
        })
    }
}

/// Why a template cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}, line {line}: {reason}")]
pub struct CompileError {
    pub field: TemplateField,
    /// Counted from 1.
    pub line: usize,
    pub reason: String,
}

/// A compiled template version, rendered many times. Cheap to share behind an `Arc`.
#[derive(Clone, Debug)]
pub struct Compiled {
    pub(crate) body: TemplateBody,
    pub(crate) generate_plain: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum TemplateBody {
    Legacy(Legacy),
    Dynamic(Dynamic),
}

/// The three texts of a Handlebars template; `None` for an absent one.
#[derive(Clone, Debug)]
pub(crate) struct Dynamic {
    subject: Option<Vec<Node>>,
    html: Option<Vec<Node>>,
    plain: Option<Vec<Node>>,
}

impl Compiled {
    /// Compiles a version.
    ///
    /// # Errors
    /// The first error, with its line. A legacy template has no errors except its size.
    pub fn compile(version: &TemplateVersion<'_>) -> Result<Self, CompileError> {
        let texts = [
            (TemplateField::Subject, version.subject),
            (TemplateField::Html, version.html_content),
            (TemplateField::Plain, version.plain_content),
        ];
        for (field, text) in texts {
            if text.len() > LARGEST {
                return Err(CompileError {
                    field,
                    line: 1,
                    reason: format!("the text exceeds {LARGEST} bytes"),
                });
            }
        }
        Ok(Self {
            body: match version.generation {
                Generation::Legacy => TemplateBody::Legacy(Legacy::new(version)),
                Generation::Dynamic => TemplateBody::Dynamic(Dynamic {
                    subject: parse(TemplateField::Subject, version.subject)?,
                    html: parse(TemplateField::Html, version.html_content)?,
                    plain: parse(TemplateField::Plain, version.plain_content)?,
                }),
            },
            generate_plain: version.makes_plain(),
        })
    }

    /// The language it is written in.
    pub fn generation(&self) -> Generation {
        match self.body {
            TemplateBody::Legacy(_) => Generation::Legacy,
            TemplateBody::Dynamic(_) => Generation::Dynamic,
        }
    }
}

fn parse(field: TemplateField, text: &str) -> Result<Option<Vec<Node>>, CompileError> {
    if text.is_empty() {
        return Ok(None);
    }
    match parse::parse(text) {
        Ok(nodes) => Ok(Some(nodes)),
        Err(parse::Fault { line, reason }) => Err(CompileError {
            field,
            line,
            reason,
        }),
    }
}

/// The texts rendered from a template; `None` where it has none.
#[derive(Debug, Default)]
pub(crate) struct RenderedTexts {
    pub(crate) subject: Option<String>,
    pub(crate) html: Option<String>,
    pub(crate) plain: Option<String>,
}

impl Dynamic {
    pub(crate) fn run(
        &self,
        data: &Data,
        given: &Given,
        budget: &mut Budget,
    ) -> Result<RenderedTexts, RenderError> {
        let mut text = |nodes: &Option<Vec<Node>>| {
            nodes
                .as_ref()
                .map(|nodes| run::run(nodes, data, given, budget))
                .transpose()
        };
        Ok(RenderedTexts {
            subject: text(&self.subject)?,
            html: text(&self.html)?,
            plain: text(&self.plain)?,
        })
    }
}

/// The variables of a dynamic template that are missing from `data`, a JSON object: sorted, as they
/// are written. Branches that are not taken count; a variable with a default (`insert`) does not.
///
/// # Errors
/// When `data` is not a JSON object.
pub fn missing_variables(template: &Compiled, data: &str) -> Result<Vec<String>, RenderError> {
    let data = Data::Map(Data::object(data).ok_or(RenderError::Data)?);
    let mut found = BTreeSet::new();
    if let TemplateBody::Dynamic(texts) = &template.body {
        for nodes in [&texts.subject, &texts.html, &texts.plain] {
            missing::missing(nodes.as_deref().unwrap_or_default(), &data, &mut found);
        }
    }
    Ok(found.into_iter().collect())
}
