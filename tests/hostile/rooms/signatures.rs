//! SPF and DKIM of a received mail.

use posthaste_dns::{Resolver, Zone};
use posthaste_identity::{Came, check_received};
use posthaste_model::RecordKind;

use crate::guard::survive;
use crate::shapes::{MAIL, Shape, fill, run, structures, text};

/// Signatures that name many fields, and many signatures.
fn signed() -> Vec<Shape> {
    const SIGNATURE: &str = "DKIM-Signature: v=1; a=rsa-sha256; d=b.example; s=s; bh=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=; b=AAAA; h=";
    vec![
        run(
            "a signature of names",
            SIGNATURE,
            "a:",
            "from\r\nFrom: a@b.example\r\n\r\n",
        ),
        run(
            "fields that are signed",
            "DKIM-Signature: v=1; a=rsa-sha256; d=b.example; s=s; bh=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=; b=AAAA; h=a:b:c:from\r\n",
            "a: b\r\n",
            "From: a@b.example\r\n\r\n",
        ),
        run(
            "signatures",
            "From: a@b.example\r\n",
            "DKIM-Signature: v=1; a=rsa-sha256; d=b.example; s=s; h=from; bh=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=; b=AAAA\r\n",
            "\r\n",
        ),
        run(
            "a signature of tags",
            "DKIM-Signature: v=1;",
            "h=from;",
            "\r\nFrom: a@b.example\r\n\r\n",
        ),
        run(
            "authors of words that do not end",
            "From: ",
            "=?aa?Q?",
            "\r\n\r\n",
        ),
    ]
}

async fn check(raw: &[u8], from: &str, hello: &str) {
    let zone = Zone::default();
    zone.publish(
        RecordKind::Txt,
        "b.example",
        &["v=spf1 include:b.example -all"],
    );
    zone.publish(
        RecordKind::Txt,
        "s._domainkey.b.example",
        &["v=DKIM1; k=rsa; p=AAAA"],
    );
    let came = Came {
        ip: Some([192, 0, 2, 1].into()),
        hello,
        from,
        host: "mx.example.com",
    };
    let resolver = Resolver::Zone(std::sync::Arc::new(zone));
    let _ = check_received(&resolver, came, raw).await;
}

fn waiting(work: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(Box::pin(work));
}

#[test]
fn any_mail_is_checked() {
    for (name, make) in signed().into_iter().chain(structures()) {
        survive(name, move || {
            // The largest mail, and the largest header that is looked at.
            for size in [MAIL, 250 * 1024] {
                waiting(check(make(size).as_bytes(), "a@b.example", "b.example"));
            }
        });
    }
}

#[test]
fn any_sender_is_checked() {
    for (name, make) in text() {
        survive(name, move || {
            let hello = make(255);
            let from = format!("{}@b.example", make(1_000));
            waiting(check(fill("x\r\n", 1_000).as_bytes(), &from, &hello));
            waiting(check(b"", "", &hello));
        });
    }
}
