//! The page behind the mailed link. Opening it verifies nothing: mail scanners open every link; the
//! button confirms.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use posthaste_http::{PathParams, Rejection, page};

use crate::App;
use crate::links::follow;

#[derive(Template)]
#[template(
    ext = "html",
    source = r#"<p>May mail be sent from <b>{{ email }}</b>?</p>
<form method="post"><button>Yes, confirm</button></form>"#
)]
struct AskPage<'a> {
    email: &'a str,
}

#[derive(Template)]
#[template(
    ext = "html",
    source = "<p><b>{{ email }}</b> is confirmed.</p>
{%- if by_ses %}
<p>Amazon SES, which carries the mail, now sends you a link of its own, unless it knows the address \
already. Please open that one too.</p>
{%- endif %}"
)]
struct ConfirmedPage<'a> {
    email: &'a str,
    /// Whether SES asks the owner of the address too.
    by_ses: bool,
}

#[derive(Template)]
#[template(ext = "html", source = "<p>Ask for a new one.</p>")]
struct GonePage;

/// `GET`: whose address it is, and a button.
pub(crate) async fn ask(
    State(app): State<App>,
    PathParams(token): PathParams<String>,
) -> Result<Response, Rejection> {
    let sender = app.store.linked_sender(&token, app.clock.now()).await?;
    let Some(sender) = sender else {
        return Ok(gone());
    };
    let body = AskPage {
        email: &sender.fields.from_email,
    };
    Ok(page(StatusCode::OK, "Confirm your sender address", &body))
}

/// `POST`: the button.
pub(crate) async fn confirm(
    State(app): State<App>,
    PathParams(token): PathParams<String>,
) -> Result<Response, Rejection> {
    let linked = app.store.linked_sender(&token, app.clock.now()).await?;
    let verified = match linked {
        None => None,
        Some(sender) => follow(&app, &sender, &token).await?,
    };
    let Some(sender) = verified else {
        return Ok(gone());
    };
    let (id, account) = (sender.id, &sender.account);
    tracing::info!(account.id = %account, "sender {id} of account {account} verified");
    let body = ConfirmedPage {
        email: &sender.fields.from_email,
        by_ses: app.ses.is_some(),
    };
    Ok(page(StatusCode::OK, "Thank you", &body))
}

fn gone() -> Response {
    let title = "This link does not work any more";
    page(StatusCode::NOT_FOUND, title, &GonePage)
}
