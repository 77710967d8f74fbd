//! The data folder: created for its owner, locked, and refused when a file is missing.

use std::os::unix::fs::PermissionsExt as _;

use rusqlite::Connection;

use super::parts::{LIST, PARTS};
use super::*;

mod lost_blobs;
mod secrets;

/// A stack's secret.
const KEY: &str = "1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// A folder in which a host has run and stopped.
fn used(root: &Path) {
    let folder = Folder::open(root).unwrap();
    for name in ["table.db", "queue.db", "mailbox.sqlite"] {
        let database = Connection::open(folder.path(name)).unwrap();
        database.pragma_update(None, "journal_mode", "WAL").unwrap();
        database
            .execute_batch(
                "CREATE TABLE row (text TEXT);
                 WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
                 INSERT INTO row SELECT hex(zeroblob(250)) FROM n;",
            )
            .unwrap();
    }
    for name in ["api-key", "stack-secret"] {
        folder.secret(name, || KEY.to_owned()).unwrap();
    }
    folder.note_parts().unwrap();
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_secret_is_made_once_and_only_its_owner_reads_it() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("data");
    let first = Folder::open(&root)
        .unwrap()
        .secret("key", || "one".to_owned())
        .unwrap();
    let again = Folder::open(&root)
        .unwrap()
        .secret("key", || "two".to_owned())
        .unwrap();
    assert_eq!((first.as_str(), again.as_str()), ("one", "one"));
    assert_eq!(mode(&root.join("key")), 0o600);
}

#[test]
fn a_second_host_is_kept_out() {
    let dir = tempfile::tempdir().unwrap();
    let _first = Folder::open(dir.path()).unwrap();
    assert!(matches!(
        Folder::open(dir.path()),
        Err(FolderError::Locked(_))
    ));
}

#[test]
fn a_file_in_the_way_is_one_clear_line() {
    let file = tempfile::NamedTempFile::new().unwrap();
    for below in ["", "sub", "sub/folder"] {
        let root = file.path().join(below);
        let error = Folder::open(&root).unwrap_err().to_string();
        assert!(
            error.starts_with("the data folder") && error.ends_with("is no folder"),
            "{error}"
        );
    }
}

#[test]
fn a_link_that_leads_nowhere_is_told_as_one() {
    let dir = tempfile::tempdir().unwrap();
    let (link, target) = (dir.path().join("data"), dir.path().join("moved"));
    std::os::unix::fs::symlink(&target, &link).unwrap();
    for root in [link.clone(), link.join("sub")] {
        let error = Folder::open(&root).unwrap_err();
        let said = error.to_string();
        assert!(
            said.contains("is a link to") && said.contains("moved") && !said.contains('\n'),
            "{said}"
        );
        assert_eq!(crate::StartError::from(error).exit_code(), 2);
    }
    fs::create_dir(&target).unwrap();
    Folder::open(&link).unwrap();
}

