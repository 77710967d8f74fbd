//! One mail: its life line from the request to each webhook post, what it was made of, and what can be done about it.

mod composed;
mod life;
mod posts;

use std::collections::BTreeMap;

use askama::Template;
use axum::http::StatusCode;
use futures_util::future::join_all;
use posthaste_model::Timestamp;
use serde::Deserialize;

use super::suppressions::EntryAnswer;
use super::suppressions::lists::LISTS;
use crate::api::{ApiReader, encoded};
use crate::content::{PageContent, PageResult};
use crate::texts::{MailStatus, mail as texts};
use crate::visit::PageVisit;
use composed::{ComposedShown, KeptAnswer};
use life::{LogEvent, Moment};

#[derive(Template)]
#[template(path = "mail.html")]
struct MailPage {
    mail: MailAnswer,
    status: MailStatus,
    facts: Vec<(&'static str, String)>,
    args: Vec<(String, String)>,
    moments: Vec<Moment>,
    /// Whether older posts to webhooks were not looked at.
    has_more_posts: bool,
    suppressed: Vec<SuppressedOn>,
    /// Where it is yet to leave.
    schedule: Option<Schedule>,
    composed: ComposedShown,
    /// Whether the account keeps composed mails, for a reader who may change that.
    keeping: Option<KeptAnswer>,
    can_send: bool,
    /// Its recipient, as the query of an address has it.
    recipient_in_address: String,
    base: String,
}

/// What `/v3/logs/{id}` answers.
#[derive(Default, Deserialize)]
pub(crate) struct MailAnswer {
    from_email: String,
    sg_message_id: String,
    subject: String,
    to_email: String,
    status: String,
    template_id: Option<String>,
    asm_group_id: Option<i64>,
    api_key_id: String,
    events: Vec<LogEvent>,
    client_ip: String,
    category: Vec<String>,
    custom_args: BTreeMap<String, serde_json::Value>,
    outbound_ip: Option<String>,
}

/// An entry of the recipient on a list that keeps mail away.
struct SuppressedOn {
    list: &'static str,
    path: &'static str,
    since: String,
    reason: String,
}

/// A mail that waits for its time.
struct Schedule {
    message_id: String,
    at: String,
    status: MailStatus,
    is_waiting: bool,
    batch: Option<String>,
}

#[derive(Deserialize)]
struct ScheduledAnswer {
    sends: Vec<SendAnswer>,
}

#[derive(Deserialize)]
struct SendAnswer {
    send_at: i64,
    batch_id: Option<String>,
    status: String,
}

#[derive(Deserialize)]
struct KeyName {
    name: String,
}

pub(crate) async fn show(visit: PageVisit, id: String) -> PageResult {
    let path = format!("/v3/logs/{}", encoded(&id));
    let found = visit.api.get::<MailAnswer>(&path).await;
    let schedule = match &found {
        Ok(mail) if !mail.events.is_empty() => None,
        _ => schedule(&visit, &id).await,
    };
    let mail = match found {
        // Of a mail that was cancelled its schedule is all that is stored.
        Err(missing) if missing.status == StatusCode::NOT_FOUND && schedule.is_some() => {
            MailAnswer {
                sg_message_id: id,
                ..MailAnswer::default()
            }
        }
        other => other?,
    };
    let key = key_name(&visit, &mail.api_key_id).await;
    let mut moments = life::moments(&mail, key.as_deref());
    let posts = posts::of(&visit, &mail).await;
    moments.extend(posts.moments);
    // What came in the same second stays in this order.
    moments.sort_by_key(|moment| moment.at);
    let status = match &schedule {
        Some(schedule) => schedule.status.clone(),
        None => MailStatus::of(&mail.status),
    };
    let suppressed = match mail.to_email.as_str() {
        "" => Vec::new(),
        email => suppressed_on(&visit.api, email).await,
    };
    let (composed, keeping) = futures_util::join!(
        composed::of(&visit, &mail.sg_message_id),
        composed::setting(&visit),
    );
    let page = MailPage {
        composed,
        keeping,
        recipient_in_address: encoded(&mail.to_email),
        can_send: visit.caller.key.holds("mail.send"),
        facts: facts(&mail, key),
        args: args(&mail),
        suppressed,
        status,
        moments,
        has_more_posts: posts.is_cut,
        schedule,
        base: visit.base,
        mail,
    };
    let title = match page.mail.subject.as_str() {
        "" => texts::NO_SUBJECT.to_owned(),
        subject => subject.to_owned(),
    };
    PageContent::of(title, &page)
}

/// The lists that an address is on, of those that the reader may see.
async fn suppressed_on(api: &ApiReader, email: &str) -> Vec<SuppressedOn> {
    let all = LISTS.iter().map(|list| async move {
        let address = format!("{}/{}", list.path, encoded(email));
        // A list without the address answers with nothing, or with a 404.
        let entries = api.get::<Vec<EntryAnswer>>(&address).await.ok()?;
        let entry = entries.into_iter().next()?;
        Some(SuppressedOn {
            list: list.text.label,
            path: list.path,
            since: Timestamp(entry.created).iso(),
            reason: entry.reason,
        })
    });
    join_all(all).await.into_iter().flatten().collect()
}

async fn key_name(visit: &PageVisit, id: &str) -> Option<String> {
    if id.is_empty() {
        return None;
    }
    let path = format!("/v3/api_keys/{}", encoded(id));
    let key = visit.api.get::<KeyName>(&path).await;
    key.ok().map(|key| key.name)
}

fn facts(mail: &MailAnswer, key: Option<String>) -> Vec<(&'static str, String)> {
    let key = match (key, mail.api_key_id.as_str()) {
        (Some(name), id) => format!("{name} ({id})"),
        (None, id) => id.to_owned(),
    };
    let group = mail.asm_group_id.map(|id| id.to_string());
    let all = [
        (texts::TO, mail.to_email.clone()),
        (texts::FROM, mail.from_email.clone()),
        (texts::KEY, key),
        (texts::CLIENT, mail.client_ip.clone()),
        (
            texts::TEMPLATE,
            mail.template_id.clone().unwrap_or_default(),
        ),
        (texts::CATEGORIES, mail.category.join(", ")),
        (texts::GROUP, group.unwrap_or_default()),
        (
            texts::LEFT_FROM,
            mail.outbound_ip.clone().unwrap_or_default(),
        ),
    ];
    let present = all.into_iter().filter(|(_, value)| !value.is_empty());
    present.collect()
}

fn args(mail: &MailAnswer) -> Vec<(String, String)> {
    let text = |value: &serde_json::Value| match value {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let all = mail.custom_args.iter();
    all.map(|(name, value)| (name.clone(), text(value)))
        .collect()
}

/// When a mail without events leaves; `None` where the reader may not see that.
async fn schedule(visit: &PageVisit, id: &str) -> Option<Schedule> {
    let message = id.split('.').next().unwrap_or_default();
    let path = format!("/v3/user/scheduled_sends/messages/{}", encoded(message));
    let answer = visit.api.get::<ScheduledAnswer>(&path).await.ok()?;
    let send = answer.sends.into_iter().next()?;
    Some(Schedule {
        message_id: message.to_owned(),
        at: Timestamp(send.send_at).iso(),
        is_waiting: ["scheduled", "paused"].contains(&send.status.as_str()),
        status: MailStatus::of(&send.status),
        batch: send.batch_id,
    })
}
