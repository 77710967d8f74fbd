//! The links of a mail, followed: pixel, redirect, pages.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod hosts;
mod machines;
mod preferences;

use std::ops::Deref;

use http::Method;
use posthaste_model::{AccountId, EventKind, MessageId, Timestamp};
use posthaste_queue::EventBatch;
use posthaste_render::{KeyRing, LinkAction, LinkPart, LinkToken};
use posthaste_store::{GroupSaved, StoreError, SuppressionList};
use posthaste_testkit::{Response, Services};
use tracking::{App, routes};

const EMAIL: &str = "Reader@example.com";

struct TestApp {
    app: posthaste_testkit::TestApp,
    account: AccountId,
    keys: KeyRing,
}

impl Deref for TestApp {
    type Target = posthaste_testkit::TestApp;

    fn deref(&self) -> &Self::Target {
        &self.app
    }
}

impl TestApp {
    async fn new() -> Self {
        let secret = "1:BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc";
        let services = Services::start().await.var("STACK_SECRET", secret);
        let keys = secret.parse().unwrap();
        let app = posthaste_testkit::TestApp::on(services, App::from_env, routes).await;
        let account = app.tenant.account.id.clone();
        Self { app, account, keys }
    }

    fn link(&self, path: &str, action: LinkAction) -> String {
        self.link_of(None, path, action)
    }

    /// A link that was made with a host of the account's own, or without one.
    fn link_of(&self, host: Option<&str>, path: &str, action: LinkAction) -> String {
        let token = LinkToken {
            account: self.account.clone(),
            message: MessageId::from_bytes([5; 16]),
            recipient: 3,
            email: EMAIL.to_owned(),
            issued: Timestamp(1),
            host: host.map(str::to_owned),
            action,
        };
        format!("{path}?upn={}", self.keys.sign(&token))
    }

    async fn get(&self, path: &str) -> Response {
        self.api.get(path).send().await
    }

    async fn post(&self, path: &str, form: &'static str) -> Response {
        self.api.ask(Method::POST, path).body(form).send().await
    }

    fn published(&self) -> Vec<posthaste_model::Event> {
        let texts = self.queues.drain("events");
        let read =
            |(text, _): &(String, std::time::Duration)| EventBatch::from_text(text).unwrap().events;
        texts.iter().flat_map(read).collect()
    }

    async fn group(&self, name: &str) -> i64 {
        match self
            .store
            .create_group(&self.account, (name, "about"), false)
            .await
            .unwrap()
        {
            GroupSaved::Done(group) => group.id,
            other => panic!("{other:?}"),
        }
    }

    async fn is_on(&self, list: SuppressionList) -> bool {
        let known = self.store.suppressed(&self.account, "reader@example.com");
        known.await.unwrap().on(list).is_some()
    }
}

fn ring(keys: &[(u8, [u8; 32])]) -> KeyRing {
    let keys: Vec<(u8, &[u8])> = keys.iter().map(|(id, key)| (*id, key.as_slice())).collect();
    KeyRing::new(&keys).unwrap()
}

#[tokio::test]
async fn the_pixel_is_shown_to_everybody_and_counted_when_it_is_ours() {
    let env = TestApp::new().await;
    let link = env.link(
        "/wf/open",
        LinkAction::Open {
            part: LinkPart::Html,
        },
    );
    let answer = env.get(&link).await.expect(200);
    assert_eq!(answer.header("content-type"), "image/gif");
    assert!(answer.body.starts_with(b"GIF89a"));
    let published = env.published();
    assert_eq!(published.len(), 1);
    assert_eq!(published[0].kind, EventKind::Open);
    assert_eq!(published[0].email, EMAIL);
    assert_eq!(published[0].recipient, 3);
    assert_eq!(published[0].sg_machine_open, Some(true));
    for other in [
        "/wf/open",
        "/wf/open?upn=x",
        &env.link("/wf/open", LinkAction::Unsubscribe),
    ] {
        env.get(other).await.expect(200);
    }
    assert!(env.published().is_empty());
}

