//! The API of a local host: the routes of every function, and what a development server adds around them.

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use posthaste_http::{Authorizer, Rejection};
use posthaste_queue::Local;
use posthaste_runtime::Platform;
use posthaste_store::Store;

use crate::start::HostSettings;
use crate::start_error::StartError;
use crate::table::{Disk, Table};
use crate::{console, functions, health};

/// What the API is made of.
pub(crate) struct ApiParts<'a> {
    pub(crate) platform: &'a Platform,
    pub(crate) gate: &'a Authorizer,
    pub(crate) mail_send: &'a mail_send::App,
    pub(crate) table: &'a Table,
    pub(crate) queues: Local,
    /// The key of the first account, if known.
    pub(crate) key: Option<&'a String>,
}

/// The API's router.
pub(crate) fn router(settings: &HostSettings, parts: ApiParts<'_>) -> Result<Router, StartError> {
    let (table, queues) = (parts.table, Some(parts.queues));
    let routes = functions::routes(parts.platform, parts.gate, parts.mail_send)?.into_router();
    let routes = durable(routes, table.disk.clone());
    let routes = match parts.key.filter(|_| settings.any_key) {
        None => routes,
        Some(key) => with_any_key(routes, table.store.clone(), key),
    };
    let health = health::routes(table.store.clone(), queues, settings.clock.clone());
    Ok(health.merge(console::requests(routes)))
}

/// The routes, whose answers wait for the disk where they acknowledge a write.
fn durable(routes: Router, disk: Disk) -> Router {
    let layer = middleware::from_fn(move |request: Request, next: Next| {
        let disk = disk.clone();
        async move {
            let answer = disk.durable(next.run(request)).await;
            let lost = || Rejection::unavailable(&"the table's file could not be synced");
            answer.unwrap_or_else(|| lost().into_response())
        }
    });
    routes.layer(layer)
}

/// Replaces a key that the service did not issue (`--any-key`), and sends one that it did as `Bearer`,
/// whatever its scheme.
#[derive(Clone)]
struct AnyKey {
    store: Store,
    /// `Bearer` and the key of the first account.
    own: HeaderValue,
}

/// The routes, where every key is accepted as the first account's. A request without one is still refused.
fn with_any_key(routes: Router, store: Store, key: &str) -> Router {
    let Some(own) = bearer(key) else {
        return routes;
    };
    routes.layer(middleware::from_fn_with_state(
        AnyKey { store, own },
        replace,
    ))
}

async fn replace(State(any): State<AnyKey>, mut request: Request, next: Next) -> Response {
    if let Some(given) = given_key(request.headers()) {
        let sent = match posthaste_submission::is_key(&any.store, &given).await {
            Ok(true) => bearer(&given).unwrap_or(any.own),
            Ok(false) => any.own,
            Err(error) => return Rejection::from(error).into_response(),
        };
        request.headers_mut().insert(header::AUTHORIZATION, sent);
    }
    next.run(request).await
}

fn bearer(key: &str) -> Option<HeaderValue> {
    HeaderValue::from_str(&format!("Bearer {key}")).ok()
}

/// The key of a request: behind `Bearer`, or as the password of `Basic`.
fn given_key(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, given) = value.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return Some(given.trim().to_owned());
    }
    let decoded = STANDARD.decode(given.trim()).ok()?;
    let text = String::from_utf8(decoded).ok()?;
    Some(text.split_once(':')?.1.to_owned())
}

#[cfg(test)]
mod tests {
    use axum::body::{Body, to_bytes};
    use axum::routing::get;
    use posthaste_testkit::{TABLE, Tenant, TestClock, dynamodb};
    use tower::ServiceExt as _;

    use super::*;

    #[tokio::test]
    async fn a_key_of_the_service_is_accepted_in_every_scheme() {
        let store = Store::open(&dynamodb().await, TABLE);
        store.create_table().await.unwrap();
        let now = TestClock::default().now();
        let key = Tenant::new(&store, "second", now).await.key;
        let sent = |headers: HeaderMap| async move {
            let sent = headers.get(header::AUTHORIZATION);
            sent.map_or_else(String::new, |sent| sent.to_str().unwrap().to_owned())
        };
        let routes = Router::new().route("/", get(sent));
        let routes = with_any_key(routes, store, "SG.of.first");
        let basic = |key: &str| format!("Basic {}", STANDARD.encode(format!("apikey:{key}")));
        let own = format!("Bearer {key}");
        for (value, want) in [
            (own.clone(), &*own),
            (basic(&key), &*own),
            (format!("Token {key}"), &*own),
            ("Bearer anything".to_owned(), "Bearer SG.of.first"),
            (basic("anything"), "Bearer SG.of.first"),
            (String::new(), ""),
        ] {
            let request = Request::get("/").header(header::AUTHORIZATION, &value);
            let request = request.body(Body::empty()).unwrap();
            let answer = routes.clone().oneshot(request).await.unwrap();
            let answer = to_bytes(answer.into_body(), 1_000).await.unwrap();
            assert_eq!(answer, want, "{value}");
        }
    }

    #[test]
    fn a_key_is_read_from_both_schemes() {
        let basic = STANDARD.encode("apikey:SG.x:y");
        for (value, want) in [
            ("Bearer SG.a.b", Some("SG.a.b")),
            ("bearer  anything ", Some("anything")),
            (&*format!("Basic {basic}"), Some("SG.x:y")),
            ("Basic !!!", None),
            ("Bearer", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::AUTHORIZATION, HeaderValue::from_str(value).unwrap());
            assert_eq!(given_key(&headers).as_deref(), want, "{value}");
        }
        assert_eq!(given_key(&HeaderMap::new()), None);
    }
}
