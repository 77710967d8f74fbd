//! Mail from outside: through the SMTP port to a receiver's form, and everything the port refuses.

use std::sync::Arc;
use std::time::Duration;

use posthaste::{DnsSettings, HostSettings};
use posthaste_dns::Zone;
use posthaste_identity::{KeyPair, Signer};
use posthaste_model::RecordKind;
use posthaste_testkit::{Receiver, Reply};
use reqwest::Method;
use serde_json::{Value, json};

use crate::mx::Mx;
use crate::service::Service;

const SETTINGS: &str = "/v3/user/webhooks/parse/settings";
const PATIENCE: Duration = Duration::from_secs(60);
const MAIL: &str = "From: Ann <ann@sender.example>\r\nTo: box@in.shop.example\r\n\
    Message-ID: <1@sender.example>\r\nSubject: Hi\r\n\r\nHello";

/// A service that posts the mail of `in.shop.example` to a receiver.
async fn parsing() -> (Service, Receiver) {
    parsing_with(|_| {}).await
}

async fn parsing_with(change: impl FnOnce(&mut HostSettings)) -> (Service, Receiver) {
    let service = Service::with(change).await;
    let receiver = Receiver::start().await.expect("a free port");
    let domain = json!({"domain": "shop.example"});
    let path = "/v3/whitelabel/domains";
    let made = service.call(Method::POST, path, &domain).await;
    assert_eq!(made.status(), 201);
    let setting = json!({"hostname": "in.shop.example", "url": receiver.url()});
    let made = service.call(Method::POST, SETTINGS, &setting).await;
    assert_eq!(made.status(), 201);
    (service, receiver)
}

/// The value of a field of a form without files.
fn field<'a>(form: &'a str, name: &str) -> Option<&'a str> {
    let head = format!("form-data; name=\"{name}\"\r\n\r\n");
    let (_, rest) = form.split_once(head.as_str())?;
    Some(rest.split_once("\r\n--")?.0)
}

