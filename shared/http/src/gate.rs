//! The gate in front of every route: key, allow list, on-behalf-of, rate limit, scope.

use std::net::IpAddr;
use std::sync::Arc;

use axum::http::{HeaderMap, StatusCode, header};
use posthaste_model::{AccountId, Clock, KeyId};
use posthaste_store::{Account, ApiKey, Secret, Status, Store};

use crate::limit::{Counters, Who};
use crate::{Access, Cache, Caller, Dialect, Limits, Permit, Rejection};

/// What the gate knows. Cheap to clone; its caches are shared by the clones.
#[derive(Clone)]
pub struct Gate(Arc<Inner>);

struct Inner {
    store: Store,
    clock: Clock,
    limits: Limits,
    keys: Cache<KeyId, ApiKey>,
    accounts: Cache<AccountId, Account>,
    counters: Counters,
}

/// A request that does not get in.
pub(crate) struct Refused {
    pub(crate) rejection: Rejection,
    pub(crate) permit: Permit,
}

impl Gate {
    /// A gate over this table.
    pub fn new(store: Store, clock: Clock, limits: Limits) -> Self {
        Self(Arc::new(Inner {
            store,
            clock,
            limits,
            keys: Cache::default(),
            accounts: Cache::default(),
            counters: Counters::default(),
        }))
    }

    /// Forgets a key that this instance changed, so that the change is felt here at once.
    pub fn forget_key(&self, id: &KeyId) {
        self.0.keys.forget(id);
    }

    /// Forgets an account that this instance changed.
    pub fn forget_account(&self, id: &AccountId) {
        self.0.accounts.forget(id);
    }

    /// Counts a call without a key, by address.
    pub(crate) fn permit_for_stranger(&self, ip: Option<IpAddr>) -> Permit {
        let limits = self.0.limits;
        let now = self.0.clock.now();
        self.0
            .counters
            .take(Who::Stranger(ip), limits.requests, limits.period, now)
    }

    /// Decides about one request.
    pub(crate) async fn admit(
        &self,
        path: &'static str,
        access: Access,
        dialect: Dialect,
        headers: &HeaderMap,
        ip: Option<IpAddr>,
    ) -> Result<(Caller, Permit), Refused> {
        let caller = match self.authenticate(headers, dialect).await {
            Ok(caller) => caller,
            Err(rejection) => return Err(self.refuse_stranger(rejection, ip)),
        };
        let limits = self.0.limits;
        let limit = match dialect {
            Dialect::Mail => limits.mail_send,
            Dialect::General => limits.requests,
        };
        let who = Who::Account(caller.account.id.clone(), path);
        let permit = self
            .0
            .counters
            .take(who, limit, limits.period, self.0.clock.now());
        let refuse = |rejection| Err(Refused { rejection, permit });
        if !permit.allowed {
            let message = "too many requests";
            return refuse(Rejection::plain(StatusCode::TOO_MANY_REQUESTS, message));
        }
        if let Access::Scope(scope) = access
            && !caller.key.holds(scope)
        {
            return refuse(Rejection::forbidden());
        }
        Ok((caller, permit))
    }

    fn refuse_stranger(&self, rejection: Rejection, ip: Option<IpAddr>) -> Refused {
        let permit = self.permit_for_stranger(ip);
        if permit.allowed {
            return Refused { rejection, permit };
        }
        let message = "too many requests";
        Refused {
            rejection: Rejection::plain(StatusCode::TOO_MANY_REQUESTS, message),
            permit,
        }
    }

    async fn authenticate(
        &self,
        headers: &HeaderMap,
        dialect: Dialect,
    ) -> Result<Caller, Rejection> {
        let unknown = || match dialect {
            Dialect::General => Rejection::unauthorized(),
            Dialect::Mail => Rejection::plain(
                StatusCode::UNAUTHORIZED,
                "The provided authorization grant is invalid, expired, or revoked",
            ),
        };
        let Some(token) = bearer(headers) else {
            return Err(match dialect {
                Dialect::General => Rejection::unauthorized(),
                Dialect::Mail => Rejection::plain(
                    StatusCode::UNAUTHORIZED,
                    "Permission denied, wrong credentials",
                ),
            });
        };
        let secret = Secret::parse(token).ok_or_else(unknown)?;
        let key = self.key(secret.id()).await?.ok_or_else(unknown)?;
        if !key.is_opened_by(&secret) {
            return Err(unknown());
        }
        let account = self.account(&key.account).await?.ok_or_else(unknown)?;
        if account.status != Status::Active && dialect == Dialect::Mail {
            return Err(Rejection::plain(
                StatusCode::UNAUTHORIZED,
                "Authenticated user is not authorized to send mail",
            ));
        }
        Ok(Caller { account, key })
    }

    async fn key(&self, id: &KeyId) -> Result<Option<ApiKey>, Rejection> {
        let now = self.0.clock.now_ms();
        if let Some(key) = self.0.keys.get(id, now) {
            return Ok(Some(key));
        }
        let key = self.0.store.key_by_id(id).await?;
        if let Some(key) = &key {
            self.0.keys.put(id.clone(), key.clone(), now);
        }
        Ok(key)
    }

    async fn account(&self, id: &AccountId) -> Result<Option<Account>, Rejection> {
        let now = self.0.clock.now_ms();
        if let Some(account) = self.0.accounts.get(id, now) {
            return Ok(Some(account));
        }
        let account = self.0.store.account(id).await?;
        if let Some(account) = &account {
            self.0.accounts.put(id.clone(), account.clone(), now);
        }
        Ok(account)
    }
}

/// The token out of `Authorization: Bearer <token>`; the scheme's case does not matter (RFC 9110).
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}
