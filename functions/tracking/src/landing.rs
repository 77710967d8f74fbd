//! What people see who have unsubscribed: what the account decided
//! (`tracking_settings/subscription`), or a plain page.

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use posthaste_http::{escaped, page};
use posthaste_store::Landing;

use crate::App;
use crate::visit::Visit;

/// The account's own page or address. They have left already, so that trouble here only costs
/// them the sight of it.
pub(crate) async fn after(app: &App, visit: &Visit) -> Response {
    match app.store.settings(&visit.token.account).await {
        Ok(settings) => of(&settings.landing, visit),
        Err(error) => {
            tracing::warn!(error = %error, "a landing page could not be read: {error}");
            plain(visit)
        }
    }
}

/// The page of the service.
pub(crate) fn plain(visit: &Visit) -> Response {
    done(visit, "")
}

fn done(visit: &Visit, more: &str) -> Response {
    let email = escaped(&visit.token.email);
    let body = format!("<p><b>{email}</b> is unsubscribed.</p>{more}");
    page(StatusCode::OK, "Done", &body)
}

fn of(landing: &Landing, visit: &Visit) -> Response {
    if !landing.url.is_empty() {
        return leading_to(&landing.url, visit);
    }
    if !landing.html.is_empty() {
        return own(landing.html.clone());
    }
    plain(visit)
}

/// The plain page, which leads on. Not a redirect: the form that was sent may lead nowhere else
/// (its page's `form-action`).
fn leading_to(url: &str, visit: &Visit) -> Response {
    let link = escaped(url);
    let mut response = done(visit, &format!("<p><a href=\"{link}\">Continue</a></p>"));
    let refresh = url::Url::parse(url).ok();
    let refresh = refresh.and_then(|url| HeaderValue::try_from(format!("0; url={url}")).ok());
    if let Some(refresh) = refresh {
        response.headers_mut().insert(header::REFRESH, refresh);
    }
    response
}

/// The account's HTML, which may run nothing and send nothing: it stands on the host that all
/// accounts share.
fn own(html: String) -> Response {
    const POLICY: &str = "sandbox allow-popups; default-src 'none'; style-src 'unsafe-inline'; \
        img-src https: data:; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";
    let headers: [(HeaderName, &str); 5] = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, "no-store"),
        // The address of the page names the reader.
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    (StatusCode::OK, headers, html).into_response()
}
