//! The authorizer in front of every route: key, allow list, on-behalf-of, rate limit, scope.

use std::net::IpAddr;
use std::sync::Arc;

use axum::http::{HeaderMap, StatusCode};
use posthaste_model::{AccountId, Clock, KeyId, PublicUrl, scope};
use posthaste_store::{
    AccessRecord, Account, AccountCache, AccountStatus, ApiKey, Region, Secret, Store,
};

use crate::access_log::{AccessAttempt, AccessLog};
use crate::allow_list::Lists;
use crate::anonymous_limiter::AnonymousLimiter;
use crate::auth_cache::AuthCache;
use crate::lease::Leases;
use crate::limit::LimitPeriod;
use crate::{Access, Caller, Dialect, Permit, RateLimits, Rejection};

/// The scope of all sending: an account that may not send gets its own error.
const SENDING: &str = "mail.send";

/// The authorizer's state. Cheap to clone; its caches are shared by the clones.
#[derive(Clone)]
pub struct Authorizer(Arc<AuthorizerState>);

pub(crate) struct AuthorizerState {
    pub(crate) store: Store,
    pub(crate) clock: Clock,
    limits: RateLimits,
    /// Where accounts in the EU are served, if elsewhere.
    eu: Option<PublicUrl>,
    known: AuthCache,
    pub(crate) accounts: AccountCache,
    lists: Lists,
    leases: Leases,
    strangers: AnonymousLimiter,
    notes: AccessLog,
}

/// The properties of a request that decide on it.
pub(crate) struct AuthRequest<'a> {
    /// Method and path template.
    pub(crate) endpoint: &'a Arc<str>,
    pub(crate) access: Access,
    pub(crate) dialect: Dialect,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) ip: Option<IpAddr>,
}

/// A request that is admitted.
pub(crate) struct Authorized {
    pub(crate) caller: Caller,
    pub(crate) permit: Permit,
    pub(crate) note: Option<AccessAttempt>,
}

/// A request that is refused.
pub(crate) struct AuthRefusal {
    pub(crate) rejection: Rejection,
    pub(crate) permit: Permit,
    pub(crate) note: Option<AccessAttempt>,
}

/// A valid key and its account.
pub(crate) struct Credentials {
    pub(crate) key: Arc<ApiKey>,
    pub(crate) account: Arc<Account>,
}

impl Authorizer {
    /// An authorizer over this table, which holds the accounts of every region.
    pub fn new(store: Store, clock: Clock, limits: RateLimits) -> Self {
        Self::with_eu_elsewhere(store, clock, limits, None)
    }

    /// The same; accounts in the EU are refused if they are served at another address, `eu`.
    pub fn with_eu_elsewhere(
        store: Store,
        clock: Clock,
        limits: RateLimits,
        eu: Option<PublicUrl>,
    ) -> Self {
        Self(Arc::new(AuthorizerState {
            known: AuthCache::default(),
            accounts: AccountCache::new(store.clone(), clock.clone()),
            lists: Lists::default(),
            leases: Leases::default(),
            strangers: AnonymousLimiter::default(),
            notes: AccessLog::default(),
            store,
            clock,
            limits,
            eu,
        }))
    }

    /// Drops a key that this instance changed from the cache, so that the change takes effect here
    /// at once.
    pub fn forget_key(&self, id: &KeyId) {
        self.0.known.keys.forget(id);
    }

    /// Drops an account that this instance changed from the cache.
    pub fn forget_account(&self, id: &AccountId) {
        self.0.accounts.forget(id);
    }

    /// Counts a call without a key, by address.
    pub(crate) fn permit_for_anonymous(&self, ip: Option<IpAddr>) -> Permit {
        let period = LimitPeriod::at(self.0.clock.now(), self.0.limits.period);
        self.0.strangers.count(ip, self.0.limits.requests, period)
    }

