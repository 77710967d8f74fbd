//! Confirms that an address accepts forwarded bounces and spam reports: a mailed link, and the page
//! behind it. As with verified senders, opening the page confirms nothing: mail scanners open every
//! link; the button confirms.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use posthaste_http::{Caller, GatewayName, PathParams, Rejection, escaped, page};
use posthaste_model::{AccountId, EmailAddress};
use posthaste_notices::{Cleared, NoticeRequest};
use posthaste_store::{Forward, SYSTEM_MAIL_PAUSE, SenderLink};

use crate::AppState;

pub(crate) const PATH: &str = "/forwards/confirm/{token}";

/// A link, and the mail that carries it, which has been cleared to send.
pub(crate) struct ConfirmationMail {
    account: AccountId,
    to: EmailAddress,
    link: SenderLink,
    cleared: Cleared,
    url: String,
}

impl ConfirmationMail {
    /// The mail that a change of a setting requires: none if nothing is forwarded, if the address
    /// needs none, or if one was mailed within ten minutes. An unchanged setting requests another
    /// mail only if the request names the address (`named`), and is not rejected if that mail may
    /// not be sent.
    ///
    /// # Errors
    /// For a new address: when the service does not write to it for the account (see
    /// [`posthaste_notices`]).
    pub(crate) async fn write(
        desk: &AppState,
        (caller, gateway): (&Caller, &GatewayName),
        (before, after): (&Forward, &Forward),
        named: bool,
    ) -> Result<Option<Self>, Rejection> {
        let address = after.email.as_deref().filter(|_| after.enabled);
        let Some(Ok(to)) = address.map(EmailAddress::parse) else {
            return Ok(None);
        };
        let again = before == after;
        if (again && !named) || desk.store.may_forward_to(caller.id(), &to).await? {
            return Ok(None);
        }
        let asked = desk.store.forward_to(caller.id(), &to).await?;
        let now = desk.notices.clock.now();
        if asked.is_some_and(|asked| now.since(asked.mailed_at) < SYSTEM_MAIL_PAUSE) {
            return Ok(None);
        }
        let fresh = desk.notices.link(gateway, PATH)?;
        let wanted = NoticeRequest {
            account: &caller.account,
            to: &to,
            field: "email",
            about: &fresh.about,
            resend: again,
        };
        let cleared = match desk.notices.clear(&desk.gate, &wanted).await {
            Err(refused) if again && refused.status.is_client_error() => return Ok(None),
            cleared => cleared?,
        };
        Ok(Some(Self {
            account: caller.id().clone(),
            to,
            link: fresh.link,
            cleared,
            url: fresh.url,
        }))
    }

    /// Stores the link's target and sends the mail.
    pub(crate) async fn post(self, desk: &AppState) -> Result<(), Rejection> {
        let Self {
            account,
            to,
            link,
            cleared,
            url,
        } = self;
        let now = desk.notices.clock.now();
        if let Err(error) = desk.store.ask_to_forward(&account, &to, &link, now).await {
            desk.notices.cancel(cleared).await;
            return Err(error.into());
        }
        let text = format!(
            "An account of this mail service wants its bounces or spam reports to be forwarded to \
             your address.\n\n\
             If you want that, open this page within two days and confirm:\n\n{url}\n\n\
             If you do not, do nothing: nothing will be forwarded to you.\n"
        );
        let subject = "Please confirm that reports may be forwarded to you";
        let sent = desk.notices.send(cleared, subject, text).await;
        if sent.is_err() {
            // So that a repeated request can send the mail at once.
            desk.store.unask_to_forward(&account, &to, &link).await?;
        }
        sent
    }

    /// Cancels the mail: the setting was not stored.
    pub(crate) async fn discard(self, desk: &AppState) {
        desk.notices.cancel(self.cleared).await;
    }
}

/// `GET`: whose address it is, and a button.
pub(crate) async fn ask(
    State(desk): State<AppState>,
    PathParams(token): PathParams<String>,
) -> Result<Response, Rejection> {
    let now = desk.notices.clock.now();
    let Some(linked) = desk.store.linked_forward(&token, now).await? else {
        return Ok(gone());
    };
    let email = escaped(&linked.email);
    let body = format!(
        "<p>May the bounces and spam reports of an account be forwarded to <b>{email}</b>?</p>\
         <form method=\"post\"><button>Yes, forward them</button></form>"
    );
    Ok(page(StatusCode::OK, "Confirm your address", &body))
}

/// `POST`: the button.
pub(crate) async fn accept(
    State(desk): State<AppState>,
    PathParams(token): PathParams<String>,
) -> Result<Response, Rejection> {
    let now = desk.notices.clock.now();
    let Some(confirmed) = desk.store.confirm_forward(&token, now).await? else {
        return Ok(gone());
    };
    let account = &confirmed.account;
    tracing::info!(account.id = %account, "an address that account {account} forwards to is confirmed");
    let email = escaped(&confirmed.email);
    let body = format!("<p><b>{email}</b> is confirmed.</p>");
    Ok(page(StatusCode::OK, "Thank you", &body))
}

fn gone() -> Response {
    let title = "This link does not work any more";
    page(StatusCode::NOT_FOUND, title, "<p>Ask for a new one.</p>")
}
