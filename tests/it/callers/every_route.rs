//! What holds for every route, whatever it does.

use std::collections::BTreeSet;

use posthaste_http::Access;
use posthaste_model::scope;
use serde_json::json;

use super::{House, fill, routes};

/// Routes that need a key but no scope of it, and why.
const ANY_KEY: [(&str, &str); 1] = [("GET /v3/scopes", "a key may always know what it may do")];

/// What each route needs, as a person reads it: `METHOD path scope`, `any` for any key. By the rule
/// of API facts, section 1 (the path, its ids left out, and the verb), but for what it says of
/// senders and domains, and for routes that the contract has no word for.
const SCOPES: &str = include_str!("scopes.txt");

/// Paths that need no key at all, by how they begin, and why.
const PUBLIC: [(&str, &str); 10] = [
    ("/", "where things are, the same for every reader"),
    (
        "/forwards/confirm/",
        "a link in a mail to an address that reports are to be forwarded to, with a secret token",
    ),
    (
        "/senders/verify/",
        "a link in a mail to whoever shall confirm an address, signed",
    ),
    (
        "/downloads/messages/",
        "a link that a key asked for, signed",
    ),
    ("/wf/open", "the pixel of a mail, signed"),
    ("/ls/click", "a link of a mail, signed"),
    (
        "/docs",
        "the API reference and the catalogue of errors, the same for every reader",
    ),
    ("/openapi.json", "the API reference as a document"),
    (
        "/console",
        "pages ask for the session themselves, and lead who has none to the page to sign in",
    ),
    ("/asm/", "the pages behind a mail's own links, signed"),
];

/// Ids that nobody was given.
const ODD_IDS: [&str; 10] = [
    "%ff",
    "%00",
    "..%2f..%2fx",
    "%20",
    "-1",
    "99999999999999999999",
    "*",
    "%F0%9F%98%80",
    "%23",
    "A%0d%0aX-Injected:%201",
];

#[tokio::test]
async fn every_route_names_a_scope_that_exists() {
    let all = routes().await;
    assert!(all.len() > 40, "{} routes", all.len());
    for route in all {
        let name = format!("{} {}", route.method, route.path);
        match route.access {
            Access::Scope(scope) => assert!(scope::is_known(scope), "{name}: {scope}"),
            Access::Either(one, other) => {
                assert!(scope::is_known(one), "{name}: {one}");
                assert!(scope::is_known(other), "{name}: {other}");
            }
            Access::OneOf(scopes) => {
                for scope in scopes {
                    assert!(scope::is_known(scope), "{name}: {scope}");
                }
            }
            Access::AnyKey => {
                assert!(
                    ANY_KEY.iter().any(|(known, _)| *known == name),
                    "{name} takes any key"
                );
            }
            Access::Public => {
                let known = PUBLIC.iter().any(|(begin, _)| match *begin {
                    "/" => route.path == "/",
                    begin => route.path.starts_with(begin),
                });
                assert!(known, "{name} takes no key");
            }
        }
    }
}

#[tokio::test]
async fn the_function_behind_the_gateway_knows_every_path() {
    let declared: BTreeSet<&str> = routes().await.iter().map(|route| route.path).collect();
    let declared: Vec<&str> = declared.into_iter().collect();
    assert_eq!(api_keys::PATHS, declared, "functions/api-keys/src/paths.rs");
}

#[tokio::test]
async fn every_route_needs_the_scope_that_is_written_down_for_it() {
    let mut declared = Vec::new();
    for route in routes().await {
        let needs = match route.access {
            Access::Scope(scope) => scope.to_owned(),
            Access::Either(one, other) => format!("{one}|{other}"),
            Access::OneOf(scopes) => scopes.join("|"),
            Access::AnyKey => "any".to_owned(),
            Access::Public => continue,
        };
        declared.push(format!("{} {} {needs}", route.method, route.path));
    }
    declared.sort_unstable();
    let mut written: Vec<&str> = SCOPES.lines().collect();
    written.sort_unstable();
    let missing: Vec<_> = declared
        .iter()
        .filter(|d| !written.contains(&d.as_str()))
        .collect();
    let stale: Vec<_> = written
        .iter()
        .filter(|w| !declared.iter().any(|d| d == *w))
        .collect();
    assert!(
        missing.is_empty() && stale.is_empty(),
        "declared: {missing:#?}\nwritten: {stale:#?}"
    );
}

/// A key that opens no route that has a scope.
async fn poor_key(house: &House) -> String {
    let tenant = house.tenant("other").await;
    tenant.restricted(house.host.store(), &["2fa_exempt"]).await
}

