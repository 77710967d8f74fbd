//! Template data: JSON that keeps the order of its keys, because `{{#each}}` over an object shows it.

use std::cell::Cell;
use std::fmt;

use indexmap::IndexMap;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::budget::MAX_STEPS;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Data {
    Null,
    Bool(bool),
    /// Whole numbers preserve every digit: they are often ids.
    Whole(i128),
    Number(f64),
    Text(String),
    List(Vec<Data>),
    Map(IndexMap<String, Data>),
}

/// The most values in the data of one copy. Each takes up to a hundred times the memory of its two
/// characters `[]`, and a template may read no more of them anyway.
pub(crate) const MOST_VALUES: usize = MAX_STEPS;

impl Data {
    /// Reads a caller's object; `None` for anything else, and when it holds more than
    /// [`MOST_VALUES`]. Nesting is limited by `serde_json` (128).
    pub(crate) fn object(json: &str) -> Option<IndexMap<String, Self>> {
        let left = Cell::new(MOST_VALUES);
        let mut source = serde_json::Deserializer::from_str(json);
        let data = DataReader(&left).deserialize(&mut source).ok()?;
        source.end().ok()?;
        match data {
            Self::Map(map) => Some(map),
            _ => None,
        }
    }
}

/// Reads a value and counts it.
#[derive(Clone, Copy)]
struct DataReader<'a>(&'a Cell<usize>);

impl<'de> DeserializeSeed<'de> for DataReader<'_> {
    type Value = Data;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Data, D::Error> {
        let left = self.0.get().checked_sub(1);
        let left = left.ok_or_else(|| D::Error::custom("too many values"))?;
        self.0.set(left);
        source.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for DataReader<'_> {
    type Value = Data;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Data, E> {
        Ok(Data::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Data, E> {
        Ok(Data::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Data, E> {
        Ok(Data::Whole(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Data, E> {
        Ok(Data::Whole(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Data, E> {
        Ok(Data::Number(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Data, E> {
        Ok(Data::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Data, E> {
        Ok(Data::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Data, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            list.push(item);
        }
        Ok(Data::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Data, A::Error> {
        let mut map = IndexMap::new();
        while let Some(key) = entries.next_key::<String>()? {
            map.insert(key, entries.next_value_seed(self)?);
        }
        Ok(Data::Map(map))
    }
}
