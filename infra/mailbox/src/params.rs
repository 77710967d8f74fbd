//! Query strings and forms, parsed as leniently as in Mailpit.

use url::form_urlencoded;

/// The default number of lines of the list.
pub(crate) const PAGE: usize = 50;

/// The parameters of this service; a missing or unreadable one has its default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Params {
    pub start: usize,
    pub limit: Option<usize>,
    pub before: String,
    /// `query` of the REST calls, `q` of the page.
    pub query: String,
    pub view: String,
    /// The id of the open message.
    pub open: String,
    pub width: String,
    pub images: bool,
    pub embed: bool,
    pub download: bool,
}

impl Params {
    /// Reads a query string or the body of a form.
    pub(crate) fn read(text: &str) -> Self {
        let mut params = Self::default();
        for (name, value) in form_urlencoded::parse(text.as_bytes()) {
            match name.as_ref() {
                "start" => params.start = value.parse().unwrap_or_default(),
                "limit" => params.limit = value.parse().ok(),
                "before" => params.before = value.into_owned(),
                "query" | "q" => value.trim().clone_into(&mut params.query),
                "open" => params.open = value.into_owned(),
                "view" => params.view = value.into_owned(),
                "width" => params.width = value.into_owned(),
                "images" => params.images = value == "1",
                "embed" => params.embed = value == "1",
                "dl" => params.download = value == "1",
                _ => {}
            }
        }
        params
    }

    /// The number of lines requested; `None` means all (Mailpit's `limit=0`).
    pub(crate) fn limit(&self) -> Option<usize> {
        match self.limit {
            None => Some(PAGE),
            Some(0) => None,
            Some(limit) => Some(limit),
        }
    }

    /// `?q=…&start=…` with the parameters that preserve the reader's position, followed by `more`.
    pub(crate) fn place(&self, start: usize, more: &[(&str, &str)]) -> String {
        let mut text = form_urlencoded::Serializer::new(String::new());
        if !self.query.is_empty() {
            text.append_pair("q", &self.query);
        }
        if start > 0 {
            text.append_pair("start", &start.to_string());
        }
        text.extend_pairs(more);
        match text.finish() {
            text if text.is_empty() => text,
            text => format!("?{text}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_numbers_fall_back_to_the_defaults() {
        for (text, start, limit) in [
            ("", 0, Some(PAGE)),
            ("start=5&limit=2", 5, Some(2)),
            ("start=-1&limit=-1", 0, Some(PAGE)),
            ("start=x&limit=x", 0, Some(PAGE)),
            ("limit=0", 0, None),
        ] {
            let params = Params::read(text);
            assert_eq!((params.start, params.limit()), (start, limit), "{text}");
        }
    }

    #[test]
    fn a_place_is_read_back_as_it_was_written() {
        let params = Params::read("q=%22a+b%22%20to%3Aann%2Bx%40y.z%26start%3D1&start=50");
        assert_eq!(params.query, "\"a b\" to:ann+x@y.z&start=1");
        let place = params.place(params.start, &[("view", "raw")]);
        let again = Params::read(place.trim_start_matches('?'));
        assert_eq!((again.query, again.start), (params.query, 50));
        assert_eq!(again.view, "raw");
        assert_eq!(Params::default().place(0, &[]), "");
    }
}
