//! What the API reference says of these routes.

use posthaste_testkit::reference::{Operation, Reference, values};

use crate::validation::{Validation, ValidationRequest};
use crate::wire::{
    Clear, Emails, Global, GroupMembership, GroupRequest, GroupView, Left, SuppressionEntry,
};
use crate::{App, MOST, routes};

/// The lists: their paths, what their entries are, and what is removed.
const LISTS: [(&str, &str, &str); 5] = [
    ("bounces", "bounces", "bounce"),
    ("blocks", "blocks", "block"),
    ("invalid_emails", "invalid addresses", "invalid address"),
    ("spam_reports", "spam reports", "spam report"),
    ("unsubscribes", "global unsubscribes", "global unsubscribe"),
];

/// Of a list whose pages are found by a place.
const AFTER: &str = "An extension, in place of `offset`: empty for the first page, then that of the `Link` of the page \
    before. Such a page examines 2,000 entries, so it may have fewer than `limit`, or none, and its `Link` names the next \
    page alone.";

fn many() -> String {
    format!("A request names at most {MOST} addresses.")
}

#[tokio::test]
async fn reference() {
    described().check(App::from_env, routes).await;
}

fn described() -> Reference {
    let reference = Reference::new(
        "suppressions",
        "Suppressions",
        "Addresses that mail is kept from: lists by cause, unsubscribe groups, global unsubscribes.",
    );
    groups(LISTS.into_iter().fold(reference, list)).on(
        "POST /v3/validations/email",
        Operation::new("Validates an email address")
            .about("A Full Access key does not hold the scope; it may give it to another key.")
            .about(
                "By its syntax, the DNS records of its domain, a list of domains of throw-away mailboxes, names of \
                 roles, and the lists of the account; there is no model of other senders' mail. It is `Invalid` where \
                 the syntax or the domain is, or mail to it has bounced, and `Risky` where it is a throw-away or a role \
                 address, was blocked, complained or unsubscribed.",
            )
            .about(
                "The score is 0 for an invalid address; otherwise 1, times 0.3 for a throw-away address, 0.6 for a role, \
                 0.5 for a block, 0.2 for a complaint or an unsubscribe.",
            )
            .requires(["email"])
            .body::<ValidationRequest>()
            .answers::<Validation>(200, "What is known of the address.")
            .refuses(501),
    )
}

fn list(reference: Reference, (name, entries, entry): (&str, &str, &str)) -> Reference {
    let all = format!("/v3/suppression/{name}");
    let mut read_one = Operation::new(format!("Shows the {entry} of an address")).answers::<Vec<
        SuppressionEntry,
    >>(
        200,
        "A list of one; empty when the address is not on the list.",
    );
    let mut remove_one = Operation::new(format!("Removes the {entry} of an address"))
        .answers_nothing(204, "The address is not on the list any more.");
    let mut remove = Operation::new(format!("Removes {entries}"))
        .about("The named ones, or with `delete_all` all of them.")
        .limit(many())
        .body::<Clear>()
        .answers_nothing(204, "The entries are removed.");
    // SendGrid has only the whole list, to read.
    if name == "unsubscribes" {
        read_one = read_one.extension();
        remove_one = remove_one.extension();
        remove = remove.extension();
    }
    reference
        .on(
            format!("GET {all}"),
            paged(Operation::new(format!("Lists {entries}")), 500)
                .query(
                    "start_time",
                    values::count(),
                    "Those from this second on (Unix time).",
                )
                .query(
                    "end_time",
                    values::count(),
                    "Those up to this second (Unix time).",
                )
                .query("email", values::text(), "Those whose address begins so.")
                .query("after", values::text(), AFTER)
                .answers::<Vec<SuppressionEntry>>(200, "The entries, latest first.")
                .with_header("Link", "The other pages of the list."),
        )
        .on(format!("DELETE {all}"), remove)
        .on(format!("GET {all}/{{email}}"), read_one)
        .on(format!("DELETE {all}/{{email}}"), remove_one)
}

