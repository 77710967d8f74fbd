//! Who may call a route, and who called.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use posthaste_model::AccountId;
use posthaste_store::{Account, ApiKey, ConsoleSession};

use crate::Rejection;

/// Who may call a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// A key that holds this scope.
    Scope(&'static str),
    /// A key that holds one of these scopes, or both: a narrow one and one that includes it.
    Either(&'static str, &'static str),
    /// A key that holds one of these scopes, of which the handler needs the one that fits what is asked for.
    OneOf(&'static [&'static str]),
    /// Any valid key or session.
    AnyKey,
    /// Anyone: pages and pixels that recipients of mail open.
    Public,
}

/// The authenticated caller of a request, set by the guard of the route.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The account that is acted for: the key's own, or the one named by on-behalf-of.
    pub account: Arc<Account>,
    /// The key that was presented, or that the session stands for.
    pub key: Arc<ApiKey>,
    /// The session of the console that was presented instead of a key.
    pub session: Option<Arc<ConsoleSession>>,
    /// Where the request came from; `None` when the host does not know it.
    pub ip: Option<IpAddr>,
}

impl Caller {
    /// The id of the account that is acted for.
    pub fn id(&self) -> &AccountId {
        &self.account.id
    }

    /// Whether the key belongs to another account that acts for this one.
    pub fn is_on_behalf(&self) -> bool {
        self.account.id != self.key.account
    }
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Rejection;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Rejection> {
        // Only a public route has no caller, and no public route extracts one.
        parts
            .extensions
            .get::<Self>()
            .cloned()
            .ok_or_else(Rejection::unauthorized)
    }
}
