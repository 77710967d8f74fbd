//! Sending allowances: what is past an account's credits is dropped.
//!
//! One copy costs one credit, taken at its first attempt by whoever won its claim: a repeated job
//! takes none. The service's own notices take none either: an account without credits can still
//! verify a sender. A process that dies between the claim and the outcome has taken a credit that the
//! next one takes again; nothing gives it back.

use posthaste_model::Mail;
use posthaste_queue::Job;
use posthaste_render::Rendered;

use crate::App;
use crate::account::account;
use crate::copy::WorkError;

/// The reason of SPEC, "Events".
pub(crate) const OVER_QUOTA: &str = "Recipient List over Package Quota";

/// What is to be sent, or the reason why not: a copy that is about to leave for the first time
/// pays for it.
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
