//! The guard of reputation: warns of accounts whose mail bounces or is reported as spam too often, and
//! suspends them before the relay suspends the whole installation.
//!
//! It judges the mails of the last 24 hours when a bounce or a spam report is recorded. After an operator
//! has let a suspended account send again, only mails of the hours that begin after that count.

use posthaste_metrics::Metric;
use posthaste_model::{AccountId, Event, Timestamp};
use posthaste_notices::StatusReports;
use posthaste_queue::BusEvent;
use posthaste_runtime::WorkError;
use posthaste_store::{Account, MailEnd, SendingRates, SuspensionCause, SuspensionRequest};
use serde_json::json;

use crate::App;
use crate::severity::{ReputationGuard, Severity, mail_end};

/// Judges an account whose events were counted, if there is a bounce or a spam report among them.
/// Repeating it after a failure does what is left of it.
pub(crate) async fn check(
    app: &App,
    account: &AccountId,
    events: &[Event],
) -> Result<(), WorkError> {
    let is_bad = |end| matches!(end, MailEnd::Bounced | MailEnd::Complained);
    if app.guard == ReputationGuard::Off || !events.iter().filter_map(mail_end).any(is_bad) {
        return Ok(());
    }
    let Some(account) = app.store.account(account).await? else {
        return Ok(());
    };
    if account.status.is_suspended() {
        return report(app, &account).await;
    }
    let now = app.clock.now();
    let since = account.verdict.map_or(Timestamp(0), |lifted| lifted.at);
    let rates = app.store.sending_rates(&account.id, since, now).await?;
    match Severity::of(rates) {
        Severity::Fine => Ok(()),
        Severity::Suspension(cause) if app.guard == ReputationGuard::Suspend => {
            suspend(app, &account, cause, rates).await
        }
        Severity::Warning(cause) | Severity::Suspension(cause) => {
            warn(app, &account, cause, rates).await
        }
    }
}

async fn suspend(
    app: &App,
    judged: &Account,
    cause: SuspensionCause,
    rates: SendingRates,
) -> Result<(), WorkError> {
    let id = &judged.id;
    // Unless an operator has changed it since it was judged.
    let may = |account: &Account| account.verdict == judged.verdict;
    let wanted = SuspensionRequest {
        suspended: true,
        cause,
        at: app.clock.now(),
    };
    let changed = app.store.set_suspended(id, wanted, may).await?;
    let Some((account, is_change)) = changed else {
        return Ok(());
    };
    if is_change {
        posthaste_metrics::record(&[Metric::AccountsSuspended.of(1)]);
        tracing::error!(
            account.id = %id,
            "account {id} is suspended: of {} mails in a day {} bounced and {} were reported as spam",
            rates.mails, rates.bounces, rates.complaints
        );
    }
    report(app, &account).await
}

/// Reports a suspension that was not reported yet.
async fn report(app: &App, account: &Account) -> Result<(), WorkError> {
    let is_due = account.verdict.is_some_and(|change| !change.reported);
    if account.status.is_suspended() && is_due {
        let reports = StatusReports {
            events: Some(&app.events),
            bus: Some(&app.bus),
        };
        reports.send(&app.store, account).await?;
    }
    Ok(())
}

/// Warns the owner once a day.
async fn warn(
    app: &App,
    account: &Account,
    cause: SuspensionCause,
    rates: SendingRates,
) -> Result<(), WorkError> {
    let id = &account.id;
    if !app.store.note_warning(id, app.clock.now()).await? {
        return Ok(());
    }
    let notice = BusEvent {
        account: id.clone(),
        kind: "Account Reputation Warning".to_owned(),
        detail: json!({
            "cause": cause,
            "mails": rates.mails,
            "bounces": rates.bounces,
            "complaints": rates.complaints,
        }),
    };
    if let Err(error) = app.bus.publish(&[notice]).await {
        app.store.forget_warning(id).await?;
        return Err(error.into());
    }
    posthaste_metrics::record(&[Metric::AccountsWarned.of(1)]);
    tracing::warn!(
        account.id = %id,
        "of {} mails of account {id} in a day {} bounced and {} were reported as spam",
        rates.mails, rates.bounces, rates.complaints
    );
    Ok(())
}
