//! What a request presents in its headers: a key, and the account it acts for.

use axum::http::{HeaderMap, HeaderName, StatusCode, header};

use crate::{Dialect, Rejection};

/// The account that a parent acts for (SPEC, "Authentication").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DelegatedAccount<'a> {
    Subuser(&'a str),
    Account(&'a str),
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

/// The header that names the account to act for.
pub(crate) const ON_BEHALF_OF: HeaderName = HeaderName::from_static("on-behalf-of");

/// The account the request acts for: `Some(None)` without the header, `None` when the header cannot
/// be read. An empty header names no account but does not count as missing: its sender means to act
/// for another account.
pub(crate) fn on_behalf_of(headers: &HeaderMap) -> Option<Option<DelegatedAccount<'_>>> {
    const ACCOUNT: &str = "account-id";
    let Some(value) = only(headers, &ON_BEHALF_OF)? else {
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

/// The error for a request without a key.
pub(crate) fn no_key(dialect: Dialect) -> Rejection {
    match dialect {
        Dialect::General | Dialect::Senders => Rejection::unauthorized(),
        Dialect::Mail => Rejection::plain(
            StatusCode::UNAUTHORIZED,
            "Permission denied, wrong credentials",
        ),
    }
}

/// The error for a key that opens nothing.
pub(crate) fn wrong_key(dialect: Dialect) -> Rejection {
    match dialect {
        Dialect::General | Dialect::Senders => Rejection::unauthorized(),
        Dialect::Mail => Rejection::plain(
            StatusCode::UNAUTHORIZED,
            "The provided authorization grant is invalid, expired, or revoked",
        ),
    }
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
