//! Links under an account's own host: mailed, clicked over HTTPS, and of no use to anybody else.

use std::time::Duration;

use posthaste_testkit::relay::{Relay, Script};
use posthaste_testkit::{Certificate, Receiver, Reply, TlsProxy};
use reqwest::{Certificate as Trusted, Client, Method};
use serde_json::{Value, json};

use crate::service::Service;

const LINKS: &str = "/v3/whitelabel/links";
const TARGET: &str = "https://shop.example/sale?a=1";
const PATIENCE: Duration = Duration::from_secs(60);

/// A service, the relay that its mails arrive at, and a browser that reaches `links.shop.example` by HTTPS.
struct Scene {
    service: Service,
    relay: Relay,
    receiver: Receiver,
    browser: Client,
    _proxy: TlsProxy,
}

impl Scene {
    async fn new() -> Self {
        let relay = Relay::start(Script::new()).await;
        let url = relay.url().parse().expect("a relay");
        let service = Service::with(|settings| settings.relay = Some(url)).await;
        let receiver = Receiver::start().await.expect("a receiver");
        receiver.always(Reply::with_body(200, ""));
        let hook = json!({"url": receiver.url(), "enabled": true, "click": true});
        let path = "/v3/user/webhooks/event/settings";
        let made = service.call(Method::POST, path, &hook).await;
        assert_eq!(made.status(), 201);
        let host = "links.shop.example";
        let certificate = Certificate::of(&[host]);
        let proxy = TlsProxy::start(&certificate, service.host().api).await;
        let trusted = Trusted::from_pem(certificate.pem.as_bytes()).expect("a certificate");
        let browser = Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .tls_certs_only([trusted])
            .https_only(true)
            .resolve(host, proxy.address);
        Self {
            service,
            relay,
            receiver,
            browser: browser.build().expect("a client"),
            _proxy: proxy,
        }
    }

    /// Creates a branded link, and validates it.
    async fn brand(&self, subdomain: &str, domain: &str) -> i64 {
        let body = json!({"domain": domain, "subdomain": subdomain});
        let link = self.service.call(Method::POST, LINKS, &body).await;
        assert_eq!(link.status(), 201);
        let link: Value = link.json().await.expect("JSON");
        let id = link["id"].as_i64().expect("an id");
        let path = format!("{LINKS}/{id}/validate");
        let valid = self.service.call(Method::POST, &path, &json!({})).await;
        let valid: Value = valid.json().await.expect("JSON");
        assert_eq!(valid["valid"], true, "{valid}");
        self.settle().await;
        id
    }

    /// Accounts that are cached apply for ten seconds.
    async fn settle(&self) {
        self.service.pass(10).await;
    }

    /// Sends a mail, for a subuser if one is named; the link in it as it arrived at the relay.
    async fn link(&self, from: &str, subuser: Option<&str>) -> String {
        let mail = json!({
            "personalizations": [{"to": [{"email": "ann@reader.example"}]}],
            "from": {"email": from},
            "subject": "Sale",
            "content": [{"type": "text/html", "value": format!("<a href=\"{TARGET}\">Look</a>")}],
            "tracking_settings": {"click_tracking": {"enable": true}, "open_tracking": {"enable": false}},
        });
        let before = self.relay.received().len();
        let mut ask = self.service.ask(Method::POST, "/v3/mail/send");
        if let Some(name) = subuser {
            ask = ask.header("on-behalf-of", name);
        }
        let sent = ask.bearer_auth(self.service.key()).json(&mail).send().await;
        assert_eq!(sent.expect("an answer").status(), 202);
        let arrived = async || {
            let mails = self.relay.received();
            mails.get(before).map(|mail| mail.bytes.clone())
        };
        let bytes = self.service.wait_for("the mail arrives", arrived).await;
        let text = String::from_utf8_lossy(&bytes);
        // Quoted-printable: the token needs no other escapes.
        let text = text.replace("=\r\n", "").replace("=3D", "=");
        let (_, href) = text.split_once("href=\"").expect("a link");
        let (link, _) = href.split_once('"').expect("its end");
        link.to_owned()
    }

    /// Follows a link as the reader of the mail; where it leads.
    async fn click(&self, link: &str) -> Option<String> {
        let answer = self
            .browser
            .get(link)
            .header("user-agent", "Thunderbird/140.0");
        let answer = answer.send().await.expect("the host answers by TLS");
        let leads = answer.headers().get("location").cloned();
        assert_eq!(
            answer.status(),
            if leads.is_some() { 302 } else { 404 },
            "{link}"
        );
        leads.map(|url| url.to_str().expect("text").to_owned())
    }

