//! `GET /v3/subusers/stats`, `…/sums`, `…/monthly`, `GET /v3/subusers/{name}/stats/monthly`.

use axum::Json;
use axum::extract::State;
use futures_util::{StreamExt as _, TryStreamExt as _};
use posthaste_http::{Caller, PathParams, Query, QueryReader, Rejection};
use posthaste_store::{Account, DayStats, Store, StoreError};

use super::{all_subusers, check_parent, named_subusers};
use crate::App;
use crate::days::{Days, MISSING};
use crate::stats::{Metrics, Stats, StatsPeriod, summed, zeros};
use crate::sums::{SumOrder, SumPage, page};

/// The number of subusers whose counters are read at once.
pub(crate) const AT_ONCE: usize = 16;

/// Counters that the months can be sorted by; the sums take every one.
pub(crate) const OF_MONTHS: [&str; 9] = [
    "blocks",
    "bounces",
    "clicks",
    "delivered",
    "opens",
    "requests",
    "unique_clicks",
    "unique_opens",
    "unsubscribes",
];

/// The maximum number of subusers times periods in one answer. Each has every counter, so that this
/// many take some 10 MB. It is 50 subusers over 400 days, or 500 over 40.
const MOST_STATS: usize = 20_000;

/// Some subusers, period by period; `subusers` may be repeated.
pub(crate) async fn by_day(
    State(app): State<App>,
    caller: Caller,
    query: Query,
) -> Result<Json<Vec<StatsPeriod>>, Rejection> {
    let now = app.clock.now();
    check_parent(&caller)?;
    let (days, limit, offset, names) = query.checked(|query| {
        let days = Days::read(query, now);
        let named = query.all("subusers").filter(|name| !name.is_empty());
        let names: Vec<&str> = named.collect();
        if names.is_empty() {
            query.refuse("subusers", MISSING);
        }
        (days, query.limit(500, 500), query.offset(), names)
    })?;
    let accounts = named_subusers(&app, &caller, ("subusers", &names)).await?;
    if accounts.len().saturating_mul(days.periods().len()) > MOST_STATS {
        let message = format!(
            "name fewer subusers or a shorter time: one answer has at most {MOST_STATS} statistics"
        );
        return Err(Rejection::on("subusers", message));
    }
    let mut all: Vec<_> = rows(&app, accounts, days)
        .await?
        .into_iter()
        .map(|(account, rows)| (account, summed(&rows, days, "")))
        .collect();
    let periods = days.periods().into_iter().skip(offset).take(limit);
    let periods = periods.map(|date| StatsPeriod {
        date: date.to_string(),
        stats: all
            .iter_mut()
            .map(|(account, periods)| {
                let metrics = periods.remove(&date).unwrap_or_default();
                Stats::of(account.username.clone(), "subuser", metrics)
            })
            .collect(),
    });
    Ok(Json(periods.collect()))
}

/// The sums of subusers that a request asks for.
#[derive(Clone, Copy, Debug)]
struct Ranking {
    days: Days,
    order: SumOrder,
    page: SumPage,
}

impl Ranking {
    fn of_month(query: &mut QueryReader<'_>) -> Self {
        Self {
            days: Days::month(query),
            order: SumOrder::read(query, &OF_MONTHS),
            page: SumPage::read(query),
        }
    }
}

/// Every subuser over the whole time asked about, the busiest first.
pub(crate) async fn sums(
    State(app): State<App>,
    caller: Caller,
    query: Query,
) -> Result<Json<StatsPeriod>, Rejection> {
    let now = app.clock.now();
    let wanted = query.checked(|query| Ranking {
        days: Days::read(query, now),
        order: SumOrder::read(query, &posthaste_store::METRICS),
        page: SumPage::read(query),
    })?;
    let accounts = all_subusers(&app, &caller).await?;
    ranked(&app, accounts, wanted).await
}

/// Every subuser in the month that `date` lies in, or those called by `subuser`.
pub(crate) async fn month(
    State(app): State<App>,
    caller: Caller,
    query: Query,
) -> Result<Json<StatsPeriod>, Rejection> {
    let wanted = query.checked(Ranking::of_month)?;
    let accounts = match query.text("subuser") {
        None => all_subusers(&app, &caller).await?,
        Some(name) => named_subusers(&app, &caller, ("subuser", &[name])).await?,
    };
    months(&app, accounts, wanted).await
}

/// One subuser in the month that `date` lies in.
pub(crate) async fn month_of_one(
    State(app): State<App>,
    caller: Caller,
    PathParams(name): PathParams<String>,
    query: Query,
) -> Result<Json<StatsPeriod>, Rejection> {
    let wanted = query.checked(Ranking::of_month)?;
    let all = all_subusers(&app, &caller).await?;
    let mut named = all.into_iter();
    let account = named.find(|account| account.username.eq_ignore_ascii_case(&name));
    let account = account.ok_or_else(Rejection::not_found)?;
    months(&app, vec![account], wanted).await
}

/// The sums of a month, each with a person's names, which our accounts do not have.
async fn months(
    app: &App,
    accounts: Vec<Account>,
    wanted: Ranking,
) -> Result<Json<StatsPeriod>, Rejection> {
    let Json(mut period) = ranked(app, accounts, wanted).await?;
    for stats in &mut period.stats {
        stats.first_name = Some("");
        stats.last_name = Some("");
    }
    Ok(Json(period))
}

async fn ranked(
    app: &App,
    accounts: Vec<Account>,
    Ranking {
        days,
        order,
        page: page_of,
    }: Ranking,
) -> Result<Json<StatsPeriod>, Rejection> {
    let rows = rows(app, accounts, days).await?;
    let sums = rows
        .into_iter()
        .map(|(account, rows)| (account.username, sum(&rows)));
    let page = page(sums.collect(), order, page_of);
    Ok(Json(StatsPeriod {
        date: days.start.to_string(),
        stats: page
            .map(|(name, metrics)| Stats::of(name, "subuser", metrics))
            .collect(),
    }))
}

fn sum(rows: &[DayStats]) -> Metrics {
    let mut sums = zeros();
    for row in rows.iter().filter(|row| row.category.is_empty()) {
        for (name, sum) in &mut sums {
            *sum += row.metric(name);
        }
    }
    sums
}

/// The counters of each account's days, in the order of the accounts.
async fn rows(
    app: &App,
    accounts: Vec<Account>,
    days: Days,
) -> Result<Vec<(Account, Vec<DayStats>)>, Rejection> {
    let asked: Vec<_> = accounts
        .into_iter()
        .map(|account| rows_of(&app.store, account, days))
        .collect();
    let found = futures_util::stream::iter(asked).buffered(AT_ONCE);
    Ok(found.try_collect().await?)
}

async fn rows_of(
    store: &Store,
    account: Account,
    days: Days,
) -> Result<(Account, Vec<DayStats>), StoreError> {
    let (start, end) = (days.start.to_string(), days.end.to_string());
    let rows = store.day_stats(&account.id, &start, &end).await?;
    Ok((account, rows))
}
