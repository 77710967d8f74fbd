//! One turn: a page of due rows, a page of messages released from a batch, or some steps of a job (an erasure, or
//! events that are posted again).

use std::time::Duration;

use posthaste_erasure::Eraser;
use posthaste_model::{AccountId, BatchId, ErasureId, ReplayId};
use posthaste_queue::Queue;
use posthaste_replay::Replayer;
use posthaste_runtime::WorkError;
use posthaste_store::{Due, DueCursor, DueTarget, Minute, StoredRow};

use crate::App;

/// Rows of one read. A page of small jobs stays under DynamoDB's 1 MB.
const PAGE: usize = 100;

/// Steps of a job in one turn: some megabytes of the table.
const STEPS: usize = 5;

/// Something to do for one partition of a minute.
#[derive(Debug)]
pub(crate) struct SweepTask<'a> {
    /// Position of the minute in the list of this sweep.
    pub(crate) index: usize,
    pub(crate) minute: &'a Minute,
    pub(crate) work: Work,
}

#[derive(Debug)]
pub(crate) enum Work {
    /// Reads rows from this position.
    Page { shard: u16, place: DueCursor },
    /// Continues an order to release messages.
    Release(Box<StoredRow<Due>>),
    /// Continues an erasure that was taken up.
    Erase {
        account: AccountId,
        erasure: ErasureId,
    },
    /// Continues a job that was taken up, which posts events again.
    Replay {
        account: AccountId,
        replay: ReplayId,
    },
}

/// The result of a turn.
#[derive(Debug, Default)]
pub(crate) struct TurnResult {
    /// Rows it saw, moved or not.
    pub(crate) rows: usize,
    pub(crate) sent: usize,
    pub(crate) released: usize,
    pub(crate) expired: usize,
    pub(crate) unreadable: usize,
    /// Alerts that could not be looked at; their rows stay for the next sweep.
    pub(crate) failed: usize,
    /// Work that continues where this turn stopped.
    pub(crate) next: Option<Work>,
    /// Work that waits until the others had their turn.
    pub(crate) rest: Vec<Work>,
}

/// Takes one turn. The rows of a turn that failed are still there.
pub(crate) async fn take<'a>(
    app: &App,
    turn: SweepTask<'a>,
) -> (SweepTask<'a>, Result<TurnResult, WorkError>) {
    let end = match &turn.work {
        Work::Page { shard, place } => page(app, turn.minute, *shard, place).await,
        Work::Release(order) => {
            let mut end = TurnResult::default();
            release(app, order, &mut end).await.map(|()| end)
        }
        Work::Erase { account, erasure } => {
            let more = eraser(app).advance(account, erasure, STEPS).await;
            more.map(|more| TurnResult {
                rest: more
                    .then(|| goes_on(account, erasure))
                    .into_iter()
                    .collect(),
                ..TurnResult::default()
            })
        }
        Work::Replay { account, replay } => {
            let more = replayer(app).advance(account, replay, STEPS).await;
            more.map(|more| TurnResult {
                rest: more
                    .then(|| replay_goes_on(account, replay))
                    .into_iter()
                    .collect(),
                ..TurnResult::default()
            })
        }
    };
    (turn, end)
}

async fn page(
    app: &App,
    minute: &Minute,
    shard: u16,
    place: &DueCursor,
) -> Result<TurnResult, WorkError> {
    let page = app.store.due_page(minute, shard, place, PAGE).await?;
    let goes_on = |place| Work::Page { shard, place };
    let mut end = TurnResult {
        rows: page.rows.len() + page.unreadable,
        unreadable: page.unreadable,
        next: page.next.map(goes_on),
        rest: page.rest.map(goes_on).into_iter().collect(),
        ..TurnResult::default()
    };
    let (mut send, mut retries, mut inbound) = (Vec::new(), Vec::new(), Vec::new());
    let mut own = Vec::new();
    for row in page.rows {
        match row.value.target {
            DueTarget::Send => send.push(row),
            DueTarget::Webhook => retries.push(row),
            DueTarget::Inbound => inbound.push(row),
            // Handled here, and not before their time.
            DueTarget::Expire
            | DueTarget::Release
            | DueTarget::Erase
            | DueTarget::Alert
            | DueTarget::Replay => own.push(row),
        }
    }
    for (queue, rows) in [
        (&app.send, send),
        (&app.retries, retries),
        (&app.inbound, inbound),
    ] {
        pass_on(app, queue, &rows).await?;
        end.sent += rows.len();
    }
    let now = app.clock.now();
    for row in own.into_iter().filter(|row| row.value.at <= now) {
        match row.value.target {
            DueTarget::Release => release(app, &row, &mut end).await?,
            DueTarget::Expire => expire(app, &row, &mut end).await?,
            DueTarget::Erase => erase(app, &row, &mut end).await?,
            DueTarget::Replay => replay(app, &row, &mut end).await?,
            // An alert that keeps failing holds up nothing of what is due beside it.
            DueTarget::Alert => {
                if let Err(error) = crate::alert::look(app, &row).await {
                    tracing::error!(error = %error, "an alert could not be looked at: {error}");
                    end.failed += 1;
                }
            }
            DueTarget::Send | DueTarget::Webhook | DueTarget::Inbound => {}
        }
    }
    Ok(end)
}

