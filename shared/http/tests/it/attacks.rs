//! What somebody may try who has read how proxies and parsers fail.

use axum::http::Method;
use posthaste_http::{Access, Routes};
use posthaste_testkit::Api;

use crate::TestApp;

#[tokio::test]
async fn only_the_path_as_it_is_written_finds_a_route() {
    let app = TestApp::new().await;
    for (path, status) in [
        ("/v3/templates", 200),
        ("//v3/templates", 200),
        ("///v3/templates", 200),
        ("/v3/templates?x=/../y", 200),
        ("/v3//templates", 404),
        ("/v3/./templates", 404),
        ("/v3/x/../templates", 404),
        ("/v3/%2e/templates", 404),
        ("/%76%33/templates", 404),
        ("/v3%2ftemplates", 404),
        ("/v3/templates/", 404),
        ("/V3/templates", 404),
        ("/v3/templates;x=1", 404),
        ("/v3/templates%00", 404),
        ("/v2/../v3/templates", 404),
        ("//evil.example/v3/templates", 404),
    ] {
        let answer = app.api.get(path).key(&app.tenant.key).send().await;
        assert_eq!(answer.status.as_u16(), status, "{path}");
        if status == 404 {
            let (field, message) = answer.error();
            assert_eq!(field, None, "{path}");
            assert_eq!(
                message, "not found: Posthaste does not serve this path",
                "{path}"
            );
        }
    }
}

#[tokio::test]
async fn no_trick_with_the_path_walks_around_the_guard() {
    let app = TestApp::new().await;
    for path in [
        "/v3/templates",
        "//v3/templates",
        "/v3/templates/%2e%2e",
        "/v3/templates/..%2fscopes",
        "/v3/templates/%ff",
        "/v3/templates/%00",
    ] {
        let answer = app.api.get(path).send().await.expect(401);
        assert_eq!(answer.error().1, "authorization required", "{path}");
    }
    // What a capture holds is data, whatever it looks like.
    let get = |path: &str| app.api.get(path).key(&app.tenant.key).send();
    assert_eq!(
        get("/v3/templates/..%2f..%2fx").await.expect(200).body,
        "../../x"
    );
    let (_, message) = get("/v3/templates/%ff").await.expect(404).error();
    assert!(message.contains("nothing with the id"), "{message}");
}

#[tokio::test]
async fn what_the_router_refuses_by_itself_has_our_shape() {
    let app = TestApp::new().await;
    let ask = app.api.get("/v3/loose/%ff").key(&app.tenant.key);
    let answer = ask.send().await.expect(400);
    assert_eq!(answer.error(), (None, "bad request".to_owned()));
    assert_eq!(answer.header("content-type"), "application/json");
    // An answer of a handler is its own, whatever its type.
    let ask = app.api.get("/v3/loose/x").key(&app.tenant.key);
    assert_eq!(ask.send().await.expect(200).body, "x");
}

#[tokio::test]
async fn a_second_key_in_the_headers_opens_nothing() {
    let app = TestApp::new().await;
    let (good, name) = (format!("Bearer {}", app.tenant.key), "authorization");
    let get = || app.api.get("/v3/templates");
    for (first, second) in [
        (good.as_str(), good.as_str()),
        (good.as_str(), "Bearer x"),
        ("Bearer x", good.as_str()),
    ] {
        get()
            .header(name, first)
            .header(name, second)
            .send()
            .await
            .expect(401);
    }
    for value in [
        format!("{good}, Bearer x"),
        format!("{good} x"),
        format!("Bearer{}", app.tenant.key),
        format!("Basic {}", app.tenant.key),
        format!("Bearer\t{}", app.tenant.key),
        format!("Bearer {}\u{e4}", app.tenant.key),
    ] {
        get().header(name, &value).send().await.expect(401);
    }
    for other in [
        "x-api-key",
        "proxy-authorization",
        "x-authorization",
        "cookie",
    ] {
        get().header(other, &good).send().await.expect(401);
    }
    let in_query = format!("/v3/templates?access_token={}", app.tenant.key);
    app.api.get(&in_query).send().await.expect(401);
}

#[tokio::test]
async fn a_method_in_a_header_is_not_a_method() {
    let app = TestApp::new().await;
    let poor = app.tenant.restricted(&app.store, &["templates.read"]).await;
    for name in [
        "x-http-method-override",
        "x-http-method",
        "x-method-override",
    ] {
        let ask = app
            .api
            .get("/v3/templates")
            .key(&poor)
            .header(name, "DELETE");
        ask.send().await.expect(200);
        let ask = app.api.post("/v3/templates").key(&poor).header(name, "GET");
        ask.send().await.expect(403);
    }
    for method in ["OPTIONS", "TRACE", "PROPFIND", "CONNECT"] {
        let method = method.parse().unwrap();
        let ask = app.api.ask(method, "/v3/templates").key(&app.tenant.key);
        let answer = ask.send().await.expect(405);
        assert_eq!(answer.error().1, "method not allowed");
        let cors = answer
            .headers
            .keys()
            .any(|name| name.as_str().starts_with("access-control"));
        assert!(!cors, "browsers stay outside");
    }
}

