//! Every route of the port: the page, its assets, the bodies of mails alone, and the REST calls.

use std::convert::Infallible;
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Path, RawQuery, Request, State};
use axum::http::{HeaderValue, header};
use axum::middleware::from_fn_with_state;
use axum::response::sse::{Event, KeepAlive};
use axum::response::{Html, IntoResponse, Redirect, Response, Sse};
use axum::routing::{get, post};
use futures_util::{Stream, stream};
use posthaste_mime::read::ParsedMail;
use tower::ServiceExt as _;

use crate::app::{App, Refusal, find};
use crate::mailbox::ChangeCount;
use crate::message::Full;
use crate::operations::operations;
use crate::{Mailbox, Sources, frame, guard, look, mail, page, swagger};

/// Bytes of a form of the page, which holds a search and a place in the list.
const LARGEST_FORM: usize = 64 * 1024;

impl Mailbox {
    /// The page and the REST calls. Serve it with the peer's Host header untouched.
    pub fn router(self, sources: Sources) -> Router {
        router(self, sources)
    }

    /// Further routes of the port, behind the same checks of who asks.
    pub fn guarded(&self, routes: Router) -> Router {
        routes.layer(from_fn_with_state(self.clone(), guard::check))
    }
}

fn router(mailbox: Mailbox, sources: Sources) -> Router {
    let guard = from_fn_with_state(mailbox.clone(), guard::check);
    let base = mailbox.base().to_owned();
    let routes = all_routes(App::new(mailbox, sources));
    let routes = if base.is_empty() {
        routes
    } else {
        Router::new().fallback(async move |request: Request| below(&base, request, routes).await)
    };
    routes.layer(guard)
}

/// Answers a request whether its path begins with that of the mailbox or a proxy removed it.
async fn below(base: &str, mut request: Request, routes: Router) -> Response {
    let uri = request.uri();
    let rest = uri.path().strip_prefix(base);
    match rest {
        Some("") => return Redirect::permanent(&format!("{base}/")).into_response(),
        Some(rest) if rest.starts_with('/') => {
            let query = uri.query().map(|query| format!("?{query}"));
            let Ok(uri) = format!("{rest}{}", query.unwrap_or_default()).parse() else {
                return Refusal::NotFound.into_response();
            };
            *request.uri_mut() = uri;
        }
        Some(_) | None => {}
    }
    match routes.oneshot(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}

fn all_routes(app: App) -> Router {
    Router::new()
        .merge(page_routes())
        .merge(api_routes())
        .with_state(app)
        .route("/livez", get(async || "ok"))
        .route("/readyz", get(async || "ok"))
        .route(
            "/style.css",
            asset(
                "text/css",
                concat!(
                    include_str!("../../../shared/http/ui/base.css"),
                    include_str!("../ui/style.css")
                ),
            ),
        )
        .route(
            "/app.js",
            asset(
                "text/javascript",
                concat!(
                    include_str!("../../../shared/http/ui/base.js"),
                    include_str!("../ui/app.js")
                ),
            ),
        )
        .route(
            "/icon.svg",
            asset("image/svg+xml", include_str!("../ui/icon.svg")),
        )
        .fallback(async || Refusal::NotFound)
}

fn page_routes() -> Router<App> {
    Router::new()
        .route("/", get(page::list))
        .route("/list", get(page::lines))
        .route("/message/{id}", get(page::open))
        .route("/message/{id}/events", get(page::events))
        .route("/message/{id}/delete", post(page::delete))
        .route("/message/{id}/schedule", post(page::schedule))
        .route("/message/{id}/post", post(page::post_again))
        .route("/message/{id}/post-span", post(page::post_span))
        .route("/restore", post(page::restore))
        .route("/clear", post(page::clear))
        .route("/read", post(page::read))
        .route("/live", get(live))
        .layer(DefaultBodyLimit::max(LARGEST_FORM))
}

/// The REST calls, as the document of them lists them.
fn api_routes() -> Router<App> {
    let served = operations().into_iter().filter_map(|one| one.handler);
    let routes = served.fold(Router::new(), |routes, (path, handler)| {
        routes.route(path, handler)
    });
    routes
        .route("/view/{file}", get(view))
        .route(swagger::PATH, get(swagger::document))
}

fn asset<S: Clone + Send + Sync + 'static>(
    kind: &'static str,
    text: &'static str,
) -> axum::routing::MethodRouter<S> {
    let headers = [
        (header::CONTENT_TYPE, format!("{kind}; charset=utf-8")),
        (header::CACHE_CONTROL, "no-cache".to_owned()),
    ];
    get(async move || (headers, text))
}

/// `GET /view/{id}.html` and `.txt`. `embed=1` makes links open in a new window, `images=1` lets
/// remote pictures load.
async fn view(
    State(app): State<App>,
    Path(file): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Refusal> {
    let params = app.params(query.as_deref());
    let (id, kind) = file.rsplit_once('.').ok_or(Refusal::NotFound)?;
    let stored = find(&app, id, query).await?;
    let (embed, dark, base) = (params.embed, params.dark, params.base);
    match kind {
        "html" => {
            let rewrite = move || {
                let full = Full::of(&stored);
                let shown = look::Look { embed, dark };
                (!full.html.is_empty()).then(|| frame::document_of(&full, &base, shown).html)
            };
            let html = app.mailbox.apart("view", rewrite).await?;
            Ok(framed(html.ok_or(Refusal::NoHtml)?, params.images))
        }
        "txt" => {
            let read = move || mail::text(&ParsedMail::read(&stored.raw));
            let text = app.mailbox.apart("view", read).await?;
            Ok(text.into_response())
        }
        _ => Err(Refusal::NotFound),
    }
}

fn framed(html: String, images: bool) -> Response {
    let mut response = Html(html).into_response();
    let headers = response.headers_mut();
    if let Ok(policy) = look::policy(images).parse() {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    let none = HeaderValue::from_static("no-referrer");
    headers.insert(header::REFERRER_POLICY, none);
    response
}

/// `GET /live`: one event for every burst of changes, until the mailbox or the page closes.
///
/// A watch holds only the newest state, so a slow page gets few events and costs no memory.
async fn live(State(app): State<App>) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let events = stream::unfold(app.mailbox.watch(), async |mut state| {
        state.changed().await.ok()?;
        let now = *state.borrow_and_update();
        match now {
            ChangeCount::Changed(count) => {
                let event = Event::default().event("change").data(count.to_string());
                Some((Ok(event), state))
            }
            ChangeCount::Closed => None,
        }
    });
    // Comments between events, so that a connection whose peer is gone is noticed.
    Sse::new(events).keep_alive(KeepAlive::new().interval(Duration::from_secs(20)))
}
