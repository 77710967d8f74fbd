//! From a service by HTTP, behind faults: limits, broken pages, errors, and pages of other lengths.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use posthaste_store::SuppressionList;
use posthaste_testkit::TestClock;
use posthaste_transfer::{TransferReport, import};
use tokio::net::TcpListener;

use crate::fixture::{Service, args, from_service};
use crate::masked::masked;

/// What is wrong with an answer, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    /// 429, for seven seconds.
    Limited,
    /// The end of the body is missing.
    Truncated,
    Html,
    Status(u16),
    /// The limit is used up by this call.
    LastOne,
}

type Plan = dyn Fn(&str, usize) -> Fault + Send + Sync;

#[derive(Clone)]
struct Proxy {
    plan: Arc<Plan>,
    calls: Arc<AtomicUsize>,
    clock: TestClock,
    /// Until when calls are refused, and how many came too early.
    closed_until: Arc<std::sync::Mutex<i64>>,
    early: Arc<AtomicUsize>,
}

async fn faulty(State(proxy): State<Proxy>, request: Request, next: Next) -> Response {
    let number = proxy.calls.fetch_add(1, Ordering::SeqCst);
    let now = proxy.clock.now().0;
    if now < *proxy.closed_until.lock().unwrap() {
        proxy.early.fetch_add(1, Ordering::SeqCst);
    }
    let path = request.uri().path().to_owned();
    let close = |seconds: i64| *proxy.closed_until.lock().unwrap() = now + seconds;
    match (proxy.plan)(&path, number) {
        Fault::None => next.run(request).await,
        Fault::Limited => {
            close(7);
            (StatusCode::TOO_MANY_REQUESTS, [("retry-after", "7")], "{}").into_response()
        }
        Fault::LastOne => {
            close(9);
            let mut answer = next.run(request).await;
            let headers = answer.headers_mut();
            headers.insert("x-ratelimit-remaining", HeaderValue::from(0));
            headers.insert("x-ratelimit-reset", HeaderValue::from(now + 9));
            answer
        }
        Fault::Html => "<html><body>Bad gateway</body></html>".into_response(),
        Fault::Status(status) => StatusCode::from_u16(status).unwrap().into_response(),
        Fault::Truncated => {
            let answer = next.run(request).await;
            let body = to_bytes(answer.into_body(), usize::MAX).await.unwrap();
            let half = body.slice(..body.len() * 2 / 3);
            Body::from(half).into_response()
        }
    }
}

/// Serves an account behind faults; its address.
async fn serve(
    from: &Service,
    plan: impl Fn(&str, usize) -> Fault + Send + Sync + 'static,
    clock: TestClock,
) -> (String, Proxy) {
    let proxy = Proxy {
        plan: Arc::new(plan),
        calls: Arc::default(),
        clock,
        closed_until: Arc::default(),
        early: Arc::default(),
    };
    let router: Router = from
        .router()
        .layer(from_fn_with_state(proxy.clone(), faulty));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    (address, proxy)
}

/// Moves the account behind these faults; the report, and what differs is nothing.
async fn moved(
    plan: impl Fn(&str, usize) -> Fault + Send + Sync + 'static,
) -> (TransferReport, Proxy) {
    let (from, to) = (Service::start("ada").await, Service::start("ada").await);
    from.fill().await;
    let (address, proxy) = serve(&from, plan, to.services.clock.clone()).await;
    let folder = tempfile::tempdir().unwrap();
    let [state, first, second] = ["state", "first", "second"].map(|name| folder.path().join(name));
    let flags = from_service(&address, &from.tenant.key, &state) + " --trust-senders";
    let report = import(&args(&flags), &to.tools()).await.unwrap();
    from.export(&first).await;
    to.export(&second).await;
    let (before, after) = (masked(&first), masked(&second));
    for (name, text) in &before {
        let of_subusers = report.subusers.iter().flat_map(|one| &one.not_taken);
        let is_refused = report
            .not_taken
            .iter()
            .chain(of_subusers)
            .any(|one| name.starts_with(one.what.split(':').next().unwrap()));
        assert!(
            text == &after[name] || is_refused,
            "{name}\n{}",
            report.text()
        );
    }
    (report, proxy)
}

#[tokio::test]
async fn a_sound_service_is_read_whole() {
    let (report, _) = moved(|_, _| Fault::None).await;
    assert_eq!(report.not_taken, [], "{}", report.text());
    assert_eq!(report.parts["bounces"].created, 603);
}

#[tokio::test]
async fn limits_are_waited_for() {
    let (report, proxy) = moved(|_, number| match number % 5 {
        1 => Fault::Limited,
        3 => Fault::LastOne,
        _ => Fault::None,
    })
    .await;
    assert_eq!(report.not_taken, [], "{}", report.text());
    assert!(proxy.calls.load(Ordering::SeqCst) > 100);
    assert_eq!(
        proxy.early.load(Ordering::SeqCst),
        0,
        "calls before the limit was reset"
    );
}

#[tokio::test]
async fn broken_answers_are_asked_for_again() {
    let faults = [
        Fault::Truncated,
        Fault::Html,
        Fault::Status(503),
        Fault::Status(500),
    ];
    let (report, _) = moved(move |_, number| match number % 3 {
        1 => faults[number / 3 % faults.len()],
        _ => Fault::None,
    })
    .await;
    assert_eq!(report.not_taken, [], "{}", report.text());
}

