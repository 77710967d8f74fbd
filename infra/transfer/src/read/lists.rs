//! Reads the lists of addresses, however long, in constant memory.
//!
//! A list is read in windows of time, the oldest first, so that its file only grows: what was read stays where it is,
//! a run that was stopped goes on behind the last window, and a later run reads the latest windows alone. A window is
//! as long as some thousands of entries take, since pages by `offset` get slower the further they lie.

use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::io;
use std::path::Path;

use serde_json::Value;

use super::bounds::{ENDLESS, MOST_IN_A_ROW, MOST_PAGES, identity};
use super::{AccountReader, PAGE, text_in};
use crate::folder::{LineWriter, Lines};
use crate::part::AccountPart;
use crate::source::{AnswerBound, Feed, ReadFault};

/// Before this second no such service kept lists: 2009-01-01.
const BEGIN: i64 = 1_230_768_000;

/// The length of the first window behind that.
const FIRST_WINDOW: i64 = 30 * 86_400;

/// Entries of a window, which are in memory while they are sorted.
const MOST_HELD: usize = 20_000;

/// Bytes of their pages.
const MOST_BYTES_HELD: usize = 16 << 20;

/// A window with fewer entries makes the next one longer, one with more shorter.
const FEW: usize = 2_000;
const MANY: usize = 10_000;

/// Seconds that a later run reads again: an entry may be listed a while after its time.
const OVERLAP: i64 = 3_600;

/// Entries of a page of this process's functions.
const PAGE_HERE: usize = 5_000;

/// Members of groups that are asked for at once; a service that gives fewer is asked again behind them.
const MEMBERS: usize = 10_000;
const MEMBERS_HERE: usize = 100_000;

/// What reading a window came to.
enum WindowRead {
    Entries(Vec<Value>),
    /// More than are held.
    TooMany,
    /// Entries of other times: the service does not know windows.
    Unknown,
}

