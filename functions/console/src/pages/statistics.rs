//! Statistics: of the account by day, and of what mails carried, went to and were read in.

mod counted;
mod kinds;

use askama::Template;
use posthaste_model::Timestamp;
use url::form_urlencoded;

use crate::chart::{self, ChartDay};
use crate::content::{PageContent, PageResult};
use crate::texts;
use crate::visit::PageVisit;
use counted::{Counted, CountedRow};
use kinds::{KINDS, StatsKind};

const DAY: i64 = 86_400;

/// Days that are shown unless the address says another number.
/// Days that are shown.
const SPANS: [i64; 3] = [7, 30, 90];

const USUAL: i64 = 30;

/// Rows of names that the page shows: it has 15 KB compressed. The file has those.
const MOST_ROWS: usize = 100;

#[derive(Template)]
#[template(path = "statistics.html")]
struct StatisticsPage {
    kinds: &'static [StatsKind],
    kind: &'static StatsKind,
    spans: [i64; 3],
    days: i64,
    /// The one that the days are of; empty for all.
    name: String,
    /// Why there are no figures.
    problem: Option<String>,
    columns: Vec<&'static str>,
    rows: Vec<CountedRow>,
    total: Option<CountedRow>,
    /// Whether there are more names than rows.
    is_cut: bool,
    /// SVG; of days alone.
    chart: String,
    is_by_day: bool,
    has_any: bool,
    /// Of the file with the table.
    file: String,
}

pub(crate) async fn show(visit: PageVisit) -> PageResult {
    let kind = StatsKind::named(visit.params.text("by"));
    let name = visit.params.text("name").to_owned();
    let asked = i64::try_from(visit.params.number("days")).unwrap_or_default();
    let days = SPANS
        .into_iter()
        .find(|days| *days == asked)
        .unwrap_or(USUAL);
    let first = Timestamp(visit.now.0 - (days - 1) * DAY).day();
    let span = format!("start_date={first}&end_date={}", visit.now.day());
    let is_by_day = kind.name.is_empty() || !name.is_empty();
    let counted = if is_by_day {
        Counted::by_day(&visit.api, kind, &span, &name).await
    } else {
        Counted::by_name(&visit.api, kind, &span).await
    };
    let (counted, problem) = match counted {
        Ok(counted) => (counted, None),
        Err(error) => (Counted::default(), Some(error.without(kind.scope))),
    };
    let page = StatisticsPage {
        kinds: &KINDS,
        spans: SPANS,
        problem,
        columns: counted.labels(),
        chart: chart::bars(&chart_days(&counted, kind)),
        has_any: counted.has_any(),
        is_cut: counted.rows.len() > MOST_ROWS && !is_by_day,
        total: is_by_day.then(|| counted.total(texts::statistics::TOTAL)),
        rows: counted.shown(kind.main, MOST_ROWS),
        file: file_name(kind, &name, days),
        kind,
        days,
        name,
        is_by_day,
    };
    PageContent::of(texts::STATISTICS, &page)
}

/// The bars of each day: what the kind counts first, and of mails what was refused.
fn chart_days(counted: &Counted, kind: &StatsKind) -> Vec<ChartDay> {
    let days = counted.rows.iter().map(|row| ChartDay {
        day: row.name.clone(),
        delivered: row.metric(kind.main),
        bounced: if kind.is_of_mails() {
            row.metric("bounces") + row.metric("blocks")
        } else {
            0
        },
    });
    days.collect()
}

fn file_name(kind: &StatsKind, name: &str, days: i64) -> String {
    let by = match (kind.name, name) {
        ("", _) => "days",
        (by, "") => by,
        (by, _) => &format!("{by}-days"),
    };
    format!("statistics-{by}-{days}.csv")
}

impl StatisticsPage {
    /// The days of one name, at its address.
    fn days_of(&self, name: &str) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.append_pair("by", self.kind.name);
        query.append_pair("days", &self.days.to_string());
        query.append_pair("name", name);
        format!("/console/statistics?{}", query.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_for_its_table() {
        for (by, name, want) in [
            ("", "", "statistics-days-7.csv"),
            ("categories", "", "statistics-categories-7.csv"),
            ("categories", "a/b", "statistics-categories-days-7.csv"),
        ] {
            assert_eq!(file_name(StatsKind::named(by), name, 7), want);
        }
    }
}
