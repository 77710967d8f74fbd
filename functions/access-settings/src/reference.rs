//! What the API reference says of these routes.

use posthaste_testkit::reference::{Operation, Reference, values};

use crate::allow_list::{AccessAttemptView, Add, EntryList, Remove, Rule};
use crate::audit::AuditEntryView;
use crate::sessions::SessionView;
use crate::{App, routes};

#[tokio::test]
async fn reference() {
    described().check(App::from_env, routes).await;
}

fn described() -> Reference {
    const WARNING: (&str, &str) = (
        "X-Posthaste-Warning",
        "Present when the change locks the caller out: the calling address is not on the list.",
    );
    const MANY: &str = "A request names at most 10,000 entries.";
    let id = |operation: Operation| operation.path("rule_id", "The number of an entry.");
    Reference::new(
        "access-settings",
        "IP access",
        "The addresses that may use the account's keys. An empty list permits every address.",
    )
    .on(
        "POST /v3/access_settings/whitelist",
        Operation::new("Adds addresses to the allow list")
            .about(
                "All of them or none. An entry is an address or a range, such as `192.0.2.0/24`.",
            )
            .limit(MANY)
            .requires(["ips"])
            .body::<Add>()
            .answers::<EntryList<Rule>>(201, "The new entries.")
            .with_header(WARNING.0, WARNING.1),
    )
    .on(
        "GET /v3/access_settings/whitelist",
        Operation::new("Lists the allow list")
            .answers::<EntryList<Rule>>(200, "The entries, by id.")
            .with_header(
                "X-Posthaste-Caller-Address",
                "The address that the call came from; missing where the service does not know it.",
            ),
    )
    .on(
        "DELETE /v3/access_settings/whitelist",
        Operation::new("Removes several entries from the allow list")
            .about("All of them or none.")
            .limit(MANY)
            .requires(["ids"])
            .body::<Remove>()
            .answers_nothing(204, "The entries are removed.")
            .with_header(WARNING.0, WARNING.1)
            .refuses(404),
    )
    .on(
        "GET /v3/access_settings/whitelist/{rule_id}",
        id(Operation::new("Shows an entry of the allow list")
            .answers::<EntryList<Rule>>(200, "A list of the one entry.")),
    )
    .on(
        "DELETE /v3/access_settings/whitelist/{rule_id}",
        id(Operation::new("Removes an entry from the allow list")
            .answers_nothing(204, "The entry is removed.")
            .with_header(WARNING.0, WARNING.1)),
    )
    .on(
        "GET /v3/access_settings/activity",
        Operation::new("Lists attempts to use the account")
            .about("Of the last month, permitted or refused, grouped by address and key.")
            .query(
                "limit",
                values::integer(1, 500),
                "How many; 20 when it is left out.",
            )
            .answers::<EntryList<AccessAttemptView>>(200, "The attempts, latest first."),
    )
    .on(
        "GET /v3/access_settings/audit_log",
        Operation::new("Lists what was changed, and by whom")
            .about("Every call that changed something, by a key, a session of the console or a command of the operator, \
                    for as long as the operator keeps them (`AuditDays`). Calls that send or check mail are not changes. \
                    Paths have their addresses masked, and bodies are not kept.")
            .extension()
            .query("limit", values::integer(1, 500), "How many; 50 when it is left out.")
            .query("start_time", values::count(), "Only changes of this second or later.")
            .query("end_time", values::count(), "Only changes of this second or earlier.")
            .query("after", values::text(), "A place: the `Link` header of the page before has the next one.")
            .answers::<EntryList<AuditEntryView>>(200, "The changes, latest first.")
            .with_header("Link", "The next page, where there is one."),
    )
    .on(
        "GET /v3/access_settings/sessions",
        Operation::new("Lists the sessions of the console")
            .about("An account has at most 50. A session ends 12 hours after its last use, and seven days after its \
                    beginning.")
            .extension()
            .answers::<EntryList<SessionView>>(200, "The sessions, the one that was used last first."),
    )
    .on(
        "DELETE /v3/access_settings/sessions",
        Operation::new("Ends all other sessions of the console")
            .about("All but the one that calls; with a key, all. Other instances refuse them within ten seconds.")
            .extension()
            .answers_nothing(204, "The sessions have ended."),
    )
    .on(
        "DELETE /v3/access_settings/sessions/{session_id}",
        Operation::new("Ends a session of the console")
            .about("Other instances refuse it within ten seconds.")
            .extension()
            .path("session_id", "The id of a session.")
            .answers_nothing(204, "The session has ended."),
    )
}