/// Sends rows to their queue, and only then deletes them.
async fn pass_on(app: &App, queue: &Queue, rows: &[StoredRow<Due>]) -> Result<(), WorkError> {
    if rows.is_empty() {
        return Ok(());
    }
    let now = app.clock.now_ms();
    let message = |row: &StoredRow<Due>| (row.value.body.clone(), row.value.wait(now));
    queue.send_all(rows.iter().map(message).collect()).await?;
    app.store.forget_due(rows).await?;
    Ok(())
}

/// Releases a page of messages that a batch held.
async fn release(app: &App, order: &StoredRow<Due>, end: &mut TurnResult) -> Result<(), WorkError> {
    let due = &order.value;
    let Ok(batch) = BatchId::parse(&due.body) else {
        end.unreadable += 1;
        return Ok(());
    };
    let times = (due.at, app.clock.now());
    let released = app
        .store
        .released(&due.account, &batch, times, PAGE)
        .await?;
    if released.done {
        app.store.forget_due(std::slice::from_ref(order)).await?;
    }
    if released.rows.is_empty() {
        return Ok(());
    }
    let message = |job: &String| (job.clone(), Duration::ZERO);
    let jobs = released.rows.iter().map(|row| message(&row.value.job));
    app.send.send_all(jobs.collect()).await?;
    app.store.forget_held(&released.rows).await?;
    end.released += released.rows.len();
    end.rest.push(Work::Release(Box::new(order.clone())));
    Ok(())
}

/// Sends a held message that has expired to `delivery`, which drops it.
async fn expire(app: &App, order: &StoredRow<Due>, end: &mut TurnResult) -> Result<(), WorkError> {
    if let Some(held) = app.store.expired(&order.value).await? {
        app.send
            .send(held.value.job.clone(), Duration::ZERO)
            .await?;
        app.store.forget_held(&[held]).await?;
        end.expired += 1;
    }
    app.store.forget_due(std::slice::from_ref(order)).await?;
    Ok(())
}

fn eraser(app: &App) -> Eraser<'_> {
    Eraser {
        store: &app.store,
        blob: &app.blob,
        clock: &app.clock,
        elsewhere: app.elsewhere.as_ref(),
    }
}

fn goes_on(account: &AccountId, erasure: &ErasureId) -> Work {
    Work::Erase {
        account: account.clone(),
        erasure: erasure.clone(),
    }
}

/// Takes up an erasure, which stores another due row for the case that this process dies.
async fn erase(app: &App, order: &StoredRow<Due>, end: &mut TurnResult) -> Result<(), WorkError> {
    let due = &order.value;
    let Ok(erasure) = ErasureId::parse(&due.body) else {
        end.unreadable += 1;
        return Ok(());
    };
    let eraser = eraser(app);
    let resumed = eraser.resume(&due.account, &erasure, Some(due.at));
    if resumed.await? {
        end.rest.push(goes_on(&due.account, &erasure));
    }
    app.store.forget_due(std::slice::from_ref(order)).await?;
    Ok(())
}

fn replayer(app: &App) -> Replayer<'_> {
    Replayer {
        store: &app.store,
        retries: &app.retries,
        clock: &app.clock,
    }
}

fn replay_goes_on(account: &AccountId, replay: &ReplayId) -> Work {
    Work::Replay {
        account: account.clone(),
        replay: replay.clone(),
    }
}

/// Takes up a job that posts events again, which stores another due row for the case that this process dies.
async fn replay(app: &App, order: &StoredRow<Due>, end: &mut TurnResult) -> Result<(), WorkError> {
    let due = &order.value;
    let Ok(id) = ReplayId::parse(&due.body) else {
        end.unreadable += 1;
        return Ok(());
    };
    if replayer(app).resume(&due.account, &id, due.at).await? {
        end.rest.push(replay_goes_on(&due.account, &id));
    }
    app.store.forget_due(std::slice::from_ref(order)).await?;
    Ok(())
}
