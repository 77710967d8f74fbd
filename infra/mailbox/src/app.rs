//! What every handler needs: the shared state, the parameters of a request, the mail it names, and
//! how a refusal is answered.

use std::time::Duration;

use askama::Template;
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use url::form_urlencoded;

use crate::events::{CopyFacts, Trace};
use crate::mailbox::{LoadedMail, MOST_WAITS, WaitResult};
use crate::query::{self, TooManyTerms};
use crate::rows::ListRow;
use crate::{Error, Mailbox, Sources};

/// Only the page's own two files run or style it; pictures are those of mails.
const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self'; connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; \
    frame-ancestors 'none'";

/// State shared by the handlers.
#[derive(Clone)]
pub(crate) struct App {
    pub mailbox: Mailbox,
    pub sources: Sources,
}

impl App {
    /// The parameters of a request to the page, whose links stay below the mailbox's path.
    pub(crate) fn params(&self, query: Option<&str>) -> Params {
        Params {
            base: self.mailbox.base().to_owned(),
            ..Params::read(query.unwrap_or_default())
        }
    }

    /// What the sources report about one copy.
    pub(crate) async fn facts(&self, row: &ListRow) -> CopyFacts {
        self.sources.about(Trace::of(row)).await
    }

    /// Where a form asks to post the events of a row again.
    pub(crate) fn post_again_path(&self, row: &ListRow) -> Option<String> {
        let is_ours = Trace::of(row).verp.is_some();
        let source = self.sources.post_again.as_ref().filter(|_| is_ours);
        source.map(|_| format!("{}/message/{}/post", self.mailbox.base(), row.summary.id))
    }

    /// A page, or a piece of one. Rendered on the pool: it may show much of a large mail.
    pub(crate) async fn render(
        &self,
        template: impl Template + Send + 'static,
    ) -> Result<Response, Refusal> {
        let render = move || template.render();
        let html = self.mailbox.apart("render", render).await?;
        let html = html.map_err(|cause| Error::Store(cause.to_string()))?;
        let policy = [(header::CONTENT_SECURITY_POLICY, PAGE_POLICY)];
        Ok((policy, Html(html)).into_response())
    }
}

/// The row of the mail of this id, or of the newest (that matches `query`) for `latest`, which waits for one if the
/// request has a `timeout`.
pub(crate) async fn find_row(
    app: &App,
    id: &str,
    query: Option<String>,
) -> Result<ListRow, Refusal> {
    if id != "latest" {
        let found = app.mailbox.head(id.to_owned()).await?;
        return found.filter(|row| row.is_recorded).ok_or(Refusal::NotFound);
    }
    let params = Params::read(&query.unwrap_or_default());
    if !params.timeout.is_empty() {
        return wait_for_row(app, &params).await;
    }
    let terms = query::parse(&params.query)?;
    let newest = app.mailbox.list(terms, 0, Some(1)).await?;
    newest.rows.into_iter().next().ok_or(Refusal::NoMail)
}

/// How long a wait may last, and lasts when the request does not say.
const LONGEST_WAIT: Duration = Duration::from_secs(300);
const DEFAULT_WAIT: &str = "30s";

/// The row of the newest mail that matches `query` and is newer than `after`: waits for one to arrive.
pub(crate) async fn wait_for_row(app: &App, params: &Params) -> Result<ListRow, Refusal> {
    let asked = match params.timeout.as_str() {
        "" => DEFAULT_WAIT,
        asked => asked,
    };
    let timeout = duration(asked).filter(|wait| *wait <= LONGEST_WAIT);
    let timeout = timeout.ok_or_else(|| {
        let most = LONGEST_WAIT.as_secs();
        Refusal::Bad(format!(
            "timeout is a time such as 500ms, 30s, 2m or 30 (seconds), of at most {most}s"
        ))
    })?;
    let terms = query::parse(&params.query)?;
    let after = (!params.after.is_empty()).then(|| params.after.clone());
    match app.mailbox.wait(terms, after, timeout).await? {
        WaitResult::Found(row) => Ok(*row),
        WaitResult::NoMail => {
            let total = app.mailbox.counts().await?.totals.total;
            let of = match params.query.as_str() {
                "" => String::new(),
                query => format!(" that matches {query}"),
            };
            Err(Refusal::NotInTime(format!(
                "no mail{of} arrived within {asked}; the mailbox holds {total}"
            )))
        }
        WaitResult::Busy => Err(Refusal::Busy),
        WaitResult::UnknownId => {
            let why = "after is the ID of a mail, and the mailbox has none of this ID (any more)";
            Err(Refusal::Bad(why.to_owned()))
        }
    }
}

