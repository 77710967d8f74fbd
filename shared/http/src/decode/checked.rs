//! A deserializer around another, which compares the type of each value with the one that is asked
//! for, and knows its path.

use std::fmt;

use serde::de::value::{MapAccessDeserializer, StringDeserializer};
use serde::de::{
    DeserializeSeed, Error, IgnoredAny, IntoDeserializer as _, MapAccess, SeqAccess, Visitor,
};
use serde::{Deserializer, forward_to_deserialize_any};

use super::{Context, Fault, FieldPath};

/// A value, or the visitor or seed that reads it, with its path.
pub(super) struct Checked<'c, D> {
    pub(super) inner: D,
    pub(super) at: FieldPath<'c>,
    pub(super) context: &'c Context,
}

impl<'c, D> Checked<'c, D> {
    fn replace<E>(&self, inner: E) -> Checked<'c, E> {
        Checked {
            inner,
            at: self.at,
            context: self.context,
        }
    }

    fn note<E: fmt::Display>(&self) -> impl Fn(E) -> E + use<'c, E, D> {
        let (at, context) = (self.at, self.context);
        move |error| {
            context.note(|| Fault::of(&at, &error));
            error
        }
    }
}

/// JSON's types, as messages name them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JsonType {
    Any,
    Array,
    Boolean,
    Integer,
    Null,
    Number,
    Object,
    String,
}

impl JsonType {
    fn name(self) -> &'static str {
        match self {
            Self::Any => "any value",
            Self::Array => "array",
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Null => "null",
            Self::Number => "number",
            Self::Object => "object",
            Self::String => "string",
        }
    }

    fn takes(self, given: Self) -> bool {
        match self {
            Self::Any => true,
            Self::Number => matches!(given, Self::Number | Self::Integer),
            _ => self == given,
        }
    }
}

/// A visitor that wants this type of value.
struct Typed<V> {
    visitor: V,
    expected: JsonType,
    /// The values of an enumeration.
    variants: &'static [&'static str],
}

impl<'de, 'c, D: Deserializer<'de>> Checked<'c, D> {
    fn typed<V: Visitor<'de>>(self, expected: JsonType, visitor: V) -> Result<V::Value, D::Error> {
        let typed = self.replace(Typed {
            visitor,
            expected,
            variants: &[],
        });
        self.inner.deserialize_any(typed)
    }
}

macro_rules! typed {
    ($($method:ident => $expected:ident,)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
            self.typed(JsonType::$expected, visitor)
        }
    )*};
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Checked<'_, D> {
    type Error = D::Error;

    /// A value without a type has no type that does not fit: it is read without the checks.
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.inner.deserialize_any(visitor)
    }

    typed! {
        deserialize_bool => Boolean,
        deserialize_i8 => Integer,
        deserialize_i16 => Integer,
        deserialize_i32 => Integer,
        deserialize_i64 => Integer,
        deserialize_u8 => Integer,
        deserialize_u16 => Integer,
        deserialize_u32 => Integer,
        deserialize_u64 => Integer,
        deserialize_f32 => Number,
        deserialize_f64 => Number,
        deserialize_char => String,
        deserialize_str => String,
        deserialize_string => String,
        deserialize_bytes => Any,
        deserialize_byte_buf => Any,
        deserialize_unit => Null,
        deserialize_seq => Array,
        deserialize_map => Object,
        deserialize_identifier => String,
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.typed(JsonType::Null, visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.typed(JsonType::Array, visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.typed(JsonType::Array, visitor)
    }

    /// An object only: the derived code would also take the members from an array, in their order.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.typed(JsonType::Object, visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        let nullable = self.replace(Nullable(visitor));
        self.inner.deserialize_option(nullable)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let typed = self.replace(Typed {
            visitor,
            expected: JsonType::String,
            variants,
        });
        self.inner.deserialize_any(typed)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.inner.deserialize_ignored_any(visitor)
    }

    forward_to_deserialize_any! { i128 u128 }
}

