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

use crate::json_text;

/// How long the connection, and each part of an answer, may take.
const CONNECT: Duration = Duration::from_secs(15);
const SILENCE: Duration = Duration::from_secs(90);

/// What is said of an error that is a page of HTML.
pub(crate) const BROWSER_PAGE: &str = "a page for browsers";

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
    /// What no text of it may repeat.
    secret: Option<Arc<str>>,
}

enum ReplyBody {
    Remote(reqwest::Response),
    Here(Body),
}

/// Why an answer is not read whole: in words, without secrets.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AnswerFault {
    #[error("{0}")]
    Broken(String),
    #[error("no answer in time")]
    TimedOut,
    #[error("the answer exceeds {0} bytes")]
    TooLarge(usize),
}

/// The address is none that calls can be made to.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct BadAddress(String);

impl Remote {
    /// The service at this address, with or without `/v3` at its end.
    pub(crate) fn new(address: &str, key: &str) -> Result<Self, BadAddress> {
        // The address is not repeated: it may have a password or a key in it.
        let bad = |why: &str| BadAddress(format!("--from is no address of an API: {why}"));
        let url = Url::parse(address).map_err(|error| bad(&error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(bad("one begins with https:// or http:// and a host"));
        }
        let has_user = !url.username().is_empty() || url.password().is_some();
        if has_user || url.query().is_some() || url.fragment().is_some() {
            return Err(bad("one has no user, password or query"));
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
            secret: None,
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

    /// Reads from a path.
    pub(crate) async fn get(&self, path: &str) -> Result<Reply, AnswerFault> {
        match self {
            Self::Here(here) => {
                let reply = here.call(Method::GET, path, None, None).await;
                reply.map_err(AnswerFault::Broken)
            }
            Self::Remote(remote) => {
                let mut request = remote
                    .http
                    .get(format!("{}{path}", remote.base))
                    .bearer_auth(&remote.key)
                    .header(header::ACCEPT, "application/json");
                if let Some(username) = &remote.behalf {
                    request = request.header("on-behalf-of", username);
                }
                let response = request.send().await.map_err(|error| fault(&error))?;
                Ok(Reply {
                    status: response.status(),
                    headers: response.headers().clone(),
                    body: ReplyBody::Remote(response),
                    secret: Some(Arc::clone(&remote.key)),
                })
            }
        }
    }
}

impl Reply {
    /// The next bytes of the body.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, AnswerFault> {
        match &mut self.body {
            ReplyBody::Remote(response) => response.chunk().await.map_err(|error| fault(&error)),
            ReplyBody::Here(body) => loop {
                match body.frame().await {
                    None => return Ok(None),
                    Some(Err(error)) => return Err(AnswerFault::Broken(error.to_string())),
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
    pub(crate) async fn bytes(&mut self, most: usize) -> Result<Vec<u8>, AnswerFault> {
        let mut whole = Vec::new();
        while let Some(bytes) = self.chunk().await? {
            if whole.len() + bytes.len() > most {
                return Err(AnswerFault::TooLarge(most));
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
        let Some(body) = json_text::parse(&body) else {
            let kind = self.headers.get(header::CONTENT_TYPE);
            let is_page = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"));
            return if is_page { BROWSER_PAGE } else { "" }.to_owned();
        };
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
        let body = body.value;
        let list = body.get("errors").and_then(Value::as_array);
        let mut found: Vec<String> = list.into_iter().flatten().filter_map(one).collect();
        found.extend(body.get("error").and_then(Value::as_str).map(str::to_owned));
        let found = masked(found.join("; "), self.secret.as_deref());
        posthaste_model::cut(&found, LONGEST).to_owned()
    }
}

/// The text without the key: as a whole, in parts, and whatever follows `Bearer`.
fn masked(mut text: String, secret: Option<&str>) -> String {
    const SHORTEST: usize = 8;
    let Some(secret) = secret else { return text };
    let parts = secret.split('.').filter(|part| part.len() >= SHORTEST);
    for part in [secret].into_iter().chain(parts) {
        text = text.replace(part, "…");
    }
    let mut words: Vec<&str> = text.split(' ').collect();
    for at in 1..words.len() {
        let is_bearer = words
            .get(at - 1)
            .is_some_and(|word| word.to_ascii_lowercase().ends_with("bearer"));
        if let Some(word) = words.get_mut(at).filter(|_| is_bearer) {
            *word = "…";
        }
    }
    words.join(" ")
}

fn fault(error: &reqwest::Error) -> AnswerFault {
    if error.is_timeout() {
        return AnswerFault::TimedOut;
    }
    AnswerFault::Broken(cause(error))
}

/// The innermost cause of an error, without the address, which is said elsewhere.
fn cause(error: &reqwest::Error) -> String {
    let mut innermost: &dyn Error = error;
    while let Some(next) = innermost.source() {
        innermost = next;
    }
    if error.is_connect() {
        return format!("no connection: {innermost}");
    }
    format!("the connection broke: {innermost}")
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
        for address in [
            "https://ada:pass-word@a.example",
            "https://a.example/?pass-word",
            "ftp://pass-word@a.example",
        ] {
            let refused = Remote::new(address, "SG.a.b").err().unwrap().to_string();
            assert!(!refused.contains("pass-word"), "{refused}");
        }
    }

    #[test]
    fn no_text_repeats_the_key() {
        let key = "SG.abcdefgh.ijklmnopq";
        for (text, want) in [
            (
                "bad token Bearer SG.abcdefgh.ijklmnopq!",
                "bad token Bearer …",
            ),
            (
                "SG.abcdefgh.ijklmnopq, abcdefgh and ijklmnopq",
                "…, … and …",
            ),
            (
                "authorization: bearer of-another-form",
                "authorization: bearer …",
            ),
            ("access forbidden", "access forbidden"),
        ] {
            assert_eq!(masked(text.to_owned(), Some(key)), want);
        }
    }
}
