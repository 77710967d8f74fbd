//! What becomes of each of SES's answers, and of none.

use std::sync::{Arc, Mutex};

use posthaste_mailer::{Attempt, Cause, Envelope, RefusalStage};
use posthaste_testkit::aws_at;
use tokio::io::AsyncReadExt as _;

use crate::{client, envelope, ses};

#[tokio::test]
async fn what_ses_answers_becomes_an_attempt_after_one_call() {
    let ours = "deferred by a relay error";
    let sender = "deferred for its sender";
    for (status, kind, body, want) in [
        (
            429,
            "TooManyRequestsException",
            r#"{"message":"Maximum sending rate exceeded."}"#,
            "throttled by Rate",
        ),
        (429, "TooManyRequestsException", "{}", "throttled by Rate"),
        (
            429,
            "TooManyRequestsException",
            r#"{"message":"Daily message quota exceeded"}"#,
            "throttled by Day",
        ),
        (
            400,
            "LimitExceededException",
            r#"{"message":"Daily message quota exceeded."}"#,
            "throttled by Day",
        ),
        (400, "AccountSuspendedException", "{}", ours),
        (400, "SendingPausedException", "{}", ours),
        (400, "MailFromDomainNotVerifiedException", "{}", sender),
        (
            404,
            "NotFoundException",
            r#"{"message":"Configuration set <posthaste> does not exist."}"#,
            sender,
        ),
        (
            400,
            "MessageRejected",
            r#"{"message":"Email address is not verified. The following identities failed the check in region EU-WEST-1: a@b.c"}"#,
            sender,
        ),
        (
            400,
            "MessageRejected",
            r#"{"message":"Message contains a virus"}"#,
            "bounced 554 at data",
        ),
        (
            400,
            "BadRequestException",
            r#"{"message":"Missing final '@domain'"}"#,
            "bounced 554 at data",
        ),
        (
            400,
            "BadRequestException",
            r#"{"message":"Local address contains control or whitespace"}"#,
            "bounced 554 at data",
        ),
        (
            400,
            "BadRequestException",
            r#"{"message":"Illegal address: Ann@example.com"}"#,
            "bounced 553 at rcpt",
        ),
        (
            400,
            "BadRequestException",
            r#"{"message":"Illegal address: bob@example.com"}"#,
            "bounced 554 at data",
        ),
        (
            400,
            "BadRequestException",
            r#"{"message":"Duplicate header 'From'."}"#,
            "bounced 554 at data",
        ),
        (
            400,
            "BadRequestException",
            r#"{"message":"The tag name is not valid"}"#,
            sender,
        ),
        (
            403,
            "AccessDeniedException",
            r#"{"message":"not authorized to perform ses:SendRawEmail"}"#,
            ours,
        ),
        (403, "ExpiredTokenException", "{}", ours),
        (500, "InternalFailure", "{}", ours),
        (503, "ServiceUnavailable", "", ours),
        (200, "", "no json", "unanswered"),
    ] {
        let (mailer, calls) = ses(status, kind, body).await;
        let attempt = mailer
            .hand_over(&envelope("ann@example.com"), b"hi\r\n")
            .await;
        let got = match &attempt {
            Attempt::Deferred {
                cause: Cause::Relay,
                ..
            } => ours.to_owned(),
            Attempt::Deferred {
                cause: Cause::Sender,
                ..
            } => sender.to_owned(),
            Attempt::Throttled { limit, .. } => format!("throttled by {limit:?}"),
            Attempt::Unanswered { .. } => "unanswered".to_owned(),
            Attempt::Bounced {
                code,
                stage: RefusalStage::Rcpt,
                ..
            } => format!("bounced {code} at rcpt"),
            Attempt::Bounced {
                code,
                stage: RefusalStage::Data,
                ..
            } => format!("bounced {code} at data"),
            other @ (Attempt::Accepted { .. }
            | Attempt::Handed { .. }
            | Attempt::Deferred { .. }
            | Attempt::Unsupported) => {
                format!("{other:?}")
            }
        };
        assert_eq!(got, want, "{status} {kind} {body}: {attempt:?}");
        assert_eq!(calls.lock().unwrap().len(), 1, "never retried: {kind}");
    }
}

#[tokio::test]
async fn a_bounce_reads_like_a_reply() {
    let (mailer, _) = ses(
        400,
        "MessageRejected",
        r#"{"message":"Message contains a virus"}"#,
    )
    .await;
    let Attempt::Bounced {
        response, status, ..
    } = mailer
        .hand_over(&envelope("ann@example.com"), b"hi\r\n")
        .await
    else {
        panic!("not a bounce");
    };
    assert_eq!(
        response,
        "554 5.6.0 MessageRejected: Message contains a virus"
    );
    assert_eq!(status.unwrap().to_string(), "5.6.0");
}

#[tokio::test]
async fn no_answer_is_our_trouble_and_a_foreign_name_is_not_for_ses() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let mailer = client(&aws_at(url));
    let attempt = mailer
        .hand_over(&envelope("ann@example.com"), b"hi\r\n")
        .await;
    let Attempt::Deferred {
        response, cause, ..
    } = attempt
    else {
        panic!("{attempt:?}")
    };
    assert_eq!(cause, Cause::Relay);
    assert!(response.starts_with("no answer from SES: "), "{response}");
    let foreign_sender = Envelope {
        foreign_sender: true,
        ..envelope("ann@example.com")
    };
    for envelope in [envelope("pep\u{e9}@example.com"), foreign_sender] {
        assert_eq!(
            mailer.hand_over(&envelope, b"hi\r\n").await,
            Attempt::Unsupported
        );
    }
}

/// The mail may have left or not: the worker's next attempt decides, this one asks once.
#[tokio::test]
async fn a_call_whose_answer_is_lost_is_not_repeated_here() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mailer = client(&aws_at(format!(
        "http://{}",
        listener.local_addr().unwrap()
    )));
    let calls = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&calls);
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            *counted.lock().unwrap() += 1;
            let mut request = vec![0; 64 * 1024];
            let read = stream.read(&mut request).await.unwrap();
            assert!(request[..read].starts_with(b"POST /v2/email/outbound-emails "));
        }
    });
    let attempt = mailer
        .hand_over(&envelope("ann@example.com"), b"hi\r\n")
        .await;
    assert!(matches!(attempt, Attempt::Unanswered { .. }), "{attempt:?}");
    assert_eq!(*calls.lock().unwrap(), 1);
}
