//! `GET /v3/mailbox_providers/stats`, `/v3/clients/stats`, `/v3/devices/stats`, `/v3/browsers/stats` and
//! `/v3/geo/stats`: what mails were sent to and read in.

use std::collections::{BTreeMap, BTreeSet};

use axum::Json;
use axum::extract::State;
use jiff::civil::Date;
use posthaste_http::{Caller, PathParams, Query, QueryReader, Rejection};
use posthaste_model::{ClientType, Segment, Segmentation, Timestamp};

use crate::App;
use crate::days::Days;
use crate::stats::{Metrics, Stats, StatsPeriod};

/// The scopes that open clients of a type: of every client, or of those of the type.
pub(crate) const CLIENT_SCOPES: [&str; 5] = [
    EVERY_CLIENT,
    "clients.desktop.stats.read",
    "clients.phone.stats.read",
    "clients.tablet.stats.read",
    "clients.webmail.stats.read",
];

const EVERY_CLIENT: &str = "clients.stats.read";

/// The maximum number of providers or browsers that a request names (API facts, stats).
const MOST_NAMES: usize = 10;

/// Which periods are shown.
#[derive(Clone, Copy, Debug)]
struct PeriodPage {
    days: Days,
    limit: usize,
    offset: usize,
}

impl PeriodPage {
    fn read(query: &mut QueryReader<'_>, now: Timestamp) -> Self {
        Self {
            days: Days::read(query, now),
            limit: query.limit(500, 500),
            offset: query.offset(),
        }
    }

    fn periods(self) -> impl Iterator<Item = Date> {
        let periods = self.days.periods().into_iter();
        periods.skip(self.offset).take(self.limit)
    }
}

/// Recipients' mailbox providers, of which `mailbox_providers` names some.
pub(crate) async fn providers(
    State(app): State<App>,
    caller: Caller,
    query: Query,
) -> Result<Json<Vec<StatsPeriod>>, Rejection> {
    let by = Segmentation::MailboxProvider;
    named(&app, &caller, &query, (by, "mailbox_providers")).await
}

/// The browsers that links were opened in, of which `browsers` names some.
pub(crate) async fn browsers(
    State(app): State<App>,
    caller: Caller,
    query: Query,
) -> Result<Json<Vec<StatsPeriod>>, Rejection> {
    named(&app, &caller, &query, (Segmentation::Browser, "browsers")).await
}

/// The mail clients that mails were opened in.
pub(crate) async fn clients(
    State(app): State<App>,
    caller: Caller,
    query: Query,
) -> Result<Json<Vec<StatsPeriod>>, Rejection> {
    seen(&app, &caller, &query, Segmentation::Client, |_| true).await
}

/// The mail clients of one type.
pub(crate) async fn clients_of_type(
    State(app): State<App>,
    caller: Caller,
    PathParams(name): PathParams<String>,
    query: Query,
) -> Result<Json<Vec<StatsPeriod>>, Rejection> {
    let kind = ClientType::named(&name).ok_or_else(Rejection::not_found)?;
    let narrow = format!("clients.{name}.stats.read");
    if !caller.key.holds(EVERY_CLIENT) && !caller.key.holds(&narrow) {
        return Err(Rejection::forbidden());
    }
    let of_type = |segment: &Segment| segment.client_type() == Some(kind);
    seen(&app, &caller, &query, Segmentation::Client, of_type).await
}

/// The devices that mails were opened on.
pub(crate) async fn devices(
    State(app): State<App>,
    caller: Caller,
    query: Query,
) -> Result<Json<Vec<StatsPeriod>>, Rejection> {
    seen(&app, &caller, &query, Segmentation::Device, |_| true).await
}

/// Places. The service has no data about where an address is, so that every period is without statistics.
pub(crate) async fn places(
    State(app): State<App>,
    query: Query,
) -> Result<Json<Vec<StatsPeriod>>, Rejection> {
    let now = app.clock.now();
    let page = query.checked(|query| {
        let known = |country: &str| ["US", "CA"].contains(&country).then_some(());
        let _ = query.parsed("country", known, "country must be US or CA");
        PeriodPage::read(query, now)
    })?;
    let empty = |date: Date| StatsPeriod {
        date: date.to_string(),
        stats: Vec::new(),
    };
    Ok(Json(page.periods().map(empty).collect()))
}