fn paged(operation: Operation, most: i64) -> Operation {
    operation.paged(
        most,
        "How many; as many as there may be when it is left out.",
    )
}

fn groups(reference: Reference) -> Reference {
    const ALL: i64 = 100_000;
    reference
        .on(
            "POST /v3/asm/groups",
            Operation::new("Creates an unsubscribe group")
                .limit("A name has 1 to 30 characters, a description at most 100.")
                .requires(["name"])
                .body::<GroupRequest>()
                .answers::<GroupView>(201, "The group."),
        )
        .on(
            "GET /v3/asm/groups",
            Operation::new("Lists the unsubscribe groups")
                .query("id", values::integers(), "Only these; may be repeated.")
                .answers::<Vec<GroupView>>(200, "The groups."),
        )
        .on(
            "GET /v3/asm/groups/{group_id}",
            Operation::new("Shows an unsubscribe group").answers::<GroupView>(200, "The group."),
        )
        .on(
            "PATCH /v3/asm/groups/{group_id}",
            Operation::new("Changes an unsubscribe group")
                .body::<GroupRequest>()
                .answers::<GroupView>(201, "The group."),
        )
        .on(
            "DELETE /v3/asm/groups/{group_id}",
            Operation::new("Deletes an unsubscribe group")
                .about(
                    "Not within 60 days of a mail to it, because its links are still in mailboxes.",
                )
                .answers_nothing(204, "The group is deleted.")
                .refuses(400),
        )
        .on(
            "POST /v3/asm/groups/{group_id}/suppressions",
            Operation::new("Unsubscribes addresses from a group")
                .about("When the group does not exist they are unsubscribed from everything.")
                .limit(many())
                .requires(["recipient_emails"])
                .body::<Emails>()
                .answers::<Emails>(201, "The addresses."),
        )
        .on(
            "GET /v3/asm/groups/{group_id}/suppressions",
            paged(Operation::new("Lists the addresses that left a group"), ALL)
                .query("after", values::text(), AFTER)
                .answers::<Vec<String>>(200, "The addresses, latest first.")
                .with_header("Link", "The other pages of the list."),
        )
        .on(
            "POST /v3/asm/groups/{group_id}/suppressions/search",
            Operation::new("Finds which of some addresses left a group")
                .limit(many())
                .requires(["recipient_emails"])
                .body::<Emails>()
                .answers::<Vec<String>>(200, "Those that did."),
        )
        .on(
            "DELETE /v3/asm/groups/{group_id}/suppressions/{email}",
            Operation::new("Subscribes an address to a group again").answers_nothing(
                204,
                "The address is in the group, whether it had left or not.",
            ),
        )
        .on(
            "GET /v3/asm/suppressions",
            paged(Operation::new("Lists every address that left a group"), ALL)
                .answers::<Vec<Left>>(200, "The addresses, group by group.")
                .with_header("Link", "The other pages of the list."),
        )
        .on(
            "GET /v3/asm/suppressions/{email}",
            Operation::new("Shows which groups an address left")
                .answers::<GroupMembership>(200, "Every group of the account."),
        )
        .on(
            "POST /v3/asm/suppressions/global",
            Operation::new("Unsubscribes addresses from everything")
                .limit(many())
                .requires(["recipient_emails"])
                .body::<Emails>()
                .answers::<Emails>(201, "The addresses."),
        )
        .on(
            "GET /v3/asm/suppressions/global/{email}",
            Operation::new("Says whether an address unsubscribed from everything")
                .answers::<Global>(200, "The address; an empty object when it did not."),
        )
        .on(
            "DELETE /v3/asm/suppressions/global/{email}",
            Operation::new("Takes back a global unsubscribe").answers_nothing(
                204,
                "The address receives mail again, whether it had left or not.",
            ),
        )
}
