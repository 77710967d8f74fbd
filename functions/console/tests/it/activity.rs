//! The list of mails, and one mail.

use posthaste_model::{Event, EventKind, MessageId};
use posthaste_store::{
    AttemptOutcome, Claim, Claimant, CopyState, Described, Mark, SuppressionList,
};
use posthaste_testkit::{FailAfter, entropy};

use crate::TestApp;

const DAYS: i64 = 30 * 86_400;

impl TestApp {
    /// A copy with the rows of the search, which ended so.
    pub(crate) async fn mail(&self, email: &str, subject: &str, state: CopyState) -> MessageId {
        let (id, message) = (&self.tenant.account.id, entropy().message_id());
        let now = self.hand.now();
        let who = Claimant {
            owner: "test",
            single_process: true,
            now,
            lease: 60,
            retention: DAYS,
        };
        let described = Described {
            email,
            from: "me@example.com",
            subject,
            accepted_at: now,
        };
        let which = (id, &message, 0);
        let claim = self.store.claim(which, 0, who, &described).await;
        assert_eq!(claim, Ok(Claim::Won));
        let kind = match state {
            CopyState::Bounced => EventKind::Bounce,
            CopyState::Deferred => EventKind::Deferred,
            _ => EventKind::Delivered,
        };
        let mut event = Event::new(
            Event::derived_id(&message, 0, kind, 0),
            id.clone(),
            kind,
            now,
            email.to_owned(),
        );
        event.message = Some(message.clone());
        event.reason = Some(format!("{} said so", kind.wire()));
        let outcome = AttemptOutcome {
            state,
            now,
            events: std::slice::from_ref(&event),
        };
        self.store.record(which, 0, &outcome).await.unwrap();
        self.store.index(id, &[event], DAYS).await.unwrap();
        message
    }
}

#[tokio::test]
async fn mails_are_listed_with_how_they_stand_and_why() {
    let app = TestApp::new().await;
    app.mail("ann@example.com", "Hello <Ann>", CopyState::Delivered)
        .await;
    let bounced = app
        .mail("old@example.com", "Hello again", CopyState::Bounced)
        .await;
    app.mail("slow@example.com", "", CopyState::Deferred).await;
    let session = app.by_link().await;
    let page = app.page("/console/activity", &session).await;
    for words in [
        "<b class=\"pill good\">delivered</b>",
        "Hello &#60;Ann&#62;",
        "<b class=\"pill bad\">bounced</b>",
        "bounce said so",
        "<b class=\"pill warn\">deferred</b>",
        "(no subject)",
        &format!("/console/activity/{bounced}.posthaste-0.0.0"),
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let found = app.page("/console/activity?q=OLD%40example.com", &session);
    let found = found.await;
    assert!(
        found.contains("Hello again") && !found.contains("Ann"),
        "{found}"
    );
    let none = app.page("/console/activity?q=nothing", &session).await;
    assert!(none.contains("Nothing matches"), "{none}");
    let wrong = app.page("/console/activity?query=x%3D1", &session).await;
    assert!(wrong.contains("invalid syntax"), "{wrong}");
}

#[tokio::test]
async fn each_mail_is_on_one_page_of_the_list() {
    let app = TestApp::new().await;
    for n in 0..60 {
        // All in the same second: only what was accepted last tells them apart.
        app.mail(
            &format!("user{n}@example.com"),
            &format!("Mail {n}."),
            CopyState::Delivered,
        )
        .await;
    }
    let session = app.by_link().await;
    let mut seen = Vec::new();
    let mut path = Some("/console/activity?status=delivered".to_owned());
    while let Some(at) = path.take() {
        let page = app.page(&at, &session).await;
        let subjects = page.split("<bdi>Mail ").skip(1);
        let numbers = subjects.filter_map(|rest| rest.split('.').next()?.parse::<u32>().ok());
        seen.extend(numbers);
        let older = page.split(r#"rel="next" href=""#).nth(1);
        path = older.map(|rest| rest.split('"').next().unwrap().replace("&#38;", "&"));
        assert!(seen.len() <= 60, "{seen:?}");
    }
    seen.sort_unstable();
    assert_eq!(seen, (0..60).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_page_of_mails_that_did_not_arrive_takes_as_few_calls_to_the_table() {
    let calls = FailAfter::default();
    let app = TestApp::counted(&calls).await;
    for n in 0..60 {
        let state = [CopyState::Bounced, CopyState::Deferred][n % 2];
        app.mail(&format!("user{n}@example.com"), "Hello", state)
            .await;
    }
    let session = app.by_link().await;
    // 8 partitions of what left, twice where one round leaves the page short, and 8 of what waits; copies and keys.
    for (path, most) in [
        ("/console/activity", 27),
        ("/console/activity?q=user7%40example.com", 13),
    ] {
        let _session_is_known = app.page(path, &session).await;
        let before = calls.calls();
        let page = app.page(path, &session).await;
        let took = calls.calls() - before;
        assert!(
            page.contains("said so") && took <= most,
            "{path}: {took} calls"
        );
    }
}

#[tokio::test]
async fn one_mail_shows_its_life_and_what_keeps_mail_from_its_address() {
    let app = TestApp::new().await;
    let message = app
        .mail("old@example.com", "Hello", CopyState::Bounced)
        .await;
    let account = &app.tenant.account.id;
    let mark = Mark {
        reason: Some("550 5.1.1 unknown".to_owned()),
        ..Mark::at(app.hand.now())
    };
    let folded = ["old@example.com".to_owned()];
    let listed = app
        .store
        .suppress_all(account, &folded, SuppressionList::Bounces, &mark);
    listed.await.unwrap();
    let session = app.by_link().await;
    let page = app
        .page(&format!("/console/activity/{message}"), &session)
        .await;
    for words in [
        "<b>Accepted</b>",
        "<b>Bounced</b>",
        "bounce said so",
        "Suppressed: Bounces",
        "550 5.1.1 unknown",
        r#"data-call="DELETE /v3/suppression/bounces/{email}""#,
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let other = app.get("/console/activity/CCCCCCCCCCCCCCCCCCCCCC", &session);
    other.send().await.expect(404);
}

#[tokio::test]
async fn a_mail_of_another_account_is_not_found() {
    let app = TestApp::new().await;
    let message = app
        .mail("ann@example.com", "Secret", CopyState::Delivered)
        .await;
    let other = app.tenant.subuser(&app.store, "other").await;
    let session = app.sign_in(&format!("key={}", other.key)).await;
    let path = format!("/console/activity/{message}");
    app.get(&path, &session).send().await.expect(404);
    let page = app.page("/console/activity", &session).await;
    assert!(page.contains("No mail yet"), "{page}");
}

#[tokio::test]
async fn a_key_without_the_scope_sees_no_mail() {
    let app = TestApp::new().await;
    let message = app
        .mail("ann@example.com", "Secret", CopyState::Delivered)
        .await;
    let key = app.tenant.restricted(&app.store, &["mail.send"]).await;
    let session = app.sign_in(&format!("key={key}")).await;
    let page = app.page("/console/activity", &session).await;
    assert!(
        page.contains("access forbidden") && !page.contains("Secret"),
        "{page}"
    );
    let path = format!("/console/activity/{message}");
    app.get(&path, &session).send().await.expect(403);
}
