//! The mailed link that verifies a sender.

use axum::extract::State;
use axum::http::StatusCode;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use posthaste_http::{Caller, Gate, GatewayName, Path, Rejection};
use posthaste_model::{AccountId, EmailAddress};
use posthaste_store::{Link, Resaved, Sender};

use crate::app::number;
use crate::{App, mail, page};

/// Seconds that a link works.
const LIFE: i64 = 48 * 3600;

/// A link, and the mail that carries it.
pub(crate) struct Letter {
    pub(crate) link: Link,
    account: AccountId,
    to: EmailAddress,
    url: String,
}

impl Letter {
    /// A letter with a new link, for an account that may send: it goes to whomever the caller
    /// names.
    ///
    /// # Errors
    /// 401 as from mail/send when the account is switched off.
    pub(crate) async fn write(
        app: &App,
        gate: &Gate,
        (caller, gateway): (&Caller, &GatewayName),
        to: &EmailAddress,
    ) -> Result<Self, Rejection> {
        gate.check_may_send(&caller.account).await?;
        let base = match (&app.names.public_url, &gateway.0) {
            (Some(url), _) => url.to_string(),
            (None, Some(name)) => format!("https://{name}"),
            (None, None) => return Err(Rejection::internal(&"PUBLIC_URL is not set")),
        };
        let token = URL_SAFE_NO_PAD.encode(app.entropy.bytes::<32>());
        Ok(Self {
            link: Link::new(&token, app.clock.now().plus(LIFE)),
            account: caller.id().clone(),
            to: to.clone(),
            url: page::url(&base, &token),
        })
    }

    /// Sends it off.
    pub(crate) async fn post(self, app: &App) -> Result<(), Rejection> {
        let (to, url) = (&self.to, &self.url);
        let text = format!(
            "Somebody asked to send mail from {to}.\n\n\
             If that was you, open this page within two days and confirm:\n\n{url}\n\n\
             If it was not you, do nothing: no mail will be sent in your name.\n"
        );
        mail::send(
            app,
            &self.account,
            self.to,
            "Please confirm your sender address",
            text,
        )
        .await
    }
}

/// `POST /v3/verified_senders/resend/{id}`: a new link; the earlier one stops working.
pub(crate) async fn resend(
    State(app): State<App>,
    State(gate): State<Gate>,
    caller: Caller,
    gateway: GatewayName,
    Path(id): Path<String>,
) -> Result<StatusCode, Rejection> {
    let id = number(&id)?;
    let sender = app.store.sender(caller.id(), id).await?;
    let sender = sender.ok_or_else(Rejection::not_found)?;
    if sender.verified {
        return Err(Rejection::bad("the sender is verified already"));
    }
    let email = EmailAddress::parse(&sender.fields.from_email);
    let email = email.map_err(|e| Rejection::internal(&e))?;
    let letter = Letter::write(&app, &gate, (&caller, &gateway), &email).await?;
    let saved = app
        .store
        .update_sender(caller.id(), id, Some(&letter.link), |_| {});
    match saved.await? {
        Resaved::Done(_) => letter.post(&app).await?,
        Resaved::Missing | Resaved::Taken => return Err(Rejection::not_found()),
    }
    Ok(StatusCode::NO_CONTENT)
}

/// Takes a sender whose link was followed for verified; `None` when the link stopped working.
///
/// Where mail leaves by SES, SES hears of the address first. It mails its owner a second link, and
/// nobody gets that who has not followed ours: no account can make SES write to strangers.
pub(crate) async fn follow(
    app: &App,
    sender: &Sender,
    token: &str,
) -> Result<Option<Sender>, Rejection> {
    if let Some(ses) = app.ses.as_ref().filter(|_| !sender.verified) {
        let email = EmailAddress::parse(&sender.fields.from_email);
        let email = email.map_err(|e| Rejection::internal(&e))?;
        // SES has no addresses that need SMTPUTF8; mail from one ends as dropped.
        if !email.needs_smtputf8() {
            let added = ses.add_sender(&email).await;
            added.map_err(|e| Rejection::unavailable(&e))?;
        }
    }
    Ok(app.store.verify_sender(token, app.clock.now()).await?)
}

/// `GET /v3/verified_senders/verify/{token}`: the same as the page, for programs of the account.
pub(crate) async fn verify(
    State(app): State<App>,
    caller: Caller,
    Path(token): Path<String>,
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