impl<'c, V> Checked<'c, Typed<V>> {
    /// Hands a value of the type `given` on if that type is expected.
    fn hand<T, E: Error>(
        self,
        given: JsonType,
        visit: impl FnOnce(Checked<'c, V>) -> Result<T, E>,
    ) -> Result<T, E> {
        let expected = self.inner.expected;
        if !expected.takes(given) {
            let (expected, given) = (expected.name(), given.name());
            self.context
                .note(|| Fault::wrong_type(&self.at, expected, given));
            return Err(E::custom("a value of another type"));
        }
        let note = self.note();
        let visitor = Checked {
            inner: self.inner.visitor,
            at: self.at,
            context: self.context,
        };
        visit(visitor).map_err(note)
    }
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Checked<'_, Typed<V>> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.inner.expected.name())
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<V::Value, E> {
        self.hand(JsonType::Boolean, |to| to.inner.visit_bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<V::Value, E> {
        self.hand(JsonType::Integer, |to| to.inner.visit_i64(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<V::Value, E> {
        self.hand(JsonType::Integer, |to| to.inner.visit_u64(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<V::Value, E> {
        self.hand(JsonType::Number, |to| to.inner.visit_f64(value))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<V::Value, E> {
        let variants = self.inner.variants;
        if variants.is_empty() {
            return self.hand(JsonType::String, |to| to.inner.visit_str(value));
        }
        if !variants.contains(&value) {
            let one_of = format!("Invalid value. Expected one of: {}.", variants.join(", "));
            self.context.note(|| Fault::new(&self.at, one_of));
        }
        let variant: StringDeserializer<E> = value.to_owned().into_deserializer();
        self.hand(JsonType::String, |to| to.inner.visit_enum(variant))
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.hand(JsonType::Null, |to| to.inner.visit_unit())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, inner: A) -> Result<V::Value, A::Error> {
        self.hand(JsonType::Array, |to| {
            let (at, context) = (to.at, to.context);
            let inner = Elements { inner, next: 0 };
            to.inner.visit_seq(Checked { inner, at, context })
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, inner: A) -> Result<V::Value, A::Error> {
        let is_enum = !self.inner.variants.is_empty();
        self.hand(JsonType::Object, |to| {
            let (at, context) = (to.at, to.context);
            let key = String::new();
            let inner = Members { inner, key };
            let members = Checked { inner, at, context };
            if is_enum {
                return to.inner.visit_enum(MapAccessDeserializer::new(members));
            }
            to.inner.visit_map(members)
        })
    }
}

/// A visitor that also takes null.
struct Nullable<V>(V);

impl<'de, V: Visitor<'de>> Visitor<'de> for Checked<'_, Nullable<V>> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.0.expecting(f)
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.inner.0.visit_none()
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.inner.0.visit_none()
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        let value = Checked {
            inner,
            at: self.at,
            context: self.context,
        };
        self.inner.0.visit_some(value)
    }
}

/// The elements of an array.
struct Elements<A> {
    inner: A,
    next: usize,
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Checked<'_, Elements<A>> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        loop {
            let at = self.at.index(self.inner.next);
            self.inner.next += 1;
            if self.context.leaves_out(&at) {
                if self.inner.inner.next_element::<IgnoredAny>()?.is_none() {
                    return Ok(None);
                }
                continue;
            }
            let seed = Checked {
                inner: seed,
                at,
                context: self.context,
            };
            return self.inner.inner.next_element_seed(seed);
        }
    }
}

/// The members of an object.
struct Members<A> {
    inner: A,
    /// Of the member whose value comes next.
    key: String,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Checked<'_, Members<A>> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        loop {
            let Some(key) = self.inner.inner.next_key::<String>()? else {
                return Ok(None);
            };
            if self.context.leaves_out(&self.at.key(&key)) {
                self.inner.inner.next_value::<IgnoredAny>()?;
                continue;
            }
            self.inner.key = key;
            let key: StringDeserializer<A::Error> = self.inner.key.clone().into_deserializer();
            return seed.deserialize(key).map(Some);
        }
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.inner.inner.next_value_seed(Checked {
            inner: seed,
            at: self.at.key(&self.inner.key),
            context: self.context,
        })
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Checked<'_, S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, inner: D) -> Result<S::Value, D::Error> {
        let note = self.note();
        let value = Checked {
            inner,
            at: self.at,
            context: self.context,
        };
        self.inner.deserialize(value).map_err(note)
    }
}
