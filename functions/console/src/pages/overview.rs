//! What left, arrived, bounced and was complained about; limits; and what is left to do before the first real mail.

use std::collections::BTreeMap;

use askama::Template;
use posthaste_model::Timestamp;
use serde::Deserialize;

use crate::chart::{self, ChartDay};
use crate::content::{PageContent, PageResult};
use crate::texts::overview::{self as texts, StepText};
use crate::texts::{OVERVIEW, count, share};
use crate::visit::PageVisit;

/// Days that are shown, with the one that has not ended.
const DAYS: i64 = 30;

const DAY: i64 = 86_400;

/// What `/v3/user/credits` shows for an account without an allowance.
const UNLIMITED: i64 = 2_147_483_647;

#[derive(Template)]
#[template(path = "overview.html")]
struct Overview {
    figures: Vec<Figure>,
    /// SVG.
    chart: String,
    days: Vec<ChartDay>,
    /// Why there are no figures.
    problem: Option<String>,
    has_mail: bool,
    credits: Option<CreditsShown>,
    /// The amount and its currency.
    cost: Option<String>,
    ses: Option<SesShown>,
    steps: Vec<FirstStep>,
    steps_done: usize,
}

/// One of the large numbers.
struct Figure {
    label: &'static str,
    total: String,
    today: String,
    /// Of what left, where that says something.
    share: Option<String>,
    /// When a share becomes a danger, in words.
    limit: &'static str,
}

struct CreditsShown {
    used: String,
    /// Without an allowance there is none.
    total: Option<String>,
    remain: String,
    next_reset: String,
}

/// What Amazon SES allows.
struct SesShown {
    per_day: String,
    sent: String,
    per_second: String,
    in_sandbox: bool,
    is_sending: bool,
}

/// A line of the list before the first real mail.
struct FirstStep {
    is_done: bool,
    text: StepText,
    /// The page that does it.
    target: Option<&'static str>,
}

#[derive(Deserialize)]
struct StatsDay {
    date: String,
    stats: Vec<StatsOfDay>,
}

#[derive(Deserialize)]
struct StatsOfDay {
    metrics: BTreeMap<String, i64>,
}

#[derive(Deserialize)]
struct CreditsAnswer {
    remain: i64,
    total: i64,
    used: i64,
    next_reset: String,
}

#[derive(Deserialize)]
struct CostAnswer {
    currency: String,
    cost: CostTotal,
}

#[derive(Deserialize)]
struct CostTotal {
    total: String,
}

#[derive(Deserialize)]
struct LimitsAnswer {
    ses: Option<SesLimitsAnswer>,
}

#[derive(Deserialize)]
struct SesLimitsAnswer {
    max_24_hour_send: f64,
    max_send_rate: f64,
    sent_last_24_hours: f64,
    in_sandbox: bool,
    sending_enabled: bool,
}

#[derive(Deserialize)]
struct KeyCount {
    result: Vec<serde_json::Value>,
}

#[derive(Deserialize)]
struct DomainAnswer {
    valid: bool,
}

#[derive(Deserialize)]
struct SendersAnswer {
    results: Vec<SenderAnswer>,
}

#[derive(Deserialize)]
struct SenderAnswer {
    verified: bool,
}

#[derive(Deserialize)]
struct WebhooksAnswer {
    webhooks: Vec<WebhookAnswer>,
}

#[derive(Deserialize)]
struct WebhookAnswer {
    enabled: bool,
}

impl CostAnswer {
    /// Without the zeros behind its cents.
    fn shown(self) -> String {
        let total = self.cost.total;
        let cents = total.find('.').map_or(total.len(), |point| point + 3);
        let (whole, rest) = total.split_at_checked(cents).unwrap_or((&total, ""));
        format!("{whole}{} {}", rest.trim_end_matches('0'), self.currency)
    }
}

impl StatsDay {
    fn metric(&self, name: &str) -> i64 {
        let of = |stats: &StatsOfDay| stats.metrics.get(name).copied().unwrap_or_default();
        self.stats.iter().map(of).sum()
    }
}

