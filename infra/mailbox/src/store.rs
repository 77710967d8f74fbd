//! The mails, and what becomes of copies, in one SQLite database: in a file, where they outlive the
//! process, or in memory.
//!
//! Every delivery is one transaction in the write-ahead log. The operating system has it when the
//! call returns, so killing the process loses nothing; only a crash of the whole machine may lose
//! the last moments (`synchronous = NORMAL`).

mod arrivals;
mod copies;
mod delete;
mod listing;
mod requests;
mod tags;

use std::path::Path;

use rusqlite::{Connection, Row as SqlRow, ToSql, Transaction, params};

use copies::{CarriedFields, Known};

pub(crate) use requests::RequestSlice;
pub(crate) use tags::TagProblem;

use crate::copies::{copy_name, request_name};
use crate::database;
use crate::digest::NewRow;
use crate::rows::Totals;
use crate::{Error, StoredEnvelope, Summary};

/// The default number of mails stored.
pub const DEFAULT_LIMIT: usize = 10_000;

/// The default size of the mailbox in bytes: ten thousand mails of ten megabytes must not fill a
/// disk.
pub const LARGEST_STORE: u64 = 2 << 30;

/// The limits beyond which the oldest mails are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MailboxLimits {
    /// Mails stored, and copies without one; at least one.
    pub mails: usize,
    /// Bytes of the database: sources, rows and overhead. A database that exceeds its log is larger
    /// by at most the last mail for a moment.
    pub bytes: u64,
}

/// The size of an empty database.
const EMPTY: u64 = 64 * 1024;

/// The open database. Counts are cached here, because a load test requests them continually.
pub(crate) struct Store {
    db: Connection,
    limits: MailboxLimits,
    /// Of recorded mails that were not deleted.
    totals: Totals,
    /// The same with the copies that have no mail.
    shown: usize,
    /// With those that were deleted and can be had back.
    all: usize,
    /// The place of the last mail in the order of arrival; none is used again.
    arrived: i64,
    /// Mails accepted and mails dropped or deleted since the start.
    pub(crate) taken: usize,
    pub(crate) taken_bytes: u64,
    pub(crate) gone: usize,
}

/// A mail with its envelope and its time of receipt.
pub(crate) struct StoredMail {
    pub summary: Summary,
    pub envelope: StoredEnvelope,
    pub raw: Vec<u8>,
}

impl Store {
    /// Opens the file, or a database in memory, and makes the tables in a new one. What was deleted
    /// before cannot be had back any more.
    pub(crate) fn open(file: Option<&Path>, limits: MailboxLimits) -> Result<Self, Error> {
        let db = database::connect(file)?;
        let mut store = Self {
            db,
            limits: MailboxLimits {
                mails: limits.mails.max(1),
                ..limits
            },
            totals: Totals::default(),
            shown: 0,
            all: 0,
            arrived: 0,
            taken: 0,
            taken_bytes: 0,
            gone: 0,
        };
        store.count_again()?;
        let last = "SELECT coalesce(max(arrived), 0) FROM copy";
        store.arrived = store.db.query_row(last, [], |row| row.get(0))?;
        let emptied = store.empty_trash()?;
        if store.make_room(0, 0)? || emptied {
            store.give_back()?;
        }
        Ok(store)
    }

    fn count_again(&mut self) -> Result<(), Error> {
        let counts = "SELECT count(*), count(*) FILTER (WHERE deleted IS NULL),
                count(*) FILTER (WHERE deleted IS NULL AND recorded),
                count(*) FILTER (WHERE deleted IS NULL AND recorded AND unread)
            FROM copy JOIN mail USING (seq)";
        let counted = self.db.query_row(counts, [], |row| {
            Ok((
                count(row, 0)?,
                count(row, 1)?,
                count(row, 2)?,
                count(row, 3)?,
            ))
        })?;
        (self.all, self.shown, self.totals.total, self.totals.unread) = counted;
        Ok(())
    }

