//! What an import has done so far, so that it goes on where it was stopped and takes only what changed.
//!
//! One line of JSON for each step, appended to `journal.jsonl` after the step: a process that is killed between the
//! two repeats the step, which changes nothing. A last line that was cut off by a kill is dropped.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use posthaste_model::KeyId;
use serde::{Deserialize, Serialize};

use crate::folder::Lines;

/// The file in the folder.
const FILE: &str = "journal.jsonl";

/// A step.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum JournalLine {
    /// Where the import reads, and the id of the account that it writes to.
    Import { from: String, to: String },
    /// A part was read up to a second; its file then had this many bytes.
    ReadUntil {
        part: String,
        until: i64,
        bytes: u64,
    },
    /// A part was read whole, in the run that is under way.
    Read { part: String },
    /// The first bytes of a part's file are in the account.
    Written {
        part: String,
        bytes: u64,
        digest: String,
    },
    /// An item is in the account as it was read.
    Item {
        part: String,
        key: String,
        digest: String,
    },
    /// A group of the account whose parts begin so has this id here.
    Group {
        #[serde(default)]
        prefix: String,
        from: i64,
        to: i64,
    },
    /// A key is made next, whose secret is shown when the run is over.
    Key { part: String, id: KeyId },
    /// What was read is read anew by the next run.
    Planned,
    /// Everything was read and written: the next run begins anew.
    Finished,
}

/// How far the file of a list has been read from the other service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReadState {
    /// The last second that was read.
    pub(crate) until: Option<i64>,
    /// Bytes of the file.
    pub(crate) bytes: u64,
}

/// How much of a file has been written to the account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WrittenState {
    pub(crate) bytes: u64,
    /// Of these bytes.
    pub(crate) digest: String,
}

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JournalFault {
    #[error("another import is under way in {0}")]
    Locked(PathBuf),
    #[error("{0} holds the import of {1} into the account {2}: name another folder with --state")]
    Other(PathBuf, String, String),
    #[error("{0} has files that are not those of an import: name another folder with --state")]
    Foreign(PathBuf),
    #[error(
        "{0}, line {1}, is no step of an import: name another folder with --state, or remove this one"
    )]
    Line(PathBuf, usize),
    #[error("{0}: {1}")]
    Folder(PathBuf, io::Error),
}

/// The steps of an import.
#[derive(Default)]
pub(crate) struct ImportJournal {
    /// `None` for one that is not stored: of an export or a plan.
    file: Option<File>,
    import: Option<(String, String)>,
    read: HashMap<String, ReadState>,
    done: BTreeSet<String>,
    written: HashMap<String, WrittenState>,
    items: BTreeMap<(String, String), String>,
    groups: BTreeMap<(String, i64), i64>,
    keys: BTreeSet<(String, KeyId)>,
}

impl ImportJournal {
    /// The journal of a folder, for this import. A folder with other files, and a journal of another import, are left as
    /// they are.
    pub(crate) fn open(folder: &Path, from: &str, to: &str) -> Result<Self, JournalFault> {
        let path = folder.join(FILE);
        let failed = |error| JournalFault::Folder(path.clone(), error);
        let (mut journal, file) = match Self::load(folder, from, to)? {
            Some((journal, file, end)) => {
                if file.metadata().map_err(failed)?.len() > end {
                    file.set_len(end).map_err(failed)?;
                }
                (journal, file)
            }
            None => {
                let mut options = OpenOptions::new();
                let file = options.create_new(true).append(true).mode(0o600);
                let file = file.open(&path).map_err(failed)?;
                lock(folder, &path, &file)?;
                (Self::default(), file)
            }
        };
        journal.file = Some(file);
        if journal.import.is_none() {
            let (from, to) = (from.to_owned(), to.to_owned());
            let step = JournalLine::Import { from, to };
            journal.step(step).map_err(failed)?;
        }
        Ok(journal)
    }

    /// The steps of an import so far, for a plan: nothing is stored.
    pub(crate) fn peek(folder: &Path, from: &str, to: &str) -> Result<Self, JournalFault> {
        let found = Self::load(folder, from, to)?;
        Ok(found.map(|(journal, ..)| journal).unwrap_or_default())
    }

