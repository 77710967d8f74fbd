//! Relays with and without TLS, trusted and not.

use posthaste_mailer::{Attempt, bounce_type};
use posthaste_model::{BounceType, EnforcedTls, TlsVersion};
use posthaste_smtpd::ServerTls;
use posthaste_testkit::Certificate;
use posthaste_testkit::relay::{Relay, Script};

use crate::{config, envelope, hand_over, mailer, outcome, response};

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
async fn a_mail_whose_account_enforces_tls_leaves_by_no_other_connection() {
    let ours = Certificate::of(&["127.0.0.1"]);
    let other = Certificate::of(&["mail.example.com"]);
    let starttls = ServerTls::StartTls(ours.server.clone());
    let foreign = ServerTls::StartTls(other.server.clone());
    let (blocked, accepted) = ("bounced 550 at data", "accepted 250");
    let off = EnforcedTls::default();
    let tls = EnforcedTls {
        require_tls: true,
        ..off
    };
    let valid = EnforcedTls {
        require_valid_cert: true,
        ..off
    };
    let latest = EnforcedTls {
        version: TlsVersion::V1_3,
        ..tls
    };
    for (server, url, trusted, wanted, want) in [
        (&ServerTls::Off, "smtp://HOST", None, off, accepted),
        (&ServerTls::Off, "smtp://HOST", None, tls, blocked),
        (&ServerTls::Off, "smtp://HOST", Some(&ours), valid, blocked),
        (&starttls, "smtp://HOST?tls=none", None, tls, blocked),
        (&starttls, "smtp://HOST", None, tls, accepted),
        (&starttls, "smtp://HOST", None, latest, accepted),
        // The authority is unknown.
        (&starttls, "smtp://HOST", None, valid, blocked),
        (&starttls, "smtp://HOST", Some(&ours), valid, accepted),
        // The name is another.
        (&foreign, "smtp://HOST", Some(&other), valid, blocked),
        (&foreign, "smtp://HOST", None, tls, accepted),
        (
            &starttls,
            "smtp://HOST?tls=required",
            Some(&ours),
            valid,
            accepted,
        ),
    ] {
        let relay = Relay::start(Script::new().encrypting(server.clone())).await;
        let mut config = config(&url.replace("HOST", &relay.addr().to_string()));
        config.authorities = trusted.map(|certificate| certificate.pem.clone().into_bytes());
        let mailer = mailer(config);
        let mut envelope = envelope("ann@example.com");
        envelope.enforced_tls = wanted;
        let attempt = mailer
            .hand_over(&envelope, b"Subject: hi\r\n\r\nhi\r\n")
            .await;
        let case = format!("{server:?} {url} {wanted:?}: {attempt:?}");
        assert_eq!(outcome(&attempt), want, "{case}");
        assert_eq!(
            relay.received().len(),
            usize::from(want == accepted),
            "{case}"
        );
        if let Attempt::Bounced {
            code,
            status,
            response,
            stage,
            ..
        } = &attempt
        {
            assert_eq!(response, "TLS required but not supported");
            // It suppresses no address.
            let kind = bounce_type(*code, *status, response, *stage);
            assert_eq!(kind, BounceType::Blocked, "{case}");
        }
        // The connection serves mail of others.
        assert_eq!(
            outcome(&hand_over(&mailer, "bob@example.com").await),
            accepted
        );
        assert_eq!(relay.connections(), 1, "{case}");
    }
}

#[tokio::test]
async fn tls_1_2_is_not_enough_for_an_account_that_wants_1_3() {
    let ours = Certificate::of(&["127.0.0.1"]);
    for (versions, want) in [
        (&[&rustls::version::TLS12][..], "bounced 550 at data"),
        (&[&rustls::version::TLS13], "accepted 250"),
    ] {
        let server = ServerTls::StartTls(ours.limited_to(versions));
        let relay = Relay::start(Script::new().encrypting(server)).await;
        let mut envelope = envelope("ann@example.com");
        envelope.enforced_tls = EnforcedTls {
            require_tls: true,
            require_valid_cert: false,
            version: TlsVersion::V1_3,
        };
        let mailer = mailer(config(&relay.url()));
        let attempt = mailer
            .hand_over(&envelope, b"Subject: hi\r\n\r\nhi\r\n")
            .await;
        assert_eq!(outcome(&attempt), want, "{attempt:?}");
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
