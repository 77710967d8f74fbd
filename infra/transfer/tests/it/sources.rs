//! Other services that answer what none should: what of it is taken, what is listed, and where the import ends.

use std::sync::atomic::{AtomicUsize, Ordering};

use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use posthaste_transfer::{TransferError, TransferReport};
use serde_json::{Value, json};

use crate::fixture::{Service, from_service};
use crate::standin::{StandinCall, data, raw, refusal, standin};

const KEY: &str = "SG.SECRETSECRET.VERYSECRETVERYSECRET";

/// An import from a service that answers so; the account, and what came of it.
async fn imported(
    answer: impl Fn(&StandinCall) -> Option<Response> + Send + Sync + 'static,
) -> (Service, Result<TransferReport, TransferError>, bool) {
    let address = standin(answer).await;
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let to = Service::start("ada").await;
    let flags = from_service(&address, KEY, &state);
    let done = to.import(&flags).await;
    (to, done, state.exists())
}

fn not_taken(report: &TransferReport) -> Vec<String> {
    let list = report.not_taken.iter();
    list.map(|one| format!("{}: {}", one.what, one.reason))
        .collect()
}

#[tokio::test]
async fn an_address_without_an_api_ends_the_import_before_anything_is_written() {
    fn page() -> impl axum::response::IntoResponse {
        ([("content-type", "text/html")], "<html>login</html>")
    }
    let answers: [fn() -> Response; 4] = [
        || page().into_response(),
        || (StatusCode::NOT_FOUND, page()).into_response(),
        || (StatusCode::FOUND, [("location", "http://127.0.0.1:1/")]).into_response(),
        || raw("null"),
    ];
    for answer in answers {
        let (_, done, is_written) = imported(move |_| Some(answer())).await;
        let error = done.unwrap_err();
        assert_eq!((error.exit_code(), is_written), (1, false), "{error}");
    }
    let to = Service::start("ada").await;
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let flags = from_service("http://127.0.0.1:1", KEY, &state);
    let error = to.import(&flags).await.unwrap_err();
    assert_eq!((error.exit_code(), state.exists()), (1, false), "{error}");
}

#[tokio::test]
async fn a_service_that_refuses_every_call_is_no_success_and_repeats_no_key() {
    let echo = |call: &StandinCall| refusal(403, &format!("bad token {}", call.authorization));
    let (_, done, _) = imported(echo).await;
    let error = done.unwrap_err();
    assert_eq!(error.exit_code(), 1);
    assert!(!error.to_string().contains("SECRET"), "{error}");
    let (_, done, _) = imported(|call| match call.path.as_str() {
        "/v3/alerts" => refusal(403, &format!("bad token {}", call.authorization)),
        _ => None,
    })
    .await;
    let report = done.unwrap();
    assert_eq!(
        not_taken(&report),
        ["alerts: all that was not read: 403 bad token Bearer …"]
    );
}

#[tokio::test]
async fn what_a_valid_key_may_not_read_is_listed() {
    let (_, done, _) = imported(|call| match (call.path.as_str(), call.behalf.as_str()) {
        (path, _) if path.starts_with("/v3/sso") => refusal(401, "authorization required"),
        (_, "gone") => refusal(401, "authorization required"),
        ("/v3/subusers", _) if call.is_first() => data(
            &json!([{"username": "gone", "email": "g@example.org", "disabled": true},
                {"username": "here", "email": "h@example.org"}]),
        ),
        ("/v3/asm/groups", "here") => data(&json!([{"id": 7, "name": "Shop's"}])),
        _ => None,
    })
    .await;
    let report = done.unwrap();
    let list = not_taken(&report);
    assert!(
        list.iter()
            .any(|one| one.contains("sign-on") && one.contains("401")),
        "{list:?}"
    );
    let of = |name: &str| {
        report
            .subusers
            .iter()
            .find(|one| one.account == name)
            .unwrap()
    };
    assert_eq!(of("here").parts["groups"].created, 1);
    assert!(
        of("gone")
            .not_taken
            .iter()
            .all(|one| one.reason.starts_with("401"))
    );
    assert!(!of("gone").not_taken.is_empty());
}

