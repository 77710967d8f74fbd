//! Answers requests of pages: who has no session is led to the page to sign in.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse as _, Redirect, Response};
use posthaste_http::{Access, Authorizer, BrowserRequest, GatewayName, PathParams};
use posthaste_model::PublicUrl;
use posthaste_store::SIGN_IN_PATH;
use url::form_urlencoded;

use crate::CONSOLE_PATH;
use crate::app::AppState;
use crate::assets;
use crate::content::PageError;
use crate::frame::{self, Signed};
use crate::mail_part::{self, MAIL_PART};
use crate::pages::{self, ConsolePage, PAGES};
use crate::sign_in::{self, SIGN_IN};
use crate::template_part::{self, TEMPLATE_PART};
use crate::visit::{PageVisit, Params};

/// What of a request a page is shown from.
pub(crate) struct PageRequest {
    browser: BrowserRequest,
    gateway: GatewayName,
    uri: Uri,
}

impl<S: Sync> FromRequestParts<S> for PageRequest {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        Ok(Self {
            browser: BrowserRequest::from_request_parts(parts, state).await?,
            gateway: GatewayName::from_request_parts(parts, state).await?,
            uri: parts.uri.clone(),
        })
    }
}

/// `GET /console`.
pub(crate) async fn first_page(State(state): State<AppState>, asked: PageRequest) -> Response {
    show(state, asked, "", None).await
}

/// `GET /console/{page}`: a page, the page to sign in, or a file that pages name.
pub(crate) async fn page(
    State(state): State<AppState>,
    asked: PageRequest,
    PathParams(name): PathParams<String>,
) -> Response {
    if let Some(asset) = assets::named(&name) {
        return asset;
    }
    if name == SIGN_IN {
        return sign_in::page(&Params::read(asked.uri.query().unwrap_or_default()));
    }
    show(state, asked, &name, None).await
}

/// `GET /console/{page}/{id}`: a page about one thing.
pub(crate) async fn page_of_one(
    State(state): State<AppState>,
    asked: PageRequest,
    PathParams((name, id)): PathParams<(String, String)>,
) -> Response {
    if name == MAIL_PART {
        return mail_part::answer(&state, asked.browser, &asked.uri, &id).await;
    }
    if name == TEMPLATE_PART {
        return template_part::stored(&state, asked.browser, &asked.uri, &id).await;
    }
    show(state, asked, &name, Some(id)).await
}

async fn show(state: AppState, asked: PageRequest, name: &str, id: Option<String>) -> Response {
    let PageRequest {
        browser,
        gateway,
        uri,
    } = asked;
    let found = PAGES.iter().find(|page| page.name == name);
    let endpoint = found.map_or_else(|| "/console/{page}".to_owned(), ConsolePage::path);
    let endpoint: Arc<str> = format!("GET {endpoint}").into();
    let caller = state.gate.visitor(&browser, &endpoint, Access::AnyKey);
    let caller = match caller.await {
        Ok(caller) => caller,
        Err(refused) if refused.status == StatusCode::UNAUTHORIZED => {
            return Redirect::to(&sign_in_for(&uri)).into_response();
        }
        // The subuser may be gone, or another account's.
        Err(refused)
            if refused.status == StatusCode::FORBIDDEN && browser.acting_for().is_some() =>
        {
            return sign_in::redirect(CONSOLE_PATH, Authorizer::acts_for_none());
        }
        Err(refused) => return frame::page(Err(refused.into()), None),
    };
    let is_acting = caller.is_on_behalf();
    let params = Params::read(uri.query().unwrap_or_default());
    let username = caller.account.username.clone();
    let visit = PageVisit {
        caller,
        api: state.api.for_reader(browser),
        params,
        now: state.app.clock.now(),
        base: base(&gateway, state.app.public_url.as_ref()),
    };
    let content = match (found, id) {
        (Some(page), None) => (page.show)(visit).await,
        (Some(page), Some(id)) => match page.show_one {
            Some(show) => show(visit, id).await,
            None => Err(PageError::not_found()),
        },
        (None, _) => Err(PageError::not_found()),
    };
    let signed = Signed {
        username: &username,
        is_acting,
        nav: pages::navigation(name),
    };
    frame::page(content, Some(signed))
}

/// The page to sign in, which leads back to this address.
fn sign_in_for(uri: &Uri) -> String {
    let here = uri.path_and_query().map(|here| here.as_str());
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("next", here.unwrap_or_default());
    format!("{SIGN_IN_PATH}?{}", query.finish())
}

fn base(gateway: &GatewayName, public_url: Option<&PublicUrl>) -> String {
    let base = gateway.base(public_url).unwrap_or_default();
    base.trim_end_matches('/').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_to_sign_in_leads_back() {
        let uri = "/console/activity?q=a%20b".parse().unwrap();
        assert_eq!(
            sign_in_for(&uri),
            "/console/sign-in?next=%2Fconsole%2Factivity%3Fq%3Da%2520b"
        );
    }
}
