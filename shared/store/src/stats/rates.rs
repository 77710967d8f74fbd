//! The rates that the guard of an account's reputation judges.

use posthaste_model::{AccountId, Timestamp};

use super::hours::{HOUR, MailEnd, counter};
use crate::table::{Store, StoreError};

/// The hours that a rate is of: the current one and those before.
const WINDOW: i64 = 24;

/// The mails of an account that ended within a day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SendingRates {
    /// All that left.
    pub mails: i64,
    /// Those to addresses that do not exist.
    pub bounces: i64,
    /// Those that recipients reported as spam.
    pub complaints: i64,
}

impl Store {
    /// How the mails of an account ended in the current hour and the 23 before it; of these, in the hours
    /// that began at `since` or later.
    pub async fn sending_rates(
        &self,
        account: &AccountId,
        since: Timestamp,
        now: Timestamp,
    ) -> Result<SendingRates, StoreError> {
        let this_hour = now.0.div_euclid(HOUR);
        let hours = (0..WINDOW).map(|back| Timestamp((this_hour - back) * HOUR));
        let hours: Vec<Timestamp> = hours.filter(|start| *start >= since).collect();
        let mut days: Vec<String> = hours.iter().map(|start| start.day()).collect();
        days.dedup();
        let rows = self.account_day_stats(account, days).await?;
        let mut rates = SendingRates::default();
        for row in rows {
            for start in hours.iter().filter(|start| start.day() == row.day) {
                let of = |end| row.metric(counter(*start, end));
                let bounced = of(MailEnd::Bounced);
                rates.mails += of(MailEnd::Delivered) + bounced + of(MailEnd::Blocked);
                rates.bounces += bounced;
                rates.complaints += of(MailEnd::Complained);
            }
        }
        Ok(rates)
    }
}
