//! How the mails of a list stand. The list has three words for it; of those that did not arrive, or not yet, the page
//! reads the fourth and the reason.

use futures_util::future::join_all;
use serde::Deserialize;

use super::{MessageAnswer, Row};
use crate::api::ApiReader;
use crate::texts::MailStatus;

#[derive(Deserialize)]
struct LogStatus {
    status: String,
    events: Vec<LastWords>,
}

#[derive(Deserialize)]
struct LastWords {
    reason: Option<String>,
    response: Option<String>,
}

/// The rows of these mails.
pub(super) async fn rows(api: &ApiReader, mails: Vec<MessageAnswer>) -> Vec<Row> {
    join_all(mails.into_iter().map(|mail| row(api, mail))).await
}

async fn row(api: &ApiReader, mail: MessageAnswer) -> Row {
    let (mut status, mut reason) = (mail.status.clone(), String::new());
    if status != "delivered"
        && let Ok(log) = api
            .get::<LogStatus>(&format!("/v3/logs/{}", mail.msg_id))
            .await
    {
        // Nothing has happened to a mail that waits for its time.
        status = if log.events.is_empty() {
            "scheduled".to_owned()
        } else {
            log.status
        };
        let said = log.events.into_iter().rev();
        let said = said
            .filter_map(|event| event.reason.or(event.response))
            .next();
        reason = said.unwrap_or_default();
    }
    Row {
        id: mail.msg_id,
        to: mail.to_email,
        from: mail.from_email,
        subject: mail.subject,
        status: MailStatus::of(&status),
        reason,
        at: mail.last_event_time,
        opens: mail.opens_count,
        clicks: mail.clicks_count,
    }
}
