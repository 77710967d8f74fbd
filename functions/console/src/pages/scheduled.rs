//! What waits for its time: batches that have a status or mails, and the mails one by one.

use std::collections::BTreeMap;

use askama::Template;

use super::scheduled_batch;
use super::waiting::{
    self, HoldAnswer, SHOWN, ScheduleRights, WaitingAnswer, WaitingMail, WaitingPageAnswer,
    hold_status,
};
use crate::api::encoded;
use crate::content::{PageContent, PageResult};
use crate::texts::{self, MailStatus};
use crate::visit::PageVisit;

#[derive(Template)]
#[template(path = "scheduled.html")]
struct ScheduledPage {
    batches: Vec<BatchShown>,
    /// Why the batches with a status are missing.
    batches_problem: Option<String>,
    mails: Vec<WaitingMail>,
    /// Why there are no mails.
    problem: Option<String>,
    /// Whether mails of another page come before these.
    is_later_page: bool,
    older: Option<String>,
    rights: ScheduleRights,
}

/// A batch.
struct BatchShown {
    id: String,
    status: MailStatus,
    /// In the API's word; empty without a status.
    hold: String,
    /// Its mails on this page, in words.
    mails: String,
}

pub(crate) async fn show(visit: PageVisit) -> PageResult {
    let batch = visit.params.text("batch").trim().to_owned();
    if !batch.is_empty() {
        return scheduled_batch::show(visit, batch).await;
    }
    let after = visit.params.text("after").to_owned();
    let path = format!(
        "/v3/user/scheduled_sends/messages?limit={SHOWN}&after={}",
        encoded(&after)
    );
    let holds = visit
        .api
        .get::<Vec<HoldAnswer>>("/v3/user/scheduled_sends")
        .await;
    let (holds, batches_problem) = match holds {
        Ok(holds) => (holds, None),
        Err(error) => (Vec::new(), Some(error.without(waiting::READ))),
    };
    let (found, problem) = match visit.api.get::<WaitingPageAnswer>(&path).await {
        Ok(found) => (found, None),
        Err(error) => (
            WaitingPageAnswer::default(),
            Some(error.without(waiting::READ)),
        ),
    };
    let page = ScheduledPage {
        batches: batches(holds, &found.messages),
        // What keeps the mails away is said once.
        batches_problem: batches_problem.filter(|one| Some(one) != problem.as_ref()),
        mails: found.messages.into_iter().map(WaitingMail::of).collect(),
        problem,
        is_later_page: !after.is_empty(),
        older: found
            .next
            .map(|next| format!("/console/scheduled?after={}", encoded(&next))),
        rights: ScheduleRights::of(&visit.caller.key),
    };
    PageContent::of(texts::SCHEDULED, &page)
}

/// The batches with a status, and those of the mails.
fn batches(holds: Vec<HoldAnswer>, mails: &[WaitingAnswer]) -> Vec<BatchShown> {
    let mut all: BTreeMap<String, (String, u32)> = BTreeMap::new();
    for hold in holds {
        all.entry(hold.batch_id).or_default().0 = hold.status;
    }
    for batch in mails.iter().filter_map(|mail| mail.batch_id.clone()) {
        all.entry(batch).or_default().1 += 1;
    }
    let shown = all.into_iter().map(|(id, (hold, mails))| BatchShown {
        id,
        status: hold_status(&hold),
        hold,
        mails: texts::mails_here(mails),
    });
    shown.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_shown_once_with_its_status_and_its_mails() {
        let hold = |id: &str, status: &str| HoldAnswer {
            batch_id: id.to_owned(),
            status: status.to_owned(),
        };
        let mail = |batch: Option<&str>| WaitingAnswer {
            batch_id: batch.map(str::to_owned),
            ..WaitingAnswer::default()
        };
        let mails = [
            mail(Some("b")),
            mail(None),
            mail(Some("c")),
            mail(Some("c")),
        ];
        let shown = batches(vec![hold("b", "pause"), hold("a", "cancel")], &mails);
        let words: Vec<_> = shown
            .iter()
            .map(|batch| {
                (
                    batch.id.as_str(),
                    batch.status.word.as_str(),
                    batch.mails.as_str(),
                )
            })
            .collect();
        let want = [
            ("a", "cancelled", ""),
            ("b", "paused", "1 mail below"),
            ("c", "scheduled", "2 mails below"),
        ];
        assert_eq!(words, want);
    }
}
