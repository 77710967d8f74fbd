//! What the API counted, as rows of a table.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::kinds::StatsKind;
use crate::api::{ApiReader, ReadError};
use crate::texts;

/// The rows of a table, with the counters of each.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) rows: Vec<CountedRow>,
}

/// One day, or one name in all days.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CountedRow {
    pub(crate) name: String,
    metrics: BTreeMap<String, i64>,
    /// Its part of the largest, in hundredths.
    pub(crate) share: i64,
}

/// `/sums` answers one period, the others each.
#[derive(Deserialize)]
#[serde(untagged)]
enum PeriodsAnswer {
    One(PeriodAnswer),
    Many(Vec<PeriodAnswer>),
}

#[derive(Deserialize)]
struct PeriodAnswer {
    date: String,
    stats: Vec<NamedStats>,
}

#[derive(Deserialize)]
struct NamedStats {
    #[serde(default)]
    name: String,
    metrics: BTreeMap<String, i64>,
}

impl PeriodsAnswer {
    fn periods(self) -> Vec<PeriodAnswer> {
        match self {
            Self::One(period) => vec![period],
            Self::Many(periods) => periods,
        }
    }
}

impl CountedRow {
    pub(super) fn metric(&self, name: &str) -> i64 {
        self.metrics.get(name).copied().unwrap_or_default()
    }

    fn add(&mut self, metrics: &BTreeMap<String, i64>) {
        for (name, count) in metrics {
            *self.metrics.entry(name.clone()).or_default() += count;
        }
    }

    /// The counters in the order of the columns.
    pub(crate) fn counts(&self) -> Vec<String> {
        let shown = texts::statistics::METRICS.iter();
        let shown = shown.filter_map(|(name, _)| self.metrics.get(*name));
        shown.map(|count| count.to_string()).collect()
    }
}

impl Counted {
    /// Each day: of the account, or of one name.
    pub(super) async fn by_day(
        api: &ApiReader,
        kind: &StatsKind,
        span: &str,
        name: &str,
    ) -> Result<Self, ReadError> {
        let path = kind.days_path(span, name);
        let days = api.get::<PeriodsAnswer>(&path).await?.periods();
        Ok(Self {
            rows: days.into_iter().map(|day| of_day(day, name)).collect(),
        })
    }

    /// Each name, all days together, the busiest first.
    pub(super) async fn by_name(
        api: &ApiReader,
        kind: &StatsKind,
        span: &str,
    ) -> Result<Self, ReadError> {
        let path = kind.sums_path(span);
        let periods = api.get::<PeriodsAnswer>(&path).await?.periods();
        Ok(Self {
            rows: summed(periods, kind.main),
        })
    }

    pub(super) fn has_any(&self) -> bool {
        let mut all = self.rows.iter().flat_map(|row| row.metrics.values());
        all.any(|count| *count > 0)
    }

    /// The headings of the counters that the API answers.
    pub(super) fn labels(&self) -> Vec<&'static str> {
        let has = |name: &str| {
            let mut rows = self.rows.iter();
            rows.any(|row| row.metrics.contains_key(name))
        };
        let shown = texts::statistics::METRICS
            .iter()
            .filter(|(name, _)| has(name));
        shown.map(|(_, label)| *label).collect()
    }

    /// All rows together.
    pub(super) fn total(&self, name: &str) -> CountedRow {
        let mut total = CountedRow {
            name: name.to_owned(),
            ..CountedRow::default()
        };
        for row in &self.rows {
            total.add(&row.metrics);
        }
        total
    }

    /// The first rows, each with its part of the largest by this counter.
    pub(super) fn shown(self, main: &str, most: usize) -> Vec<CountedRow> {
        let largest = self.rows.iter().map(|row| row.metric(main)).max();
        let largest = largest.unwrap_or_default().max(1);
        let mut rows = self.rows;
        rows.truncate(most);
        for row in &mut rows {
            row.share = row.metric(main).saturating_mul(100) / largest;
        }
        rows
    }
}

/// The counters of a day: of this name, where the answer names several.
fn of_day(day: PeriodAnswer, name: &str) -> CountedRow {
    let mut row = CountedRow {
        name: day.date,
        ..CountedRow::default()
    };
    let of_name = day.stats.into_iter().filter(|stats| stats.name == name);
    for stats in of_name {
        row.add(&stats.metrics);
    }
    row
}

fn summed(periods: Vec<PeriodAnswer>, main: &str) -> Vec<CountedRow> {
    let mut rows: BTreeMap<String, CountedRow> = BTreeMap::new();
    for stats in periods.into_iter().flat_map(|period| period.stats) {
        let row = rows.entry(stats.name.clone()).or_default();
        row.name = stats.name;
        row.add(&stats.metrics);
    }
    let mut rows: Vec<_> = rows.into_values().collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.metric(main)));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(text: &str) -> Vec<PeriodAnswer> {
        serde_json::from_str::<PeriodsAnswer>(text)
            .unwrap()
            .periods()
    }

    #[test]
    fn periods_of_a_name_are_summed_and_the_busiest_comes_first() {
        let periods = r#"[
            {"date": "2026-10-01", "stats": [{"name": "a", "type": "x", "metrics": {"opens": 1, "unique_opens": 1}}]},
            {"date": "2026-11-01", "stats": [{"name": "a", "metrics": {"opens": 2}}, {"name": "b", "metrics": {"opens": 4}}]}
        ]"#;
        let counted = Counted {
            rows: summed(answer(periods), "opens"),
        };
        assert_eq!(counted.labels(), ["Opens", "Unique opens"]);
        let rows = counted.shown("opens", 10);
        let seen: Vec<_> = rows
            .iter()
            .map(|row| (row.name.as_str(), row.metric("opens"), row.share))
            .collect();
        assert_eq!(seen, [("b", 4, 100), ("a", 3, 75)]);
    }

    #[test]
    fn one_period_is_read_and_a_day_has_the_name_that_was_asked_for() {
        let one = r#"{"date": "2026-11-01", "stats": [{"name": "a", "metrics": {"opens": 1}}, {"name": "b", "metrics": {"opens": 5}}]}"#;
        let day = answer(one).remove(0);
        let row = of_day(day, "b");
        assert_eq!((row.name.as_str(), row.metric("opens")), ("2026-11-01", 5));
        assert_eq!(row.counts(), ["5"]);
    }
}
