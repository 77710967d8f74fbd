//! What the API reference says of alerts.

use posthaste_testkit::reference::{Operation, Reference};

use crate::alerts::{AlertBody, AlertView, MOST};

pub(super) fn alerts(reference: Reference) -> Reference {
    const CONFIRMED: &str = "Nothing is sent before the address is confirmed by a mailed link; a verified sender and an address of an \
         authenticated domain need no link.";
    const MAILS: &str =
        "5 such mails in 24 hours for an account with its subusers, 2 to an address.";
    let id = |operation: Operation| operation.path("alert_id", "The number of an alert.");
    reference
        .on(
            "POST /v3/alerts",
            Operation::new("Makes an alert, which mails figures of the account")
                .about(
                    "A `stats_notification` mails what the account sent in the day, week or month that has ended, at \
                     midnight UTC. A `usage_limit` mails when so many percent of the sending allowance are used, once \
                     in its period; it is looked at every 15 minutes, and never mails for an account without an \
                     allowance.",
                )
                .about(CONFIRMED)
                .limit(MAILS)
                .limit(format!("An account has at most {MOST} alerts."))
                .requires(["type", "email_to"])
                .body::<AlertBody>()
                .answers::<AlertView>(201, "The alert."),
        )
        .on(
            "GET /v3/alerts",
            Operation::new("Lists the alerts")
                .answers::<Vec<AlertView>>(200, "The alerts, oldest first."),
        )
        .on(
            "GET /v3/alerts/{alert_id}",
            id(Operation::new("Shows an alert")).answers::<AlertView>(200, "The alert."),
        )
        .on(
            "PATCH /v3/alerts/{alert_id}",
            id(Operation::new("Changes an alert"))
                .about("What is left out stays, and so does the type.")
                .about(CONFIRMED)
                .limit(MAILS)
                .body::<AlertBody>()
                .answers::<AlertView>(200, "The alert."),
        )
        .on(
            "DELETE /v3/alerts/{alert_id}",
            id(Operation::new("Deletes an alert")).answers_nothing(204, "The alert is deleted."),
        )
}
