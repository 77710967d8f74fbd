//! Calls that a command of the operator makes in this process, in the name of an account.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use posthaste_model::{KeyId, Timestamp};
use posthaste_store::{Account, ApiKey, KeyKind};

use crate::Caller;

/// A call that this process makes itself, in the name of an account.
///
/// It is set in the extensions of a request that goes to the routes directly. Extensions are not part of HTTP, so that
/// no request from outside has one.
///
/// The operator may do with an account what its owner may, whatever its keys, allow list and limits say; the handlers
/// check the request as any other.
#[derive(Clone, Debug)]
pub struct OperatorCall {
    caller: Caller,
    id: Option<Arc<str>>,
    is_vouched: bool,
}

impl OperatorCall {
    /// A call for this account.
    pub fn of(account: Arc<Account>) -> Self {
        let key = ApiKey {
            id: KeyId::from_bytes([0; 16]),
            account: account.id.clone(),
            name: "operator".to_owned(),
            kind: KeyKind::Full,
            scopes: Vec::new(),
            // No secret has this hash.
            hash: String::new(),
            created_at: Timestamp(0),
            is_test: false,
            used_at: None,
        };
        let caller = Caller {
            account,
            key: Arc::new(key),
            session: None,
            ip: None,
        };
        Self {
            caller,
            id: None,
            is_vouched: false,
        }
    }

    /// A call that creates something, with the id that it is to have.
    #[must_use]
    pub fn with_id(self, id: &str) -> Self {
        let id = Some(id.into());
        Self { id, ..self }
    }

    /// A call whose addresses the operator vouches for: a sender needs no confirmation.
    #[must_use]
    pub fn vouching(self) -> Self {
        let is_vouched = true;
        Self { is_vouched, ..self }
    }

    pub(crate) fn caller(&self) -> Caller {
        self.caller.clone()
    }
}

/// What an [`OperatorCall`] says about a thing that it creates; for any other request, nothing.
#[derive(Clone, Debug, Default)]
pub struct Takeover {
    /// The id that it had elsewhere, if it is to keep that.
    pub id: Option<Arc<str>>,
    /// Whether the operator takes over what another service held, which may be more than an account creates.
    pub by_operator: bool,
    /// Whether the operator vouches for its address.
    pub is_vouched: bool,
}

impl<S: Sync> FromRequestParts<S> for Takeover {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let call = parts.extensions.get::<OperatorCall>();
        Ok(call.map_or_else(Self::default, |call| Self {
            id: call.id.clone(),
            by_operator: true,
            is_vouched: call.is_vouched,
        }))
    }
}