/// `500ms`, `30s`, `2m`, or seconds.
fn duration(text: &str) -> Option<Duration> {
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let scale = match text.get(number.len()..)? {
        "ms" => 1,
        "" | "s" => 1_000,
        "m" => 60_000,
        _ => return None,
    };
    let number: u64 = number.parse().ok()?;
    number.checked_mul(scale).map(Duration::from_millis)
}

/// The same mail with its bytes.
pub(crate) async fn find(
    app: &App,
    id: &str,
    query: Option<String>,
) -> Result<LoadedMail, Refusal> {
    let row = find_row(app, id, query).await?;
    let found = app.mailbox.load(row).await?;
    found.ok_or(match id {
        "latest" => Refusal::NoMail,
        _ => Refusal::NotFound,
    })
}

/// Why a request is refused.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// No such mail, part or page.
    NotFound,
    /// `latest` of an empty mailbox.
    NoMail,
    /// A wait that ended without a mail, and what it waited for.
    NotInTime(String),
    /// More waits than there may be at a time.
    Busy,
    /// `/view/….html` of a mail without HTML.
    NoHtml,
    /// The request is invalid, for this reason.
    Bad(String),
    /// Internal: logged, not shown.
    Internal(Error),
}

impl From<Error> for Refusal {
    fn from(cause: Error) -> Self {
        Self::Internal(cause)
    }
}

impl From<TooManyTerms> for Refusal {
    fn from(why: TooManyTerms) -> Self {
        Self::Bad(why.to_string())
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (status, text) = match self {
            Self::NotFound => (StatusCode::NOT_FOUND, "404 page not found".to_owned()),
            Self::NoMail => (StatusCode::NOT_FOUND, "Message not found".to_owned()),
            Self::NoHtml => (
                StatusCode::NOT_FOUND,
                "This message does not contain a HTML part".to_owned(),
            ),
            // Not 408, on which clients send the request again by themselves.
            Self::NotInTime(why) => (StatusCode::NOT_FOUND, why),
            Self::Busy => (
                StatusCode::SERVICE_UNAVAILABLE,
                format!("{MOST_WAITS} requests wait for mail already"),
            ),
            Self::Bad(why) => (StatusCode::BAD_REQUEST, why),
            Self::Internal(cause) => {
                tracing::error!(error = %cause, "the mailbox failed: {cause}");
                let text = "the mailbox cannot be read or written; its log says why";
                (StatusCode::INTERNAL_SERVER_ERROR, text.to_owned())
            }
        };
        let kind = [(header::CONTENT_TYPE, "text/plain; charset=utf-8")];
        (status, kind, text).into_response()
    }
}

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
    /// Whether the list has a row for each request.
    pub by_request: bool,
    /// The request whose copies are shown below its row.
    pub request: String,
    /// What a form asks for, and for when.
    pub action: String,
    pub at: String,
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
                "at" => params.at = value.into_owned(),
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
    fn a_wait_has_a_time_in_one_of_four_forms() {
        for (text, millis) in [
            ("500ms", Some(500)),
            ("30s", Some(30_000)),
            ("30", Some(30_000)),
            ("2m", Some(120_000)),
            ("", None),
            ("s", None),
            ("-1s", None),
            ("1.5s", None),
            ("30 s", None),
            ("1h", None),
            ("99999999999999999999", None),
            ("18446744073709551615m", None),
        ] {
            assert_eq!(duration(text), millis.map(Duration::from_millis), "{text}");
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
