//! Links under the hosts of accounts.

use http::Method;
use posthaste_model::Timestamp;
use posthaste_render::{LinkAction, LinkPart};

use crate::TestApp;

const OWN: &str = "links.shop.example";
const OTHER: &str = "links.rival.example";

fn click() -> LinkAction {
    LinkAction::Click {
        part: LinkPart::Html,
        index: 0,
        url: "https://anywhere.example/".to_owned(),
    }
}

/// An instance where both hosts are branded.
async fn app() -> TestApp {
    let app = TestApp::new().await;
    for host in [OWN, OTHER] {
        app.store.mark_branded(host, Timestamp(1)).await.unwrap();
    }
    app
}

#[tokio::test]
async fn a_branded_host_leads_only_where_its_own_account_sends() {
    let app = app().await;
    let (own, shared) = (
        app.link_of(Some(OWN), "/ls/click", click()),
        app.link("/ls/click", click()),
    );
    for (link, host, status) in [
        (&own, OWN, 302),
        (&own, "LINKS.Shop.Example.:443", 302),
        // Where the host is not passed on, and where all links work.
        (&own, "post.example", 302),
        (&shared, "post.example", 302),
        (&shared, "127.0.0.1:3000", 302),
        // Anybody can make such links to anywhere.
        (&own, OTHER, 404),
        (&shared, OTHER, 404),
        (&shared, "Links.Rival.Example:443", 404),
        (&shared, "links.rival.example.", 404),
    ] {
        let answer = app.api.get(link).header("host", host).send().await;
        let answer = answer.expect(status);
        let leads = !answer.header("location").is_empty();
        assert_eq!(leads, status == 302, "{host}");
    }
    // Those refused are no clicks either.
    assert_eq!(app.published().len(), 5);
}

#[tokio::test]
async fn a_branded_host_before_a_proxy_is_heeded_too() {
    let app = app().await;
    for (made, status) in [(None, 404), (Some(OTHER), 404), (Some(OWN), 302)] {
        let link = app.link_of(made, "/ls/click", click());
        let ask = app.api.get(&link).header("host", "abc.execute-api.example");
        let ask = ask.header("x-forwarded-host", OWN);
        ask.send().await.expect(status);
    }
    assert_eq!(app.published().len(), 1);
}

#[tokio::test]
async fn no_form_of_another_account_is_shown_under_a_branded_host() {
    let app = app().await;
    let link = app.link("/asm/unsubscribe", LinkAction::Unsubscribe);
    for method in [Method::GET, Method::POST] {
        let ask = app.api.ask(method, &link).header("host", OWN);
        ask.send().await.expect(404);
    }
    // Mails show no broken image, and nobody is counted.
    let open = LinkAction::Open {
        part: LinkPart::Html,
    };
    let pixel = app.link("/wf/open", open);
    app.api
        .get(&pixel)
        .header("host", OWN)
        .send()
        .await
        .expect(200);
    assert!(app.published().is_empty());
}
