//! What the API reference says of these routes.

use posthaste_testkit::reference::{Operation, Reference};

use crate::{App, routes};

#[tokio::test]
async fn reference() {
    described().check(App::from_env, routes).await;
}

fn described() -> Reference {
    const REFUSED: &str =
        "A page that says why: outside the IP allow list, or a scope that is missing.";
    const MISSING: &str = "A page that says so.";
    let page = |summary: &'static str| {
        Operation::new(summary)
            .about(
                "With the cookie of a session, or with a key. Pages only read, and what they show is what the API answers \
                 their reader.",
            )
            .extension()
            .answers_text(200, "The page.", "text/html")
            .answers_nothing(303, "To the page to sign in.")
            .with_header("Location", "The page to sign in, which leads back.")
            .answers_text(403, REFUSED, "text/html")
    };
    let named = |operation: Operation| {
        operation.path("page", "The name of a page, or of a file that pages name.")
    };
    Reference::new(
        "console",
        "Web console",
        "Pages for the owner of an account: sign-in, keys, what became of each mail.",
    )
    .on("GET /console", page("Shows the overview"))
    .on(
        "GET /console/{page}",
        named(page("Shows a page")).answers_text(404, MISSING, "text/html"),
    )
    .on(
        "GET /console/{page}/{id}",
        named(page("Shows a page about one thing"))
            .path("id", "What the page is about: the id of a mail, a batch, a group, a template, a domain or a webhook, or the name of a list.")
            .answers_text(404, MISSING, "text/html"),
    )
    .on(
        "POST /console/{page}",
        Operation::new("Signs in or out, or shows a template as it is written")
            .about(
                "The forms of the pages: `sign-in` with `key` (an API key) or `token` (of a link, which opens one session \
                 within 15 minutes), and `next`; `sign-out` without fields. A browser sends the `Origin` of this service \
                 with them, and other requests are refused. `template-part` with `template`, `version` and `preview` (the \
                 JSON of the API's preview) shows in a frame what is written in the editor of a template.",
            )
            .extension()
            .path("page", "`sign-in`, `sign-out` or `template-part`.")
            .answers_text(200, "What a version would be, without script or origin.", "text/html")
            .answers_nothing(303, "The session began or ended.")
            .with_header("Set-Cookie", "The session; HttpOnly and SameSite=Strict.")
            .answers_text(400, "A page that asks for HTTPS.", "text/html")
            .answers_text(401, "The page to sign in, with the reason.", "text/html")
            .answers_text(403, "A page that says why: from another origin, or outside the IP allow list.", "text/html")
            .answers_text(404, MISSING, "text/html"),
    )
}
