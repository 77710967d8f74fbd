//! The preferences page of those who left everything, and what groups tell.

use posthaste_model::EventKind;
use posthaste_render::LinkAction;
use posthaste_store::SuppressionList;

use crate::TestApp;

/// The preferences link of a mail to the first of two groups, 1 and 2.
async fn groups(app: &TestApp) -> String {
    let (news, offers) = (app.group("News").await, app.group("Offers").await);
    assert_eq!((news, offers), (1, 2));
    let action = LinkAction::Preferences {
        group: news,
        display: vec![news, offers],
    };
    app.link("/asm/preferences", action)
}

async fn page(app: &TestApp, link: &str) -> String {
    let page = app.get(link).await.expect(200);
    String::from_utf8_lossy(&page.body).into_owned()
}

const ALL: &str = "name=\"all\" checked";

#[tokio::test]
async fn who_left_everything_is_told_so_and_may_come_back() {
    let app = TestApp::new().await;
    let link = groups(&app).await;
    assert!(!page(&app, &link).await.contains(ALL));
    app.post(&link, "g1=on&g2=on&all=on").await.expect(200);
    let shown = page(&app, &link).await;
    assert!(shown.contains(ALL) && shown.contains("no mail at all, whatever"));
    app.published();

    // Saved again as it is shown, nothing changes.
    let as_shown = "was_all=on&g1=on&g2=on&all=on";
    app.post(&link, as_shown).await.expect(200);
    assert!(app.published().is_empty() && app.is_on(SuppressionList::Unsubscribes).await);
    // A page from before is no wish to come back.
    app.post(&link, "g1=on&g2=on").await.expect(200);
    assert!(app.is_on(SuppressionList::Unsubscribes).await);

    app.post(&link, "was_all=on&g1=on").await.expect(200);
    assert!(!app.is_on(SuppressionList::Unsubscribes).await);
    assert!(
        !app.is_on(SuppressionList::Group(1)).await && app.is_on(SuppressionList::Group(2)).await
    );
    assert!(!page(&app, &link).await.contains(ALL));
    let kinds: Vec<_> = app.published().iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [EventKind::GroupUnsubscribe]);
}

#[tokio::test]
async fn what_is_told_of_a_group_names_the_page_it_came_from() {
    let app = TestApp::new().await;
    let link = groups(&app).await;
    let leave = app.link(
        "/asm/unsubscribe",
        LinkAction::GroupUnsubscribe { group: 1 },
    );
    for (link, form) in [(&leave, ""), (&link, "g1=on&g2=on")] {
        let ask = app.api.post(link).header("host", "links.example");
        let ask = ask.header("x-forwarded-proto", "https");
        ask.body(form).send().await.expect(200);
    }
    let published = app.published();
    let published = published
        .iter()
        .map(|event| (event.kind, event.url.as_deref()));
    let want = [
        (
            EventKind::GroupUnsubscribe,
            Some("https://links.example/asm/unsubscribe"),
        ),
        (
            EventKind::GroupResubscribe,
            Some("https://links.example/asm/preferences"),
        ),
    ];
    assert_eq!(published.collect::<Vec<_>>(), want);
}

#[tokio::test]
async fn a_choice_that_could_not_be_told_is_told_when_it_is_made_again() {
    let app = TestApp::new().await;
    let link = groups(&app).await;
    app.post(&link, "g2=on").await.expect(200);
    app.published();
    for (form, kinds) in [
        ("g1=on&g2=on", vec![EventKind::GroupResubscribe]),
        ("g1=on", vec![EventKind::GroupUnsubscribe]),
        ("g1=on&all=on", vec![EventKind::Unsubscribe]),
    ] {
        app.queues.set_broken(true);
        app.post(&link, form).await.expect(503);
        app.queues.set_broken(false);
        assert!(app.published().is_empty());
        app.post(&link, form).await.expect(200);
        let published: Vec<_> = app.published().iter().map(|event| event.kind).collect();
        assert_eq!(published, kinds, "{form}");
    }
    assert!(
        app.is_on(SuppressionList::Unsubscribes).await
            && app.is_on(SuppressionList::Group(2)).await
    );
}
