//! Any bytes as a mail in the mailbox: its parts are a tree, it comes back as it came, and every call
//! and page about it answers.

#![no_main]

use std::sync::LazyLock;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode};
use libfuzzer_sys::fuzz_target;
use posthaste_mailbox::{Mailbox, Sources, StoredEnvelope};
use posthaste_mime::read::ParsedMail;
use posthaste_model::{Clock, Millis};
use tokio::runtime::{Builder, Runtime};
use tower::ServiceExt as _;

struct Host {
    runtime: Runtime,
    mailbox: Mailbox,
    router: Router,
}

static HOST: LazyLock<Host> = LazyLock::new(|| {
    let clock = Clock::new(|| Millis(1_795_780_800_000));
    let mailbox = Mailbox::open(None, 1, clock).expect("a mailbox in memory");
    Host {
        runtime: Builder::new_current_thread().build().expect("a runtime"),
        router: mailbox.clone().router(Sources::default()),
        mailbox,
    }
});

fuzz_target!(|raw: &[u8]| {
    let mail = ParsedMail::read(raw);
    for (at, part) in mail.parts().iter().enumerate() {
        assert_eq!(part.parent.is_none(), at == 0);
        assert!(part.parent.is_none_or(|parent| parent < at));
        assert!(part.number > 0 && part.bytes().len() <= raw.len());
        assert!(part.body_kind.is_none() || !part.is_multipart);
    }
    let host = &*HOST;
    host.runtime.block_on(async {
        let kept = host
            .mailbox
            .deliver(StoredEnvelope::default(), raw.to_vec().into());
        let id = kept.await.expect("every mail is kept");
        for path in [
            format!("/api/v1/message/{id}"),
            format!("/api/v1/message/{id}/headers"),
            format!("/api/v1/message/{id}/part/0"),
            format!("/api/v1/message/{id}/part/1.1"),
            format!("/view/{id}.html?embed=1"),
            format!("/view/{id}.txt"),
            format!("/message/{id}"),
            format!("/message/{id}?view=headers"),
            format!("/message/{id}?view=files"),
        ] {
            let (status, _) = get(&host.router, &path).await;
            assert!(matches!(status, StatusCode::OK | StatusCode::NOT_FOUND));
        }
        let (_, back) = get(&host.router, &format!("/api/v1/message/{id}/raw")).await;
        assert_eq!(back, raw);
    });
});

async fn get(router: &Router, path: &str) -> (StatusCode, Vec<u8>) {
    let request = Request::get(path).body(Body::empty()).expect("a path");
    let answer = router.clone().oneshot(request).await.expect("an answer");
    let status = answer.status();
    let body = to_bytes(answer.into_body(), usize::MAX).await;
    (status, body.expect("a body").to_vec())
}
