//! A visit of a page: who asks, and what the address says.

use std::collections::BTreeMap;

use posthaste_http::Caller;
use posthaste_model::Timestamp;
use url::form_urlencoded;

use crate::api::ApiReader;

/// The query of an address, or the fields of a form; of several values of a name the last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Params(BTreeMap<String, String>);

impl Params {
    pub(crate) fn read(text: &str) -> Self {
        Self(
            form_urlencoded::parse(text.as_bytes())
                .into_owned()
                .collect(),
        )
    }

    /// The value of a name; empty when there is none.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.0.get(name).map(String::as_str).unwrap_or_default()
    }

    /// The whole number of a name; 0 when there is none.
    pub(crate) fn number(&self, name: &str) -> usize {
        self.text(name).parse().unwrap_or_default()
    }
}

/// What a page is shown from.
pub(crate) struct PageVisit {
    pub(crate) caller: Caller,
    pub(crate) api: ApiReader,
    pub(crate) params: Params,
    pub(crate) now: Timestamp,
    /// The address of the service, without a slash at its end.
    pub(crate) base: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_values_the_last_counts() {
        let params = Params::read("a=1&b=%C3%A4+x&a=2");
        assert_eq!(params.text("a"), "2");
        assert_eq!(params.text("b"), "ä x");
        assert_eq!(params.text("c"), "");
    }
}
