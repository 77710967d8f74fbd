//! A bucket that takes and gives objects, for functions that run as processes of their own.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderName, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use tokio::net::TcpListener;

type Stored = Arc<Mutex<HashMap<String, Bytes>>>;

/// Serves objects until the test ends; its address.
pub(super) async fn serve() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("a bound port");
    let routes = Router::new()
        .fallback(object)
        .layer(DefaultBodyLimit::disable())
        .with_state(Stored::default());
    tokio::spawn(axum::serve(listener, routes).into_future());
    format!("http://{address}")
}

async fn object(State(stored): State<Stored>, method: Method, uri: Uri, body: Bytes) -> Response {
    let name = uri.path().to_owned();
    let mut stored = stored.lock().expect("no panic while it is held");
    let tag = (HeaderName::from_static("etag"), "\"1\"");
    let made = (
        HeaderName::from_static("last-modified"),
        "Thu, 01 Jan 2026 00:00:00 GMT",
    );
    match (method, stored.get(&name)) {
        (Method::PUT, _) => {
            stored.insert(name, body);
            [tag].into_response()
        }
        (Method::GET, Some(bytes)) => ([tag, made], bytes.clone()).into_response(),
        (_, _) => StatusCode::NOT_FOUND.into_response(),
    }
}
