//! What the API reference says of these routes.

use posthaste_testkit::reference::{Operation, Reference, values};

use crate::monitor::{MonitorFields, MonitorView};
use crate::partner_settings::{NewRelic, NewRelicChange, PartnerSettings};
use crate::wire::{
    Adjust, Allot, Allowance, CreateSubuser, CreatedSubuser, CustomerList, Disable, Ips, Subuser,
};
use crate::{App, routes};

#[tokio::test]
async fn reference() {
    described().check(App::from_env, routes).await;
}

fn described() -> Reference {
    const PARENT: &str = "Subusers have no subusers: a subuser is answered 403.";
    let region = |operation: Operation| {
        operation.query(
            "include_region",
            values::flag(),
            "Whether the answer has `region`.",
        )
    };
    let monitored = |operation: Operation| {
        operation
            .about("On average one copy in `frequency` is sent there too: its subject, text and HTML, without \
                    attachments and without the links of the recipient.")
            .about("Nothing is sent before the address is a verified sender of the parent, lies in an authenticated \
                    domain of the parent, or was confirmed for its `forward_bounce` or `forward_spam`.")
            .limit("`frequency` is 1 to 1,000,000.")
            .requires(["email", "frequency"])
            .body::<MonitorFields>()
            .answers::<MonitorView>(200, "The monitor.")
    };
    Reference::new(
        "subusers",
        "Subusers",
        "Accounts under an account. The header `on-behalf-of: NAME` makes any call act for a subuser.",
    )
    .on(
        "GET /v3/subusers",
        region(Operation::new("Lists the subusers")).paged(500, "How many; 500 when it is left out.")
            .about(PARENT)
            .query("username", values::text(), "Only the one of this name.")
            .query("region", values::one_of(&["all", "global", "eu"]), "Only those in this region.")
            .answers::<Vec<Subuser>>(200, "The subusers, oldest first."),
    )
    .on(
        "POST /v3/subusers",
        Operation::new("Creates a subuser")
            .about("`password` is required and discarded: API keys are the only credentials.")
            .about(PARENT)
            .limit("`ips` has at most 1,000 entries.")
            .requires(["username", "email", "password"])
            .body::<CreateSubuser>()
            .answers::<CreatedSubuser>(200, "The subuser."),
    )
    .on(
        "GET /v3/subusers/{subuser_name}",
        region(Operation::new("Shows a subuser").extension()).answers::<Subuser>(200, "The subuser."),
    )
    .on(
        "PATCH /v3/subusers/{subuser_name}",
        Operation::new("Disables or enables a subuser")
            .about("A disabled subuser stops sending at once, and its keys are refused.")
            .requires(["disabled"])
            .body::<Disable>()
            .answers_nothing(204, "The subuser is disabled or enabled."),
    )
    .on(
        "DELETE /v3/subusers/{subuser_name}",
        Operation::new("Deletes a subuser and all of its data")
            .answers_nothing(204, "The subuser is deleted.")
            .refuses(400),
    )
    .on(
        "PATCH /v3/subusers/{subuser_name}/website_access",
        Operation::new("Stores whether a subuser may use a website")
            .about("Without effect: there is no website to log in to.")
            .requires(["disabled"])
            .body::<Disable>()
            .answers_nothing(204, "The setting is stored."),
    )
    .on(
        "PUT /v3/subusers/{subuser_name}/ips",
        Operation::new("Stores the IP addresses of a subuser")
            .about("Without effect on mail: the relay chooses the address.")
            .body::<Vec<String>>()
            .answers::<Ips>(200, "The addresses."),
    )
    .on(
        "GET /v3/subusers/{subuser_name}/credits",
        Operation::new("Shows how much a subuser may send")
            .answers::<Allowance>(200, "The allowance.")
            .refuses(400),
    )
    .on(
        "PUT /v3/subusers/{subuser_name}/credits",
        Operation::new("Sets how much a subuser may send")
            .requires(["type"])
            .body::<Allot>()
            .answers::<Allowance>(200, "The allowance."),
    )
    .on(
        "PATCH /v3/subusers/{subuser_name}/credits/remaining",
        Operation::new("Adds to the remaining credits of a subuser, or takes from them")
            .requires(["allocation_update"])
            .body::<Adjust>()
            .answers::<Allowance>(200, "The allowance."),
    )
    .on(
        "GET /v3/partners/accounts",
        Operation::new("Lists the ids of customer accounts")
            .about("The ids are what `on-behalf-of: account-id ID` takes.")
            .about(PARENT)
            .query("limit", values::integer(1, 100), "How many; 10 when it is left out.")
            .query("offset", values::text(), "The id after which the page begins, `pages.last` of the page before.")
            .answers::<CustomerList>(200, "The accounts."),
    )
    .on(
        "GET /v3/subusers/{subuser_name}/monitor",
        Operation::new("Shows the monitor of a subuser").answers::<MonitorView>(200, "The monitor.")
            .refuses(400)
            .refuses(404),
    )
    .on(
        "POST /v3/subusers/{subuser_name}/monitor",
        monitored(Operation::new("Has samples of a subuser's mail sent to an address")),
    )
    .on(
        "PUT /v3/subusers/{subuser_name}/monitor",
        monitored(Operation::new("Changes the monitor of a subuser")).refuses(404),
    )
    .on(
        "DELETE /v3/subusers/{subuser_name}/monitor",
        Operation::new("Ends the samples of a subuser's mail")
            .answers_nothing(204, "The subuser has no monitor.")
            .refuses(400)
            .refuses(404),
    )
    .on(
        "GET /v3/partner_settings",
        Operation::new("Lists the partner settings: there are none").paged(500, "How many; 500 when it is left out.")
            .answers::<PartnerSettings>(200, "An empty list."),
    )
    .on(
        "GET /v3/partner_settings/new_relic",
        Operation::new("Shows the setting for New Relic, which is always off")
            .answers::<NewRelic>(200, "The setting."),
    )
    .on(
        "PATCH /v3/partner_settings/new_relic",
        Operation::new("Leaves the setting for New Relic off")
            .about("Enabling it is refused: an event webhook posts what the statistics are made of.")
            .body::<NewRelicChange>()
            .answers::<NewRelic>(200, "The setting."),
    )
}