pub(crate) async fn show(visit: PageVisit) -> PageResult {
    let first = Timestamp(visit.now.0 - (DAYS - 1) * DAY).day();
    let path = format!(
        "/v3/stats?aggregated_by=day&start_date={first}&end_date={}",
        visit.now.day()
    );
    let (stats, problem) = match visit.api.get::<Vec<StatsDay>>(&path).await {
        Ok(stats) => (stats, None),
        Err(error) => (Vec::new(), Some(error.message)),
    };
    let credits = visit.api.get::<CreditsAnswer>("/v3/user/credits").await;
    // What it costs is for readers who may see bills.
    let cost = if visit.caller.key.holds("billing.read") {
        visit.api.get::<CostAnswer>("/v3/user/cost").await.ok()
    } else {
        None
    };
    let limits = visit.api.get::<LimitsAnswer>("/v3/user/sending_limits");
    // Without the answer of SES the page is as good without its limits.
    let ses = limits.await.ok().and_then(|limits| limits.ses);
    let steps = steps(&visit, &stats, ses.as_ref()).await;
    let days: Vec<_> = stats.iter().map(chart_day).collect();
    let page = Overview {
        figures: figures(&stats),
        chart: chart::bars(&days),
        days,
        problem,
        has_mail: stats.iter().any(|day| day.metric("requests") > 0),
        credits: credits.ok().map(CreditsShown::of),
        cost: cost.map(CostAnswer::shown),
        ses: ses.as_ref().map(SesShown::of),
        steps_done: steps.iter().filter(|step| step.is_done).count(),
        steps,
    };
    PageContent::of(OVERVIEW, &page)
}

fn chart_day(day: &StatsDay) -> ChartDay {
    ChartDay {
        day: day.date.clone(),
        delivered: day.metric("delivered"),
        bounced: day.metric("bounces") + day.metric("blocks"),
    }
}

fn figures(stats: &[StatsDay]) -> Vec<Figure> {
    let sum = |name: &str| stats.iter().map(|day| day.metric(name)).sum::<i64>();
    let today = |name: &str| stats.last().map_or(0, |day| day.metric(name));
    let left = sum("processed");
    let figure = |label, name: &str, limit| Figure {
        label,
        total: count(sum(name)),
        today: count(today(name)),
        share: (name != "processed")
            .then(|| share(sum(name), left))
            .flatten(),
        limit,
    };
    vec![
        figure(texts::LEFT, "processed", ""),
        figure(texts::ARRIVED, "delivered", ""),
        // Amazon SES, "Reputation metrics": an account is reviewed at 5 % and 0.1 %.
        figure(texts::BOUNCED, "bounces", texts::BOUNCES_REVIEWED),
        figure(
            texts::COMPLAINED,
            "spam_reports",
            texts::COMPLAINTS_REVIEWED,
        ),
    ]
}

impl CreditsShown {
    fn of(credits: CreditsAnswer) -> Self {
        Self {
            used: count(credits.used),
            total: (credits.total < UNLIMITED).then(|| count(credits.total)),
            remain: count(credits.remain),
            next_reset: credits.next_reset,
        }
    }
}

impl SesShown {
    fn of(ses: &SesLimitsAnswer) -> Self {
        Self {
            per_day: count(whole(ses.max_24_hour_send)),
            sent: count(whole(ses.sent_last_24_hours)),
            per_second: count(whole(ses.max_send_rate)),
            in_sandbox: ses.in_sandbox,
            is_sending: ses.sending_enabled,
        }
    }
}

/// A number of SES, which has no fraction. The cast saturates.
fn whole(number: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "a limit is a whole number")]
    let number = number.round() as i64;
    number
}

/// The list before the first real mail. What the reader's key may not see counts as not done.
async fn steps(
    visit: &PageVisit,
    stats: &[StatsDay],
    ses: Option<&SesLimitsAnswer>,
) -> Vec<FirstStep> {
    let keys = visit.api.get::<KeyCount>("/v3/api_keys").await;
    let domains = visit
        .api
        .get::<Vec<DomainAnswer>>("/v3/whitelabel/domains?limit=50")
        .await;
    let senders = visit.api.get::<SendersAnswer>("/v3/verified_senders").await;
    let webhooks = visit
        .api
        .get::<WebhooksAnswer>("/v3/user/webhooks/event/settings/all")
        .await;
    let had = |name: &str| stats.iter().any(|day| day.metric(name) > 0);
    let has_domain = domains.is_ok_and(|all| all.iter().any(|domain| domain.valid));
    let has_sender = senders.is_ok_and(|all| all.results.iter().any(|sender| sender.verified));
    let mut steps = vec![
        FirstStep {
            is_done: keys.is_ok_and(|keys| !keys.result.is_empty()),
            text: texts::A_KEY,
            target: Some("/console/first-key"),
        },
        FirstStep {
            is_done: has_domain || has_sender,
            text: texts::A_SENDER,
            target: Some("/console/domains"),
        },
        FirstStep {
            is_done: had("requests"),
            text: texts::A_MAIL,
            target: Some("/console/first-key"),
        },
        FirstStep {
            is_done: had("delivered"),
            text: texts::AN_ARRIVAL,
            target: None,
        },
        FirstStep {
            is_done: webhooks.is_ok_and(|all| all.webhooks.iter().any(|hook| hook.enabled)),
            text: texts::A_WEBHOOK,
            target: Some("/console/webhooks"),
        },
    ];
    if let Some(ses) = ses {
        steps.push(FirstStep {
            is_done: !ses.in_sandbox,
            text: texts::SES_OPEN,
            target: None,
        });
    }
    steps
}
