//! The password of the mailbox, for a team that shares one.

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use subtle::ConstantTimeEq as _;

/// A user name and a password, as HTTP's Basic scheme (RFC 7617) carries them.
#[derive(Clone, PartialEq, Eq)]
pub struct MailboxLogin {
    /// `USER:PASSWORD` in base64.
    credentials: String,
}

impl std::fmt::Debug for MailboxLogin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MailboxLogin(…)")
    }
}

impl MailboxLogin {
    /// Reads `USER:PASSWORD`; neither may be empty, and a user name has no colon.
    pub fn parse(text: &str) -> Option<Self> {
        let (user, password) = text.split_once(':')?;
        (!user.is_empty() && !password.is_empty()).then(|| Self {
            credentials: STANDARD.encode(text),
        })
    }

    /// Whether the value of an `Authorization` field is this login.
    fn is_given_by(&self, value: &HeaderValue) -> bool {
        let given = value.as_bytes();
        let Some((scheme, credentials)) = given.split_at_checked("basic ".len()) else {
            return false;
        };
        scheme.eq_ignore_ascii_case(b"basic ")
            && bool::from(credentials.ct_eq(self.credentials.as_bytes()))
    }

    /// The routes, behind this login.
    pub(crate) fn protect(self, routes: Router) -> Router {
        routes.layer(middleware::from_fn_with_state(self, check))
    }
}

async fn check(State(login): State<MailboxLogin>, request: Request, next: Next) -> Response {
    let given = request.headers().get(header::AUTHORIZATION);
    if given.is_some_and(|value| login.is_given_by(value)) {
        return next.run(request).await;
    }
    let asks = HeaderValue::from_static("Basic realm=\"Posthaste mailbox\", charset=\"UTF-8\"");
    let answer = (StatusCode::UNAUTHORIZED, "This mailbox requires a login.");
    ([(header::WWW_AUTHENTICATE, asks)], answer).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_login_opens_the_mailbox() {
        for bad in ["", "ann", ":secret", "ann:"] {
            assert!(MailboxLogin::parse(bad).is_none(), "{bad}");
        }
        let login = MailboxLogin::parse("ann:se:cret").unwrap();
        assert!(!format!("{login:?}").contains("cret"));
        let encoded = STANDARD.encode("ann:se:cret");
        for (value, opens) in [
            (format!("Basic {encoded}"), true),
            (format!("bAsIc {encoded}"), true),
            (format!("Bearer {encoded}"), false),
            (format!("Basic {encoded}x"), false),
            (format!("Basic {}", STANDARD.encode("ann:other")), false),
            ("Basic ".to_owned(), false),
            ("Bas".to_owned(), false),
        ] {
            let value = HeaderValue::from_str(&value).unwrap();
            assert_eq!(login.is_given_by(&value), opens, "{value:?}");
        }
    }
}
