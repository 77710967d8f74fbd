//! What must exist once per host: the caller's address, a request id, the body limit, the answers
//! for unmatched routes, and the security headers of every response.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, DefaultBodyLimit, Request, State};
use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use tracing::Instrument as _;
use tracing::field::Empty;

use crate::client::{RequestId, canonical};
use crate::{Authorizer, ClientIp, Dialect, GatewayName, Rejection};

/// The address of the request began with several slashes; it was read as if with one.
#[derive(Clone, Copy, Debug)]
struct Cleaned;

/// The largest body, unless a route takes more, as mail/send does. The largest request of the
/// others is a version of a template: two texts of a mebibyte, which grow to three times that when
/// a client escapes every letter (`\u00fc`), and test data.
const LARGEST: usize = 8 << 20;

/// Added once, after all routers are merged: two routers that both have a fallback panic.
///
/// Under Lambda, `runtime` puts a [`ClientIp`] into the request first; on a socket it is the
/// address of the peer.
///
/// `elsewhere` are paths that other functions serve: behind the gateway one function answers all
/// unmatched requests, and must distinguish a wrong method from a wrong path.
pub fn finish(router: Router, gate: &Authorizer, elsewhere: &'static [&'static str]) -> Router {
    let (missing, method) = (gate.clone(), gate.clone());
    let routes = router
        .method_not_allowed_fallback(move |req: Request| refuse(method, req, Unrouted::Method))
        .fallback(move |req: Request| {
            let path = req.uri().path();
            let known = elsewhere.iter().any(|pattern| fits(pattern, path));
            let cleaned = req.extensions().get::<Cleaned>().is_some();
            let why = match (known, cleaned) {
                (true, true) => Unrouted::Slashes,
                (true, false) => Unrouted::Method,
                (false, _) => Unrouted::Path,
            };
            refuse(missing, req, why)
        })
        .layer(DefaultBodyLimit::max(LARGEST));
    // A layer of the router itself would run after a route was chosen, too late for the path.
    Router::new()
        .fallback_service(routes)
        .layer(from_fn_with_state(gate.clone(), middleware))
}

/// Whether a path matches a pattern: `/v3/api_keys/{id}` takes any one segment for `{id}`.
fn fits(pattern: &str, path: &str) -> bool {
    let mut wanted = pattern.split('/');
    let mut given = path.split('/');
    loop {
        match (wanted.next(), given.next()) {
            (None, None) => return true,
            (Some(wanted), Some(given))
                if wanted == given || (wanted.starts_with('{') && !given.is_empty()) => {}
            _ => return false,
        }
    }
}

/// Why no route matches a request.
#[derive(Clone, Copy, Debug)]
enum Unrouted {
    Path,
    Method,
    /// The path without its second slash belongs to another function. The gateway routes by the
    /// path as it was sent, so this function cannot forward it.
    Slashes,
}

impl Unrouted {
    fn answer(self) -> (StatusCode, &'static str) {
        match self {
            Self::Path => (
                StatusCode::NOT_FOUND,
                "not found: Posthaste does not serve this path",
            ),
            Self::Method => (StatusCode::METHOD_NOT_ALLOWED, "method not allowed"),
            Self::Slashes => (
                StatusCode::NOT_FOUND,
                "not found: the path begins with two slashes; leave out the one that your client's \
                 host or base URL ends with",
            ),
        }
    }
}

/// Answers unmatched requests; counted by address like every call without a key.
async fn refuse(gate: Authorizer, req: Request, why: Unrouted) -> Response {
    let permit = gate.permit_for_anonymous(client_ip(&req));
    let rejection = if permit.allowed {
        let (status, message) = why.answer();
        Rejection::plain(status, message).with_help("unknown-path")
    } else {
        Rejection::plain(StatusCode::TOO_MANY_REQUESTS, "too many requests")
    };
    let rejection = rejection.in_dialect(dialect(req.uri().path()));
    let mut response = rejection.into_response();
    permit.write(response.headers_mut());
    response
}

/// The form of errors on a path without a route, chosen by the path: behind the gateway another
/// function answers for it.
fn dialect(path: &str) -> Dialect {
    match path {
        "/v3/mail/send" => Dialect::Mail,
        _ => Dialect::General,
    }
}

