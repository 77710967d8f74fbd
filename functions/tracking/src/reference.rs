//! What the API reference says of these routes.

use posthaste_testkit::reference::{Operation, Reference, values};

use crate::{App, routes};

#[tokio::test]
async fn reference() {
    described().check(App::from_env, routes).await;
}

fn described() -> Reference {
    const GONE: &str = "The link is not one of this service's, or was opened under the branded host of another account.";
    let link = |operation: Operation| {
        operation
            .extension()
            .must_query("upn", values::text(), "The signed token of a link.")
    };
    let head = |summary: &'static str| link(Operation::new(summary)).about("Is not counted.");
    Reference::new(
        "tracking",
        "Links in mails",
        "What the links of sent mails lead to. Each is signed; no key is needed.",
    )
    .on(
        "GET /wf/open",
        Operation::new("Counts an open")
            .extension()
            .query("upn", values::text(), "The signed token of a link.")
            .answers_text(
                200,
                "An image of one transparent pixel, also for a token that is not valid.",
                "image/gif",
            ),
    )
    .on(
        "HEAD /wf/open",
        Operation::new("Probes the pixel")
            .about("Is not counted.")
            .extension()
            .query("upn", values::text(), "The signed token of a link.")
            .answers_nothing(200, "The headers of the image."),
    )
    .on(
        "GET /ls/click",
        link(Operation::new("Counts a click and redirects"))
            .answers_nothing(302, "The signed URL.")
            .with_header("Location", "The URL of the link in the mail.")
            .answers_text(404, GONE, "text/html"),
    )
    .on(
        "HEAD /ls/click",
        head("Probes a link")
            .answers_nothing(302, "The signed URL.")
            .answers_nothing(404, GONE),
    )
    .on(
        "GET /asm/unsubscribe",
        link(Operation::new("Shows the page of an unsubscribe link"))
            .about("Changes nothing: mail scanners open every link.")
            .answers_text(200, "A page with a button.", "text/html")
            .answers_text(404, GONE, "text/html"),
    )
    .on(
        "HEAD /asm/unsubscribe",
        head("Probes an unsubscribe link")
            .answers_nothing(200, "The headers of the page.")
            .answers_nothing(404, GONE),
    )
    .on(
        "POST /asm/unsubscribe",
        link(Operation::new("Unsubscribes"))
            .about("By the button of the page, or by the one click of a mail program (RFC 8058).")
            .answers_text(
                200,
                "A page, or the account's own landing page.",
                "text/html",
            )
            .answers_text(404, GONE, "text/html"),
    )
    .on(
        "GET /asm/preferences",
        link(Operation::new(
            "Shows the groups that a recipient may leave",
        ))
        .answers_text(200, "A page with a form.", "text/html")
        .answers_text(404, GONE, "text/html"),
    )
    .on(
        "HEAD /asm/preferences",
        head("Probes a preferences link")
            .answers_nothing(200, "The headers of the page.")
            .answers_nothing(404, GONE),
    )
    .on(
        "POST /asm/preferences",
        link(Operation::new("Stores which groups a recipient left"))
            .about("The form of the page: `groups`, repeated for each group that stays.")
            .answers_text(200, "The page with the stored choice.", "text/html")
            .answers_text(404, GONE, "text/html"),
    )
}
