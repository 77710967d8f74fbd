//! What the API reference says of these routes.

use posthaste_testkit::reference::{Operation, Reference, values};

use crate::branded_links::{BrandedLinkView, LinkChange, LinkRequest};
use crate::older_senders::{OlderSender, OlderSenderBody, OlderSenderList};
use crate::wire::{
    CreateDomain, DomainView, Failures, Ip, MailRecords, Results, SenderBody, ShownSender, Steps,
    Update, Username, Validated,
};
use crate::{App, routes};

#[tokio::test]
async fn reference() {
    described().check(App::from_env, routes).await;
}

fn described() -> Reference {
    let reference = Reference::new(
        "sender-identity",
        "Sender identity",
        "The domains and addresses that an account may send from, and the hosts of its links.",
    );
    older_senders(senders(branded_links(domains(reference))))
}

fn domains(reference: Reference) -> Reference {
    let id = |operation: Operation| operation.path("id", "The number of a domain.");
    let subuser = |operation: Operation| {
        operation.must_query("username", values::text(), "The user name of a subuser.")
    };
    reference
        .on(
            "POST /v3/whitelabel/domains",
            Operation::new("Authenticates a domain")
                .about("The answer has the DNS records to create.")
                .about("`username` makes it the domain of that subuser.")
                .limit("`ips` has at most 100 entries.")
                .requires(["domain"])
            .body::<CreateDomain>()
                .answers::<DomainView>(201, "The domain, which is not valid yet."),
        )
        .on(
            "GET /v3/whitelabel/domains",
            Operation::new("Lists the authenticated domains").paged(500, "How many; 500 when it is left out.")
                .query("exclude_subusers", values::flag(), "Whether to leave out those of subusers.")
                .query("username", values::text(), "Only those of this account.")
                .query("domain", values::text(), "Only those with this text in their name.")
                .answers::<Vec<DomainView>>(200, "The domains."),
        )
        .on(
            "GET /v3/whitelabel/domains/default",
            Operation::new("Shows the default domain")
                .query("domain", values::text(), "Only if it has this name.")
                .answers::<Vec<DomainView>>(200, "A list of one or none."),
        )
        .on(
            "GET /v3/whitelabel/domains/subuser",
            subuser(Operation::new("Shows the domain that a subuser sends from"))
                .answers::<DomainView>(200, "The domain.")
                .refuses(404),
        )
        .on(
            "DELETE /v3/whitelabel/domains/subuser",
            subuser(Operation::new("Takes back every domain from a subuser"))
                .answers_nothing(204, "The subuser has none of the account's domains any more.")
                .refuses(404),
        )
        .on(
            "GET /v3/whitelabel/domains/subuser/all",
            subuser(Operation::new("Lists the domains that a subuser may send from"))
                .answers::<Vec<DomainView>>(200, "The domains.")
                .refuses(404),
        )
        .on(
            "GET /v3/whitelabel/domains/{id}",
            id(Operation::new("Shows an authenticated domain")).answers::<DomainView>(200, "The domain."),
        )
        .on(
            "PATCH /v3/whitelabel/domains/{id}",
            id(Operation::new("Changes an authenticated domain"))
                .body::<Update>()
                .answers::<DomainView>(200, "The domain."),
        )
        .on(
            "DELETE /v3/whitelabel/domains/{id}",
            id(Operation::new("Deletes an authenticated domain")).answers_nothing(204, "The domain is deleted."),
        )
        .on(
            "POST /v3/whitelabel/domains/{id}/validate",
            id(Operation::new("Looks up the DNS records of a domain"))
                .about("A body is ignored.")
                .answers::<Validated>(200, "Which records are as they should be."),
        )
        .on(
            "POST /v3/whitelabel/domains/{id}/ips",
            id(Operation::new("Adds an IP address to a domain"))
                .about("Stored without effect on mail: the relay chooses the address.")
                .requires(["ip"])
            .body::<Ip>()
                .answers::<DomainView>(200, "The domain."),
        )
        .on(
            "DELETE /v3/whitelabel/domains/{id}/ips/{ip}",
            id(Operation::new("Removes an IP address from a domain"))
                .path("ip", "An IP address.")
                .answers::<DomainView>(200, "The domain."),
        )
        .on(
            "POST /v3/whitelabel/domains/{id}/subuser",
            id(Operation::new("Lets a subuser send from a domain, in place of those before"))
                .requires(["username"])
            .body::<Username>()
                .answers::<DomainView>(201, "The domain."),
        )
        .on(
            "POST /v3/whitelabel/domains/{id}/subuser:add",
            id(Operation::new("Lets a subuser send from a domain too"))
                .requires(["username"])
            .body::<Username>()
                .answers::<DomainView>(201, "The domain."),
        )
        .on(
            "DELETE /v3/whitelabel/domains/{id}/subuser",
            id(subuser(Operation::new("Takes back a domain from a subuser")))
                .answers_nothing(204, "The subuser does not send from the domain any more."),
        )
        .on(
            "POST /v3/whitelabel/dns/email",
            Operation::new("Mails the DNS records of a domain")
                .about("With `link_id` those of a branded link too.")
                .limit("5 such mails in 24 hours for an account with its subusers, 2 to an address. The note has at most 300 characters.")
                .requires(["domain_id", "email"])
            .body::<MailRecords>()
                .answers_nothing(204, "The mail is queued."),
        )
}

