//! Lists of addresses that get no mail, and groups.

use std::collections::BTreeSet;

use posthaste_store::{GroupSaved, Mark, SuppressionList};

use crate::TestApp;

impl TestApp {
    async fn suppress(&self, emails: &[String], list: SuppressionList) {
        let mark = Mark {
            reason: Some("550 5.1.1 <unknown>".to_owned()),
            ..Mark::at(self.hand.now())
        };
        let account = &self.tenant.account.id;
        let listed = self.store.suppress_all(account, emails, list, &mark);
        listed.await.unwrap();
    }

    async fn group(&self, name: &str) -> i64 {
        let account = &self.tenant.account.id;
        let made = self
            .store
            .create_group(account, (name, "What is <new>"), false);
        match made.await.unwrap() {
            GroupSaved::Done(group) => group.id,
            other => panic!("{other:?}"),
        }
    }
}

fn emails(count: usize) -> Vec<String> {
    let email = |n| format!("user{n:04}@example.com");
    (0..count).map(email).collect()
}

#[tokio::test]
async fn an_address_is_looked_up_in_all_lists_and_groups() {
    let app = TestApp::new().await;
    let (news, other) = (app.group("News").await, app.group("Other").await);
    let ann = ["ann@example.com".to_owned()];
    app.suppress(&ann, SuppressionList::Bounces).await;
    app.suppress(&ann, SuppressionList::Group(news)).await;
    let session = app.by_link().await;
    let page = app.page("/console/suppressions?q=ANN%40example.com", &session);
    let page = page.await;
    for words in [
        "550 5.1.1 &#60;unknown&#62;",
        r#"data-call="DELETE /v3/suppression/bounces/{email}""#,
        &format!(r#"data-call="DELETE /v3/asm/groups/{news}/suppressions/{{email}}""#),
        &format!(r#"<a href="/console/suppressions/{other}">"#),
        "What is &#60;new&#62;",
        "1 left",
        r#"data-call="POST /v3/asm/groups""#,
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    for absent in [
        r#"data-call="DELETE /v3/suppression/blocks/{email}""#,
        &format!(r#"data-call="DELETE /v3/asm/groups/{other}/suppressions/{{email}}""#),
    ] {
        assert!(!page.contains(absent), "{absent}: {page}");
    }
    let free = app.page("/console/suppressions?q=bob%40example.com", &session);
    assert!(free.await.contains("On no list"));
    let half = app.page("/console/suppressions?q=bob%40", &session).await;
    assert!(half.contains("for a whole address"), "{half}");
}

#[tokio::test]
async fn each_address_of_a_list_is_on_one_page_and_can_be_removed() {
    let app = TestApp::new().await;
    let all = emails(120);
    app.suppress(&all, SuppressionList::Bounces).await;
    let session = app.by_link().await;
    let mut seen = Vec::new();
    let (mut path, mut pages) = (Some("/console/suppressions/bounces".to_owned()), Vec::new());
    while let Some(at) = path.take() {
        let page = app.page(&at, &session).await;
        pages.push(at);
        let rows = page.split(r#"data-as="list" value=""#).skip(1);
        seen.extend(rows.filter_map(|row| Some(row.split_once('"')?.0.to_owned())));
        let older = page.split(r#"rel="next" href=""#).nth(1);
        path = older.map(|rest| rest.split('"').next().unwrap().replace("&#38;", "&"));
        assert!(page.contains(&format!("Page {}", pages.len())), "{page}");
        assert!(seen.len() <= 120, "{seen:?}");
    }
    assert_eq!(seen.len(), 120);
    assert_eq!(
        seen.into_iter().collect::<BTreeSet<_>>(),
        all.into_iter().collect()
    );
    let page = app.page(&pages[1], &session).await;
    for words in [
        r#"rel="first" href="/console/suppressions/bounces""#,
        r#"data-call="DELETE /v3/suppression/bounces" data-chosen="emails""#,
        r#"name="delete_all" data-as="flag" required"#,
        "550 5.1.1 &#60;unknown&#62;",
        r#"data-columns="email created reason status""#,
        "This list is filled by",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    assert!(!page.contains("data-import"), "{page}");
    let found = app.page("/console/suppressions/bounces?q=USER011", &session);
    let found = found.await;
    assert_eq!(
        found.matches(r#"data-as="list" value="user011"#).count(),
        10
    );
    // An address that is also the beginning of another is meant as a whole.
    let longer = ["user0110@example.com.au".to_owned()];
    app.suppress(&longer, SuppressionList::Bounces).await;
    for (q, want) in [("user0110@example.com", 1), ("user0110@example", 2)] {
        let path = format!("/console/suppressions/bounces?q={q}");
        let found = app.page(&path, &session).await;
        let found = found.matches(r#"data-as="list" value="user0110"#).count();
        assert_eq!(found, want, "{q}");
    }
    let none = app.page("/console/suppressions/bounces?q=nothing", &session);
    assert!(none.await.contains("Nothing matches"));
    let end = "/console/suppressions/bounces?after=9999999999%23z&page=4";
    let past = app.page(end, &session).await;
    assert!(past.contains("No older entries"), "{past}");
    let wrong = app
        .page("/console/suppressions/bounces?after=x", &session)
        .await;
    assert!(wrong.contains("after must be empty"), "{wrong}");
    let empty = app.page("/console/suppressions/blocks", &session).await;
    assert!(empty.contains("Nothing on this list"), "{empty}");
}

#[tokio::test]
async fn a_group_is_shown_with_who_left_it_and_edited() {
    let app = TestApp::new().await;
    let id = app.group("News").await;
    app.suppress(&emails(3), SuppressionList::Group(id)).await;
    let session = app.by_link().await;
    let path = format!("/console/suppressions/{id}");
    let page = app.page(&path, &session).await;
    for words in [
        "<bdi>News</bdi>",
        "3 left it",
        "user0001@example.com",
        &format!(
            r#"data-call="DELETE /v3/asm/groups/{id}/suppressions/{{emails}}" data-each="emails""#
        ),
        &format!(r#"data-call="PATCH /v3/asm/groups/{id}""#),
        &format!(r#"data-call="DELETE /v3/asm/groups/{id}""#),
        &format!(r#"data-import="/v3/asm/groups/{id}/suppressions""#),
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let search = |q: &str| format!("{path}?q={q}");
    let found = app.page(&search("USER0001%40example.com"), &session).await;
    assert_eq!(
        found.matches(r#"data-as="list" value="#).count(),
        1,
        "{found}"
    );
    let none = app.page(&search("user0001"), &session).await;
    assert!(none.contains("Nothing matches"), "{none}");
    for missing in ["999999", "nothing"] {
        let path = format!("/console/suppressions/{missing}");
        app.get(&path, &session).send().await.expect(404);
    }
}

#[tokio::test]
async fn a_key_sees_what_its_scopes_allow_and_which_it_lacks() {
    let app = TestApp::new().await;
    let id = app.group("News").await;
    let ann = ["ann@example.com".to_owned()];
    app.suppress(&ann, SuppressionList::Bounces).await;
    app.suppress(&ann, SuppressionList::Group(id)).await;
    let scopes = ["suppression.bounces.read", "asm.groups.suppressions.read"];
    let key = app.tenant.restricted(&app.store, &scopes).await;
    let session = app.sign_in(&format!("key={key}")).await;
    let page = app.page("/console/suppressions?q=ann%40example.com", &session);
    let page = page.await;
    for words in [
        "550 5.1.1",
        "lacks the scope suppression.blocks.read",
        "lacks the scope asm.groups.read",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    assert!(!page.contains("data-call"), "{page}");
    let bounces = app.page("/console/suppressions/bounces", &session).await;
    assert!(
        bounces.contains("ann@example.com") && !bounces.contains("data-call"),
        "{bounces}"
    );
    let blocks = app.page("/console/suppressions/blocks", &session).await;
    assert!(
        blocks.contains("lacks the scope suppression.blocks.read"),
        "{blocks}"
    );
    let group = app
        .page(&format!("/console/suppressions/{id}"), &session)
        .await;
    assert!(
        group.contains("ann@example.com") && !group.contains("data-call"),
        "{group}"
    );
    let global = app
        .page("/console/suppressions/unsubscribes", &session)
        .await;
    assert!(global.contains("Adding needs the scope"), "{global}");
}
