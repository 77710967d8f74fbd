//! Private keys: sealed in the table, shown to nobody, and good for signing.

use posthaste_identity::{Signer, place};

use crate::TestApp;

#[tokio::test]
async fn the_private_key_is_sealed_and_signs_for_its_domain() {
    let desk = TestApp::new().await;
    let shown = desk.domain("example.com").await;
    let account = &desk.tenant.account.id;
    let domain = desk.store.domain(account, 1).await.unwrap().unwrap();
    let key = &domain.keys[0];

    let sealed_to = place(account, domain.id, &key.selector);
    let private = desk.sealer.open(&sealed_to, &key.private).unwrap();

    assert!(Signer::new(&domain.domain, &key.selector, &private).is_ok());
    let second = place(account, domain.id, "s2");
    assert!(
        desk.sealer.open(&second, &key.private).is_err(),
        "sealed to its place"
    );
    let data = shown["dns"]["dkim1"]["data"].as_str().unwrap();
    assert_eq!(data, format!("v=DKIM1; k=rsa; p={}", key.public));
    let text = shown.to_string();
    assert!(!text.contains(&key.private) && !text.contains("private"));
    assert!(!format!("{domain:?}").contains(&key.private));
}
