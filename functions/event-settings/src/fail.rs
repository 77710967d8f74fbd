//! The error responses of this function, in SendGrid's wording (API facts, section 1).

use posthaste_http::Rejection;
use posthaste_model::{Problem, WebhookId};
use posthaste_webhook::UrlProblem;

/// No webhook of the account has this id, or it is not the form of one.
pub(crate) fn unknown_id() -> Rejection {
    Rejection::unknown_id([Problem::plain("Invalid id provided.")])
}

/// Another webhook has the URL.
pub(crate) fn url_taken(holder: &WebhookId, url: &str) -> Rejection {
    let message = format!("Webhook at '{url}' already exists. Please provide a unique URL.");
    Rejection::bad(message)
        .with("id", holder.as_str())
        .with("url", url)
}

/// The account holds as many webhooks as it may.
pub(crate) fn full() -> Rejection {
    Rejection::bad("You have reached the maximum number of webhooks per your current billing plan.")
}

/// What is wrong with a URL. Rules that the service does not have say what they are.
pub(crate) fn url_message(url: &str, problem: &UrlProblem) -> String {
    match problem {
        UrlProblem::Blank | UrlProblem::Unreadable | UrlProblem::Scheme | UrlProblem::NoHost => {
            format!("'{url}' is not a valid url")
        }
        UrlProblem::TooLong(_) => problem.to_string(),
        UrlProblem::Port(_) | UrlProblem::Address(_) => {
            format!("'{url}' is not a valid url: {problem}")
        }
    }
}