#[tokio::test]
async fn every_route_wants_a_key_that_holds_its_scope() {
    let mut house = House::open().await;
    let mut poor = poor_key(&house).await;
    for (number, route) in routes().await.into_iter().enumerate() {
        // Another service in time: one takes so many wrong keys of an address, and then refuses all of them.
        if number % 100 == 99 {
            house = House::open().await;
            poor = poor_key(&house).await;
        }
        let path = fill(route.path, |_| "x".to_owned());
        let name = format!("{} {path}", route.method);
        let nobody = house.ask(&route.method, &path, &[], b"{}").await;
        let wrong = house
            .call(&route.method, &path, &"A".repeat(69), &json!({}))
            .await;
        let poor = house.call(&route.method, &path, &poor, &json!({})).await;
        let want = match route.access {
            Access::Scope(_) | Access::Either(..) | Access::OneOf(_) => (401, 401, 403),
            Access::AnyKey => (401, 401, 200),
            Access::Public => continue,
        };
        assert_eq!((nobody.status, wrong.status, poor.status), want, "{name}");
        for answer in [nobody, wrong, poor] {
            answer.keeps_the_contract(&name);
        }
    }
}

#[tokio::test]
async fn a_parent_acts_for_its_own_only_on_every_route() {
    let house = House::open().await;
    let other = house.tenant("other").await;
    let foreign = format!("account-id {}", house.host.account);
    let bearer = format!("Bearer {}", other.key);
    for route in routes().await {
        if route.access == Access::Public {
            continue;
        }
        let path = fill(route.path, |_| "x".to_owned());
        for named in ["nobody", foreign.as_str()] {
            let headers = [("authorization", bearer.as_str()), ("on-behalf-of", named)];
            let answer = house.ask(&route.method, &path, &headers, b"{}").await;
            assert_eq!(
                answer.status, 403,
                "{} {path} for {named}: {}",
                route.method, answer.body
            );
            answer.keeps_the_contract(&path);
        }
    }
}

#[tokio::test]
async fn no_id_makes_a_route_fail() {
    let house = House::open().await;
    let body = super::strangers::body(&super::strangers::Ids::absent());
    let long = "a".repeat(3_000);
    for route in routes()
        .await
        .iter()
        .filter(|route| route.path.contains('{'))
    {
        for odd in ODD_IDS.into_iter().chain([long.as_str()]) {
            let path = fill(route.path, |_| odd.to_owned());
            let short: String = path.chars().take(100).collect();
            let name = format!("{} {short}", route.method);
            let answer = house.call(&route.method, &path, house.key(), &body).await;
            assert!(
                answer.status < 500,
                "{name}: {} {}",
                answer.status,
                answer.body
            );
            assert!(answer.headers.get("x-injected").is_none(), "{name}");
            // Pages for people are no JSON.
            if route.access != Access::Public {
                answer.keeps_the_contract(&name);
            }
        }
    }
}

#[tokio::test]
async fn no_body_makes_a_route_fail() {
    let house = House::open().await;
    let deep = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n)).into_bytes();
    let inside = [&b"{\"name\":"[..], &deep(50_000), b"}"].concat();
    let bodies = [
        b"".to_vec(),
        b"[]".to_vec(),
        b"null".to_vec(),
        b"5".to_vec(),
        b"\"x\"".to_vec(),
        b"{".to_vec(),
        b"{\"name\":1,\"name\":2}".to_vec(),
        b"{\"name\":1e999}".to_vec(),
        b"{\"name\":\"\xff\"}".to_vec(),
        b"{\"name\":\"\\ud800\"}".to_vec(),
        b"{\"name\":{},\"url\":[],\"ips\":5,\"ids\":\"x\",\"status\":[],\"batch_id\":{}}".to_vec(),
        deep(50_000),
        inside,
    ];
    // One account a body, so that no rate limit answers instead of the route.
    for body in &bodies {
        let tenant = house.tenant("other").await;
        let bearer = format!("Bearer {}", tenant.key);
        for route in routes().await.iter().filter(|route| route.method != "GET") {
            let path = fill(route.path, |_| "x".to_owned());
            let short = String::from_utf8_lossy(body.get(..60).unwrap_or(body)).into_owned();
            let name = format!("{} {path} {short}", route.method);
            let headers = [("authorization", bearer.as_str())];
            let answer = house.ask(&route.method, &path, &headers, body).await;
            assert!(
                answer.status < 500,
                "{name}: {} {}",
                answer.status,
                answer.body
            );
            if route.access != Access::Public {
                answer.keeps_the_contract(&name);
            }
        }
    }
}