/// The address of the caller, from the request's extensions.
pub(crate) fn client_ip(req: &Request) -> Option<IpAddr> {
    canonical(req.extensions().get())
}

async fn middleware(State(gate): State<Authorizer>, mut req: Request, next: Next) -> Response {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    if req.extensions().get::<ClientIp>().is_none() {
        let peer = req.extensions().get::<ConnectInfo<SocketAddr>>();
        let ip = ClientIp(peer.map(|peer| peer.0.ip()));
        req.extensions_mut().insert(ip);
    }
    let id = match req.extensions().get() {
        Some(RequestId(id)) => Arc::clone(id),
        None => format!("local-{}", NEXT.fetch_add(1, Ordering::Relaxed)).into(),
    };
    req.extensions_mut().insert(RequestId(Arc::clone(&id)));
    if let Some(uri) = without_double_slash(req.uri()) {
        *req.uri_mut() = uri;
        req.extensions_mut().insert(Cleaned);
    }
    // Every log line of the request carries these. The path is left out, because some contain
    // addresses.
    let span = tracing::info_span!("request", http.request_id = %id, http.route = Empty, account.id = Empty);
    let public_url = public_url(&gate, req.extensions().get());
    let is_head = req.method() == Method::HEAD;
    let mut response = next.run(req).instrument(span).await;
    if let Some(refused) = response.extensions_mut().remove::<Rejection>()
        && refused.has_help()
        && let Some(public_url) = public_url
    {
        let body = refused.body(&public_url);
        // The router has set the length of the body without the address, and a socket cannot send
        // a body of another length.
        let length = HeaderValue::from(body.len());
        response
            .headers_mut()
            .insert(header::CONTENT_LENGTH, length);
        if !is_head {
            *response.body_mut() = Body::from(body);
        }
    }
    let headers = response.headers_mut();
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "strict-origin-when-cross-origin"),
        // Answers hold addresses and secrets; pages that may be cached say so themselves.
        (header::CACHE_CONTROL, "no-store"),
    ] {
        headers
            .entry(name)
            .or_insert(HeaderValue::from_static(value));
    }
    response
}

/// The address of this installation: as configured, or else the gateway's.
fn public_url(gate: &Authorizer, gateway: Option<&GatewayName>) -> Option<Arc<str>> {
    let of_gateway = || Some(format!("https://{}", gateway?.0.as_ref()?).into());
    gate.public_url().cloned().or_else(of_gateway)
}

/// `//v3/…` as `/v3/…`: some clients join a base address that ends in a slash with a path that
/// begins with one. Slashes elsewhere are part of the path and match nothing.
fn without_double_slash(uri: &Uri) -> Option<Uri> {
    let path = uri.path_and_query()?.as_str();
    let rest = path.strip_prefix("//")?;
    format!("/{}", rest.trim_start_matches('/')).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_takes_one_segment_for_a_name() {
        for (pattern, path, want) in [
            ("/v3/scopes", "/v3/scopes", true),
            ("/v3/scopes", "/v3/scopes/", false),
            ("/v3/scopes", "/v3", false),
            ("/v3/batch/{id}", "/v3/batch/7", true),
            ("/v3/batch/{id}", "/v3/batch/", false),
            ("/v3/batch/{id}", "/v3/batch/7/8", false),
            ("/v3/{name}/ips", "/v3/ada/ips", true),
            ("/v3/{name}/ips", "/v3/ada/credits", false),
        ] {
            assert_eq!(fits(pattern, path), want, "{pattern} {path}");
        }
    }

    #[test]
    fn slashes_before_the_version_are_one() {
        for (path, want) in [
            ("//v3/scopes?a=//b", Some("/v3/scopes?a=//b")),
            ("///v3/scopes", Some("/v3/scopes")),
            ("/v3//scopes", None),
            ("/v3/scopes", None),
            ("/", None),
        ] {
            let got = without_double_slash(&path.parse().unwrap());
            assert_eq!(got.map(|uri| uri.to_string()).as_deref(), want, "{path}");
        }
    }
}
