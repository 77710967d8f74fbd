//! Events that are posted to webhooks again: one, those of a mail, or those of a span of time. An extension of the v3
//! API.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use posthaste_http::{Caller, JsonBody, PathParams, Rejection};
use posthaste_model::{MessageId, Problem, Problems, ReplayId, Timestamp, WebhookId};
use posthaste_replay::{LONGEST_SPAN, MailEvents, PostedAgain, Replayer, SpanStart};
use posthaste_runtime::WorkError;
use posthaste_store::{EventReplay, ReplaySpan};
use serde::{Deserialize, Serialize};

use crate::App;

/// Which events to post again: one by `event_id`, those of a mail by `message_id`, or those from `start_time` to
/// `end_time`.
#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub(crate) struct ReplaySelection {
    /// The `sg_event_id` of one event.
    event_id: Option<String>,
    /// The `X-Message-Id` of a mail, or the `sg_message_id` of one copy.
    message_id: Option<String>,
    /// The first second of the span (Unix time).
    start_time: Option<i64>,
    /// The last second of the span; at most seven days after the first.
    end_time: Option<i64>,
    /// The webhook to post to; every enabled one that subscribes to the events when it is left out.
    webhook_id: Option<String>,
}

/// What was queued.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ReplayedEvents {
    /// Events that are queued so far, each counted for every webhook that it goes to.
    events: u64,
    /// `running` while more events of the span are queued in the background.
    #[cfg_attr(test, schemars(extend("enum" = ["done", "running", "stopped"])))]
    status: &'static str,
    /// Of a span: by what its state is found.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    replay_id: Option<ReplayId>,
}

/// The state of a replay.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ReplayView {
    #[cfg_attr(test, schemars(with = "String"))]
    replay_id: ReplayId,
    /// `stopped` when it was given up after a day of failures.
    #[cfg_attr(test, schemars(extend("enum" = ["done", "running", "stopped"])))]
    status: &'static str,
    /// Events that are queued so far, each counted for every webhook that it goes to.
    events: u64,
    start_time: i64,
    end_time: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    webhook_id: Option<WebhookId>,
    created_at: i64,
    updated_at: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    finished_at: Option<i64>,
}

impl ReplayView {
    fn new(replay: EventReplay) -> Self {
        Self {
            status: status(&replay),
            replay_id: replay.id,
            events: replay.events,
            start_time: replay.span.first.0,
            end_time: replay.span.last.0,
            webhook_id: replay.span.webhook,
            created_at: replay.created_at.0,
            updated_at: replay.updated_at.0,
            finished_at: replay.finished_at.map(|at| at.0),
        }
    }
}

fn status(replay: &EventReplay) -> &'static str {
    match replay.finished_at {
        None => "running",
        Some(_) if replay.is_partial => "stopped",
        Some(_) => "done",
    }
}

/// What a valid selection names.
enum ReplayedPart {
    Mail(MailEvents),
    Span(Timestamp, Timestamp),
}

impl ReplaySelection {
    fn read(&self) -> Result<(ReplayedPart, Option<WebhookId>), Rejection> {
        let mut problems = Problems::default();
        let webhook = self.webhook_id.as_deref().map(WebhookId::parse);
        let webhook = webhook.transpose().unwrap_or_else(|_| {
            problems.add("webhook_id", "Invalid id provided.");
            None
        });
        let is_span = self.start_time.is_some() || self.end_time.is_some();
        let named = [self.event_id.is_some(), self.message_id.is_some(), is_span];
        if named.iter().filter(|is| **is).count() != 1 {
            let message =
                "name the events by one of event_id, message_id, and start_time with end_time";
            problems.push(Problem::plain(message));
        }
        let mut part = None;
        if let Some(id) = &self.event_id {
            part = MailEvents::of_event(id).map(ReplayedPart::Mail);
            problems.unless(
                part.is_some(),
                "event_id",
                "event_id must be the sg_event_id of an event of a mail",
            );
        }
        if let Some(id) = &self.message_id {
            let mail = MessageId::read_copy(id).map(|(message, recipient)| MailEvents {
                message,
                recipient,
                event: None,
            });
            part = mail.map(ReplayedPart::Mail);
            let message = "message_id must be an X-Message-Id or an sg_message_id";
            problems.unless(part.is_some(), "message_id", message);
        }
        if is_span {
            part = Some(self.span(&mut problems));
        }
        problems.into_result()?;
        let part = part.ok_or_else(|| Rejection::bad("nothing is named"))?;
        Ok((part, webhook))
    }

