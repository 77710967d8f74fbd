//! The SQLite database under the mailbox: its tables, how it is opened in a file or in memory, and
//! searches as SQL.

use std::fs::OpenOptions;
use std::path::Path;

use memchr::memmem::Finder;
use rusqlite::Connection;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::Value;

use crate::Error;
use crate::query::{SearchField, Term, Test};

/// Version 1. `mail` holds what the list and the search need, `raw` the bytes, so that a walk over
/// the list does not read them. The lower-case columns are what a search compares with.
const FIRST: &str = "
    BEGIN IMMEDIATE;
    CREATE TABLE mail (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        received INTEGER NOT NULL,
        size INTEGER NOT NULL,
        unread INTEGER NOT NULL,
        files INTEGER NOT NULL,
        inlines INTEGER NOT NULL,
        envelope TEXT NOT NULL,
        summary TEXT NOT NULL,
        message_id TEXT NOT NULL,
        lower_from TEXT NOT NULL,
        lower_to TEXT NOT NULL,
        lower_cc TEXT NOT NULL,
        lower_bcc TEXT NOT NULL,
        lower_reply TEXT NOT NULL,
        lower_rcpt TEXT NOT NULL,
        lower_subject TEXT NOT NULL,
        lower_all TEXT NOT NULL
    );
    CREATE TABLE raw (seq INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
    PRAGMA user_version = 1;
    COMMIT;
";

/// What version 2 adds: a row of `mail` may stand for a copy of which no mail was recorded, and what
/// became of each is in `copy`, apart from the long texts.
///
/// `arrived` is the place of a recorded mail in the order of arrival, which is not that of the list.
/// `name` and `request` name the copy and the request that it is of, where the service made the
/// mail; `rank` is that of its [`crate::copies::DeliveryStatus`], `leaves` the second at which scheduled mail
/// leaves, `deleted` the millisecond of a deletion that can be undone. `gone` names copies whose rows
/// were removed, so that a late event brings none back.
const SECOND: &str = "
    BEGIN IMMEDIATE;
    CREATE TABLE copy (
        seq INTEGER PRIMARY KEY,
        recorded INTEGER NOT NULL,
        arrived INTEGER,
        name TEXT UNIQUE,
        request TEXT,
        rank INTEGER NOT NULL,
        reason TEXT NOT NULL,
        leaves INTEGER,
        deleted INTEGER
    );
    CREATE UNIQUE INDEX copy_arrived ON copy (arrived) WHERE arrived IS NOT NULL;
    CREATE INDEX copy_request ON copy (request) WHERE request IS NOT NULL;
    CREATE INDEX copy_deleted ON copy (deleted) WHERE deleted IS NOT NULL;
    CREATE TABLE gone (name TEXT NOT NULL UNIQUE);
    INSERT INTO copy (seq, recorded, arrived, rank, reason) SELECT seq, 1, seq, 5, '' FROM mail;
    PRAGMA user_version = 2;
    COMMIT;
";

/// What version 3 adds: the tags of mails. Letter case makes no other tag, as in Mailpit.
const THIRD: &str = "
    BEGIN IMMEDIATE;
    CREATE TABLE tag (
        seq INTEGER NOT NULL,
        name TEXT NOT NULL COLLATE NOCASE,
        PRIMARY KEY (seq, name)
    ) WITHOUT ROWID;
    CREATE INDEX tag_name ON tag (name);
    PRAGMA user_version = 3;
    COMMIT;
";

/// What each version of the file adds; a newer one than these is refused (see [`crate::Error::Version`]).
const VERSIONS: [&str; 3] = [FIRST, SECOND, THIRD];

pub(crate) const INSERT: &str = "
    INSERT INTO mail (id, received, size, unread, files, inlines, envelope, summary, message_id,
        lower_from, lower_to, lower_cc, lower_bcc, lower_reply, lower_rcpt, lower_subject, lower_all)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)";

/// The same for a row that exists: `?18` is its place, which it keeps.
pub(crate) const FILL: &str = "
    UPDATE mail SET id = ?1, received = ?2, size = ?3, unread = ?4, files = ?5, inlines = ?6,
        envelope = ?7, summary = ?8, message_id = ?9, lower_from = ?10, lower_to = ?11,
        lower_cc = ?12, lower_bcc = ?13, lower_reply = ?14, lower_rcpt = ?15, lower_subject = ?16,
        lower_all = ?17
    WHERE seq = ?18";

