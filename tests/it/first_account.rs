//! The account and key that a data folder's host makes for its developer, from start to start.

use std::fs;
use std::path::Path;

use posthaste::{Host, HostSettings};
use posthaste_store::AccountStatus;
use posthaste_testkit::TestClock;
use reqwest::{Client, Method};
use serde_json::{Value, json};

/// A host on a folder, with real randomness: what one makes, no other makes again.
struct Home {
    host: Host,
    client: Client,
}

impl Home {
    async fn start(folder: &Path) -> Self {
        let mut settings =
            HostSettings::in_memory(TestClock::default().clock(), posthaste_runtime::entropy());
        settings.data = Some(folder.to_owned());
        Self {
            host: Host::start(&settings).await.expect("the host starts"),
            client: Client::new(),
        }
    }

    /// What the API answers to a request with this key.
    async fn call(&self, key: &str, method: Method, path: &str, body: &Value) -> (u16, Value) {
        let url = format!("http://{}{path}", self.host.api);
        let call = self.client.request(method, url).bearer_auth(key).json(body);
        let answer = call.send().await.expect("the API answers");
        let status = answer.status().as_u16();
        let text = answer.text().await.expect("a whole answer");
        (status, serde_json::from_str(&text).unwrap_or_default())
    }

    /// The status of a request that reads with this key.
    async fn reads(&self, key: &str) -> u16 {
        let read = self.call(key, Method::GET, "/v3/api_keys", &Value::Null);
        read.await.0
    }

    fn key(&self) -> String {
        self.host.key.clone().expect("a key")
    }

    async fn accounts(&self) -> usize {
        self.host.store().accounts().await.expect("a table").len()
    }

    /// Checks that it started without a key, with a sentence that has these words in it.
    #[track_caller]
    fn has_no_key_for(&self, words: &[&str]) {
        assert_eq!(self.host.key, None);
        self.says(words);
    }

