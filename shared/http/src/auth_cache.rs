//! The keys, sessions, accounts and subusers that requests name, cached for a few seconds.

use std::sync::Arc;

use posthaste_cache::Cache;
use posthaste_model::{AccountId, Clock, KeyId};
use posthaste_store::{
    Account, AccountCache, AccountStatus, ApiKey, ConsoleSession, ConsoleToken, Secret, Store,
};

use crate::Rejection;
use crate::credentials::DelegatedAccount;

/// The lookups of this instance.
pub(crate) struct AuthCache {
    store: Store,
    clock: Clock,
    keys: Cache<KeyId, Arc<ApiKey>>,
    sessions: Cache<KeyId, Arc<ConsoleSession>>,
    accounts: AccountCache,
    /// Ids by parent and lower-case user name.
    subusers: Cache<(AccountId, String), AccountId>,
}

/// A valid key, or the one that a valid session stands for, and its account.
pub(crate) struct Credentials {
    pub(crate) key: Arc<ApiKey>,
    pub(crate) account: Arc<Account>,
    pub(crate) session: Option<Arc<ConsoleSession>>,
}

impl AuthCache {
    /// An empty cache of what this table holds.
    pub(crate) fn new(store: Store, clock: Clock) -> Self {
        Self {
            accounts: AccountCache::new(store.clone(), clock.clone()),
            store,
            clock,
            keys: Cache::default(),
            sessions: Cache::default(),
            subusers: Cache::default(),
        }
    }

    /// Drops a key that this instance changed.
    pub(crate) fn forget_key(&self, id: &KeyId) {
        self.keys.forget(id);
    }

    /// Drops a session that this instance ended or noted the use of.
    pub(crate) fn forget_session(&self, id: &KeyId) {
        self.sessions.forget(id);
    }

    /// Drops an account that this instance changed.
    pub(crate) fn forget_account(&self, id: &AccountId) {
        self.accounts.forget(id);
    }

    /// The key with this secret, and its account.
    pub(crate) async fn open(&self, secret: &Secret) -> Result<Option<Credentials>, Rejection> {
        let Some(key) = self.key(secret.id()).await? else {
            return Ok(None);
        };
        if !key.is_opened_by(secret) {
            return Ok(None);
        }
        let account = self.account(&key.account).await?;
        Ok(account.map(|account| Credentials {
            key,
            account,
            session: None,
        }))
    }

    /// The session with this token, with the key that it was opened with, as it is now, and its account.
    pub(crate) async fn open_session(
        &self,
        token: &ConsoleToken,
    ) -> Result<Option<Credentials>, Rejection> {
        let Some(session) = self.session(token).await? else {
            return Ok(None);
        };
        let key = match &session.key {
            None => Some(Arc::new(session.full_access())),
            Some(id) => self.key(id).await?,
        };
        let Some(key) = key.filter(|key| key.account == session.account) else {
            return Ok(None);
        };
        let account = self.account(&session.account).await?;
        Ok(account.map(|account| Credentials {
            key,
            account,
            session: Some(session),
        }))
    }

    /// The session with this token, unless it has ended.
    pub(crate) async fn session(
        &self,
        token: &ConsoleToken,
    ) -> Result<Option<Arc<ConsoleSession>>, Rejection> {
        let now = self.clock.now_ms();
        let session = match self.sessions.get(token.id(), now) {
            Some(session) => Some(session),
            None => {
                let session = self.store.session(token.account(), token.id()).await?;
                let session = session.map(Arc::new);
                if let Some(session) = &session {
                    self.sessions
                        .put(token.id().clone(), Arc::clone(session), now);
                }
                session
            }
        };
        Ok(session.filter(|session| session.is_opened_by(token, now.seconds())))
    }

    async fn key(&self, id: &KeyId) -> Result<Option<Arc<ApiKey>>, Rejection> {
        let (keys, now) = (&self.keys, self.clock.now_ms());
        if let Some(key) = keys.get(id, now) {
            return Ok(Some(key));
        }
        let key = self.store.key_by_id(id).await?.map(Arc::new);
        if let Some(key) = &key {
            keys.put(id.clone(), Arc::clone(key), now);
        }
        Ok(key)
    }

    pub(crate) async fn account(&self, id: &AccountId) -> Result<Option<Arc<Account>>, Rejection> {
        Ok(self.accounts.account(id).await?)
    }

    /// The status of an account that those above it allow.
    pub(crate) async fn effective_status(
        &self,
        account: &Account,
    ) -> Result<AccountStatus, Rejection> {
        Ok(self.accounts.effective_status(account).await?)
    }

    /// The account that `parent` names, if it is a child of it. A subuser is named by its user name
    /// only; an id names a customer account (API facts, appendix C).
    pub(crate) async fn under(
        &self,
        parent: &AccountId,
        named: DelegatedAccount<'_>,
    ) -> Result<Option<Arc<Account>>, Rejection> {
        let account = match named {
            DelegatedAccount::Account(id) => match AccountId::parse(id) {
                Ok(id) => self.account(&id).await?.filter(|account| account.customer),
                Err(_) => None,
            },
            DelegatedAccount::Subuser(name) => self.called(parent, name).await?,
        };
        Ok(account.filter(|account| account.parent.as_ref() == Some(parent)))
    }

    /// The subuser of this name. A cached id whose account is gone is looked up once more: the name
    /// may belong to another account by now.
    async fn called(
        &self,
        parent: &AccountId,
        name: &str,
    ) -> Result<Option<Arc<Account>>, Rejection> {
        for _ in 0..2 {
            let Some(id) = self.subuser(parent, name).await? else {
                return Ok(None);
            };
            if let Some(account) = self.account(&id).await? {
                return Ok(Some(account));
            }
            let asked = (parent.clone(), name.to_lowercase());
            self.subusers.forget(&asked);
        }
        Ok(None)
    }

    async fn subuser(
        &self,
        parent: &AccountId,
        name: &str,
    ) -> Result<Option<AccountId>, Rejection> {
        let (subusers, now) = (&self.subusers, self.clock.now_ms());
        let asked = (parent.clone(), name.to_lowercase());
        if let Some(id) = subusers.get(&asked, now) {
            return Ok(Some(id));
        }
        let id = self.store.subuser_id(parent, name).await?;
        if let Some(id) = &id {
            subusers.put(asked, id.clone(), now);
        }
        Ok(id)
    }
}
