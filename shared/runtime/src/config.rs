//! Variables, read once at cold start. An unreadable value stops the start; it is never replaced.

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
pub struct Variables(Arc<Read>);

type Read = dyn Fn(&str) -> Option<String> + Send + Sync;

impl Variables {
    /// Wraps a function that knows variables by name.
    pub fn new(read: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }

    /// A variable, if it is set to something.
    pub fn get(&self, name: &str) -> Option<String> {
        (self.0)(name).filter(|text| !text.is_empty())
    }

    /// A variable that must be there.
    ///
    /// # Errors
    /// When it is not set.
    pub fn need(&self, name: &str) -> Result<String, ConfigError> {
        self.get(name)
            .ok_or_else(|| ConfigError::Missing(name.to_owned()))
    }

    /// A variable that must be there and be readable. Its text is not part of the error, for it
    /// may be a secret.
    ///
    /// # Errors
    /// When it is not set or cannot be read.
    pub fn parsed<T: FromStr<Err: std::fmt::Display>>(&self, name: &str) -> Result<T, ConfigError> {
        let read = self.need(name)?.parse::<T>();
        read.map_err(|e| ConfigError::Unreadable(name.to_owned(), e.to_string()))
    }

    /// A variable that has a default.
    ///
    /// # Errors
    /// When it is set to something that cannot be read.
    pub fn or<T: FromStr>(&self, name: &str, default: T) -> Result<T, ConfigError> {
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
        let vars = Variables::new(|name| match name {
            "GOOD" => Some("7".to_owned()),
            "BAD" => Some("seven".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        });
        assert_eq!(vars.or("GOOD", 1), Ok(7));
        assert_eq!(vars.or("ABSENT", 1), Ok(1));
        assert_eq!(vars.or("EMPTY", 1), Ok(1));
        assert!(vars.or("BAD", 1).is_err());
        assert_eq!(
            vars.need("EMPTY"),
            Err(ConfigError::Missing("EMPTY".to_owned()))
        );
    }
}
