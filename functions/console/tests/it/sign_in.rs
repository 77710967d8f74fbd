//! Ways in and out.

use posthaste_store::{AccountStatus, LINK_LIFE};

use crate::{TestApp, cookie, html};

#[tokio::test]
async fn a_page_leads_who_is_not_signed_in_to_the_forms_and_back() {
    let app = TestApp::new().await;
    let answer = app.get("/console/first-key?name=a%26b", "").send().await;
    let answer = answer.expect(303);
    let forms = answer.header("location").to_owned();
    assert_eq!(
        forms,
        "/console/sign-in?next=%2Fconsole%2Ffirst-key%3Fname%3Da%2526b"
    );
    let page = html(&app.get(&forms, "").send().await.expect(200));
    let back = r#"name="next" value="/console/first-key?name=a%26b""#;
    assert!(page.contains(back), "{page}");
    let next = "next=%2Fconsole%2Ffirst-key%3Fname%3Da%2526b";
    let fields = format!("key={}&{next}", app.tenant.key);
    let answer = app.form("/console/sign-in", &fields).send().await;
    let answer = answer.expect(303);
    assert_eq!(answer.header("location"), "/console/first-key?name=a%26b");
    let session = cookie(&answer);
    let page = app.page("/console/first-key?name=a%26b", &session).await;
    assert!(page.contains(r#"value="a&#38;b""#), "{page}");
}

#[tokio::test]
async fn looking_at_a_link_uses_nothing_up_and_its_form_opens_one_session() {
    let app = TestApp::new().await;
    let token = app.link().await;
    let path = format!("/console/sign-in?token={token}");
    for _ in 0..3 {
        let answer = app.get(&path, "").send().await.expect(200);
        assert!(html(&answer).contains(&token));
        assert!(!answer.headers.contains_key("set-cookie"));
    }
    let fields = format!("token={token}");
    let opened = app
        .form("/console/sign-in", &fields)
        .send()
        .await
        .expect(303);
    assert_eq!(opened.header("location"), "/console");
    let set = opened.header("set-cookie");
    assert!(set.ends_with("; HttpOnly; SameSite=Strict"), "{set}");
    app.page("/console", &cookie(&opened)).await;
    let again = app.form("/console/sign-in", &fields).send().await;
    let page = html(&again.expect(401));
    assert!(page.contains("This link opens nothing"), "{page}");
    assert!(!page.contains(&token));
}

#[tokio::test]
async fn a_late_link_and_a_wrong_key_open_nothing_and_say_so() {
    let app = TestApp::new().await;
    let token = app.link().await;
    app.hand.advance(LINK_LIFE);
    for (fields, want) in [
        (format!("token={token}"), "This link opens nothing"),
        ("key=SG.wrong".to_owned(), "No such key"),
        (String::new(), "No such key"),
    ] {
        let answer = app.form("/console/sign-in", &fields).send().await;
        let answer = answer.expect(401);
        assert!(!answer.headers.contains_key("set-cookie"));
        let page = html(&answer);
        assert!(page.contains(want), "{fields}: {page}");
    }
}

#[tokio::test]
async fn a_form_of_another_origin_signs_nobody_in_or_out() {
    let app = TestApp::new().await;
    let session = app.by_link().await;
    let fields = format!("key={}", app.tenant.key);
    for (path, fields) in [("sign-in", fields.as_str()), ("sign-out", "")] {
        let path = format!("/console/{path}");
        let ask = || app.api.post(&path).header("host", "127.0.0.1:3000");
        let ask = || ask().header("cookie", &session).body(fields.to_owned());
        let foreign = ask().header("origin", "http://127.0.0.1:3001").send().await;
        assert!(!foreign.headers.contains_key("set-cookie"));
        foreign.expect(403);
        ask().send().await.expect(403);
    }
    app.page("/console", &session).await;
}

#[tokio::test]
async fn a_session_that_signed_out_opens_nothing() {
    let app = TestApp::new().await;
    let session = app.by_link().await;
    let form = app.form("/console/sign-out", "").header("cookie", &session);
    let out = form.send().await.expect(303);
    assert_eq!(out.header("location"), "/console/sign-in");
    assert!(out.header("set-cookie").contains("Max-Age=0"));
    app.get("/console", &session).send().await.expect(303);
    let sessions = app.store.sessions(&app.tenant.account.id, app.hand.now());
    assert_eq!(sessions.await, Ok(vec![]));
}

#[tokio::test]
async fn an_account_that_is_suspended_sees_why_it_sees_nothing() {
    let app = TestApp::new().await;
    let session = app.by_link().await;
    let id = &app.tenant.account.id;
    let disabled = app.store.update_account(id, |account| {
        account.status = AccountStatus::Disabled;
    });
    assert!(disabled.await.unwrap().is_some());
    app.hand.advance(10);
    let refused = app.get("/console", &session).send().await.expect(403);
    assert!(html(&refused).contains("may be suspended"));
}

#[tokio::test]
async fn pages_bind_the_browser_and_files_stay_with_it() {
    let app = TestApp::new().await;
    let answer = app.get("/console/sign-in", "").send().await.expect(200);
    let policy = answer.header("content-security-policy");
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    assert_eq!(answer.header("cache-control"), "no-store");
    let page = html(&answer);
    assert!(!page.contains("style="), "{page}");
    let names = page.split('"').filter(|text| text.starts_with("/console/"));
    let files = names.filter(|name| name.contains('.'));
    let files: std::collections::BTreeSet<_> = files.collect();
    assert_eq!(files.len(), 3, "{files:?}");
    for file in files {
        let answer = app.get(file, "").send().await.expect(200);
        let caching = answer.header("cache-control");
        assert!(caching.contains("immutable"), "{file}: {caching}");
    }
    app.get("/console/style-0000000000000000.css", "")
        .send()
        .await
        .expect(303);
}

#[tokio::test]
async fn a_page_that_is_none_is_not_found() {
    let app = TestApp::new().await;
    let session = app.by_link().await;
    for path in ["/console/nothing", "/console/first-key/x"] {
        let answer = app.get(path, &session).send().await.expect(404);
        assert!(html(&answer).contains("no page of this address"));
    }
}
