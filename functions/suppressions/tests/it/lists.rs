use axum::http::Method;
use posthaste_store::{StoreError, SuppressionList};
use posthaste_testkit::Tenant;
use serde_json::{Value, json};

use crate::TestApp;

const LISTS: [(&str, SuppressionList); 5] = [
    ("bounces", SuppressionList::Bounces),
    ("blocks", SuppressionList::Blocks),
    ("invalid_emails", SuppressionList::InvalidEmails),
    ("spam_reports", SuppressionList::SpamReports),
    ("unsubscribes", SuppressionList::Unsubscribes),
];

fn emails(rows: &Value) -> Vec<&str> {
    let rows = rows.as_array().unwrap().iter();
    rows.map(|row| row["email"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn each_list_tells_its_own_members() {
    let app = TestApp::new().await;
    let created = app.hand.now().0;
    let (reason, status) = ("550 5.1.1 User unknown", "5.1.1");
    for (name, list) in LISTS {
        app.mark("ann@example.com", list, 0).await;
        let want = match list {
            SuppressionList::Bounces | SuppressionList::Blocks => json!([{"created": created,
                "email": "ann@example.com", "reason": reason, "status": status}]),
            SuppressionList::InvalidEmails => {
                json!([{"created": created, "email": "ann@example.com",
                "reason": reason}])
            }
            SuppressionList::SpamReports => json!([{"created": created, "email": "ann@example.com",
                "ip": "192.0.2.7"}]),
            SuppressionList::Unsubscribes | SuppressionList::Group(_) => {
                json!([{"created": created, "email": "ann@example.com"}])
            }
        };
        let path = format!("/v3/suppression/{name}");
        assert_eq!(app.get(&path).await, want, "{name}");
        for email in ["ann@example.com", "ANN%40Example.com"] {
            assert_eq!(app.get(&format!("{path}/{email}")).await, want, "{name}");
        }
        assert_eq!(app.get(&format!("{path}/bob@example.com")).await, json!([]));
        assert_eq!(app.get(&format!("{path}/nobody")).await, json!([]));
    }
}

#[tokio::test]
async fn a_page_is_cut_by_time_count_and_beginning() {
    let app = TestApp::new().await;
    let now = app.hand.now().0;
    for (i, email) in ["ann@a.co", "anton@a.co", "bob@a.co", "berta@a.co"]
        .iter()
        .enumerate()
    {
        app.mark(email, SuppressionList::Bounces, i64::try_from(i).unwrap())
            .await;
    }
    for (query, want) in [
        (
            String::new(),
            vec!["berta@a.co", "bob@a.co", "anton@a.co", "ann@a.co"],
        ),
        ("?limit=2".into(), vec!["berta@a.co", "bob@a.co"]),
        ("?limit=2&offset=3".into(), vec!["ann@a.co"]),
        ("?offset=9".into(), vec![]),
        (
            format!("?start_time={}", now + 2),
            vec!["berta@a.co", "bob@a.co"],
        ),
        (format!("?end_time={now}"), vec!["ann@a.co"]),
        (
            format!("?start_time={}&end_time={}", now + 1, now + 2),
            vec!["bob@a.co", "anton@a.co"],
        ),
        ("?email=An".into(), vec!["anton@a.co", "ann@a.co"]),
        ("?email=an&limit=1&offset=1".into(), vec!["ann@a.co"]),
        (
            "?limit=9999".into(),
            vec!["berta@a.co", "bob@a.co", "anton@a.co", "ann@a.co"],
        ),
    ] {
        let page = app.get(&format!("/v3/suppression/bounces{query}")).await;
        assert_eq!(emails(&page), want, "{query}");
    }
    for (query, field) in [
        ("limit=0", "limit"),
        ("limit=x", "limit"),
        ("offset=-1", "offset"),
        ("start_time=yesterday", "start_time"),
        ("end_time=1.5", "end_time"),
        ("start_time=5&end_time=4", "end_time"),
    ] {
        let path = format!("/v3/suppression/bounces?{query}");
        let ask = app.api.get(&path).key(&app.tenant.key);
        let refused = ask.send().await.expect(400);
        assert_eq!(refused.error().0.as_deref(), Some(field), "{query}");
    }
}

#[tokio::test]
async fn a_page_behind_a_place_names_the_next_one() {
    let app = TestApp::new().await;
    let body = json!({"name": "News"});
    let made = app.call(Method::POST, "/v3/asm/groups", &body);
    made.await.expect(201);
    let all = ["a+b@x.co", "xb@x.co", "xc@x.co"];
    for email in all {
        app.mark(email, SuppressionList::Bounces, 0).await;
        app.mark(email, SuppressionList::Group(1), 0).await;
    }
    for (list, want) in [
        ("/v3/suppression/bounces?limit=1", &all[..]),
        ("/v3/suppression/bounces?limit=3", &all),
        ("/v3/suppression/bounces?limit=1&email=x", &all[1..]),
        ("/v3/asm/groups/1/suppressions?limit=2", &all),
    ] {
        let (mut found, mut next) = (Vec::new(), Some(format!("{list}&after=")));
        while let Some(path) = next {
            let page = app.api.get(&path).key(&app.tenant.key).send().await;
            let page = page.expect(200);
            for row in page.json().as_array().unwrap() {
                let email = row.as_str().or_else(|| row["email"].as_str());
                found.push(email.unwrap().to_owned());
            }
            let link = page.headers.get("link");
            next = link.map(|link| {
                let (path, rel) = link.to_str().unwrap().split_once(">; ").unwrap();
                assert_eq!(rel, "rel=\"next\"");
                path.strip_prefix('<').unwrap().to_owned()
            });
        }
        assert_eq!(found, want, "{list}");
    }
    for (query, field) in [
        ("after=x", "after"),
        ("after=123456789%23a", "after"),
        ("after=&offset=0", "offset"),
    ] {
        for list in ["/v3/suppression/bounces", "/v3/asm/groups/1/suppressions"] {
            let ask = app.api.get(&format!("{list}?{query}"));
            let refused = ask.key(&app.tenant.key).send().await.expect(400);
            assert_eq!(refused.error().0.as_deref(), Some(field), "{list} {query}");
        }
    }
}

#[tokio::test]
async fn a_page_names_the_pages_beside_it() {
    let app = TestApp::new().await;
    for email in ["xa@x.co", "xb@x.co", "xc@x.co"] {
        app.mark(email, SuppressionList::Bounces, 0).await;
        app.mark(email, SuppressionList::Group(1), 0).await;
    }
    let body = json!({"name": "News"});
    app.call(Method::POST, "/v3/asm/groups", &body)
        .await
        .expect(201);
    let all = [
        ("limit=3", "last first"),
        ("limit=2", "next last first"),
        ("limit=1&offset=1", "next prev last first"),
        ("limit=2&offset=2", "prev last first"),
    ];
    // To find the last page of the addresses that begin so would be to read the whole list.
    let filtered = [
        ("limit=3&email=x", "last first"),
        ("limit=1&email=x", "next first"),
        ("limit=1&email=xb", "last first"),
        ("limit=1&email=", "next last first"),
    ];
    for (path, cases) in [
        ("/v3/suppression/bounces", &all[..]),
        ("/v3/suppression/bounces", &filtered),
        ("/v3/asm/groups/1/suppressions", &all),
        ("/v3/asm/suppressions", &all),
    ] {
        for (query, rels) in cases {
            let path = format!("{path}?{query}");
            let ask = app.api.get(&path).key(&app.tenant.key);
            let page = ask.header("host", "api.example").send().await.expect(200);
            let rows = page.json().as_array().unwrap().len();
            let limit: usize = query[6..7].parse().unwrap();
            assert!(rows <= limit, "{path}");
            let told = page.header("link").split(", ").map(|link| {
                assert!(link.starts_with("<http://api.example/v3/"), "{link}");
                link.split('"').nth(1).unwrap()
            });
            assert_eq!(told.collect::<Vec<_>>().join(" "), *rels, "{path}");
        }
    }
}

/// What the removal of an address that is not on a list answers.
fn gone(list: &str) -> u16 {
    match list {
        "bounces" | "blocks" => 404,
        _ => 204,
    }
}

#[tokio::test]
async fn a_key_for_all_lists_opens_each_and_a_key_for_one_only_that() {
    let app = TestApp::new().await;
    let (store, tenant) = (&app.store, &app.tenant);
    let all = tenant.restricted(store, &["suppression.read"]).await;
    let both = ["suppression.bounces.read", "suppression.delete"];
    let both = tenant.restricted(store, &both).await;
    for (name, _) in LISTS {
        let path = format!("/v3/suppression/{name}/a@x.co");
        let call = async |method, key| app.api.ask(method, &path).key(key).send().await.status;
        let own = if name == "bounces" { 200 } else { 403 };
        assert_eq!(call(Method::GET, &all).await, 200, "{name}");
        assert_eq!(call(Method::DELETE, &all).await, 403, "{name}");
        assert_eq!(call(Method::GET, &both).await, own, "{name}");
        // The address is on no list.
        let gone = gone(name);
        assert_eq!(call(Method::DELETE, &both).await, gone, "{name}");
    }
}

#[tokio::test]
async fn addresses_leave_a_list_one_by_one_by_name_or_all_at_once() {
    let app = TestApp::new().await;
    for (name, list) in LISTS {
        let path = format!("/v3/suppression/{name}");
        for email in ["a@x.co", "b@x.co", "c@x.co", "d@x.co"] {
            app.mark(email, list, 0).await;
        }
        // The second time it is on the list no longer.
        let gone = gone(name);
        for status in [204, gone] {
            let one = format!("{path}/A@X.co");
            app.delete(&one).await.expect(status);
            let body = json!({"emails": ["B@x.co", "elsewhere@x.co"]});
            app.call(Method::DELETE, &path, &body).await.expect(204);
        }
        let mut left = app.get(&path).await;
        left.as_array_mut()
            .unwrap()
            .sort_by_key(|row| row["email"].to_string());
        assert_eq!(emails(&left), ["c@x.co", "d@x.co"], "{name}");
        let all = json!({"delete_all": true});
        app.call(Method::DELETE, &path, &all).await.expect(204);
        assert_eq!(app.get(&path).await, json!([]), "{name}");
    }
}

#[tokio::test]
async fn what_to_take_off_must_be_said_in_one_way() {
    let app = TestApp::new().await;
    app.mark("a@x.co", SuppressionList::Bounces, 0).await;
    for (body, field) in [
        (json!({}), "delete_all"),
        (json!({"delete_all": false}), "delete_all"),
        (
            json!({"delete_all": true, "emails": ["a@x.co"]}),
            "delete_all",
        ),
        (json!({"emails": []}), "emails"),
        (json!({"emails": ["a@x.co", "nobody"]}), "emails.1"),
        (json!({"emails": "a@x.co"}), "emails"),
        (json!({"delete_all": "yes"}), "delete_all"),
    ] {
        let path = "/v3/suppression/bounces";
        let refused = app.call(Method::DELETE, path, &body).await.expect(400);
        assert_eq!(refused.error().0.as_deref(), Some(field), "{body}");
        assert_eq!(emails(&app.get(path).await), ["a@x.co"], "{body}");
    }
}

#[tokio::test]
async fn a_stranger_sees_nothing_and_takes_nothing() {
    let app = TestApp::new().await;
    app.mark("a@x.co", SuppressionList::Bounces, 0).await;
    let other = Tenant::new(&app.store, "other", app.hand.now()).await;
    let path = "/v3/suppression/bounces";
    let theirs = app.api.get(path).key(&other.key).send().await.expect(200);
    assert_eq!(theirs.json(), json!([]));
    let all = json!({"delete_all": true});
    let ask = app.api.delete(path).key(&other.key).json(&all);
    ask.send().await.expect(204);
    assert_eq!(emails(&app.get(path).await), ["a@x.co"]);
}

#[tokio::test]
async fn bounces_that_the_account_wants_forgotten_are_not_shown() {
    const DAY: i64 = 86_400;
    let app = TestApp::new().await;
    for (email, list, days) in [
        ("old@example.com", SuppressionList::Bounces, -3),
        ("new@example.com", SuppressionList::Bounces, -1),
        ("old@example.com", SuppressionList::Blocks, -3),
        ("old@example.com", SuppressionList::SpamReports, -3),
    ] {
        app.mark(email, list, days * DAY).await;
    }
    let done = app
        .store
        .change_settings(&app.tenant.account.id, |settings| {
            settings.bounce_purge.enabled = true;
            settings.bounce_purge.hard = Some(2);
            Ok::<_, StoreError>(())
        });
    done.await.unwrap().unwrap();
    let count = async |path: &str| {
        let page = app.get(&format!("/v3/suppression/{path}")).await;
        page.as_array().unwrap().len()
    };
    let end = app.hand.now().plus(-2 * DAY - 1);
    for (path, want) in [
        ("bounces", 1),
        ("bounces/old@example.com", 0),
        ("bounces/new@example.com", 1),
        (&format!("bounces?end_time={end}"), 0),
        ("blocks", 1),
        ("spam_reports", 1),
    ] {
        assert_eq!(count(path).await, want, "{path}");
    }
    // Blocks are the soft ones, and have a time of their own.
    for (days, want) in [(4, 1), (2, 0)] {
        let done = app
            .store
            .change_settings(&app.tenant.account.id, |settings| {
                settings.bounce_purge.hard = None;
                settings.bounce_purge.soft = Some(days);
                Ok::<_, StoreError>(())
            });
        done.await.unwrap().unwrap();
        for path in ["blocks", "blocks/old@example.com"] {
            assert_eq!(count(path).await, want, "{path} after {days} days");
        }
        assert_eq!(count("bounces").await, 2);
    }
}