    /// The steps of a journal, its locked file, and where its last whole line ends; `None` for an empty folder.
    fn load(
        folder: &Path,
        from: &str,
        to: &str,
    ) -> Result<Option<(Self, File, u64)>, JournalFault> {
        let path = folder.join(FILE);
        let failed = |error| JournalFault::Folder(path.clone(), error);
        let opened = OpenOptions::new().read(true).append(true).open(&path);
        let file = match opened {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let entries = folder.read_dir().map_err(failed)?;
                let is_empty = entries.into_iter().next().is_none();
                return if is_empty {
                    Ok(None)
                } else {
                    Err(JournalFault::Foreign(folder.to_owned()))
                };
            }
            Err(error) => return Err(failed(error)),
        };
        lock(folder, &path, &file)?;
        let first = JournalLine::Import {
            from: from.to_owned(),
            to: to.to_owned(),
        };
        let first = serde_json::to_vec(&first).map_err(|error| failed(error.into()))?;
        let (mut journal, mut end) = (Self::default(), 0);
        for (number, line) in Lines::open(&path).map_err(failed)?.enumerate() {
            let line = line.map_err(failed)?;
            // The line that a kill cut off.
            if !line.is_ended && (number > 0 || first.starts_with(&line.bytes)) {
                break;
            }
            match (number, serde_json::from_slice(&line.bytes)) {
                (0, Ok(step @ JournalLine::Import { .. })) if line.is_ended => journal.note(step),
                (0, _) => return Err(JournalFault::Foreign(folder.to_owned())),
                (_, Ok(step)) => journal.note(step),
                (_, Err(_)) => return Err(JournalFault::Line(path, number + 1)),
            }
            end = line.end;
        }
        match &journal.import {
            Some((own_from, own_to)) if own_from != from || own_to != to => Err(
                JournalFault::Other(folder.to_owned(), own_from.clone(), own_to.clone()),
            ),
            _ => Ok(Some((journal, file, end))),
        }
    }

    /// The same steps, none of which are stored from here on: for a plan.
    pub(crate) fn detached(mut self) -> Self {
        self.file = None;
        self
    }

    fn note(&mut self, step: JournalLine) {
        match step {
            JournalLine::Import { from, to } => self.import = Some((from, to)),
            JournalLine::ReadUntil { part, until, bytes } => {
                let until = Some(until);
                self.read.insert(part, ReadState { until, bytes });
            }
            JournalLine::Read { part } => {
                self.done.insert(part);
            }
            JournalLine::Written {
                part,
                bytes,
                digest,
            } => {
                self.written.insert(part, WrittenState { bytes, digest });
            }
            JournalLine::Item { part, key, digest } => {
                self.items.insert((part, key), digest);
            }
            JournalLine::Group { prefix, from, to } => {
                self.groups.insert((prefix, from), to);
            }
            JournalLine::Key { part, id } => {
                self.keys.insert((part, id));
            }
            JournalLine::Planned => self.done.clear(),
            JournalLine::Finished => {
                self.done.clear();
                self.keys.clear();
            }
        }
    }

    fn step(&mut self, step: JournalLine) -> io::Result<()> {
        if let Some(file) = &mut self.file {
            let mut line = serde_json::to_vec(&step)?;
            line.push(b'\n');
            file.write_all(&line)?;
        }
        self.note(step);
        Ok(())
    }

    /// How far the list of this name was read.
    pub(crate) fn read_state(&self, part: &str) -> ReadState {
        self.read.get(part).copied().unwrap_or_default()
    }

    /// Whether a run was stopped, which this one goes on with.
    pub(crate) fn is_resumed(&self) -> bool {
        !self.done.is_empty()
    }

    pub(crate) fn note_read_until(&mut self, part: &str, until: i64, bytes: u64) -> io::Result<()> {
        let part = part.to_owned();
        self.step(JournalLine::ReadUntil { part, until, bytes })
    }

    /// Whether the part was read in the run that is under way.
    pub(crate) fn is_read(&self, part: &str) -> bool {
        self.done.contains(part)
    }

    pub(crate) fn note_read(&mut self, part: &str) -> io::Result<()> {
        let part = part.to_owned();
        self.step(JournalLine::Read { part })
    }

    pub(crate) fn written(&self, part: &str) -> WrittenState {
        self.written.get(part).cloned().unwrap_or_default()
    }

    pub(crate) fn note_written(&mut self, part: &str, state: WrittenState) -> io::Result<()> {
        let WrittenState { bytes, digest } = state;
        let part = part.to_owned();
        self.step(JournalLine::Written {
            part,
            bytes,
            digest,
        })
    }

    /// Whether the account has the item as it is.
    pub(crate) fn has(&self, part: &str, key: &str, digest: &str) -> bool {
        let key = (part.to_owned(), key.to_owned());
        self.items.get(&key).is_some_and(|own| own == digest)
    }

    pub(crate) fn note_item(&mut self, part: &str, key: &str, digest: &str) -> io::Result<()> {
        self.step(JournalLine::Item {
            part: part.to_owned(),
            key: key.to_owned(),
            digest: digest.to_owned(),
        })
    }

    /// The id that a group has here; `prefix` is what the names of parts of its account begin with.
    pub(crate) fn group(&self, prefix: &str, from: i64) -> Option<i64> {
        self.groups.get(&(prefix.to_owned(), from)).copied()
    }

    pub(crate) fn note_group(&mut self, prefix: &str, from: i64, to: i64) -> io::Result<()> {
        let prefix = prefix.to_owned();
        self.step(JournalLine::Group { prefix, from, to })
    }

    /// The keys of a run that was stopped before it could show their secrets.
    pub(crate) fn keys_not_shown(&self, part: &str) -> Vec<KeyId> {
        let of_part = self.keys.iter().filter(|(own, _)| own == part);
        of_part.map(|(_, id)| id.clone()).collect()
    }

    pub(crate) fn note_key(&mut self, part: &str, id: &KeyId) -> io::Result<()> {
        let (part, id) = (part.to_owned(), id.clone());
        self.step(JournalLine::Key { part, id })
    }

    /// A plan was made of what was read. The import that was stopped before it stays as it is.
    pub(crate) fn note_planned(&mut self) -> io::Result<()> {
        self.step(JournalLine::Planned)
    }

    /// The run is over.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        self.step(JournalLine::Finished)
    }
}

