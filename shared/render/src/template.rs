//! Templates.

use std::fmt;

use posthaste_model::Content;
use serde_json::Value;

/// Which language a template is written in (API facts 2.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generation {
    /// `<%body%>`, `<%subject%>` and substitutions.
    Legacy,
    /// Handlebars.
    Dynamic,
}

/// A version of a template as its owner saved it. Empty texts count as absent.
#[derive(Clone, Copy, Debug)]
pub struct TemplateVersion<'a> {
    pub generation: Generation,
    pub subject: &'a str,
    pub html_content: &'a str,
    pub plain_content: &'a str,
    /// Whether the text part is made from the HTML.
    pub generate_plain_content: bool,
}

/// A field of a template version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    Subject,
    Html,
    Plain,
}

impl fmt::Display for Field {
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
    pub field: Field,
    /// Counted from 1.
    pub line: usize,
    pub reason: String,
}

/// A template version ready to be rendered many times.
#[derive(Clone, Debug)]
pub struct Compiled {
    generation: Generation,
    subject: String,
    parts: Vec<Content>,
}

impl Compiled {
    /// Compiles a version.
    ///
    /// # Errors
    /// The first fault, with its line.
    pub fn compile(version: &TemplateVersion<'_>) -> Result<Self, CompileError> {
        let part = |mime_type: &str, value: &str| Content {
            mime_type: mime_type.to_owned(),
            value: value.to_owned(),
        };
        Ok(Self {
            generation: version.generation,
            subject: version.subject.to_owned(),
            parts: vec![
                part("text/plain", version.plain_content),
                part("text/html", version.html_content),
            ],
        })
    }

    /// The language it is written in.
    pub fn generation(&self) -> Generation {
        self.generation
    }
}

/// The variables a template names and the data lacks.
pub fn missing_variables(_: &Compiled, _: &Value) -> Vec<String> {
    Vec::new()
}
