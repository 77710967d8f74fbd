//! Which mails are stored, for how long, and how a damaged file is treated.

use std::path::Path;

use posthaste_mailbox::{Error, Mailbox, Sources, StoredEnvelope};

use crate::support::{Box, clock, mail};

fn open(dir: &Path, limit: usize) -> Result<Box, Error> {
    let mailbox = Mailbox::open(Some(dir.to_owned()), limit, clock())?;
    let router = mailbox.clone().router(Sources::default());
    Ok(Box { mailbox, router })
}

async fn fill(b: &Box, from: usize, to: usize) {
    for n in from..to {
        let raw = mail("f@x.example", "a@x.example", &format!("m{n}"), "hi");
        b.deliver(&["a@x.example"], raw).await;
    }
}

#[tokio::test]
async fn mails_survive_a_restart_with_what_was_read() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().join("new/folder");
    {
        let b = open(&home, 10).unwrap();
        fill(&b, 0, 3).await;
        b.get("/api/v1/message/latest").await;
    }
    let b = open(&home, 10).unwrap();
    assert_eq!(b.subjects("/api/v1/messages").await, ["m2", "m1", "m0"]);
    assert_eq!(
        b.subjects("/api/v1/search?query=is:unread").await,
        ["m1", "m0"]
    );
    assert_eq!(b.get("/api/v1/messages").await.json()["unread"], 2);
    fill(&b, 3, 4).await;
    assert_eq!(b.subjects("/api/v1/messages?limit=1").await, ["m3"]);
}

#[tokio::test]
async fn a_killed_process_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let b = open(dir.path(), 100).unwrap();
    fill(&b, 0, 50).await;
    // What lies on the disk while the mailbox still runs is what a kill would leave.
    let left = tempfile::tempdir().unwrap();
    for name in ["mailbox.sqlite", "mailbox.sqlite-wal"] {
        std::fs::copy(dir.path().join(name), left.path().join(name)).unwrap();
    }
    let after = open(left.path(), 100).unwrap();
    assert_eq!(after.subjects("/api/v1/messages?limit=0").await.len(), 50);
}

#[tokio::test]
async fn the_oldest_make_room_for_the_newest() {
    let dir = tempfile::tempdir().unwrap();
    {
        let b = open(dir.path(), 5).unwrap();
        fill(&b, 0, 12).await;
        assert_eq!(
            b.subjects("/api/v1/messages").await,
            ["m11", "m10", "m9", "m8", "m7"]
        );
        assert_eq!(b.get("/api/v1/messages").await.json()["total"], 5);
    }
    let b = open(dir.path(), 2).unwrap();
    assert_eq!(b.subjects("/api/v1/messages").await, ["m11", "m10"]);
}

#[tokio::test]
async fn clearing_gives_the_room_back() {
    let dir = tempfile::tempdir().unwrap();
    let b = open(dir.path(), 100).unwrap();
    let big = mail("f@x.example", "a@x.example", "big", &"x".repeat(1 << 20));
    for _ in 0..4 {
        b.deliver(&["a@x.example"], big.clone()).await;
    }
    let size = async || {
        b.get("/api/v1/info").await.json()["DatabaseSize"]
            .as_u64()
            .unwrap()
    };
    assert!(size().await > 4 << 20);
    b.ask("DELETE", "/api/v1/messages", &[], "").await;
    assert!(size().await < 1 << 20, "{}", size().await);
}

#[tokio::test]
async fn a_second_host_on_the_same_folder_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let first = open(dir.path(), 5).unwrap();
    fill(&first, 0, 1).await;
    let Err(Error::Open { path, cause }) = open(dir.path(), 5) else {
        panic!("the file is open twice");
    };
    assert_eq!(path, dir.path().join("mailbox.sqlite"));
    assert!(cause.contains("locked"), "{cause}");
    fill(&first, 1, 2).await;
}

#[test]
fn a_file_that_is_not_ours_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("mailbox.sqlite");
    let text = "this is not a database, but the only copy of a long letter".repeat(100);
    std::fs::write(&file, &text).unwrap();
    assert!(matches!(open(dir.path(), 5), Err(Error::Open { .. })));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);

    let blocked = file.join("below a file");
    let Err(refused) = open(&blocked, 5) else {
        panic!("a folder cannot lie in a file");
    };
    assert!(refused.to_string().lines().count() == 1, "{refused}");
}

#[cfg(unix)]
#[test]
fn only_the_owner_may_read_the_file() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let _open = open(dir.path(), 5).unwrap();
    let modes = std::fs::read_dir(dir.path()).unwrap().map(|entry| {
        let entry = entry.unwrap();
        (
            entry.file_name(),
            entry.metadata().unwrap().permissions().mode() & 0o777,
        )
    });
    for (name, mode) in modes {
        assert_eq!(mode, 0o600, "{name:?}");
    }
}

#[tokio::test]
async fn mails_that_come_at_once_are_all_kept() {
    let dir = tempfile::tempdir().unwrap();
    let b = open(dir.path(), 1000).unwrap();
    let tasks: Vec<_> = (0..200)
        .map(|n| {
            let mailbox = b.mailbox.clone();
            let raw = mail("f@x.example", "a@x.example", &format!("m{n}"), "hi");
            tokio::spawn(
                async move { mailbox.deliver(StoredEnvelope::default(), raw.into()).await },
            )
        })
        .collect();
    let mut ids = Vec::new();
    for task in tasks {
        ids.push(task.await.unwrap().unwrap());
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 200);
    assert_eq!(b.get("/api/v1/messages").await.json()["total"], 200);
}
