//! Path and query parameters; invalid ones are refused in the shape of the v3 API.

use std::convert::Infallible;

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use url::form_urlencoded;

use crate::Rejection;

/// The captures of the path, percent-decoded, in order: `Path<String>` for one, `Path<(String,
/// String)>` for two. A capture that is not UTF-8 matches nothing: 404.
#[derive(Clone, Debug)]
pub struct PathParams<T>(pub T);

/// The shapes that [`PathParams`] reads.
pub trait Captures: Sized {
    /// The captures, if their number fits.
    fn read(captures: Vec<String>) -> Option<Self>;
}

impl Captures for String {
    fn read(captures: Vec<String>) -> Option<Self> {
        let [one] = <[Self; 1]>::try_from(captures).ok()?;
        Some(one)
    }
}

impl Captures for (String, String) {
    fn read(captures: Vec<String>) -> Option<Self> {
        let [first, second] = <[String; 2]>::try_from(captures).ok()?;
        Some((first, second))
    }
}

impl<T: Captures, S: Send + Sync> FromRequestParts<S> for PathParams<T> {
    type Rejection = Rejection;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Rejection> {
        let params = RawPathParams::from_request_parts(parts, state).await;
        let params = params.map_err(|_| Rejection::not_found())?;
        let captures = params.iter().map(|(_, value)| value.to_owned()).collect();
        T::read(captures).map(Self).ok_or_else(Rejection::not_found)
    }
}

/// The query of the URL. A name may occur several times (API facts, section 0).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query(Vec<(String, String)>);

impl<S: Sync> FromRequestParts<S> for Query {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::read(parts.uri.query().unwrap_or_default()))
    }
}

impl Query {
    fn read(text: &str) -> Self {
        Self(
            form_urlencoded::parse(text.as_bytes())
                .into_owned()
                .collect(),
        )
    }

    /// The first value of a name.
    pub fn text(&self, name: &str) -> Option<&str> {
        let mut named = self.0.iter().filter(|(n, _)| n == name);
        named.next().map(|(_, value)| value.as_str())
    }

    /// Every value of a name.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let named = self.0.iter().filter(move |(n, _)| n == name);
        named.map(|(_, value)| value.as_str())
    }

    /// Every name with its value, in order.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (&**name, &**value))
    }

    /// A number that is not negative.
    ///
    /// # Errors
    /// 400 about the parameter when its value is anything else.
    pub fn number(&self, name: &str) -> Result<Option<u64>, Rejection> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        let read = text.parse().map(Some);
        read.map_err(|_| Rejection::on(name, format!("{name} must be a number, 0 or more")))
    }

    /// How many items are requested: `limit`, `default` when it is left out, at most `most`.
    ///
    /// # Errors
    /// 400 about `limit` when it is not a positive number.
    pub fn limit(&self, default: usize, most: usize) -> Result<usize, Rejection> {
        match self.number("limit") {
            Ok(None) => Ok(default),
            Ok(Some(n)) if n > 0 => Ok(usize::try_from(n).unwrap_or(most).min(most)),
            Ok(Some(_)) | Err(_) => Err(Rejection::on("limit", "limit must be a positive number")),
        }
    }

    /// How many items to skip: `offset`.
    ///
    /// # Errors
    /// 400 about `offset` when it is not a number, 0 or more.
    pub fn offset(&self) -> Result<usize, Rejection> {
        let offset = self.number("offset")?.unwrap_or(0);
        Ok(usize::try_from(offset).unwrap_or(usize::MAX))
    }

    /// A parameter that is `true` or `false`; false when it is left out.
    ///
    /// # Errors
    /// 400 about the parameter when its value is anything else.
    pub fn flag(&self, name: &str) -> Result<bool, Rejection> {
        match self.text(name) {
            None | Some("false" | "False" | "0") => Ok(false),
            // Python clients send the literal of their language.
            Some("true" | "True" | "1") => Ok(true),
            Some(_) => Err(Rejection::on(name, format!("{name} must be true or false"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_has_a_default_and_a_most() {
        for (query, want) in [
            ("", Some(20)),
            ("limit=7", Some(7)),
            ("limit=501", Some(500)),
            ("limit=99999999999999999999", None),
            ("limit=0", None),
            ("limit=-1", None),
            ("limit=", None),
            ("limit=7x", None),
            ("offset=3&limit=%37", Some(7)),
        ] {
            let got = Query::read(query).limit(20, 500).ok();
            assert_eq!(got, want, "{query}");
        }
    }

    #[test]
    fn a_name_may_stand_there_twice() {
        let query = Query::read("u=a&x=1&u=b+c&u=%C3%A4");
        assert_eq!(query.all("u").collect::<Vec<_>>(), ["a", "b c", "ä"]);
        assert_eq!(query.text("u"), Some("a"));
        assert_eq!(query.text("y"), None);
    }

    #[test]
    fn a_flag_is_true_or_false() {
        for (query, want) in [
            ("", Some(false)),
            ("f=true", Some(true)),
            ("f=True", Some(true)),
            ("f=false", Some(false)),
            ("f=yes", None),
            ("f=", None),
        ] {
            assert_eq!(Query::read(query).flag("f").ok(), want, "{query}");
        }
    }
}
