//! JSON objects with known keys, declared once for both ways of reading.
//!
//! Not `derive(Deserialize)`: it rejects repeated keys, accepts arrays for objects, and accepts
//! `null` for a missing field. The v3 API requires the opposite of all three.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{MapAccess, Visitor};

use super::TextValue;

/// Something that is filled key by key.
pub(crate) trait Object<'de>: Default {
    /// Takes the value of one key out of `map`.
    fn set<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error>;
}

/// Fills an object from a JSON object, and from nothing else.
pub(crate) struct JsonMembers<T>(PhantomData<T>);

impl<T> JsonMembers<T> {
    pub(crate) fn new() -> Self {
        Self(PhantomData)
    }
}

impl<'de, T: Object<'de>> Visitor<'de> for JsonMembers<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let mut object = T::default();
        while let Some(key) = map.next_key::<TextValue<'de>>()? {
            object.set(&key, &mut map)?;
        }
        Ok(object)
    }
}

/// Declares structs of optional fields, how they are read, and their [`Shape`](super::Shape).
/// The JSON key is the field's name unless `as "key"` says otherwise.
macro_rules! object {
    (@key $field:ident) => { stringify!($field) };
    (@key $field:ident $key:literal) => { $key };
    ($(
        $(#[$meta:meta])*
        $name:ident $(<$lt:lifetime>)? { $($field:ident $(as $key:literal)? : $ty:ty),* $(,)? }
    )*) => {$(
        $(#[$meta])*
        #[derive(Debug, Default)]
        pub(crate) struct $name $(<$lt>)? {
            $(pub(crate) $field: Option<$ty>,)*
        }

        impl<'de $(: $lt, $lt)?> $crate::wire::object::Object<'de> for $name $(<$lt>)? {
            fn set<A: serde::de::MapAccess<'de>>(
                &mut self,
                key: &str,
                map: &mut A,
            ) -> Result<(), A::Error> {
                match key {
                    $(object!(@key $field $($key)?) => self.$field = Some(map.next_value()?),)*
                    _ => {
                        map.next_value::<serde::de::IgnoredAny>()?;
                    }
                }
                Ok(())
            }
        }

        impl<'de $(: $lt, $lt)?> serde::Deserialize<'de> for $name $(<$lt>)? {
            fn deserialize<D: serde::Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
                source.deserialize_map($crate::wire::object::JsonMembers::new())
            }
        }

        impl $(<$lt>)? Shaped for $name $(<$lt>)? {
            const SHAPE: &'static Shape = &Shape::Object(&[
                $((object!(@key $field $($key)?), <$ty as Shaped>::SHAPE),)*
            ]);
        }
    )*};
}
