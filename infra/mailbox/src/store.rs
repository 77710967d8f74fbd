//! The mails in one SQLite database: in a file, where they outlive the process, or in memory.
//!
//! Every delivery is one transaction in the write-ahead log. The operating system has it when the
//! call returns, so killing the process loses nothing; only a crash of the whole machine may lose
//! the last moments (`synchronous = NORMAL`).

mod arrivals;

use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, Row as SqlRow, params, params_from_iter};

use crate::database::{self, Clause};
use crate::digest::NewRow;
use crate::query::Term;
use crate::rows::{ListRow, ListSlice, Totals};
use crate::{Error, StoredEnvelope, Summary};

/// The default number of mails stored.
pub const DEFAULT_LIMIT: usize = 10_000;

/// The default size of the mailbox in bytes: ten thousand mails of ten megabytes must not fill a
/// disk.
pub const LARGEST_STORE: u64 = 2 << 30;

/// The limits beyond which the oldest mails are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MailboxLimits {
    /// Mails stored; at least one.
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
    totals: Totals,
    /// Mails accepted and mails dropped or deleted since the start.
    pub(crate) taken: usize,
    pub(crate) taken_bytes: u64,
    pub(crate) gone: usize,
}

/// What one step of a search found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct SearchStep {
    /// Positions of the mails that match, newest first, and whether each is unread.
    pub found: Vec<(i64, bool)>,
    /// Where the next step begins; `None` after the last mail.
    pub next: Option<i64>,
}

/// A mail with its envelope and its time of receipt.
pub(crate) struct StoredMail {
    pub summary: Summary,
    pub envelope: StoredEnvelope,
    pub raw: Vec<u8>,
}

impl Store {
    /// Opens the file, or a database in memory, and makes the tables in a new one.
    pub(crate) fn open(file: Option<&Path>, limits: MailboxLimits) -> Result<Self, Error> {
        let db = database::connect(file)?;
        let totals = db.query_row(
            "SELECT count(*), coalesce(sum(unread), 0) FROM mail",
            [],
            totals,
        )?;
        let mut store = Self {
            db,
            limits: MailboxLimits {
                mails: limits.mails.max(1),
                ..limits
            },
            totals,
            taken: 0,
            taken_bytes: 0,
            gone: 0,
        };
        if store.make_room(0, 0)? {
            store.give_back()?;
        }
        Ok(store)
    }

