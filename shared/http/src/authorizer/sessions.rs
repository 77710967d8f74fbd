//! Sessions: the second credential, for the console's pages in a browser. A session is opened with a key or a
//! link, and is then checked as a key is.

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use posthaste_model::{Entropy, KeyId, Timestamp};
use posthaste_store::{Account, ConsoleSession, ConsoleToken, SESSION_LIFE, Secret, SessionOrigin};

use super::{AuthRequest, Authorizer, access_refusal};
use crate::acting::{acting_cookie, acting_for};
use crate::auth_cache::Credentials;
use crate::credentials::ON_BEHALF_OF;
use crate::site::{CONSOLE_HEADER, Site, Transport, cookie};
use crate::{Access, Caller, ClientIp, Dialect, GatewayName, Rejection};

/// How access is recorded where the caller had a session.
pub(super) const AUTH_METHOD: &str = "session";

/// A request of a browser, as far as sessions depend on it.
#[derive(Clone, Debug)]
pub struct BrowserRequest {
    method: Method,
    headers: HeaderMap,
    gateway: GatewayName,
    ip: Option<IpAddr>,
}

impl<S: Sync> FromRequestParts<S> for BrowserRequest {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        let Ok(ClientIp(ip)) = ClientIp::from_request_parts(parts, state).await;
        let Ok(gateway) = GatewayName::from_request_parts(parts, state).await;
        let mut headers = parts.headers.clone();
        let acting = acting_for(&headers);
        // As the header of any other request, it says nothing of what the caller may do.
        if let Some(name) = acting.and_then(|name| HeaderValue::from_str(&name).ok()) {
            headers.entry(ON_BEHALF_OF).or_insert(name);
        }
        Ok(Self {
            method: parts.method.clone(),
            headers,
            gateway,
            ip,
        })
    }
}

impl BrowserRequest {
    /// The subuser that the console acts for.
    pub fn acting_for(&self) -> Option<&str> {
        self.headers.get(ON_BEHALF_OF)?.to_str().ok()
    }

    /// The address of the caller, if the host knows it.
    pub fn ip(&self) -> Option<IpAddr> {
        self.ip
    }

    /// A `GET` of this path by the same caller, for a page that shows what the API answers. `None` for what is no
    /// path.
    pub fn read(&self, path: &str) -> Option<Request> {
        let request = Request::get(path).body(Body::empty()).ok()?;
        Some(self.as_own(request))
    }

    /// A `POST` of JSON by the same caller, for calls that render and change nothing: a form of a page sends no header
    /// of ours, so that its [`Origin`](header::ORIGIN) alone says that the page is one of this service. Another origin is
    /// refused as it is everywhere.
    pub fn post(&self, path: &str, json: String) -> Option<Request> {
        let request = Request::post(path)
            .header(header::CONTENT_TYPE, "application/json")
            .header(CONSOLE_HEADER, "1");
        let mut request = self.as_own(request.body(Body::from(json)).ok()?);
        for value in self.headers.get_all(header::ORIGIN) {
            request.headers_mut().append(header::ORIGIN, value.clone());
        }
        Some(request)
    }

    /// The request as one of this caller.
    fn as_own(&self, mut request: Request) -> Request {
        for name in [
            header::AUTHORIZATION,
            header::COOKIE,
            header::HOST,
            ON_BEHALF_OF,
        ] {
            for value in self.headers.get_all(&name) {
                request.headers_mut().append(&name, value.clone());
            }
        }
        let extensions = request.extensions_mut();
        extensions.insert(ClientIp(self.ip));
        extensions.insert(self.gateway.clone());
        request
    }
}

