//! A data folder of an earlier release, opened by this one.
//!
//! `tests/golden/data-RELEASE` holds the folder as that release left it, and `data-RELEASE.json` what its
//! API said of it. A new release adds its own, by `cargo test -p posthaste-tests --test it make_the_folder
//! -- --ignored`; the old ones stay, and must go on working.

use std::path::{Path, PathBuf};

use posthaste::HostSettings;
use posthaste_store::CopyState;
use reqwest::{Method, StatusCode};
use serde_json::{Map, Value, json};

use crate::service::{Service, mail};

/// The releases whose folders are kept.
const RELEASES: [&str; 1] = ["0.1"];

/// What is asked again after the upgrade, of what has no place of its own.
const LISTS: [&str; 10] = [
    "/v3/api_keys",
    "/v3/access_settings/whitelist",
    "/v3/asm/groups",
    "/v3/asm/suppressions/global/gone@example.com",
    "/v3/suppression/unsubscribes",
    "/v3/subusers",
    "/v3/user/scheduled_sends",
    "/v3/user/webhooks/event/settings/all",
    "/v3/user/webhooks/parse/settings",
    "/v3/whitelabel/domains",
];

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("golden")
        .join(name)
}

/// A service on this folder, with real randomness: ids must differ from those in the folder.
async fn on(folder: &Path, change: impl FnOnce(&mut HostSettings)) -> Service {
    Service::with(|settings| {
        settings.data = Some(folder.to_owned());
        settings.entropy = posthaste_runtime::entropy();
        change(settings);
    })
    .await
}

async fn made(service: &Service, path: &str, body: &Value) -> Value {
    let answer = service.call(Method::POST, path, body).await;
    let status = answer.status();
    let text = answer.text().await.expect("a body");
    assert!(status.is_success(), "{path}: {status} {text}");
    serde_json::from_str(&text).unwrap_or_default()
}

async fn said(service: &Service, path: &str) -> Value {
    let answer = service.call(Method::GET, path, &Value::Null).await;
    assert_eq!(answer.status(), StatusCode::OK, "{path}");
    answer.json().await.expect("JSON")
}

/// Sends with an idempotency key.
async fn once(service: &Service) -> (String, bool) {
    let call = service.ask(Method::POST, "/v3/mail/send");
    let call = call.bearer_auth(service.key());
    let call = call.header("idempotency-key", "order-7");
    let answer = call.json(&mail("once@example.com")).send().await;
    let answer = answer.expect("the API answers");
    assert_eq!(answer.status(), StatusCode::ACCEPTED);
    let replayed = answer.headers().contains_key("idempotency-replayed");
    let id = answer.headers()["x-message-id"].to_str();
    (id.expect("text").to_owned(), replayed)
}

/// Fills the folder with one of each thing, and mails that wait: for the relay, for their time, for
/// their batch.
async fn fill(service: &Service) -> Map<String, Value> {
    let template = json!({"name": "receipt", "generation": "dynamic"});
    let template = made(service, "/v3/templates", &template).await;
    let template = template["id"].as_str().expect("an id").to_owned();
    let version =
        json!({"name": "first", "subject": "For {{name}}", "html_content": "Hello {{name}}"});
    made(
        service,
        &format!("/v3/templates/{template}/versions"),
        &version,
    )
    .await;
    for (path, body) in [
        (
            "/v3/api_keys",
            json!({"name": "sends", "scopes": ["mail.send"]}),
        ),
        (
            "/v3/access_settings/whitelist",
            json!({"ips": [{"ip": "127.0.0.1/32"}]}),
        ),
        (
            "/v3/asm/groups",
            json!({"name": "news", "description": "Once a week"}),
        ),
        (
            "/v3/asm/suppressions/global",
            json!({"recipient_emails": ["gone@example.com"]}),
        ),
        (
            "/v3/subusers",
            json!({"username": "sub", "email": "sub@example.com", "password": "x", "ips": []}),
        ),
        (
            "/v3/user/webhooks/event/settings",
            json!({"url": "http://127.0.0.1:8999/hook", "enabled": false, "delivered": true}),
        ),
        ("/v3/whitelabel/domains", json!({"domain": "shop.example"})),
        (
            "/v3/user/webhooks/parse/settings",
            json!({"hostname": "in.shop.example", "url": "http://127.0.0.1:8999/mail"}),
        ),
    ] {
        made(service, path, &body).await;
    }
    let batch = made(service, "/v3/mail/batch", &json!({})).await;
    let batch = batch["batch_id"].as_str().expect("an id").to_owned();
    let hour = service.now() + 3600;
    let mut later = mail("later@example.com");
    later["send_at"] = hour.into();
    let mut paused = mail("paused@example.com");
    paused["send_at"] = hour.into();
    paused["batch_id"] = batch.as_str().into();
    let later = service.send(&later).await;
    let paused = service.send(&paused).await;
    let hold = json!({"batch_id": batch, "status": "pause"});
    made(service, "/v3/user/scheduled_sends", &hold).await;
    let (waiting, _) = once(service).await;
    service
        .copy(&waiting, |row| row.state == CopyState::Deferred)
        .await;

    let mut known = Map::from_iter([
        ("waiting".to_owned(), waiting.into()),
        ("later".to_owned(), later.into()),
        ("paused".to_owned(), paused.into()),
        ("batch".to_owned(), batch.into()),
        ("template".to_owned(), template.as_str().into()),
    ]);
    let mut lists = Map::new();
    for path in LISTS
        .into_iter()
        .chain([format!("/v3/templates/{template}").as_str()])
    {
        lists.insert(path.to_owned(), said(service, path).await);
    }
    known.insert("lists".to_owned(), lists.into());
    known
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "makes the folder of this release: once, when it is released"]
async fn make_the_folder() {
    let version = env!("CARGO_PKG_VERSION");
    let (release, _) = version.rsplit_once('.').expect("a version");
    let folder = golden(&format!("data-{release}"));
    assert!(!folder.exists(), "{} is there already", folder.display());
    let service = on(&folder, |settings| {
        // Nobody listens there: the mail stays on the queue.
        let nobody = "smtp://127.0.0.1:9?tls=none";
        settings.relay = Some(nobody.parse().expect("a relay's address"));
    })
    .await;
    let known = fill(&service).await;
    service.stop().await;
    let text = serde_json::to_string_pretty(&known).expect("JSON");
    std::fs::write(golden(&format!("data-{release}.json")), text + "\n").expect("written");
}

