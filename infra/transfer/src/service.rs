//! A service that speaks the v3 API: another one, by HTTP, or the functions of this process.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode, header};
use http_body_util::BodyExt as _;
use posthaste_http::{ClientIp, OperatorCall};
use posthaste_store::Account;
use serde_json::Value;
use tower::ServiceExt as _;
use url::Url;

/// How long the connection, and each part of an answer, may take.
const CONNECT: Duration = Duration::from_secs(15);
const SILENCE: Duration = Duration::from_secs(90);

/// Where calls go.
#[derive(Clone)]
pub(crate) enum Service {
    Remote(Remote),
    Here(Here),
}

/// Another service, by HTTP.
#[derive(Clone)]
pub(crate) struct Remote {
    http: reqwest::Client,
    /// Without a slash at its end.
    base: String,
    key: Arc<str>,
    /// The subuser that calls are made for.
    behalf: Option<String>,
}

/// The functions of this process, for one account.
#[derive(Clone)]
pub(crate) struct Here {
    router: Router,
    account: Arc<Account>,
    vouches: bool,
}

/// An answer, whose body is yet to be read.
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    body: ReplyBody,
}

enum ReplyBody {
    Remote(reqwest::Response),
    Here(Body),
}

/// The address is none that calls can be made to.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct BadAddress(String);

impl Remote {
    /// The service at this address, with or without `/v3` at its end.
    pub(crate) fn new(address: &str, key: &str) -> Result<Self, BadAddress> {
        let bad = |why: &str| BadAddress(format!("{address} is no address of an API: {why}"));
        let url = Url::parse(address).map_err(|error| bad(&error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(bad("it begins with https:// or http:// and a host"));
        }
        if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
            return Err(bad("it has no user, password or query"));
        }
        if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(BadAddress("the API key is no key".to_owned()));
        }
        let base = url.as_str().trim_end_matches('/');
        let base = base.strip_suffix("/v3").unwrap_or(base);
        let http = reqwest::Client::builder()
            // A redirect would take the key elsewhere.
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .no_gzip()
            .no_brotli()
            .no_deflate()
            .no_zstd()
            .http1_only()
            .connect_timeout(CONNECT)
            .read_timeout(SILENCE)
            .user_agent(concat!("posthaste/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| BadAddress(cause(&error)))?;
        Ok(Self {
            http,
            base: base.to_owned(),
            key: key.into(),
            behalf: None,
        })
    }
}

impl Here {
    pub(crate) fn new(router: Router, account: Arc<Account>) -> Self {
        Self {
            router,
            account,
            vouches: false,
        }
    }

    /// The same functions for another account.
    pub(crate) fn of(&self, account: Arc<Account>) -> Self {
        Self::new(self.router.clone(), account)
    }

    /// The same, where the operator vouches for the addresses of senders.
    pub(crate) fn vouching(self) -> Self {
        let vouches = true;
        Self { vouches, ..self }
    }

    /// The account that calls are made for.
    pub(crate) fn account(&self) -> &Arc<Account> {
        &self.account
    }

    /// Makes a call. What it creates gets the id `id` if that is given.
    pub(crate) async fn call(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        id: Option<&str>,
    ) -> Result<Reply, String> {
        let mut call = OperatorCall::of(Arc::clone(&self.account));
        if let Some(id) = id {
            call = call.with_id(id);
        }
        if self.vouches {
            call = call.vouching();
        }
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .extension(call)
            .extension(ClientIp(None));
        let body = match body {
            None => Body::empty(),
            Some(value) => {
                request = request.header(header::CONTENT_TYPE, "application/json");
                Body::from(value.to_string())
            }
        };
        let request = request.body(body).map_err(|error| error.to_string())?;
        let Ok(response) = self.router.clone().oneshot(request).await;
        let (head, body) = response.into_parts();
        Ok(Reply {
            status: head.status,
            headers: head.headers,
            body: ReplyBody::Here(body),
        })
    }
}

impl Service {
    /// The same service for one of the account's subusers; for the functions of this process, `account` is its account.
    pub(crate) fn for_subuser(&self, username: &str, account: Option<Arc<Account>>) -> Self {
        match self {
            Self::Remote(remote) => Self::Remote(Remote {
                behalf: Some(username.to_owned()),
                ..remote.clone()
            }),
            Self::Here(here) => {
                Self::Here(here.of(account.unwrap_or_else(|| Arc::clone(&here.account))))
            }
        }
    }

