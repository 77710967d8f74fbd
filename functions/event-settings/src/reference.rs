//! What the API reference says of these routes.

use posthaste_testkit::reference::{Operation, Reference, values};

use crate::posts::{PostDetail, PostList};
use crate::replay::{ReplaySelection, ReplayView, ReplayedEvents};
use crate::undelivered::{DeadLetterView, ReplayedLetters, RetrySelection};
use crate::wire::{PublicKey, Switch, Trial, TrialView, WebhookList, WebhookSettings, WebhookView};
use crate::{App, routes};

#[tokio::test]
async fn reference() {
    described().check(App::from_env, routes).await;
}

fn described() -> Reference {
    const OLDEST: &str = "Acts on the account's oldest webhook.";
    let include = |operation: Operation| {
        let about = "`account_status_change` adds the flag of that name to the answer.";
        operation.query("include", values::text(), about)
    };
    let id = |operation: Operation| operation.path("id", "The id of a webhook.");
    let reference = Reference::new(
        "event-settings",
        "Event webhooks",
        "Where events of mails are posted, how posts are signed and authorized, and events that were not taken.",
    )
    .on(
        "POST /v3/user/webhooks/event/settings",
        include(Operation::new("Creates an event webhook"))
            .limit("An account has five webhooks, unless the operator sets another number.")
            .requires(["url"])
            .body::<WebhookSettings>()
            .answers::<WebhookView>(201, "The webhook."),
    )
    .on(
        "GET /v3/user/webhooks/event/settings",
        include(Operation::new("Shows the oldest event webhook"))
            .answers::<WebhookView>(200, "The webhook; one without an id while there is none."),
    )
    .on(
        "PATCH /v3/user/webhooks/event/settings",
        include(Operation::new("Changes the oldest event webhook"))
            .about("Creates it while there is none. What else is left out stays.")
            .requires(["url"])
            .body::<WebhookSettings>()
            .answers::<WebhookView>(200, "The webhook."),
    )
    .on(
        "GET /v3/user/webhooks/event/settings/all",
        include(Operation::new("Lists the event webhooks"))
            .answers::<WebhookList>(200, "The webhooks, oldest first."),
    )
    .on(
        "GET /v3/user/webhooks/event/settings/{id}",
        id(include(Operation::new("Shows an event webhook"))).answers::<WebhookView>(200, "The webhook."),
    )
    .on(
        "PATCH /v3/user/webhooks/event/settings/{id}",
        id(include(Operation::new("Changes an event webhook")))
            .about("What else is left out stays.")
            .requires(["url"])
            .body::<WebhookSettings>()
            .answers::<WebhookView>(200, "The webhook."),
    )
    .on(
        "DELETE /v3/user/webhooks/event/settings/{id}",
        id(Operation::new("Deletes an event webhook")).answers_nothing(204, "The webhook is deleted."),
    )
    .on(
        "GET /v3/user/webhooks/event/settings/signed",
        Operation::new("Shows the public key of the oldest webhook")
            .about(OLDEST)
            .answers::<PublicKey>(200, "The key; empty while posts are not signed."),
    )
    .on(
        "PATCH /v3/user/webhooks/event/settings/signed",
        Operation::new("Enables or disables signatures of the oldest webhook")
            .about(OLDEST)
            .requires(["enabled"])
            .body::<Switch>()
            .answers::<PublicKey>(200, "The key; empty while posts are not signed."),
    )
    .on(
        "GET /v3/user/webhooks/event/settings/signed/{id}",
        id(Operation::new("Shows the public key of a webhook"))
            .answers::<PublicKey>(200, "The key; empty while posts are not signed."),
    )
    .on(
        "PATCH /v3/user/webhooks/event/settings/signed/{id}",
        id(Operation::new("Enables or disables signatures of a webhook"))
            .about("Enabling creates a key pair; disabling deletes it.")
            .requires(["enabled"])
            .body::<Switch>()
            .answers::<PublicKey>(200, "The key; empty while posts are not signed."),
    )
    .on(
        "POST /v3/user/webhooks/event/test",
        Operation::new("Posts sample events to a URL")
            .about("One event of each kind, once. With `id` the post is signed and authorized as that webhook's posts are.")
            .requires(["url"])
            .body::<Trial>()
            .about("With `details: true`, an extension, the answer is 200 with the post and what the receiver answered, \
                    also where that is no 2xx.")
            .answers::<TrialView>(200, "With `details`: what was posted and answered.")
            .answers_nothing(204, "The receiver answered 2xx.")
            .refuses(404),
    )
    .on(
        "GET /v3/user/webhooks/event/undelivered",
        Operation::new("Lists events that a webhook did not take")
            .extension()
            .query("since", values::any_integer(), "Those whose oldest event is not before this second (Unix time).")
            .query("until", values::any_integer(), "Those whose oldest event is not after this second (Unix time).")
            .query("webhook_id", values::text(), "Those of this webhook.")
            .query("limit", values::integer(1, 500), "How many; 100 when it is left out.")
            .query("after", values::text(), "The `next` of the page before.")
            .answers_as(200, "Posts that were given up after 24 hours.", values::undelivered_page::<DeadLetterView>()),
    )
    .on(
        "POST /v3/user/webhooks/event/undelivered/replay",
        Operation::new("Posts events again that a webhook did not take")
            .extension()
            .about("All of them, or those that the body selects.")
            .limit("One request replays 200 posts; `more` says that others remain.")
            .optional_body::<RetrySelection>()
            .answers::<ReplayedLetters>(202, "How many events are queued."),
    );
    posts(reference)
}