#[tokio::test]
async fn lists_whose_pages_come_again_in_another_form_end() {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let (_, done, _) = imported(|call| {
        let n = CALLS.fetch_add(1, Ordering::SeqCst);
        match call.path.as_str() {
            "/v3/verified_senders" => data(&json!({"results": [{"id": n % 3, "from_email": "a@example.org", "n": n}]})),
            "/v3/templates" => data(&json!({"result": [{"id": format!("d-{:032x}", n % 2), "name": "T", "versions": []}],
                "_metadata": {"next": format!("http://x/?page_token={n}")}})),
            "/v3/suppression/blocks" => data(&json!([{"created": 1_700_000_000, "email": "a@example.org", "reason": n}])),
            "/v3/asm/suppressions" => data(&json!([{"email": "a@example.org", "group_id": 1, "created_at": n}])),
            _ => None,
        }
    })
    .await;
    done.unwrap();
    let calls = CALLS.load(Ordering::SeqCst);
    assert!(calls < 1_000, "{calls}");
}

#[tokio::test]
async fn an_object_where_a_list_belongs_is_asked_for_twice() {
    let (_, done, _) = imported(|call| match call.path.as_str() {
        "/v3/alerts" => data(&json!({"result": []})),
        _ => None,
    })
    .await;
    let list = not_taken(&done.unwrap());
    let why = "the answer is an object where a list belongs (2 attempts)";
    assert_eq!(list, [format!("alerts: all that was not read: {why}")]);
}

#[tokio::test]
async fn an_answer_beyond_its_bound_is_listed() {
    let (_, done, _) = imported(|call| match call.path.as_str() {
        "/v3/alerts" => Some(raw(format!("[{}]", " ".repeat(16 << 20)))),
        _ => None,
    })
    .await;
    let list = not_taken(&done.unwrap());
    assert_eq!(
        list,
        ["alerts: all that was not read: the answer exceeds 16777216 bytes (2 attempts)"]
    );
}

