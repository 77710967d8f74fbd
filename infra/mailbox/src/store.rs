//! The mails in one SQLite database: in a file, where they outlive the process, or in memory.
//!
//! Every delivery is one transaction in the write-ahead log. It is in the hands of the operating
//! system when the call returns, so killing the process loses nothing; only a crash of the whole
//! machine may lose the last moments (`synchronous = NORMAL`).

use std::path::Path;

use posthaste_model::Millis;
use rusqlite::{Connection, OptionalExtension as _, Row as SqlRow, params, params_from_iter};

use crate::parse::Digest;
use crate::query::Term;
use crate::rows::{Row, Slice, Totals, rfc3339};
use crate::sql::{self, Clause};
use crate::{Envelope, Error, Summary, file};

/// Bytes kept beside the count: ten thousand mails of ten megabytes must not fill a disk.
const LARGEST: i64 = 2 << 30;

/// The open database. Counts are kept here, because a load test asks for them all the time.
pub(crate) struct Store {
    db: Connection,
    limit: usize,
    totals: Totals,
    bytes: i64,
    /// Mails taken and mails dropped or deleted since the start.
    pub(crate) taken: usize,
    pub(crate) taken_bytes: u64,
    pub(crate) gone: usize,
}

/// A mail with what the dialogue and the clock said of it.
pub(crate) struct Kept {
    pub summary: Summary,
    pub envelope: Envelope,
    pub raw: Vec<u8>,
}

impl Store {
    /// Opens the file, or a database in memory, and makes the tables in a new one.
    pub(crate) fn open(file: Option<&Path>, limit: usize) -> Result<Self, Error> {
        let db = file::connect(file)?;
        let (totals, bytes) = db.query_row(
            "SELECT count(*), coalesce(sum(unread), 0), coalesce(sum(size), 0) FROM mail",
            [],
            |row| Ok((totals(row)?, row.get(2)?)),
        )?;
        let mut store = Self {
            db,
            limit: limit.max(1),
            totals,
            bytes,
            taken: 0,
            taken_bytes: 0,
            gone: 0,
        };
        store.trim()?;
        Ok(store)
    }

