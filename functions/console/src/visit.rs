//! A request of a page: who asks, and what the address says.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{RawQuery, State};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse as _, Redirect, Response};
use posthaste_http::{Access, BrowserRequest, Caller, GatewayName, PathParams, Rejection};
use posthaste_mailer::Ses;
use posthaste_model::{PublicUrl, Timestamp};
use posthaste_store::SIGN_IN_PATH;
use url::form_urlencoded;

use crate::api::ApiReader;
use crate::app::AppState;
use crate::assets;
use crate::frame::{self, PageError, Signed};
use crate::pages::{PAGES, Page};
use crate::sign_in::{self, SIGN_IN};

/// The query of an address, or the fields of a form; of several values of a name the last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Params(BTreeMap<String, String>);

impl Params {
    pub(crate) fn read(text: &str) -> Self {
        Self(
            form_urlencoded::parse(text.as_bytes())
                .into_owned()
                .collect(),
        )
    }

    /// The value of a name; empty when there is none.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.0.get(name).map(String::as_str).unwrap_or_default()
    }
}

/// What a page is shown from.
pub(crate) struct Visit {
    pub(crate) caller: Caller,
    pub(crate) api: ApiReader,
    pub(crate) params: Params,
    pub(crate) now: Timestamp,
    /// The address of the service, without a slash at its end.
    pub(crate) base: String,
    pub(crate) ses: Option<Ses>,
}

/// `GET /console`.
pub(crate) async fn first_page(
    State(state): State<AppState>,
    request: BrowserRequest,
    gateway: GatewayName,
    uri: Uri,
) -> Response {
    show(state, request, &gateway, &uri, "", None).await
}

/// `GET /console/{page}`: a page, the page to sign in, or a file that pages name.
pub(crate) async fn page(
    State(state): State<AppState>,
    request: BrowserRequest,
    gateway: GatewayName,
    uri: Uri,
    RawQuery(query): RawQuery,
    PathParams(name): PathParams<String>,
) -> Response {
    if let Some(asset) = assets::named(&name) {
        return asset;
    }
    if name == SIGN_IN {
        return sign_in::page(&Params::read(&query.unwrap_or_default()));
    }
    show(state, request, &gateway, &uri, &name, None).await
}

/// `GET /console/{page}/{id}`: a page about one thing.
pub(crate) async fn page_of_one(
    State(state): State<AppState>,
    request: BrowserRequest,
    gateway: GatewayName,
    uri: Uri,
    PathParams((name, id)): PathParams<(String, String)>,
) -> Response {
    show(state, request, &gateway, &uri, &name, Some(id)).await
}

async fn show(
    state: AppState,
    request: BrowserRequest,
    gateway: &GatewayName,
    uri: &Uri,
    name: &str,
    id: Option<String>,
) -> Response {
    let found = PAGES.iter().find(|page| page.name == name);
    let endpoint = found.map_or_else(|| "/console/{page}".to_owned(), Page::path);
    let endpoint: Arc<str> = format!("GET {endpoint}").into();
    let caller = state.gate.visitor(&request, &endpoint, Access::AnyKey);
    let caller = match caller.await {
        Ok(caller) => caller,
        Err(refused) if refused.status == StatusCode::UNAUTHORIZED => {
            return Redirect::to(&sign_in_for(uri)).into_response();
        }
        Err(refused) => return frame::page(Err(refused.into()), None),
    };
    let params = Params::read(uri.query().unwrap_or_default());
    let username = caller.account.username.clone();
    let content = match found {
        Some(page) if id.is_none() || page.is_about_one => {
            let visit = Visit {
                caller,
                api: state.api.for_reader(request),
                params,
                now: state.app.clock.now(),
                base: base(gateway, state.app.public_url.as_ref()),
                ses: state.app.ses.clone(),
            };
            (page.show)(visit).await
        }
        _ => Err(PageError::not_found()),
    };
    let signed = Signed {
        username: &username,
        page: name,
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

impl From<Rejection> for PageError {
    fn from(rejection: Rejection) -> Self {
        let messages: Vec<_> = rejection
            .problems
            .into_iter()
            .map(|problem| problem.message)
            .collect();
        Self {
            status: rejection.status,
            message: messages.join("; "),
        }
    }
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

    #[test]
    fn of_several_values_the_last_counts() {
        let params = Params::read("a=1&b=%C3%A4+x&a=2");
        assert_eq!(params.text("a"), "2");
        assert_eq!(params.text("b"), "ä x");
        assert_eq!(params.text("c"), "");
    }
}
