//! The functions that work on events: each on its queue, and the minute timer.

use std::sync::Arc;
use std::time::Duration;

use posthaste_queue::SqsEvent;
use posthaste_runtime::Platform;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::console;
use crate::engine::{EVENTS, Engine, FEEDBACK, INBOUND, RETRIES, SEND};
use crate::inbound::InboundHandler;
use crate::poll::{self, Pace};
use crate::start_error::StartError;
use crate::table::Disk;

/// Starts every worker on its queue; those of received mail are the apps of its port.
pub(crate) fn start(
    platform: &Platform,
    received: InboundHandler,
    engine: &Engine,
    disk: &Disk,
    stop: &watch::Receiver<bool>,
) -> Result<Vec<JoinHandle<()>>, StartError> {
    let delivery = Arc::new(delivery::App::from_env(platform)?);
    let pace = Pace {
        pollers: 4,
        batch: 10,
        visibility: Duration::from_secs(900),
        again: Duration::from_secs(5),
    };
    let mut all = poll::start(
        &engine.local(SEND),
        pace,
        disk,
        stop,
        move |event: SqsEvent| {
            let app = delivery.clone();
            async move { delivery::handle(&app, &event).await }
        },
    );
    let pace = Pace { pollers: 2, ..pace };
    let fanout = Arc::new(webhook_fanout::App::from_env(platform)?);
    for queue in [EVENTS, RETRIES] {
        let fanout = fanout.clone();
        all.extend(poll::start(
            &engine.local(queue),
            // Most of the time they wait for receivers, and a dead receiver must not delay the
            // others.
            Pace {
                pollers: 16,
                ..pace
            },
            disk,
            stop,
            move |event: SqsEvent| {
                let app = fanout.clone();
                if queue == EVENTS {
                    console::log_mails(&event);
                }
                async move { webhook_fanout::handle(&app, &event).await }
            },
        ));
    }
    let parse = Arc::new(received.parse);
    all.extend(poll::start(
        &engine.local(INBOUND),
        pace,
        disk,
        stop,
        move |event: SqsEvent| {
            let app = parse.clone();
            async move { inbound_parse::handle(&app, &event).await }
        },
    ));
    let feedback = Arc::new(received.feedback);
    all.extend(poll::start(
        &engine.local(FEEDBACK),
        Pace { pollers: 1, ..pace },
        disk,
        stop,
        move |event: SqsEvent| {
            let app = feedback.clone();
            async move { ses_feedback::handle(&app, &event).await }
        },
    ));
    Ok(all)
}

/// The equivalent of the EventBridge rule: a sweep every minute, and one at the start.
pub(crate) async fn sweeping(app: schedule_sweep::App, mut stop: watch::Receiver<bool>) {
    let mut minute = tokio::time::interval(Duration::from_secs(60));
    loop {
        tokio::select! {
            _ = stop.wait_for(|stop| *stop) => return,
            _ = minute.tick() => {}
        }
        if let Err(error) = schedule_sweep::sweep(&app, schedule_sweep::Share::ALL).await {
            tracing::error!(error = %error, "the sweep of due rows failed: {error}");
        }
    }
}

/// Waits until the signal is set (or its sender is gone).
pub(crate) async fn stopped(mut stop: watch::Receiver<bool>) {
    let _ = stop.wait_for(|stop| *stop).await;
}
