//! How the mails of an account ended, by the hour of the last day: what the guard of its reputation
//! judges. The counters lie in the rows of the day, so they cost no write of their own.

use std::collections::BTreeMap;

use posthaste_model::{AccountId, Timestamp};

use crate::table::{Store, StoreError};

const HOUR: i64 = 3_600;

/// The hours that a rate is of: the current one and those before.
const WINDOW: i64 = 24;

/// How a mail ended, or what its recipient said of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MailEnd {
    Delivered,
    /// The address does not exist.
    Bounced,
    /// Refused for another reason, or given up.
    Blocked,
    /// The recipient reported it as spam.
    Complained,
}

/// The counter of an hour, by the hour and how mails ended.
macro_rules! counters {
    ($($hour:literal)*) => {
        const COUNTERS: [[&str; 4]; 24] = [
            $([
                concat!("h", $hour, "d"),
                concat!("h", $hour, "b"),
                concat!("h", $hour, "x"),
                concat!("h", $hour, "c"),
            ],)*
        ];
    };
}

counters! {
    "00" "01" "02" "03" "04" "05" "06" "07" "08" "09" "10" "11"
    "12" "13" "14" "15" "16" "17" "18" "19" "20" "21" "22" "23"
}

/// The hour of the day that a second lies in.
fn hour_of_day(at: Timestamp) -> usize {
    let hour = at.0.div_euclid(HOUR).rem_euclid(24);
    usize::try_from(hour).unwrap_or(0)
}

/// The counter of the hour that a second lies in.
fn counter(at: Timestamp, end: MailEnd) -> &'static str {
    let counters = COUNTERS.get(hour_of_day(at));
    let counters = counters.unwrap_or(&COUNTERS[0]);
    match end {
        MailEnd::Delivered => counters[0],
        MailEnd::Bounced => counters[1],
        MailEnd::Blocked => counters[2],
        MailEnd::Complained => counters[3],
    }
}

/// What a batch adds: by the day and the counter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hours(BTreeMap<String, BTreeMap<&'static str, i64>>);

impl Hours {
    /// Adds the end of one mail.
    pub fn add(&mut self, at: Timestamp, end: MailEnd) {
        let day = self.0.entry(at.day()).or_default();
        *day.entry(counter(at, end)).or_default() += 1;
    }

    pub(super) fn of_day(&self, day: &str) -> impl Iterator<Item = (&str, i64)> {
        let counters = self.0.get(day).into_iter().flatten();
        counters.map(|(name, by)| (*name, *by))
    }
}

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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_hour_and_end_has_a_counter_of_its_own() {
        let ends = [
            MailEnd::Delivered,
            MailEnd::Bounced,
            MailEnd::Blocked,
            MailEnd::Complained,
        ];
        let hours = (0..24).map(|hour| Timestamp(1_800_000_000 / 86_400 * 86_400 + hour * HOUR));
        let names = hours.flat_map(|at| ends.map(|end| counter(at, end)));
        let names: BTreeSet<_> = names.collect();
        assert_eq!(names.len(), 96);
    }

    #[test]
    fn an_hour_begins_with_its_first_second() {
        let midnight = Timestamp(20_000 * 86_400);
        for (at, want) in [
            (0, "h00d"),
            (3_599, "h00d"),
            (3_600, "h01d"),
            (86_399, "h23d"),
        ] {
            assert_eq!(counter(midnight.plus(at), MailEnd::Delivered), want);
        }
    }
}