/// What becomes of the copy of a row.
pub(crate) const PUT_COPY: &str = "
    INSERT INTO copy (seq, recorded, name, request, rank, reason, leaves, arrived)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
    ON CONFLICT (seq) DO UPDATE SET recorded = excluded.recorded, arrived = excluded.arrived, rank = max(rank, excluded.rank),
        reason = excluded.reason, leaves = excluded.leaves";

/// What a line of the list is read from.
pub(crate) const LINE: &str = "summary, envelope, unread, recorded, name, request, rank, reason, \
    leaves, (SELECT json_group_array(tag.name) FROM tag WHERE tag.seq = copy.seq)";

/// Every row with its copy, less those that were deleted and can be had back.
pub(crate) const SHOWN: &str = "copy JOIN mail USING (seq) WHERE deleted IS NULL";

/// Bytes of a mail's row, besides those of its source.
pub(crate) const ROW: &str = "octet_length(envelope) + octet_length(summary) \
    + octet_length(message_id) + octet_length(lower_from) + octet_length(lower_to) \
    + octet_length(lower_cc) + octet_length(lower_bcc) + octet_length(lower_reply) \
    + octet_length(lower_rcpt) + octet_length(lower_subject) + octet_length(lower_all)";

/// Opens the database and makes the tables in a new one.
pub(crate) fn connect(file: Option<&Path>) -> Result<Connection, Error> {
    let Some(path) = file else {
        let db = Connection::open_in_memory()?;
        add_search(&db)?;
        for tables in VERSIONS {
            db.execute_batch(tables)?;
        }
        return Ok(db);
    };
    let failed = |cause: &dyn std::error::Error| Error::Open {
        path: path.to_owned(),
        cause: cause.to_string(),
    };
    private(path).map_err(|cause| failed(&cause))?;
    let db = Connection::open(path).map_err(|cause| failed(&cause))?;
    // Exclusive: a second host on the same folder gets an error instead of adding its mails.
    db.execute_batch(
        "PRAGMA locking_mode = EXCLUSIVE;
         PRAGMA auto_vacuum = INCREMENTAL;
         PRAGMA journal_mode = WAL;
         PRAGMA synchronous = NORMAL;
         PRAGMA journal_size_limit = 16777216;
         BEGIN IMMEDIATE; COMMIT;",
    )
    .map_err(|cause| failed(&cause))?;
    let version = db
        .query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0))
        .map_err(|cause| failed(&cause))?;
    let done = usize::try_from(version).ok();
    let Some(missing) = done.and_then(|done| VERSIONS.get(done..)) else {
        let path = path.to_owned();
        return Err(Error::Version { path });
    };
    for tables in missing {
        db.execute_batch(tables).map_err(|cause| failed(&cause))?;
    }
    add_search(&db)?;
    Ok(db)
}

/// `holds(text, part)`: SQLite's own `instr` compares the part at every position of the text, so
/// that its time is the product of both lengths.
fn add_search(db: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    db.create_scalar_function("holds", 2, flags, |arguments: &Context<'_>| {
        let part = arguments.get_or_create_aux(1, |part| {
            let part = part.as_bytes()?;
            Ok::<_, rusqlite::Error>(Finder::new(part).into_owned())
        })?;
        let text = arguments.get_raw(0).as_bytes()?;
        Ok(part.find(text).is_some())
    })
}

/// Creates the folder and the file; only the owner can access the file, and therefore also SQLite's
/// log beside it.
fn private(path: &Path) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

/// 22 letters and digits, as Mailpit's ids are.
///
/// SQLite's generator is seeded by the operating system. A guessable id would let another site show
/// a picture from a mail on its own page.
pub(crate) fn fresh_id(db: &Connection) -> Result<String, Error> {
    let bytes: [u8; 16] = db
        .prepare_cached("SELECT randomblob(16)")?
        .query_row([], |row| row.get(0))?;
    let mut number = u128::from_be_bytes(bytes);
    let mut id = String::with_capacity(22);
    for _ in 0..22 {
        let digit = u32::try_from(number % 62).unwrap_or_default();
        let letter = match digit {
            0..=35 => char::from_digit(digit, 36),
            _ => char::from_digit(digit - 26, 36).map(|c| c.to_ascii_uppercase()),
        };
        id.extend(letter);
        number /= 62;
    }
    Ok(id)
}

