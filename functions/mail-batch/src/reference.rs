//! What the API reference says of these routes.

use posthaste_testkit::reference::{Operation, Reference, values};

use crate::wire::{
    Batch, CreateBatch, Listing, Scheduled, ScheduledMessage, Shift, Update, WaitingList,
};
use crate::{App, routes};

#[tokio::test]
async fn reference() {
    described().check(App::from_env, routes).await;
}

fn described() -> Reference {
    const NOTICE: &str = "Mails that are due within ten minutes are sent all the same.";
    let message = |operation: Operation| {
        operation.extension().path(
            "message_id",
            "The `X-Message-Id` of a scheduled mail, or an `sg_message_id` that begins with it.",
        )
    };
    Reference::new(
        "mail-batch",
        "Scheduled mail",
        "Mails with a `send_at`: batches cancel or pause several together, and each can be cancelled or moved alone.",
    )
    .on(
        "POST /v3/mail/batch",
        Operation::new("Creates a batch")
            .about("Its id goes into `batch_id` of mail/send. A body is ignored.")
            .answers::<Batch>(201, "The id."),
    )
    .on(
        "GET /v3/mail/batch/{batch_id}",
        Operation::new("Says whether a batch id is valid")
            .answers::<Batch>(200, "The id is valid.")
            .refuses(400),
    )
    .on(
        "POST /v3/user/scheduled_sends",
        Operation::new("Cancels or pauses a batch")
            .about("For a batch without a status; `PATCH` changes one.")
            .about(NOTICE)
            .limit("100 batches of an account have a status at one time.")
            .requires(["batch_id", "status"])
            .body::<CreateBatch>()
            .answers::<Scheduled>(201, "The batch and its status."),
    )
    .on(
        "GET /v3/user/scheduled_sends",
        Operation::new("Lists the batches that are cancelled or paused")
            .answers::<Vec<Scheduled>>(200, "The batches."),
    )
    .on(
        "GET /v3/user/scheduled_sends/{batch_id}",
        Operation::new("Shows the status of a batch")
            .answers::<Vec<Scheduled>>(200, "A list of one; empty when the batch has no status."),
    )
    .on(
        "PATCH /v3/user/scheduled_sends/{batch_id}",
        Operation::new("Changes the status of a batch")
            .about(NOTICE)
            .requires(["status"])
            .body::<Update>()
            .answers_nothing(204, "The status is changed."),
    )
    .on(
        "DELETE /v3/user/scheduled_sends/{batch_id}",
        Operation::new("Removes the status of a batch")
            .about("Paused mails whose time has passed are sent at once.")
            .answers_nothing(204, "The batch has no status any more."),
    )
    .on(
        "GET /v3/user/scheduled_sends/{batch_id}/messages",
        Operation::new("Lists the mails of a batch that are not sent yet")
            .extension()
            .query("limit", values::integer(1, 500), "How many; 500 when it is left out.")
            .query("after", values::text(), "The `next` of the page before.")
            .answers::<Listing>(200, "The mails, in the order in which they are sent."),
    )
    .on(
        "GET /v3/user/scheduled_sends/messages",
        Operation::new("Lists the scheduled mails that are not sent yet")
            .about("All of the account, the latest accepted first. Addresses and subjects are shown to keys with \
                `messages.read` or `email_activity.read`.")
            .about("Needs the search (`SearchDays`, `--search-days`); without it the answer is 400.")
            .limit("An answer looks at 2,000 scheduled mails of ten days, and may have fewer than `limit` and a `next`.")
            .extension()
            .query("limit", values::integer(1, 100), "How many; 100 when it is left out.")
            .query("after", values::text(), "The `next` of the page before.")
            .answers::<WaitingList>(200, "The mails."),
    )
    .on(
        "GET /v3/user/scheduled_sends/messages/{message_id}",
        message(Operation::new("Shows a scheduled mail")
            .answers::<ScheduledMessage>(200, "The times and states of its parts.")),
    )
    .on(
        "PATCH /v3/user/scheduled_sends/messages/{message_id}",
        message(Operation::new("Moves a scheduled mail to another time")
            .about("A time in the past means now.")
            .limit("A mail leaves at most 72 hours after it was accepted.")
            .requires(["send_at"])
            .body::<Shift>()
            .answers::<ScheduledMessage>(200, "The times and states of its parts.")),
    )
    .on(
        "DELETE /v3/user/scheduled_sends/messages/{message_id}",
        message(Operation::new("Cancels a scheduled mail")
            .about("Its copies are dropped with the reason `Cancelled`.")
            .answers_nothing(204, "What is not sent is cancelled.")
            .refuses(400)),
    )
}
