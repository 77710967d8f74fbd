//! The SES client against a server on loopback that records the calls.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::too_many_lines, reason = "tables of cases")]

mod answers;

use std::sync::{Arc, Mutex};

use aws_config::SdkConfig;
use axum::Router;
use axum::http::StatusCode;
use axum::routing::post;
use posthaste_mailer::{
    Attempt, Envelope, Mailer, Ses, SesSets, TAG_ACCOUNT, TAG_MESSAGE, TAG_RECIPIENT, Tags,
};
use posthaste_model::{AccountId, EmailAddress, EnforcedTls, MessageId, TlsVersion};
use posthaste_testkit::{aws_at, aws_stand_in};
use serde_json::{Value, json};

type Calls = Arc<Mutex<Vec<Value>>>;

/// Answers every call the same; the calls, and the client.
async fn ses(status: u16, kind: &'static str, body: &'static str) -> (Mailer, Calls) {
    let calls = Calls::default();
    let log = Arc::clone(&calls);
    let answer = move |request: String| {
        let log = Arc::clone(&log);
        async move {
            log.lock()
                .unwrap()
                .push(serde_json::from_str(&request).unwrap());
            (
                StatusCode::from_u16(status).unwrap(),
                [("x-amzn-errortype", kind)],
                body,
            )
        }
    };
    let app = Router::new().route("/v2/email/outbound-emails", post(answer));
    let aws = aws_stand_in(app).await;
    (client(&aws), calls)
}

fn client(aws: &SdkConfig) -> Mailer {
    let pools = "News of Ann=ann-news".parse().unwrap();
    let apart = AccountId::from_bytes([3; 10]);
    let accounts = format!("{apart}=set-of-its-own").parse().unwrap();
    let sets = SesSets {
        default: Some("posthaste".to_owned()),
        pools,
        accounts,
        tls: Some("encrypted".to_owned()),
    };
    Mailer::Ses(Ses::with_sets(aws, sets))
}

fn envelope(to: &str) -> Envelope {
    Envelope {
        from: "b-1@bounce.test".to_owned(),
        to: EmailAddress::parse(to).unwrap(),
        foreign_sender: false,
        pool: None,
        enforced_tls: EnforcedTls::default(),
        tags: Tags {
            account: AccountId::from_bytes([1; 10]),
            message: MessageId::from_bytes([2; 16]),
            recipient: 7,
        },
    }
}