/// The posts that were made, and events that are posted again.
fn posts(reference: Reference) -> Reference {
    const STORED: &str = "The last 100 posts of each webhook that its receiver took, and those that it did not take, are \
        stored for seven days; none where the operator does not store them (`WebhookPosts`).";
    reference
    .on(
        "GET /v3/user/webhooks/event/posts",
        Operation::new("Lists posts to event webhooks")
            .extension()
            .about(STORED)
            .query("webhook_id", values::text(), "Those to this webhook.")
            .query("message_id", values::text(), "Those with events of this mail (`X-Message-Id`) or copy (`sg_message_id`).")
            .query("status", values::one_of(&["ok", "failed"]), "Those that the receiver took, or did not take.")
            .query("start_time", values::any_integer(), "Those from this second on (Unix time).")
            .query("end_time", values::any_integer(), "Those up to this second (Unix time).")
            .query("limit", values::integer(1, 100), "How many; 100 when it is left out.")
            .query("after", values::text(), "The `next` of the page before.")
            .answers::<PostList>(200, "The posts, latest first."),
    )
    .on(
        "GET /v3/user/webhooks/event/posts/{post_id}",
        Operation::new("Shows a post to an event webhook")
            .extension()
            .about(STORED)
            .path("post_id", "The id of a post.")
            .answers::<PostDetail>(200, "The post with its body and its signature."),
    )
    .on(
        "POST /v3/user/webhooks/event/posts/replay",
        Operation::new("Posts events to webhooks again")
            .extension()
            .about("One event, those of a mail, or those of a span of time, with the ids that they have, to enabled \
                webhooks that subscribe to them. What a receiver refuses again is listed with what was not taken. Of \
                a mail's deferrals the first and the last are posted.")
            .about("A span needs the search (`SearchDays`, `--search-days`). It holds the events of mails that were \
                accepted in it or up to seven days before; where they are many, they are queued in the background.")
            .limit("A span has at most seven days; an account has one under way, and a request for another is \
                answered 409.")
            .body::<ReplaySelection>()
            .answers::<ReplayedEvents>(202, "How many events are queued.")
            .refuses(404)
            .refuses(409),
    )
    .on(
        "GET /v3/user/webhooks/event/posts/replay/{replay_id}",
        Operation::new("Shows how far a span of time has been posted again")
            .extension()
            .path("replay_id", "The id of a replay.")
            .answers::<ReplayView>(200, "The replay."),
    )
}
