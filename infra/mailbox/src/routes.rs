//! Every route of the port: the page, its assets, and the REST calls.

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::header;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use handlebars::Handlebars;

use crate::refusal::Refusal;
use crate::sources::{CopyFacts, Trace};
use crate::{Mailbox, Sources, StoredEnvelope, Summary, api, guard, live, page, reader, view};

/// Bytes of a form of the page, which holds a search and a place in the list.
const LARGEST_FORM: usize = 64 * 1024;

/// State shared by the handlers.
#[derive(Clone)]
pub(crate) struct App {
    pub mailbox: Mailbox,
    pub sources: Sources,
    pub pages: Arc<Handlebars<'static>>,
}

impl App {
    /// The result of the sources for one copy.
    pub(crate) async fn told(&self, summary: &Summary, envelope: &StoredEnvelope) -> CopyFacts {
        let trace = Trace::new(&summary.message_id, envelope);
        self.sources.about(trace).await
    }
}

pub(crate) fn router(mailbox: Mailbox, sources: Sources) -> Router {
    let guard = from_fn_with_state(mailbox.clone(), guard::check);
    let app = App {
        sources,
        pages: Arc::new(page::templates()),
        mailbox,
    };
    Router::new()
        .merge(page_routes())
        .merge(api_routes())
        .with_state(app)
        .route("/livez", get(async || "ok"))
        .route("/readyz", get(async || "ok"))
        .route(
            "/style.css",
            asset("text/css", include_str!("../ui/style.css")),
        )
        .route(
            "/app.js",
            asset("text/javascript", include_str!("../ui/app.js")),
        )
        .route(
            "/icon.svg",
            asset("image/svg+xml", include_str!("../ui/icon.svg")),
        )
        .fallback(async || Refusal::NotFound)
        .layer(guard)
}

fn page_routes() -> Router<App> {
    Router::new()
        .route("/", get(page::list))
        .route("/list", get(page::lines))
        .route("/message/{id}", get(reader::open))
        .route("/message/{id}/told", get(reader::told))
        .route("/message/{id}/delete", post(page::delete))
        .route("/clear", post(page::clear))
        .route("/read", post(page::read))
        .route("/view/{file}", get(view::view))
        .route("/live", get(live::stream))
        .layer(DefaultBodyLimit::max(LARGEST_FORM))
}

fn api_routes() -> Router<App> {
    let messages = get(api::list).put(api::mark).delete(api::delete);
    Router::new()
        .route("/api/v1/info", get(api::info))
        .route("/api/v1/messages", messages)
        .route(
            "/api/v1/search",
            get(api::search).delete(api::delete_search),
        )
        .route("/api/v1/message/{id}", get(api::message))
        .route("/api/v1/message/{id}/headers", get(api::heads))
        .route("/api/v1/message/{id}/raw", get(api::raw))
        .route("/api/v1/message/{id}/part/{part}", get(api::part))
        .route("/api/v1/message/{id}/events", get(api::events))
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