#[tokio::test]
async fn a_mail_is_one_raw_call_for_one_recipient_with_its_tags() {
    let (mailer, calls) = ses(200, "", r#"{"MessageId":"0100-abc"}"#).await;
    let envelope = envelope("ann@m\u{fc}ller.de");
    let attempt = mailer
        .hand_over(&envelope, b"Subject: hi\r\n\r\nhi\r\n")
        .await;
    let want = Attempt::Handed {
        response: "250 Ok 0100-abc".to_owned(),
    };
    assert_eq!(attempt, want);
    let calls = calls.lock().unwrap();
    let want = json!({
        "ConfigurationSetName": "posthaste",
        "Content": { "Raw": { "Data": "U3ViamVjdDogaGkNCg0KaGkNCg==" } },
        "Destination": { "ToAddresses": ["ann@xn--mller-kva.de"] },
        "EmailTags": [
            { "Name": TAG_ACCOUNT, "Value": envelope.tags.account.to_string() },
            { "Name": TAG_MESSAGE, "Value": envelope.tags.message.to_string() },
            { "Name": TAG_RECIPIENT, "Value": "7" },
        ],
    });
    assert_eq!(*calls, [want]);
}

/// SES writes a Message-ID and a Date of its own in place of those it is given, so feedback finds the
/// copy by the tags alone. By SMTP the mail arrives with both as given (`functions/delivery`).
#[tokio::test]
async fn the_message_id_and_the_date_are_given_to_ses_and_the_tags_name_the_copy() {
    let (mailer, calls) = ses(200, "", r#"{"MessageId":"0100-abc"}"#).await;
    let mail = b"Message-ID: <order.7@shop.example>\r\n\
        Date: Sat, 28 Nov 2026 00:01:22 +0100\r\n\r\nhi\r\n";
    let _ = mailer.hand_over(&envelope("ann@example.com"), mail).await;
    let calls = calls.lock().unwrap();
    let given = calls[0].pointer("/Content/Raw/Data").unwrap();
    let want = "TWVzc2FnZS1JRDogPG9yZGVyLjdAc2hvcC5leGFtcGxlPg0KRGF0ZTogU2F0LCAyOCBOb3YgMjAyNiAwMDowMToyMiArMDEwMA0KDQpoaQ0K";
    assert_eq!(given, want);
    let tags = calls[0]["EmailTags"].as_array().unwrap();
    assert_eq!(tags.len(), 3);
}

#[tokio::test]
async fn mail_of_an_account_with_a_set_of_its_own_leaves_through_it_unless_it_names_a_pool() {
    let (mailer, calls) = ses(200, "", r#"{"MessageId":"0100-abc"}"#).await;
    for pool in [None, Some("other"), Some("News of Ann")] {
        let mut envelope = envelope("ann@example.com");
        envelope.pool = pool.map(str::to_owned);
        envelope.tags.account = AccountId::from_bytes([3; 10]);
        let _ = mailer.hand_over(&envelope, b"hi\r\n").await;
    }
    let calls = calls.lock().unwrap();
    let sets: Vec<_> = calls.iter().map(|c| &c["ConfigurationSetName"]).collect();
    assert_eq!(sets, ["set-of-its-own", "set-of-its-own", "ann-news"]);
}

#[tokio::test]
async fn a_pool_that_is_configured_has_its_own_set_and_any_other_has_none() {
    let (mailer, calls) = ses(200, "", r#"{"MessageId":"0100-abc"}"#).await;
    for pool in [Some("News of Ann"), Some("news of ann"), None] {
        let envelope = Envelope {
            pool: pool.map(str::to_owned),
            ..envelope("ann@example.com")
        };
        let attempt = mailer.hand_over(&envelope, b"hi\r\n").await;
        assert!(matches!(attempt, Attempt::Handed { .. }), "{attempt:?}");
    }
    let calls = calls.lock().unwrap();
    let sets: Vec<_> = calls.iter().map(|c| &c["ConfigurationSetName"]).collect();
    assert_eq!(sets, ["ann-news", "posthaste", "posthaste"]);
}

/// SES requires TLS by the policy of a set; it checks no certificate and permits TLS 1.2.
#[tokio::test]
async fn mail_of_an_account_that_enforces_tls_leaves_through_a_set_that_requires_it() {
    let (mailer, calls) = ses(200, "", r#"{"MessageId":"0100-abc"}"#).await;
    let enforcing = |require_tls, require_valid_cert, version| Envelope {
        pool: Some("News of Ann".to_owned()),
        enforced_tls: EnforcedTls {
            require_tls,
            require_valid_cert,
            version,
        },
        ..envelope("ann@example.com")
    };
    for (require_tls, require_valid_cert, version, want) in [
        (false, false, TlsVersion::V1_3, Some("ann-news")),
        (true, false, TlsVersion::V1_1, Some("encrypted")),
        (true, false, TlsVersion::V1_2, Some("encrypted")),
        (true, false, TlsVersion::V1_3, None),
        (true, true, TlsVersion::V1_1, None),
        (false, true, TlsVersion::V1_1, None),
    ] {
        let envelope = enforcing(require_tls, require_valid_cert, version);
        let attempt = mailer.hand_over(&envelope, b"hi\r\n").await;
        let call = calls.lock().unwrap().pop();
        let set = call
            .as_ref()
            .map(|call| call["ConfigurationSetName"].as_str().unwrap());
        assert_eq!(set, want, "{:?}", envelope.enforced_tls);
        if want.is_none() {
            assert!(
                matches!(&attempt, Attempt::Bounced { response, .. } if response == Attempt::NOT_ENCRYPTED),
                "{attempt:?}"
            );
        }
    }
}

#[tokio::test]
async fn without_such_a_set_mail_that_requires_tls_is_not_handed_to_ses() {
    // A call would be deferred: nothing listens there.
    let mailer = Mailer::Ses(Ses::new(&aws_at("http://127.0.0.1:1"), None));
    let mut envelope = envelope("ann@example.com");
    envelope.enforced_tls.require_tls = true;
    let attempt = mailer.hand_over(&envelope, b"hi\r\n").await;
    assert!(matches!(attempt, Attempt::Bounced { .. }), "{attempt:?}");
}

/// SES allows `A-Za-z0-9_-` in tags, 256 characters.
#[test]
fn tags_are_what_ses_allows() {
    let tags = envelope("ann@example.com").tags;
    let values = [
        tags.account.to_string(),
        tags.message.to_string(),
        tags.recipient.to_string(),
    ];
    for text in values
        .iter()
        .map(String::as_str)
        .chain([TAG_ACCOUNT, TAG_MESSAGE, TAG_RECIPIENT])
    {
        assert!(
            text.len() <= 256
                && text
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b)),
            "{text}"
        );
    }
}
