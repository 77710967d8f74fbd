//! Subusers: looked for, and acted for.

use crate::{TestApp, cookie};

#[tokio::test]
async fn subusers_are_listed_found_and_shown_with_their_credits() {
    let app = TestApp::new().await;
    let session = app.by_link().await;
    let page = app.page("/console/subusers", &session).await;
    assert!(page.contains("No subuser."), "{page}");
    for number in 0..51 {
        app.tenant
            .subuser(&app.store, &format!("sub{number:02}"))
            .await;
    }
    let page = app.page("/console/subusers", &session).await;
    assert_eq!(
        page.matches("href=\"/console/subusers/sub").count(),
        50,
        "{page}"
    );
    let page = app.page("/console/subusers?offset=50", &session).await;
    assert!(
        page.contains("sub50") && !page.contains("rel=\"next\""),
        "{page}"
    );
    let page = app.page("/console/subusers?name=sub07", &session).await;
    assert_eq!(
        page.matches("href=\"/console/subusers/sub").count(),
        1,
        "{page}"
    );
    let page = app.page("/console/subusers/sub07", &session).await;
    for want in [
        "It may send as much as it wants.",
        "<b class=\"pill good\">active</b>",
        "Act for <bdi>sub07</bdi>",
    ] {
        assert!(page.contains(want), "{want}: {page}");
    }
    app.get("/console/subusers/nobody", &session)
        .send()
        .await
        .expect(404);
}

#[tokio::test]
async fn a_reader_acts_for_a_subuser_and_each_page_says_so() {
    let app = TestApp::new().await;
    let sub = app.tenant.subuser(&app.store, "sub-one").await;
    let session = app.by_link().await;
    let act = |name: &'static str| {
        app.form("/console/act-for", name)
            .header("cookie", &session)
    };
    let acting = act("username=sub-one").send().await.expect(303);
    assert_eq!(acting.header("location"), "/console");
    let both = format!("{session}; {}", cookie(&acting));
    let page = app.page("/console/settings", &both).await;
    assert!(page.contains("<body data-acting=\"sub-one\">"), "{page}");
    assert!(
        page.contains("You act for the subuser <b><bdi>sub-one</bdi></b>"),
        "{page}"
    );
    // What the page reads is the subuser's.
    let own = app.page("/console/access", &session).await;
    let its = app.page("/console/access", &both).await;
    let [own_key, its_key] = [&app.tenant.key, &sub.key].map(|key| key.get(3..25).unwrap());
    assert!(own.contains(own_key) && !own.contains(its_key), "{own}");
    assert!(its.contains(its_key) && !its.contains(own_key), "{its}");
    assert!(!own.contains("data-acting"), "{own}");

    let ended = act("username=").send().await.expect(303);
    assert!(ended.header("set-cookie").contains("Max-Age=0"));
    // The subuser is gone: the reader is back at the own account, and not locked out.
    app.store.delete_account(&sub.account).await.unwrap();
    app.hand.advance(11);
    let back = app.get("/console/access", &both).send().await.expect(303);
    assert_eq!(back.header("location"), "/console");
    assert!(back.header("set-cookie").contains("Max-Age=0"));
}

#[tokio::test]
async fn no_other_origin_chooses_whom_the_reader_acts_for() {
    let app = TestApp::new().await;
    let foreign = app
        .api
        .post("/console/act-for")
        .header("host", "127.0.0.1:3000");
    let foreign = foreign.header("origin", "https://evil.example");
    let answer = foreign.body("username=sub").send().await.expect(403);
    assert_eq!(answer.header("set-cookie"), "");
}
