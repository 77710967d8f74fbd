//! Relays with and without TLS, trusted and not.

use posthaste_mailer::Attempt;
use posthaste_smtpd::ServerTls;
use posthaste_testkit::Certificate;
use posthaste_testkit::relay::{Relay, Script};

use crate::{config, hand_over, mailer, outcome, response};

/// One mail; the outcome, and whether the relay got it encrypted.
async fn send(
    tls: &ServerTls,
    url: &str,
    trusted: Option<&Certificate>,
) -> (Attempt, Option<bool>) {
    let relay = Relay::start(Script::new().encrypting(tls.clone())).await;
    let url = url.replace("HOST", &relay.addr().to_string());
    let mut config = config(&url);
    config.authorities = trusted.map(|certificate| certificate.pem.clone().into_bytes());
    let attempt = hand_over(&mailer(config), "ann@example.com").await;
    let arrived = relay.received().first().map(|mail| mail.tls);
    (attempt, arrived)
}

#[tokio::test]
async fn a_mail_is_encrypted_as_the_url_says() {
    let ours = Certificate::of(&["127.0.0.1"]);
    let other = Certificate::of(&["mail.example.com"]);
    let starttls = ServerTls::StartTls(ours.server.clone());
    let wrapped = ServerTls::Wrapped(ours.server.clone());
    let foreign = ServerTls::StartTls(other.server.clone());
    let accepted = "accepted 250";
    let ours_fault = "deferred by a relay error";
    for (tls, url, trusted, want, arrived) in [
        (
            &starttls,
            "smtp://HOST?tls=required",
            Some(&ours),
            accepted,
            Some(true),
        ),
        (
            &starttls,
            "smtp://HOST?tls=required",
            None,
            ours_fault,
            None,
        ),
        (
            &starttls,
            "smtp://HOST?tls=opportunistic",
            None,
            accepted,
            Some(true),
        ),
        (
            &starttls,
            "smtp://HOST?tls=none",
            None,
            accepted,
            Some(false),
        ),
        (&starttls, "smtp://HOST", None, accepted, Some(true)),
        (&wrapped, "smtps://HOST", Some(&ours), accepted, Some(true)),
        (&wrapped, "smtps://HOST", None, ours_fault, None),
        // The name is wrong, though the authority is known.
        (
            &foreign,
            "smtp://HOST?tls=required",
            Some(&other),
            ours_fault,
            None,
        ),
        (
            &ServerTls::Off,
            "smtp://HOST?tls=required",
            Some(&ours),
            ours_fault,
            None,
        ),
        (
            &ServerTls::Off,
            "smtp://HOST?tls=opportunistic",
            None,
            accepted,
            Some(false),
        ),
        (
            &ServerTls::Off,
            "smtps://HOST",
            Some(&ours),
            ours_fault,
            None,
        ),
    ] {
        let (attempt, got) = send(tls, url, trusted).await;
        assert_eq!(
            (outcome(&attempt).as_str(), got),
            (want, arrived),
            "{tls:?} {url}: {attempt:?}"
        );
        if let Attempt::Accepted { tls, .. } = attempt {
            assert_eq!(Some(tls), arrived);
        }
    }
}

#[tokio::test]
async fn what_is_wrong_with_tls_is_said() {
    let ours = Certificate::of(&["127.0.0.1"]);
    let (attempt, _) = send(&ServerTls::Off, "smtp://HOST?tls=required", None).await;
    assert_eq!(response(&attempt), "the relay does not offer STARTTLS");
    let (attempt, _) = send(
        &ServerTls::StartTls(ours.server),
        "smtp://HOST?tls=required",
        None,
    )
    .await;
    assert!(
        response(&attempt).starts_with("TLS with the relay failed: "),
        "{attempt:?}"
    );
    let mut config = config("smtps://127.0.0.1:1");
    config.authorities =
        Some(b"-----BEGIN CERTIFICATE-----\n!!\n-----END CERTIFICATE-----\n".to_vec());
    let attempt = hand_over(&mailer(config), "ann@example.com").await;
    assert_eq!(outcome(&attempt), "deferred by a relay error");
}

#[tokio::test]
async fn a_login_travels_encrypted() {
    let ours = Certificate::of(&["127.0.0.1"]);
    let script = Script::new()
        .encrypting(ServerTls::StartTls(ours.server.clone()))
        .wanting_login("ann", "x");
    let relay = Relay::start(script).await;
    let mut config = config(&format!("smtp://ann:x@{}?tls=required", relay.addr()));
    config.authorities = Some(ours.pem.clone().into_bytes());
    assert_eq!(
        outcome(&hand_over(&mailer(config.clone()), "ann@example.com").await),
        "accepted 250"
    );
    assert_eq!(relay.received()[0].user.as_deref(), Some("ann"));
}
