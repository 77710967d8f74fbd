//! What holds for every setting.

use posthaste_testkit::Tenant;
use serde_json::{Value, json};

use crate::TestApp;

fn switches(listed: &Value) -> Vec<(String, bool)> {
    let result = listed["result"].as_array().unwrap();
    let item = |item: &Value| {
        assert!(item["title"].is_string() && item["description"].is_string());
        let name = item["name"].as_str().unwrap().to_owned();
        (name, item["enabled"].as_bool().unwrap())
    };
    result.iter().map(item).collect()
}

#[tokio::test]
async fn the_lists_show_every_setting_and_its_switch() {
    let app = TestApp::new().await;
    for (list, names) in [
        (
            "/v3/mail_settings",
            &[
                "address_whitelist",
                "bounce_purge",
                "footer",
                "forward_bounce",
                "forward_spam",
                "kept_mail",
                "spam_check",
                "template",
            ][..],
        ),
        (
            "/v3/tracking_settings",
            &["click", "google_analytics", "open", "subscription"],
        ),
    ] {
        for name in names {
            let mut on = json!({"enabled": true});
            if name.starts_with("forward") {
                on["email"] = json!("reports@example.com");
            }
            app.set(&format!("{list}/{name}"), &on).await;
            let got = switches(&app.get(list).await.expect(200).json());
            let listed: Vec<_> = got.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(listed, names);
            // Those up to here are on.
            let on = names.iter().position(|known| known == name).unwrap();
            assert!(
                got.iter().enumerate().all(|(i, (_, is))| *is == (i <= on)),
                "{got:?}"
            );
        }
    }
    let page = app.get("/v3/mail_settings?limit=2&offset=6").await;
    let page = switches(&page.expect(200).json());
    let names: Vec<_> = page.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["spam_check", "template"]);
    app.get("/v3/mail_settings?limit=x").await.expect(400);
}

#[tokio::test]
async fn changes_at_the_same_time_lose_nothing() {
    let app = TestApp::new().await;
    let texts = ["utm_source", "utm_medium", "utm_term", "utm_content"];
    let path = "/v3/tracking_settings/google_analytics";
    let bodies = texts.map(|name| json!({name: name}));
    let all = bodies.iter().map(|body| app.patch(path, body));
    let all: Vec<_> = all.collect();
    let mut done = 0;
    for answer in join(all).await {
        answer.expect(200);
        done += 1;
    }
    let got = app.get(path).await.json();
    for name in texts {
        assert_eq!(got[name], name);
    }
    let account = app.store.account(&app.tenant.account.id).await.unwrap();
    assert_eq!(account.unwrap().settings, done);
}

/// Runs futures at the same time on one thread.
async fn join<F: Future>(all: Vec<F>) -> Vec<F::Output> {
    let mut all: Vec<_> = all.into_iter().map(Box::pin).collect();
    let mut ends: Vec<Option<F::Output>> = all.iter().map(|_| None).collect();
    std::future::poll_fn(|cx| {
        for (one, end) in all.iter_mut().zip(&mut ends) {
            if end.is_none()
                && let std::task::Poll::Ready(value) = one.as_mut().poll(cx)
            {
                *end = Some(value);
            }
        }
        if ends.iter().all(Option::is_some) {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
    ends.into_iter().flatten().collect()
}

#[tokio::test]
async fn settings_are_the_accounts_own_and_a_parent_may_set_a_subusers() {
    let app = TestApp::new().await;
    let path = "/v3/tracking_settings/open";
    app.set(path, &json!({"enabled": true})).await;
    let other = Tenant::new(&app.store, "other", app.hand.now()).await;
    let got = app.api.get(path).key(&other.key).send().await;
    assert_eq!(got.expect(200).json(), json!({"enabled": false}));

    let sub = app.tenant.subuser(&app.store, "sub").await;
    let ask = app.api.patch(path).key(&app.tenant.key).as_if("sub");
    ask.json(&json!({"enabled": false}))
        .send()
        .await
        .expect(200);
    assert_eq!(app.get(path).await.json(), json!({"enabled": true}));
    let ask = app.api.patch(path).key(&app.tenant.key).as_if("sub");
    ask.json(&json!({"enabled": true})).send().await.expect(200);
    let got = app.api.get(path).key(&sub.key).send().await;
    assert_eq!(got.expect(200).json(), json!({"enabled": true}));
}

#[tokio::test]
async fn every_setting_has_a_scope_of_its_own() {
    let app = TestApp::new().await;
    let scopes = ["mail_settings.footer.read", "tracking_settings.open.update"];
    let key = app.tenant.restricted(&app.store, &scopes).await;
    for (path, read, write) in [
        ("/v3/mail_settings", 403, 405),
        ("/v3/mail_settings/footer", 200, 403),
        ("/v3/mail_settings/template", 403, 403),
        ("/v3/tracking_settings/open", 403, 200),
    ] {
        let got = app.api.get(path).key(&key).send().await;
        assert_eq!(got.status, read, "GET {path}");
        let ask = app.api.patch(path).key(&key).json(&json!({}));
        assert_eq!(ask.send().await.status, write, "PATCH {path}");
    }
}
