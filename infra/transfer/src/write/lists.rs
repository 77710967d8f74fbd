//! Writes the lists of addresses: some thousands of lines at a time, from where the last run ended.

use std::path::Path;

use posthaste_model::{EmailAddress, Timestamp};
use posthaste_store::{ListEntry, Mark, SuppressionList};
use serde_json::Value;

use super::AccountWriter;
use crate::TransferError;
use crate::digest::RunningDigest;
use crate::folder::Lines;
use crate::journal::WrittenState;
use crate::part::AccountPart;
use crate::read::text_in;

/// Lines that are in memory at a time.
const LOT: usize = 2_000;

/// Lines between two lines of progress.
const SHOWN: usize = 50_000;

impl AccountWriter<'_> {
    pub(super) async fn write_list(&mut self, part: AccountPart) -> Result<(), TransferError> {
        let name = self.name(part);
        let file = self.folder.file(part);
        let written = self.journal.written(&name);
        let (start, mut digest) = match prefix(&file, &written)? {
            Some(digest) => (written.bytes, digest),
            // Another file than the last time, or its beginning is another: all of it.
            None => (0, RunningDigest::default()),
        };
        let (mut lot, mut shown) = (Vec::new(), 0);
        let mut state = WrittenState::default();
        for (number, line) in Lines::open(&file)?.enumerate() {
            let line = line?;
            self.report.counts(part).read += 1;
            if line.end <= start {
                self.report.counts(part).unchanged += 1;
                continue;
            }
            digest.push(&line.bytes);
            digest.push(b"\n");
            let read = line.value().map_err(|fault| fault.to_string());
            match read.and_then(|item| self.entry(part, &item)) {
                Ok(entry) => lot.push(entry),
                Err(why) => {
                    let what = line.label(number + 1);
                    self.report.refuse_item(part, &what, why);
                }
            }
            state.bytes = line.end;
            if lot.len() == LOT {
                state.digest = digest.text();
                self.put(part, &mut lot, &state).await?;
                shown += LOT;
                if shown % SHOWN == 0 {
                    self.progress.say(format!("{name}: {} written", number + 1));
                }
            }
        }
        if state.bytes > 0 {
            state.digest = digest.text();
            self.put(part, &mut lot, &state).await?;
        }
        Ok(())
    }

    /// Puts addresses on their lists and notes how far the file is written.
    async fn put(
        &mut self,
        part: AccountPart,
        lot: &mut Vec<ListEntry>,
        state: &WrittenState,
    ) -> Result<(), TransferError> {
        let (lot, name) = (std::mem::take(lot), self.name(part));
        let count = lot.len();
        let added = match self.account() {
            None => count,
            Some(here) => {
                let id = here.account().id.clone();
                self.store.suppress_many(&id, lot).await?
            }
        };
        let counts = self.report.counts(part);
        counts.created += added;
        counts.unchanged += count.saturating_sub(added);
        Ok(self.journal.note_written(&name, state.clone())?)
    }

    fn entry(&self, part: AccountPart, item: &Value) -> Result<ListEntry, String> {
        let number = |name: &str| item.get(name).and_then(Value::as_i64);
        let text = |name: &str| text_in(item, name).map(str::to_owned);
        let (list, at) = match part.list() {
            Some(list) => (list, number("created")),
            None => {
                let id = number("group_id").ok_or("it has no group_id")?;
                let id = self.journal.group(&self.prefix, id);
                let id = id.ok_or("its group was not taken")?;
                (SuppressionList::Group(id), number("created_at"))
            }
        };
        let email = text_in(item, "email").ok_or("it has no email")?;
        let address = EmailAddress::parse_stored(email).map_err(|error| error.to_string())?;
        let at = at.filter(|at| (0..=9_999_999_999).contains(at));
        Ok(ListEntry {
            folded: address.folded(),
            list,
            mark: Mark {
                at: Timestamp(at.ok_or("it has no time")?),
                reason: text("reason"),
                status: text("status"),
                ip: text("ip"),
            },
        })
    }
}

/// The digest of the beginning of a file that was written, if it is still that.
fn prefix(file: &Path, written: &WrittenState) -> Result<Option<RunningDigest>, TransferError> {
    if written.bytes == 0 {
        return Ok(None);
    }
    let mut digest = RunningDigest::default();
    for line in Lines::open(file)? {
        let line = line?;
        digest.push(&line.bytes);
        digest.push(b"\n");
        if line.end >= written.bytes {
            let is_same = line.end == written.bytes && digest.text() == written.digest;
            return Ok(is_same.then_some(digest));
        }
    }
    Ok(None)
}
