//! `POST /v3/logs` and `GET /v3/logs/{sg_message_id}`: the same mails as `/v3/messages`, with the
//! fields and statuses of the email logs (API facts, appendix C). The search takes a body, so that
//! addresses are not part of a URL.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use posthaste_http::{Caller, JsonBody, PathParams, Query as Parameters, Rejection, UNKNOWN_ID};
use posthaste_model::{AccountId, BounceType, Category, Event, MessageId, Problem};
use posthaste_store::{Recipient, Visit, VisitKind};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::App;
use crate::look_up::{LookUpRequest, look_up, waiting_copy, with_copies};
use crate::mail::{CopyDetails, FoundMail};
use crate::message::read_id;
use crate::query::{FieldSet, Query};
use crate::search::LIMITS;

/// The most events that one answer shows: the latest.
const MOST_EVENTS: usize = 100;

/// The body of a search.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub(crate) struct LogSearch {
    query: Option<String>,
    limit: Option<i64>,
    /// At most one id of a subuser.
    subusers: Option<Vec<String>>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct LogList {
    messages: Vec<LogLine>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct LogLine {
    from_email: String,
    sg_message_id: String,
    subject: String,
    to_email: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    status: &'static str,
    sg_message_id_created_at: String,
}

/// The mails that match the filter, the latest accepted first.
pub(crate) async fn find(
    State(app): State<App>,
    caller: Caller,
    JsonBody(search): JsonBody<LogSearch>,
) -> Result<Json<LogList>, Rejection> {
    let limit = search.limit.map_or(Some(10), |n| usize::try_from(n).ok());
    let limit = limit.filter(|n| LIMITS.contains(n));
    let mut problems = Vec::new();
    if limit.is_none() {
        let (least, most) = (LIMITS.start(), LIMITS.end());
        let message = format!("limit must be a number from {least} to {most}");
        problems.push(Problem::on("limit", message));
    }
    let query = Query::read(search.query.as_deref().unwrap_or_default(), FieldSet::Logs);
    if let Err(error) = &query {
        problems.push(Problem::on("query", error.to_string()));
    }
    let mut subusers = search.subusers.unwrap_or_default();
    let named = subusers.pop();
    if !subusers.is_empty() {
        problems.push(Problem::on("subusers", "name one subuser at a time"));
    }
    let (Some(limit), Ok(query), []) = (limit, query, problems.as_slice()) else {
        return Err(Rejection::all(StatusCode::BAD_REQUEST, problems));
    };
    let account = match named {
        None => caller.id().clone(),
        Some(one) => subuser(&app, &caller, "subusers", &one).await?,
    };
    let request = LookUpRequest {
        query: &query,
        limit,
        page: None,
    };
    let found = look_up(&app, &account, request).await?;
    let mails = with_copies(&app, &account, found.mails, |_| true).await?;
    let messages = mails.into_iter().map(LogLine::of).collect();
    Ok(Json(LogList { messages }))
}

/// The subuser of this numeric id.
async fn subuser(
    app: &App,
    caller: &Caller,
    field: &str,
    id: &str,
) -> Result<AccountId, Rejection> {
    let all = app.store.subusers(caller.id()).await?;
    let own = all.into_iter().find(|one| one.user_id.to_string() == id);
    let refused = || {
        let problem = Problem::on(field, "this subuser does not exist").with_help(UNKNOWN_ID);
        Rejection::all(StatusCode::FORBIDDEN, vec![problem])
    };
    own.map(|account| account.id).ok_or_else(refused)
}

impl LogLine {
    fn of(mail: FoundMail) -> Self {
        Self {
            sg_message_id: mail.row.message.of_copy(mail.row.recipient),
            status: mail.log_status(),
            reason: mail.copy.and_then(|copy| copy.reason),
            from_email: mail.row.from,
            subject: mail.row.subject,
            to_email: mail.row.to,
            sg_message_id_created_at: mail.row.accepted_at.iso(),
        }
    }
}

/// One mail with its events, in the shape of webhook posts except that custom arguments have a
/// member of their own.
#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct LogDetail {
    from_email: String,
    sg_message_id: String,
    subject: String,
    to_email: String,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    template_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    asm_group_id: Option<i64>,
    /// Empty: there are no teammates here.
    teammate: &'static str,
    api_key_id: String,
    events: Vec<Value>,
    /// Empty when it is not known.
    client_ip: String,
    category: Vec<String>,
    custom_args: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outbound_ip: Option<String>,
}

/// One copy, by its `sg_message_id`, or by the `X-Message-Id` of a mail to one recipient.
pub(crate) async fn one(
    State(app): State<App>,
    caller: Caller,
    PathParams(id): PathParams<String>,
    parameters: Parameters,
) -> Result<Json<LogDetail>, Rejection> {
    let missing = || Rejection::unknown_id([Problem::on("sg_message_id", "not found")]);
    let (message, recipient) = read_id(&id).ok_or_else(missing)?;
    let account = match parameters.text("subuser") {
        None => caller.id().clone(),
        Some(one) => subuser(&app, &caller, "subuser", one).await?,
    };
    let Some(copy) = app.store.recipient(&account, &message, recipient).await? else {
        let waiting = waiting_copy(&app, &account, &message, recipient).await?;
        return Ok(Json(LogDetail::waiting(waiting.ok_or_else(missing)?)));
    };
    Ok(Json(LogDetail::of(copy, &message, recipient)))
}

