//! The authorizer in front of every route: key or session, allow list, on-behalf-of, rate limit, scope.

mod audit;
mod last_use;
mod sessions;

use std::net::IpAddr;
use std::sync::Arc;

use axum::http::{HeaderMap, Method, StatusCode};
use posthaste_cache::Cache;
use posthaste_model::{AccountId, Clock, KeyId, PublicUrl, scope};
use posthaste_store::{Account, AccountStatus, ApiKey, Region, Secret, Store};

use crate::access_log::{AccessAttempt, AccessLog};
use crate::allow_list::Lists;
use crate::auth_cache::{AuthCache, Credentials};
use crate::credentials::{bearer, no_key, on_behalf_of, wrong_key};
use crate::lease::Leases;
use crate::limit::{AnonymousLimiter, LimitPeriod};
use crate::{Access, Caller, Dialect, GatewayName, RateDecision, RateLimits, Rejection};

use audit::AuditLog;
pub use sessions::{BrowserRequest, Entry, SignIn};

/// The scope of all sending: an account that may not send gets its own error.
const SENDING: &str = "mail.send";

/// Seconds for which the audit log has an entry, where the operator does not say.
const AUDIT_LASTS: i64 = 365 * 86_400;

/// Decides about requests. Cheap to clone; its caches are shared by the clones.
#[derive(Clone)]
pub struct Authorizer {
    state: Arc<AuthorizerState>,
    public_url: Option<Arc<str>>,
}

struct AuthorizerState {
    store: Store,
    clock: Clock,
    limits: RateLimits,
    /// Where accounts in the EU are served, if elsewhere.
    eu: Option<PublicUrl>,
    known: AuthCache,
    lists: Lists,
    leases: Leases,
    anonymous: AnonymousLimiter,
    access_log: AccessLog,
    audit: AuditLog,
    /// Keys whose use was due to be noted, and was tried.
    touched: Cache<KeyId, ()>,
}

/// The properties of a request that decide on it.
pub(crate) struct AuthRequest<'a> {
    /// Method and path template.
    pub(crate) endpoint: &'a Arc<str>,
    pub(crate) access: Access,
    pub(crate) dialect: Dialect,
    pub(crate) method: &'a Method,
    pub(crate) headers: &'a HeaderMap,
    /// The name by which the gateway was called, where there is one.
    pub(crate) gateway: Option<&'a GatewayName>,
    pub(crate) ip: Option<IpAddr>,
}

/// A request that is admitted.
pub(crate) struct Authorized {
    pub(crate) caller: Caller,
    pub(crate) permit: RateDecision,
    pub(crate) note: Option<AccessAttempt>,
}

/// A request that is refused.
pub(crate) struct AuthRefusal {
    pub(crate) rejection: Rejection,
    pub(crate) permit: RateDecision,
    pub(crate) note: Option<AccessAttempt>,
}

impl Authorizer {
    /// An authorizer over this table, which holds the accounts of every region.
    pub fn new(store: Store, clock: Clock, limits: RateLimits) -> Self {
        let state = AuthorizerState {
            known: AuthCache::new(store.clone(), clock.clone()),
            lists: Lists::default(),
            leases: Leases::default(),
            anonymous: AnonymousLimiter::default(),
            access_log: AccessLog::new(store.clone(), clock.clone()),
            audit: AuditLog::new(store.clone(), clock.clone(), AUDIT_LASTS),
            touched: Cache::default(),
            store,
            clock,
            limits,
            eu: None,
        };
        Self {
            state: Arc::new(state),
            public_url: None,
        }
    }

    /// With the address at which accounts in the EU are served, who are refused here. For an
    /// authorizer that has no clones yet.
    #[must_use]
    pub fn with_eu_elsewhere(mut self, eu: Option<PublicUrl>) -> Self {
        if let Some(state) = Arc::get_mut(&mut self.state) {
            state.eu = eu;
        }
        self
    }

    /// With the address of this installation, which errors name for their help. Without it, they
    /// name the gateway's, or a path.
    #[must_use]
    pub fn with_public_url(mut self, url: Option<&str>) -> Self {
        self.public_url = url.map(|url| url.trim_end_matches('/').into());
        self
    }

    /// The address of this installation, without a slash at its end.
    pub(crate) fn public_url(&self) -> Option<&Arc<str>> {
        self.public_url.as_ref()
    }

    /// Drops a key that this instance changed from the cache, so that the change takes effect here
    /// at once.
    pub fn forget_key(&self, id: &KeyId) {
        self.state.known.forget_key(id);
    }

