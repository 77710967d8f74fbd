//! The functions that work on events: each on its queue, and the minute timer.

use std::sync::Arc;
use std::time::Duration;

use posthaste_queue::{BatchResult, SqsEvent};
use posthaste_runtime::Platform;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::console;
use crate::engine::{EVENTS, Engine, FEEDBACK, INBOUND, RETRIES, SEND};
use crate::inbound::InboundHandler;
use crate::poll::{self, Pace};
use crate::start_error::StartError;
use crate::table::Disk;

/// The engine, the disk and the signal that every worker here needs.
#[derive(Clone, Copy)]
struct Workers<'a> {
    engine: &'a Engine,
    disk: &'a Disk,
    stop: &'a watch::Receiver<bool>,
}

impl Workers<'_> {
    /// Runs a function on a queue.
    fn run<A, F>(
        &self,
        queue: &str,
        pace: Pace,
        app: A,
        handle: impl Fn(Arc<A>, SqsEvent) -> F + Clone + Send + Sync + 'static,
    ) -> Vec<JoinHandle<()>>
    where
        A: Send + Sync + 'static,
        F: Future<Output = BatchResult> + Send + 'static,
    {
        let (queue, app) = (self.engine.local(queue), Arc::new(app));
        poll::start(&queue, pace, self.disk, self.stop, move |event| {
            handle(app.clone(), event)
        })
    }
}

/// Starts every worker on its queue; those of received mail are the apps of its port.
pub(crate) fn start(
    platform: &Platform,
    received: InboundHandler,
    engine: &Engine,
    disk: &Disk,
    stop: &watch::Receiver<bool>,
) -> Result<Vec<JoinHandle<()>>, StartError> {
    let workers = Workers { engine, disk, stop };
    let pace = Pace {
        pollers: 4,
        batch: 10,
        visibility: Duration::from_secs(900),
        again: Duration::from_secs(5),
    };
    let app = delivery::App::from_env(platform)?;
    let mut all = workers.run(SEND, pace, app, |app, event| async move {
        delivery::handle(&app, &event).await
    });
    // Most of the time they wait for receivers, and a dead receiver must not delay the others.
    let waits = Pace {
        pollers: 16,
        ..pace
    };
    let fanout = Arc::new(webhook_fanout::App::from_env(platform)?);
    let app = fanout.clone();
    all.extend(workers.run(EVENTS, waits, app, |app, event| async move {
        console::log_mails(&event);
        webhook_fanout::handle(&app, &event).await
    }));
    all.extend(
        workers.run(RETRIES, waits, fanout, |app, event| async move {
            webhook_fanout::handle(&app, &event).await
        }),
    );
    let pace = Pace { pollers: 2, ..pace };
    let app = received.parse;
    all.extend(workers.run(INBOUND, pace, app, |app, event| async move {
        inbound_parse::handle(&app, &event).await
    }));
    let pace = Pace { pollers: 1, ..pace };
    let app = received.feedback;
    all.extend(workers.run(FEEDBACK, pace, app, |app, event| async move {
        ses_feedback::handle(&app, &event).await
    }));
    Ok(all)
}

/// The equivalent of the EventBridge rule: a sweep every minute, and one at the start. And of the lifecycle of a
/// bucket: composed mails whose time is over are deleted every hour.
pub(crate) async fn sweeping(app: schedule_sweep::App, mut stop: watch::Receiver<bool>) {
    let mut minute = tokio::time::interval(Duration::from_secs(60));
    let mut hour = tokio::time::interval(Duration::from_secs(3_600));
    loop {
        let is_hour = tokio::select! {
            _ = stop.wait_for(|stop| *stop) => return,
            _ = minute.tick() => false,
            _ = hour.tick() => true,
        };
        if is_hour {
            let forgotten = posthaste_kept::forget_expired(&app.blob, app.clock.now());
            if let Err(error) = forgotten.await {
                tracing::error!(error = %error, "composed mails past their time stay: {error}");
            }
            continue;
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