impl LogDetail {
    /// A scheduled copy, to which nothing has happened yet.
    fn waiting(mail: FoundMail) -> Self {
        let row = mail.row;
        Self {
            sg_message_id: row.message.of_copy(row.recipient),
            status: row.status.as_str(),
            from_email: row.from,
            subject: row.subject,
            to_email: row.to,
            category: row.categories,
            ..Self::of_details(mail.copy.unwrap_or_default())
        }
    }

    /// The members that the details of a copy have.
    fn of_details(details: CopyDetails) -> Self {
        let args = details.args.all().into_iter();
        Self {
            template_id: details.template_id,
            asm_group_id: details.group,
            api_key_id: details.key.map(|key| key.to_string()).unwrap_or_default(),
            client_ip: details.client_ip.unwrap_or_default(),
            custom_args: args
                .map(|(name, value)| (name.to_owned(), value.into()))
                .collect(),
            category: details.categories,
            outbound_ip: details.outbound_ip,
            ..Self::default()
        }
    }

    fn of(copy: Recipient, message: &MessageId, recipient: u32) -> Self {
        let details = CopyDetails::of(&copy);
        let visits = [VisitKind::Open, VisitKind::Click].map(|kind| {
            let visits = copy.visits(kind).into_iter();
            visits.map(move |visit| (visit.at, of_visit(kind, &visit)))
        });
        let events = copy.events();
        let mut events: Vec<_> = events
            .iter()
            .map(|event| (event.at, of_event(event)))
            .chain(visits.into_iter().flatten())
            .collect();
        // Events of the same second stay in the order they were written.
        events.sort_by_key(|(at, _)| *at);
        events.drain(..events.len().saturating_sub(MOST_EVENTS));
        let shared = shared(message, recipient, &copy.email, &details);
        let events = events.into_iter().map(|(_, own)| {
            let mut members = shared.clone();
            members.extend(own);
            Value::Object(members)
        });
        let status = details.log_status(copy.state);
        Self {
            sg_message_id: message.of_copy(recipient),
            status,
            events: events.collect(),
            from_email: copy.from,
            subject: copy.subject,
            to_email: copy.email,
            ..Self::of_details(details)
        }
    }
}

/// What all events of a copy have.
fn shared(
    message: &MessageId,
    recipient: u32,
    email: &str,
    details: &CopyDetails,
) -> Map<String, Value> {
    let mut members = Map::new();
    members.insert("email".to_owned(), email.into());
    members.insert(
        "sg_message_id".to_owned(),
        message.of_copy(recipient).into(),
    );
    if !details.categories.is_empty() {
        members.insert("category".to_owned(), json!(details.categories));
    }
    if let Some(group) = details.group {
        members.insert("asm_group_id".to_owned(), group.into());
    }
    if !details.args.is_empty() {
        members.insert("custom_args".to_owned(), json!(details.args.all()));
    }
    members
}

fn of_visit(kind: VisitKind, visit: &Visit) -> Map<String, Value> {
    let event = match kind {
        VisitKind::Open => "open",
        VisitKind::Click => "click",
    };
    present([
        ("event", Some(event.into())),
        ("sg_event_id", Some(visit.id.as_str().into())),
        ("timestamp", Some(visit.at.0.into())),
        ("url", visit.url.as_deref().map(Into::into)),
        ("useragent", visit.agent.as_deref().map(Into::into)),
    ])
}

fn of_event(event: &Event) -> Map<String, Value> {
    let text = |text: &Option<String>| text.as_deref().map(Value::from);
    let category = match &event.category {
        None => None,
        Some(Category::One(one)) => Some(json!([one])),
        Some(Category::Many(many)) => Some(json!(many)),
    };
    present([
        ("event", Some(event.kind.wire().into())),
        ("sg_event_id", Some(event.id.as_str().into())),
        ("timestamp", Some(event.at.0.into())),
        (
            "smtp-id",
            event.smtp_id.as_ref().map(|id| format!("<{id}>").into()),
        ),
        ("category", category),
        ("asm_group_id", event.asm_group_id.map(Into::into)),
        ("send_at", event.send_at.map(|at| at.0.into())),
        ("reason", text(&event.reason)),
        ("status", text(&event.status)),
        ("response", text(&event.response)),
        ("attempt", event.attempt.map(|n| n.to_string().into())),
        ("ip", text(&event.ip)),
        ("tls", event.tls.filter(|tls| *tls).map(|_| 1.into())),
        ("type", event.bounce_type.map(|how| bounce_type(how).into())),
        ("bounce_classification", text(&event.bounce_classification)),
        (
            "pool",
            event
                .pool
                .as_ref()
                .map(|pool| json!({"name": pool.name, "id": pool.id.to_string()})),
        ),
    ])
}

/// The v3 API has two types of bounces.
fn bounce_type(how: BounceType) -> &'static str {
    match how {
        BounceType::Bounce => "bounce",
        BounceType::Blocked | BounceType::Expired => "blocked",
    }
}

fn present<const N: usize>(members: [(&str, Option<Value>); N]) -> Map<String, Value> {
    let present = members.into_iter();
    let present = present.filter_map(|(name, value)| Some((name.to_owned(), value?)));
    present.collect()
}