/// What a session is opened with.
#[derive(Clone, Copy)]
pub enum SignIn<'a> {
    /// An API key, whose scopes are then the session's.
    Key(&'a str),
    /// The token of a link that works once; the session has full access.
    Link(&'a str),
}

/// A sign-in that is admitted: its session is yet to be written.
#[derive(Debug)]
pub struct Entry {
    account: Arc<Account>,
    key: Option<KeyId>,
    link: Option<ConsoleToken>,
    from: SessionOrigin,
    transport: Transport,
}

impl Entry {
    /// The link that the session uses up, if it is opened by one.
    pub fn link(&self) -> Option<&ConsoleToken> {
        self.link.as_ref()
    }

    /// A new session, and its token.
    pub fn session(&self, entropy: &Entropy, now: Timestamp) -> (ConsoleToken, ConsoleSession) {
        let token = ConsoleToken::generate(&self.account.id, entropy);
        let session = ConsoleSession::new(&token, self.key.clone(), &self.from, now);
        (token, session)
    }

    /// The cookie by which the browser presents the session.
    pub fn cookie(&self, token: &ConsoleToken) -> HeaderValue {
        cookie(self.transport, token.expose(), SESSION_LIFE)
    }
}

impl Authorizer {
    /// Checks a sign-in as any request is checked: origin, secret, allow list, account status. A link is not used up
    /// by it.
    ///
    /// # Errors
    /// 401 for a key or link that opens nothing, 403 where access is refused or the form comes from another origin,
    /// 400 through a network without HTTPS.
    pub async fn enter(
        &self,
        visit: &BrowserRequest,
        with: SignIn<'_>,
    ) -> Result<Entry, Rejection> {
        let transport = self.transport(visit)?;
        let opened = match with {
            SignIn::Key(key) => match Secret::parse(key.trim()) {
                None => None,
                Some(secret) => {
                    let held = self.state.known.open(&secret).await?;
                    held.map(|held| (held.account, Some(held.key.id.clone()), None))
                }
            },
            SignIn::Link(text) => match ConsoleToken::parse(text) {
                None => None,
                Some(link) => {
                    let account = self.linked(&link).await?;
                    account.map(|account| (account, None, Some(link)))
                }
            },
        };
        let refuse = || self.refuse_anonymous(Rejection::unauthorized(), visit.ip);
        let (account, key, link) = opened.ok_or_else(|| refuse().rejection)?;
        self.check_entry(&account, visit).await?;
        let agent = visit.headers.get(header::USER_AGENT);
        let agent = agent.and_then(|agent| agent.to_str().ok());
        let from = SessionOrigin {
            agent: agent.unwrap_or_default().to_owned(),
            ip: visit.ip,
        };
        Ok(Entry {
            account,
            key,
            link,
            from,
            transport,
        })
    }

    /// The account that a link opens.
    async fn linked(&self, link: &ConsoleToken) -> Result<Option<Arc<Account>>, Rejection> {
        let now = self.state.clock.now();
        if !self.state.store.is_sign_in_link(link, now).await? {
            return Ok(None);
        }
        self.state.known.account(link.account()).await
    }

    /// The session that a sign-out ends, if there is one, and the cookie that makes the browser forget it.
    ///
    /// # Errors
    /// 403 where the form comes from another origin, 400 through a network without HTTPS.
    pub async fn leave(
        &self,
        visit: &BrowserRequest,
    ) -> Result<(Option<Arc<ConsoleSession>>, HeaderValue), Rejection> {
        let transport = self.transport(visit)?;
        let site = self.site(&visit.headers, Some(&visit.gateway));
        let session = match site.session_token().and_then(ConsoleToken::parse) {
            None => None,
            Some(token) => self.state.known.session(&token).await?,
        };
        Ok((session, cookie(transport, "", 0)))
    }

    /// The cookie that has the console act for a subuser, or with `None` for itself again.
    ///
    /// # Errors
    /// 403 where the form comes from another origin, 400 through a network without HTTPS.
    pub fn act_for(
        &self,
        visit: &BrowserRequest,
        username: Option<&str>,
    ) -> Result<HeaderValue, Rejection> {
        let transport = self.transport(visit)?;
        Ok(acting_cookie(transport, username))
    }

    /// The cookie that has the console act for itself again, where the subuser that it names is refused.
    pub fn acts_for_none() -> HeaderValue {
        // Without `Secure` it ends a secure one too.
        acting_cookie(Transport::Loopback, None)
    }

    /// The caller of a page, decided as for every route; recorded as well.
    ///
    /// # Errors
    /// As the guard of a route refuses.
    pub async fn visitor(
        &self,
        visit: &BrowserRequest,
        endpoint: &Arc<str>,
        access: Access,
    ) -> Result<Caller, Rejection> {
        let asked = AuthRequest {
            endpoint,
            access,
            dialect: Dialect::General,
            method: &visit.method,
            headers: &visit.headers,
            gateway: Some(&visit.gateway),
            ip: visit.ip,
        };
        match self.authorize(&asked).await {
            Ok(admitted) => {
                self.record(admitted.note).await;
                Ok(admitted.caller)
            }
            Err(refused) => {
                self.record(refused.note).await;
                Err(refused.rejection)
            }
        }
    }

    /// Drops a session that this instance ended from the cache, so that it ends here at once.
    pub fn forget_session(&self, id: &KeyId) {
        self.state.known.forget_session(id);
    }

    /// The session that a request carries instead of a key; `None` when it carries none.
    pub(super) async fn session_of(
        &self,
        asked: &AuthRequest<'_>,
    ) -> Option<Result<Credentials, Rejection>> {
        if asked.headers.contains_key(header::AUTHORIZATION) {
            return None;
        }
        let site = self.site(asked.headers, asked.gateway);
        let token = site.session_token()?;
        if !site.admits_session(asked.method) {
            return Some(Err(foreign()));
        }
        let token = ConsoleToken::parse(token);
        Some(self.credentials_of(token).await)
    }

    async fn credentials_of(&self, token: Option<ConsoleToken>) -> Result<Credentials, Rejection> {
        let held = match &token {
            None => None,
            Some(token) => self.state.known.open_session(token).await?,
        };
        held.ok_or_else(Rejection::unauthorized)
    }

    /// Refuses an account that no key would be accepted of: outside the allow list, disabled, suspended.
    async fn check_entry(
        &self,
        account: &Account,
        visit: &BrowserRequest,
    ) -> Result<(), Rejection> {
        let lets_in = self.lets_in(account, visit.ip).await?;
        self.record(self.note(account, visit.ip, AUTH_METHOD, lets_in))
            .await;
        if lets_in && self.is_active(account).await? {
            return Ok(());
        }
        let refused = self.refuse_anonymous(access_refusal(Access::AnyKey), visit.ip);
        Err(refused.rejection)
    }

    fn site<'a>(&'a self, headers: &'a HeaderMap, gateway: Option<&'a GatewayName>) -> Site<'a> {
        Site {
            headers,
            gateway,
            public_url: self.public_url.as_deref(),
        }
    }

    fn transport(&self, visit: &BrowserRequest) -> Result<Transport, Rejection> {
        let site = self.site(&visit.headers, Some(&visit.gateway));
        match site.own_origin() {
            None => Err(foreign()),
            Some(Transport::Exposed) => Err(exposed()),
            Some(transport) => Ok(transport),
        }
    }
}

fn foreign() -> Rejection {
    let message = "a session is used by the console's own pages only";
    Rejection::plain(StatusCode::FORBIDDEN, message)
}

fn exposed() -> Rejection {
    let message = "sign in over HTTPS, or on the machine that the service runs on";
    Rejection::plain(StatusCode::BAD_REQUEST, message)
}