    /// Drops an account that this instance changed from the cache.
    pub fn forget_account(&self, id: &AccountId) {
        self.state.known.forget_account(id);
    }

    /// Counts a call without a key, by address.
    pub(crate) fn permit_for_anonymous(&self, ip: Option<IpAddr>) -> RateDecision {
        let period = LimitPeriod::at(self.state.clock.now(), self.state.limits.period);
        self.state
            .anonymous
            .count(ip, self.state.limits.requests, period)
    }

    /// Decides about one request.
    pub(crate) async fn authorize(
        &self,
        asked: &AuthRequest<'_>,
    ) -> Result<Authorized, AuthRefusal> {
        let held = match self.authenticate(asked).await {
            Ok(held) => held,
            Err(rejection) => return Err(self.refuse_anonymous(rejection, asked.ip)),
        };
        let lets_in = match self.lets_in(&held.account, asked.ip).await {
            Ok(lets_in) => lets_in,
            Err(rejection) => return Err(self.refuse_anonymous(rejection, asked.ip)),
        };
        let note = |permit: &RateDecision| {
            // Past the limit nothing is recorded: writes do not grow with the number of calls.
            let noted = permit.allowed.then_some(&held.account)?;
            let method = match held.session {
                None => "bearer",
                Some(_) => sessions::AUTH_METHOD,
            };
            self.note(noted, asked.ip, method, lets_in)
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
                self.note_use(&held, asked.ip).await;
                let caller = Caller {
                    account,
                    key: held.key,
                    session: held.session,
                    ip: asked.ip,
                };
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
        Credentials {
            key, account: own, ..
        }: &Credentials,
        account: Arc<Account>,
        access: Access,
    ) -> Result<Arc<Account>, Rejection> {
        if !self.is_active(own).await? {
            return Err(access_refusal(access));
        }
        if account.region == Region::Eu
            && let Some(eu) = &self.state.eu
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
            Access::OneOf(scopes) => scopes.iter().any(|scope| is_opened_by(key, scope)),
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
        if !self.is_active(account).await? {
            return Err(Rejection::not_authorized_to_send());
        }
        Ok(())
    }

    /// Whether neither this account nor one above it is disabled or suspended.
    pub async fn is_active(&self, account: &Account) -> Result<bool, Rejection> {
        let status = self.state.known.effective_status(account).await?;
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
            Ok(secret) => self.state.known.open(&secret).await?.ok_or_else(wrong),
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
        self.note_use(&held, ip).await;
        Ok(Caller {
            account,
            key: held.key,
            session: None,
            ip,
        })
    }

    /// Takes one permit of an account at an endpoint, named by method and path template.
    pub async fn take(&self, account: &AccountId, endpoint: &Arc<str>) -> RateDecision {
        let period = LimitPeriod::at(self.state.clock.now(), self.state.limits.period);
        let limit = self.state.limits.of(endpoint);
        let who = (account.clone(), Arc::clone(endpoint));
        self.state
            .leases
            .take(&self.state.store, who, limit, period)
            .await
    }

    async fn lets_in(&self, account: &Account, ip: Option<IpAddr>) -> Result<bool, Rejection> {
        let list = self.state.lists.of(&self.state.store, account).await?;
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
        self.state.access_log.unrecorded(AccessAttempt {
            account: account.id.clone(),
            ip: ip?,
            auth_method,
            allowed,
        })
    }

    /// Records an attempt. A failure to do so does not fail the request.
    pub(crate) async fn record(&self, note: Option<AccessAttempt>) {
        self.state.access_log.record(note).await;
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

    async fn authenticate(&self, asked: &AuthRequest<'_>) -> Result<Credentials, Rejection> {
        if let Some(held) = self.session_of(asked).await {
            return held;
        }
        let token = bearer(asked.headers).ok_or_else(|| no_key(asked.dialect))?;
        let wrong = || wrong_key(asked.dialect);
        let secret = Secret::parse(token).ok_or_else(wrong)?;
        self.state.known.open(&secret).await?.ok_or_else(wrong)
    }

    async fn acted_for(
        &self,
        own: &Arc<Account>,
        headers: &HeaderMap,
    ) -> Result<Arc<Account>, Rejection> {
        let named = on_behalf_of(headers).ok_or_else(Rejection::forbidden)?;
        let Some(named) = named else {
            return Ok(Arc::clone(own));
        };
        let found = self.state.known.under(&own.id, named).await?;
        found.ok_or_else(Rejection::forbidden)
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
        Access::Scope(_)
        | Access::Either(..)
        | Access::OneOf(_)
        | Access::AnyKey
        | Access::Public => Rejection::forbidden(),
    }
}
