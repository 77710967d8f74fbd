//! What the mailbox takes of a disk, at every write.

use std::path::Path;

use posthaste_mailbox::{Error, Mailbox, MailboxLimits, Sources, StoredEnvelope};

use crate::support::{Box, clock, mail};

const MIB: u64 = 1 << 20;

fn open(dir: Option<&Path>, bytes: u64) -> Box {
    let limits = MailboxLimits {
        mails: 10_000,
        bytes,
    };
    let mailbox = Mailbox::open_with(dir.map(Path::to_owned), limits, clock()).unwrap();
    let router = mailbox.clone().router(Sources::default());
    Box { mailbox, router }
}

async fn size(b: &Box) -> u64 {
    let info = b.get("/api/v1/info").await.json();
    info["DatabaseSize"].as_u64().unwrap()
}

fn on_disk(dir: &Path) -> u64 {
    let entries = std::fs::read_dir(dir).unwrap();
    let sizes = entries.map(|entry| entry.unwrap().metadata().unwrap().len());
    sizes.sum()
}

#[tokio::test]
async fn the_bound_holds_whatever_comes() {
    let dir = tempfile::tempdir().unwrap();
    for dir in [None, Some(dir.path())] {
        let b = open(dir, 4 * MIB);
        for n in 0_usize..300 {
            let subject = format!("m{n} {}", "é".repeat(n * 37 % 20_000));
            let to: Vec<_> = (0..n * 7 % 400)
                .map(|n| format!("user{n}@example.com"))
                .collect();
            let body = "x ".repeat(n * n * 31 % 90_000);
            let raw = mail("f@x.example", &to.join(", "), &subject, &body);
            b.deliver(&["a@x.example"], raw).await;
            assert!(size(&b).await <= 4 * MIB, "{n}: {}", size(&b).await);
            let newest = b.subjects("/api/v1/messages?limit=1").await;
            assert!(newest[0].starts_with(&format!("m{n}")), "{newest:?}");
        }
        let list = b.get("/api/v1/messages?limit=0").await.json();
        assert!(list["total"].as_u64().unwrap() > 3, "room is used");
    }
    // The log beside the file is emptied as it goes.
    assert!(on_disk(dir.path()) <= 28 * MIB, "{}", on_disk(dir.path()));
}

/// The index holds a subject several times, and a copy is kept for each recipient.
#[tokio::test]
async fn a_thousand_copies_of_one_request_stay_within_the_bound() {
    let b = open(None, 4 * MIB);
    let subject = "a long subject ".repeat(1_000);
    for n in 0..1_000 {
        let to = format!("user{n}@example.com");
        let raw = mail("f@x.example", &to, &subject, "hi");
        b.deliver(&[&to], raw).await;
        assert!(size(&b).await <= 4 * MIB, "{n}: {}", size(&b).await);
    }
    let info = b.get("/api/v1/info").await.json();
    let (kept, gone) = (
        info["Messages"].as_u64().unwrap(),
        info["RuntimeStats"]["MessagesDeleted"].as_u64().unwrap(),
    );
    assert_eq!(kept + gone, 1_000);
    assert!(kept >= 40, "{kept} of 60 KB each");
    let found = b.get("/api/v1/search?query=to:user999@").await.json();
    assert_eq!(found["messages_count"], 1);
}

#[tokio::test]
async fn a_mail_larger_than_the_bound_is_refused_and_drops_nothing() {
    let b = open(None, MIB);
    b.deliver(
        &["a@x.example"],
        mail("f@x.example", "a@x.example", "kept", "hi"),
    )
    .await;
    for body in [MIB, 40 * MIB] {
        let body = "x".repeat(body.try_into().unwrap());
        let raw = mail("f@x.example", "a@x.example", "huge", &body);
        let refused = b
            .mailbox
            .deliver(StoredEnvelope::default(), raw.into())
            .await;
        assert!(matches!(refused, Err(Error::TooLarge { most: MIB, .. })));
    }
    assert_eq!(b.subjects("/api/v1/messages").await, ["kept"]);
    let half = "x".repeat(MIB as usize / 2);
    for subject in ["first", "second"] {
        let raw = mail("f@x.example", "a@x.example", subject, &half);
        b.deliver(&["a@x.example"], raw).await;
    }
    assert_eq!(b.subjects("/api/v1/messages").await, ["second"]);
}

#[tokio::test]
async fn a_mailbox_that_was_larger_gives_the_room_back_when_it_opens() {
    let dir = tempfile::tempdir().unwrap();
    {
        let b = open(Some(dir.path()), 64 * MIB);
        let body = "x".repeat(300_000);
        for n in 0..20 {
            let raw = mail("f@x.example", "a@x.example", &format!("m{n}"), &body);
            b.deliver(&["a@x.example"], raw).await;
        }
        assert!(size(&b).await > 5 * MIB);
    }
    let b = open(Some(dir.path()), MIB);
    assert!(size(&b).await <= MIB, "{}", size(&b).await);
    assert_eq!(b.subjects("/api/v1/messages").await[0], "m19");
    assert!(on_disk(dir.path()) <= 2 * MIB, "{}", on_disk(dir.path()));
}
