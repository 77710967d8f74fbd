//! Mails signed by dkimpy 1.1 (`tests/vectors`), with ends of bodies that canonicalizers get wrong: what is correctly
//! signed is valid, whatever the body ends with, and nothing else is. A name begins with the canonical form of both
//! header and body, or of each.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use posthaste_dns::{Resolver, Zone};
use posthaste_identity::{Came, check_received};
use posthaste_model::RecordKind;

fn vectors() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/vectors")
}

async fn is_valid(resolver: &Resolver, mail: &[u8]) -> Option<bool> {
    let came = Came {
        ip: None,
        hello: "mx.example.com",
        from: "ann@example.com",
        host: "mx.example.net",
    };
    let checked = check_received(resolver, came, mail).await;
    checked.dkim.first().map(|(_, holds)| *holds)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_signer_signed_is_valid_and_what_was_changed_since_is_not() {
    let record = fs::read_to_string(vectors().join("record.txt")).unwrap();
    let zone = Zone::default();
    zone.publish(
        RecordKind::Txt,
        "s1._domainkey.example.com",
        &[record.trim()],
    );
    let resolver = Resolver::Zone(Arc::new(zone));
    let mut seen = 0;
    for entry in fs::read_dir(vectors()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|end| end != "eml") {
            continue;
        }
        let mail = fs::read(&path).unwrap();
        assert_eq!(is_valid(&resolver, &mail).await, Some(true), "{path:?}");

        let longer = [&mail[..], b"x"].concat();
        assert_eq!(is_valid(&resolver, &longer).await, Some(false), "{path:?}");
        // Lines of blanks are part of a body in its simple form.
        let name = path.file_name().unwrap().to_string_lossy();
        let both = name.starts_with("simple-") && !name.starts_with("simple-relaxed-");
        let is_simple = both || name.starts_with("relaxed-simple-");
        let blank = [&mail[..], b" \r\n"].concat();
        assert_eq!(
            is_valid(&resolver, &blank).await,
            Some(!is_simple),
            "{path:?}"
        );
        seen += 1;
    }
    assert_eq!(seen, 24);
}
