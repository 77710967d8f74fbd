//! One batch: its status, and what has not left of it.

use askama::Template;

use super::waiting::{
    self, HoldAnswer, SHOWN, ScheduleRights, WaitingMail, WaitingPageAnswer, hold_status,
};
use crate::api::encoded;
use crate::content::{PageContent, PageError, PageResult};
use crate::texts::{self, MailStatus};
use crate::visit::PageVisit;

#[derive(Template)]
#[template(path = "scheduled_batch.html")]
struct BatchPage {
    id: String,
    status: MailStatus,
    /// In the API's word; empty without a status.
    hold: String,
    mails: Vec<WaitingMail>,
    is_later_page: bool,
    older: Option<String>,
    rights: ScheduleRights,
}

pub(crate) async fn show(visit: PageVisit, id: String) -> PageResult {
    let name = encoded(&id);
    let after = visit.params.text("after").to_owned();
    let path = format!(
        "/v3/user/scheduled_sends/{name}/messages?limit={SHOWN}&after={}",
        encoded(&after)
    );
    let refused = |error: crate::api::ReadError| PageError {
        status: error.status,
        message: error.without(waiting::READ),
    };
    let found = visit.api.get::<WaitingPageAnswer>(&path).await;
    let found = found.map_err(refused)?;
    let path = format!("/v3/user/scheduled_sends/{name}");
    let holds = visit.api.get::<Vec<HoldAnswer>>(&path).await;
    let hold = holds.map_err(refused)?.into_iter().next();
    let hold = hold.map(|hold| hold.status).unwrap_or_default();
    let page = BatchPage {
        status: hold_status(&hold),
        hold,
        mails: found.messages.into_iter().map(WaitingMail::of).collect(),
        is_later_page: !after.is_empty(),
        older: found
            .next
            .map(|next| format!("/console/scheduled/{name}?after={}", encoded(&next))),
        rights: ScheduleRights::of(&visit.caller.key),
        id,
    };
    PageContent::of(texts::BATCH, &page)
}
