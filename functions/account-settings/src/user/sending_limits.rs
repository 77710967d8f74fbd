//! `GET /v3/user/sending_limits`: how much the relay takes. An extension.

use axum::Json;
use axum::extract::State;
use posthaste_http::{Caller, Rejection};
use posthaste_mailer::SesAccount;
use serde::Serialize;

use crate::AppState;

/// What the relay takes of this deployment.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SendingLimitsView {
    /// The limits of Amazon SES. `null` where mail leaves by another relay, which does not say what it takes, and for
    /// accounts under another: the limits are those of all accounts together.
    ses: Option<SesLimitsView>,
}

/// The limits of the account at AWS, as SES answers them.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SesLimitsView {
    /// Mails in 24 hours.
    max_24_hour_send: f64,
    /// Mails in a second.
    max_send_rate: f64,
    /// Mails in the last 24 hours.
    sent_last_24_hours: f64,
    /// In the sandbox mail goes to verified addresses only.
    in_sandbox: bool,
    sending_enabled: bool,
}

impl SesLimitsView {
    fn of(account: &SesAccount) -> Self {
        Self {
            max_24_hour_send: account.max_per_day,
            max_send_rate: account.max_per_second,
            sent_last_24_hours: account.sent_in_a_day,
            in_sandbox: account.sandbox,
            sending_enabled: account.sending,
        }
    }
}

pub(crate) async fn read(
    State(state): State<AppState>,
    caller: Caller,
) -> Result<Json<SendingLimitsView>, Rejection> {
    let ses = state.ses.filter(|_| caller.account.parent.is_none());
    let Some(ses) = ses else {
        return Ok(Json(SendingLimitsView { ses: None }));
    };
    let now = state.notices.clock.now_ms();
    let account = match state.known_limits.get(&(), now) {
        Some(known) => known,
        None => {
            let account = ses.account().await;
            let account = account.map_err(|error| Rejection::unavailable(&error))?;
            state.known_limits.put((), account.clone(), now);
            account
        }
    };
    let ses = Some(SesLimitsView::of(&account));
    Ok(Json(SendingLimitsView { ses }))
}
