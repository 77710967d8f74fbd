//! `GET /v3/subusers/reputations`.
//!
//! The v3 API does not define reputation. Here it is the share, in percent, of the mails of the
//! last 30 days that ended well: of those that receivers accepted or rejected permanently, all that
//! neither bounced nor were reported as spam. A subuser without mail has 100.

use axum::Json;
use axum::extract::State;
use futures_util::{StreamExt as _, TryStreamExt as _};
use posthaste_http::{Caller, Query, Rejection};
use posthaste_model::Timestamp;
use posthaste_store::{Account, DayStats, Store};
use serde::Serialize;

use super::named;
use super::stats::AT_ONCE;
use crate::App;

/// Days that count, today included.
const DAYS: i64 = 30;

#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Reputation {
    reputation: f64,
    username: String,
}

/// The subusers named by `usernames` (repeated, or comma-separated), or all of them.
pub(crate) async fn reputations(
    State(app): State<App>,
    caller: Caller,
    query: Query,
) -> Result<Json<Vec<Reputation>>, Rejection> {
    let names = query.all("usernames").flat_map(|text| text.split(','));
    let names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
    let accounts = match names.is_empty() {
        true => named::all(&app, &caller).await?,
        false => named::some(&app, &caller, ("usernames", &names)).await?,
    };
    let now = app.clock.now();
    let asked: Vec<_> = accounts
        .into_iter()
        .map(|account| of(&app.store, account, now))
        .collect();
    let found = futures_util::stream::iter(asked).buffered(AT_ONCE);
    Ok(Json(found.try_collect().await?))
}

async fn of(store: &Store, account: Account, now: Timestamp) -> Result<Reputation, Rejection> {
    let first = now.plus(-(DAYS - 1) * 86_400).day();
    let rows = store.day_stats(&account.id, &first, &now.day()).await?;
    Ok(Reputation {
        reputation: percent(&rows),
        username: account.username,
    })
}

/// To a hundredth of a percent.
fn percent(rows: &[DayStats]) -> f64 {
    let whole = rows.iter().filter(|row| row.category.is_empty());
    let (ended, well) = whole.fold((0, 0), |(ended, well), row| {
        let (delivered, bounced) = (row.metric("delivered"), row.metric("bounces"));
        let kept = delivered - row.metric("spam_reports");
        (ended + delivered + bounced, well + kept)
    });
    if ended <= 0 {
        return 100.0;
    }
    let hundredths = well.clamp(0, ended).saturating_mul(10_000) / ended;
    f64::from(i32::try_from(hundredths).unwrap_or(0)) / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(category: &str, counters: &[(&str, i64)]) -> DayStats {
        DayStats {
            day: "2027-01-15".to_owned(),
            category: category.to_owned(),
            counters: counters
                .iter()
                .map(|(name, count)| ((*name).to_owned(), (*count).into()))
                .collect(),
        }
    }

    #[test]
    fn what_bounced_or_was_reported_counts_against_it() {
        for (counters, want) in [
            (&[][..], 100.0),
            (&[("delivered", 4)], 100.0),
            (&[("delivered", 3), ("bounces", 1)], 75.0),
            (&[("delivered", 4), ("spam_reports", 1)], 75.0),
            (&[("delivered", 2), ("bounces", 1)], 66.66),
            (&[("bounces", 5)], 0.0),
            // Reports of mails that were delivered before these days.
            (&[("delivered", 1), ("spam_reports", 9)], 0.0),
        ] {
            let named = day("news", &[("bounces", 100)]);
            let got = percent(&[day("", counters), named]);
            assert!((got - want).abs() < 0.001, "{counters:?}: {got}");
        }
    }
}
