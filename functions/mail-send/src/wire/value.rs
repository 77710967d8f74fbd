//! The values inside the objects: texts, lists, maps of strings.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// A string, borrowed from the body unless it has escapes.
#[derive(Debug)]
pub(crate) struct TextValue<'a>(pub(crate) Cow<'a, str>);

impl TextValue<'_> {
    pub(crate) fn into_string(self) -> String {
        self.0.into_owned()
    }
}

impl Deref for TextValue<'_> {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = TextValue<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<TextValue<'de>, E> {
        Ok(TextValue(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<TextValue<'de>, E> {
        Ok(TextValue(Cow::Owned(text.to_owned())))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for TextValue<'a> {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        source.deserialize_str(TextVisitor)
    }
}

/// A value for which `null` means the same as leaving it out.
#[derive(Debug)]
pub(crate) struct Nullable<T>(pub(crate) Option<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Nullable<T> {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        Option::deserialize(source).map(Self)
    }
}

/// An array, of which at most `KEEP` items are stored.
#[derive(Debug)]
pub(crate) struct JsonList<T, const KEEP: usize> {
    pub(crate) items: Vec<T>,
    /// How many items the array had.
    pub(crate) count: usize,
}

impl<T, const KEEP: usize> Default for JsonList<T, KEEP> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            count: 0,
        }
    }
}

struct ListVisitor<T, const KEEP: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const KEEP: usize> Visitor<'de> for ListVisitor<T, KEEP> {
    type Value = JsonList<T, KEEP>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut list = JsonList::default();
        while let Some(item) = seq.next_element()? {
            list.count += 1;
            if list.items.len() < KEEP {
                list.items.push(item);
            }
        }
        Ok(list)
    }
}

impl<'de, T: Deserialize<'de>, const KEEP: usize> Deserialize<'de> for JsonList<T, KEEP> {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        source.deserialize_seq(ListVisitor(PhantomData))
    }
}

/// An object of strings; emptied once its keys and values together exceed `MOST` bytes.
#[derive(Debug, Default)]
pub(crate) struct Strings<const MOST: usize> {
    pub(crate) entries: BTreeMap<String, String>,
    /// Whether there was more than `MOST` bytes.
    pub(crate) too_big: bool,
}

struct StringsVisitor<const MOST: usize>;

impl<'de, const MOST: usize> Visitor<'de> for StringsVisitor<MOST> {
    type Value = Strings<MOST>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of strings")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut strings = Strings::default();
        let mut bytes = 0_usize;
        while let Some((key, value)) = map.next_entry::<TextValue<'de>, TextValue<'de>>()? {
            if strings.too_big {
                continue;
            }
            bytes += key.len() + value.len();
            let key_bytes = key.len();
            let earlier = strings
                .entries
                .insert(key.into_string(), value.into_string());
            bytes -= earlier.map_or(0, |value| key_bytes + value.len());
            if bytes > MOST {
                strings.too_big = true;
                strings.entries.clear();
            }
        }
        Ok(strings)
    }
}

impl<'de, const MOST: usize> Deserialize<'de> for Strings<MOST> {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        source.deserialize_map(StringsVisitor)
    }
}

/// The deprecated `sections`, bounded only by the size of the request. A value is a text, or an
/// object of texts, which are sections of their own: samples of the v3 API have that form.
#[derive(Debug)]
pub(crate) struct Sections(pub(crate) BTreeMap<String, String>);

struct SectionsVisitor;

impl<'de> Visitor<'de> for SectionsVisitor {
    type Value = Sections;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of strings")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Sections, A::Error> {
        let mut all = BTreeMap::new();
        while let Some((key, value)) = map.next_entry::<TextValue<'de>, Section<'de>>()? {
            match value {
                Section::Text(text) => all.extend([(key.into_string(), text.into_string())]),
                Section::Nested(nested) => all.extend(nested),
            }
        }
        Ok(Sections(all))
    }
}

impl<'de> Deserialize<'de> for Sections {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        source.deserialize_map(SectionsVisitor)
    }
}

enum Section<'a> {
    Text(TextValue<'a>),
    Nested(BTreeMap<String, String>),
}

struct SectionVisitor;

impl<'de> Visitor<'de> for SectionVisitor {
    type Value = Section<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Section<'de>, E> {
        TextVisitor.visit_borrowed_str(text).map(Section::Text)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Section<'de>, E> {
        TextVisitor.visit_str(text).map(Section::Text)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Section<'de>, A::Error> {
        let mut nested = BTreeMap::new();
        while let Some((key, value)) = map.next_entry()? {
            nested.insert(key, value);
        }
        Ok(Section::Nested(nested))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Section<'a> {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        source.deserialize_any(SectionVisitor)
    }
}

/// Message-level `custom_args`: an object, or a string that holds one (SPEC types it as a string).
#[derive(Debug)]
pub(crate) enum ArgsValue<'a> {
    Object(Strings<10_000>),
    Text(TextValue<'a>),
}

struct ArgsVisitor;

impl<'de> Visitor<'de> for ArgsVisitor {
    type Value = ArgsValue<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of strings")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<ArgsValue<'de>, E> {
        TextVisitor.visit_borrowed_str(text).map(ArgsValue::Text)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<ArgsValue<'de>, E> {
        TextVisitor.visit_str(text).map(ArgsValue::Text)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ArgsValue<'de>, A::Error> {
        StringsVisitor.visit_map(map).map(ArgsValue::Object)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for ArgsValue<'a> {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        source.deserialize_any(ArgsVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_measured_without_overwritten_values() {
        let big = "x".repeat(8);
        let json = format!(r#"{{"a":"{big}","a":"{big}"}}"#);
        let strings: Strings<9> = serde_json::from_str(&json).unwrap();
        assert!(!strings.too_big);
        assert_eq!(strings.entries.len(), 1);
        let strings: Strings<8> = serde_json::from_str(&json).unwrap();
        assert!(strings.too_big && strings.entries.is_empty());
    }
}
