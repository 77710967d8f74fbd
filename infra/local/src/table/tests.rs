//! The embedded table: persisted over a restart, synced only for callers that wrote.

use std::path::Path;

use dynoxide::Database;
use posthaste_smtpd::SmtpReply;
use posthaste_store::{Key, Put};

use super::{Disk, Table, TableResponse, calls};

#[derive(Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
struct Seven {
    seven: u32,
}

const SEVEN: Seven = Seven { seven: 7 };

fn key() -> Key {
    Key {
        pk: "A#somebody".to_owned(),
        sk: "ROW".to_owned(),
    }
}

async fn open(file: &Path) -> Table {
    Table::start(Some(file)).await.expect("a table")
}

#[test]
fn every_operation_that_is_not_a_read_counts_as_a_write() {
    for read in ["GetItem", "Query", "BatchGetItem", "DescribeTable"] {
        assert!(!calls::writes(read), "{read}");
    }
    for write in ["PutItem", "UpdateItem", "TransactWriteItems", "Unheard"] {
        assert!(calls::writes(write), "{write}");
    }
}

#[test]
fn what_is_not_served_or_cannot_be_read_is_refused_as_the_cloud_refuses() {
    let database = Database::memory().expect("a database");
    for (operation, body) in [("RestoreTable", "{}"), ("GetItem", "{"), ("GetItem", "[]")] {
        let TableResponse { status, body } =
            calls::call(&database, operation, body.as_bytes(), |_, _| None);
        assert_eq!(status, 400, "{operation}: {body}");
        assert!(body.contains("__type"), "{body}");
    }
}

#[tokio::test]
async fn a_row_is_there_after_a_restart_and_taken_only_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("table.db");
    let table = open(&file).await;
    let put = table.store.put_new(&key(), &SEVEN, None).await;
    assert_eq!(put.expect("a write"), Put::Stored);
    table.stop().await;

    let table = open(&file).await;
    let row = table.store.get::<Seven>(&key()).await.expect("a read");
    assert_eq!(row.map(|row| row.value), Some(SEVEN));
    let put = table.store.put_new(&key(), &SEVEN, None).await;
    assert_eq!(put.expect("a write"), Put::Taken);
    table.stop().await;
}

#[tokio::test]
async fn only_work_that_wrote_waits_for_the_disk() {
    let folder = tempfile::tempdir().expect("a folder");
    let table = open(&folder.path().join("table.db")).await;
    let key = key();
    let reading = || table.store.get::<Seven>(&key);
    let writing = || table.store.put(&key, &SEVEN, None);

    // On a full disk a write cannot be acknowledged; a read needs no sync.
    let broken = Disk::broken();
    assert!(broken.durable(reading()).await.is_some());
    assert!(broken.durable(writing()).await.is_none());

    let end = table.disk.durable(writing()).await.expect("a sync");
    end.expect("a write");
}

#[tokio::test]
async fn a_submitted_mail_is_acknowledged_only_once_its_rows_are_on_the_disk() {
    let table = Table::start(None).await.expect("a table");
    let key = key();
    for (disk, written, want) in [
        (table.disk.clone(), true, Some(250)),
        (Disk::broken(), false, Some(250)),
        (Disk::broken(), true, None),
    ] {
        let accepting = async {
            if written {
                let put = table.store.put(&key, &SEVEN, None).await;
                put.expect("a write");
            }
            SmtpReply::new(250, "2.0.0", "Ok")
        };
        let reply = disk.for_submission()(Box::pin(accepting)).await;
        assert_eq!(reply.map(|reply| reply.code), want);
    }
}

/// Writes bytes that are no text into the rows that hold `part`.
fn spoil(file: &Path, part: &str) {
    let database = rusqlite::Connection::open(file).expect("the file");
    let tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'";
    let mut tables = database.prepare(tables).expect("a statement");
    let tables = tables.query_map([], |row| row.get::<_, String>(0));
    let tables: Vec<String> = tables
        .expect("rows")
        .map(|name| name.expect("a name"))
        .collect();
    let mut spoiled = 0;
    for table in tables {
        let sql = format!(
            "UPDATE \"{table}\" SET item_json = CAST(X'7BFFFE' AS TEXT) WHERE instr(item_json, ?1) > 0"
        );
        // Other tables have no such column.
        spoiled += database.execute(&sql, [part]).unwrap_or_default();
    }
    assert!(spoiled > 0, "no row holds {part}");
}

#[tokio::test]
async fn a_damaged_row_that_the_start_reads_is_told_with_its_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("table.db");
    let table = open(&file).await;
    let put = table.store.put_new(&key(), &SEVEN, None).await;
    assert_eq!(put.expect("a write"), Put::Stored);
    table.stop().await;
    spoil(&file, "somebody");

    let table = open(&file).await;
    let error = table.store.get::<Seven>(&key()).await.expect_err("no text");
    assert!(!error.to_string().contains('{'), "a dump: {error}");
    let found = table.explain(Some(&error)).expect("damage").to_string();
    assert!(
        found.contains("table.db") && found.contains("is damaged"),
        "{found}"
    );
    assert!(!found.contains('\n'), "{found}");
    // A running host goes on: the other rows are there.
    assert_eq!(table.damage.found(), None);
    table.stop().await;
}
