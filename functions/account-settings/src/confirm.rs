//! Confirms that an address accepts forwarded bounces, spam reports and alerts: a mailed link, and the page
//! behind it. As with verified senders, opening the page confirms nothing: mail scanners open every
//! link; the button confirms.

use axum::extract::State;
use axum::response::Response;
use posthaste_http::{Caller, GatewayName, PathParams, Rejection};
use posthaste_model::{AccountId, EmailAddress};
use posthaste_notices::page::{self, ConfirmPage};
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
    /// The mail that a change of a setting requires: to the first address that is forwarded to and
    /// neither confirmed nor mailed within ten minutes. One request causes one mail, because an
    /// account may cause few of them in a day; the next address of a list is mailed when the setting
    /// is stored again. An address that the setting already forwarded to is mailed only if the
    /// request names addresses (`is_named`), and the change is not rejected if that mail may not be
    /// sent.
    ///
    /// # Errors
    /// For a new address: when the service does not write to it for the account (see
    /// [`posthaste_notices`]).
    pub(crate) async fn write_first(
        state: &AppState,
        caller: &Caller,
        gateway: &GatewayName,
        (before, after): (&Forward, &Forward),
        is_named: bool,
    ) -> Result<Option<Self>, Rejection> {
        let earlier = before.addresses();
        for to in after.addresses() {
            let again = earlier.contains(&to);
            if again && !is_named {
                continue;
            }
            if let Some(mail) = Self::write(state, (caller, gateway), ("email", to), again).await? {
                return Ok(Some(mail));
            }
        }
        Ok(None)
    }

    /// The mail to one address, which a field names; none when it is confirmed, or was mailed within ten minutes.
    /// `again` says that the address stays as it was: the change is not rejected then.
    pub(crate) async fn write(
        state: &AppState,
        (caller, gateway): (&Caller, &GatewayName),
        (field, to): (&'static str, EmailAddress),
        again: bool,
    ) -> Result<Option<Self>, Rejection> {
        if state.store.may_forward_to(caller.id(), &to).await? {
            return Ok(None);
        }
        let asked = state.store.forward_to(caller.id(), &to).await?;
        let now = state.notices.clock.now();
        if asked.is_some_and(|asked| now.since(asked.mailed_at) < SYSTEM_MAIL_PAUSE) {
            return Ok(None);
        }
        let fresh = state.notices.link(gateway, PATH)?;
        let wanted = NoticeRequest {
            account: &caller.account,
            to: &to,
            field,
            about: &fresh.about,
            resend: again,
            is_test: caller.key.is_test,
        };
        let cleared = match state.notices.clear(&state.gate, &wanted).await {
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
    pub(crate) async fn post(self, state: &AppState) -> Result<(), Rejection> {
        let Self {
            account,
            to,
            link,
            cleared,
            url,
        } = self;
        let now = state.notices.clock.now();
        if let Err(error) = state.store.ask_to_forward(&account, &to, &link, now).await {
            state.notices.cancel(cleared).await;
            return Err(error.into());
        }
        let text = format!(
            "An account of this mail service wants its bounces, spam reports or alerts to be sent to \
             your address.\n\n\
             If you want that, open this page within two days and confirm:\n\n{url}\n\n\
             If you do not, do nothing: nothing will be sent to you.\n"
        );
        let subject = "Please confirm that reports may be forwarded to you";
        let sent = state.notices.send(cleared, subject, text).await;
        if sent.is_err() {
            // So that a repeated request can send the mail at once.
            state.store.unask_to_forward(&account, &to, &link).await?;
        }
        sent
    }

    /// Cancels the mail: the setting was not stored.
    pub(crate) async fn discard(self, state: &AppState) {
        state.notices.cancel(self.cleared).await;
    }
}

/// `GET`: whose address it is, and a button.
pub(crate) async fn ask(
    State(state): State<AppState>,
    PathParams(token): PathParams<String>,
) -> Result<Response, Rejection> {
    let now = state.notices.clock.now();
    let Some(linked) = state.store.linked_forward(&token, now).await? else {
        return Ok(page::expired());
    };
    let body = ConfirmPage {
        question: "May the bounces, spam reports and alerts of an account be sent to",
        email: &linked.email,
        button: "Yes, send them",
    };
    Ok(page::ask("Confirm your address", &body))
}

/// `POST`: the button.
pub(crate) async fn accept(
    State(state): State<AppState>,
    PathParams(token): PathParams<String>,
) -> Result<Response, Rejection> {
    let now = state.notices.clock.now();
    let Some(confirmed) = state.store.confirm_forward(&token, now).await? else {
        return Ok(page::expired());
    };
    let account = &confirmed.account;
    tracing::info!(account.id = %account, "an address that account {account} forwards to is confirmed");
    Ok(page::confirmed(&confirmed.email, None))
}
