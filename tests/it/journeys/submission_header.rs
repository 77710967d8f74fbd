//! What the X-SMTPAPI header does to a mail.

use reqwest::Method;
use serde_json::{Value, json};

use crate::service::Service;
use crate::smtp::Smtp;

/// A mail with text and HTML and this header.
fn mail(header: &str) -> Vec<u8> {
    format!(
        "From: app@example.com\r\nTo: list@example.com\r\nSubject: Dear -name-\r\n\
        X-SMTPAPI: {header}\r\nMIME-Version: 1.0\r\n\
        Content-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\n\r\nHi -name-, -role-\r\n--b\r\n\
        Content-Type: text/html; charset=utf-8\r\n\r\n<p>Hi <b>-name-</b></p>\r\n--b--\r\n"
    )
    .into_bytes()
}

async fn connected(service: &Service) -> Smtp {
    Smtp::logged_in(service.host().submission, service.key()).await
}

/// The recorded mails in full, by their one recipient.
async fn opened(service: &Service, count: usize) -> Vec<(String, Value)> {
    let mut all = Vec::new();
    for summary in &service.mails(count).await {
        let whole = service.open(summary).await;
        let to = whole["To"][0]["Address"].as_str().unwrap().to_owned();
        all.push((to, whole));
    }
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn each_recipient_of_the_header_gets_a_mail_of_his_own() {
    let service = Service::start().await;
    let mut smtp = connected(&service).await;
    let header = "{\"to\": [\"Ben <ben@example.com>\",\r\n\t\"joe@example.com\"],\r\n \
        \"sub\": {\"-name-\": [\"J\\u00f6rg\", \"Joe\"], \"-role-\": [\"-s-\", \"buyer\"]},\r\n \
        \"section\": {\"-s-\": \"seller to -name-\"}, \"category\": \"Orders\",\r\n \
        \"unique_args\": {\"who\": \"-name-\"}, \"reply_to_list\": [\"r@example.com\", \"nobody\"],\r\n \
        \"filters\": {\"footer\": {\"settings\": {\"enable\": 1, \"text/plain\": \"bye\", \"text/html\": \"<i>bye</i>\"}}}}";

    let id = smtp.taken(&["ignored@example.com"], &mail(header)).await;

    assert_eq!(service.states(&id, 2).await, ["Delivered"; 2]);
    let mails = opened(&service, 2).await;
    let (to, ben) = &mails[0];
    assert_eq!(to, "ben@example.com");
    assert_eq!(
        ben["To"],
        json!([{"Name": "Ben", "Address": "ben@example.com"}])
    );
    assert_eq!(ben["Subject"], "Dear J\u{f6}rg");
    assert_eq!(ben["ReplyTo"][0]["Address"], "r@example.com");
    assert_eq!(
        ben["Text"].as_str().unwrap().trim(),
        "Hi J\u{f6}rg, seller to J\u{f6}rg\r\n\r\nbye"
    );
    let html = ben["HTML"].as_str().unwrap();
    assert!(
        html.contains("<b>J\u{f6}rg</b>") && html.contains("<i>bye</i>"),
        "{html}"
    );
    assert_eq!(mails[1].1["Subject"], "Dear Joe");
    for summary in &service.mails(2).await {
        let raw = String::from_utf8_lossy(&service.raw(summary).await).to_lowercase();
        assert!(!raw.contains("x-smtpapi"), "{raw}");
    }
    let rows = service.rows(&id).await;
    let event = &rows[0].events()[0];
    assert_eq!(event.custom_args["who"], "J\u{f6}rg");
    let wire = serde_json::to_value(event).unwrap();
    assert_eq!(wire["category"], json!("Orders"));
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_header_that_cannot_be_read_drops_the_mail_and_says_so() {
    let service = Service::start().await;
    let mut smtp = connected(&service).await;
    for header in [
        "{\"to\": [",
        "{\"send_at\": 1, \"send_each_at\": [1]}",
        // Sent at once these would leave long before their time.
        "{\"send_at\": \"tomorrow\"}",
        "{\"send_at\": \"1800000900\"}",
        "[]",
    ] {
        let id = smtp.taken(&["ann@example.com"], &mail(header)).await;
        let told = service.events(&id).await;
        let want = (
            "dropped".to_owned(),
            Some("Invalid SMTPAPI header".to_owned()),
        );
        assert_eq!(told, [want], "{header}");
        assert_eq!(service.states(&id, 1).await, ["Dropped"]);
    }
    smtp.taken(&["bob@example.com"], &mail("{}")).await;
    let mails = service.mails(1).await;
    assert_eq!(mails.len(), 1, "nothing else left");
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn later_sends_wait_and_leave_one_by_one() {
    let service = Service::start().await;
    let mut smtp = connected(&service).await;
    let now = service.now();
    let header = format!(
        "{{\"to\": [\"a@example.com\", \"b@example.com\"], \"send_each_at\": [{}, {}]}}",
        now + 1800,
        now + 3600
    );
    smtp.taken(&["x@example.com"], &mail(&header)).await;
    service.pass(1800).await;
    let first = opened(&service, 1).await;
    assert_eq!(first[0].0, "a@example.com");
    service.pass(1800).await;
    assert_eq!(opened(&service, 2).await[1].0, "b@example.com");
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_account_does_not_have_is_refused_as_by_http() {
    let service = Service::start().await;
    let mut smtp = connected(&service).await;
    for (header, word) in [
        ("{\"asm_group_id\": 99}", "ASM group ID"),
        (
            "{\"batch_id\": \"HkJ5yLYULb7Rj8GKSx7u025ouWVlMgAi\"}",
            "batch_id",
        ),
        (
            "{\"filters\": {\"templates\": {\"settings\": {\"enable\": 1, \"template_id\": \"5997fcf6-2b9f-484d-acd5-7e9a99f0dc1f\"}}}}",
            "Template ID",
        ),
    ] {
        let answer = smtp.send(&["ann@example.com"], &mail(header)).await;
        assert!(
            answer.starts_with("550 5.6.0") && answer.contains(word),
            "{answer}"
        );
    }
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tracking_changes_the_html_and_nothing_else() {
    let service = Service::start().await;
    let mut smtp = connected(&service).await;
    let on = "{\"filters\": {\"clicktrack\": {\"settings\": {\"enable\": 1}}, \"opentrack\": {\"settings\": {\"enable\": 1}}}}";
    let sent = "From: app@example.com\r\nX-SMTPAPI: HEADER\r\nMIME-Version: 1.0\r\n\
        Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nsee https://example.org/\r\n--b\r\n\
        Content-Type: text/html\r\n\r\n<a href=\"https://example.org/\">see</a>\r\n--b\r\n\
        Content-Type: image/png; name=x.png\r\nContent-Transfer-Encoding: base64\r\n\r\nAAAA\r\n--b--\r\n"
        .replace("HEADER", on);
    smtp.taken(&["ann@example.com"], sent.as_bytes()).await;
    let raw = service.raw(&service.mails(1).await[0]).await;
    let raw = String::from_utf8(raw).unwrap();
    let (before, after) = sent.split_once("Content-Type: text/html").unwrap();
    let before = before.split_once("boundary=b\r\n\r\n").unwrap().1;
    let after = after.split_once("</a>").unwrap().1;
    assert!(raw.contains(before) && raw.ends_with(after), "{raw}");
    assert!(!raw.contains("href=\"https://example.org/\""), "{raw}");
    let whole = service.open(&service.mails(1).await[0]).await;
    assert!(whole["HTML"].as_str().unwrap().contains("<img"), "{whole}");
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_template_takes_the_mail_in() {
    let service = Service::start().await;
    let post = Method::POST;
    let body = json!({"name": "Frame", "generation": "legacy"});
    let made = service.call(post.clone(), "/v3/templates", &body).await;
    let made: Value = made.json().await.unwrap();
    let id = made["id"].as_str().unwrap();
    let version = json!({
        "name": "one", "subject": "<%subject%> from us", "active": 1,
        "html_content": "<h1>Frame</h1><%body%>", "plain_content": "FRAME <%body%>", "generate_plain_content": false,
    });
    let path = format!("/v3/templates/{id}/versions");
    let made = service.call(post, &path, &version).await;
    assert_eq!(made.status(), 201);
    let mut smtp = connected(&service).await;
    let header = format!(
        "{{\"sub\": {{\"-name-\": [\"Ann\"]}}, \"filters\": {{\"templates\": {{\"settings\": {{\"enable\": 1, \"template_id\": \"{id}\"}}}}}}}}"
    );
    smtp.taken(&["ann@example.com"], &mail(&header)).await;
    let whole = service.open(&service.mails(1).await[0]).await;
    assert_eq!(whole["Subject"], "Dear Ann from us");
    assert_eq!(
        whole["Text"].as_str().unwrap().trim(),
        "FRAME Hi Ann, -role-"
    );
    let html = whole["HTML"].as_str().unwrap();
    assert!(
        html.contains("<h1>Frame</h1><p>Hi <b>Ann</b></p>"),
        "{html}"
    );
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tags_are_replaced_in_the_address_for_answers_and_without_any_it_stays_as_it_is() {
    let service = Service::start().await;
    let mut smtp = connected(&service).await;
    let sub = "X-SMTPAPI: {\"sub\": {\"-id-\": [\"7\"], \"-name-\": [\"J\\u00f6rg\"]}}\r\n";
    let send = |fields: String| format!("From: app@example.com\r\n{fields}\r\nx\r\n").into_bytes();
    let tagged = send(format!("{sub}Reply-To: -name- <r+-id-@example.com>\r\n"));
    smtp.taken(&["ann@example.com"], &tagged).await;
    let whole = service.open(&service.mails(1).await[0]).await;
    let want = json!([{"Name": "J\u{f6}rg", "Address": "r+7@example.com"}]);
    assert_eq!(whole["ReplyTo"], want);

    let plain = "Reply-To:   Odd  (comment)\r\n\t<r@example.com>\r\n";
    smtp.taken(&["bob@example.com"], &send(format!("{sub}{plain}")))
        .await;
    let newest = &service.mails(2).await[0];
    let raw = String::from_utf8(service.raw(newest).await).unwrap();
    assert!(raw.contains(plain), "{raw}");
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mail_leaves_at_its_time_through_its_pool() {
    let service = Service::start().await;
    let pool = json!({"name": "slow"});
    let made = service.call(Method::POST, "/v3/ips/pools", &pool).await;
    assert_eq!(made.status(), 200);
    let mut smtp = connected(&service).await;
    let at = service.now() + 1800;
    let header = format!("{{\"send_at\": {at}, \"ip_pool\": \"slow\"}}");
    let id = smtp.taken(&["ann@example.com"], &mail(&header)).await;
    service.pass(1800).await;
    let rows = service.rows(&id).await;
    let processed = serde_json::to_value(&rows[0].events()[0]).unwrap();
    assert_eq!(processed["pool"]["name"], "slow", "{processed}");
    assert_eq!(rows[0].events()[0].at.0, at);
    // A name that no pool can have.
    let id = smtp
        .taken(&["ann@example.com"], &mail("{\"ip_pool\": \"x\"}"))
        .await;
    assert_eq!(service.states(&id, 1).await, ["Dropped"]);
    // One that the account has no pool of.
    let unknown = mail("{\"ip_pool\": \"fast\"}");
    let answer = smtp.send(&["ann@example.com"], &unknown).await;
    assert!(
        answer.starts_with("550 5.6.0 The IP Pool name must be a valid pool name"),
        "{answer}"
    );
    service.stop().await;
}
