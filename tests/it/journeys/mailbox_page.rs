//! The mailbox page hides nothing: what becomes of every copy, whether a mail was recorded or not.

use posthaste_testkit::relay::{At, Does, Relay, Script};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::service::{Service, mail};

/// The page, once it holds all of these texts.
async fn page_with(service: &Service, path: &str, texts: &[&str]) -> String {
    let ask = async || {
        let html = page(service, path).await;
        texts.iter().all(|text| html.contains(text)).then_some(html)
    };
    let what = format!("{texts:?} in {path}");
    service.wait_for(&what, ask).await
}

async fn page(service: &Service, path: &str) -> String {
    let url = format!("http://{}{path}", service.host().mailbox);
    let answer = service.follow(&url, None).await;
    answer.text().await.unwrap()
}

async fn post(service: &Service, path: &str, form: &'static str) -> StatusCode {
    let url = format!("http://{}{path}", service.host().mailbox);
    service.follow(&url, Some(form)).await.status()
}

/// The page of the first line of the list.
fn first(html: &str) -> String {
    let link = html.split("href=\"/message/").nth(1).expect("a line");
    let id = link.split('"').next().expect("a link");
    format!("/message/{id}")
}

async fn batch(service: &Service) -> String {
    let made = service
        .call(Method::POST, "/v3/mail/batch", &json!({}))
        .await;
    let made: Value = made.json().await.unwrap();
    made["batch_id"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_copy_has_its_state_and_its_reason() {
    let service = Service::start().await;
    let suppressed = json!({"recipient_emails": ["ann@example.com"]});
    let path = "/v3/asm/suppressions/global";
    let made = service.call(Method::POST, path, &suppressed).await;
    assert_eq!(made.status(), 201);

    for to in [
        "ann@example.com",
        "bounced@outcome.test",
        "deferred@outcome.test",
        "bob@example.com",
    ] {
        service.send(&mail(to)).await;
    }
    let mut sandboxed = mail("box@example.com");
    sandboxed["mail_settings"] = json!({"sandbox_mode": {"enable": true}});
    let checked = service
        .call(Method::POST, "/v3/mail/send", &sandboxed)
        .await;
    assert_eq!(checked.status(), 200);

    let states = [
        ">dropped</b>",
        ">bounced</b>",
        ">deferred</b>",
        ">sandboxed</b>",
        "1 new",
    ];
    let html = page_with(&service, "/", &states).await;
    let places = [
        "Hello box@example.com",
        "Hello bob@example.com",
        "Hello deferred@outcome.test",
        "Hello bounced@outcome.test",
        "Hello ann@example.com",
    ]
    .map(|subject| html.find(subject).expect(subject));
    assert!(places.is_sorted(), "in the order of sending");

    let dropped = page_with(&service, "/?q=is:dropped", &["Unsubscribed Address"]).await;
    let dropped = page(&service, &first(&dropped)).await;
    for text in [
        "Hello ann@example.com",
        ">dropped</b>",
        "Unsubscribed Address",
    ] {
        assert!(dropped.contains(text), "{text}: {dropped}");
    }
    let bounced = page(&service, "/?q=is:bounced").await;
    assert!(bounced.contains("user unknown"), "{bounced}");
    // Only what the relay took is a mail to Mailpit's calls.
    assert_eq!(service.recorded().await, Some(1));
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn scheduled_mail_is_listed_cancelled_paused_and_moved() {
    let service = Service::start().await;
    let at = service.now() + 7_200;
    let mut later = mail("late@example.com");
    later["send_at"] = at.into();
    service.send(&later).await;
    let html = page(&service, "/").await;
    assert!(
        html.contains(">scheduled ") && html.contains("Hello late@example.com"),
        "{html}"
    );
    let own = format!("{}/schedule", first(&html));
    assert_eq!(
        post(&service, &own, "action=pause").await,
        StatusCode::BAD_REQUEST
    );
    assert_eq!(
        post(&service, &own, "action=cancel").await,
        StatusCode::SEE_OTHER
    );
    let html = page(&service, "/").await;
    assert!(html.contains(">cancelled</b>"), "{html}");
    service.pass(7_200).await;
    page_with(&service, "/", &[">dropped</b>", "Cancelled"]).await;

    let mut held = mail("held@example.com");
    held["send_at"] = (service.now() + 7_200).into();
    held["batch_id"] = batch(&service).await.into();
    service.send(&held).await;
    let own = format!("{}/schedule", first(&page(&service, "/").await));
    for (form, state) in [
        ("action=pause", ">paused "),
        ("action=resume", ">scheduled "),
    ] {
        assert_eq!(
            post(&service, &own, form).await,
            StatusCode::SEE_OTHER,
            "{form}"
        );
        let html = page(&service, "/").await;
        assert!(html.contains(state), "{form}: {html}");
    }
    assert_eq!(service.recorded().await, Some(0));
    assert_eq!(
        post(&service, &own, "action=now").await,
        StatusCode::SEE_OTHER
    );
    service.pass(60).await;
    assert_eq!(
        service.mails(1).await[0]["Subject"],
        "Hello held@example.com"
    );
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mail_that_leaves_by_a_relay_is_listed_with_how_it_ended() {
    let script = Script::new().on_recipient(
        At::RcptTo,
        "bob@example.com",
        Does::Say("550 5.1.1 no such Bob".into()),
    );
    let relay = Relay::start(script).await;
    let url = relay.url();
    let parsed = url.parse().expect("a relay's URL");
    let service = Service::with(|settings| settings.relay = Some(parsed)).await;
    let html = page(&service, "/").await;
    assert!(!html.contains("goes no further"), "{html}");
    service.send(&mail("ann@example.com")).await;
    service.send(&mail("bob@example.com")).await;
    let html = page_with(&service, "/", &[">delivered</b>", ">bounced</b>"]).await;
    assert!(html.contains("no such Bob") && html.contains("Hello ann@example.com"));
    let delivered = page(&service, "/?q=is:delivered").await;
    let delivered = page(&service, &first(&delivered)).await;
    assert!(
        delivered.contains("Handed to smtp://127.0.0.1:"),
        "{delivered}"
    );
    assert_eq!(service.recorded().await, Some(0));
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_erased_address_is_erased_on_the_page() {
    let service = Service::start().await;
    service.send(&mail("ann@example.com")).await;
    service.send(&mail("bob@example.com")).await;
    service.mails(2).await;
    let path = "/v3/messages/recipients/Ann@example.com";
    let erased = service.call(Method::DELETE, path, &json!({})).await;
    assert_eq!(erased.status(), 202);
    service.pass(60).await;
    let html = page(&service, "/").await;
    assert!(
        !html.contains("ann@example.com") && html.contains("bob@example.com"),
        "{html}"
    );
    assert_eq!(service.recorded().await, Some(1));
    service.stop().await;
}
