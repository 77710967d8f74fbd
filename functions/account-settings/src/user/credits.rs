//! `GET /v3/user/credits`.

use std::fmt::Write as _;

use axum::Json;
use axum::extract::State;
use posthaste_http::{Caller, Rejection};
use posthaste_model::Timestamp;
use posthaste_store::{Credits, Frequency};
use serde::Serialize;

use crate::AppState;

/// The sending allowance of the account.
#[derive(Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct CreditsView {
    remain: i64,
    total: i64,
    /// Always 0: mail past the allowance is not sent.
    overage: i64,
    used: i64,
    last_reset: String,
    next_reset: String,
    reset_frequency: &'static str,
}

/// The allowance that an account without one is shown, because clients read a number: the largest
/// that all of them can hold.
const UNLIMITED: i64 = 2_147_483_647;

/// `GET /v3/user/credits`. An account without an allowance is shown a month's usage of the largest
/// one; a single allowance that is never renewed has the frequency `never`, and no next reset.
pub(crate) async fn read(
    State(state): State<AppState>,
    caller: Caller,
) -> Result<Json<CreditsView>, Rejection> {
    let now = state.notices.clock.now();
    if let Some(credits) = state.store.credits(caller.id(), now).await? {
        return Ok(Json(CreditsView::of(credits, caller.account.created_at)));
    }
    let until = now.next_month();
    let first = first_of_month(until.plus(-1));
    let today = now.day();
    let each = each_day(&first, &today);
    let days = state.store.account_span_stats(caller.id(), each).await?;
    let used = days.iter().map(|day| day.metric("requests")).sum::<i64>();
    Ok(Json(CreditsView {
        remain: (UNLIMITED - used).max(0),
        total: UNLIMITED,
        overage: 0,
        used,
        last_reset: first,
        next_reset: until.day(),
        reset_frequency: "monthly",
    }))
}

impl CreditsView {
    fn of(credits: Credits, created_at: Timestamp) -> Self {
        let until = credits.until;
        let (reset_frequency, last_reset, next_reset) = match credits.frequency {
            None => ("never", created_at.day(), String::new()),
            Some(Frequency::Daily) => ("daily", until.plus(-86_400).day(), until.day()),
            Some(Frequency::Weekly) => ("weekly", until.plus(-7 * 86_400).day(), until.day()),
            Some(Frequency::Monthly) => {
                let first = first_of_month(until.plus(-1));
                ("monthly", first, until.day())
            }
        };
        Self {
            remain: credits.remain,
            total: credits.total,
            overage: 0,
            used: credits.used,
            last_reset,
            next_reset,
            reset_frequency,
        }
    }
}

/// The first day of the month that a moment lies in, `YYYY-MM-01`.
pub(super) fn first_of_month(at: Timestamp) -> String {
    let mut day = at.day();
    day.truncate("YYYY-MM".len());
    let _ = write!(day, "-01");
    day
}

/// Every day from one to another (`YYYY-MM-DD`, both included), the oldest first.
pub(super) fn each_day(first: &str, last: &str) -> Vec<String> {
    let start = Timestamp::from_iso(&format!("{first}T00:00:00Z"));
    let days = (0..).map_while(|n| Some(start?.plus(n * 86_400).day()));
    days.take_while(|day| day.as_str() <= last).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_day_of_a_span_is_named() {
        let days = each_day("2028-02-28", "2028-03-01");
        assert_eq!(days, ["2028-02-28", "2028-02-29", "2028-03-01"]);
        assert_eq!(each_day("2028-03-01", "2028-02-28"), [""; 0]);
        assert_eq!(each_day("no day", "2028-02-28"), [""; 0]);
    }

    #[test]
    fn a_period_is_shown_with_its_first_day_and_the_day_of_the_next() {
        let shown = |frequency, until: &str| {
            let until = Timestamp::from_iso(until).unwrap();
            let credits = Credits {
                frequency,
                total: 10,
                remain: 7,
                used: 3,
                until,
            };
            let view = CreditsView::of(credits, Timestamp(0));
            (view.reset_frequency, view.last_reset, view.next_reset)
        };
        let text = |text: &str| text.to_owned();
        assert_eq!(
            shown(Some(Frequency::Monthly), "2027-01-01T00:00:00Z"),
            ("monthly", text("2026-12-01"), text("2027-01-01"))
        );
        assert_eq!(
            shown(Some(Frequency::Weekly), "2027-01-04T00:00:00Z"),
            ("weekly", text("2026-12-28"), text("2027-01-04"))
        );
        assert_eq!(
            shown(Some(Frequency::Daily), "2027-01-01T00:00:00Z"),
            ("daily", text("2026-12-31"), text("2027-01-01"))
        );
        let never = shown(None, "2027-01-01T00:00:00Z");
        assert_eq!(never, ("never", text("1970-01-01"), String::new()));
    }
}