/// Copies a folder, for the old release's own must stay as it is.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("the folder of a release") {
        let entry = entry.expect("an entry");
        let to = to.join(entry.file_name());
        if entry.file_type().expect("a kind").is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).expect("copied");
        }
    }
}

/// Whether an answer says all that another one said; a later release may add fields to an object.
fn holds(now: &Value, then: &Value) -> bool {
    match (now, then) {
        (Value::Object(now), Value::Object(then)) => then
            .iter()
            .all(|(name, then)| now.get(name).is_some_and(|now| holds(now, then))),
        (Value::Array(now), Value::Array(then)) => {
            now.len() == then.len() && now.iter().zip(then).all(|(now, then)| holds(now, then))
        }
        _ => now == then,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_folder_of_an_earlier_release_goes_on() {
    for release in RELEASES {
        let text = std::fs::read_to_string(golden(&format!("data-{release}.json")));
        let known: Value = serde_json::from_str(&text.expect("what was known")).expect("JSON");
        let place = tempfile::tempdir().expect("a folder");
        copy(&golden(&format!("data-{release}")), place.path());
        let service = on(place.path(), |_| {}).await;

        // What the account had is there, by the same key.
        let lists = known["lists"].as_object().expect("lists");
        assert!(lists.len() > LISTS.len());
        for (path, want) in lists {
            let now = said(&service, path).await;
            assert!(holds(&now, want), "{release}: {path}: {now}\nwas {want}");
        }
        // A request that was answered then is answered the same now.
        let (id, replayed) = once(&service).await;
        assert_eq!(
            (id.as_str(), replayed),
            (known["waiting"].as_str().expect("an id"), true)
        );

        // What waited for the relay, and for its time, leaves; what is paused does not.
        service.pass(1800).await;
        assert_eq!(
            service.mails(1).await[0]["Subject"],
            "Hello once@example.com"
        );
        service.pass(1800).await;
        assert_eq!(
            service.mails(2).await[0]["Subject"],
            "Hello later@example.com"
        );
        let path = format!(
            "/v3/user/scheduled_sends/{}",
            known["batch"].as_str().expect("an id")
        );
        let resumed = service.call(Method::DELETE, &path, &Value::Null).await;
        assert_eq!(resumed.status(), StatusCode::NO_CONTENT);
        service.pass(60).await;
        assert_eq!(
            service.mails(3).await[0]["Subject"],
            "Hello paused@example.com"
        );
        for name in ["waiting", "later", "paused"] {
            let id = known[name].as_str().expect("an id");
            service
                .copy(id, |row| row.state == CopyState::Delivered)
                .await;
        }

        // The template still renders, for a new mail.
        let mut receipt = mail("new@example.com");
        let receipt_fields = receipt.as_object_mut().expect("an object");
        for name in ["subject", "content"] {
            receipt_fields.remove(name);
        }
        receipt["template_id"] = known["template"].clone();
        receipt["personalizations"][0]["dynamic_template_data"] = json!({"name": "Ada"});
        service.send(&receipt).await;
        assert_eq!(service.mails(4).await[0]["Subject"], "For Ada");
        service.stop().await;
    }
}
