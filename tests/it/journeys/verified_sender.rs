//! A sender who proves himself by a mailed link, on a host that asks for proof.

use reqwest::{Client, Method};
use serde_json::{Value, json};

use crate::service::{Service, mail};

const MISMATCH: &str = "The from address does not match a verified Sender Identity. Mail cannot be sent until this error is resolved. Visit https://sendgrid.com/docs/for-developers/sending-email/sender-identity/ to see the Sender Identity requirements";

/// A mail from the address that is to be proven.
fn from_ann() -> Value {
    let mut request = mail("bob@example.com");
    request["from"] = json!({"email": "Ann@example.org"});
    request
}

#[track_caller]
fn check_refused(answer: &Value) {
    let want = json!({"errors": [{"message": MISMATCH, "field": "from", "help": null}]});
    assert_eq!(answer, &want);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_mailed_link_verifies_and_opening_it_does_not() {
    let service = Service::with(|settings| settings.strict_senders = true).await;
    let refused = async || {
        let answer = service
            .call(Method::POST, "/v3/mail/send", &from_ann())
            .await;
        assert_eq!(answer.status(), 403);
        check_refused(&answer.json().await.expect("JSON"));
    };
    refused().await;

    let ann = json!({"nickname": "Ann", "from_email": "ann@example.org",
        "reply_to": "ann@example.org", "address": "1 Street", "city": "Town", "country": "Land"});
    let made = service
        .call(Method::POST, "/v3/verified_senders", &ann)
        .await;
    assert_eq!(made.status(), 201);
    let summary = service.mails(1).await.swap_remove(0);
    let letter = service.open(&summary).await;
    assert_eq!(letter["To"][0]["Address"], "ann@example.org");
    let text = letter["Text"].as_str().expect("a text");
    let link = text.lines().find(|line| line.starts_with("http://"));
    let link = link.expect("a link on a line of its own");

    // As a person's browser would, without a key.
    let browser = Client::new();
    let page = browser.get(link).send().await.expect("the page");
    assert_eq!(page.status(), 200);
    refused().await;
    let pressed = browser.post(link).send().await.expect("the page");
    assert_eq!(pressed.status(), 200);

    let message = service.send(&from_ann()).await;
    assert_eq!(service.states(&message, 1).await, ["Delivered"]);
    assert_eq!(
        service.mails(2).await[0]["From"]["Address"],
        "Ann@example.org"
    );
    service.stop().await;
}