fn branded_links(reference: Reference) -> Reference {
    let id = |operation: Operation| operation.path("id", "The number of a branded link.");
    let subuser = |operation: Operation| {
        operation.must_query("username", values::text(), "The user name of a subuser.")
    };
    reference
        .on(
            "POST /v3/whitelabel/links",
            Operation::new("Creates a branded link")
                .about("The answer has the DNS records to create. Mail has the host once they are validated, always by HTTPS: the operator of the service needs a certificate for it.")
                .limit("50 for an account.")
                .requires(["domain"])
                .body::<LinkRequest>()
                .answers::<BrandedLinkView>(201, "The branded link, which is not valid yet."),
        )
        .on(
            "GET /v3/whitelabel/links",
            Operation::new("Lists the branded links")
                .paged(500, "How many; 500 when it is left out.")
                .answers::<Vec<BrandedLinkView>>(200, "The branded links, oldest first."),
        )
        .on(
            "GET /v3/whitelabel/links/default",
            Operation::new("Shows the default branded link")
                .about("Mail has the valid link closest to its sender's domain, and the default where there is none.")
                .query("domain", values::text(), "Only if it is of this domain.")
                .answers::<BrandedLinkView>(200, "The branded link.")
                .refuses(404),
        )
        .on(
            "GET /v3/whitelabel/links/subuser",
            subuser(Operation::new("Shows the branded link that a subuser's mail has"))
                .answers::<BrandedLinkView>(200, "The branded link.")
                .refuses(404),
        )
        .on(
            "DELETE /v3/whitelabel/links/subuser",
            subuser(Operation::new("Takes back the branded link from a subuser"))
                .answers_nothing(204, "The subuser has no branded link of the account any more.")
                .refuses(404),
        )
        .on(
            "GET /v3/whitelabel/links/{id}",
            id(Operation::new("Shows a branded link")).answers::<BrandedLinkView>(200, "The branded link."),
        )
        .on(
            "PATCH /v3/whitelabel/links/{id}",
            id(Operation::new("Makes a branded link the default, or no longer"))
                .body::<LinkChange>()
                .answers::<BrandedLinkView>(200, "The branded link."),
        )
        .on(
            "DELETE /v3/whitelabel/links/{id}",
            id(Operation::new("Deletes a branded link"))
                .about("Links of mail that is out work for as long as their host leads to the service.")
                .answers_nothing(204, "The branded link is deleted."),
        )
        .on(
            "POST /v3/whitelabel/links/{id}/validate",
            id(Operation::new("Looks up the DNS records of a branded link"))
                .about("A body is ignored.")
                .answers::<Validated>(200, "Which records are as they should be."),
        )
        .on(
            "POST /v3/whitelabel/links/{id}/subuser",
            id(Operation::new("Lets a subuser's mail have a branded link, in place of that before"))
                .requires(["username"])
                .body::<Username>()
                .answers::<BrandedLinkView>(200, "The branded link."),
        )
}