#[tokio::test]
async fn a_click_leads_to_the_signed_url_and_nowhere_else() {
    let env = TestApp::new().await;
    let url = "https://example.com/ä?q=a b&x=%20".to_owned();
    let link = env.link(
        "/ls/click",
        LinkAction::Click {
            part: LinkPart::Html,
            index: 4,
            url: url.clone(),
        },
    );
    let answer = env.get(&link).await.expect(302);
    assert_eq!(
        answer.header("location"),
        "https://example.com/%C3%A4?q=a%20b&x=%20"
    );
    let published = env.published();
    assert_eq!(published[0].url.as_deref(), Some(url.as_str()));
    assert_eq!(published[0].url_offset.as_ref().unwrap().index, 4);
    // A token with one letter changed, and one of another secret.
    let mut forged = link.clone();
    let last = if forged.pop() == Some('A') { 'B' } else { 'A' };
    forged.push(last);
    let foreign = format!(
        "/ls/click?upn={}",
        ring(&[(1, [8; 32])]).sign(&env.keys.verify(link.split_once("upn=").unwrap().1).unwrap())
    );
    for bad in [
        forged.as_str(),
        foreign.as_str(),
        "/ls/click?upn=https://evil.example",
    ] {
        let answer = env.get(bad).await.expect(404);
        assert!(answer.headers.get("location").is_none());
    }
    assert!(env.published().is_empty());
}

#[tokio::test]
async fn a_click_leads_to_a_host_without_a_slash_that_was_not_there() {
    let env = TestApp::new().await;
    for (url, want) in [
        ("https://example.com", "https://example.com"),
        ("https://example.com/", "https://example.com/"),
        (
            "http://example.com:8080?q=/a",
            "http://example.com:8080?q=/a",
        ),
        ("https://example.com#/top", "https://example.com#/top"),
        (
            "https://b\u{fc}cher.example",
            "https://xn--bcher-kva.example",
        ),
        ("https://example.com/.", "https://example.com/"),
        ("https://example.com/a/", "https://example.com/a/"),
        ("mailto:ann@example.com", "mailto:ann@example.com"),
    ] {
        let action = LinkAction::Click {
            part: LinkPart::Html,
            index: 0,
            url: url.to_owned(),
        };
        let link = env.link("/ls/click", action);
        let answer = env.get(&link).await.expect(302);
        assert_eq!(answer.header("location"), want, "{url}");
    }
}

#[tokio::test]
async fn opening_the_page_leaves_nothing_and_the_button_does() {
    let env = TestApp::new().await;
    let link = env.link("/asm/unsubscribe", LinkAction::Unsubscribe);
    let page = env.get(&link).await.expect(200);
    let text = String::from_utf8_lossy(&page.body).into_owned();
    assert!(
        text.contains(EMAIL) && text.contains("<form method=\"post\">"),
        "{text}"
    );
    assert!(!env.is_on(SuppressionList::Unsubscribes).await);
    // RFC 8058, section 3.2.
    env.post(&link, "List-Unsubscribe=One-Click")
        .await
        .expect(200);
    assert!(env.is_on(SuppressionList::Unsubscribes).await);
    env.post(&link, "").await.expect(200);
    let published = env.published();
    assert!(
        published
            .iter()
            .all(|event| event.kind == EventKind::Unsubscribe),
        "{published:?}"
    );
}

