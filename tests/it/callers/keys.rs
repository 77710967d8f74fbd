//! What keys of few scopes open.

use posthaste_http::Access;
use posthaste_model::scope;
use reqwest::Method;
use serde_json::json;

use super::strangers::{self, Ids};
use super::{House, routes};

/// The scopes that open a route.
fn scopes(access: Access) -> Vec<&'static str> {
    match access {
        Access::Scope(one) => vec![one],
        Access::Either(one, other) => vec![one, other],
        Access::OneOf(scopes) => scopes.to_vec(),
        Access::AnyKey | Access::Public => Vec::new(),
    }
}

#[tokio::test]
async fn a_key_with_only_the_other_name_of_a_scope_opens_its_routes() {
    let house = House::open().await;
    let body = strangers::body(&Ids::absent());
    let mut opened = 0;
    for route in routes().await {
        for name in scopes(route.access)
            .into_iter()
            .flat_map(scope::other_names)
        {
            let tenant = house.tenant("other").await;
            let key = tenant.restricted(house.host.store(), &[*name]).await;
            let path = Ids::absent().path(&route);
            let answer = house.call(&route.method, &path, &key, &body).await;
            let asked = format!("{} {path} with {name}", route.method);
            assert!(
                ![401, 403].contains(&answer.status),
                "{asked}: {}",
                answer.body
            );
            opened += 1;
        }
    }
    assert!(opened > 8, "{opened} routes");
    for (name, path) in [
        ("messages.read", "/v3/messages?limit=10"),
        ("messages.read", "/v3/logs"),
        ("stats.global.read", "/v3/stats?start_date=2026-01-01"),
    ] {
        let key = house
            .tenant("other")
            .await
            .restricted(house.host.store(), &[name])
            .await;
        let method = if path == "/v3/logs" {
            Method::POST
        } else {
            Method::GET
        };
        let answer = house.call(&method, path, &key, &json!({})).await;
        assert_eq!(answer.status, 200, "{path} with {name}: {}", answer.body);
    }
}

#[tokio::test]
async fn a_billing_key_opens_the_billing_endpoints_and_no_other() {
    const BILLING: [&str; 4] = [
        "/v3/user/account",
        "/v3/user/cost",
        "/v3/user/credits",
        "/v3/user/sending_limits",
    ];
    let house = House::open().await;
    let tenant = house.tenant("other").await;
    let key = tenant
        .restricted(house.host.store(), &["billing.read"])
        .await;
    let body = strangers::body(&Ids::absent());
    for route in routes().await {
        if matches!(route.access, Access::Public | Access::AnyKey) {
            continue;
        }
        let path = Ids::absent().path(&route);
        let answer = house.call(&route.method, &path, &key, &body).await;
        let want = if BILLING.contains(&route.path) {
            200
        } else {
            403
        };
        assert_eq!(
            answer.status, want,
            "{} {path}: {}",
            route.method, answer.body
        );
    }
}
