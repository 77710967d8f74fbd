//! Private keys: sealed in the table, in no answer, and fit for signing.

use posthaste_identity::{Signer, place};

use crate::TestApp;

#[tokio::test]
async fn the_private_key_is_sealed_and_signs_for_its_domain() {
    let app = TestApp::new().await;
    let shown = app.domain("example.com").await;
    let account = &app.tenant.account.id;
    let domain = app.store.domain(account, 1).await.unwrap().unwrap();
    let key = &domain.keys[0];

    let sealed_to = place(account, domain.id, &key.selector);
    let private = app.sealer.open(&sealed_to, &key.private).unwrap();

    assert!(Signer::new(&domain.domain, &key.selector, &private).is_ok());
    let second = place(account, domain.id, "s2");
    assert!(
        app.sealer.open(&second, &key.private).is_err(),
        "sealed to its place"
    );
    let data = shown["dns"]["dkim1"]["data"].as_str().unwrap();
    assert_eq!(data, format!("v=DKIM1; k=rsa; p={}", key.public));
    let text = shown.to_string();
    assert!(!text.contains(&key.private) && !text.contains("private"));
    assert!(!format!("{domain:?}").contains(&key.private));
}
