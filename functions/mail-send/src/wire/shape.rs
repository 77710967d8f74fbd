//! The types of a request as data, and the walk that names every value with a wrong one.
//!
//! The walk reads the body as a stream: it builds no tree, whatever the caller sends. It reports in
//! the order of the declaration, not of the caller's keys.

use std::fmt;

use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::data::Sound;
use super::{ArgsValue, JsonList, Nullable, Sections, Strings, TemplateData, TextValue};
use crate::errors::{JsonPath, ValidationErrors};

/// The permitted type of a value.
#[derive(Debug)]
pub(crate) enum Shape {
    Text,
    Integer,
    Boolean,
    List(&'static Shape),
    Object(&'static [(&'static str, &'static Shape)]),
    Nullable(&'static Shape),
    /// Every value a text; one that is not makes the whole body unreadable (API facts 2.4, stage 0).
    Strings,
    /// As [`Shape::Strings`], or a text.
    Args,
    /// Every value a text, or an object of texts.
    Sections,
    /// The value of one section.
    Section,
    /// Any object.
    Data,
}

impl Shape {
    /// Its name in messages.
    fn expected(&self) -> &'static str {
        match self {
            Self::Text | Self::Section => "string",
            Self::Integer => "integer",
            Self::Boolean => "boolean",
            Self::List(_) => "array",
            Self::Object(_) | Self::Strings | Self::Args | Self::Sections | Self::Data => "object",
            Self::Nullable(shape) => shape.expected(),
        }
    }
}

/// A wire type with a declared shape.
pub(crate) trait Shaped {
    const SHAPE: &'static Shape;
}

macro_rules! shaped {
    ($($({$($generics:tt)*})? $ty:ty => $shape:expr;)*) => {$(
        impl $(<$($generics)*>)? Shaped for $ty {
            const SHAPE: &'static Shape = &$shape;
        }
    )*};
}

shaped! {
    TextValue<'_> => Shape::Text;
    i64 => Shape::Integer;
    bool => Shape::Boolean;
    {T: Shaped, const KEEP: usize} JsonList<T, KEEP> => Shape::List(T::SHAPE);
    {T: Shaped} Nullable<T> => Shape::Nullable(T::SHAPE);
    {const MOST: usize} Strings<MOST> => Shape::Strings;
    ArgsValue<'_> => Shape::Args;
    Sections => Shape::Sections;
    TemplateData => Shape::Data;
}

/// Notes every value of `json` that does not have its shape.
///
/// # Errors
/// When the text is not JSON, or a value inside an object of strings is not a string.
pub(crate) fn wrong_types(
    json: &str,
    shape: &'static Shape,
    found: &mut ValidationErrors,
) -> Result<(), serde_json::Error> {
    let mut source = serde_json::Deserializer::from_str(json);
    let at = &JsonPath::Root;
    Walk { shape, at, found }.deserialize(&mut source)?;
    source.end()
}

/// The message that SendGrid is known to return for a wrong type of one field (API facts 7). Its
/// message list has texts for more fields, but every observed response used the general one (API
/// facts 2.3 and 2.4).
fn published(field: &str) -> Option<&'static str> {
    (field == "mail_settings.sandbox_mode.enable")
        .then_some("The sandbox mode enable param should be a boolean value.")
}

/// One step of the walk.
struct Walk<'w> {
    shape: &'static Shape,
    at: &'w JsonPath<'w>,
    found: &'w mut ValidationErrors,
}

impl Walk<'_> {
    fn take<E>(self, fits: bool, given: &str) -> Result<(), E> {
        if !fits {
            let expected = self.shape.expected();
            let message = match published(&self.at.to_string()) {
                Some(message) => message.to_owned(),
                None => format!("Invalid type. Expected: {expected}, given: {given}."),
            };
            self.found.push_error(self.at, message);
        }
        Ok(())
    }

    fn members<'de, A: MapAccess<'de>>(
        self,
        keys: &[(&str, &'static Shape)],
        mut map: A,
    ) -> Result<(), A::Error> {
        let mut by_key: Vec<_> = keys.iter().map(|_| ValidationErrors::default()).collect();
        while let Some(key) = map.next_key::<TextValue<'de>>()? {
            let known = keys.iter().zip(&mut by_key).find(|(k, _)| k.0 == &*key);
            let Some((&(key, shape), found)) = known else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let at = &self.at.key(key);
            map.next_value_seed(Walk { shape, at, found })?;
        }
        by_key
            .into_iter()
            .for_each(|found| self.found.append(found));
        Ok(())
    }

    /// Every value has the same shape.
    fn values<'de, A: MapAccess<'de>>(
        self,
        shape: &'static Shape,
        mut map: A,
    ) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<TextValue<'de>>()? {
            let (at, found) = (&self.at.key(&key), &mut *self.found);
            map.next_value_seed(Walk { shape, at, found })?;
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<(), D::Error> {
        if matches!(self.shape, Shape::Data) {
            // Template data may be as deep as a document of its own: that is how it will be read.
            let raw = <&RawValue>::deserialize(source)?.get();
            let mut inner = serde_json::Deserializer::from_str(raw);
            return inner.deserialize_any(self).map_err(D::Error::custom);
        }
        source.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        let fits = matches!(self.shape, Shape::Nullable(_));
        self.take(fits, "null")
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        let fits = matches!(self.shape.inner(), Shape::Boolean);
        self.take(fits, "boolean")
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        let fits = matches!(self.shape.inner(), Shape::Integer);
        self.take(fits, "integer")
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        // Larger than i64: a decoder without such a type reports a number too.
        match i64::try_from(value) {
            Ok(value) => self.visit_i64(value),
            Err(_) => self.take(false, "number"),
        }
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        self.take(false, "number")
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        let fits = matches!(
            self.shape.inner(),
            Shape::Text | Shape::Args | Shape::Section
        );
        self.take(fits, "string")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let Shape::List(shape) = self.shape.inner() else {
            while seq.next_element::<IgnoredAny>()?.is_some() {}
            return self.take(false, "array");
        };
        for index in 0.. {
            let (at, found) = (&self.at.index(index), &mut *self.found);
            if seq.next_element_seed(Walk { shape, at, found })?.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        match self.shape.inner() {
            Shape::Object(keys) => self.members(keys, map),
            Shape::Sections => self.values(&Shape::Section, map),
            Shape::Section => self.values(&Shape::Text, map),
            Shape::Data => {
                while map.next_entry::<Sound, Sound>()?.is_some() {}
                Ok(())
            }
            Shape::Strings | Shape::Args => {
                while map.next_entry::<IgnoredKey, TextValue<'de>>()?.is_some() {}
                Ok(())
            }
            Shape::Text | Shape::Integer | Shape::Boolean | Shape::List(_) | Shape::Nullable(_) => {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                self.take(false, "object")
            }
        }
    }
}

/// A key that is read, to detect an invalid one, and discarded.
struct IgnoredKey;

impl<'de> Deserialize<'de> for IgnoredKey {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        TextValue::deserialize(source).map(|_| Self)
    }
}

impl Shape {
    /// The shape of a value that is not null.
    fn inner(&self) -> &Self {
        match self {
            Self::Nullable(shape) => shape,
            Self::Text
            | Self::Integer
            | Self::Boolean
            | Self::List(_)
            | Self::Object(_)
            | Self::Strings
            | Self::Args
            | Self::Sections
            | Self::Section
            | Self::Data => self,
        }
    }
}