fn senders(reference: Reference) -> Reference {
    let id = |operation: Operation| operation.path("id", "The number of a verified sender.");
    reference
        .on(
            "POST /v3/verified_senders",
            Operation::new("Creates a verified sender")
                .about("A mail with a link goes to `from_email`, unless a domain of the account covers the address.")
                .requires(["nickname", "from_email", "reply_to"])
                .body::<SenderBody>()
                .answers::<ShownSender>(201, "The sender."),
        )
        .on(
            "GET /v3/verified_senders",
            Operation::new("Lists the verified senders")
                .query("limit", values::integer(1, 500), "How many; 500 when it is left out.")
                .query("lastSeenID", values::count(), "The number after which the page begins.")
                .query("id", values::count(), "Only the one with this number.")
                .answers::<Results<Vec<ShownSender>>>(200, "The senders."),
        )
        .on(
            "GET /v3/verified_senders/domains",
            Operation::new("Lists domains whose mail is known to fail without authentication")
                .answers::<Results<Failures>>(200, "Domains that warn, and domains that refuse."),
        )
        .on(
            "GET /v3/verified_senders/steps_completed",
            Operation::new("Says whether the account has verified a sender and a domain")
                .answers::<Results<Steps>>(200, "Which of both is done."),
        )
        .on(
            "PATCH /v3/verified_senders/{id}",
            id(Operation::new("Changes a verified sender"))
                .about("What is left out stays. Another `from_email` has to be verified again.")
                .body::<SenderBody>()
                .answers::<ShownSender>(200, "The sender."),
        )
        .on(
            "DELETE /v3/verified_senders/{id}",
            id(Operation::new("Deletes a verified sender")).answers_nothing(204, "The sender is deleted."),
        )
        .on(
            "POST /v3/verified_senders/resend/{id}",
            id(Operation::new("Mails the link of a verified sender again"))
                .about("Within ten minutes of the last mail: 204, and no mail.")
                .answers_nothing(204, "The mail is queued, or was a moment ago.")
                .refuses(400),
        )
        .on(
            "GET /v3/verified_senders/verify/{token}",
            Operation::new("Verifies a sender by the token of its mail")
                .answers_nothing(204, "The sender is verified."),
        )
        .on(
            "GET /senders/verify/{token}",
            Operation::new("Shows the page behind a mailed link of a sender")
                .extension()
                .answers_text(200, "A page with a button.", "text/html")
                .answers_text(404, "The link does not work any more.", "text/html"),
        )
        .on(
            "POST /senders/verify/{token}",
            Operation::new("Verifies a sender by the button of that page")
                .extension()
                .answers_text(200, "A page.", "text/html")
                .answers_text(404, "The link does not work any more.", "text/html"),
        )
}

fn older_senders(reference: Reference) -> Reference {
    let id = |operation: Operation| operation.path("sender_id", "The number of a sender.");
    reference
        .on(
            "POST /v3/senders",
            Operation::new("Registers a sender by the older API")
                .about("The senders are those of `/v3/verified_senders`. `from.email` and `reply_to.email` are required.")
                .requires(["nickname", "from", "reply_to", "address", "city", "country"])
                .body::<OlderSenderBody>()
                .answers::<OlderSender>(201, "The sender."),
        )
        .on(
            "GET /v3/senders",
            Operation::new("Lists the senders by the older API")
                .answers::<OlderSenderList>(200, "The senders, oldest first."),
        )
        .on(
            "GET /v3/senders/{sender_id}",
            id(Operation::new("Shows a sender by the older API"))
                .answers::<OlderSender>(200, "The sender."),
        )
        .on(
            "PATCH /v3/senders/{sender_id}",
            id(Operation::new("Changes a sender by the older API"))
                .about("What is left out stays. Another `from.email` has to be verified again.")
                .body::<OlderSenderBody>()
                .answers::<OlderSender>(200, "The sender."),
        )
        .on(
            "DELETE /v3/senders/{sender_id}",
            id(Operation::new("Deletes a sender by the older API"))
                .answers_nothing(204, "The sender is deleted."),
        )
        .on(
            "POST /v3/senders/{sender_id}/resend_verification",
            id(Operation::new("Mails the link of a sender again by the older API"))
                .about("Within ten minutes of the last mail: 204, and no mail.")
                .answers_nothing(204, "The mail is queued, or was a moment ago.")
                .refuses(400),
        )
}
