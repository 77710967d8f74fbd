//! Variables, read once at cold start. An unreadable value stops the start; it is never replaced by
//! a default.

use std::str::FromStr;
use std::sync::Arc;

/// A variable that keeps the process from starting.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    #[error("environment variable {0} is not set")]
    Missing(String),
    #[error("environment variable {0} is not readable: {1}")]
    Unreadable(String, String),
}

/// Where variables come from: the environment in `main`, a map in tests.
#[derive(Clone)]
pub struct Env(Arc<VariableReader>);

type VariableReader = dyn Fn(&str) -> Option<String> + Send + Sync;

impl Env {
    /// Wraps a function that looks up variables by name.
    pub fn new(read: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }

    /// A variable, if it is set and not empty.
    pub fn get(&self, name: &str) -> Option<String> {
        (self.0)(name).filter(|text| !text.is_empty())
    }

    /// A required variable.
    pub fn required(&self, name: &str) -> Result<String, ConfigError> {
        self.get(name)
            .ok_or_else(|| ConfigError::Missing(name.to_owned()))
    }

    /// A required variable that must be readable. The error leaves out its text, which may be a
    /// secret.
    pub fn parsed<T: FromStr<Err: std::fmt::Display>>(&self, name: &str) -> Result<T, ConfigError> {
        let read = self.required(name)?.parse::<T>();
        read.map_err(|e| ConfigError::Unreadable(name.to_owned(), e.to_string()))
    }

    /// An optional variable that must be readable if it is set.
    pub fn optional<T: FromStr<Err: std::fmt::Display>>(
        &self,
        name: &str,
    ) -> Result<Option<T>, ConfigError> {
        match self.get(name) {
            None => Ok(None),
            Some(_) => self.parsed(name).map(Some),
        }
    }

    /// A number that has a default and is at least 1: a limit, a time, or a concurrency.
    pub fn positive<T: FromStr + PartialOrd + From<u8>>(
        &self,
        name: &str,
        default: T,
    ) -> Result<T, ConfigError> {
        let number = self.or_default(name, default)?;
        if number >= T::from(1) {
            return Ok(number);
        }
        let least = "it is a number of at least 1".to_owned();
        Err(ConfigError::Unreadable(name.to_owned(), least))
    }

    /// A variable that has a default.
    pub fn or_default<T: FromStr>(&self, name: &str, default: T) -> Result<T, ConfigError> {
        match self.get(name) {
            None => Ok(default),
            Some(text) => text
                .parse()
                .map_err(|_| ConfigError::Unreadable(name.to_owned(), text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_cannot_be_read_is_refused_and_never_replaced() {
        let vars = Env::new(|name| match name {
            "GOOD" => Some("7".to_owned()),
            "BAD" => Some("seven".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        });
        assert_eq!(vars.or_default("GOOD", 1), Ok(7));
        assert_eq!(vars.or_default("ABSENT", 1), Ok(1));
        assert_eq!(vars.or_default("EMPTY", 1), Ok(1));
        assert!(vars.or_default("BAD", 1).is_err());
        assert_eq!(vars.optional::<i64>("GOOD"), Ok(Some(7)));
        assert_eq!(vars.optional::<i64>("EMPTY"), Ok(None));
        assert!(vars.optional::<i64>("BAD").is_err());
        assert_eq!(
            vars.required("EMPTY"),
            Err(ConfigError::Missing("EMPTY".to_owned()))
        );
    }

    #[test]
    fn a_number_that_would_stop_everything_is_refused() {
        for (text, want) in [("1", Some(1)), ("0", None), ("-1", None), ("", Some(60))] {
            let vars = Env::new(move |_| Some(text.to_owned()));
            assert_eq!(vars.positive("PERIOD", 60_i64).ok(), want, "{text:?}");
        }
        let vars = Env::new(|_| Some("0".to_owned()));
        let error = vars.positive("PERIOD", 60_u32).unwrap_err().to_string();
        assert!(
            error.contains("PERIOD") && error.contains("at least 1"),
            "{error}"
        );
    }
}
