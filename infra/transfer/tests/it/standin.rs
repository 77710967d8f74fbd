//! Another service, as it may answer: with nothing in any list, except what a test says.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// A call: its path, its query, and the subuser that it is made for.
pub(crate) struct StandinCall {
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) behalf: String,
    pub(crate) authorization: String,
}

impl StandinCall {
    /// Whether it asks for the first page.
    pub(crate) fn is_first(&self) -> bool {
        self.number("offset").is_none_or(|offset| offset == 0)
    }

    /// A value of the query.
    pub(crate) fn value(&self, name: &str) -> Option<String> {
        let mut pairs = url::form_urlencoded::parse(self.query.as_bytes());
        pairs.find_map(|(own, value)| (own == name).then(|| value.into_owned()))
    }

    pub(crate) fn number(&self, name: &str) -> Option<usize> {
        self.value(name).map(|value| value.parse().unwrap())
    }
}

pub(crate) fn data(value: &Value) -> Option<Response> {
    Some(raw(value.to_string()))
}

pub(crate) fn raw(text: impl Into<Body>) -> Response {
    let text: Body = text.into();
    ([("content-type", "application/json")], text).into_response()
}

pub(crate) fn refusal(status: u16, message: &str) -> Option<Response> {
    let status = StatusCode::from_u16(status).unwrap();
    let body = json!({"errors": [{"message": message}]}).to_string();
    Some((status, [("content-type", "application/json")], body).into_response())
}

/// Answers as `answer` says, and where it says nothing with empty lists; the address.
pub(crate) async fn standin(
    answer: impl Fn(&StandinCall) -> Option<Response> + Send + Sync + 'static,
) -> String {
    let answer = Arc::new(answer);
    let handler = move |request: Request| {
        let answer = Arc::clone(&answer);
        async move {
            let header = |name: &str| {
                let value = request.headers().get(name);
                value.map_or_else(String::new, |value| value.to_str().unwrap().to_owned())
            };
            let call = StandinCall {
                path: request.uri().path().to_owned(),
                query: request.uri().query().unwrap_or_default().to_owned(),
                behalf: header("on-behalf-of"),
                authorization: header("authorization"),
            };
            answer(&call).unwrap_or_else(|| empty(&call.path))
        }
    };
    let router = Router::new().fallback(handler);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}

fn empty(path: &str) -> Response {
    let lists = [
        "/v3/whitelabel",
        "/v3/asm",
        "/v3/suppression",
        "/v3/alerts",
        "/v3/subusers",
        "/v3/ips",
        "/v3/sso",
    ];
    match path {
        "/v3/scopes" => raw(r#"{"scopes":["mail.send"]}"#),
        "/v3/templates" => raw(r#"{"result":[],"_metadata":{}}"#),
        "/v3/verified_senders" => raw(r#"{"results":[]}"#),
        "/v3/user/webhooks/event/settings/all" => raw(r#"{"webhooks":[]}"#),
        "/v3/user/webhooks/parse/settings" | "/v3/api_keys" => raw(r#"{"result":[]}"#),
        path if lists.iter().any(|list| path.starts_with(list)) => raw("[]"),
        _ => refusal(404, "not found").unwrap(),
    }
}

/// The files of a folder with their bytes.
pub(crate) fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = folder
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let files = entries.filter(|path| path.is_file());
    files
        .map(|path| (path.clone(), std::fs::read(path).unwrap()))
        .collect()
}
