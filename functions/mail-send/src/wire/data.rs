//! Template data: any JSON object, stored as text.

use std::fmt;

use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// `dynamic_template_data` as the caller wrote it, to the last digit.
///
/// The text is read through once without building anything, so that every string, number and depth
/// in it is known to be readable by the renderer.
#[derive(Debug)]
pub(crate) struct TemplateData(pub(crate) String);

impl<'de> Deserialize<'de> for TemplateData {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(source)?.get();
        let Sound { is_object } = serde_json::from_str(raw).map_err(D::Error::custom)?;
        if is_object {
            Ok(Self(raw.to_owned()))
        } else {
            Err(D::Error::custom("not an object"))
        }
    }
}

/// Any JSON value that can be read to its end: unlike `IgnoredAny`, which skips over what it does
/// not look at.
pub(super) struct Sound {
    is_object: bool,
}

struct SoundVisitor;

impl<'de> Deserialize<'de> for Sound {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        source.deserialize_any(SoundVisitor)
    }
}

impl SoundVisitor {
    const PLAIN: Sound = Sound { is_object: false };
}

impl<'de> Visitor<'de> for SoundVisitor {
    type Value = Sound;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Sound, E> {
        Ok(Self::PLAIN)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Sound, E> {
        Ok(Self::PLAIN)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Sound, E> {
        Ok(Self::PLAIN)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Sound, E> {
        Ok(Self::PLAIN)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Sound, E> {
        Ok(Self::PLAIN)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Sound, E> {
        Ok(Self::PLAIN)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Sound, A::Error> {
        while seq.next_element::<Sound>()?.is_some() {}
        Ok(Self::PLAIN)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Sound, A::Error> {
        while map.next_entry::<Sound, Sound>()?.is_some() {}
        Ok(Sound { is_object: true })
    }
}

#[cfg(test)]
mod tests {
    use super::TemplateData;

    fn read(json: &str) -> Result<String, serde_json::Error> {
        serde_json::from_str(json).map(|TemplateData(text)| text)
    }

    #[test]
    fn template_data_is_kept_to_the_last_digit() {
        for json in [
            "{}",
            r#"{ "b" : [ ] , "a" : [ 1 , [ ] , { } ], "a": null }"#,
            r#"{"f":9.078288549509073e-188,"i":-3,"u":123456789012345678901234567890}"#,
            r#"{"\u00e9\n":"\"\\\ud83d\ude00","t":true}"#,
        ] {
            assert_eq!(read(json).unwrap(), json);
        }
        assert_eq!(read(" {} ").unwrap(), "{}");
    }

    #[test]
    fn template_data_that_no_renderer_could_read_is_refused() {
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(200), "]".repeat(200));
        for json in [
            "[]",
            "null",
            "\"{}\"",
            r#"{"a":"\ud800"}"#,
            r#"{"a":1e999}"#,
            &deep,
        ] {
            assert!(read(json).is_err(), "{json}");
        }
    }
}