    /// Keeps a mail, drops the oldest ones beyond the limits, and tells the new id.
    pub(crate) fn insert(
        &mut self,
        digest: Digest,
        envelope: &Envelope,
        received: Millis,
        raw: &[u8],
    ) -> Result<String, Error> {
        let size = i64::try_from(raw.len()).unwrap_or(i64::MAX);
        let id = file::fresh_id(&self.db)?;
        let summary = Summary {
            id: id.clone(),
            created: rfc3339(received),
            size: raw.len(),
            ..digest.summary
        };
        let words = digest.search;
        let tx = self.db.transaction()?;
        tx.prepare_cached(sql::INSERT)?.execute(params![
            id,
            received.0,
            size,
            i64::try_from(summary.attachments).unwrap_or(i64::MAX),
            i64::try_from(digest.inlines).unwrap_or(i64::MAX),
            serde_json::to_string(envelope)?,
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
        self.bytes += size;
        self.taken += 1;
        self.taken_bytes += u64::try_from(raw.len()).unwrap_or_default();
        self.trim()?;
        Ok(id)
    }

    /// `start` mails skipped, newest first, `limit` of those that match; `None` for all of them.
    pub(crate) fn list(
        &self,
        terms: &[Term],
        start: usize,
        limit: Option<usize>,
    ) -> Result<Slice, Error> {
        let Clause { text, mut values } = sql::matching(terms);
        let matching = if terms.is_empty() {
            self.totals
        } else {
            let count = format!("SELECT count(*), coalesce(sum(unread), 0) FROM mail WHERE {text}");
            let values = params_from_iter(values.iter());
            self.db.query_row(&count, values, totals)?
        };
        let bound = |n: usize| i64::try_from(n).unwrap_or(i64::MAX).into();
        values.push(limit.map_or((-1).into(), bound));
        values.push(bound(start));
        let select = format!(
            "SELECT summary, envelope, unread FROM mail WHERE {text} ORDER BY seq DESC LIMIT ? OFFSET ?"
        );
        let mut statement = self.db.prepare_cached(&select)?;
        let found = statement.query_map(params_from_iter(values), line)?;
        let mut rows = Vec::new();
        for found in found {
            let (summary, envelope, unread) = found?;
            rows.push(row(&summary, &envelope, unread)?);
        }
        Ok(Slice {
            totals: self.totals,
            matching,
            rows,
        })
    }

    /// One mail without its bytes, which may be many.
    pub(crate) fn head(&self, id: &str) -> Result<Option<Row>, Error> {
        let found = self
            .db
            .prepare_cached("SELECT summary, envelope, unread FROM mail WHERE id = ?")?
            .query_row([id], line)
            .optional()?;
        found
            .map(|(summary, envelope, unread)| row(&summary, &envelope, unread))
            .transpose()
    }

    /// One mail, with its bytes.
    pub(crate) fn get(&self, id: &str) -> Result<Option<Kept>, Error> {
        let Some(Row { summary, envelope }) = self.head(id)? else {
            return Ok(None);
        };
        let raw = self
            .db
            .prepare_cached("SELECT bytes FROM mail JOIN raw USING (seq) WHERE id = ?")?
            .query_row([id], |row| row.get(0))?;
        Ok(Some(Kept {
            summary,
            envelope,
            raw,
        }))
    }

    /// Marks mails as read or unread; says whether any changed.
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

    /// Deletes mails and gives their room back to the disk; says whether there were any.
    pub(crate) fn delete(&mut self, which: &Clause) -> Result<bool, Error> {
        let some = self.drop_where(which)?;
        if some {
            // Both give their room back only when read to the end.
            for pragma in ["incremental_vacuum", "wal_checkpoint(TRUNCATE)"] {
                let mut statement = self.db.prepare_cached(&format!("PRAGMA {pragma}"))?;
                let mut steps = statement.query([])?;
                while steps.next()?.is_some() {}
            }
        }
        Ok(some)
    }

    /// Bytes of the database on disk or in memory.
    pub(crate) fn footprint(&self) -> Result<i64, Error> {
        let pages = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()";
        Ok(self.db.query_row(pages, [], |row| row.get(0))?)
    }

    pub(crate) fn totals(&self) -> Totals {
        self.totals
    }

    /// Drops the oldest beyond the limits, and one in a hundred more: neighbours together cost
    /// little, while dropping one for each that comes would double what a delivery writes.
    fn trim(&mut self) -> Result<(), Error> {
        while self.totals.total > self.limit || self.bytes > LARGEST && self.totals.total > 1 {
            let surplus = self.totals.total.saturating_sub(self.limit).max(1) + self.limit / 100;
            let surplus = surplus.min(self.totals.total - 1);
            self.drop_where(&Clause {
                text: format!("seq IN (SELECT seq FROM mail ORDER BY seq LIMIT {surplus})"),
                values: Vec::new(),
            })?;
        }
        Ok(())
    }

    fn drop_where(&mut self, which: &Clause) -> Result<bool, Error> {
        let tx = self.db.transaction()?;
        let raw = format!(
            "DELETE FROM raw WHERE seq IN (SELECT seq FROM mail WHERE {})",
            which.text
        );
        tx.prepare_cached(&raw)?
            .execute(params_from_iter(&which.values))?;
        let mail = format!(
            "DELETE FROM mail WHERE {} RETURNING unread, size",
            which.text
        );
        let mut gone = (0, 0, 0);
        {
            let mut statement = tx.prepare_cached(&mail)?;
            let mut rows = statement.query(params_from_iter(&which.values))?;
            while let Some(row) = rows.next()? {
                gone = (
                    gone.0 + 1,
                    gone.1 + count(row, 0)?,
                    gone.2 + row.get::<_, i64>(1)?,
                );
            }
        }
        tx.commit()?;
        self.totals.total = self.totals.total.saturating_sub(gone.0);
        self.totals.unread = self.totals.unread.saturating_sub(gone.1);
        self.bytes = self.bytes.saturating_sub(gone.2);
        self.gone += gone.0;
        Ok(gone.0 > 0)
    }
}

fn line(sql: &SqlRow<'_>) -> rusqlite::Result<(String, String, bool)> {
    Ok((sql.get(0)?, sql.get(1)?, sql.get(2)?))
}

fn row(summary: &str, envelope: &str, unread: bool) -> Result<Row, Error> {
    let summary: Summary = serde_json::from_str(summary)?;
    let envelope = serde_json::from_str(envelope)?;
    Ok(Row {
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
