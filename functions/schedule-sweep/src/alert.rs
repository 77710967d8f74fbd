//! Alerts of accounts: looks at the figures and mails them to the address, once its owner has confirmed it.
//!
//! The mail comes first, then the time of the next look, and the due row goes last: a sweep that crashes in between is
//! repeated, and writes the mail under the same id, which is delivered once.

use std::fmt::Write as _;
use std::time::Duration;

use posthaste_model::{EmailAddress, Mail, Masked, MessageId};
use posthaste_queue::Job;
use posthaste_runtime::WorkError;
use posthaste_store::{Alert, AlertKind, AlertLook, Due, Frequency, StoreError, StoredRow};
use sha2::{Digest as _, Sha256};

use crate::App;

/// The figures of a notification, by their names in the statistics and as they are written.
const FIGURES: [(&str, &str); 9] = [
    ("requests", "Requests"),
    ("delivered", "Delivered"),
    ("deferred", "Deferred"),
    ("bounces", "Bounces"),
    ("blocks", "Blocks"),
    ("unique_opens", "Opens (each mail once)"),
    ("unique_clicks", "Clicks (each link of a mail once)"),
    ("unsubscribes", "Unsubscribes"),
    ("spam_reports", "Spam reports"),
];

/// Looks at the alert that a due row is for.
pub(crate) async fn look(app: &App, row: &StoredRow<Due>) -> Result<(), WorkError> {
    if let Some(alert) = app.store.due_alert(&row.value).await? {
        let (text, found) = match alert.kind {
            AlertKind::StatsNotification { frequency } => {
                let text = statistics(app, &alert, frequency).await?;
                (Some(text), AlertLook::Within)
            }
            AlertKind::UsageLimit { percentage } => match usage(app, &alert).await? {
                None => (None, AlertLook::NoAllowance),
                Some(used) if used.percent() < i64::from(percentage) => (None, AlertLook::Within),
                Some(used) => {
                    let text = (!alert.is_past).then(|| used.text(percentage));
                    (text, AlertLook::Past)
                }
            },
        };
        if let Some(text) = text {
            send(app, &alert, text).await?;
        }
        app.store
            .go_on_with_alert(&alert, found, &app.clock)
            .await?;
    }
    Ok(app.store.forget_due(std::slice::from_ref(row)).await?)
}

/// A subject and a text.
type AlertText = (String, String);

/// The figures of the period that ended when the alert fell due.
async fn statistics(
    app: &App,
    alert: &Alert,
    frequency: Frequency,
) -> Result<AlertText, StoreError> {
    // It falls due in the first hour after the period.
    let end = alert.next.plus(-alert.next.0.rem_euclid(86_400));
    let last = end.plus(-1).day();
    let first = match frequency {
        Frequency::Daily => last.clone(),
        Frequency::Weekly => end.plus(-7 * 86_400).day(),
        Frequency::Monthly => {
            let month = last.get(.."YYYY-MM".len()).unwrap_or(&last);
            format!("{month}-01")
        }
    };
    let back = (0..).map(|days| end.plus(-1 - days * 86_400).day());
    let days = back.take_while(|day| *day >= first);
    let whole = app.store.account_day_stats(&alert.account, days).await?;
    let period = if first == last {
        format!("on {last}")
    } else {
        format!("from {first} to {last}")
    };
    let mut text = format!("What your account sent {period} (UTC):\n\n");
    for (metric, name) in FIGURES {
        let sum: i64 = whole.iter().map(|day| day.metric(metric)).sum();
        let _ = writeln!(text, "{name}: {sum}");
    }
    Ok((format!("Your mail {period}"), text))
}

/// How much of an allowance is used.
#[derive(Clone, Copy)]
struct Usage {
    used: i64,
    total: i64,
}

impl Usage {
    fn percent(self) -> i64 {
        self.used.saturating_mul(100) / self.total.max(1)
    }

    fn text(self, percentage: u8) -> AlertText {
        let Self { used, total } = self;
        let subject = format!("{percentage} % of your sending allowance are used");
        let text = format!(
            "Your account has used {used} of the {total} mails that it may send in this period.\n\n\
             Mail past the allowance is not sent.\n"
        );
        (subject, text)
    }
}

/// None for an account that may send as much as it likes.
async fn usage(app: &App, alert: &Alert) -> Result<Option<Usage>, StoreError> {
    let credits = app.store.credits(&alert.account, app.clock.now()).await?;
    Ok(credits.map(|credits| Usage {
        used: credits.used,
        total: credits.total,
    }))
}

async fn send(app: &App, alert: &Alert, (subject, mut text): AlertText) -> Result<(), WorkError> {
    let account = &alert.account;
    let Ok(to) = EmailAddress::parse_stored(&alert.email_to) else {
        return Ok(());
    };
    if !app.store.may_forward_to(account, &to).await? {
        let to = Masked(to.as_str());
        tracing::info!(account.id = %account, "an alert of account {account} goes to {to}, which is not confirmed: it is not sent");
        return Ok(());
    }
    if let Some(owner) = app.store.account(account).await? {
        let _ = write!(
            text,
            "\nThis mail comes from an alert of the account {}. Any key of it can end the alert \
             (DELETE /v3/alerts/{}).\n",
            owner.username, alert.id
        );
    }
    let digest = Sha256::digest(format!("alert {account} {} {}", alert.id, alert.next.0));
    let id = MessageId::from_digest(digest.into());
    let mail = Mail::notice(app.system_sender.clone(), to, &subject, text);
    let job = Job::notice(account.clone(), id, app.clock.now_ms(), mail);
    Ok(app.send.send(job.to_text()?, Duration::ZERO).await?)
}