async fn posted(receiver: &Receiver) -> String {
    let post = receiver.next(PATIENCE).await.expect("a post");
    String::from_utf8(post.body.to_vec()).expect("UTF-8")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mail_for_a_configured_hostname_is_posted() {
    let (service, receiver) = parsing().await;
    let mut smtp = Mx::hello(service.smtp()).await;
    let taken = smtp
        .send("ann@sender.example", "any+one@IN.shop.example", MAIL)
        .await;
    assert!(taken.starts_with("250 "), "{taken}");
    let form = posted(&receiver).await;
    assert_eq!(field(&form, "text"), Some("Hello\r\n"));
    assert_eq!(field(&form, "sender_ip"), Some("127.0.0.1"));
    assert_eq!(
        field(&form, "envelope"),
        Some(r#"{"from":"ann@sender.example","to":["any+one@IN.shop.example"]}"#)
    );
    // The same mail on another connection is no second mail.
    let mut again = Mx::hello(service.smtp()).await;
    let taken = again
        .send("ann@sender.example", "any+one@IN.shop.example", MAIL)
        .await;
    assert!(taken.starts_with("250 "), "{taken}");
    let other = MAIL.replace("Hello", "Another");
    again
        .send("ann@sender.example", "box@in.shop.example", &other)
        .await;
    assert_eq!(field(&posted(&receiver).await, "text"), Some("Another\r\n"));
    assert_eq!(receiver.posts().len(), 2);
    service.stop().await;
}

/// On a laptop too, whatever it lets its own users send.
#[tokio::test(flavor = "multi_thread")]
async fn the_sender_is_checked_in_the_dns_whoever_may_send_from_here() {
    let pair = KeyPair::generate().expect("a key");
    let signer = Signer::new("sender.example", "s1", &pair.private).expect("a signer");
    let signed = signer.sign(format!("{MAIL}\r\n").as_bytes());
    let signed = String::from_utf8(signed.expect("a signature")).expect("ASCII");
    let signed = signed.trim_end();
    let zone = Arc::new(Zone::default());
    let key = format!("v=DKIM1; k=rsa; p={}", pair.public);
    for (host, record) in [
        ("sender.example", "v=spf1 ip4:127.0.0.1 -all"),
        ("s1._domainkey.sender.example", key.as_str()),
        ("stranger.example", "v=spf1 -all"),
    ] {
        zone.publish(RecordKind::Txt, host, &[record]);
    }
    let asked = DnsSettings::Zone(Arc::clone(&zone));
    let (service, receiver) = parsing_with(|settings| settings.inbound_dns = asked).await;
    let mut smtp = Mx::hello(service.smtp()).await;
    for (from, spf) in [
        ("ann@sender.example", "pass"),
        ("ann@stranger.example", "fail"),
        ("ann@unheard.example", "none"),
    ] {
        smtp.send(from, "box@in.shop.example", signed).await;
        let form = posted(&receiver).await;
        assert_eq!(field(&form, "SPF"), Some(spf), "{from}");
        assert_eq!(field(&form, "dkim"), Some("{@sender.example : pass}"));
    }
    service.stop().await;

    // Where nobody is to be asked, nothing is said to have failed.
    let (service, receiver) = parsing().await;
    let mut smtp = Mx::hello(service.smtp()).await;
    smtp.send("ann@sender.example", "box@in.shop.example", signed)
        .await;
    let form = posted(&receiver).await;
    assert_eq!(field(&form, "SPF"), Some("none"));
    assert_eq!(field(&form, "dkim"), Some("none"));
    service.stop().await;
}

/// A camera's alarm: neither a Message-ID nor a date, and the same bytes every time.
#[tokio::test(flavor = "multi_thread")]
async fn a_mail_that_got_its_250_is_posted_after_a_restart_and_a_retry_of_it_is_still_known() {
    const ALARM: &str = "From: cam@sender.example\r\nTo: box@in.shop.example\r\n\
        Subject: Motion detected\r\n\r\nMotion";
    let folder = tempfile::tempdir().expect("a folder");
    let on = |settings: &mut HostSettings| settings.data = Some(folder.path().to_owned());
    let hand_in = async |service: &Service| {
        let mut smtp = Mx::hello(service.smtp()).await;
        let taken = smtp.send("cam@sender.example", "box@in.shop.example", ALARM);
        let taken = taken.await;
        assert!(taken.starts_with("250 "), "{taken}");
    };
    let (service, receiver) = parsing_with(on).await;
    receiver.script([Reply::status(503)]);
    hand_in(&service).await;
    posted(&receiver).await;
    service.stop().await;

    let service = Service::with(on).await;
    service.hand.advance(inbound_parse::RETRY_WINDOW - 1);
    hand_in(&service).await;
    service.pass(3600).await;
    assert_eq!(field(&posted(&receiver).await, "text"), Some("Motion\r\n"));
    // The next alarm is the third post, so the retry was none.
    hand_in(&service).await;
    posted(&receiver).await;
    assert_eq!(receiver.posts().len(), 3);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_relayed() {
    let (service, receiver) = parsing().await;
    let mut smtp = Mx::hello(service.smtp()).await;
    let hello = smtp.ask("MAIL FROM:<ann@sender.example>").await;
    assert!(hello.starts_with("250 "), "{hello}");
    for stranger in [
        "bob@elsewhere.example",
        "box@shop.example",
        "box@other.in.shop.example",
        "box@in.shop.example.evil.example",
        // The old ways of asking a server to pass it on (RFC 5321, appendix C and F.2).
        "@in.shop.example:bob@elsewhere.example",
        "bob%elsewhere.example@shop.example",
        "bob@[127.0.0.1]",
    ] {
        let reply = smtp.ask(&format!("RCPT TO:<{stranger}>")).await;
        assert!(reply.starts_with("55"), "{stranger}: {reply}");
    }
    let reply = smtp.ask("RCPT TO:<bob@elsewhere.example>").await;
    assert!(reply.starts_with("550 5.1.2 "), "{reply}");
    let reply = smtp.ask("DATA").await;
    assert!(
        reply.starts_with("503") || reply.starts_with("554"),
        "{reply}"
    );
    // Only the recipient of a configured hostname gets it, whoever else was asked for.
    let reply = smtp.ask("RCPT TO:<box@in.shop.example>").await;
    assert!(reply.starts_with("250 "), "{reply}");
    smtp.ask("DATA").await;
    let taken = smtp.ask(&format!("{MAIL}\r\n.")).await;
    assert!(taken.starts_with("250 "), "{taken}");
    posted(&receiver).await;
    assert_eq!(receiver.posts().len(), 1);
    assert_eq!(service.recorded().await, Some(0));
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mail_over_30_megabytes_is_refused_and_the_next_is_taken() {
    const LARGEST: usize = 30 << 20;
    let (service, receiver) = parsing().await;
    let mut smtp = Mx::hello(service.smtp()).await;
    let announced = format!("MAIL FROM:<a@sender.example> SIZE={}", LARGEST + 1);
    let reply = smtp.ask(&announced).await;
    assert!(reply.starts_with("552 5.3.4 "), "{reply}");
    // `send` adds the last line end.
    let large = |size: usize| {
        let mut mail = format!("{MAIL}\r\n");
        let line = format!("{}\r\n", "x".repeat(76));
        while mail.len() + line.len() < size - 2 {
            mail.push_str(&line);
        }
        let rest = size - 2 - mail.len();
        mail.push_str(&"y".repeat(rest));
        mail
    };
    let reply = smtp
        .send(
            "a@sender.example",
            "box@in.shop.example",
            &large(LARGEST + 1),
        )
        .await;
    assert!(reply.starts_with("552 5.3.4 "), "{reply}");
    let reply = smtp
        .send("a@sender.example", "box@in.shop.example", &large(LARGEST))
        .await;
    assert!(reply.starts_with("250 "), "{reply}");
    let form = posted(&receiver).await;
    assert!(form.len() > LARGEST - 4096, "{}", form.len());
    assert_eq!(receiver.posts().len(), 1);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_dawdles_holds_up_nobody_and_still_gets_through() {
    let (service, receiver) = parsing().await;
    let mut slow = Mx::hello(service.smtp()).await;
    slow.ask("MAIL FROM:<a@sender.example>").await;
    slow.ask("RCPT TO:<slow@in.shop.example>").await;
    slow.ask("DATA").await;
    let whole = format!("{MAIL}\r\n.\r\n");
    let (first, rest) = whole.split_at(40);
    slow.write(first.as_bytes()).await;

    let mut quick = Mx::hello(service.smtp()).await;
    quick
        .send("a@sender.example", "quick@in.shop.example", MAIL)
        .await;
    assert!(posted(&receiver).await.contains("quick@in.shop.example"));

    for byte in rest.as_bytes() {
        slow.write(&[*byte]).await;
    }
    assert!(slow.read().await.starts_with("250 "));
    assert!(posted(&receiver).await.contains("slow@in.shop.example"));
    service.stop().await;
}

/// RFC 3834 and RFC 3464: what programs send to us is answered by nobody here.
#[tokio::test(flavor = "multi_thread")]
async fn bounces_and_automatic_replies_are_posted_once_and_answered_by_nobody() {
    let (service, receiver) = parsing().await;
    let bounce = "From: MAILER-DAEMON@sender.example\r\nTo: box@in.shop.example\r\n\
        Auto-Submitted: auto-replied\r\nSubject: Undelivered\r\nMIME-Version: 1.0\r\n\
        Content-Type: multipart/report; report-type=delivery-status; boundary=b\r\n\r\n\
        --b\r\n\r\nIt did not arrive.\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\n\
        Reporting-MTA: dns; sender.example\r\n\r\nFinal-Recipient: rfc822; nobody@sender.example\r\n\
        Action: failed\r\nStatus: 5.1.1\r\n--b--";
    let vacation = "From: ann@sender.example\r\nTo: box@in.shop.example\r\n\
        Auto-Submitted: auto-replied (vacation)\r\nSubject: Auto: Hi\r\n\r\nI am away.";
    let mut smtp = Mx::hello(service.smtp()).await;
    for (from, mail) in [("", bounce), ("ann@sender.example", vacation)] {
        let taken = smtp.send(from, "box@in.shop.example", mail).await;
        assert!(taken.starts_with("250 "), "{taken}");
        let form = posted(&receiver).await;
        let envelope = field(&form, "envelope").expect("an envelope");
        assert!(
            envelope.contains(&format!(r#""from":"{from}""#)),
            "{envelope}"
        );
    }

    // Nor when the receiver refuses them: what cannot be posted is kept, and no bounce is written.
    receiver.always(Reply::status(404));
    for (i, from) in ["", "ann@sender.example"].into_iter().enumerate() {
        let mail = bounce.replace("Undelivered", &format!("Undelivered {i}"));
        smtp.send(from, "box@in.shop.example", &mail).await;
        posted(&receiver).await;
    }
    let lost = "/v3/user/webhooks/parse/undelivered";
    let kept = async || {
        let answer = service.call(Method::GET, lost, &json!({})).await;
        let listed: Value = answer.json().await.expect("JSON");
        let found = listed["result"].as_array().map_or(0, Vec::len);
        (found == 2).then_some(())
    };
    service.wait_for("both are kept", kept).await;
    assert_eq!(receiver.posts().len(), 4);
    assert_eq!(service.recorded().await, Some(0));
    service.stop().await;
}

/// Two of us, each other's relay: a refusal ends as an event, not as a mail that comes back.
#[tokio::test(flavor = "multi_thread")]
async fn two_services_do_not_bounce_at_each_other() {
    let (other, receiver) = parsing().await;
    let url = format!("smtp://{}?tls=none", other.smtp());
    let url = url.parse().expect("a relay's address");
    let service = Service::with(|settings| settings.relay = Some(url)).await;
    let mut request = crate::service::mail("nobody@elsewhere.example");
    request["personalizations"][0]["cc"] = json!([{"email": "box@in.shop.example"}]);
    let message = service.send(&request).await;

    let mut states = service.states(&message, 2).await;
    states.sort();
    assert_eq!(states, ["Bounced", "Delivered"]);
    assert!(posted(&receiver).await.contains("box@in.shop.example"));
    assert_eq!(receiver.posts().len(), 1);
    assert_eq!(other.recorded().await, Some(0));
    service.stop().await;
    other.stop().await;
}
