//! The three states of a field in a PATCH body.

use serde::{Deserialize, Deserializer};

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
