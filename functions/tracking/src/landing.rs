//! The landing page after an unsubscribe: the account's own (`tracking_settings/subscription`), or
//! a plain page.

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use posthaste_http::page;
use posthaste_store::Landing;

use crate::App;
use crate::page::DonePage;
use crate::visit::Visit;

/// The account's own page or address. The recipient is already unsubscribed, so a failure here only
/// affects the page.
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
    done(visit, None)
}

fn done(visit: &Visit, next: Option<&str>) -> Response {
    let email = &visit.token.email;
    page(StatusCode::OK, "Done", &DonePage { email, next })
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

/// The plain page with a link to the URL. Not a redirect: the page's `form-action` policy permits
/// no other target.
fn leading_to(url: &str, visit: &Visit) -> Response {
    let mut response = done(visit, Some(url));
    let refresh = url::Url::parse(url).ok();
    let refresh = refresh.and_then(|url| HeaderValue::try_from(format!("0; url={url}")).ok());
    if let Some(refresh) = refresh {
        response.headers_mut().insert(header::REFRESH, refresh);
    }
    response
}

/// The account's HTML, which may run no script and send nothing: it is served from the host that
/// all accounts share.
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
