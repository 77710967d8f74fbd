//! Which of an account's domains authorizes an address; and races for one name.

use posthaste_model::EmailAddress;
use posthaste_store::SenderAuthority;
use serde_json::json;

use crate::TestApp;

#[tokio::test]
async fn the_closest_valid_domain_stands_for_an_address() {
    let app = TestApp::new().await;
    let wide = app.domain("example.com").await;
    let close = app.domain("mail.example.com").await;
    app.publish(&wide);
    app.validate(&wide).await;
    let standing = |text: &'static str| {
        let (store, account) = (app.store.clone(), app.tenant.account.id.clone());
        async move {
            let address = EmailAddress::parse(text).unwrap();
            match store.standing(&account, &address).await.unwrap() {
                Some(SenderAuthority::Domain(domain)) => Some(domain.domain),
                Some(SenderAuthority::Sender(_)) | None => None,
            }
        }
    };
    assert_eq!(
        standing("a@Example.com").await.as_deref(),
        Some("example.com")
    );
    assert_eq!(
        standing("a@mail.example.com").await.as_deref(),
        Some("example.com")
    );
    assert_eq!(
        standing("a@deep.mail.example.com").await.as_deref(),
        Some("example.com")
    );
    for other in [
        "a@example.org",
        "a@notexample.com",
        "a@com",
        "a@example.com.evil.net",
    ] {
        assert_eq!(standing(other).await, None, "{other}");
    }
    app.publish(&close);
    app.validate(&close).await;
    assert_eq!(
        standing("a@deep.mail.example.com").await.as_deref(),
        Some("mail.example.com")
    );
    assert_eq!(
        standing("a@example.com").await.as_deref(),
        Some("example.com")
    );
}

#[tokio::test]
async fn of_two_requests_for_one_name_one_wins() {
    let app = TestApp::new().await;
    let body = json!({"domain": "example.com"});
    let ask = || async {
        let ask = app
            .api
            .post("/v3/whitelabel/domains")
            .key(&app.tenant.key)
            .json(&body);
        ask.send().await.status.as_u16()
    };
    let mut answers = [tokio::join!(ask(), ask(), ask())].map(|(a, b, c)| [a, b, c])[0];
    answers.sort_unstable();
    assert_eq!(answers, [201, 400, 400]);
    assert_eq!(
        app.store
            .domains(&app.tenant.account.id)
            .await
            .unwrap()
            .len(),
        1
    );
}