    /// Drops the oldest mails beyond the limits, stores this one, and returns its id.
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
        let id = database::fresh_id(&self.db)?;
        let summary = Summary {
            id: id.clone(),
            ..entry.summary.clone()
        };
        let words = &entry.words;
        let tx = self.db.transaction()?;
        tx.prepare_cached(database::INSERT)?.execute(params![
            id,
            entry.received.0,
            i64::try_from(raw.len()).unwrap_or(i64::MAX),
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
        ])?;
        tx.prepare_cached("INSERT INTO raw (seq, bytes) VALUES (?1, ?2)")?
            .execute(params![tx.last_insert_rowid(), raw])?;
        tx.commit()?;
        self.totals.total += 1;
        self.totals.unread += 1;
        self.taken += 1;
        self.taken_bytes += u64::try_from(raw.len()).unwrap_or_default();
        Ok(id)
    }

    /// Whether a mail fits without dropping others, which takes time in proportion to their size.
    pub(crate) fn has_room(&self, entry: &NewRow, raw: &[u8]) -> Result<bool, Error> {
        let (mails, bytes) = self.surplus(1, entry.space(raw))?;
        Ok(mails == 0 && bytes == 0)
    }

    /// `start` mails skipped, newest first, `limit` of the others; `None` for all of them.
    pub(crate) fn list(&self, start: usize, limit: Option<usize>) -> Result<ListSlice, Error> {
        let bound = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        let select =
            "SELECT summary, envelope, unread FROM mail ORDER BY seq DESC LIMIT ? OFFSET ?";
        let values = [limit.map_or(-1, bound), bound(start)].map(Value::Integer);
        Ok(ListSlice {
            totals: self.totals,
            matching: self.totals,
            rows: self.rows(select, values.into())?,
        })
    }

    /// The mails at these positions, newest first, of `matching` mails that a search found.
    pub(crate) fn found(&self, page: &[i64], matching: Totals) -> Result<ListSlice, Error> {
        let Clause { text, values } = database::at(page);
        let select =
            format!("SELECT summary, envelope, unread FROM mail WHERE {text} ORDER BY seq DESC");
        Ok(ListSlice {
            totals: self.totals,
            matching,
            rows: self.rows(&select, values)?,
        })
    }

    fn rows(&self, select: &str, values: Vec<Value>) -> Result<Vec<ListRow>, Error> {
        let mut statement = self.db.prepare_cached(select)?;
        let lines = statement.query_map(params_from_iter(values), line)?;
        lines
            .map(|line| {
                let (summary, envelope, unread) = line?;
                row(&summary, &envelope, unread)
            })
            .collect()
    }

    /// One step of a search: the mails before the position `before` that match every term, newest
    /// first. It compares about `most` bytes, and at least one mail.
    pub(crate) fn search(
        &self,
        terms: &[Term],
        before: i64,
        most: u64,
    ) -> Result<SearchStep, Error> {
        let walk = format!(
            "SELECT seq, {} FROM mail WHERE seq < ? ORDER BY seq DESC",
            database::ROW
        );
        let mut statement = self.db.prepare_cached(&walk)?;
        let mut rows = statement.query([before])?;
        let each = u64::try_from(terms.len()).unwrap_or(u64::MAX);
        let (mut from, mut work) = (None, 0_u64);
        while work < most
            && let Some(row) = rows.next()?
        {
            from = Some(row.get(0)?);
            let size = u64::try_from(row.get::<_, i64>(1)?).unwrap_or_default();
            work = work.saturating_add(size.saturating_mul(each));
        }
        let Some(from) = from else {
            return Ok(SearchStep::default());
        };
        let Clause { text, mut values } = database::matching(terms);
        values.extend([from, before].map(Value::Integer));
        let select = format!(
            "SELECT seq, unread FROM mail WHERE {text} AND seq >= ? AND seq < ? ORDER BY seq DESC"
        );
        let mut statement = self.db.prepare_cached(&select)?;
        let found = statement.query_map(params_from_iter(values), |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
        Ok(SearchStep {
            found: found.collect::<Result<_, _>>()?,
            next: Some(from),
        })
    }

    /// One mail without its bytes, which may be many.
    pub(crate) fn head(&self, id: &str) -> Result<Option<ListRow>, Error> {
        let found = self
            .db
            .prepare_cached("SELECT summary, envelope, unread FROM mail WHERE id = ?")?
            .query_row([id], line)
            .optional()?;
        found
            .map(|(summary, envelope, unread)| row(&summary, &envelope, unread))
            .transpose()
    }

    /// The bytes of one mail.
    pub(crate) fn bytes(&self, id: &str) -> Result<Option<Vec<u8>>, Error> {
        let found = self
            .db
            .prepare_cached("SELECT bytes FROM mail JOIN raw USING (seq) WHERE id = ?")?
            .query_row([id], |row| row.get(0))
            .optional()?;
        Ok(found)
    }

    /// Marks mails as read or unread; returns whether any changed.
    pub(crate) fn mark(&mut self, which: &Clause, read: bool) -> Result<bool, Error> {
        let update = format!(
            "UPDATE mail SET unread = {} WHERE unread = {} AND {}",
            u8::from(!read),
            u8::from(read),
            which.text
        );
        let changed = self.db.execute(&update, params_from_iter(&which.values))?;
        if read {
            self.totals.unread = self.totals.unread.saturating_sub(changed);
        } else {
            self.totals.unread += changed;
        }
        Ok(changed > 0)
    }

    /// Deletes mails and returns their space to the disk; returns whether there were any.
    pub(crate) fn delete(&mut self, which: &Clause) -> Result<bool, Error> {
        let some = self.drop_where(which)?;
        if some {
            self.give_back()?;
        }
        Ok(some)
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

    /// Bytes of the database on disk or in memory.
    pub(crate) fn footprint(&self) -> Result<i64, Error> {
        let pages = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()";
        Ok(self.db.query_row(pages, [], |row| row.get(0))?)
    }

    pub(crate) fn totals(&self) -> Totals {
        self.totals
    }

    /// Mails and bytes beyond the limits if these are added.
    fn surplus(&self, mails: usize, bytes: u64) -> Result<(usize, u64), Error> {
        // Pages in use: those of deleted mails are reused.
        let pages = "SELECT (page_count - freelist_count) * page_size
            FROM pragma_page_count(), pragma_freelist_count(), pragma_page_size()";
        let mut statement = self.db.prepare_cached(pages)?;
        let used: i64 = statement.query_row([], |row| row.get(0))?;
        let used = u64::try_from(used).unwrap_or_default();
        Ok((
            (self.totals.total + mails).saturating_sub(self.limits.mails),
            (used + bytes).saturating_sub(self.limits.bytes),
        ))
    }

    /// Drops the oldest until these fit in, and one in a hundred more: neighbours together cost
    /// little, while dropping one for each new mail would double what a delivery writes. Returns
    /// whether any was dropped.
    fn make_room(&mut self, mails: usize, bytes: u64) -> Result<bool, Error> {
        let mut dropped = false;
        loop {
            let (mut more, mut room) = self.surplus(mails, bytes)?;
            if self.totals.total == 0 || more == 0 && room == 0 {
                return Ok(dropped);
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

    /// The last of the oldest mails that are so many, or that take so many bytes.
    fn oldest(&self, mails: usize, bytes: u64) -> Result<i64, Error> {
        let walk = format!(
            "SELECT seq, size + {} FROM mail ORDER BY seq",
            database::ROW
        );
        let mut statement = self.db.prepare_cached(&walk)?;
        let mut rows = statement.query([])?;
        let (mut last, mut seen, mut freed) = (0, 0, 0);
        while let Some(row) = rows.next()?
            && (seen < mails || freed < bytes || seen == 0)
        {
            last = row.get(0)?;
            seen += 1;
            freed += u64::try_from(row.get::<_, i64>(1)?).unwrap_or_default();
        }
        Ok(last)
    }

    fn drop_where(&mut self, which: &Clause) -> Result<bool, Error> {
        let tx = self.db.transaction()?;
        let raw = format!(
            "DELETE FROM raw WHERE seq IN (SELECT seq FROM mail WHERE {})",
            which.text
        );
        tx.prepare_cached(&raw)?
            .execute(params_from_iter(&which.values))?;
        let mail = format!("DELETE FROM mail WHERE {} RETURNING unread", which.text);
        let mut gone = (0, 0);
        {
            let mut statement = tx.prepare_cached(&mail)?;
            let mut rows = statement.query(params_from_iter(&which.values))?;
            while let Some(row) = rows.next()? {
                gone = (gone.0 + 1, gone.1 + count(row, 0)?);
            }
        }
        tx.commit()?;
        self.totals.total = self.totals.total.saturating_sub(gone.0);
        self.totals.unread = self.totals.unread.saturating_sub(gone.1);
        self.gone += gone.0;
        Ok(gone.0 > 0)
    }
}

fn line(sql: &SqlRow<'_>) -> rusqlite::Result<(String, String, bool)> {
    Ok((sql.get(0)?, sql.get(1)?, sql.get(2)?))
}

fn row(summary: &str, envelope: &str, unread: bool) -> Result<ListRow, Error> {
    let summary: Summary = serde_json::from_str(summary)?;
    let envelope = serde_json::from_str(envelope)?;
    Ok(ListRow {
        summary: Summary {
            read: !unread,
            ..summary
        },
        envelope,
    })
}

fn totals(row: &SqlRow<'_>) -> rusqlite::Result<Totals> {
    Ok(Totals {
        total: count(row, 0)?,
        unread: count(row, 1)?,
    })
}

fn count(row: &SqlRow<'_>, column: usize) -> rusqlite::Result<usize> {
    Ok(usize::try_from(row.get::<_, i64>(column)?).unwrap_or_default())
}
