//! What every handler needs: the shared state, the parameters of a request, the mail it names, and
//! how a refusal is answered.

use std::sync::Arc;
use std::time::Duration;

use askama::Template;
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use tokio::sync::Semaphore;

use crate::events::{CopyFacts, PostForms, Trace};
use crate::mailbox::{LoadedMail, MOST_WAITS, WaitResult};
use crate::params::Params;
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
    /// One for each check of links.
    pub link_checks: Arc<Semaphore>,
    /// One for each picture that is made smaller, which takes memory.
    pub thumbnails: Arc<Semaphore>,
    /// One for each WebSocket.
    pub sockets: Arc<Semaphore>,
}

/// Checks of links at a time.
const MOST_LINK_CHECKS: usize = 4;
/// Pictures that are made smaller at a time.
const MOST_THUMBNAILS: usize = 2;
/// Connections by WebSocket at a time.
const MOST_SOCKETS: usize = 64;

impl App {
    pub(crate) fn new(mailbox: Mailbox, sources: Sources) -> Self {
        let most = |count| Arc::new(Semaphore::new(count));
        Self {
            mailbox,
            sources,
            link_checks: most(MOST_LINK_CHECKS),
            thumbnails: most(MOST_THUMBNAILS),
            sockets: most(MOST_SOCKETS),
        }
    }

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

    /// Where forms ask to post the events of a row again, and those of a span of time.
    pub(crate) fn post_forms(&self, row: &ListRow) -> PostForms {
        let is_ours = Trace::of(row).verp.is_some();
        let (base, id) = (self.mailbox.base(), &row.summary.id);
        let again = self.sources.post_again.as_ref().filter(|_| is_ours);
        let span = self.sources.post_span.as_ref();
        PostForms {
            again: again.map(|_| format!("{base}/message/{id}/post")),
            span: span.map(|_| format!("{base}/message/{id}/post-span")),
        }
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
    /// More checks of links, or connections by WebSocket, than there may be at a time.
    TooMany(&'static str),
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
            Self::TooMany(what) => (
                StatusCode::SERVICE_UNAVAILABLE,
                format!("there are as many {what} as there may be at a time"),
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