/// The segments that a request names, whether the days have them or not; without names, those that the days have.
async fn named(
    app: &App,
    caller: &Caller,
    query: &Query,
    (by, parameter): (Segmentation, &'static str),
) -> Result<Json<Vec<StatsPeriod>>, Rejection> {
    let now = app.clock.now();
    let (page, names) = query.checked(|query| {
        let named = query.all(parameter).filter(|name| !name.is_empty());
        let names: BTreeSet<&str> = named.collect();
        if names.len() > MOST_NAMES {
            let message = format!("{parameter} has at most {MOST_NAMES} names");
            query.refuse(parameter, message);
        }
        (PeriodPage::read(query, now), names)
    })?;
    let mut counts = SegmentSums::read(app, caller, page.days, by).await?;
    if names.is_empty() {
        let present = counts.present(|_| true);
        return Ok(Json(counts.periods(page, &present)));
    }
    let all = by.segments();
    let wanted = names.into_iter().map(|name| {
        let known = all
            .iter()
            .find(|segment| segment.name.eq_ignore_ascii_case(name));
        // A name of no segment is one that has counted nothing.
        let code = known.map_or("", |segment| segment.code);
        (known.map_or(name, |segment| segment.name), code)
    });
    Ok(Json(counts.periods(page, &wanted.collect::<Vec<_>>())))
}

/// The segments of these that the days have.
async fn seen(
    app: &App,
    caller: &Caller,
    query: &Query,
    by: Segmentation,
    shows: impl Fn(&Segment) -> bool + Send,
) -> Result<Json<Vec<StatsPeriod>>, Rejection> {
    let now = app.clock.now();
    let page = query.checked(|query| PeriodPage::read(query, now))?;
    let mut counts = SegmentSums::read(app, caller, page.days, by).await?;
    let present = counts.present(shows);
    Ok(Json(counts.periods(page, &present)))
}

/// The counters of a segmentation by period and the code of the segment.
struct SegmentSums {
    by: Segmentation,
    sums: BTreeMap<(Date, String), Metrics>,
}

impl SegmentSums {
    async fn read(
        app: &App,
        caller: &Caller,
        days: Days,
        by: Segmentation,
    ) -> Result<Self, Rejection> {
        let rows = app.store.account_day_stats(caller.id(), days.each());
        let mut sums: BTreeMap<(Date, String), Metrics> = BTreeMap::new();
        for row in rows.await? {
            let Ok(day) = row.day.parse() else {
                continue;
            };
            for (code, metric, count) in row.segments(by) {
                let place = (days.period(day), code.to_owned());
                let metrics = sums.entry(place).or_insert_with(|| zeros(by));
                if let Some(sum) = metrics.get_mut(metric) {
                    *sum += count;
                }
            }
        }
        Ok(Self { by, sums })
    }

    /// The names and codes of the segments of these that were counted at all.
    fn present(&self, shows: impl Fn(&Segment) -> bool) -> Vec<(&'static str, &'static str)> {
        let codes: BTreeSet<&str> = self.sums.keys().map(|(_, code)| code.as_str()).collect();
        let all = self.by.segments().into_iter();
        all.filter(|segment| codes.contains(segment.code) && shows(segment))
            .map(|segment| (segment.name, segment.code))
            .collect()
    }

    /// Each period with every one of these segments.
    fn periods(&mut self, page: PeriodPage, shown: &[(&str, &str)]) -> Vec<StatsPeriod> {
        let of_period = |date: Date| StatsPeriod {
            date: date.to_string(),
            stats: shown
                .iter()
                .map(|(name, code)| {
                    let metrics = self.sums.remove(&(date, (*code).to_owned()));
                    let metrics = metrics.unwrap_or_else(|| zeros(self.by));
                    Stats::of((*name).to_owned(), self.by.kind(), metrics)
                })
                .collect(),
        };
        page.periods().map(of_period).collect()
    }
}

/// Every counter of a segmentation, at nothing.
fn zeros(by: Segmentation) -> Metrics {
    by.metrics().iter().map(|metric| (*metric, 0)).collect()
}
