//! JSON bodies of every endpoint except mail/send (which has its own decoder).

use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, header};
use serde::de::{DeserializeOwned, Visitor};
use serde::{Deserializer, forward_to_deserialize_any};

use crate::{RawBody, Rejection};

/// A JSON body. An empty one reads as `{}`: clients send a JSON content type without a body on POST
/// and DELETE (API facts, section 0). The content type itself is not required here.
#[derive(Debug)]
pub struct JsonBody<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for JsonBody<T> {
    type Rejection = Rejection;

    async fn from_request(req: Request, state: &S) -> Result<Self, Rejection> {
        let RawBody(bytes) = RawBody::from_request(req, state).await?;
        let bytes: &[u8] = if bytes.is_empty() { b"{}" } else { &bytes };
        let parsed = posthaste_offload::run(bytes.len(), || parse(bytes)).await;
        Ok(Self(parsed?))
    }
}

/// Reads JSON; an error names the invalid field.
pub fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Rejection> {
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(Whole(&mut json)).map_err(|e| {
        let field = dotted(e.path());
        match e.inner().classify() {
            serde_json::error::Category::Data => {
                let message = first_words(&e.inner().to_string());
                match field {
                    Some(field) => Rejection::on(&field, message),
                    None => Rejection::bad(message),
                }
            }
            serde_json::error::Category::Io
            | serde_json::error::Category::Syntax
            | serde_json::error::Category::Eof => invalid(),
        }
    })?;
    json.end().map_err(|_| invalid())?;
    Ok(value)
}

/// The decoder's reason without the position, and without repeating a long value.
fn first_words(text: &str) -> String {
    const MOST: usize = 200;
    let reason = text
        .rsplit_once(" at line ")
        .map_or(text, |(reason, _)| reason);
    match reason.char_indices().nth(MOST) {
        None => reason.to_owned(),
        Some((end, _)) => format!("{}…", reason.get(..end).unwrap_or_default()),
    }
}

/// A whole body. Where a struct is expected, only an object is accepted: the decoder would also
/// take the members of a struct from an array, in their order.
struct Whole<D>(D);

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Whole<D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_any(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_map(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_option(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_newtype_struct(name, visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_enum(name, variants, visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_ignored_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map identifier
    }
}

fn invalid() -> Rejection {
    Rejection::bad("request body is not valid JSON")
}

/// `ips.0.ip`; `None` for the whole body.
fn dotted(path: &serde_path_to_error::Path) -> Option<String> {
    use serde_path_to_error::Segment;
    let part = |segment: &Segment| match segment {
        Segment::Seq { index } => Some(index.to_string()),
        Segment::Map { key } => Some(key.clone()),
        Segment::Enum { variant } => Some(variant.clone()),
        Segment::Unknown => None,
    };
    let parts: Vec<_> = path.iter().filter_map(part).collect();
    (!parts.is_empty()).then(|| parts.join("."))
}

/// Whether the request says its body is JSON; parameters such as `charset=utf-8` are fine.
pub fn body_is_json(headers: &HeaderMap) -> bool {
    let Some(value) = headers
        .get(header::CONTENT_TYPE)
        .and_then(|v| v.to_str().ok())
    else {
        return false;
    };
    let essence = value.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("application/json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    struct Outer {
        #[serde(default)]
        ips: Vec<Inner>,
    }

    #[derive(Debug, serde::Deserialize)]
    struct Inner {
        ip: String,
    }

    fn refused(body: &str) -> (Option<String>, String) {
        let mut problems = parse::<Outer>(body.as_bytes()).unwrap_err().problems;
        let problem = problems.remove(0);
        (problem.field, problem.message)
    }

    #[test]
    fn the_field_that_does_not_fit_is_named() {
        for (body, field) in [
            (r#"{"ips":[{"ip":"a"},{"ip":7}]}"#, Some("ips.1.ip")),
            (r#"{"ips":"a"}"#, Some("ips")),
            (r#"{"ips":[{"ip":"a","ip":"b"}]}"#, Some("ips.0")),
            ("7", None),
            (r#"[[{"ip":"a"}]]"#, None),
            ("[]", None),
        ] {
            assert_eq!(refused(body).0.as_deref(), field, "{body}");
        }
    }

    #[test]
    fn a_long_value_is_not_repeated() {
        let (_, message) = refused(&format!("{{\"ips\":\"{}\"}}", "ä".repeat(10_000)));
        assert!(message.starts_with("invalid type: string"), "{message}");
        assert_eq!(message.chars().count(), 201, "{message}");
    }

    #[test]
    fn what_is_not_json_is_said_to_be_so() {
        let deep = format!("{{\"x\":{}", "[".repeat(100_000));
        for body in [
            "",
            "{",
            "{}x",
            "nul",
            "{'ips':[]}",
            "{\"ips\":[{\"ip\":1e999}]}",
            "{\"a\":\"\u{1}\"}",
            deep.as_str(),
        ] {
            let short: String = body.chars().take(30).collect();
            let want = "request body is not valid JSON";
            assert_eq!(refused(body), (None, want.to_owned()), "{short}");
        }
        // An unknown member is skipped without recursion, however deep it is.
        let deep = format!("{{\"x\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(parse::<Outer>(deep.as_bytes()).is_ok_and(|body| body.ips.is_empty()));
        assert!(parse::<Outer>(b"{\"ips\":[{\"ip\":\"a\"}]}").is_ok_and(|b| b.ips[0].ip == "a"));
    }
}
