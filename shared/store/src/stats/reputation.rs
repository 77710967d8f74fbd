//! How well the mail of an account ends.
//!
//! The v3 API does not define reputation. Here it is the share, in percent, of the mails of the
//! last 30 days that ended well: of those that receivers accepted or rejected permanently, all that
//! neither bounced nor were reported as spam. An account without mail has 100.

use posthaste_model::{AccountId, Timestamp};

use super::daily::DayStats;
use crate::table::{Store, StoreError};

/// Days that count, today included.
const DAYS: i64 = 30;

impl Store {
    /// The reputation of an account at `now`, from 0 to 100.
    pub async fn reputation(&self, account: &AccountId, now: Timestamp) -> Result<f64, StoreError> {
        let days = (0..DAYS).map(|back| now.plus(-back * 86_400).day());
        let rows = self.account_day_stats(account, days).await?;
        Ok(percent(&rows))
    }
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