#[tokio::test]
async fn what_stays_broken_is_listed_and_the_rest_is_taken() {
    let (report, _) = moved(|path, _| match path {
        "/v3/suppression/blocks" => Fault::Html,
        "/v3/alerts" => Fault::Status(403),
        _ => Fault::None,
    })
    .await;
    let refused: Vec<String> = report
        .not_taken
        .iter()
        .map(|one| format!("{}: {}", one.what, one.reason))
        .collect();
    assert_eq!(
        refused,
        [
            "blocks: all that was not read: the answer is not a JSON array (6 attempts)",
            "alerts: all that was not read: 403 ",
        ]
    );
    assert_eq!(report.parts["bounces"].created, 603);
}

#[tokio::test]
async fn a_service_that_takes_no_key_ends_the_import() {
    let (from, to) = (Service::start("ada").await, Service::start("ada").await);
    let (address, proxy) = serve(&from, |_, _| Fault::None, to.services.clock.clone()).await;
    let folder = tempfile::tempdir().unwrap();
    let flags = from_service(&address, "SG.wrong", folder.path());
    let refused = to.import(&flags).await.unwrap_err();
    assert_eq!(refused.exit_code(), 4);
    assert!(!refused.to_string().contains("SG.wrong"), "{refused}");
    assert_eq!(proxy.calls.load(Ordering::SeqCst), 1);
}

/// Takes the bounds of time off each call, as a service that does not know them.
async fn without_windows(mut request: Request, next: Next) -> Response {
    let path = request.uri().to_string();
    if let Some((path, query)) = path.split_once('?') {
        let pairs = query.split('&').filter(|pair| !pair.contains("_time="));
        let query: Vec<&str> = pairs.collect();
        *request.uri_mut() = format!("{path}?{}", query.join("&")).parse().unwrap();
    }
    next.run(request).await
}

#[tokio::test]
async fn lists_are_read_from_a_service_without_windows_and_later_grow() {
    let (from, to) = (Service::start("ada").await, Service::start("ada").await);
    from.suppress(SuppressionList::Bounces, "b", 1_101).await;
    let router = from
        .router()
        .layer(axum::middleware::from_fn(without_windows));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    let folder = tempfile::tempdir().unwrap();
    let flags = from_service(&address, &from.tenant.key, folder.path());
    let report = to.import(&flags).await.unwrap();
    assert_eq!(report.parts["bounces"].created, 1_101, "{}", report.text());
    from.suppress(SuppressionList::Bounces, "later", 2).await;
    let report = to.import(&flags).await.unwrap();
    let bounces = report.parts["bounces"];
    assert_eq!(
        (bounces.read, bounces.created, bounces.unchanged),
        (1_103, 2, 1_101)
    );
}

#[tokio::test]
async fn a_security_policy_stays_there_and_its_parse_setting_comes_without() {
    let (from, to) = (Service::start("ada").await, Service::start("ada").await);
    let domain = serde_json::json!({"domain": "example.com"});
    from.call("POST", "/v3/whitelabel/domains", domain).await;
    let policy = serde_json::json!({"name": "signed", "signature": {"enabled": true}});
    let path = "/v3/user/webhooks/security/policies";
    let policy = from.call("POST", path, policy).await;
    let path = "/v3/user/webhooks/parse/settings";
    let setting = serde_json::json!({"hostname": "in.example.com", "url": "https://hooks.example.com/in",
        "security_policy": policy["policy"]["id"]});
    let setting = from.call("POST", path, setting).await;
    assert_eq!(setting["security_policy"], policy["policy"]["id"]);
    let (address, _proxy) = serve(&from, |_, _| Fault::None, to.services.clock.clone()).await;
    let folder = tempfile::tempdir().unwrap();
    let flags = from_service(&address, &from.tenant.key, folder.path());
    let report = to.import(&flags).await.unwrap();
    assert_eq!(report.parts["parse_settings"].created, 1);
    let text = report.text();
    assert!(
        text.contains("1 security policies of received mail"),
        "{text}"
    );
    let note = "parse setting in.example.com: its posts have no signature";
    assert!(text.contains(note), "{text}");
    let own = to.call("GET", path, serde_json::Value::Null).await;
    assert!(own["result"][0].get("security_policy").is_none(), "{own}");
}

#[tokio::test]
async fn a_second_run_reads_and_takes_what_is_new() {
    let (from, to) = (Service::start("ada").await, Service::start("ada").await);
    from.fill().await;
    let (address, proxy) = serve(&from, |_, _| Fault::None, to.services.clock.clone()).await;
    let folder = tempfile::tempdir().unwrap();
    let flags = from_service(&address, &from.tenant.key, folder.path()) + " --trust-senders";
    to.import(&flags).await.unwrap();
    let first = proxy.calls.swap(0, Ordering::SeqCst);
    from.services.clock.advance(60);
    to.services.clock.advance(60);
    let left = serde_json::json!({"recipient_emails": ["new@example.org"]});
    from.call("POST", "/v3/asm/suppressions/global", left.clone())
        .await;
    from.call("POST", "/v3/asm/groups/2/suppressions", left)
        .await;
    let report = to.import(&flags).await.unwrap();
    assert_eq!(report.parts["unsubscribes"].created, 1, "{}", report.text());
    assert_eq!(
        report.parts["group_members"].created,
        1,
        "{}",
        report.text()
    );
    assert_eq!(report.parts["bounces"].created, 0);
    assert_eq!(report.parts["templates"].unchanged, 2);
    let second = proxy.calls.load(Ordering::SeqCst);
    assert!(second < first * 2 / 3, "{second} calls after {first}");
}
