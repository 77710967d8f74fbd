//! The mailed link that verifies a sender.

use axum::extract::State;
use axum::http::StatusCode;
use posthaste_http::{Authorizer, Caller, GatewayName, PathParams, Rejection};
use posthaste_model::EmailAddress;
use posthaste_notices::{Cleared, NoticeRequest};
use posthaste_store::{Resaved, SenderLink, VerifiedSender};

use crate::App;
use crate::app::number;

/// The page behind the link.
pub(crate) const PATH: &str = "/senders/verify/{token}";

/// A link, and the mail that carries it, which has been cleared to send.
pub(crate) struct VerificationMail {
    pub(crate) link: SenderLink,
    cleared: Cleared,
    url: String,
}

impl VerificationMail {
    /// A mail with a new link, to the address the caller names.
    ///
    /// # Errors
    /// If the service does not write to that address for the account (see [`posthaste_notices`]).
    pub(crate) async fn write(
        app: &App,
        gate: &Authorizer,
        (caller, gateway): (&Caller, &GatewayName),
        to: &EmailAddress,
        resend: bool,
    ) -> Result<Self, Rejection> {
        let fresh = app.notices.link(gateway, PATH)?;
        let wanted = NoticeRequest {
            account: &caller.account,
            to,
            field: "from_email",
            about: &fresh.about,
            resend,
            is_test: caller.key.is_test,
        };
        let cleared = app.notices.clear(gate, &wanted).await?;
        Ok(Self {
            link: fresh.link,
            cleared,
            url: fresh.url,
        })
    }

    /// Sends the mail. The text omits the address: its local part is chosen by the caller.
    pub(crate) async fn post(self, app: &App) -> Result<(), Rejection> {
        let url = &self.url;
        let text = format!(
            "An account of this mail service asked to send mail from your address.\n\n\
             If that was your request, open this page within two days and confirm:\n\n{url}\n\n\
             If it was not, do nothing: no mail will be sent in your name.\n"
        );
        let subject = "Please confirm your sender address";
        app.notices.send(self.cleared, subject, text).await
    }

    /// Cancels the mail: the sender was not stored.
    pub(crate) async fn discard(self, app: &App) {
        app.notices.cancel(self.cleared).await;
    }
}

/// `POST /v3/verified_senders/resend/{id}`: a new link, ten minutes after the last mail to the
/// address at the earliest; the earlier link stops working. Before that the link that was just mailed
/// is the answer: 204, and no other mail.
pub(crate) async fn resend(
    State(app): State<App>,
    State(gate): State<Authorizer>,
    caller: Caller,
    gateway: GatewayName,
    PathParams(id): PathParams<String>,
) -> Result<StatusCode, Rejection> {
    let id = number(&id)?;
    let sender = app.store.sender(caller.id(), id).await?;
    let sender = sender.ok_or_else(Rejection::not_found)?;
    if sender.verified {
        return Err(Rejection::bad("the sender is verified already"));
    }
    let email = EmailAddress::parse_stored(&sender.fields.from_email);
    let email = email.map_err(|e| Rejection::internal(&e))?;
    let written = VerificationMail::write(&app, &gate, (&caller, &gateway), &email, true).await;
    let mail = match written {
        Err(refused) if is_paused(&refused) => return Ok(StatusCode::NO_CONTENT),
        written => written?,
    };
    let saved = app
        .store
        .update_sender(caller.id(), id, Some(&mail.link), |_| {});
    match saved.await? {
        Resaved::Done(_) => mail.post(&app).await?,
        Resaved::Missing | Resaved::Taken => {
            mail.discard(&app).await;
            return Err(Rejection::not_found());
        }
    }
    Ok(StatusCode::NO_CONTENT)
}

/// Whether a mail to the address is less than ten minutes old: a limit of one mail, which neither an
/// account nor an address has for a day.
fn is_paused(refused: &Rejection) -> bool {
    refused
        .limited
        .is_some_and(|limited| limited.permit.limit == 1)
}

/// Marks a sender as verified after its link was followed; `None` if the link has expired.
///
/// When mail is sent through SES, SES receives the address first and mails its owner a second link.
/// That mail is sent only after our link was followed, so no account can use SES to mail third
/// parties.
pub(crate) async fn follow(
    app: &App,
    sender: &VerifiedSender,
    token: &str,
) -> Result<Option<VerifiedSender>, Rejection> {
    if let Some(ses) = app.ses.as_ref().filter(|_| !sender.verified) {
        let email = EmailAddress::parse_stored(&sender.fields.from_email);
        let email = email.map_err(|e| Rejection::internal(&e))?;
        // SES has no addresses that need SMTPUTF8; mail from one ends as dropped.
        if !email.needs_smtputf8() {
            let added = ses.add_sender(&email).await;
            added.map_err(|e| Rejection::unavailable(&e))?;
        }
    }
    Ok(app.store.verify_sender(token, app.clock.now()).await?)
}

/// `GET /v3/verified_senders/verify/{token}`: the same as the page, for API clients of the account.
pub(crate) async fn verify(
    State(app): State<App>,
    caller: Caller,
    PathParams(token): PathParams<String>,
) -> Result<StatusCode, Rejection> {
    let now = app.clock.now();
    let linked = app.store.linked_sender(&token, now).await?;
    let mine = linked.filter(|sender| sender.account == *caller.id());
    let sender = match mine {
        None => None,
        Some(sender) => follow(&app, &sender, &token).await?,
    };
    sender.map_or_else(
        || Err(Rejection::not_found()),
        |_| Ok(StatusCode::NO_CONTENT),
    )
}