    /// Decides about one request.
    pub(crate) async fn authorize(
        &self,
        asked: &AuthRequest<'_>,
    ) -> Result<Authorized, AuthRefusal> {
        let held = match self.authenticate(asked.headers, asked.dialect).await {
            Ok(held) => held,
            Err(rejection) => return Err(self.refuse_anonymous(rejection, asked.ip)),
        };
        let lets_in = match self.lets_in(&held.account, asked.ip).await {
            Ok(lets_in) => lets_in,
            Err(rejection) => return Err(self.refuse_anonymous(rejection, asked.ip)),
        };
        let note = |permit: &Permit| {
            // Past the limit nothing is recorded: writes do not grow with the number of calls.
            let noted = permit.allowed.then_some(&held.account)?;
            self.note(noted, asked.ip, "bearer", lets_in)
        };
        if !lets_in {
            // Counted by address: a caller with a stolen key must not use up its owner's permits.
            let refused = self.refuse_anonymous(access_refusal(asked.access), asked.ip);
            let note = note(&refused.permit);
            return Err(AuthRefusal { note, ..refused });
        }
        let account = self.acted_for(&held.account, asked.headers).await;
        let counted = account.as_ref().unwrap_or(&held.account);
        let permit = self.take(&counted.id, asked.endpoint).await;
        let note = note(&permit);
        let account = match account {
            _ if !permit.allowed => Err(too_many()),
            Err(rejection) => Err(rejection),
            Ok(account) => self.may(&held, account, asked.access).await,
        };
        match account {
            Err(rejection) => Err(AuthRefusal {
                rejection,
                permit,
                note,
            }),
            Ok(account) => {
                let key = held.key;
                let ip = asked.ip;
                let caller = Caller { account, key, ip };
                Ok(Authorized {
                    caller,
                    permit,
                    note,
                })
            }
        }
    }

    /// The account that is acted for, if the key is valid and holds the scope, and that account may
    /// use it.
    ///
    /// The key of an account that is disabled or suspended, or below one that is, is rejected: a
    /// leaked key must neither read what is left nor create a successor. A parent whose own key is
    /// valid still acts for such a subuser, to read, to revoke its keys and to clean up, but not to
    /// send.
    async fn may(
        &self,
        Credentials { key, account: own }: &Credentials,
        account: Arc<Account>,
        access: Access,
    ) -> Result<Arc<Account>, Rejection> {
        if !self.is_active(own).await? {
            return Err(access_refusal(access));
        }
        if account.region == Region::Eu
            && let Some(eu) = &self.0.eu
        {
            let message = format!(
                "the account is in the EU: send its requests to {}",
                eu.as_str()
            );
            return Err(Rejection::plain(StatusCode::FORBIDDEN, message));
        }
        let holds = match access {
            Access::Scope(scope) => is_opened_by(key, scope),
            Access::Either(one, other) => is_opened_by(key, one) || is_opened_by(key, other),
            Access::AnyKey | Access::Public => true,
        };
        if !holds {
            return Err(Rejection::forbidden());
        }
        // The status of the key's own account was looked up above already.
        if access == Access::Scope(SENDING) && account.id != own.id {
            self.check_may_send(&account).await?;
        }
        Ok(account)
    }

    /// Refuses, as mail/send does, what makes the service write to third parties for an account
    /// that is disabled or suspended: its parent may still act for it.
    ///
    /// # Errors
    /// 401 when it or one above it is disabled or suspended; when the table fails.
    pub async fn check_may_send(&self, account: &Account) -> Result<(), Rejection> {
        match self.is_active(account).await? {
            true => Ok(()),
            false => Err(Rejection::not_authorized_to_send()),
        }
    }

    /// Whether neither this account nor one above it is disabled or suspended.
    pub async fn is_active(&self, account: &Account) -> Result<bool, Rejection> {
        let status = self.0.accounts.effective_status(account).await?;
        Ok(status == AccountStatus::Active)
    }

    /// Admits a client that presents a key outside of a header, to send: SMTP submission. Key,
    /// allow list, scope and account status are checked as for mail/send.
    ///
    /// # Errors
    /// The rejection that mail/send would answer with.
    pub async fn log_in(&self, key: &str, ip: Option<IpAddr>) -> Result<Caller, Rejection> {
        let wrong = || wrong_key(Dialect::Mail);
        let secret = Secret::parse(key).ok_or_else(wrong);
        let held = match secret {
            Ok(secret) => self.0.open(&secret).await?.ok_or_else(wrong),
            Err(rejection) => Err(rejection),
        };
        let held = held.map_err(|rejection| self.refuse_anonymous(rejection, ip).rejection)?;
        if !self.lets_in(&held.account, ip).await? {
            let refused = self.refuse_anonymous(Rejection::not_authorized_to_send(), ip);
            if refused.permit.allowed {
                self.record(self.note(&held.account, ip, "basic", false))
                    .await;
            }
            return Err(refused.rejection);
        }
        self.record(self.note(&held.account, ip, "basic", true))
            .await;
        let account = Arc::clone(&held.account);
        let account = self.may(&held, account, Access::Scope(SENDING)).await?;
        let key = held.key;
        Ok(Caller { account, key, ip })
    }

