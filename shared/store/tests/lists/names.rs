//! Rows that hold a name for its owner, marks of a copy, and the texts of a template: at the limits of what is
//! taken, each weighs what the crate's documentation says.

use std::collections::BTreeSet;

use posthaste_model::{AccountId, EmailAddress, EventKind, VersionId, WebhookId};
use posthaste_store::{
    CreateOutcome, GroupSaved, LONGEST_USERNAME, ParseSetting, Put, SenderFields, SenderLink,
    SettingCreation, VerifiedSender, VersionTexts, Webhook, largest,
};
use posthaste_testkit::{Scale, Tenant, Weighed, entropy};

use crate::NOW;

/// Octets of a sort key that DynamoDB takes.
const LONGEST_KEY: usize = 1_024;

/// The longest name of a host: 253 characters.
fn hostname() -> String {
    let label = "h".repeat(63);
    format!("{label}.{label}.{label}.{}", "h".repeat(61))
}

/// An address that is longer in lower case: half of its letters then take three octets instead of two.
fn address() -> EmailAddress {
    let local = format!("{}{}", "\u{10348}".repeat(130), "\u{23a}".repeat(170));
    EmailAddress::parse_stored(&format!("{local}@example.com")).unwrap()
}

/// The rows whose sort key, or partition key, begins like this.
fn begin(scale: &Scale, with: &str) -> Vec<Weighed> {
    let mut rows = scale.rows("");
    rows.retain(|row| row.sk.starts_with(with) || row.pk.starts_with(with));
    rows
}

fn webhook(account: &AccountId) -> Webhook {
    Webhook {
        id: WebhookId::from_bytes([1; 16]),
        account: account.clone(),
        enabled: true,
        url: "u".repeat(2_048),
        target: "t".repeat(3 * 2_048),
        friendly_name: None,
        created_at: None,
        updated_at: NOW,
        kinds: BTreeSet::new(),
        oauth_client_id: None,
        oauth_token_url: None,
        oauth_client_secret: None,
        signing: None,
        failing_since: None,
        slow_since: None,
        unreported: None,
    }
}

fn sender(account: &AccountId) -> VerifiedSender {
    VerifiedSender {
        id: 1,
        account: account.clone(),
        folded: address().folded(),
        verified: false,
        token: None,
        created_at: NOW,
        updated_at: None,
        fields: SenderFields::default(),
    }
}

fn setting(account: &AccountId) -> ParseSetting {
    ParseSetting {
        account: account.clone(),
        hostname: hostname(),
        url: "https://app.example/in".to_owned(),
        target: "https://app.example/in".to_owned(),
        spam_check: true,
        send_raw: true,
        created_at: NOW,
        security_policy: None,
    }
}

#[tokio::test]
async fn the_largest_texts_of_a_version_lie_in_parts() {
    let (scale, store) = Scale::table().await;
    let account = entropy().account_id();
    let id = VersionId::from_bytes([1; 16]);
    // A megabyte each: of letters that take six bytes as JSON, and of letters that no part may cut in two.
    let texts = VersionTexts {
        html_content: "\u{1}".repeat(1 << 20),
        plain_content: "\u{10348}".repeat(1 << 18),
        test_data: "{}".to_owned(),
    };
    store.put_texts(&account, &id, &texts).await.unwrap();
    let parts = begin(&scale, "TPLTEXT#");
    assert_eq!(parts.len(), 25, "seven megabytes of JSON");
    let heaviest = parts.iter().map(|part| part.bytes).max().unwrap();
    assert!(
        (300_000..=largest::VERSION_TEXT).contains(&heaviest),
        "{heaviest}"
    );
    assert_eq!(store.texts(&account, &id).await.unwrap(), Some(texts));
}

#[tokio::test]
async fn the_longest_names_are_held_by_small_rows() {
    let (scale, store) = Scale::table().await;
    let tenant = Tenant::new(&store, "parent", NOW).await;
    let account = &tenant.account.id;
    tenant.subuser(&store, &"U".repeat(LONGEST_USERNAME)).await;
    tenant.domain(&store, &hostname()).await;
    let (sender, link) = (
        sender(account),
        SenderLink::new(&"t".repeat(64), NOW.plus(60)),
    );
    assert!(sender.folded.len() > LONGEST_KEY, "it has to be cut");
    let created = store.create_sender(&sender, Some(&link)).await;
    assert_eq!(created.unwrap(), Put::Stored);
    let created = store.create_parse(&setting(account)).await;
    assert_eq!(created.unwrap(), SettingCreation::Stored);
    let created = store.create_webhook(&webhook(account), 5).await;
    assert_eq!(created.unwrap(), CreateOutcome::Done);
    let name = "\u{10348}".repeat(30);
    let created = store.create_group(account, (&name, ""), false).await;
    assert!(matches!(created.unwrap(), GroupSaved::Done(_)));

    for (with, count) in [
        // The domain's and the sender's.
        ("FROM#", 2),
        ("SUB#", 1),
        ("PARSE#", 1),
        ("MX#", 1),
        ("HOOKURL#", 1),
        ("GROUPNAME#", 1),
        ("LINK#", 1),
    ] {
        let rows = begin(&scale, with);
        assert_eq!(rows.len(), count, "{with}");
        for row in rows {
            assert!(row.bytes <= largest::SMALL, "{row:?}");
            assert!(row.sk.len() <= LONGEST_KEY, "{row:?}");
        }
    }
    // What was cut is found all the same, and is nobody else's.
    let found = store.sender_of(account, &sender.folded).await.unwrap();
    assert_eq!(found.map(|found| found.id), Some(sender.id));
    let other = format!("{}x", sender.folded);
    assert_eq!(store.sender_of(account, &other).await.unwrap(), None);
    let name = "u".repeat(LONGEST_USERNAME);
    let subuser = store.subuser_id(account, &name).await.unwrap();
    assert!(subuser.is_some());
}

#[tokio::test]
async fn marks_of_a_copy_are_small_and_set_once() {
    let (scale, store) = Scale::table().await;
    let (account, message) = (entropy().account_id(), entropy().message_id());
    let recipient = 9_999;
    // As feedback names them: the longest kind, a hash of a mail, the copy.
    let kind = EventKind::GroupUnsubscribe.wire();
    let left = format!("{kind}-fb{}-{message}-{recipient}", "h".repeat(64));
    for first in [true, false] {
        let copy = (&account, &message, recipient);
        let told = store.tell_once(copy, &left, NOW).await;
        assert_eq!(told.unwrap(), first);
    }
    for kind in [EventKind::Open, EventKind::Click] {
        // As visits are named.
        let id = |nonce: u64| format!("{}-{nonce:016x}-{message}-{recipient}", kind.wire());
        for nonce in [u64::MAX, 1] {
            let visit = id(nonce);
            let visit = (kind.flag(), visit.as_str());
            let first = store.first_of(&account, (&message, recipient), visit, NOW);
            assert_eq!(first.await.unwrap(), id(u64::MAX));
        }
    }
    for (with, count) in [("TOLD#", 1), ("FIRST#", 2)] {
        let rows = begin(&scale, with);
        assert_eq!(rows.len(), count, "{with}");
        assert!(
            rows.iter().all(|row| row.bytes <= largest::SMALL),
            "{rows:?}"
        );
    }
}