    /// Drops the oldest mails beyond the limits, stores this one, and returns its id. A copy that
    /// has a row keeps its place, except that scheduled mail gets a new one: it was sent now.
    ///
    /// # Errors
    /// [`Error::TooLarge`] when it would not fit even alone; then nothing is dropped.
    pub(crate) fn insert(&mut self, entry: &NewRow, raw: &[u8]) -> Result<String, Error> {
        let size = entry.space(raw);
        let most = self.limits.bytes;
        if size + EMPTY > most {
            return Err(Error::TooLarge { size, most });
        }
        self.make_room(1, size)?;
        let known = match &entry.copy {
            Some(copy) => copies::known(&self.db, copy)?,
            None => None,
        };
        let carried = match &known {
            Some(row) => CarriedFields::of_row(&self.db, row.seq)?,
            None => CarriedFields::default(),
        };
        let arrived = self.arrived + 1;
        let place = RowPlace {
            arrived: Some(arrived),
            carried: Some(&carried),
            ..RowPlace::new("")
        };
        let tx = self.db.transaction()?;
        let written = write_arrival(&tx, entry, known, place, raw)?;
        tx.commit()?;
        self.arrived = arrived;
        self.all += written.new;
        self.shown += written.shown;
        self.totals.total += 1;
        self.totals.unread += 1;
        self.taken += 1;
        self.taken_bytes += u64::try_from(raw.len()).unwrap_or_default();
        Ok(written.id)
    }

    /// Whether a mail fits without dropping others, which takes time in proportion to their size.
    pub(crate) fn has_room(&self, entry: &NewRow, raw: &[u8]) -> Result<bool, Error> {
        let (mails, bytes) = self.surplus(1, entry.space(raw))?;
        Ok(mails == 0 && bytes == 0)
    }

    fn give_back(&self) -> Result<(), Error> {
        // Both return the space of deleted mails only when read to the end.
        for pragma in ["incremental_vacuum", "wal_checkpoint(TRUNCATE)"] {
            let mut statement = self.db.prepare_cached(&format!("PRAGMA {pragma}"))?;
            let mut steps = statement.query([])?;
            while steps.next()?.is_some() {}
        }
        Ok(())
    }

    /// Of recorded mails.
    pub(crate) fn totals(&self) -> Totals {
        self.totals
    }

    /// Rows and bytes beyond the limits if these are added.
    fn surplus(&self, rows: usize, bytes: u64) -> Result<(usize, u64), Error> {
        // Pages in use: those of deleted mails are reused.
        let pages = "SELECT (page_count - freelist_count) * page_size
            FROM pragma_page_count(), pragma_freelist_count(), pragma_page_size()";
        let mut statement = self.db.prepare_cached(pages)?;
        let used: i64 = statement.query_row([], |row| row.get(0))?;
        let used = u64::try_from(used).unwrap_or_default();
        Ok((
            (self.all + rows).saturating_sub(self.limits.mails),
            (used + bytes).saturating_sub(self.limits.bytes),
        ))
    }

    /// Drops the oldest until these fit in, and one in a hundred more: neighbours together cost
    /// little, while dropping one for each new mail would double what a delivery writes. What was
    /// deleted goes first. Returns whether any was dropped.
    fn make_room(&mut self, rows: usize, bytes: u64) -> Result<bool, Error> {
        let mut dropped = false;
        loop {
            let (mut more, mut room) = self.surplus(rows, bytes)?;
            if self.all == 0 || more == 0 && room == 0 {
                return Ok(dropped);
            }
            if self.all > self.shown {
                dropped |= self.empty_trash()?;
                continue;
            }
            if more > 0 {
                more += self.limits.mails / 100;
            }
            if room > 0 {
                room += self.limits.bytes / 100;
            }
            let last = self.oldest(more, room)?;
            if !self.drop_where(&database::up_to(last))? {
                return Ok(dropped);
            }
            dropped = true;
        }
    }

    /// The last of the oldest rows that are so many, or that take so many bytes.
    fn oldest(&self, rows: usize, bytes: u64) -> Result<i64, Error> {
        let walk = format!(
            "SELECT seq, size + {} FROM mail ORDER BY seq",
            database::ROW
        );
        let mut statement = self.db.prepare_cached(&walk)?;
        let mut walked = statement.query([])?;
        let (mut last, mut seen, mut freed) = (0, 0, 0);
        while let Some(row) = walked.next()?
            && (seen < rows || freed < bytes || seen == 0)
        {
            last = row.get(0)?;
            seen += 1;
            freed += u64::try_from(row.get::<_, i64>(1)?).unwrap_or_default();
        }
        Ok(last)
    }
}

/// Where a row is written.
#[derive(Clone, Copy)]
struct RowPlace<'a> {
    id: &'a str,
    /// That of a row that exists; `None` for the end of the list.
    seq: Option<i64>,
    /// Whether the row is the one of its copy.
    is_named: bool,
    /// The place in the order of arrival, of a mail that is recorded.
    arrived: Option<i64>,
    /// What the row had before.
    carried: Option<&'a CarriedFields>,
}