#[tokio::test]
async fn one_bad_item_is_all_that_is_lost() {
    let (to, done, _) = imported(|call| match call.path.as_str() {
        "/v3/api_keys" => data(&json!({"result": [{"api_key_id": "gone", "name": "Gone"}, {"api_key_id": "good", "name": "Good"}]})),
        "/v3/api_keys/good" => data(&json!({"api_key_id": "good", "name": "Good", "scopes": ["mail.send"]})),
        "/v3/asm/groups" => Some(raw(r#"[{"id":1,"name":"cut \ud83d"},{"id":2,"name":"whole"}]"#)),
        _ => None,
    })
    .await;
    let report = done.unwrap();
    assert_eq!(not_taken(&report), ["api_keys: Gone: 404 not found"]);
    assert_eq!(to.keys().await, ["Good"]);
    assert_eq!(report.parts["groups"].created, 2);
}

#[tokio::test]
async fn a_template_that_is_too_large_leaves_the_rest() {
    let texts = "x".repeat(8 << 20);
    let (_, done, _) = imported(move |call| match call.path.as_str() {
        "/v3/templates" => data(&json!({"result": [{"id": "large"}, {"id": "small"}], "_metadata": {}})),
        "/v3/templates/large" => {
            let heads: Vec<_> = (0..9).map(|n| json!({"id": format!("v{n}")})).collect();
            data(&json!({"id": "large", "name": "Large", "generation": "dynamic", "versions": heads}))
        }
        "/v3/templates/small" => data(&json!({"id": "small", "name": "Small", "generation": "dynamic", "versions": []})),
        path if path.contains("/versions/") => data(&json!({"id": path, "name": "v", "html_content": texts})),
        _ => None,
    })
    .await;
    let report = done.unwrap();
    assert_eq!(report.parts["templates"].created, 2);
    let list = not_taken(&report);
    let is_it =
        |one: &String| one.starts_with("templates: version v7 of large: the template exceeds");
    assert!(list.iter().any(is_it), "{list:?}");
}

#[tokio::test]
async fn bytes_that_are_no_text_are_replaced_and_said() {
    let (to, done, _) = imported(|call| match call.path.as_str() {
        "/v3/asm/groups" => Some(raw(
            &b"[{\"id\":1,\"name\":\"caf\xe9\"},{\"id\":2,\"name\":\"whole\"}]"[..],
        )),
        _ => None,
    })
    .await;
    let report = done.unwrap();
    assert_eq!(not_taken(&report), [""; 0]);
    let notes = ["groups: U+FFFD stands for bytes there that are no text"];
    assert_eq!(report.notes, notes);
    let groups = to.call("GET", "/v3/asm/groups", Value::Null).await;
    assert_eq!(groups[0]["name"], "caf\u{fffd}");
    assert_eq!(groups[1]["name"], "whole");
}

#[tokio::test]
async fn a_webhook_with_oauth_comes_switched_off_and_its_oauth_is_listed() {
    const URL: &str = "https://hooks.example.com/oauth";
    let (to, done, _) = imported(|call| match call.path.as_str() {
        "/v3/user/webhooks/event/settings/all" => data(
            &json!({"max_allowed": 5, "webhooks": [{"id": "a", "url": URL,
            "enabled": true, "bounce": true, "oauth_client_id": "client",
            "oauth_token_url": "https://auth.example.com/token"}]}),
        ),
        _ => None,
    })
    .await;
    let report = done.unwrap();
    let reason =
        "its secret cannot be read: set client id, token URL and secret, and switch the webhook on";
    let want = format!("event_webhooks: OAuth of webhook {URL}: {reason}");
    assert_eq!(not_taken(&report), [want]);
    assert_eq!(report.parts["event_webhooks"].created, 1);
    let all = "/v3/user/webhooks/event/settings/all";
    let hook = &to.call("GET", all, Value::Null).await["webhooks"][0];
    assert_eq!(
        (&hook["url"], &hook["enabled"], &hook["bounce"]),
        (&json!(URL), &json!(false), &json!(true))
    );
}

#[tokio::test]
async fn keys_beyond_those_of_an_account_are_listed() {
    const THERE: usize = 101;
    let address = standin(|call| match call.path.as_str() {
        "/v3/api_keys" => {
            let key = |n: usize| json!({"api_key_id": format!("k{n:03}")});
            data(&json!({"result": Vec::from_iter((0..THERE).map(key))}))
        }
        path => {
            let number = path.strip_prefix("/v3/api_keys/k")?;
            data(&json!({"name": format!("Key {number}"), "scopes": ["mail.send"]}))
        }
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let to = Service::start("ada").await;
    let flags = from_service(&address, KEY, &folder.path().join("state"));
    // The account's own key is one of its 100.
    for flags in [format!("{flags} --dry-run"), flags] {
        let report = to.import(&flags).await.unwrap();
        let keys = report.parts["api_keys"];
        assert_eq!((keys.created, keys.refused), (99, 2), "{flags}");
        let list = ["099", "100"]
            .map(|n| format!("api_keys: Key {n}: the account holds 100 keys already"));
        assert_eq!(not_taken(&report), list);
    }
    assert_eq!(to.keys().await.len(), 99);
}

#[tokio::test]
async fn keys_of_one_name_with_other_scopes_are_made() {
    let (to, done, _) = imported(|call| match call.path.as_str() {
        "/v3/api_keys" => data(
            &json!({"result": [{"api_key_id": "a"}, {"api_key_id": "b"}, {"api_key_id": "c"}]}),
        ),
        "/v3/api_keys/a" | "/v3/api_keys/c" => {
            data(&json!({"name": "Shop", "scopes": ["mail.send"]}))
        }
        "/v3/api_keys/b" => data(&json!({"name": "Shop", "scopes": ["templates.read"]})),
        _ => None,
    })
    .await;
    let keys = done.unwrap().parts["api_keys"];
    assert_eq!((keys.created, keys.unchanged), (2, 1));
    assert_eq!(to.keys().await, ["Shop", "Shop"]);
}

#[tokio::test]
async fn a_subuser_that_is_called_as_the_account_is_refused_with_the_reason() {
    let (to, done, _) = imported(|call| match call.path.as_str() {
        "/v3/subusers" if call.is_first() => {
            data(&json!([{"username": "ada", "email": "a@example.org"}]))
        }
        _ => None,
    })
    .await;
    let list = not_taken(&done.unwrap());
    assert!(
        list[0].starts_with("subusers: ada: the account itself"),
        "{list:?}"
    );
    let all = to.services.store.accounts().await.unwrap();
    let named = all.iter().filter(|account| account.username == "ada");
    assert_eq!(named.count(), 1);
}
