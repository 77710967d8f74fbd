//! The parameters of a request.

use url::form_urlencoded;

/// The default number of lines of the list.
pub(crate) const PAGE: usize = 50;

/// The parameters of this service; a missing or unreadable one has its default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Params {
    pub start: usize,
    pub limit: Option<usize>,
    pub before: String,
    /// The id of a mail; only newer ones are waited for.
    pub after: String,
    /// How long to wait for a mail; empty: not at all, or as long as by default.
    pub timeout: String,
    /// `query` of the REST calls, `q` of the page.
    pub query: String,
    pub view: String,
    /// The id of the open message.
    pub open: String,
    pub width: String,
    pub images: bool,
    /// Whether the mail is shown as programs show it that are set to dark.
    pub dark: bool,
    pub embed: bool,
    pub download: bool,
    /// Whether a check of links follows redirects.
    pub follow: bool,
    /// The time zone of a search's dates.
    pub zone: String,
    /// Whether the list has a row for each request.
    pub by_request: bool,
    /// The request whose copies are shown below its row.
    pub request: String,
    /// What a form asks for, and for when.
    pub action: String,
    pub at: String,
    /// The first and the last second of a span of time.
    pub from: String,
    pub to: String,
    /// The event that a form names.
    pub event: String,
    /// The path that the mailbox lies under, without a slash at its end. Not of the request.
    pub base: String,
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
                "after" => params.after = value.into_owned(),
                "timeout" => params.timeout = value.into_owned(),
                "query" | "q" => value.trim().clone_into(&mut params.query),
                "open" => params.open = value.into_owned(),
                "view" => params.view = value.into_owned(),
                "width" => params.width = value.into_owned(),
                "images" => params.images = value == "1",
                "dark" => params.dark = value == "1",
                "by" => params.by_request = value == "request",
                "request" => params.request = value.into_owned(),
                "action" => params.action = value.into_owned(),
                "event" => params.event = value.into_owned(),
                "from" => params.from = value.into_owned(),
                "to" => params.to = value.into_owned(),
                "at" => params.at = value.into_owned(),
                "embed" => params.embed = value == "1",
                "dl" => params.download = value == "1",
                "follow" => params.follow = value == "1" || value == "true",
                "tz" => params.zone = value.into_owned(),
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

    /// A link to `path` of the page, with the parameters that preserve the reader's position in the
    /// list, followed by `more`.
    pub(crate) fn link(&self, path: &str, start: usize, more: &[(&str, &str)]) -> String {
        let mut text = form_urlencoded::Serializer::new(String::new());
        if !self.query.is_empty() {
            text.append_pair("q", &self.query);
        }
        if start > 0 {
            text.append_pair("start", &start.to_string());
        }
        if self.by_request {
            text.append_pair("by", "request");
        }
        if self.by_request && !self.request.is_empty() {
            text.append_pair("request", &self.request);
        }
        text.extend_pairs(more);
        let place = text.finish();
        let mark = if place.is_empty() { "" } else { "?" };
        format!("{}{path}{mark}{place}", self.base)
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
        let params = Params {
            by_request: true,
            request: "a/b".to_owned(),
            base: "/mail".to_owned(),
            ..params
        };
        let link = params.link("/message/x", params.start, &[("view", "raw")]);
        let place = link.strip_prefix("/mail/message/x?").expect(&link);
        let again = Params::read(place);
        assert_eq!((again.query, again.start), (params.query, 50));
        assert_eq!(
            (again.view, again.request),
            ("raw".to_owned(), params.request)
        );
        assert!(again.by_request);
        assert_eq!(Params::default().link("/", 0, &[]), "/");
    }
}