impl<'a> RowPlace<'a> {
    fn new(id: &'a str) -> Self {
        Self {
            id,
            seq: None,
            is_named: true,
            arrived: None,
            carried: None,
        }
    }
}

/// A row that was written, and by how many it grew the database and the list.
struct WrittenRow {
    id: String,
    new: usize,
    shown: usize,
}

/// Writes a mail that arrived, into the row that its copy has, or a new one.
fn write_arrival(
    tx: &Transaction<'_>,
    entry: &NewRow,
    known: Option<Known>,
    place: RowPlace<'_>,
    raw: &[u8],
) -> Result<WrittenRow, Error> {
    let (mut new, mut shown) = (1, 1);
    let id = match known {
        None => {
            let id = database::fresh_id(tx)?;
            write_row(tx, entry, &RowPlace { id: &id, ..place }, raw)?;
            id
        }
        // Sent twice, after a crash between the hand-over and the record of it.
        Some(row) if row.is_recorded && !row.is_deleted => {
            let id = database::fresh_id(tx)?;
            let unnamed = RowPlace {
                id: &id,
                is_named: false,
                ..place
            };
            write_row(tx, entry, &unnamed, raw)?;
            id
        }
        Some(row) if row.is_deleted || row.has_waited(entry.received) => {
            delete::remove(tx, &[row.seq])?;
            write_row(
                tx,
                entry,
                &RowPlace {
                    id: &row.id,
                    ..place
                },
                raw,
            )?;
            (new, shown) = (0, usize::from(row.is_deleted));
            row.id
        }
        Some(row) => {
            let filled = RowPlace {
                id: &row.id,
                seq: Some(row.seq),
                ..place
            };
            write_row(tx, entry, &filled, raw)?;
            (new, shown) = (0, 0);
            row.id
        }
    };
    Ok(WrittenRow { id, new, shown })
}

fn write_row(
    tx: &Transaction<'_>,
    entry: &NewRow,
    place: &RowPlace<'_>,
    raw: &[u8],
) -> Result<(), Error> {
    let mut summary = Summary {
        id: place.id.to_owned(),
        ..entry.summary.clone()
    };
    if let Some(carried) = place.carried.filter(|carried| !carried.username.is_empty()) {
        summary.username.clone_from(&carried.username);
    }
    let words = &entry.words;
    let values = params![
        place.id,
        entry.received.0,
        i64::try_from(raw.len()).unwrap_or(i64::MAX),
        entry.is_recorded,
        i64::try_from(summary.attachments).unwrap_or(i64::MAX),
        i64::try_from(entry.inlines).unwrap_or(i64::MAX),
        entry.envelope,
        serde_json::to_string(&summary)?,
        summary.message_id,
        words.from,
        words.to,
        words.cc,
        words.bcc,
        words.reply_to,
        words.recipients,
        words.subject,
        words.all,
    ];
    let seq = match place.seq {
        None => {
            tx.prepare_cached(database::INSERT)?.execute(values)?;
            tx.last_insert_rowid()
        }
        Some(seq) => {
            let values: Vec<&dyn ToSql> =
                values.iter().copied().chain([&seq as &dyn ToSql]).collect();
            tx.prepare_cached(database::FILL)?
                .execute(values.as_slice())?;
            seq
        }
    };
    tags::add(tx, seq, &entry.tags)?;
    if let Some(carried) = place.carried {
        tags::add(tx, seq, &carried.tags)?;
    }
    if entry.is_recorded {
        tx.prepare_cached("INSERT INTO raw (seq, bytes) VALUES (?1, ?2)")?
            .execute(params![seq, raw])?;
    }
    let copy = entry.copy.as_ref();
    tx.prepare_cached(database::PUT_COPY)?.execute(params![
        seq,
        entry.is_recorded,
        copy.filter(|_| place.is_named).map(copy_name),
        copy.map(|copy| request_name(&copy.account, &copy.message)),
        entry.status.rank(),
        entry.reason,
        entry.leaves.map(|at| at.0),
        place.arrived,
    ])?;
    Ok(())
}

fn count(row: &SqlRow<'_>, column: usize) -> rusqlite::Result<usize> {
    Ok(usize::try_from(row.get::<_, i64>(column)?).unwrap_or_default())
}
