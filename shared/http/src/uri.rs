//! Path and query parameters; invalid ones are refused in the shape of the v3 API.

use std::convert::Infallible;
use std::ops::RangeInclusive;

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use posthaste_model::Problems;
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

    /// Reads several parameters. What `read` returns for a parameter that is wrong is a placeholder:
    /// it is dropped.
    ///
    /// # Errors
    /// 400 that names every wrong parameter at once, in the order in which they were read.
    pub fn checked<'q, T>(
        &'q self,
        read: impl FnOnce(&mut QueryReader<'q>) -> T,
    ) -> Result<T, Rejection> {
        let mut reader = QueryReader {
            query: self,
            problems: Problems::default(),
        };
        let value = read(&mut reader);
        reader.problems.into_result()?;
        Ok(value)
    }
}

/// Reads the parameters of a query into values, and collects what is wrong with them.
#[derive(Debug)]
pub struct QueryReader<'q> {
    query: &'q Query,
    problems: Problems,
}

impl<'q> QueryReader<'q> {
    /// Reports a problem of a parameter.
    pub fn refuse(&mut self, name: &str, message: impl Into<String>) {
        self.problems.add(name, message);
    }

    /// The first value of a name.
    pub fn text(&self, name: &str) -> Option<&'q str> {
        self.query.text(name)
    }

    /// The first value of a name that is not empty.
    pub fn filled(&self, name: &str) -> Option<&'q str> {
        self.text(name).filter(|text| !text.is_empty())
    }

    /// Every value of a name.
    pub fn all<'n>(&self, name: &'n str) -> impl Iterator<Item = &'q str> + use<'q, 'n> {
        let named = self.query.0.iter().filter(move |(n, _)| n == name);
        named.map(|(_, value)| value.as_str())
    }

    /// A value that `parse` reads; `message` says what it has to be.
    pub fn parsed<T>(
        &mut self,
        name: &str,
        parse: impl FnOnce(&str) -> Option<T>,
        message: &str,
    ) -> Option<T> {
        let value = parse(self.text(name)?);
        self.problems.unless(value.is_some(), name, message);
        value
    }

    /// A number that is not negative.
    pub fn number(&mut self, name: &str) -> Option<u64> {
        let message = format!("{name} must be a number, 0 or more");
        self.parsed(name, |text| text.parse().ok(), &message)
    }

    /// How many items are requested: `limit`, `default` when it is left out; more than `most` are
    /// `most`.
    pub fn limit(&mut self, default: usize, most: usize) -> usize {
        let positive = |text: &str| text.parse::<u64>().ok().filter(|n| *n > 0);
        let given = self.parsed("limit", positive, "limit must be a positive number");
        given.map_or(default, |n| usize::try_from(n).unwrap_or(most).min(most))
    }

    /// How many items are requested, where a number outside of the range is refused.
    pub fn limit_within(&mut self, default: usize, range: RangeInclusive<usize>) -> usize {
        let (least, most) = (range.start(), range.end());
        let message = format!("limit must be a number from {least} to {most}");
        let inside = |text: &str| text.parse().ok().filter(|n| range.contains(n));
        self.parsed("limit", inside, &message).unwrap_or(default)
    }

    /// How many items to skip: `offset`.
    pub fn offset(&mut self) -> usize {
        let offset = self.number("offset").unwrap_or(0);
        usize::try_from(offset).unwrap_or(usize::MAX)
    }

    /// A parameter that is `true` or `false`; false when it is left out.
    pub fn flag(&mut self, name: &str) -> bool {
        let read = |text: &str| match text {
            "false" | "False" | "0" => Some(false),
            // Python clients send the literal of their language.
            "true" | "True" | "1" => Some(true),
            _ => None,
        };
        let message = format!("{name} must be true or false");
        self.parsed(name, read, &message).unwrap_or(false)
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
            let got = Query::read(query).checked(|read| read.limit(20, 500)).ok();
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
            let got = Query::read(query).checked(|read| read.flag("f")).ok();
            assert_eq!(got, want, "{query}");
        }
    }

    #[test]
    fn every_wrong_parameter_is_named_at_once_in_order() {
        let query = Query::read("limit=0&offset=x&f=maybe&n=-1&g=true&w=9");
        let refused = query.checked(|read| {
            let known = |text: &str| (text == "known").then_some(());
            (
                read.offset(),
                read.limit(5, 10),
                read.flag("g"),
                read.flag("f"),
                read.number("n"),
                read.limit_within(1, 2..=3),
                read.parsed("w", known, "w must be known"),
            )
        });
        let problems = refused.unwrap_err().problems.into_iter();
        let named: Vec<_> = problems
            .map(|problem| (problem.field.unwrap_or_default(), problem.message))
            .collect();
        let named: Vec<_> = named
            .iter()
            .map(|(f, m)| (f.as_str(), m.as_str()))
            .collect();
        assert_eq!(
            named,
            [
                ("offset", "offset must be a number, 0 or more"),
                ("limit", "limit must be a positive number"),
                ("f", "f must be true or false"),
                ("n", "n must be a number, 0 or more"),
                ("limit", "limit must be a number from 2 to 3"),
                ("w", "w must be known"),
            ]
        );
    }
}