/// Takes the lock of a journal's file.
fn lock(folder: &Path, path: &Path, file: &File) -> Result<(), JournalFault> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(JournalFault::Locked(folder.to_owned())),
        Err(TryLockError::Error(error)) => Err(JournalFault::Folder(path.to_owned(), error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_outlive_the_process_and_a_cut_line_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let open = || ImportJournal::open(folder.path(), "https://a.example", "acc");
        let mut journal = open().unwrap();
        journal.note_read_until("bounces", 7, 70).unwrap();
        journal.note_read("bounces").unwrap();
        journal.note_item("templates", "t", "d1").unwrap();
        journal.note_item("templates", "t", "d2").unwrap();
        journal.note_group("", 3, 9).unwrap();
        let state = WrittenState {
            bytes: 5,
            digest: "x".to_owned(),
        };
        journal.note_written("bounces", state.clone()).unwrap();
        assert!(matches!(open(), Err(JournalFault::Locked(_))));
        drop(journal);

        let path = folder.path().join(FILE);
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"{\"group\":{\"prefix\":\"\",\"from\":4,")
            .unwrap();
        drop(file);

        let mut journal = open().unwrap();
        let until = Some(7);
        assert_eq!(
            journal.read_state("bounces"),
            ReadState { until, bytes: 70 }
        );
        assert!(journal.is_read("bounces") && journal.is_resumed());
        assert!(journal.has("templates", "t", "d2") && !journal.has("templates", "t", "d1"));
        let group = |from| journal.group("", from);
        assert_eq!((group(3), group(4)), (Some(9), None));
        assert_eq!(journal.group("subusers/a/", 3), None);
        assert_eq!(journal.written("bounces"), state);
        journal.note_group("", 4, 4).unwrap();
        journal.finish().unwrap();
        drop(journal);

        let journal = open().unwrap();
        assert!(!journal.is_read("bounces") && !journal.is_resumed());
        assert_eq!(journal.group("", 4), Some(4));
        drop(journal);
        let other = ImportJournal::open(folder.path(), "https://b.example", "acc");
        assert!(matches!(other, Err(JournalFault::Other(..))));
    }
}
