//! Counts the copies that SES has had for a day without a word about them, hour by hour, and asks SES
//! about them where the owner enabled that.
//!
//! The rows of an hour name the copies; only their states are read. The questions go to the feedback
//! queue, one a second: SES takes no more of them.

use std::time::Duration;

use posthaste_metrics::Metric;
use posthaste_model::Timestamp;
use posthaste_queue::{InsightsQuestion, LONGEST_DELAY};
use posthaste_runtime::WorkError;
use posthaste_store::{HANDED_PARTS, HandedCopy, NewsWatch};

use crate::App;

/// Hours after which a copy without news is counted.
const PATIENCE: i64 = 24;

const HOUR: i64 = 3_600;

/// Rows of one sweep, of up to 400 copies each: a sweep has other work.
const ROWS: usize = 25;

/// Seconds by which questions may be delayed before the watch waits for them.
const AHEAD: i64 = 300;

/// Goes on with the watch, up to the hour that ended a day ago.
pub(crate) async fn watch(app: &App) -> Result<(), WorkError> {
    let now = app.clock.now();
    // The last hour of which every copy has had its time.
    let last = now.0.div_euclid(HOUR) - PATIENCE - 1;
    let row = app.store.news_watch().await?;
    let rev = row.as_ref().map(|row| row.rev);
    let first = || NewsWatch {
        hour: last,
        ..NewsWatch::default()
    };
    let before = row.map_or_else(first, |row| row.value);
    // Rows are stored for four days: after a longer pause of the sweep the oldest are gone.
    let mut watch = NewsWatch {
        hour: before.hour.max(last - 4 * 24),
        ..before.clone()
    };
    let mut rows = 0;
    let mut figures = Vec::new();
    while watch.hour <= last && rows < ROWS && watch.next_question.since(now) < AHEAD {
        let after = watch.after.clone();
        let page = app
            .store
            .handed_in(watch.hour, watch.part, after, 1)
            .await?;
        let Some(row) = page.into_iter().next() else {
            figures.extend(next_part(&mut watch));
            continue;
        };
        rows += 1;
        let silent = app.store.without_news(&row.value.copies).await?;
        watch.without_news += silent.len();
        ask(app, &silent, &mut watch, now).await?;
        watch.after = Some(row.key.sk);
    }
    if watch == before && rev.is_some() {
        return Ok(());
    }
    // Another sweep may have counted the same.
    if app.store.save_news_watch(&watch, rev).await? {
        for (hour, without_news) in figures {
            posthaste_metrics::record(&[Metric::WithoutNews.of(without_news)]);
            if without_news > 0 {
                let from = Timestamp(hour * HOUR).iso();
                tracing::warn!(
                    "{without_news} copies of the hour from {from} are without news of SES for a day"
                );
            }
        }
    }
    Ok(())
}

/// Turns to the next part of the hour; after the last one to the next hour, with the count of this one.
fn next_part(watch: &mut NewsWatch) -> Option<(i64, usize)> {
    watch.after = None;
    watch.part += 1;
    if watch.part < HANDED_PARTS {
        return None;
    }
    let counted = (watch.hour, watch.without_news);
    (watch.hour, watch.part, watch.without_news) = (watch.hour + 1, 0, 0);
    Some(counted)
}

/// Queues a question about each copy, a second apart.
async fn ask(
    app: &App,
    silent: &[&HandedCopy],
    watch: &mut NewsWatch,
    now: Timestamp,
) -> Result<(), WorkError> {
    let Some(feedback) = &app.insights else {
        return Ok(());
    };
    let mut questions = Vec::new();
    for copy in silent {
        let at = watch.next_question.max(now);
        watch.next_question = at.plus(1);
        let wait = u64::try_from(at.since(now)).unwrap_or(0);
        let question = InsightsQuestion {
            v: 1,
            account: copy.account.clone(),
            message: copy.message.clone(),
            recipient: copy.recipient,
            ses_message: copy.service_id.clone(),
        };
        let wait = Duration::from_secs(wait).min(LONGEST_DELAY);
        questions.push((question.to_text()?, wait));
    }
    Ok(feedback.send_all(questions).await?)
}