#[tokio::test]
async fn a_wrong_method_is_told_in_the_form_of_its_path() {
    let app = TestApp::new().await;
    let among = Routes::new(app.gate.clone()).with_fallback_paths(&["/v3/mail/send", "/v3/scopes"]);
    let rest = Api::new(among);
    for (path, want) in [
        (
            "/v3/mail/send",
            r#"{"errors":[{"message":"method not allowed","field":null,"help":{"text":"/docs/errors#unknown-path"}}]}"#,
        ),
        (
            "/v3/scopes",
            r#"{"errors":[{"field":null,"message":"method not allowed","help":{"text":"/docs/errors#unknown-path"}}]}"#,
        ),
    ] {
        let answer = rest.delete(path).send().await.expect(405);
        assert_eq!(answer.body, want);
    }
}

/// The address is known to the edge alone, which writes the body a second time.
#[tokio::test]
async fn an_error_with_the_address_of_its_help_has_the_length_of_its_body() {
    let app = TestApp::new().await;
    let gate = app.gate.clone();
    let gate = gate.with_public_url(Some("https://post.example"));
    let rest = Api::new(Routes::new(gate).with_fallback_paths(&["/v3/scopes"]));
    for (path, status) in [("/v3/scopes", 405), ("/v3/none", 404)] {
        let answer = rest.delete(path).send().await.expect(status);
        let body = answer.json();
        assert_eq!(
            body["errors"][0]["help"]["text"],
            "https://post.example/docs/errors#unknown-path"
        );
        let length = answer.body.len().to_string();
        assert_eq!(answer.header("content-length"), length, "{path}");
        let head = rest.ask(Method::HEAD, path).send().await.expect(status);
        assert_eq!(head.header("content-length"), length, "{path}");
        assert_eq!(head.body, "", "{path}");
    }
}

#[tokio::test]
async fn huge_headers_are_only_wrong() {
    let app = TestApp::new().await;
    let huge = "A".repeat(1 << 20);
    let get = || app.api.get("/v3/templates");
    get().key(&huge).send().await.expect(401);
    get()
        .key(&app.tenant.key)
        .as_if(&huge)
        .send()
        .await
        .expect(403);
    let many = (0..5_000).fold(get(), |ask, i| ask.header("x-many", &i.to_string()));
    many.key(&app.tenant.key).send().await.expect(200);
}

#[tokio::test]
async fn a_json_bomb_is_only_wrong() {
    let app = TestApp::new().await;
    let post = |body: String| {
        app.api
            .post("/v3/templates")
            .key(&app.tenant.key)
            .body(body)
    };
    let deep = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
    for (body, status) in [
        (deep(100), 200),
        (deep(200), 400),
        (deep(4_000_000), 400),
        ("{\"a\":".repeat(100_000), 400),
        ("1e400".to_owned(), 400),
        ("-0".to_owned(), 200),
        ("9".repeat(10_000), 400),
        ("\u{feff}{}".to_owned(), 400),
        ("{\"a\":\"\\ud800\"}".to_owned(), 400),
        ("{\"a\":NaN}".to_owned(), 400),
        ("{}{}".to_owned(), 400),
        ("{\"a\":1,}".to_owned(), 400),
    ] {
        let short: String = body.chars().take(20).collect();
        let answer = post(body).send().await;
        assert_eq!(answer.status.as_u16(), status, "{short}");
        if status == 400 {
            assert_eq!(
                answer.error().1,
                "request body is not valid JSON",
                "{short}"
            );
        }
    }
    let not_utf8 = app.api.post("/v3/templates").key(&app.tenant.key);
    not_utf8
        .body(&b"{\"a\":\"\xff\"}"[..])
        .send()
        .await
        .expect(400);
}

#[tokio::test]
async fn a_body_of_more_than_eight_mebibytes_is_too_large() {
    let app = TestApp::new().await;
    let body = |n: usize| format!("\"{}\"", "a".repeat(n - 2));
    let post = |n| {
        app.api
            .post("/v3/templates")
            .key(&app.tenant.key)
            .body(body(n))
    };
    post(8 << 20).send().await.expect(200);
    let error = post((8 << 20) + 1).send().await.expect(413).error();
    assert_eq!(error, (None, "content too large".to_owned()));
}

#[tokio::test]
async fn a_handler_that_panics_takes_nobody_with_it() {
    let app = TestApp::new().await;
    let answer = app
        .api
        .delete("/v3/templates")
        .key(&app.tenant.key)
        .send()
        .await
        .expect(500);
    assert_eq!(answer.error(), (None, "internal server error".to_owned()));
    app.api
        .get("/v3/templates")
        .key(&app.tenant.key)
        .send()
        .await
        .expect(200);
}

#[tokio::test]
async fn the_function_behind_the_gateway_says_why_it_cannot_serve_another_ones_route() {
    let app = TestApp::new().await;
    let routes = Routes::new(app.gate.clone())
        .at(Method::GET, "/v3/scopes", Access::Public, scopes)
        .with_state(());
    let api = Api::new(routes.with_fallback_paths(&["/v3/mail/send", "/v3/templates/{id}"]));
    for (path, status, message) in [
        ("/v3/mail/send", 405, "method not allowed"),
        ("//v3/mail/send", 404, "not found: the path begins with two"),
        (
            "///v3/templates/7",
            404,
            "not found: the path begins with two",
        ),
        ("//v3/nothing", 404, "not found"),
        ("/v3/nothing", 404, "not found"),
    ] {
        let answer = api.get(path).send().await.expect(status);
        let (field, told) = answer.error();
        assert_eq!(field, None);
        assert!(told.starts_with(message), "{path}: {told}");
        assert!(status != 404 || told.contains("two") == message.contains("two"));
    }
    for path in ["/v3/scopes", "//v3/scopes"] {
        api.get(path).send().await.expect(200);
    }
}

async fn scopes() {}
