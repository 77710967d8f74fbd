//! What must exist once per host: the caller's address, a request id, the body limit, the
//! answers for what no route takes, and the safe headers of every response.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::extract::{ConnectInfo, DefaultBodyLimit, Request};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse as _, Response};

use crate::{Gate, Rejection};

/// The address of whoever called; absent when the host does not know. Never taken from a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientIp(pub Option<IpAddr>);

/// Names a request in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestId(pub Arc<str>);

/// The largest body taken: 30 MiB as received (SPEC, "Limits").
pub(crate) const LARGEST: usize = 30 << 20;

/// Added once, after all routers are merged: two routers that both have a fallback panic.
///
/// Under Lambda, `runtime` puts a [`ClientIp`] into the request first; on a socket it is the
/// address of the peer.
pub fn finish(router: Router, gate: &Gate) -> Router {
    let (missing, method) = (gate.clone(), gate.clone());
    router
        .method_not_allowed_fallback(move |req: Request| {
            refuse(method, req, StatusCode::METHOD_NOT_ALLOWED)
        })
        .fallback(move |req: Request| refuse(missing, req, StatusCode::NOT_FOUND))
        .layer(DefaultBodyLimit::max(LARGEST))
        .layer(from_fn(around))
}

/// Answers what no route takes; counted by address like every call without a key.
async fn refuse(gate: Gate, req: Request, status: StatusCode) -> Response {
    let message = match status {
        StatusCode::METHOD_NOT_ALLOWED => "method not allowed",
        _ => "not found",
    };
    let permit = gate.permit_for_stranger(client_ip(&req));
    let mut response = Rejection::plain(status, message).into_response();
    permit.write(response.headers_mut());
    response
}

/// The address of whoever called, from the request's extensions.
pub(crate) fn client_ip(req: &Request) -> Option<IpAddr> {
    let ip = req.extensions().get::<ClientIp>().and_then(|ip| ip.0);
    // An IPv4 caller on a dual-stack socket is an IPv4 caller.
    ip.map(|ip| ip.to_canonical())
}

async fn around(mut req: Request, next: Next) -> Response {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    if req.extensions().get::<ClientIp>().is_none() {
        let peer = req.extensions().get::<ConnectInfo<SocketAddr>>();
        let ip = ClientIp(peer.map(|peer| peer.0.ip()));
        req.extensions_mut().insert(ip);
    }
    if req.extensions().get::<RequestId>().is_none() {
        let id = format!("local-{}", NEXT.fetch_add(1, Ordering::Relaxed));
        req.extensions_mut().insert(RequestId(id.into()));
    }
    // Node's client joins a base address with and without a trailing slash; `//v3` is `/v3`.
    if let Some(path) = req
        .uri()
        .path_and_query()
        .map(|p| p.as_str())
        .filter(|p| p.starts_with("//"))
    {
        let plain = format!("/{}", path.trim_start_matches('/'));
        if let Ok(uri) = plain.parse() {
            *req.uri_mut() = uri;
        }
    }
    let mut response = next.run(req).await;
    let headers = response.headers_mut();
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "strict-origin-when-cross-origin"),
    ] {
        headers
            .entry(name)
            .or_insert(HeaderValue::from_static(value));
    }
    response
}
