//! Opening the database, in a file or in memory, and the ids it makes.

use std::fs::OpenOptions;
use std::path::Path;

use memchr::memmem::Finder;
use rusqlite::Connection;
use rusqlite::functions::{Context, FunctionFlags};

use crate::{Error, sql};

/// Opens the database and makes the tables in a new one.
pub(crate) fn connect(file: Option<&Path>) -> Result<Connection, Error> {
    let Some(path) = file else {
        let db = Connection::open_in_memory()?;
        add_search(&db)?;
        db.execute_batch(sql::SCHEMA)?;
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
    match version {
        0 => db
            .execute_batch(sql::SCHEMA)
            .map_err(|cause| failed(&cause))?,
        sql::VERSION => {}
        _ => {
            let path = path.to_owned();
            return Err(Error::Version { path });
        }
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