    /// Takes one permit of an account at an endpoint, named by method and path template.
    pub async fn take(&self, account: &AccountId, endpoint: &Arc<str>) -> Permit {
        let period = LimitPeriod::at(self.0.clock.now(), self.0.limits.period);
        let limit = self.0.limits.of(endpoint);
        let who = (account.clone(), Arc::clone(endpoint));
        self.0.leases.take(&self.0.store, who, limit, period).await
    }

    async fn lets_in(&self, account: &Account, ip: Option<IpAddr>) -> Result<bool, Rejection> {
        let list = self.0.lists.of(&self.0.store, account).await?;
        Ok(list.lets_in(ip))
    }

    /// The attempt, if it is to be recorded.
    fn note(
        &self,
        account: &Account,
        ip: Option<IpAddr>,
        auth_method: &'static str,
        allowed: bool,
    ) -> Option<AccessAttempt> {
        let note = AccessAttempt {
            account: account.id.clone(),
            ip: ip?,
            auth_method,
            allowed,
        };
        let news = self.0.notes.should_record(&note, self.0.clock.now());
        news.then_some(note)
    }

    /// Records an attempt. A failure to do so does not fail the request.
    pub(crate) async fn record(&self, note: Option<AccessAttempt>) {
        let Some(note) = note else { return };
        let seen = AccessRecord {
            ip: note.ip,
            auth_method: note.auth_method,
            allowed: note.allowed,
            at: self.0.clock.now(),
        };
        if let Err(error) = self.0.store.record_attempt(&note.account, seen).await {
            tracing::warn!(%error, account.id = %note.account, "access to {} was not noted: {error}", note.account);
        }
    }

    fn refuse_anonymous(&self, rejection: Rejection, ip: Option<IpAddr>) -> AuthRefusal {
        let permit = self.permit_for_anonymous(ip);
        let rejection = if permit.allowed {
            rejection
        } else {
            too_many()
        };
        AuthRefusal {
            rejection,
            permit,
            note: None,
        }
    }

    async fn authenticate(
        &self,
        headers: &HeaderMap,
        dialect: Dialect,
    ) -> Result<Credentials, Rejection> {
        let token = crate::auth_cache::bearer(headers).ok_or_else(|| no_key(dialect))?;
        let wrong = || wrong_key(dialect);
        let secret = Secret::parse(token).ok_or_else(wrong)?;
        self.0.open(&secret).await?.ok_or_else(wrong)
    }

    async fn acted_for(
        &self,
        own: &Arc<Account>,
        headers: &HeaderMap,
    ) -> Result<Arc<Account>, Rejection> {
        let named = crate::auth_cache::on_behalf_of(headers).ok_or_else(Rejection::forbidden)?;
        let Some(named) = named else {
            return Ok(Arc::clone(own));
        };
        let found = self.0.under(&own.id, named).await?;
        found.ok_or_else(Rejection::forbidden)
    }
}

impl AuthorizerState {
    pub(crate) fn known(&self) -> &AuthCache {
        &self.known
    }
}

/// Whether a key opens routes with this scope, by this name or another one.
fn is_opened_by(key: &ApiKey, scope: &str) -> bool {
    key.holds(scope) || scope::other_names(scope).iter().any(|name| key.holds(name))
}

fn too_many() -> Rejection {
    Rejection::plain(StatusCode::TOO_MANY_REQUESTS, "too many requests")
}

/// The error for a caller outside the allow list, and for one whose account is disabled or
/// suspended.
fn access_refusal(access: Access) -> Rejection {
    match access {
        Access::Scope(SENDING) => Rejection::not_authorized_to_send(),
        Access::Scope(_) | Access::Either(..) | Access::AnyKey | Access::Public => {
            Rejection::forbidden()
        }
    }
}

fn no_key(dialect: Dialect) -> Rejection {
    match dialect {
        Dialect::General | Dialect::Senders => Rejection::unauthorized(),
        Dialect::Mail => Rejection::plain(
            StatusCode::UNAUTHORIZED,
            "Permission denied, wrong credentials",
        ),
    }
}

fn wrong_key(dialect: Dialect) -> Rejection {
    match dialect {
        Dialect::General | Dialect::Senders => Rejection::unauthorized(),
        Dialect::Mail => Rejection::plain(
            StatusCode::UNAUTHORIZED,
            "The provided authorization grant is invalid, expired, or revoked",
        ),
    }
}
