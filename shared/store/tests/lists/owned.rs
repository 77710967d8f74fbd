//! What an owner writes into one row (keys, templates, domains, webhooks, senders, parse settings), at the limits
//! of the API: it weighs what the crate's documentation says.

use std::collections::BTreeSet;

use posthaste_model::{AccountId, Millis, Record, RecordKind, TemplateId, VersionId, WebhookId};
use posthaste_store::{
    ApiKey, Borrower, CreateOutcome, DkimKey, Domain, KeyKind, Lent, ParseSetting, Placed,
    PolicyOauth, Put, SecurityPolicy, SenderFields, SettingCreation, Signing, Template,
    VerifiedSender, Version, Webhook, largest,
};
use posthaste_testkit::{Scale, entropy};

use crate::NOW;

/// Letters that take six bytes each as JSON, and one in the table.
fn worst(letters: usize) -> String {
    "\u{1}".repeat(letters)
}

#[tokio::test]
async fn an_api_key_with_a_thousand_scopes() {
    let (scale, store) = Scale::table().await;
    let key = ApiKey {
        id: entropy().key_id(),
        account: entropy().account_id(),
        name: "\u{10348}".repeat(255),
        kind: KeyKind::Restricted,
        scopes: (0..1_000)
            .map(|n| format!("{n:04}{}", "s".repeat(44)))
            .collect(),
        hash: "h".repeat(64),
        created_at: NOW,
        is_test: false,
        used_at: None,
    };
    assert!(store.create_key(&key, 100).await.unwrap());
    let row = scale.heaviest("");
    assert!((50_000..=largest::API_KEY).contains(&row.bytes), "{row:?}");
}

#[tokio::test]
async fn a_template_takes_versions_until_it_is_full() {
    let (scale, store) = Scale::table().await;
    let account = entropy().account_id();
    // Names of 100 characters and subjects of 255: 176 of them are 250 KB.
    let version = |number: u8| Version {
        texts: VersionId::from_bytes([number; 16]),
        id: VersionId::from_bytes([number; 16]),
        name: "\u{10348}".repeat(100),
        subject: "\u{10348}".repeat(255),
        updated_at: NOW,
        active: false,
        generate_plain_content: true,
        editor: "design".to_owned(),
        has_content: true,
    };
    let template = Template {
        id: TemplateId::dynamic([1; 16]),
        account: account.clone(),
        name: "\u{10348}".repeat(100),
        created_at: NOW,
        updated_at: NOW,
        versions: (0..170).map(version).collect(),
    };
    let made = store.create_template(&template, 300).await.unwrap();
    assert_eq!(made, Placed::Done(()));
    let mut taken = 170;
    for number in 170..200 {
        let added = store
            .add_version(&account, &template.id, &version(number), 300)
            .await;
        match added.unwrap() {
            Placed::Done(_) => taken += 1,
            _ => break,
        }
    }
    assert_eq!(taken, 176);
    let row = scale.heaviest("");
    assert!(
        (250_000..=largest::TEMPLATE).contains(&row.bytes),
        "{row:?}"
    );
}

fn borrower(n: u32) -> Borrower {
    Borrower {
        account: entropy().account_id(),
        username: format!("{n:04}{}", "u".repeat(60)),
        user_id: u32::MAX - n,
    }
}

#[tokio::test]
async fn a_domain_is_lent_to_a_thousand_subusers_and_no_more() {
    let (scale, store) = Scale::table().await;
    let account = entropy().account_id();
    let name = format!("{}.example.com", "d".repeat(63));
    let record = Record {
        name: "mail_server".to_owned(),
        kind: RecordKind::Txt,
        host: "h".repeat(253),
        data: "k".repeat(450),
        valid: true,
    };
    let key = DkimKey {
        selector: "s".repeat(63),
        public: "p".repeat(400),
        private: "q".repeat(4_000),
    };
    let domain = Domain {
        id: 1,
        account: account.clone(),
        domain: name,
        subdomain: "s".repeat(63),
        ips: vec!["2001:db8:ffff:ffff:ffff:ffff:ffff:ffff".to_owned(); 20],
        custom_spf: true,
        default: true,
        automatic_security: true,
        created_at: NOW,
        checked_at: Some(NOW),
        given_to_ses: Some(NOW),
        records: vec![record; 6],
        keys: vec![key; 2],
        subusers: (0..999).map(borrower).collect(),
    };
    assert_eq!(store.create_domain(&domain).await.unwrap(), Put::Stored);
    for (n, is_full) in [(999, false), (1_000, true)] {
        let lent = store.lend_domain(&account, 1, &borrower(n)).await.unwrap();
        assert_eq!(matches!(lent, Lent::Full), is_full, "{n}");
    }
    let row = scale.heaviest("");
    assert!((100_000..=largest::DOMAIN).contains(&row.bytes), "{row:?}");
}