    /// Reads from a path. What fails before an answer is in words, without secrets.
    pub(crate) async fn get(&self, path: &str) -> Result<Reply, String> {
        match self {
            Self::Here(here) => here.call(Method::GET, path, None, None).await,
            Self::Remote(remote) => {
                let mut request = remote
                    .http
                    .get(format!("{}{path}", remote.base))
                    .bearer_auth(&remote.key)
                    .header(header::ACCEPT, "application/json");
                if let Some(username) = &remote.behalf {
                    request = request.header("on-behalf-of", username);
                }
                let response = request.send().await.map_err(|error| cause(&error))?;
                Ok(Reply {
                    status: response.status(),
                    headers: response.headers().clone(),
                    body: ReplyBody::Remote(response),
                })
            }
        }
    }
}

impl Reply {
    /// The next bytes of the body.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, String> {
        match &mut self.body {
            ReplyBody::Remote(response) => response.chunk().await.map_err(|error| cause(&error)),
            ReplyBody::Here(body) => loop {
                match body.frame().await {
                    None => return Ok(None),
                    Some(Err(error)) => return Err(error.to_string()),
                    Some(Ok(frame)) => {
                        if let Ok(data) = frame.into_data() {
                            return Ok(Some(data));
                        }
                    }
                }
            },
        }
    }

    /// The whole body, of at most this many bytes.
    pub(crate) async fn bytes(&mut self, most: usize) -> Result<Vec<u8>, String> {
        let mut whole = Vec::new();
        while let Some(bytes) = self.chunk().await? {
            if whole.len() + bytes.len() > most {
                return Err(format!("the answer exceeds {most} bytes"));
            }
            whole.extend_from_slice(&bytes);
        }
        Ok(whole)
    }

    /// The messages of an error's body; nothing of a body in another form.
    pub(crate) async fn problems(&mut self) -> String {
        const MOST: usize = 64 << 10;
        const LONGEST: usize = 500;
        let body = self.bytes(MOST).await.unwrap_or_default();
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        let one = |problem: &Value| {
            let text = |name: &str| problem.get(name).and_then(Value::as_str);
            let message = text("message")?;
            Some(
                match text("field").filter(|field| !message.contains(field)) {
                    None => message.to_owned(),
                    Some(field) => format!("{field}: {message}"),
                },
            )
        };
        let list = body.get("errors").and_then(Value::as_array);
        let mut found: Vec<String> = list.into_iter().flatten().filter_map(one).collect();
        found.extend(body.get("error").and_then(Value::as_str).map(str::to_owned));
        posthaste_model::cut(&found.join("; "), LONGEST).to_owned()
    }
}

/// An error and its causes, without the address, which is said elsewhere.
fn cause(error: &reqwest::Error) -> String {
    let mut innermost: &dyn Error = error;
    while let Some(next) = innermost.source() {
        innermost = next;
    }
    match (error.is_timeout(), error.is_connect()) {
        (true, _) => "no answer in time".to_owned(),
        (_, true) => format!("no connection: {innermost}"),
        _ => format!("the connection broke: {innermost}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_that_of_an_api() {
        for (address, want) in [
            ("https://api.sendgrid.com", Some("https://api.sendgrid.com")),
            (
                "https://api.sendgrid.com/",
                Some("https://api.sendgrid.com"),
            ),
            (
                "https://api.sendgrid.com/v3/",
                Some("https://api.sendgrid.com"),
            ),
            ("http://127.0.0.1:3000", Some("http://127.0.0.1:3000")),
            (
                "https://proxy.example/sendgrid",
                Some("https://proxy.example/sendgrid"),
            ),
            ("ftp://api.sendgrid.com", None),
            ("https://user:word@api.sendgrid.com", None),
            ("https://api.sendgrid.com?x", None),
            ("api.sendgrid.com", None),
        ] {
            let read = Remote::new(address, "SG.a.b");
            assert_eq!(
                read.ok().map(|remote| remote.base).as_deref(),
                want,
                "{address}"
            );
        }
        assert!(Remote::new("https://api.sendgrid.com", "SG.a\r\nX: b").is_err());
        assert!(Remote::new("https://api.sendgrid.com", "").is_err());
    }
}