#[test]
fn what_was_lost_is_not_started_anew() {
    let files = PARTS.iter().filter(|part| part.kind == "file");
    for part in files {
        // As this release leaves a folder, as 0.1 did, which made no list, and with a damaged list.
        let lists = [
            Some("whole"),
            None,
            Some(""),
            Some("{}"),
            Some(r#"{"v":1,"fil"#),
        ];
        for (emptied, list) in lists
            .iter()
            .flat_map(|list| [(true, *list), (false, *list)])
        {
            let dir = tempfile::tempdir().unwrap();
            used(dir.path());
            let file = dir.path().join(part.name);
            if emptied {
                fs::write(&file, "").unwrap();
            } else {
                fs::remove_file(&file).unwrap();
            }
            match list {
                Some("whole") => {}
                Some(text) => fs::write(dir.path().join(LIST), text).unwrap(),
                None => fs::remove_file(dir.path().join(LIST)).unwrap(),
            }
            let opened = Folder::open(dir.path());
            if part.needed == Needed::Never {
                opened.expect("the host starts without its mailbox");
                continue;
            }
            let said = opened.expect_err(part.name).to_string();
            assert!(
                said.contains(part.name) && said.contains("backup") && !said.contains('\n'),
                "{said}"
            );
            let made = fs::metadata(&file).is_ok_and(|file| file.len() > 0);
            assert!(!made, "{} was made anew", part.name);

            // The remedy in the message works.
            let list = dir.path().join(LIST);
            let names = fs::read_to_string(&list).unwrap();
            let without = names.replace(&format!("\"{}\",", part.name), "");
            assert_ne!(names, without);
            fs::write(&list, without).unwrap();
            Folder::open(dir.path()).expect(part.name);
        }
    }
}

#[test]
fn a_first_start_that_was_killed_is_no_loss() {
    let dir = tempfile::tempdir().unwrap();
    for _ in 0..3 {
        let folder = Folder::open(dir.path()).unwrap();
        folder.secret("stack-secret", || KEY.to_owned()).unwrap();
    }
    fs::remove_file(dir.path().join("stack-secret")).unwrap();
    Folder::open(dir.path()).unwrap();
    // Nor is a new folder into which a key and a secret were put.
    let dir = tempfile::tempdir().unwrap();
    for name in ["api-key", "stack-secret"] {
        fs::write(dir.path().join(name), KEY).unwrap();
    }
    Folder::open(dir.path()).unwrap();
    // Nor is what an operator's command has made without a host.
    let dir = tempfile::tempdir().unwrap();
    for name in ["table.db", "queue.db"] {
        let database = Connection::open(dir.path().join(name)).unwrap();
        database
            .execute_batch("CREATE TABLE row (text TEXT)")
            .unwrap();
    }
    Folder::open(dir.path()).unwrap();
}

#[test]
fn only_the_owner_reads_what_the_folder_holds() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("data");
    used(&root);
    assert_eq!(mode(&root), 0o700);
    let database = Connection::open(root.join("table.db")).unwrap();
    database
        .execute_batch("CREATE TABLE more (text TEXT)")
        .unwrap();
    for name in [
        "table.db",
        "table.db-wal",
        "table.db-shm",
        "queue.db",
        "stack-secret",
        LIST,
    ] {
        assert_eq!(mode(&root.join(name)), 0o600, "{name}");
    }
    assert_eq!(mode(&root.join("blobs")), 0o700);
    drop(database);

    // As an earlier release, or a backup that was put back, leaves it.
    for name in [
        "table.db",
        "queue.db",
        "mailbox.sqlite",
        "api-key",
        "stack-secret",
    ] {
        fs::set_permissions(root.join(name), fs::Permissions::from_mode(0o644)).unwrap();
    }
    for folder in [root.clone(), root.join("blobs")] {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    }
    assert_eq!(private::open_to_others(&root), Some(0o755));
    drop(Folder::open(&root).unwrap());
    for name in [
        "table.db",
        "queue.db",
        "mailbox.sqlite",
        "api-key",
        "stack-secret",
    ] {
        assert_eq!(mode(&root.join(name)), 0o600, "{name}");
    }
    assert_eq!(mode(&root.join("blobs")), 0o700);
}

#[test]
fn a_damaged_file_is_named_in_one_sentence() {
    for name in ["table.db", "queue.db", "mailbox.sqlite"] {
        for (from, to) in [(0, 100), (4096, 3 * 4096), (0, usize::MAX)] {
            let dir = tempfile::tempdir().unwrap();
            used(dir.path());
            let file = dir.path().join(name);
            let mut bytes = fs::read(&file).unwrap();
            let end = to.min(bytes.len());
            bytes[from..end].fill(0xA5);
            fs::write(&file, bytes).unwrap();
            let said = Folder::open(dir.path()).expect_err(name).to_string();
            assert!(
                said.contains(name) && said.contains("is damaged") && !said.contains('\n'),
                "{said}"
            );
            // It holds nothing that a host needs.
            assert_eq!(
                said.contains("delete it"),
                name == "mailbox.sqlite",
                "{said}"
            );
        }
    }
    let dir = tempfile::tempdir().unwrap();
    used(dir.path());
    fs::write(dir.path().join("mailbox.sqlite"), "x").unwrap();
    Folder::open(dir.path()).unwrap_err();
    fs::remove_file(dir.path().join("mailbox.sqlite")).unwrap();
    Folder::open(dir.path()).expect("the remedy works");
}

#[test]
fn a_killed_process_is_told_from_a_stopped_one() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::open(dir.path()).unwrap();
    let lock = dir.path().join("lock");
    assert_ne!(fs::metadata(&lock).unwrap().len(), 0);
    drop(folder);
    assert_eq!(fs::metadata(&lock).unwrap().len(), 0);
}
