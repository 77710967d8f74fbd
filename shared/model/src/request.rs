//! What the bodies of requests share: the fields of a PATCH, and the problems of a request that is
//! refused, each with its field.

use serde::{Deserialize, Deserializer};

/// One reason a request is refused, and the field it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The JSON path of the field, with indexes (`personalizations.0.to`); `None` for the whole request.
    pub field: Option<String>,
    /// The message for the caller.
    pub message: String,
    /// The anchor of its entry in the catalogue of errors, without `#`.
    pub help: Option<String>,
}

impl Problem {
    /// A problem of one field.
    pub fn on(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            field: Some(field.into()),
            message: message.into(),
            help: None,
        }
    }

    /// A problem of the request as a whole.
    pub fn plain(message: impl Into<String>) -> Self {
        Self {
            field: None,
            message: message.into(),
            help: None,
        }
    }

    /// With the anchor of its entry in the catalogue of errors.
    #[must_use]
    pub fn with_help(mut self, anchor: impl Into<String>) -> Self {
        self.help = Some(anchor.into());
        self
    }
}

/// Every problem found; rules add to it, and the caller checks once at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// Adds a problem of `field`.
    pub fn add(&mut self, field: impl Into<String>, message: impl Into<String>) {
        self.0.push(Problem::on(field, message));
    }

    /// Adds a problem unless the rule holds.
    pub fn unless(&mut self, holds: bool, field: &str, message: &str) {
        if !holds {
            self.add(field, message);
        }
    }

    /// Adds a problem.
    pub fn push(&mut self, problem: Problem) {
        self.0.push(problem);
    }

    /// Whether no problem was found so far.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The problems in the order they were found.
    pub fn into_vec(self) -> Vec<Problem> {
        self.0
    }

    /// `Ok` when there are none.
    ///
    /// # Errors
    /// All problems, when there is at least one.
    pub fn into_result(self) -> Result<(), Self> {
        if self.0.is_empty() { Ok(()) } else { Err(self) }
    }
}

/// A PATCH field: left out, `null`, or a new value. Use with `#[serde(default)]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Patch<T> {
    #[default]
    Keep,
    Clear,
    Set(T),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Patch<T> {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        Option::deserialize(source).map(|value| value.map_or(Self::Clear, Self::Set))
    }
}

impl<T> Patch<T> {
    /// Writes the change into an optional field.
    pub fn apply(self, slot: &mut Option<T>) {
        match self {
            Self::Keep => {}
            Self::Clear => *slot = None,
            Self::Set(value) => *slot = Some(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Body {
        #[serde(default)]
        name: Patch<String>,
    }

    #[test]
    fn a_field_is_left_out_null_or_set() {
        for (json, want) in [
            ("{}", Some("old")),
            (r#"{"name":null}"#, None),
            (r#"{"name":"new"}"#, Some("new")),
        ] {
            let mut slot = Some("old".to_owned());
            let body: Body = serde_json::from_str(json).unwrap();
            body.name.apply(&mut slot);
            assert_eq!(slot.as_deref(), want, "{json}");
        }
    }
}
