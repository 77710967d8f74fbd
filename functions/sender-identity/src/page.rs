//! The page behind the mailed link. Opening it verifies nothing: mail scanners open every link; the
//! button confirms.

use axum::extract::State;
use axum::response::Response;
use posthaste_http::{PathParams, Rejection};
use posthaste_notices::page::{self, ConfirmPage};

use crate::App;
use crate::links::follow;

const OPEN_SES_LINK_TOO: &str = "Amazon SES, which carries the mail, now sends you a link of its own, \
    unless the address is verified there already. Please open that one too.";

/// `GET`: whose address it is, and a button.
pub(crate) async fn ask(
    State(app): State<App>,
    PathParams(token): PathParams<String>,
) -> Result<Response, Rejection> {
    let sender = app.store.linked_sender(&token, app.clock.now()).await?;
    let Some(sender) = sender else {
        return Ok(page::expired());
    };
    let body = ConfirmPage {
        question: "May mail be sent from",
        email: &sender.fields.from_email,
        button: "Yes, confirm",
    };
    Ok(page::ask("Confirm your sender address", &body))
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
        return Ok(page::expired());
    };
    let (id, account) = (sender.id, &sender.account);
    tracing::info!(account.id = %account, "sender {id} of account {account} verified");
    let more = app.ses.is_some().then_some(OPEN_SES_LINK_TOO);
    Ok(page::confirmed(&sender.fields.from_email, more))
}
