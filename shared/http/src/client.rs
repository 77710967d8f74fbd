//! What the host knows of a caller beside the request: the address, the name that the gateway was called by, and an id.

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use posthaste_model::PublicUrl;

/// The address of the caller; absent when the host does not know it. Never taken from a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientIp(pub Option<IpAddr>);

impl<S: Sync> FromRequestParts<S> for ClientIp {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self(canonical(parts.extensions.get())))
    }
}

/// The host name by which the gateway was called, which only a host behind one knows. Never taken
/// from a header, or a caller could have links mailed that lead to its own site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GatewayName(pub Option<Arc<str>>);

impl GatewayName {
    /// The URL by which the service is reached: the configured one, or else that of the gateway.
    pub fn base(&self, public_url: Option<&PublicUrl>) -> Option<String> {
        match (public_url, &self.0) {
            (Some(url), _) => Some(url.to_string()),
            (None, Some(name)) => Some(format!("https://{name}")),
            (None, None) => None,
        }
    }
}

impl<S: Sync> FromRequestParts<S> for GatewayName {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get().cloned().unwrap_or_default())
    }
}

/// Names a request in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestId(pub Arc<str>);

/// An IPv4 caller on a dual-stack socket is an IPv4 caller.
pub(crate) fn canonical(ip: Option<&ClientIp>) -> Option<IpAddr> {
    Some(ip?.0?.to_canonical())
}
