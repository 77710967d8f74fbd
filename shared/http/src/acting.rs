//! The cookie that has the console act for a subuser.

use axum::http::{HeaderMap, HeaderValue, header};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::site::Transport;

/// The cookie that names the subuser that the console acts for.
const ACTING_COOKIE: &str = "posthaste-acting";

/// Where that cookie counts: calls of the API name the subuser themselves.
const ACTING_PATH: &str = "/console";

/// The cookie that has the console act for a subuser until the browser ends, or for itself again. It opens nothing: what the
/// session may do for the subuser is decided at each call.
pub(crate) fn acting_cookie(transport: Transport, username: Option<&str>) -> HeaderValue {
    let secure = match transport {
        Transport::Loopback => "",
        Transport::Https | Transport::Exposed => "; Secure",
    };
    let (name, end) = match username {
        Some(name) => (utf8_percent_encode(name, NON_ALPHANUMERIC).to_string(), ""),
        None => (String::new(), "; Max-Age=0"),
    };
    let cookie = format!(
        "{ACTING_COOKIE}={name}; Path={ACTING_PATH}{end}; HttpOnly; SameSite=Strict{secure}"
    );
    HeaderValue::from_str(&cookie).unwrap_or(HeaderValue::from_static(""))
}

/// The subuser that a browser's cookie names.
pub(crate) fn acting_for(headers: &HeaderMap) -> Option<String> {
    let lines = headers.get_all(header::COOKIE).iter();
    let lines = lines.filter_map(|line| line.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';'));
    let mut pairs = pairs.filter_map(|pair| pair.trim().split_once('='));
    let (_, name) = pairs.find(|(name, _)| *name == ACTING_COOKIE)?;
    let name = percent_decode_str(name).decode_utf8().ok()?;
    (!name.is_empty()).then(|| name.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cookies(text: &str) -> HeaderMap {
        HeaderMap::from_iter([(header::COOKIE, HeaderValue::from_str(text).unwrap())])
    }

    #[test]
    fn the_subuser_of_a_cookie_is_the_one_that_was_chosen() {
        for name in ["sub", "a b;c=\u{e4}\r\n%2e", "ann@example.com"] {
            let set = acting_cookie(Transport::Https, Some(name));
            let set = set.to_str().unwrap();
            assert!(
                set.ends_with("; Path=/console; HttpOnly; SameSite=Strict; Secure"),
                "{set}"
            );
            let pair = set.split(';').next().unwrap();
            let found = acting_for(&cookies(&format!("a=b; {pair}; c=d")));
            assert_eq!(found.as_deref(), Some(name));
        }
        let ended = acting_cookie(Transport::Loopback, None);
        let ended = ended.to_str().unwrap();
        assert!(
            ended.contains("=; ") && ended.contains("Max-Age=0"),
            "{ended}"
        );
        for cookie in [
            "",
            "posthaste-acting=",
            "posthaste-acting=%ff",
            "acting=sub",
        ] {
            assert_eq!(acting_for(&cookies(cookie)), None, "{cookie}");
        }
    }
}
