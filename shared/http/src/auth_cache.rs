//! A request's credentials, and their lookups in the table: keys, accounts and subusers, cached for
//! a few seconds.

use std::sync::Arc;

use axum::http::{HeaderMap, HeaderName, header};
use posthaste_cache::Cache;
use posthaste_model::{AccountId, KeyId};
use posthaste_store::{Account, ApiKey, Secret};

use crate::Rejection;
use crate::authorizer::{AuthorizerState, Credentials};

/// The cached lookups of this instance.
#[derive(Default)]
pub(crate) struct AuthCache {
    pub(crate) keys: Cache<KeyId, Arc<ApiKey>>,
    /// Ids by parent and lower-case user name.
    subusers: Cache<(AccountId, String), AccountId>,
}

/// The account that a parent acts for (SPEC, "Authentication").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DelegatedAccount<'a> {
    Subuser(&'a str),
    Account(&'a str),
}

impl AuthorizerState {
    /// The key with this secret, and its account.
    pub(crate) async fn open(&self, secret: &Secret) -> Result<Option<Credentials>, Rejection> {
        let Some(key) = self.key(secret.id()).await? else {
            return Ok(None);
        };
        if !key.is_opened_by(secret) {
            return Ok(None);
        }
        let account = self.account(&key.account).await?;
        Ok(account.map(|account| Credentials { key, account }))
    }

    async fn key(&self, id: &KeyId) -> Result<Option<Arc<ApiKey>>, Rejection> {
        let (keys, now) = (&self.known().keys, self.clock.now_ms());
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

    /// The account that `parent` names, if it is a child of it.
    pub(crate) async fn under(
        &self,
        parent: &AccountId,
        named: DelegatedAccount<'_>,
    ) -> Result<Option<Arc<Account>>, Rejection> {
        let account = match named {
            DelegatedAccount::Account(id) => match AccountId::parse(id) {
                Ok(id) => self.account(&id).await?,
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
            self.known().subusers.forget(&asked);
        }
        Ok(None)
    }

    async fn subuser(
        &self,
        parent: &AccountId,
        name: &str,
    ) -> Result<Option<AccountId>, Rejection> {
        let (subusers, now) = (&self.known().subusers, self.clock.now_ms());
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

/// The one value of a header; `None` when it is sent twice or is not visible ASCII, because then a
/// proxy in front may have read another value.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<Option<&'a str>> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else {
        return Some(None);
    };
    if values.next().is_some() {
        return None;
    }
    value.to_str().ok().map(Some)
}

/// The token out of `Authorization: Bearer <token>`; the scheme's case does not matter (RFC 9110).
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = only(headers, &header::AUTHORIZATION)??;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// The account the request acts for: `Some(None)` without the header, `None` when the header cannot
/// be read. An empty header names no account but does not count as missing: its sender means to act
/// for another account.
pub(crate) fn on_behalf_of(headers: &HeaderMap) -> Option<Option<DelegatedAccount<'_>>> {
    const HEADER: HeaderName = HeaderName::from_static("on-behalf-of");
    const ACCOUNT: &str = "account-id";
    let Some(value) = only(headers, &HEADER)? else {
        return Some(None);
    };
    let value = value.trim();
    let named = match value.split_once(' ') {
        Some((word, id)) if word.eq_ignore_ascii_case(ACCOUNT) => {
            DelegatedAccount::Account(id.trim())
        }
        Some(_) => return None,
        None if value.is_empty() => return None,
        None => DelegatedAccount::Subuser(value),
    };
    Some(Some(named))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn headers(name: &'static str, values: &[&'static str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            let value = HeaderValue::from_bytes(value.as_bytes()).unwrap();
            headers.append(HeaderName::from_static(name), value);
        }
        headers
    }

    #[test]
    fn a_bearer_token_is_read_from_one_header_only() {
        let check = |values: &[&'static str], want| {
            let headers = headers("authorization", values);
            assert_eq!(bearer(&headers), want, "{values:?}");
        };
        check(&["Bearer SG.a.b"], Some("SG.a.b"));
        check(&["bearer  SG.a.b "], Some("SG.a.b"));
        check(&["SG.a.b"], None);
        check(&["Basic SG.a.b"], None);
        check(&[], None);
        check(&[""], None);
        check(&["Bearer SG.a.b", "Bearer SG.c.d"], None);
        check(&["Bearer ä"], None);
    }

    #[test]
    fn on_behalf_of_names_a_subuser_or_an_account() {
        let check = |values: &[&'static str], want| {
            let headers = headers("on-behalf-of", values);
            assert_eq!(on_behalf_of(&headers), want, "{values:?}");
        };
        check(&[], Some(None));
        check(&["sub"], Some(Some(DelegatedAccount::Subuser("sub"))));
        check(&[" sub "], Some(Some(DelegatedAccount::Subuser("sub"))));
        check(
            &["account-id abc"],
            Some(Some(DelegatedAccount::Account("abc"))),
        );
        check(
            &["Account-ID  abc"],
            Some(Some(DelegatedAccount::Account("abc"))),
        );
        check(
            &["account-id"],
            Some(Some(DelegatedAccount::Subuser("account-id"))),
        );
        check(&[""], None);
        check(&["a b"], None);
        check(&["a", "b"], None);
        check(&["ä"], None);
    }
}