impl AccountReader<'_> {
    pub(super) async fn read_list(&mut self, part: AccountPart) -> Result<(), ReadFault> {
        let (name, path) = (self.name(part), self.folder.file(part));
        let state = self.journal.read_state(&name);
        let mut out = LineWriter::after(&path, state.bytes)?;
        let now = self.source.clock().now().0;
        let (mut start, mut length) = match state.until {
            None => (0, BEGIN),
            // What follows was not read at all, by a run that goes on or by one long after it.
            Some(until) => ((until + 1 - OVERLAP).max(0), FIRST_WINDOW),
        };
        let seen = match state.until {
            None => HashSet::new(),
            Some(_) => lines_since(&path, "created", start)?,
        };
        let (mut total, mut pages) = (0, 0);
        while start <= now {
            if pages > MOST_PAGES {
                return Err(ReadFault::Broken(ENDLESS.to_owned()));
            }
            let end = (start + length - 1).min(now);
            match self.window(part, (start, end), &mut pages).await? {
                WindowRead::Unknown => return self.read_whole(part, &path).await,
                WindowRead::TooMany if end > start => {
                    length = (end - start).div_euclid(2).max(1);
                    continue;
                }
                // One second that has more than are held: page by page, as they come.
                WindowRead::TooMany => {
                    total += self
                        .second((part, start), &seen, &mut out, &mut pages)
                        .await?;
                    length = 1;
                }
                WindowRead::Entries(entries) => {
                    total += entries.len();
                    for entry in entries.iter().filter(|entry| !seen.contains(&hash(entry))) {
                        out.push(entry)?;
                    }
                    length = match entries.len() {
                        0..FEW => (end - start + 1).saturating_mul(2).max(60),
                        FEW..MANY => end - start + 1,
                        _ => ((end - start) / 2).max(1),
                    };
                    if start == 0 {
                        length = FIRST_WINDOW;
                    }
                }
            }
            let bytes = out.flush()?;
            self.journal.note_read_until(&name, end, bytes)?;
            if total > 0 {
                let progress = self.source.progress();
                progress.say(format!("{name}: {total} read"));
            }
            start = end + 1;
        }
        Ok(())
    }

    /// The entries of some seconds, both included, the oldest first.
    async fn window(
        &mut self,
        part: AccountPart,
        (start, end): (i64, i64),
        pages: &mut usize,
    ) -> Result<WindowRead, ReadFault> {
        let mut held: Vec<Value> = Vec::new();
        let (mut seen, mut bytes) = (HashSet::new(), 0);
        loop {
            let page = self.page(part, (start, end), held.len()).await?;
            *pages += 1;
            let is_inside = |entry: &Value| {
                let created = entry.get("created").and_then(Value::as_i64);
                created.is_none_or(|created| (start..=end).contains(&created))
            };
            if !page.iter().all(is_inside) {
                return Ok(WindowRead::Unknown);
            }
            let known = seen.len();
            seen.extend(page.iter().map(identity));
            if seen.len() == known {
                break;
            }
            let is_last = self.source.is_here() && page.len() < PAGE_HERE;
            held.extend(page);
            bytes += self.source.last_bytes();
            if held.len() > MOST_HELD || bytes > MOST_BYTES_HELD {
                return Ok(WindowRead::TooMany);
            }
            if is_last {
                break;
            }
        }
        let place = |entry: &Value| {
            let created = entry.get("created").and_then(Value::as_i64);
            (created, text_in(entry, "email").map(str::to_owned))
        };
        held.sort_by_cached_key(place);
        held.dedup();
        Ok(WindowRead::Entries(held))
    }

    async fn page(
        &mut self,
        part: AccountPart,
        (start, end): (i64, i64),
        offset: usize,
    ) -> Result<Vec<Value>, ReadFault> {
        let name = part.name();
        let limit = if self.source.is_here() {
            PAGE_HERE
        } else {
            PAGE
        };
        let path = format!(
            "/v3/suppression/{name}?start_time={start}&end_time={end}&limit={limit}&offset={offset}"
        );
        self.source.items(&path).await
    }

    /// Appends the entries of one second.
    async fn second(
        &mut self,
        (part, second): (AccountPart, i64),
        seen: &HashSet<u64>,
        out: &mut LineWriter,
        pages: &mut usize,
    ) -> Result<usize, ReadFault> {
        let (mut offset, mut last) = (0, Vec::new());
        for _ in 0..MOST_IN_A_ROW {
            let page = self.page(part, (second, second), offset).await?;
            *pages += 1;
            let of_page: Vec<String> = page.iter().map(identity).collect();
            if of_page.is_empty() || of_page == last {
                return Ok(offset);
            }
            for entry in page.iter().filter(|entry| !seen.contains(&hash(entry))) {
                out.push(entry)?;
            }
            offset += page.len();
            last = of_page;
        }
        let what = format!("{}: what follows {offset} of one second", self.name(part));
        self.report.refuse(what, ENDLESS);
        Ok(offset)
    }

    /// A list whose windows the service does not know: all of it, and what is new is appended.
    async fn read_whole(&mut self, part: AccountPart, path: &Path) -> Result<(), ReadFault> {
        let name = part.name();
        self.read_growing(part, path, &format!("/v3/suppression/{name}?"), PAGE)
            .await
    }

    /// The members of all groups: one list, which knows no windows.
    pub(super) async fn read_members(&mut self) -> Result<(), ReadFault> {
        let part = AccountPart::GroupMembers;
        let limit = if self.source.is_here() {
            MEMBERS_HERE
        } else {
            MEMBERS
        };
        let path = self.folder.file(part);
        match self
            .read_growing(part, &path, "/v3/asm/suppressions?", limit)
            .await
        {
            // A service that takes no pages that long.
            Err(ReadFault::Refused(status, _)) if status == http::StatusCode::BAD_REQUEST => {
                self.read_growing(part, &path, "/v3/asm/suppressions?", PAGE)
                    .await
            }
            other => other,
        }
    }

    /// Appends those entries of a list that its file does not have, page by page. A service without pages gives all
    /// at once.
    async fn read_growing(
        &mut self,
        part: AccountPart,
        file: &Path,
        list: &str,
        limit: usize,
    ) -> Result<(), ReadFault> {
        let name = self.name(part);
        let state = self.journal.read_state(&name);
        let mut out = LineWriter::after(file, state.bytes)?;
        let seen = lines_since(file, "", 0)?;
        let (mut offset, mut last, mut pages) = (0, 0, 0);
        loop {
            if pages == MOST_IN_A_ROW {
                let what = format!("{name}: what follows {offset} of them");
                self.report.refuse(what, ENDLESS);
                break;
            }
            pages += 1;
            let start = out.flush()?;
            let mut of_page = DefaultHasher::new();
            let mut sink = |feed: Feed| -> io::Result<()> {
                match feed {
                    Feed::Restart => {
                        of_page = DefaultHasher::new();
                        out.rewind(start)
                    }
                    Feed::Items(items) => {
                        for item in &items {
                            let hash = hash(item);
                            identity(item).hash(&mut of_page);
                            if !seen.contains(&hash) {
                                out.push(item)?;
                            }
                        }
                        Ok(())
                    }
                }
            };
            let path = format!("{list}limit={limit}&offset={offset}");
            let count = self
                .source
                .array(&path, AnswerBound::LIST, &mut sink)
                .await?;
            let of_page = of_page.finish();
            if count == 0 || (offset > 0 && of_page == last) {
                out.rewind(start)?;
                break;
            }
            offset += count;
            last = of_page;
            self.source.progress().say(format!("{name}: {offset} read"));
            if count > limit {
                break;
            }
        }
        let bytes = out.flush()?;
        let now = self.source.clock().now().0;
        self.journal.note_read_until(&name, now, bytes)?;
        Ok(())
    }
}

/// The hashes of the entries of a file, from this second on.
fn lines_since(path: &Path, time: &str, since: i64) -> io::Result<HashSet<u64>> {
    let mut found = HashSet::new();
    for line in Lines::open(path)? {
        let Ok(entry) = line?.value() else { continue };
        let at = entry.get(time).and_then(Value::as_i64);
        if at.is_none_or(|at| at >= since) {
            found.insert(hash(&entry));
        }
    }
    Ok(found)
}

fn hash(entry: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    entry.to_string().hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests;
