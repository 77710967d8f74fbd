//! Calls routes without a socket, the way both hosts do: with the caller's address beside the
//! request and the whole answer returned.

use std::net::IpAddr;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use bytes::Bytes;
use http_body_util::BodyExt as _;
use posthaste_http::{ClientIp, Routes};
use serde_json::Value;
use tower::ServiceExt as _;

/// The routes of a function, for direct calls.
#[derive(Clone, Debug)]
pub struct Api(Router);

/// A request under construction.
#[derive(Debug)]
pub struct Ask<'a> {
    api: &'a Api,
    request: Request<Body>,
}

/// The answer of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// The default address of calls (RFC 5737).
pub const HOME: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));

impl Api {
    /// These routes, wrapped in the edge layers.
    pub fn new(routes: Routes) -> Self {
        Self(routes.into_router())
    }

    /// A request from [`HOME`], without a key.
    ///
    /// # Panics
    /// When the path is not one.
    pub fn ask(&self, method: Method, path: &str) -> Ask<'_> {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .extension(ClientIp(Some(HOME)))
            .body(Body::empty());
        Ask {
            api: self,
            request: request.expect("a path that can be asked for"),
        }
    }

    /// `GET path`.
    pub fn get(&self, path: &str) -> Ask<'_> {
        self.ask(Method::GET, path)
    }

    /// `POST path`.
    pub fn post(&self, path: &str) -> Ask<'_> {
        self.ask(Method::POST, path)
    }

    /// `PUT path`.
    pub fn put(&self, path: &str) -> Ask<'_> {
        self.ask(Method::PUT, path)
    }

    /// `PATCH path`.
    pub fn patch(&self, path: &str) -> Ask<'_> {
        self.ask(Method::PATCH, path)
    }

    /// `DELETE path`.
    pub fn delete(&self, path: &str) -> Ask<'_> {
        self.ask(Method::DELETE, path)
    }
}

impl Ask<'_> {
    /// With an API key.
    #[must_use]
    pub fn key(self, key: &str) -> Self {
        self.header("authorization", &format!("Bearer {key}"))
    }

    /// On behalf of another account.
    #[must_use]
    pub fn as_if(self, named: &str) -> Self {
        self.header("on-behalf-of", named)
    }

    /// With one more header of this name.
    ///
    /// # Panics
    /// When name or value is not valid in a request.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        let name: header::HeaderName = name.parse().expect("a header name");
        let value = header::HeaderValue::from_bytes(value.as_bytes()).expect("a header value");
        self.request.headers_mut().append(name, value);
        self
    }

    /// From this address; `None` when the host does not provide it.
    #[must_use]
    pub fn from(mut self, ip: Option<IpAddr>) -> Self {
        self.request.extensions_mut().insert(ClientIp(ip));
        self
    }

    /// With a JSON body.
    #[must_use]
    pub fn json(self, body: &Value) -> Self {
        self.header("content-type", "application/json")
            .body(body.to_string())
    }

    /// With any body.
    #[must_use]
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        *self.request.body_mut() = Body::from(body.into());
        self
    }

    /// Sends it and reads the answer.
    ///
    /// # Panics
    /// When the body of the answer breaks off, or has another length than its header says: a socket
    /// cannot send it.
    pub async fn send(self) -> Response {
        let is_head = self.request.method() == Method::HEAD;
        let Ok(response) = self.api.0.clone().oneshot(self.request).await;
        let (parts, body) = response.into_parts();
        let body = body.collect().await.expect("a whole answer").to_bytes();
        if let Some(length) = parts.headers.get(header::CONTENT_LENGTH)
            && !is_head
        {
            assert_eq!(length, &*body.len().to_string(), "the length of {body:?}");
        }
        Response {
            status: parts.status,
            headers: parts.headers,
            body,
        }
    }
}

impl Response {
    /// The body as JSON; `null` when it is empty.
    ///
    /// # Panics
    /// When the body is neither.
    #[track_caller]
    pub fn json(&self) -> Value {
        if self.body.is_empty() {
            return Value::Null;
        }
        serde_json::from_slice(&self.body).expect("a JSON body")
    }

    /// A header as text; empty when it is not there.
    pub fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name).and_then(|v| v.to_str().ok());
        value.unwrap_or_default()
    }

    /// The first error's `(field, message)`.
    ///
    /// # Panics
    /// When the body is not an error in the form of the v3 API.
    #[track_caller]
    pub fn error(&self) -> (Option<String>, String) {
        let json = self.json();
        let item = json.pointer("/errors/0").expect("an error");
        let text = |name: &str| item.get(name)?.as_str().map(str::to_owned);
        (text("field"), text("message").expect("an error message"))
    }

    /// Asserts the status, showing the body on a mismatch.
    ///
    /// # Panics
    /// When the status differs.
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        let body = String::from_utf8_lossy(&self.body);
        assert_eq!(self.status.as_u16(), status, "{body}");
        self
    }
}
