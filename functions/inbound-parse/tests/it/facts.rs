//! What a POST says of a mail.

use posthaste_identity::{KeyPair, Signer};
use posthaste_model::RecordKind;

use crate::{MAIL, TestApp, field};

#[tokio::test]
async fn each_recipient_of_a_configured_hostname_gets_one_post_with_its_own_envelope() {
    let service = TestApp::new().await;
    let to = [
        "box@in.shop.example",
        "anything+at-all@IN.shop.example",
        "a@elsewhere.example",
    ];
    assert_eq!(service.arrive(&to, MAIL).await, 2);
    assert_eq!(service.work(service.jobs()).await, 0);

    let mut envelopes = Vec::new();
    for _ in 0..2 {
        let form = service.posted().await;
        assert_eq!(field(&form, "text"), Some("Hello\r\n"));
        assert_eq!(field(&form, "from"), Some("Ann <ann@sender.example>"));
        assert_eq!(field(&form, "sender_ip"), Some("192.0.2.7"));
        assert_eq!(field(&form, "spam_score"), None);
        envelopes.push(field(&form, "envelope").unwrap().to_owned());
    }
    envelopes.sort();
    assert_eq!(
        envelopes,
        [
            r#"{"from":"ann@sender.example","to":["anything+at-all@IN.shop.example"]}"#,
            r#"{"from":"ann@sender.example","to":["box@in.shop.example"]}"#,
        ]
    );
    assert_eq!(service.receiver.posts().len(), 2);
}

#[tokio::test]
async fn spf_is_what_the_zone_of_the_return_path_says() {
    for (record, want) in [
        (Some("v=spf1 ip4:192.0.2.0/24 -all"), "pass"),
        (Some("v=spf1 -all"), "fail"),
        (Some("v=spf1 ~all"), "softfail"),
        (Some("v=spf1 ?all"), "neutral"),
        (None, "none"),
    ] {
        let service = TestApp::new().await;
        if let Some(record) = record {
            service
                .zone
                .publish(RecordKind::Txt, "sender.example", &[record]);
        }
        service.arrive(&["box@in.shop.example"], MAIL).await;
        assert_eq!(service.work(service.jobs()).await, 0);
        let form = service.posted().await;
        assert_eq!(field(&form, "SPF"), Some(want), "{record:?}");
        assert_eq!(field(&form, "dkim"), Some("none"));
    }
}

#[tokio::test]
async fn a_signature_holds_by_the_key_that_is_published() {
    const HOLDS: &str = "{@sender.example : pass}";
    const FAILS: &str = "{@sender.example : fail}";
    let (pair, other) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
    let signer = Signer::new("sender.example", "s1", &pair.private).unwrap();
    let signed = signer.sign(MAIL).unwrap();
    let text = String::from_utf8(signed.clone()).unwrap();
    let changed = text.replace("\r\nHello", "\r\nHallo").into_bytes();
    assert_ne!(changed, signed);
    let record = |pair: &KeyPair| format!("v=DKIM1; k=rsa; p={}", pair.public);
    for (published, mail, want) in [
        (Some(record(&pair)), &signed, HOLDS),
        (Some(record(&pair)), &changed, FAILS),
        (Some(record(&other)), &signed, FAILS),
        (None, &signed, FAILS),
    ] {
        let service = TestApp::new().await;
        if let Some(record) = &published {
            let host = "s1._domainkey.sender.example";
            service.zone.publish(RecordKind::Txt, host, &[record]);
        }
        service.arrive(&["box@in.shop.example"], mail).await;
        assert_eq!(service.work(service.jobs()).await, 0);
        let form = service.posted().await;
        assert_eq!(field(&form, "dkim"), Some(want), "{published:?}");
    }
}

#[tokio::test]
async fn a_dns_that_fails_holds_no_mail_back() {
    let service = TestApp::new().await;
    service.zone.fail(RecordKind::Txt, "sender.example");
    service.arrive(&["box@in.shop.example"], MAIL).await;
    assert_eq!(service.work(service.jobs()).await, 0);
    // Nothing was found out about it: the receiver knows no other word for that.
    assert_eq!(field(&service.posted().await, "SPF"), Some("none"));
}

#[tokio::test]
async fn a_record_that_leads_nowhere_says_nothing() {
    let service = TestApp::new().await;
    // RFC 7208, section 5.2: an included domain without a record is an error of the owner's.
    let record = "v=spf1 include:absent.example -all";
    service
        .zone
        .publish(RecordKind::Txt, "sender.example", &[record]);
    service.arrive(&["box@in.shop.example"], MAIL).await;
    assert_eq!(service.work(service.jobs()).await, 0);
    assert_eq!(field(&service.posted().await, "SPF"), Some("none"));
}

#[tokio::test]
async fn a_signature_that_could_not_be_checked_has_not_failed() {
    let pair = KeyPair::generate().unwrap();
    let signer = Signer::new("sender.example", "s1", &pair.private).unwrap();
    let signed = signer.sign(MAIL).unwrap();
    let host = "s1._domainkey.sender.example";

    let service = TestApp::new().await;
    service.zone.fail(RecordKind::Txt, host);
    service.arrive(&["box@in.shop.example"], &signed).await;
    assert_eq!(service.work(service.jobs()).await, 0);
    assert_eq!(field(&service.posted().await, "dkim"), Some("none"));

    // Nor has one for which no DNS is asked.
    let mut service = TestApp::new().await;
    service.app.resolver = None;
    service.arrive(&["box@in.shop.example"], &signed).await;
    assert_eq!(service.work(service.jobs()).await, 0);
    let form = service.posted().await;
    assert_eq!(field(&form, "dkim"), Some("none"));
    assert_eq!(field(&form, "SPF"), Some("none"));
}

#[tokio::test]
async fn a_raw_setting_posts_the_bytes_and_a_spam_check_without_a_filter_says_so() {
    let service = TestApp::new().await;
    service.setting("raw.shop.example", true, true).await;
    service.arrive(&["box@raw.shop.example"], MAIL).await;
    assert_eq!(service.work(service.jobs()).await, 0);
    let form = service.posted().await;
    assert_eq!(field(&form, "email").unwrap().as_bytes(), MAIL);
    assert_eq!(field(&form, "text"), None);
    assert_eq!(field(&form, "spam_score"), None);
    assert!(
        field(&form, "spam_report")
            .unwrap()
            .contains("no spam filter")
    );
}

#[tokio::test]
async fn headers_begin_with_the_received_field_of_this_host_and_have_one_field_a_line() {
    let service = TestApp::new().await;
    let mail = b"References: <1@a>\r\n <2@a>\r\nSubject: Hi\r\n\r\nHello\r\n";
    service.arrive(&["box@in.shop.example"], mail).await;
    assert_eq!(service.work(service.jobs()).await, 0);
    let form = service.posted().await;
    let (received, rest) = field(&form, "headers").unwrap().split_once('\n').unwrap();
    assert_eq!(rest, "References: <1@a> <2@a>\nSubject: Hi\n");
    let begin = "Received: from mail.sender.example (unknown [192.0.2.7]) by ";
    let rest = received.strip_prefix(begin).unwrap();
    assert!(rest.contains(" with ESMTP id "), "{received}");
    let date = service.hand.now().rfc5322();
    let end = format!(" for <box@in.shop.example>; {date}");
    assert!(rest.ends_with(&end), "{received}");
}
