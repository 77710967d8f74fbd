//! Signed mails before a verifier. `tests/dkim/verify.py` asks another one.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Instant;

use mail_auth::common::parse::TxtRecordParser as _;
use mail_auth::common::verify::DomainKey;
use mail_auth::{
    AuthenticatedMessage, DkimResult, MessageAuthenticator, Parameters, ResolverCache, Txt,
};
use posthaste_identity::{KeyPair, RecordPlan, Signer, Target, records};

const MAIL: &str = "Message-ID: <1@example.com>\r\nDate: Fri, 27 Nov 2026 23:01:22 +0000\r\n\
    From: =?utf-8?q?M=C3=BCller?= <ann@example.com>\r\nTo: bob@example.org,\r\n eve@example.org\r\n\
    Subject: Hello\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n\
    Hello  Bob,\r\n.\r\ntrailing \t\r\n\r\n\r\n";

/// The only answers that the verifier gets.
struct Published(HashMap<Box<str>, Txt>);

impl ResolverCache<Box<str>, Txt> for Published {
    fn get<Q>(&self, name: &Q) -> Option<Txt>
    where
        Box<str>: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.0.get(name).cloned()
    }

    fn remove<Q>(&self, _: &Q) -> Option<Txt>
    where
        Box<str>: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        None
    }

    fn insert(&self, _: Box<str>, _: Txt, _: Instant) {}
}

/// The key as the owner has to publish it.
fn published(public: &str) -> Published {
    let target = Target {
        bounce_domain: "b.example".into(),
        mail_host: "m.example".into(),
        spf: "include:s.example".into(),
    };
    let plan = RecordPlan {
        domain: "example.com",
        subdomain: "em",
        automatic: true,
        keys: &[("s1", public)],
    };
    let record = &records(&plan, &target)[1];
    let key = DomainKey::parse(record.data.as_bytes()).unwrap();
    let name = format!("{}.", record.host).into_boxed_str();
    Published(HashMap::from([(name, Txt::DomainKey(Arc::new(key)))]))
}

async fn verify(mail: &[u8], published: &Published) -> DkimResult {
    let authenticator = MessageAuthenticator::new_cloudflare().unwrap();
    let mail = AuthenticatedMessage::parse(mail).unwrap();
    let params = Parameters::new(&mail).with_txt_cache(published);
    let output = authenticator.verify_dkim(params).await;
    assert_eq!(output.len(), 1);
    output[0].result().clone()
}

#[tokio::test]
async fn a_signed_mail_verifies_by_the_record_that_the_owner_publishes() {
    let pair = KeyPair::generate().unwrap();
    let signer = Signer::new("example.com", "s1", &pair.private).unwrap();

    let signed = signer.sign(MAIL.as_bytes()).unwrap();

    assert!(signed.ends_with(MAIL.as_bytes()));
    assert!(signed.starts_with(b"DKIM-Signature: "));
    let head = String::from_utf8(signed[..signed.len() - MAIL.len()].to_vec()).unwrap();
    assert!(head.lines().all(|line| line.len() <= 78), "{head}");
    for part in [
        "a=rsa-sha256",
        "d=example.com",
        "s=s1",
        "c=relaxed/relaxed",
        "From",
        "Subject",
    ] {
        assert!(head.contains(part), "{part} in {head}");
    }
    let published = published(&pair.public);
    assert_eq!(verify(&signed, &published).await, DkimResult::Pass);
    let text = String::from_utf8(signed).unwrap();
    for (from, to) in [
        ("Hello  Bob", "Hello Rob"),
        ("ann@", "eve@"),
        ("Subject: H", "Subject: h"),
    ] {
        let spoilt = text.replacen(from, to, 1);
        assert_ne!(
            verify(spoilt.as_bytes(), &published).await,
            DkimResult::Pass,
            "{to}"
        );
    }
}

#[tokio::test]
async fn another_key_does_not_verify_it() {
    let (pair, other) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
    assert_ne!(pair.public, other.public);
    let signer = Signer::new("example.com", "s1", &pair.private).unwrap();
    let signed = signer.sign(MAIL.as_bytes()).unwrap();
    assert_ne!(
        verify(&signed, &published(&other.public)).await,
        DkimResult::Pass
    );
}

#[test]
fn a_key_that_is_none_is_refused_and_never_printed() {
    assert!(Signer::new("example.com", "s1", b"not a key").is_err());
    let pair = KeyPair::generate().unwrap();
    assert_eq!(format!("{pair:?}"), format!("KeyPair({})", pair.public));
    let signer = Signer::new("example.com", "s1", &pair.private).unwrap();
    assert_eq!(format!("{signer:?}"), "Signer(example.com)");
}
