//! Blocks other sites: a malicious page open in the same browser must not be able to read or delete
//! mails.
//!
//! Three checks apply. A foreign host name that points here (DNS rebinding) is not answered. A
//! changing request, or a WebSocket, whose messages any page could read, must come from the page itself or
//! from a program, which sends neither `Origin` nor `Sec-Fetch-Site`. And other sites cannot embed responses as a picture or script.

use std::net::IpAddr;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::Mailbox;

/// The layer around every route.
pub(crate) async fn check(
    State(mailbox): State<Mailbox>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = match verdict(&request, mailbox.hosts()) {
        Ok(()) => next.run(request).await,
        Err(why) => (StatusCode::FORBIDDEN, why).into_response(),
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "SAMEORIGIN"),
        // Not `no-referrer`: under that, browsers send `Origin: null` with the page's own forms.
        (header::REFERRER_POLICY, "same-origin"),
        (header::CACHE_CONTROL, "no-store"),
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
        ),
    ] {
        headers
            .entry(name)
            .or_insert(HeaderValue::from_static(value));
    }
    response
}

fn verdict(request: &Request, extra: &[String]) -> Result<(), &'static str> {
    let headers = request.headers();
    let host = text(headers, header::HOST)
        .or_else(|| request.uri().authority().map(|a| a.as_str()))
        .unwrap_or_default();
    if !ours(host, extra) {
        return Err(
            "This mailbox does not answer to that host name; use its address or localhost.",
        );
    }
    let safe = matches!(
        *request.method(),
        Method::GET | Method::HEAD | Method::OPTIONS
    ) && !headers.contains_key(header::UPGRADE);
    let site = text(headers, "sec-fetch-site");
    let allowed = if safe {
        let navigates = text(headers, "sec-fetch-mode") == Some("navigate");
        let path = request.uri().path();
        // It opens the links of a mail, so that a page that leads there makes requests.
        let opens_links = path.ends_with("/link-check");
        site != Some("cross-site") || (navigates && !opens_links) || picture(path)
    } else {
        match (site, text(headers, header::ORIGIN)) {
            (Some(site), _) => matches!(site, "same-origin" | "none"),
            (None, Some(origin)) => same(origin, host),
            (None, None) => true,
        }
    };
    allowed
        .then_some(())
        .ok_or("Another site may not use this mailbox.")
}

/// A part under its unguessable id: a mail's HTML shows its own pictures from a frame without an
/// origin, which browsers count as another site.
fn picture(path: &str) -> bool {
    path.contains("/part/") && !path.contains("/latest/")
}

/// Addresses and names without a dot cannot belong to another site; neither can reserved ones.
fn ours(host: &str, extra: &[String]) -> bool {
    let name = without_port(host)
        .trim_end_matches('.')
        .to_ascii_lowercase();
    let address = name.trim_start_matches('[').trim_end_matches(']');
    address.parse::<IpAddr>().is_ok()
        || !name.contains('.')
        || name.ends_with(".localhost")
        || name.ends_with(".internal")
        || extra.contains(&name)
}

fn same(origin: &str, host: &str) -> bool {
    let Some((scheme, authority)) = origin.split_once("://") else {
        return false;
    };
    let port = match scheme {
        "http" => ":80",
        "https" => ":443",
        _ => return false,
    };
    let bare = |authority: &str| {
        let lower = authority.to_ascii_lowercase();
        lower.strip_suffix(port).map(str::to_owned).unwrap_or(lower)
    };
    bare(authority) == bare(host)
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) && !bare_v6(host) => name,
        Some(_) | None => host,
    }
}

fn bare_v6(host: &str) -> bool {
    host.matches(':').count() > 1 && !host.starts_with('[')
}

fn text(headers: &HeaderMap, name: impl header::AsHeaderName) -> Option<&str> {
    headers.get(name).map(|value| value.to_str().unwrap_or("?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_no_other_site_can_own_are_answered() {
        let extra = ["mail.example.com".to_owned()];
        for (host, want) in [
            ("", true),
            ("localhost", true),
            ("LOCALHOST:8025", true),
            ("localhost.:8025", true),
            ("127.0.0.1:8025", true),
            ("192.168.1.20", true),
            ("[::1]:8025", true),
            ("[::1]", true),
            ("::1", true),
            ("posthaste:8025", true),
            ("app.localhost:8025", true),
            ("host.docker.internal:8025", true),
            ("mail.example.com:8025", true),
            ("evil.example.com", false),
            ("127.0.0.1.evil.com:8025", false),
            ("localhost.evil.com", false),
            ("evilinternal.com", false),
            ("mail.example.com.evil.com", false),
            ("?", true),
        ] {
            assert_eq!(ours(host, &extra), want, "{host:?}");
        }
    }

    #[test]
    fn an_origin_is_the_same_only_with_host_and_port() {
        for (origin, host, want) in [
            ("http://localhost:8025", "localhost:8025", true),
            ("http://LOCALHOST:8025", "localhost:8025", true),
            ("http://posthaste", "posthaste:80", true),
            ("https://posthaste:443", "posthaste", true),
            ("http://localhost:3000", "localhost:8025", false),
            ("http://127.0.0.1:8025", "localhost:8025", false),
            ("http://evil.com", "localhost:8025", false),
            ("file://", "", false),
            ("null", "localhost:8025", false),
            ("", "", false),
        ] {
            assert_eq!(same(origin, host), want, "{origin:?} {host:?}");
        }
    }
}
