//! What the API reference says of these routes.

use posthaste_testkit::reference::{Operation, Reference, values};

use crate::check::SettingRequest;
use crate::policies::{DeletedPolicy, MOST_POLICIES, OnePolicy, PolicyList};
use crate::policy_check::PolicyRequest;
use crate::settings::{SettingList, SettingView};
use crate::stats::ParsePeriod;
use crate::undelivered::{LostMailView, ReplayedMails};
use crate::{App, routes};

#[tokio::test]
async fn reference() {
    described().check(App::from_env, routes).await;
}

fn described() -> Reference {
    const WARNING: (&str, &str) = (
        "Warning",
        "Present when `spam_check` is on and the service has no spam filter.",
    );
    let policy = |operation: Operation| operation.path("id", "The id of a security policy.");
    let hostname =
        |operation: Operation| operation.path("hostname", "The hostname of a parse setting.");
    Reference::new(
        "parse-settings",
        "Inbound parse",
        "Hostnames whose received mail is posted to a URL, how posts are secured, and mails that were \
         not taken.",
    )
    .on(
        "POST /v3/user/webhooks/parse/settings",
        Operation::new("Creates a parse setting")
            .about("The hostname is an authenticated domain of the account, or lies under one.")
            .requires(["url", "hostname"])
            .body::<SettingRequest>()
            .answers::<SettingView>(201, "The setting.")
            .with_header(WARNING.0, WARNING.1),
    )
    .on(
        "GET /v3/user/webhooks/parse/settings",
        Operation::new("Lists the parse settings")
            .paged(i64::MAX, "How many; all of them when it is left out.")
            .answers::<SettingList>(200, "The settings."),
    )
    .on(
        "GET /v3/user/webhooks/parse/settings/{hostname}",
        hostname(Operation::new("Shows a parse setting"))
            .query("details", values::flag(), "An extension: `true` adds `mx`, the MX records as the DNS has them beside what they should be.")
            .answers::<SettingView>(200, "The setting."),
    )
    .on(
        "PATCH /v3/user/webhooks/parse/settings/{hostname}",
        hostname(Operation::new("Changes a parse setting"))
            .about("What is left out stays. The hostname cannot be changed.")
            .body::<SettingRequest>()
            .answers::<SettingView>(200, "The setting.")
            .with_header(WARNING.0, WARNING.1),
    )
    .on(
        "DELETE /v3/user/webhooks/parse/settings/{hostname}",
        hostname(Operation::new("Deletes a parse setting"))
            .answers_nothing(204, "The setting is deleted."),
    )
    .on(
        "GET /v3/user/webhooks/parse/stats",
        Operation::new("Counts received mails")
            .must_query("start_date", values::day(), "The first day.")
            .query(
                "end_date",
                values::day(),
                "The last day; today when it is left out.",
            )
            .query(
                "aggregated_by",
                values::one_of(&["day", "week", "month"]),
                "The periods; days when it is left out.",
            )
            .query(
                "limit",
                values::integer(1, 500),
                "How many periods; 500 when it is left out.",
            )
            .query("offset", values::count(), "How many periods to skip.")
            .limit("The days lie at most ten years apart.")
            .answers::<Vec<ParsePeriod>>(200, "One entry for each period."),
    )
    .on(
        "GET /v3/user/webhooks/parse/undelivered",
        Operation::new("Lists received mails that were not taken")
            .extension()
            .query(
                "limit",
                values::integer(1, 500),
                "How many; 100 when it is left out.",
            )
            .query("after", values::text(), "The `next` of the page before.")
            .answers_as(
                200,
                "Mails that were given up after 72 hours, or refused by the receiver.",
                values::undelivered_page::<LostMailView>(),
            ),
    )
    .on(
        "POST /v3/user/webhooks/parse/undelivered/replay",
        Operation::new("Posts received mails again that were not taken")
            .extension()
            .about("A body is ignored.")
            .limit("One request replays 200 mails; `more` says that others remain.")
            .answers::<ReplayedMails>(202, "How many mails are queued."),
    )
    .on(
        "POST /v3/user/webhooks/security/policies",
        Operation::new("Creates a security policy")
            .about(
                "Posts of the parse settings that name it in `security_policy` are signed with its key, \
                 carry a token of its OAuth server, or both; one of the two is needed.",
            )
            .limit(format!("An account has at most {MOST_POLICIES} policies."))
            .body::<PolicyRequest>()
            .answers::<OnePolicy>(201, "The policy, with the key that receivers verify with."),
    )
    .on(
        "GET /v3/user/webhooks/security/policies",
        Operation::new("Lists the security policies")
            .answers::<PolicyList>(200, "The policies, the oldest first."),
    )
    .on(
        "GET /v3/user/webhooks/security/policies/{id}",
        policy(Operation::new("Shows a security policy")).answers::<OnePolicy>(200, "The policy."),
    )
    .on(
        "PATCH /v3/user/webhooks/security/policies/{id}",
        policy(Operation::new("Changes a security policy"))
            .about(
                "What is left out stays, and `null` removes `oauth` or `signature`. The answer has no \
                 public key: a GET shows it.",
            )
            .body::<PolicyRequest>()
            .answers::<OnePolicy>(200, "The policy."),
    )
    .on(
        "DELETE /v3/user/webhooks/security/policies/{id}",
        policy(Operation::new("Deletes a security policy"))
            .about("A policy that a parse setting names stays, and the answer is 400.")
            .query(
                "force",
                values::flag(),
                "`true` detaches it from the parse settings, whose posts are then not secured.",
            )
            .answers::<DeletedPolicy>(200, "The policy is deleted."),
    )
}
