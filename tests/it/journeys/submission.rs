//! A mail that comes by SMTP.

use reqwest::Method;
use serde_json::json;

use crate::service::Service;
use crate::smtp::Smtp;

const MAIL: &str = "From: App <app@example.com>\r\nTo: ann@example.com\r\nSubject: Gr\u{fc}\u{df}e\r\n\
    Message-ID: <one@client.example.com>\r\nDate: Fri, 15 Jan 2027 08:00:00 +0000\r\n";

/// A whole mail with these further fields and this text.
fn mail(fields: &str, text: &str) -> Vec<u8> {
    format!("{MAIL}{fields}\r\n{text}\r\n").into_bytes()
}

/// The message without what was put on top of it.
fn below_the_trace(raw: &[u8]) -> String {
    let text = String::from_utf8_lossy(raw).into_owned();
    let (trace, rest) = text.split_at(text.find("From: App").expect("the mail"));
    assert!(
        trace.starts_with(
            "Received: from client.example.com ([127.0.0.1]) by posthaste.localhost with ESMTPA id "
        ),
        "{trace}"
    );
    assert_eq!(trace.matches(": ").count(), 1, "{trace}");
    rest.to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mail_is_passed_on_as_it_came_and_blind_copies_stay_blind() {
    let service = Service::start().await;
    let mut smtp = Smtp::logged_in(service.host().submission, service.key()).await;
    let text = "Hello,\r\n.\r\n..\r\nFrom here  \r\n\u{fc}\r\n";
    let sent = mail("Bcc: eve@example.com\r\nX-Own:   kept \r\n", text);

    let id = smtp
        .taken(&["ann@example.com", "eve@example.com"], &sent)
        .await;

    assert_eq!(id.len(), 22);
    assert_eq!(service.states(&id, 2).await, ["Delivered"; 2]);
    let want = String::from_utf8(mail("X-Own:   kept \r\n", text)).unwrap();
    let mails = service.mails(2).await;
    assert_eq!(mails.len(), 2);
    for summary in &mails {
        assert_eq!(below_the_trace(&service.raw(summary).await), want);
    }
    let events = service.events(&id).await;
    let kinds: Vec<&str> = events.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(kinds, ["processed", "delivered"]);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_mail_of_a_careless_client_is_mended() {
    let service = Service::start().await;
    let mut smtp = Smtp::logged_in(service.host().submission, service.key()).await;
    let sent = format!(
        "From: App <app@example.com>\r\nP8Fxcut\r\nSubject : careless\r\nMessage-ID: <>\r\n\r\n{}\r\n",
        "x".repeat(1500)
    );
    let to = ["ann@example.com", "Postmaster", "ann@example.com"];

    let id = smtp.taken(&to, sent.as_bytes()).await;

    assert_eq!(service.states(&id, 2).await, ["Delivered"; 2]);
    for summary in &service.mails(2).await {
        let raw = String::from_utf8(service.raw(summary).await).unwrap();
        assert!(raw.contains("\r\nSubject: careless\r\n"), "{raw}");
        assert!(!raw.contains("P8Fxcut") && !raw.contains("<>"), "{raw}");
        assert_eq!(raw.matches("Message-ID: <").count(), 1, "{raw}");
        assert!(raw.lines().all(|line| line.len() <= 998), "{raw}");
    }
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_sends_without_a_key_that_may() {
    let service = Service::start().await;
    let port = service.host().submission;
    let (mut smtp, offers) = Smtp::greeted(port).await;
    for offer in [
        "PIPELINING",
        "SIZE 31457280",
        "8BITMIME",
        "SMTPUTF8",
        "AUTH PLAIN LOGIN",
    ] {
        assert!(offers.contains(offer), "{offers}");
    }
    let refused = smtp.send(&[], b"").await;
    assert_eq!(refused, "530 5.7.0 log in first");
    let body = json!({"name": "reader", "scopes": ["alerts.read"]});
    let made = service.call(Method::POST, "/v3/api_keys", &body).await;
    let made: serde_json::Value = made.json().await.unwrap();
    let key = service.key().to_owned();
    let wrong = "535 5.7.8 Authentication failed: The provided authorization grant is invalid, expired, or revoked";
    let hint =
        "535 5.7.8 Authentication failed: the user name is apikey, the password is an API key";
    let reader = made["api_key"].as_str().unwrap();
    for (user, key, want) in [
        ("apikey", "SG.nothing", wrong),
        ("admin", key.as_str(), hint),
        (
            "apikey",
            reader,
            "535 5.7.8 Authentication failed: access forbidden",
        ),
    ] {
        let (mut smtp, _) = Smtp::greeted(port).await;
        assert_eq!(smtp.log_in(user, key).await, want, "{user}");
    }
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_does_not_outlive_its_key_or_its_account() {
    let service = Service::start().await;
    let port = service.host().submission;
    let body = json!({"name": "app", "scopes": ["mail.send"]});
    let made = service.call(Method::POST, "/v3/api_keys", &body).await;
    let made: serde_json::Value = made.json().await.unwrap();
    let mut smtp = Smtp::logged_in(port, made["api_key"].as_str().unwrap()).await;
    smtp.taken(&["ann@example.com"], &mail("", "one")).await;
    let path = format!("/v3/api_keys/{}", made["api_key_id"].as_str().unwrap());
    let gone = service.call(Method::DELETE, &path, &json!({})).await;
    assert_eq!(gone.status(), 204);

    let refused = smtp.send(&["ann@example.com"], &mail("", "two")).await;

    assert!(refused.starts_with("535 5.7.8"), "{refused}");
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_allow_list_covers_smtp() {
    let service = Service::start().await;
    let body = json!({"ips": [{"ip": "203.0.113.7"}]});
    let path = "/v3/access_settings/whitelist";
    let added = service.call(Method::POST, path, &body).await;
    assert_eq!(added.status(), 201);
    // What the gate knew of the list may be ten seconds old.
    service.pass(11).await;
    let (mut smtp, _) = Smtp::greeted(service.host().submission).await;
    let key = service.key().to_owned();
    assert_eq!(
        smtp.log_in("apikey", &key).await,
        "535 5.7.8 Authentication failed: Authenticated user is not authorized to send mail"
    );
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mails_count_against_the_rate_limit_of_mail_send() {
    let service = Service::with(|settings| settings.limits.mail_send = 2).await;
    let mut smtp = Smtp::logged_in(service.host().submission, service.key()).await;
    let sent = mail("", "x");
    smtp.taken(&["a@example.com"], &sent).await;
    smtp.taken(&["b@example.com"], &sent).await;
    let refused = smtp.send(&["c@example.com"], &sent).await;
    assert_eq!(refused, "451 4.7.1 too many requests");
    service.pass(60).await;
    smtp.taken(&["c@example.com"], &sent).await;
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn this_machine_may_be_let_in_without_a_login() {
    let service = Service::with(|settings| settings.submission_open = true).await;
    let (mut smtp, _) = Smtp::greeted(service.host().submission).await;
    let id = smtp.taken(&["ann@example.com"], &mail("", "x")).await;
    assert_eq!(service.states(&id, 1).await, ["Delivered"]);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_proven_senders_send_where_that_is_asked_for() {
    let service = Service::with(|settings| settings.strict_senders = true).await;
    let mut smtp = Smtp::logged_in(service.host().submission, service.key()).await;
    let refused = smtp.send(&["ann@example.com"], &mail("", "x")).await;
    let want = "550 5.7.1 The from address does not match a verified Sender Identity.";
    assert!(refused.starts_with(want), "{refused}");
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_mail_is_refused() {
    let service = Service::start().await;
    let mut smtp = Smtp::logged_in(service.host().submission, service.key()).await;
    let to = ["ann@example.com"];
    for (message, want) in [
        (
            &b"no header at all\r\n"[..],
            "550 5.6.0 the mail needs one From header",
        ),
        (
            b"Subject: x\r\n\r\nx\r\n",
            "550 5.6.0 the mail needs one From header",
        ),
        (
            b"From: a@x.co, b@x.co\r\n\r\nx\r\n",
            "550 5.6.0 the mail needs one From header",
        ),
        (b"From: a@x.co\r\n\r\nbare\nline end\r\n", "554 "),
    ] {
        let answer = smtp.send(&to, message).await;
        assert!(answer.starts_with(want), "{answer}");
    }
    let looping = "Received: from a by b\r\n".repeat(101);
    let answer = smtp.send(&to, &mail(&looping, "x")).await;
    assert!(answer.starts_with("554 5.4.6"), "{answer}");
    smtp.ask("RSET").await;
    smtp.ask("MAIL FROM:<app@example.com>").await;
    for (to, code) in [
        ("a@[127.0.0.1]", "553 "),
        ("postmaster", "250 "),
        ("x", "501 "),
    ] {
        let answer = smtp.ask(&format!("RCPT TO:<{to}>")).await;
        assert!(answer.starts_with(code), "{to}: {answer}");
    }
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suppressed_address_is_dropped_as_by_http() {
    let service = Service::start().await;
    let body = json!({"recipient_emails": ["ann@example.com"]});
    let path = "/v3/asm/suppressions/global";
    let added = service.call(Method::POST, path, &body).await;
    assert_eq!(added.status(), 201);
    let mut smtp = Smtp::logged_in(service.host().submission, service.key()).await;
    let id = smtp.taken(&["ann@example.com"], &mail("", "x")).await;
    let told = service.events(&id).await;
    assert_eq!(
        told,
        [(
            "dropped".to_owned(),
            Some("Unsubscribed Address".to_owned())
        )]
    );
    service.stop().await;
}