#[tokio::test]
async fn a_webhook_and_a_parse_setting_with_the_longest_urls() {
    let (scale, store) = Scale::table().await;
    let account = entropy().account_id();
    let webhook = Webhook {
        id: WebhookId::from_bytes([1; 16]),
        account: account.clone(),
        enabled: true,
        url: "u".repeat(2_048),
        target: "t".repeat(3 * 2_048),
        friendly_name: Some(worst(255)),
        created_at: Some(Millis(NOW.0 * 1_000)),
        updated_at: NOW,
        kinds: BTreeSet::new(),
        oauth_client_id: Some(worst(255)),
        oauth_token_url: Some("o".repeat(2_048)),
        oauth_client_secret: Some("s".repeat(2_048)),
        signing: Some(Signing {
            public_key: "p".repeat(200),
            private_key: "q".repeat(400),
        }),
        failing_since: Some(NOW),
        slow_since: Some(NOW),
        unreported: Some("r".repeat(1_024)),
    };
    let made = store.create_webhook(&webhook, 5).await.unwrap();
    assert!(matches!(made, CreateOutcome::Done));
    let setting = ParseSetting {
        account,
        hostname: format!("{}.example.com", "h".repeat(63)),
        url: "u".repeat(2_048),
        target: "t".repeat(3 * 2_048),
        spam_check: true,
        send_raw: true,
        created_at: NOW,
        security_policy: None,
    };
    assert_eq!(
        store.create_parse(&setting).await.unwrap(),
        SettingCreation::Stored
    );
    let row = scale.heaviest("");
    assert!((8_000..=largest::WEBHOOK).contains(&row.bytes), "{row:?}");
}

#[tokio::test]
async fn a_security_policy_with_the_longest_texts() {
    let (scale, store) = Scale::table().await;
    let policy = SecurityPolicy {
        id: entropy().policy_id(),
        account: entropy().account_id(),
        name: worst(1_024),
        created_at: NOW,
        oauth: Some(PolicyOauth {
            client_id: worst(1_024),
            client_secret: "s".repeat(2_048),
            token_url: "o".repeat(2_048),
            // Of one letter each, and a space between two.
            scopes: vec!["s".to_owned(); 512],
        }),
        signing: Some(Signing {
            public_key: "p".repeat(200),
            private_key: "q".repeat(400),
        }),
    };
    assert!(store.create_security_policy(&policy, 1).await.unwrap());
    let row = scale.heaviest("A#");
    assert!((6_000..=largest::WEBHOOK).contains(&row.bytes), "{row:?}");
}

#[tokio::test]
async fn a_verified_sender_with_the_longest_fields() {
    let (scale, store) = Scale::table().await;
    let account: AccountId = entropy().account_id();
    let address = format!("{}@example.com", "\u{10348}".repeat(64));
    let sender = VerifiedSender {
        id: 1,
        account,
        folded: address.clone(),
        verified: false,
        token: Some("t".repeat(64)),
        created_at: NOW,
        updated_at: None,
        fields: SenderFields {
            nickname: "\u{10348}".repeat(100),
            from_email: address.clone(),
            from_name: "\u{10348}".repeat(256),
            reply_to: address,
            reply_to_name: "\u{10348}".repeat(256),
            address: "\u{10348}".repeat(100),
            address2: "\u{10348}".repeat(100),
            state: "\u{10348}".repeat(2),
            city: "\u{10348}".repeat(150),
            zip: "\u{10348}".repeat(10),
            country: "\u{10348}".repeat(100),
        },
    };
    assert_eq!(
        store.create_sender(&sender, None).await.unwrap(),
        Put::Stored
    );
    let row = scale.heaviest("");
    assert!((4_000..=largest::SENDER).contains(&row.bytes), "{row:?}");
}