/// A `WHERE` clause and the values of its question marks.
pub(crate) struct Clause {
    pub text: String,
    pub values: Vec<Value>,
}

/// The mails that match every term.
pub(crate) fn matching(terms: &[Term]) -> Clause {
    let mut clause = Clause {
        text: "1".to_owned(),
        values: Vec::new(),
    };
    for term in terms {
        let (test, values) = condition(&term.test);
        let not = if term.not { "NOT " } else { "" };
        clause.text.push_str(&format!(" AND {not}({test})"));
        clause.values.extend(values);
    }
    clause
}

/// The mails up to this position in order of arrival.
pub(crate) fn up_to(seq: i64) -> Clause {
    Clause {
        text: "seq <= ?".to_owned(),
        values: vec![Value::Integer(seq)],
    }
}

/// The mails at these positions.
pub(crate) fn at(seqs: &[i64]) -> Clause {
    let list = serde_json::Value::from(seqs.to_vec()).to_string();
    Clause {
        text: "seq IN (SELECT value FROM json_each(?))".to_owned(),
        values: vec![Value::Text(list)],
    }
}

/// The mails of these ids.
pub(crate) fn named(ids: &[String]) -> Clause {
    // One value whatever the number of ids: SQLite has an upper bound on question marks.
    let list = serde_json::Value::from(ids.to_vec()).to_string();
    Clause {
        text: "id IN (SELECT value FROM json_each(?))".to_owned(),
        values: vec![Value::Text(list)],
    }
}

fn condition(test: &Test) -> (String, Vec<Value>) {
    let number = |sql: &str, n: i64| (sql.to_owned(), vec![Value::Integer(n)]);
    match test {
        Test::Holds(field, text) => {
            let columns = columns(*field);
            let any: Vec<_> = columns
                .iter()
                .map(|column| format!("holds({column}, ?)"))
                .collect();
            let values = columns.iter().map(|_| Value::Text(text.clone())).collect();
            (any.join(" OR "), values)
        }
        Test::Read => ("unread = 0".to_owned(), Vec::new()),
        Test::ArrivedAfter(place) => number("arrived > ?", *place),
        Test::Recorded => ("recorded".to_owned(), Vec::new()),
        Test::Has(status) => number("rank = ?", status.rank()),
        Test::Request(request) => {
            let text = "lower(coalesce(request, '')) = ?";
            (text.to_owned(), vec![Value::Text(request.clone())])
        }
        Test::Files => ("files > 0".to_owned(), Vec::new()),
        Test::Inlines => ("inlines > 0".to_owned(), Vec::new()),
        Test::Tagged => {
            let any = "EXISTS (SELECT 1 FROM tag WHERE tag.seq = copy.seq)";
            (any.to_owned(), Vec::new())
        }
        Test::Tag(name) => {
            let has = "EXISTS (SELECT 1 FROM tag WHERE tag.seq = copy.seq AND tag.name = ?)";
            (has.to_owned(), vec![Value::Text(name.clone())])
        }
        Test::Before(at) => number("received < ?", at.0),
        Test::After(at) => number("received >= ?", at.0),
        Test::Larger(size) => number("size > ?", *size),
        Test::Smaller(size) => number("size < ?", *size),
    }
}

fn columns(field: SearchField) -> &'static [&'static str] {
    match field {
        SearchField::From => &["lower_from"],
        SearchField::To => &["lower_to"],
        SearchField::Cc => &["lower_cc"],
        SearchField::Bcc => &["lower_bcc"],
        SearchField::ReplyTo => &["lower_reply"],
        SearchField::Addressed => &[
            "lower_from",
            "lower_to",
            "lower_cc",
            "lower_bcc",
            "lower_reply",
        ],
        SearchField::Recipient => &["lower_rcpt"],
        SearchField::Subject => &["lower_subject"],
        SearchField::MessageId => &["lower(message_id)"],
        SearchField::All => &["lower_all"],
    }
}