#[tokio::test]
async fn who_left_sees_what_the_account_decided() {
    let env = TestApp::new().await;
    let link = env.link("/asm/unsubscribe", LinkAction::Unsubscribe);
    let landing = async |url: &str, html: &str| {
        let (url, html) = (url.to_owned(), html.to_owned());
        let done = env.store.change_settings(&env.account, |settings| {
            settings.landing.url.clone_from(&url);
            settings.landing.html.clone_from(&html);
            Ok::<_, StoreError>(())
        });
        done.await.unwrap().unwrap();
        env.post(&link, "").await.expect(200)
    };
    let text = |answer: &Response| String::from_utf8_lossy(&answer.body).into_owned();

    let own = landing("", "<h1>Bye</h1><script>evil()</script>").await;
    assert!(text(&own).starts_with("<h1>Bye</h1>"));
    let policy = own.header("content-security-policy").to_owned();
    assert!(policy.starts_with("sandbox allow-popups;") && policy.contains("default-src 'none'"));

    let led = landing("https://example.com/bye?a=\"1\"&b=ä", "<h1>Bye</h1>").await;
    assert_eq!(
        led.header("refresh"),
        "0; url=https://example.com/bye?a=%221%22&b=%C3%A4"
    );
    let shown = text(&led);
    assert!(
        shown.contains("href=\"https://example.com/bye?a=&#34;1&#34;&#38;b=ä\""),
        "{shown}"
    );
    assert!(shown.contains("is unsubscribed"), "{shown}");

    // Nobody looks at the answer to a mail client.
    let silent = env.post(&link, "List-Unsubscribe=One-Click").await;
    let silent = silent.expect(200);
    assert!(silent.headers.get("refresh").is_none() && !text(&silent).contains("Bye"));
    assert!(env.is_on(SuppressionList::Unsubscribes).await);
}

#[tokio::test]
async fn a_group_is_left_and_joined_again_on_the_preferences_page() {
    let env = TestApp::new().await;
    let (news, offers) = (env.group("News <b>").await, env.group("Offers").await);
    let one = env.link(
        "/asm/unsubscribe",
        LinkAction::GroupUnsubscribe { group: news },
    );
    env.post(&one, "").await.expect(200);
    assert!(env.is_on(SuppressionList::Group(news)).await);
    assert_eq!(env.published()[0].asm_group_id, Some(news));

    let display = vec![news, offers];
    let link = env.link(
        "/asm/preferences",
        LinkAction::Preferences {
            group: news,
            display,
        },
    );
    let page = env.get(&link).await.expect(200);
    let text = String::from_utf8_lossy(&page.body).into_owned();
    assert!(text.contains("News &#60;b&#62;"), "{text}");
    assert!(text.contains(&format!("name=\"g{news}\">")), "{text}");
    assert!(
        text.contains(&format!("name=\"g{offers}\" checked>")),
        "{text}"
    );

    assert_eq!((news, offers), (1, 2));
    env.post(&link, "g1=on").await.expect(200);
    assert!(!env.is_on(SuppressionList::Group(news)).await);
    assert!(env.is_on(SuppressionList::Group(offers)).await);
    let kinds: Vec<_> = env.published().iter().map(|event| event.kind).collect();
    assert_eq!(
        kinds,
        [EventKind::GroupResubscribe, EventKind::GroupUnsubscribe]
    );
    // The same once more changes nothing.
    env.post(&link, "g1=on").await.expect(200);
    assert!(env.published().is_empty());
    env.post(&link, "g1=on&all=on").await.expect(200);
    assert!(env.is_on(SuppressionList::Unsubscribes).await);
}

#[tokio::test]
async fn who_leaves_a_group_that_is_gone_leaves_everything() {
    let env = TestApp::new().await;
    let link = env.link(
        "/asm/unsubscribe",
        LinkAction::GroupUnsubscribe { group: 77 },
    );
    let page = env.get(&link).await.expect(200);
    let text = String::from_utf8_lossy(&page.body).into_owned();
    assert!(text.contains("no more mail?"), "{text}");
    env.post(&link, "").await.expect(200);
    assert!(
        env.is_on(SuppressionList::Unsubscribes).await
            && !env.is_on(SuppressionList::Group(77)).await
    );
    assert_eq!(env.published()[0].kind, EventKind::Unsubscribe);
}

#[tokio::test]
async fn links_of_an_older_secret_still_work() {
    let env = TestApp::new().await;
    let link = env.link("/asm/unsubscribe", LinkAction::Unsubscribe);
    let (_, token) = link.split_once("upn=").unwrap();
    assert!(ring(&[(2, [9; 32]), (1, [7; 32])]).verify(token).is_ok());
    assert!(ring(&[(2, [9; 32])]).verify(token).is_err());
}
