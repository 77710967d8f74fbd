//! The test post.

use http::StatusCode;
use posthaste_testkit::{Receiver, Reply};
use serde_json::{Value, json};

use crate::test_app::{TestApp, message};

const ALL: &str = "/v3/user/webhooks/event/settings";

#[tokio::test]
async fn a_test_posts_one_event_of_each_kind_and_says_when_it_fails() {
    const TEST: &str = "/v3/user/webhooks/event/test";
    let app = TestApp::new().await;
    let url = app.receiver.url();
    let (status, _) = app.call("POST", TEST, Some(json!({"url": url}))).await;
    assert_eq!(status, StatusCode::NO_CONTENT);
    let posts = app.receiver.posts();
    let events: Vec<Value> = serde_json::from_slice(&posts[0].body).unwrap();
    assert_eq!(events.len(), 11);
    assert_eq!(posts[0].header("user-agent"), "SendGrid Event API");
    assert_eq!(
        posts[0].header("x-twilio-email-event-webhook-signature"),
        ""
    );

    let id = app.create(json!({"url": url})).await;
    app.call(
        "PATCH",
        &format!("{ALL}/signed/{id}"),
        Some(json!({"enabled": true})),
    )
    .await;
    let signed = json!({"url": url, "id": id});
    assert_eq!(
        app.call("POST", TEST, Some(signed)).await.0,
        StatusCode::NO_CONTENT
    );
    let time = posts[0]
        .header("x-twilio-email-event-webhook-timestamp")
        .to_owned();
    let last = app.receiver.posts().pop().unwrap();
    assert_ne!(last.header("x-twilio-email-event-webhook-signature"), "");
    assert_ne!(last.header("x-twilio-email-event-webhook-timestamp"), time);

    app.receiver.script([Reply::status(500)]);
    let (status, body) = app.call("POST", TEST, Some(json!({"url": url}))).await;
    let want = "The test events were not delivered: answered 500";
    assert_eq!((status, message(&body)), (StatusCode::BAD_REQUEST, want));
    for (body, status) in [
        (json!({}), 400),
        (json!({"url": "http://10.0.0.1/"}), 400),
        (json!({"url": url, "id": "nonsense"}), 404),
        (json!({"url": url, "oauth_client_id": "id"}), 400),
    ] {
        let got = app.call("POST", TEST, Some(body.clone())).await;
        assert_eq!(got.0.as_u16(), status, "{body}");
    }
    assert_eq!(app.receiver.posts().len(), 3);
}

#[tokio::test]
async fn a_test_is_authorised_by_the_stored_secret_where_the_webhook_lives_and_nowhere_else() {
    const TEST: &str = "/v3/user/webhooks/event/test";
    let app = TestApp::new().await;
    let [server, elsewhere] = [Receiver::start().await, Receiver::start().await];
    let (server, elsewhere) = (server.unwrap(), elsewhere.unwrap());
    for server in [&server, &elsewhere] {
        let token = r#"{"access_token":"t1","expires_in":3600}"#;
        server.always(Reply::with_body(200, token));
    }
    let (url, token_url) = (app.receiver.url(), server.url());
    let hook = json!({"url": url, "oauth_client_id": "client", "oauth_client_secret": "hush",
        "oauth_token_url": token_url});
    let id = app.create(hook).await;
    let test = async |body: Value| {
        let (status, body) = app.call("POST", TEST, Some(body)).await;
        (status.as_u16(), body["errors"][0]["field"].clone())
    };

    let done = (204, Value::Null);
    assert_eq!(test(json!({"url": url, "id": id})).await, done);
    let same = json!({"url": url, "id": id, "oauth_token_url": format!("{token_url}#x")});
    assert_eq!(test(same).await, done);
    // The base64 of `client:hush`.
    let asked: Vec<_> = server.posts();
    let shown: Vec<_> = asked
        .iter()
        .map(|ask| ask.header("authorization"))
        .collect();
    assert_eq!(shown, ["Basic Y2xpZW50Omh1c2g="; 2]);
    assert_eq!(app.receiver.posts()[1].header("authorization"), "Bearer t1");

    let refused = (400, json!("oauth_client_secret"));
    for body in [
        json!({"url": url, "id": id, "oauth_token_url": elsewhere.url()}),
        json!({"url": url, "id": id, "oauth_token_url": format!("{token_url}x")}),
        json!({"url": elsewhere.url(), "id": id}),
        json!({"url": url, "oauth_client_id": "client", "oauth_token_url": token_url}),
    ] {
        assert_eq!(test(body.clone()).await, refused, "{body}");
    }
    assert!(elsewhere.posts().is_empty());
    assert_eq!((server.posts().len(), app.receiver.posts().len()), (2, 2));

    // A caller that gives the secret may use it with any URL.
    let own = json!({"url": url, "id": id, "oauth_token_url": elsewhere.url(),
        "oauth_client_secret": "mine"});
    assert_eq!(test(own).await, done);
    // The base64 of `client:mine`.
    let asked = elsewhere.posts().remove(0);
    assert_eq!(asked.header("authorization"), "Basic Y2xpZW50Om1pbmU=");
}

#[tokio::test]
async fn a_test_with_details_shows_the_post_and_the_answer() {
    const TEST: &str = "/v3/user/webhooks/event/test";
    let app = TestApp::new().await;
    let url = app.receiver.url();
    let id = app.create(json!({"url": url})).await;
    let path = format!("{ALL}/signed/{id}");
    app.call("PATCH", &path, Some(json!({"enabled": true})))
        .await;
    let asked = json!({"url": url, "id": id, "details": true});
    let (status, seen) = app.call("POST", TEST, Some(asked.clone())).await;
    assert_eq!(status, StatusCode::OK, "{seen}");
    let post = app.receiver.posts().pop().unwrap();
    assert_eq!(seen["body"].as_str().unwrap().as_bytes(), post.body);
    let signature = "x-twilio-email-event-webhook-signature";
    assert_eq!(seen["headers"][signature], post.header(signature));
    assert_eq!(
        (&seen["delivered"], &seen["status_code"]),
        (&json!(true), &json!(200))
    );
    // What fails is shown as well, and not refused.
    app.receiver.script([Reply::status(503)]);
    let (status, seen) = app.call("POST", TEST, Some(asked)).await;
    assert_eq!(status, StatusCode::OK, "{seen}");
    assert_eq!(
        (&seen["delivered"], &seen["status_code"]),
        (&json!(false), &json!(503))
    );
    let gone = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}/", listener.local_addr().unwrap())
    };
    let unreachable = json!({"url": gone, "details": true});
    let (status, seen) = app.call("POST", TEST, Some(unreachable)).await;
    assert_eq!(status, StatusCode::OK, "{seen}");
    assert_eq!(
        (&seen["delivered"], &seen["status_code"]),
        (&json!(false), &json!(null))
    );
    assert!(
        seen["answer"]
            .as_str()
            .unwrap()
            .starts_with("no connection"),
        "{seen}"
    );
    let refused = json!({"url": "http://10.0.0.1/", "details": true});
    assert_eq!(
        app.call("POST", TEST, Some(refused)).await.0,
        StatusCode::BAD_REQUEST
    );
}
