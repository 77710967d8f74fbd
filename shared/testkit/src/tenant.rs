//! Accounts for tests.

use std::sync::LazyLock;

use posthaste_model::{AccountId, Entropy, Record, RecordKind, Timestamp};
use posthaste_store::{Account, ApiKey, Domain, KeyKind, Put, Secret, Store};

static ENTROPY: LazyLock<Entropy> = LazyLock::new(Entropy::counting);

/// Randomness unique in the process: no two tests create the same values.
pub fn entropy() -> Entropy {
    ENTROPY.clone()
}

/// An account and its first key, which has full access.
#[derive(Clone, Debug)]
pub struct Tenant {
    pub account: Account,
    /// The key in clear, as the header carries it.
    pub key: String,
}

impl Tenant {
    /// A new account without a parent.
    ///
    /// # Panics
    /// When the table fails.
    pub async fn new(store: &Store, username: &str, now: Timestamp) -> Self {
        let account = Account::new(entropy().account_id(), username, now);
        Self::open(store, account).await
    }

    /// A new subuser of this account, with a key of its own.
    ///
    /// # Panics
    /// When the table fails or the name is taken.
    pub async fn subuser(&self, store: &Store, username: &str) -> Self {
        // One after the other, because lists of them are in order of creation.
        let before = store.subusers(&self.account.id).await;
        let before = before.expect("a table that works").len();
        let made = self.account.created_at;
        let made = made.plus(i64::try_from(before).expect("a few"));
        let mut account = Account::new(entropy().account_id(), username, made);
        account.parent = Some(self.account.id.clone());
        Self::open(store, account).await
    }

    async fn open(store: &Store, account: Account) -> Self {
        let created = store.create_account(&account).await;
        assert!(created.expect("a table that works"), "name taken");
        let key = key(store, &account.id, KeyKind::Full, &[]).await;
        Self { account, key }
    }

    /// A verified domain of this account, which may send from it. It has no DKIM key: its mail
    /// leaves unsigned.
    ///
    /// # Panics
    /// When the table fails or the account has this domain.
    pub async fn domain(&self, store: &Store, name: &str) {
        let id = store.next_domain_id(&self.account.id).await;
        let domain = Domain {
            id: id.expect("a table that works"),
            account: self.account.id.clone(),
            domain: name.into(),
            subdomain: "em".into(),
            ips: Vec::new(),
            custom_spf: false,
            default: false,
            automatic_security: true,
            created_at: self.account.created_at,
            checked_at: None,
            given_to_ses: None,
            records: vec![Record {
                name: "mail_cname".into(),
                kind: RecordKind::Cname,
                host: format!("em.{name}"),
                data: "bounce.post.example".into(),
                valid: true,
            }],
            keys: Vec::new(),
            subusers: Vec::new(),
        };
        let put = store.create_domain(&domain).await;
        assert_eq!(
            put.expect("a table that works"),
            Put::Stored,
            "domain taken"
        );
    }

    /// A further key of this account, with exactly these scopes.
    ///
    /// # Panics
    /// When the table fails.
    pub async fn restricted(&self, store: &Store, scopes: &[&str]) -> String {
        key(store, &self.account.id, KeyKind::Restricted, scopes).await
    }
}

/// A new key of this account, with full access.
///
/// # Panics
/// When the table fails.
pub async fn key_of(store: &Store, account: &Account) -> String {
    key(store, &account.id, KeyKind::Full, &[]).await
}

async fn key(store: &Store, account: &AccountId, kind: KeyKind, scopes: &[&str]) -> String {
    let secret = Secret::generate(&entropy());
    let key = ApiKey {
        id: secret.id().clone(),
        account: account.clone(),
        name: "test".to_owned(),
        kind,
        scopes: scopes.iter().map(|&scope| scope.to_owned()).collect(),
        hash: secret.hash(),
        created_at: Timestamp(0),
        is_test: false,
        used_at: None,
    };
    let created = store.create_key(&key, 100).await;
    assert!(created.expect("a table that works"), "too many keys");
    secret.expose().to_owned()
}