    /// The span, with what is wrong with it.
    fn span(&self, problems: &mut Problems) -> ReplayedPart {
        for (name, time) in [("start_time", self.start_time), ("end_time", self.end_time)] {
            let message = format!("{name} must be a Unix timestamp");
            problems.unless(time.is_some_and(|time| time >= 0), name, &message);
        }
        if let Some((first, last)) = self.start_time.zip(self.end_time) {
            let message = "end_time must not be before start_time";
            problems.unless(first <= last, "end_time", message);
            let message = "end_time must be at most seven days after start_time";
            let seconds = last.saturating_sub(first);
            problems.unless(seconds <= LONGEST_SPAN, "end_time", message);
        }
        let second = |time: Option<i64>| Timestamp(time.unwrap_or(0));
        ReplayedPart::Span(second(self.start_time), second(self.end_time))
    }
}

fn failed(error: &WorkError) -> Rejection {
    match error.permanent() {
        Some(_) => Rejection::internal(error),
        None => Rejection::unavailable(error),
    }
}

/// `POST …/posts/replay`: queues events for their webhooks again, with the ids that they have. Asking twice posts them
/// twice.
pub(crate) async fn start(
    State(app): State<App>,
    caller: Caller,
    JsonBody(selection): JsonBody<ReplaySelection>,
) -> Result<(StatusCode, Json<ReplayedEvents>), Rejection> {
    let (part, webhook) = selection.read()?;
    if let Some(id) = &webhook {
        app.webhook(&caller, id.as_str()).await?;
    }
    let replayer = Replayer {
        store: &app.store,
        retries: &app.retries,
        clock: &app.clock,
    };
    let queued = match part {
        ReplayedPart::Mail(mail) => of_mail(&replayer, &caller, &mail, webhook.as_ref()).await?,
        ReplayedPart::Span(..) if !app.searches => {
            let why =
                "a span of time needs the search over messages, which is disabled on this service";
            return Err(Rejection::bad(why));
        }
        ReplayedPart::Span(first, last) => {
            let span = ReplaySpan {
                first,
                last,
                webhook,
            };
            of_span(&replayer, &caller, app.entropy.replay_id(), span).await?
        }
    };
    let (account, events) = (caller.id(), queued.events);
    tracing::info!(account.id = %account, "queued {events} events of account {account} to be posted again");
    Ok((StatusCode::ACCEPTED, Json(queued)))
}

async fn of_mail(
    replayer: &Replayer<'_>,
    caller: &Caller,
    mail: &MailEvents,
    webhook: Option<&WebhookId>,
) -> Result<ReplayedEvents, Rejection> {
    let field = if mail.event.is_some() {
        "event_id"
    } else {
        "message_id"
    };
    let posted = replayer.mail(caller.id(), mail, webhook).await;
    match posted.map_err(|error| failed(&error))? {
        PostedAgain::Queued(queued) => Ok(ReplayedEvents {
            events: queued.events,
            status: "done",
            replay_id: None,
        }),
        PostedAgain::NoEvent => {
            let message = "no such event is stored";
            Err(Rejection::unknown_id([Problem::on(field, message)]))
        }
        PostedAgain::NoWebhook => Err(Rejection::on(field, NO_WEBHOOK)),
    }
}

async fn of_span(
    replayer: &Replayer<'_>,
    caller: &Caller,
    id: ReplayId,
    span: ReplaySpan,
) -> Result<ReplayedEvents, Rejection> {
    let started = replayer.start(caller.id(), id, span).await;
    match started.map_err(|error| failed(&error))? {
        SpanStart::Job(replay) => Ok(ReplayedEvents {
            events: replay.events,
            status: status(&replay),
            replay_id: Some(replay.id),
        }),
        SpanStart::Other(other) => {
            let message = "another span is being posted again; wait until it is done";
            let rejection = Rejection::plain(StatusCode::CONFLICT, message);
            Err(rejection.with("replay_id", other.id.as_str()))
        }
    }
}

/// Why events that are stored are not posted.
const NO_WEBHOOK: &str = "no enabled webhook subscribes to these events";

/// `GET …/posts/replay/{replay_id}`: the last replay of a span, or the one under way.
pub(crate) async fn state(
    State(app): State<App>,
    caller: Caller,
    PathParams(id): PathParams<String>,
) -> Result<Json<ReplayView>, Rejection> {
    let row = app.store.event_replay(caller.id()).await?;
    let replay = row
        .map(|row| row.value)
        .filter(|replay| replay.id.as_str() == id);
    let replay = replay.ok_or_else(|| {
        let message = "no such replay: the last one of an account is stored for seven days";
        Rejection::unknown_id([Problem::on("replay_id", message)])
    })?;
    Ok(Json(ReplayView::new(replay)))
}