    /// The next event of the webhook, which must be a click.
    async fn clicked(&self) {
        let post = self.receiver.next(PATIENCE).await.expect("a post");
        let events: Vec<Value> = serde_json::from_slice(&post.body).expect("JSON");
        for event in &events {
            assert_eq!(
                (&event["event"], &event["url"]),
                (&json!("click"), &json!(TARGET))
            );
        }
        assert_eq!(events.len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_is_clicked_under_the_accounts_own_host_over_https() {
    let scene = Scene::new().await;
    let shared = scene.link("me@shop.example", None).await;
    assert!(shared.starts_with("http://127.0.0.1:"), "{shared}");

    let id = scene.brand("links", "shop.example").await;
    let own = scene.link("me@news.shop.example", None).await;
    assert!(
        own.starts_with("https://links.shop.example/ls/click?upn="),
        "{own}"
    );
    assert_eq!(scene.click(&own).await.as_deref(), Some(TARGET));
    scene.clicked().await;
    // Mail from elsewhere has the host of the service: the link is not the default.
    let other = scene.link("me@other.example", None).await;
    assert!(other.starts_with("http://127.0.0.1:"), "{other}");

    // Once it is deleted no mail has it, and what is out leads where it led.
    let path = format!("{LINKS}/{id}");
    let deleted = scene.service.call(Method::DELETE, &path, &json!({})).await;
    assert_eq!(deleted.status(), 204);
    scene.settle().await;
    let later = scene.link("me@shop.example", None).await;
    assert!(later.starts_with("http://127.0.0.1:"), "{later}");
    assert_eq!(scene.click(&own).await.as_deref(), Some(TARGET));
    scene.clicked().await;
    // Under the host of the service too, should the account's lead nowhere any more.
    let (_, path) = own.split_once("/ls/").expect("a path");
    let (base, _) = later.split_once("/ls/").expect("a path");
    let swapped = scene
        .service
        .follow(&format!("{base}/ls/{path}"), None)
        .await;
    assert_eq!(swapped.headers()["location"], TARGET);
    scene.clicked().await;
    scene.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_branded_host_is_no_open_redirect_for_others() {
    let scene = Scene::new().await;
    let shared = scene.link("me@shop.example", None).await;
    scene.brand("links", "shop.example").await;
    scene.brand("links", "rival.example").await;
    let rival = scene.link("me@rival.example", None).await;
    for (link, base) in [
        (&shared, "http://"),
        (&rival, "https://links.rival.example/"),
    ] {
        assert!(link.starts_with(base), "{link}");
        let (_, path) = link.split_once("/ls/").expect("a path");
        let swapped = format!("https://links.shop.example/ls/{path}");
        assert_eq!(scene.click(&swapped).await, None, "{link}");
    }
    scene.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subusers_mail_has_the_link_that_its_parent_lends() {
    let scene = Scene::new().await;
    let sub = json!({"username": "shop", "email": "shop@example.com", "password": "Secr3t!passw0rd", "ips": []});
    let made = scene.service.call(Method::POST, "/v3/subusers", &sub).await;
    assert_eq!(made.status(), 200);
    let id = scene.brand("links", "shop.example").await;
    let alone = scene.link("me@anywhere.example", Some("shop")).await;
    assert!(alone.starts_with("http://127.0.0.1:"), "{alone}");

    let path = format!("{LINKS}/{id}/subuser");
    let lent = scene
        .service
        .call(Method::POST, &path, &json!({"username": "shop"}))
        .await;
    assert_eq!(lent.status(), 200);
    scene.settle().await;
    let own = scene.link("me@anywhere.example", Some("shop")).await;
    assert!(own.starts_with("https://links.shop.example/"), "{own}");
    assert_eq!(scene.click(&own).await.as_deref(), Some(TARGET));

    let path = format!("{LINKS}/subuser?username=shop");
    let taken = scene.service.call(Method::DELETE, &path, &json!({})).await;
    assert_eq!(taken.status(), 204);
    scene.settle().await;
    let back = scene.link("me@anywhere.example", Some("shop")).await;
    assert!(back.starts_with("http://127.0.0.1:"), "{back}");
    scene.service.stop().await;
}
