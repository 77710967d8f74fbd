//! `GET /v3/user/cost`, an extension: what the mail of the account costs the operator of the service, by
//! the prices that are configured. A billing key opens it, and a session of the console that
//! a link opened.
//!
//! It is an estimate. What an idle deployment costs belongs to no account, and is left out; so are
//! opens, clicks and received mail.

use std::fmt;
use std::str::FromStr;

use axum::Json;
use axum::extract::State;
use posthaste_http::{Caller, Query, QueryReader, Rejection};
use posthaste_model::Timestamp;
use serde::Serialize;

use super::credits::{each_day, first_of_month};
use crate::AppState;

/// Days in one answer at most: statistics are kept no longer.
const MOST_DAYS: i64 = 400;

/// What a million mails cost in US dollars.
#[derive(Clone, Copy, Debug)]
pub struct Prices {
    /// Of the service itself: the bill of AWS for requests, functions, table and queues.
    pub service: Price,
    /// Of the relay that takes the mails.
    pub relay: Price,
}

/// An amount of US dollars for a million mails, in ten-thousandths of a dollar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Price(u64);

/// Why a text is no price.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a price is a number of US dollars, with up to 7 digits before the point and 4 behind it")]
pub struct InvalidPrice;

/// Digits behind the point of a price.
const DECIMALS: usize = 4;

impl FromStr for Price {
    type Err = InvalidPrice;

    fn from_str(text: &str) -> Result<Self, InvalidPrice> {
        let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
        let is_number = |text: &str, most: usize| {
            (1..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
        };
        if !is_number(whole, 7) || !is_number(part, DECIMALS) {
            return Err(InvalidPrice);
        }
        let units = format!("{whole}{part:0<DECIMALS$}").parse();
        units.map(Self).map_err(|_| InvalidPrice)
    }
}

impl fmt::Display for Price {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = format!("{:05}", self.0);
        let (whole, part) = digits.split_at(digits.len() - DECIMALS);
        write!(f, "{whole}.{part}")
    }
}

impl Price {
    /// What so many mails cost, in ten-billionths of a dollar.
    fn of(self, mails: i64) -> u128 {
        u128::from(mails.max(0).unsigned_abs()) * u128::from(self.0)
    }
}

/// An amount in US dollars, rounded to a millionth.
fn dollars(ten_billionths: u128) -> String {
    let millionths = (ten_billionths + 5_000) / 10_000;
    format!("{}.{:06}", millionths / 1_000_000, millionths % 1_000_000)
}

/// The cost of a span of days. Amounts are texts, so that none is rounded by a client.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct CostView {
    start_date: String,
    end_date: String,
    currency: &'static str,
    usage: Usage,
    price_per_million: Amounts,
    cost: Cost,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Usage {
    /// Copies of mails that were accepted.
    requests: i64,
    /// Those of them that were not dropped before they reached the relay.
    processed: i64,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Amounts {
    service: String,
    relay: String,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Cost {
    service: String,
    relay: String,
    total: String,
}

/// From `start_date` (the first of this month when it is left out) to `end_date` (today).
pub(crate) async fn read(
    State(state): State<AppState>,
    caller: Caller,
    query: Query,
) -> Result<Json<CostView>, Rejection> {
    let now = state.notices.clock.now();
    let days = query.checked(|query| span(query, now))?;
    let each = each_day(&days.0, &days.1);
    let rows = state.store.account_span_stats(caller.id(), each).await?;
    let mut usage = Usage::default();
    for day in &rows {
        usage.requests += day.metric("requests");
        usage.processed += day.metric("processed");
    }
    Ok(Json(CostView::of(days, usage, state.prices)))
}

/// The first and the last day.
fn span(query: &mut QueryReader<'_>, now: Timestamp) -> (String, String) {
    let mut day = |name: &str| {
        let read = |text: &str| {
            let at = Timestamp::from_iso(&format!("{text}T00:00:00Z"))?;
            (at.day() == text).then_some(at)
        };
        query.parsed(name, read, &format!("{name} must be a date, YYYY-MM-DD"))
    };
    let (start, end) = (day("start_date"), day("end_date"));
    let first = start.map_or_else(|| first_of_month(now), Timestamp::day);
    let last = end.unwrap_or(now).day();
    if first > last {
        query.refuse("end_date", "end_date must not lie before start_date");
    }
    if start.is_some_and(|start| end.unwrap_or(now).since(start) >= MOST_DAYS * 86_400) {
        let message = format!("at most {MOST_DAYS} days can be asked for");
        query.refuse("start_date", message);
    }
    (first, last)
}

impl CostView {
    fn of((start_date, end_date): (String, String), usage: Usage, prices: Prices) -> Self {
        let service = prices.service.of(usage.requests);
        let relay = prices.relay.of(usage.processed);
        Self {
            start_date,
            end_date,
            currency: "USD",
            usage,
            price_per_million: Amounts {
                service: prices.service.to_string(),
                relay: prices.relay.to_string(),
            },
            cost: Cost {
                service: dollars(service),
                relay: dollars(relay),
                total: dollars(service + relay),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_has_up_to_four_decimals() {
        for (text, want) in [
            ("12.43", Some("12.4300")),
            ("0", Some("0.0000")),
            ("100", Some("100.0000")),
            ("0.0001", Some("0.0001")),
            ("9999999.9999", Some("9999999.9999")),
            ("", None),
            (".5", None),
            ("5.", None),
            ("-1", None),
            ("+1", None),
            ("1e3", None),
            ("0.00001", None),
            ("10000000", None),
            ("$4", None),
            ("4,00", None),
        ] {
            let read = text.parse::<Price>().map(|price| price.to_string());
            assert_eq!(read.ok().as_deref(), want, "{text:?}");
        }
    }

    #[test]
    fn a_cost_is_that_of_each_mail_and_rounded_once() {
        let prices = Prices {
            service: "12.43".parse().unwrap(),
            relay: "100".parse().unwrap(),
        };
        let cost = |requests, processed| {
            let usage = Usage {
                requests,
                processed,
            };
            let days = ("2026-11-01".to_owned(), "2026-11-29".to_owned());
            let Cost {
                service,
                relay,
                total,
            } = CostView::of(days, usage, prices).cost;
            format!("{service} {relay} {total}")
        };
        assert_eq!(cost(0, 0), "0.000000 0.000000 0.000000");
        // 12.43 millionths of a dollar, and 100.
        assert_eq!(cost(1, 1), "0.000012 0.000100 0.000112");
        assert_eq!(cost(2, 1), "0.000025 0.000100 0.000125");
        assert_eq!(cost(1_000_000, 900_000), "12.430000 90.000000 102.430000");
        assert!(cost(i64::MAX, i64::MAX).starts_with("114646514"));
    }
}
