//! Clients of the port for submission that mean no good. What every port must stand (slow clients,
//! endless lines, a budget of memory) is tested with the engine, `shared/smtpd`.

use crate::service::Service;
use crate::smtp::Smtp;

async fn connected(service: &Service) -> Smtp {
    Smtp::logged_in(service.host().submission, service.key()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_smuggled_behind_a_message() {
    let service = Service::start().await;
    let mut smtp = connected(&service).await;
    let next = "MAIL FROM:<evil@example.com>\r\nRCPT TO:<eve@example.com>\r\nDATA\r\nFrom: evil@example.com\r\n\r\nx\r\n";
    for (end, is_bare) in [
        ("\n.\n", true),
        ("\n.\r\n", true),
        ("\r.\r", true),
        ("\r.\r\n", true),
        ("\r\n.\n", true),
        ("\r\n.\r", true),
        ("\n\n.\r\n", true),
        ("\r\n. \r\n", false),
        ("\r\n.\0\r\n", false),
        ("\r\n\0.\r\n", false),
    ] {
        let message = format!("From: app@example.com\r\n\r\nfirst{end}{next}.\r\n");
        assert!(
            smtp.ask("MAIL FROM:<app@example.com>")
                .await
                .starts_with("250 ")
        );
        assert!(
            smtp.ask("RCPT TO:<ann@example.com>")
                .await
                .starts_with("250 ")
        );
        assert!(smtp.ask("DATA").await.starts_with("354 "));
        smtp.say(message.as_bytes()).await;
        let answer = smtp.hear().await;
        let want = if is_bare { "554 " } else { "250 " };
        assert!(answer.starts_with(want), "{end:?}: {answer}");
        // The next answer is that to the next command: none of what was smuggled was one.
        assert_eq!(smtp.ask("NOOP").await, "250 2.0.0 nothing done", "{end:?}");
    }
    for summary in &service.mails(3).await {
        assert_eq!(summary["From"]["Address"], "app@example.com");
    }
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn guessing_keys_ends_the_connection_and_then_the_address_waits() {
    let service = Service::with(|settings| settings.limits.requests = 5).await;
    let port = service.host().submission;
    let (mut smtp, _) = Smtp::greeted(port).await;
    for _ in 0..2 {
        let answer = smtp.log_in("apikey", "SG.guess").await;
        assert!(answer.starts_with("535 5.7.8"), "{answer}");
    }
    let last = smtp.log_in("apikey", "SG.guess").await;
    assert_eq!(last, "421 4.7.0 too many failed logins");
    assert_eq!(smtp.hear().await, "", "the connection is closed");
    let (mut smtp, _) = Smtp::greeted(port).await;
    for _ in 0..2 {
        let answer = smtp.log_in("apikey", "SG.guess").await;
        assert!(answer.starts_with("535 5.7.8"), "{answer}");
    }
    let (mut smtp, _) = Smtp::greeted(port).await;
    let answer = smtp.log_in("apikey", "SG.guess").await;
    assert_eq!(answer, "421 4.7.0 too many requests");
    let mut owner = connected(&service).await;
    let mail = b"From: app@example.com\r\n\r\nx\r\n";
    owner.taken(&["ann@example.com"], mail).await;
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pipelined_client_is_served_and_pipelined_garbage_is_not() {
    let service = Service::start().await;
    let mut smtp = connected(&service).await;
    let commands = "MAIL FROM:<app@example.com>\r\nRCPT TO:<ann@example.com>\r\nDATA\r\n";
    let message = "From: app@example.com\r\n\r\nx\r\n.\r\n";
    for _ in 0..2 {
        smtp.say(commands.as_bytes()).await;
        for code in ["250 ", "250 ", "354 "] {
            let answer = smtp.hear().await;
            assert!(answer.starts_with(code), "{answer}");
        }
        // The next commands come with the message.
        smtp.say(format!("{message}NOOP\r\n").as_bytes()).await;
        assert!(smtp.hear().await.starts_with("250 2.0.0 Ok: queued as "));
        assert_eq!(smtp.hear().await, "250 2.0.0 nothing done");
    }
    smtp.say(&b"\xff\0garbage\r\n".repeat(100)).await;
    let mut last = String::new();
    loop {
        let answer = smtp.hear().await;
        if answer.is_empty() {
            break;
        }
        last = answer;
    }
    assert_eq!(last, "421 4.7.0 too many errors");
    service.mails(2).await;
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mail_past_the_limit_is_refused_before_and_after_it_came() {
    let service = Service::start().await;
    let mut smtp = connected(&service).await;
    let announced = smtp.ask("MAIL FROM:<app@example.com> SIZE=31457281").await;
    assert_eq!(announced, "552 5.3.4 a message may have 31457280 octets");
    let line = "0123456789012345678901234567890123456789012345678901234567890123456789\r\n";
    let mut message = "From: app@example.com\r\n\r\n".to_owned();
    message.push_str(&line.repeat((30 << 20) / line.len() + 1));
    let answer = smtp.send(&["ann@example.com"], message.as_bytes()).await;
    assert!(answer.starts_with("552 5.3.4"), "{answer}");
    let most = message.get(..message.len() - 2 * line.len()).unwrap();
    let id = smtp.taken(&["ann@example.com"], most.as_bytes()).await;
    assert_eq!(service.states(&id, 1).await, ["Delivered"]);
    service.stop().await;
}

/// A small header that asks for very much, and one that is long itself.
#[tokio::test(flavor = "multi_thread")]
async fn a_header_that_would_fill_the_memory_drops_the_mail() {
    let service = Service::start().await;
    let mut smtp = connected(&service).await;
    let to: Vec<String> = (0..10_000)
        .map(|n| format!("\"r{n}@example.com\""))
        .collect();
    let to = to.join(",\r\n ");
    let copied = format!(
        "{{\"to\": [{to}],\r\n \"sub\": {{\"-a-\": \"{}\"}}}}",
        "x".repeat(9000)
    );
    let line = format!("\"{}\",\r\n ", "x".repeat(900));
    let long = format!("{{\"unknown\": [{}\"\"]}}", line.repeat(3000));
    for header in [copied, long] {
        let mail = format!("From: app@example.com\r\nX-SMTPAPI: {header}\r\n\r\nx\r\n");
        let id = smtp.taken(&["ann@example.com"], mail.as_bytes()).await;
        let told = service.events(&id).await;
        let reason = Some("Invalid SMTPAPI header".to_owned());
        assert_eq!(told, [("dropped".to_owned(), reason)]);
        assert_eq!(service.states(&id, 1).await, ["Dropped"]);
    }
    service.stop().await;
}
