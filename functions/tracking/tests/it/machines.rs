//! Programs that follow links for people.

use http::Method;
use posthaste_model::EventKind;
use posthaste_render::{LinkAction, LinkPart};

use crate::TestApp;

const PERSON: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Thunderbird/140.0";
const MACHINE: &str = "Mozilla/5.0 (compatible; LinkScanner/1.0)";

fn links(app: &TestApp) -> [String; 2] {
    let click = LinkAction::Click {
        part: LinkPart::Html,
        index: 0,
        url: "https://example.com/".to_owned(),
    };
    let open = LinkAction::Open {
        part: LinkPart::Html,
    };
    [app.link("/wf/open", open), app.link("/ls/click", click)]
}

#[tokio::test]
async fn a_machine_that_opens_or_clicks_is_marked() {
    let app = TestApp::new().await;
    for (agent, marks) in [
        (PERSON, [Some(false), None]),
        (MACHINE, [Some(true), Some(true)]),
    ] {
        for link in links(&app) {
            app.api.get(&link).header("user-agent", agent).send().await;
        }
        let published = app.published();
        let kinds: Vec<_> = published.iter().map(|event| event.kind).collect();
        assert_eq!(kinds, [EventKind::Open, EventKind::Click]);
        let got: Vec<_> = published
            .iter()
            .map(|event| event.sg_machine_open)
            .collect();
        assert_eq!(got, marks, "{agent}");
    }
}

#[tokio::test]
async fn who_only_looks_whether_a_link_works_has_seen_and_clicked_nothing() {
    let app = TestApp::new().await;
    for (link, status) in links(&app).iter().zip([200, 302]) {
        let ask = app.api.ask(Method::HEAD, link);
        ask.header("user-agent", PERSON).send().await.expect(status);
    }
    assert!(app.published().is_empty());
}
