//! Sending allowances: a copy beyond the account's credits is dropped.
//!
//! One copy costs one credit, charged at its first attempt by the job that claims it: a repeated
//! job charges none. The service's own notices are free: an account without credits can still
//! verify a sender. A crash between claim and outcome charges the credit twice; it is not refunded.

use posthaste_model::Mail;
use posthaste_queue::Job;
use posthaste_render::Rendered;

use crate::App;
use crate::account::account;
use crate::copy::WorkError;

/// The drop reason of SPEC, "Events".
pub(crate) const OVER_QUOTA: &str = "Recipient List over Package Quota";

/// What to send, or the reason not to: a copy at its first attempt is charged here.
pub(crate) async fn charge_credit(
    app: &App,
    (job, mail): (&Job, &Mail),
    rendered: Result<Rendered, String>,
) -> Result<Result<Rendered, String>, WorkError> {
    if job.attempt > 0 || mail.notice || rendered.is_err() {
        return Ok(rendered);
    }
    let account = account(app, &job.account).await?;
    let Some(account) = account.filter(|account| account.metered) else {
        return Ok(rendered);
    };
    let granted = app
        .store
        .spend_credits(&account, 1, app.clock.now())
        .await?;
    Ok(match granted {
        0 => Err(OVER_QUOTA.to_owned()),
        _ => rendered,
    })
}