    #[track_caller]
    fn says(&self, words: &[&str]) {
        let notice = self.host.notice.as_deref().unwrap_or_default();
        for word in words {
            assert!(notice.contains(word), "{word}: {notice:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_key_stays_revoked_and_deleting_its_file_asks_for_a_new_one() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("api-key");
    let home = Home::start(dir.path()).await;
    let (first, account) = (home.key(), home.host.account.clone());
    let made = json!({"name": "mine"});
    let made = home.call(&first, Method::POST, "/v3/api_keys", &made).await;
    let second = made.1["api_key"].as_str().expect("a key").to_owned();
    let id = first.split('.').nth(1).expect("an id");
    let path = format!("/v3/api_keys/{id}");
    let revoked = home
        .call(&second, Method::DELETE, &path, &Value::Null)
        .await;
    assert_eq!(revoked.0, 204);
    home.host.stop().await;

    for _ in 0..2 {
        let home = Home::start(dir.path()).await;
        home.has_no_key_for(&["revoked", "api-key", "delete the file", account.as_str()]);
        assert_eq!(home.reads(&first).await, 401);
        assert_eq!(home.reads(&second).await, 200);
        assert_eq!(home.accounts().await, 1);
        home.host.stop().await;
        let kept = fs::read_to_string(&file).expect("the file");
        assert_eq!(kept.trim(), first, "the developer's file is left alone");
    }

    fs::remove_file(&file).expect("the file");
    let home = Home::start(dir.path()).await;
    let third = home.key();
    assert_eq!((&home.host.account, home.accounts().await), (&account, 1));
    for (key, status) in [(&first, 401), (&second, 200), (&third, 200)] {
        assert_eq!(home.reads(key).await, status);
    }
    home.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_file_gives_the_existing_account_a_new_key() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("api-key");
    let home = Home::start(dir.path()).await;
    assert_eq!(home.host.notice, None);
    let (first, account) = (home.key(), home.host.account.clone());
    home.host.stop().await;
    fs::remove_file(&file).expect("the file");

    let home = Home::start(dir.path()).await;
    home.says(&["was missing", account.as_str(), "new key"]);
    let second = home.key();
    assert_ne!(first, second);
    assert_eq!((&home.host.account, home.accounts().await), (&account, 1));
    // It may be in use somewhere: its owner decides about it.
    assert_eq!(home.reads(&first).await, 200);
    assert_eq!(home.reads(&second).await, 200);
    home.host.stop().await;

    let home = Home::start(dir.path()).await;
    assert_eq!((home.key(), &home.host.notice), (second, &None));
    home.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_another_folder_makes_no_account_and_no_key() {
    let (one, other) = (tempfile::tempdir(), tempfile::tempdir());
    let (one, other) = (one.expect("a folder"), other.expect("a folder"));
    let (mine, foreign) = (one.path().join("api-key"), other.path().join("api-key"));
    let home = Home::start(other.path()).await;
    let theirs = home.key();
    home.host.stop().await;
    let home = Home::start(one.path()).await;
    let own = home.key();
    home.host.stop().await;
    let kept = fs::read(&mine).expect("the file");
    fs::copy(&foreign, &mine).expect("a copy");

    let home = Home::start(one.path()).await;
    home.has_no_key_for(&["another folder's"]);
    assert_eq!(home.accounts().await, 1);
    assert_eq!(home.reads(&theirs).await, 401);
    assert_eq!(home.reads(&own).await, 200);
    home.host.stop().await;

    fs::write(&mine, kept).expect("a write");
    let home = Home::start(one.path()).await;
    assert_eq!((home.key(), &home.host.notice), (own, &None));
    home.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suspended_account_stays_suspended_and_the_host_says_so() {
    let dir = tempfile::tempdir().expect("a folder");
    let turn = async |home: &Home, suspended| {
        let id = &home.host.account;
        let turn = |account: &mut posthaste_store::Account| {
            account.status = account.status.suspended(suspended);
        };
        let turned = home.host.store().update_account(id, turn).await;
        turned.expect("a table").expect("an account").status
    };
    let home = Home::start(dir.path()).await;
    let key = home.key();
    assert_eq!(turn(&home, true).await, AccountStatus::Suspended);
    home.host.stop().await;

    let home = Home::start(dir.path()).await;
    home.says(&["suspended", "account resume"]);
    assert_eq!(home.key(), key);
    assert_eq!(home.reads(&key).await, 403);
    assert_eq!(turn(&home, false).await, AccountStatus::Active);
    home.host.stop().await;

    let home = Home::start(dir.path()).await;
    assert_eq!((home.reads(&key).await, &home.host.notice), (200, &None));
    home.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_account_stays_deleted_until_a_new_one_is_asked_for() {
    let dir = tempfile::tempdir().expect("a folder");
    let home = Home::start(dir.path()).await;
    let (key, id) = (home.key(), home.host.account.clone());
    let account = home.host.store().account(&id).await.expect("a table");
    let account = account.expect("an account");
    let deleted = home.host.store().delete_account(&account).await;
    deleted.expect("a table");
    home.host.stop().await;

    let home = Home::start(dir.path()).await;
    home.has_no_key_for(&["deleted", id.as_str()]);
    assert_eq!((home.accounts().await, home.reads(&key).await), (0, 401));
    home.host.stop().await;

    fs::remove_file(dir.path().join("api-key")).expect("the file");
    let home = Home::start(dir.path()).await;
    assert_ne!(home.host.account, id);
    assert_eq!((home.accounts().await, home.reads(&key).await), (1, 401));
    assert_eq!(home.reads(&home.key()).await, 200);
    home.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_lies_ready_opens_a_new_folder() {
    let dir = tempfile::tempdir().expect("a folder");
    let text = format!("SG.{}.{}", "k".repeat(22), "s".repeat(43));
    fs::write(dir.path().join("api-key"), &text).expect("a write");
    let home = Home::start(dir.path()).await;
    assert_eq!((home.key(), home.reads(&text).await), (text, 200));
    home.host.stop().await;
}
