//! Ways in and out. Only a form that is sent does either: programs that scan mail follow every link in it.

use askama::Template;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Redirect, Response};
use posthaste_http::{BrowserRequest, PathParams, Rejection, SignIn};
use posthaste_store::SIGN_IN_PATH;

use crate::app::AppState;
use crate::content::{PageContent, PageError, PageResult};
use crate::frame;
use crate::template_part::{self, TEMPLATE_PART};
use crate::visit::Params;
use crate::{CONSOLE_PATH, texts};

/// The name of the page to sign in.
pub(crate) const SIGN_IN: &str = "sign-in";

const SIGN_OUT: &str = "sign-out";

/// Names the subuser that the console acts for.
const ACT_FOR: &str = "act-for";

#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignInPage<'a> {
    /// The token of a link; empty without one.
    token: &'a str,
    /// The page that was asked for.
    next: &'a str,
    problem: Option<&'a str>,
}

/// The page with the forms.
pub(crate) fn page(params: &Params) -> Response {
    let content = form(params.text("token"), next(params), None);
    frame::page(content, None)
}

fn form(token: &str, next: &str, problem: Option<&str>) -> PageResult {
    let page = SignInPage {
        token,
        next,
        problem,
    };
    PageContent::of(texts::SIGN_IN, &page)
}

/// Where the reader wanted to go: a page of the console and nothing else, for a link from elsewhere may name it.
fn next(params: &Params) -> &str {
    let wanted = params.text("next");
    let is_ours = wanted
        .strip_prefix(CONSOLE_PATH)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']));
    let is_plain = wanted.bytes().all(|b| b.is_ascii_graphic() && b != b'\\');
    if is_ours && is_plain && !wanted.starts_with(SIGN_IN_PATH) {
        wanted
    } else {
        CONSOLE_PATH
    }
}

/// `POST /console/sign-in`, `/console/sign-out`, `/console/act-for`, and what the editor of a template shows in its frame.
pub(crate) async fn post(
    State(state): State<AppState>,
    PathParams(name): PathParams<String>,
    request: BrowserRequest,
    body: String,
) -> Response {
    match name.as_str() {
        SIGN_IN => {
            let params = Params::read(&body);
            match enter(&state, &request, &params).await {
                Ok(cookie) => redirect(next(&params), cookie),
                Err(refused) => refuse(&params, &refused),
            }
        }
        SIGN_OUT => match leave(&state, &request).await {
            Ok(cookie) => redirect(SIGN_IN_PATH, cookie),
            Err(refused) => frame::page(Err(refused.into()), None),
        },
        ACT_FOR => {
            let params = Params::read(&body);
            let username = Some(params.text("username")).filter(|name| !name.is_empty());
            match state.gate.act_for(&request, username) {
                Ok(cookie) => redirect(CONSOLE_PATH, cookie),
                Err(refused) => frame::page(Err(refused.into()), None),
            }
        }
        TEMPLATE_PART => template_part::edited(&state, request, &Params::read(&body)).await,
        _ => frame::page(Err(PageError::not_found()), None),
    }
}

async fn enter(
    state: &AppState,
    request: &BrowserRequest,
    params: &Params,
) -> Result<HeaderValue, Rejection> {
    let with = match params.text("token") {
        "" => SignIn::Key(params.text("key")),
        token => SignIn::Link(token),
    };
    let entry = state.gate.enter(request, with).await?;
    let (token, session) = entry.session(&state.app.entropy, state.app.clock.now());
    let store = &state.app.store;
    let is_opened = match entry.link() {
        Some(link) => store.redeem_link(link, &session).await?,
        None => {
            store.create_session(&session).await?;
            true
        }
    };
    if is_opened {
        tracing::info!(account.id = %session.account, "session {} of account {} begins", session.id, session.account);
        Ok(entry.cookie(&token))
    } else {
        // Another request used the link up since it was looked at.
        Err(Rejection::unauthorized())
    }
}

async fn leave(state: &AppState, request: &BrowserRequest) -> Result<HeaderValue, Rejection> {
    let (session, cookie) = state.gate.leave(request).await?;
    if let Some(session) = session {
        let store = &state.app.store;
        store.end_session(&session.account, &session.id).await?;
        state.gate.forget_session(&session.id);
    }
    Ok(cookie)
}

pub(crate) fn redirect(to: &str, cookie: HeaderValue) -> Response {
    ([(header::SET_COOKIE, cookie)], Redirect::to(to)).into_response()
}

/// The forms again, with the reason.
fn refuse(params: &Params, refused: &Rejection) -> Response {
    let said = refused.problems.first();
    let said = said.map(|problem| problem.message.as_str());
    let problem = match (refused.status, params.text("token")) {
        (StatusCode::UNAUTHORIZED, "") => texts::WRONG_KEY,
        (StatusCode::UNAUTHORIZED, _) => texts::WRONG_LINK,
        _ => said.unwrap_or_default(),
    };
    // A link that opened nothing opens nothing the next time either.
    let token = match refused.status {
        StatusCode::UNAUTHORIZED => "",
        _ => params.text("token"),
    };
    let content = form(token, next(params), Some(problem));
    frame::page(content.map(|page| page.with_status(refused.status)), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_in_leads_to_a_page_of_the_console_only() {
        for (wanted, want) in [
            ("/console/activity?q=a%26b", "/console/activity?q=a%26b"),
            ("/console", "/console"),
            ("/console?x=1", "/console?x=1"),
            ("", "/console"),
            ("/consoles", "/console"),
            ("//evil.example", "/console"),
            ("https://evil.example/console", "/console"),
            ("/console/\\evil.example", "/console"),
            ("/console/ a", "/console"),
            ("/console/sign-in?token=x", "/console"),
        ] {
            let query = format!("next={}", wanted.replace('%', "%25").replace('&', "%26"));
            assert_eq!(next(&Params::read(&query)), want, "{wanted}");
        }
    }
}
