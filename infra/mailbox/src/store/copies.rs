//! What becomes of copies: those that are expected, and the news of them.

use posthaste_model::{AccountId, MessageId, Millis, Verp};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::{RowPlace, Store, write_row};
use crate::Error;
use crate::copies::{CopyEvent, DeliveryStatus, copy_name, request_name};
use crate::database::{self, Clause};
use crate::digest::NewRow;

/// Rows written in one transaction, which room is made for.
const LOT: usize = 20;

/// What came of events.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Noted {
    pub is_change: bool,
    /// Copies that have no row, and had none.
    pub unknown: Vec<Verp>,
}

/// A row that a copy has.
pub(super) struct Known {
    pub seq: i64,
    pub id: String,
    pub is_recorded: bool,
    pub is_deleted: bool,
    pub status: DeliveryStatus,
    reason: String,
    accepted: Millis,
    leaves: Option<i64>,
}

/// What is known of a copy before its mail is made, and kept when it is.
#[derive(Default)]
pub(super) struct CarriedFields {
    /// The name of the key that it was sent with.
    pub username: String,
    pub tags: Vec<String>,
}

impl CarriedFields {
    /// Those of the row at a position.
    pub(super) fn of_row(db: &Connection, seq: i64) -> Result<Self, Error> {
        let username = db
            .prepare_cached("SELECT summary ->> '$.Username' FROM mail WHERE seq = ?")?
            .query_row([seq], |row| row.get::<_, Option<String>>(0))?;
        let mut tags = db.prepare_cached("SELECT name FROM tag WHERE seq = ?")?;
        let tags = tags.query_map([seq], |row| row.get(0))?;
        Ok(Self {
            username: username.unwrap_or_default(),
            tags: tags.collect::<Result<_, _>>()?,
        })
    }
}

impl Known {
    /// Whether a mail that is recorded now was sent later than it was accepted, so that its place in the list is
    /// a new one. Mail of a batch is scheduled without a time of its own: it waited if the batch was paused.
    pub(super) fn has_waited(&self, now: Millis) -> bool {
        const SOON: i64 = 60_000;
        let is_timed = self.leaves > Some(self.accepted.seconds().0);
        self.status == DeliveryStatus::Scheduled && (is_timed || now.0 - self.accepted.0 > SOON)
    }
}

/// The row of a copy.
pub(super) fn known(db: &Connection, copy: &Verp) -> Result<Option<Known>, Error> {
    let select = "SELECT seq, id, recorded, deleted IS NOT NULL, rank, reason, received, leaves
        FROM copy JOIN mail USING (seq) WHERE name = ?";
    let found = db
        .prepare_cached(select)?
        .query_row([copy_name(copy)], |row| {
            Ok(Known {
                seq: row.get(0)?,
                id: row.get(1)?,
                is_recorded: row.get(2)?,
                is_deleted: row.get(3)?,
                status: DeliveryStatus::of_rank(row.get(4)?).unwrap_or(DeliveryStatus::Queued),
                reason: row.get(5)?,
                accepted: Millis(row.get(6)?),
                leaves: row.get(7)?,
            })
        });
    Ok(found.optional()?)
}

impl Store {
    /// Adds rows of copies whose mail has yet to come. One that has a row is left as it is.
    pub(crate) fn expect(&mut self, entries: &[NewRow]) -> Result<(), Error> {
        for lot in entries.chunks(LOT) {
            let size: u64 = lot.iter().map(|entry| entry.space(&[])).sum();
            self.make_room(lot.len(), size.min(self.limits.bytes / 2))?;
            let tx = self.db.transaction()?;
            let mut new = 0;
            for entry in lot {
                if let Some(copy) = &entry.copy
                    && known(&tx, copy)?.is_none()
                {
                    let id = database::fresh_id(&tx)?;
                    write_row(&tx, entry, &RowPlace::new(&id), &[])?;
                    new += 1;
                }
            }
            tx.commit()?;
            self.all += new;
            self.shown += new;
        }
        Ok(())
    }

    /// Takes back what [`Store::expect`] added for a request that was not accepted after all.
    pub(crate) fn withdraw(
        &mut self,
        account: &AccountId,
        message: &MessageId,
    ) -> Result<(), Error> {
        let unsent = Clause {
            text: "request = ? AND NOT recorded AND rank <= ?".to_owned(),
            values: vec![
                Value::Text(request_name(account, message)),
                Value::Integer(DeliveryStatus::Scheduled.rank()),
            ],
        };
        self.drop_where(&unsent).map(drop)
    }

    /// Changes the states of copies. Events may come twice, and in any order.
    pub(crate) fn note(&mut self, events: &[CopyEvent]) -> Result<Noted, Error> {
        let tx = self.db.transaction()?;
        let mut noted = Noted::default();
        for event in events {
            let name = copy_name(&event.copy);
            match known(&tx, &event.copy)? {
                Some(row) if row.status > event.status => {}
                Some(row) if row.status == event.status && row.reason == event.reason => {}
                Some(row) => {
                    tx.prepare_cached("UPDATE copy SET rank = ?, reason = ? WHERE seq = ?")?
                        .execute(params![event.status.rank(), event.reason, row.seq])?;
                    noted.is_change |= !row.is_deleted;
                }
                None => {
                    let is_gone = tx
                        .prepare_cached("SELECT 1 FROM gone WHERE name = ?")?
                        .exists([name])?;
                    if !is_gone && !noted.unknown.contains(&event.copy) {
                        noted.unknown.push(event.copy.clone());
                    }
                }
            }
        }
        tx.commit()?;
        Ok(noted)
    }

    /// Removes the mails to an address, in both of its forms in lower case, of an account; also those
    /// of unknown accounts.
    pub(crate) fn erase(
        &mut self,
        account: &AccountId,
        [written, folded]: [&str; 2],
    ) -> Result<usize, Error> {
        let account = format!("{account}/");
        let to = Clause {
            text: "(holds(' ' || lower_rcpt || ' ', ?) OR holds(' ' || lower_rcpt || ' ', ?)) \
                   AND (request IS NULL OR substr(request, 1, length(?)) = ?)"
                .to_owned(),
            values: [
                format!(" {written} "),
                format!(" {folded} "),
                account.clone(),
                account,
            ]
            .map(Value::Text)
            .into(),
        };
        let before = self.all;
        if self.drop_where(&to)? {
            self.give_back()?;
        }
        Ok(before - self.all)
    }
}
