//! The data folder: persists data between runs, with a lock that keeps out a second host.
//!
//! A folder is opened only when none of its files is missing (see `parts`) or damaged (see
//! `damage`): a host that starts with a new file in place of a lost one would reject every key,
//! or drop mail that it accepted, without any error. What a lost folder of large bodies held is looked
//! for in the files beside it (see `blobs`).

mod blobs;
mod parts;
mod private;
mod secrets;

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use posthaste_store::Store;

use self::parts::{BLOBS, DataFile, Needed, SECRET};
use crate::damage;

/// Why the folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    #[error("the data folder {0} cannot be used: {1}")]
    Unusable(PathBuf, std::io::Error),
    #[error("the data folder {0} cannot be used: {1} is no folder")]
    NoFolder(PathBuf, PathBuf),
    #[error("the data folder {0} cannot be used: {1} is a link to {2}, which is not there")]
    DeadLink(PathBuf, PathBuf, PathBuf),
    #[error("the data folder {0} is used by another posthaste that is still running")]
    Locked(PathBuf),
    #[error(
        "the {kind} {} is missing or empty, and with it {holds}: put it back from a backup, or, to go \
         on without it, take its name out of {}",
        .file.display(), .list.display()
    )]
    Lost {
        /// `file` or `folder`.
        kind: &'static str,
        file: PathBuf,
        list: PathBuf,
        /// What is lost with it.
        holds: &'static str,
    },
    #[error("{0}")]
    Damaged(String),
}

/// An opened data folder; holds the lock. While it is open the lock's file records that: a record
/// found at the next start means that a process was killed.
#[derive(Debug)]
pub(crate) struct Folder {
    root: PathBuf,
    lock: File,
    /// Whether the folder of large bodies is missing although an earlier start had one.
    lost_blobs: bool,
}

impl Drop for Folder {
    fn drop(&mut self) {
        // If it fails, the next start checks more thoroughly, and nothing else.
        let _ = self.lock.set_len(0);
    }
}

impl Folder {
    /// Creates the folder when it does not exist, locks it, and checks that its files are all
    /// present, readable, and accessible to the owner only.
    pub(crate) fn open(root: &Path) -> Result<Self, FolderError> {
        let unusable = |e| FolderError::Unusable(root.to_owned(), e);
        check_path(root)?;
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(root)
            .map_err(unusable)?;
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(root.join("lock"))
            .map_err(unusable)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => return Err(FolderError::Locked(root.to_owned())),
            Err(fs::TryLockError::Error(e)) => return Err(unusable(e)),
        }
        let after_a_crash = lock.metadata().map_err(unusable)?.len() > 0;
        private::tighten(root).map_err(unusable)?;
        if let Some(mode) = private::open_to_others(root) {
            let root = root.display();
            tracing::warn!(
                "the data folder {root} is open to others (mode {mode:o}): chmod 700 {root}"
            );
        }
        let lost_blobs = check(root, after_a_crash)?;
        private::make(root).map_err(unusable)?;
        if !lost_blobs {
            private::make_folder(&root.join(BLOBS.name)).map_err(unusable)?;
        }
        (&lock).write_all(b"open\n").map_err(unusable)?;
        Ok(Self {
            root: root.to_owned(),
            lock,
            lost_blobs,
        })
    }

    /// The folder of large bodies, once the table and the queues are open. A lost one is made anew
    /// unless a job that waits there names something in it.
    pub(crate) async fn blobs(&self, store: &Store) -> Result<PathBuf, FolderError> {
        let path = self.path(BLOBS.name);
        if self.lost_blobs {
            let unusable = |e| FolderError::Unusable(self.root.clone(), e);
            let queues = self.path("queue.db");
            let named = Box::pin(blobs::are_named(&queues, store)).await;
            if named.map_err(|error| damaged_row(&queues, error).unwrap_or_else(unusable))? {
                return Err(lost(&self.root, &BLOBS));
            }
            warn_of_loss(&self.root, &BLOBS);
            private::make_folder(&path).map_err(unusable)?;
        }
        Ok(path)
    }

    /// Records which parts the folder has, once they were opened: from then on a missing one is
    /// reported.
    pub(crate) fn note_parts(&self) -> Result<(), FolderError> {
        parts::note(&self.root).map_err(|e| FolderError::Unusable(self.root.clone(), e))
    }

    /// A file or folder inside.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// The secret in a file, when there is one.
    pub(crate) fn existing_secret(&self, name: &str) -> Result<Option<String>, FolderError> {
        read_secret(&self.path(name))
    }

    /// A secret that is created once and stored in a file of mode 0600.
    pub(crate) fn secret(
        &self,
        name: &str,
        make: impl FnOnce() -> String,
    ) -> Result<String, FolderError> {
        let existing = self.existing_secret(name)?;
        if let Some(text) = existing.filter(|text| !text.is_empty()) {
            return Ok(text);
        }
        let path = self.path(name);
        let unusable = |e| FolderError::Unusable(path.clone(), e);
        // Written aside and renamed, so that a kill never leaves half a secret.
        let text = make();
        let aside = self.path(&format!("{name}.new"));
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(true)
            .write(true)
            .mode(0o600)
            .open(&aside)
            .map_err(unusable)?;
        writeln!(file, "{text}").map_err(unusable)?;
        file.sync_all().map_err(unusable)?;
        fs::rename(&aside, &path).map_err(unusable)?;
        Ok(text)
    }
}

/// Refuses a path on which a file, or a link that leads nowhere, is in the way of the folder: the system's own
/// words about it mislead.
pub(crate) fn check_path(root: &Path) -> Result<(), FolderError> {
    // A slash at the end would hide what it follows.
    let path: PathBuf = root.components().collect();
    // The nearest that is there; whatever is below it can be made.
    let mut there = path.ancestors().filter(|path| !path.as_os_str().is_empty());
    let Some(near) = there.find(|path| fs::symlink_metadata(path).is_ok()) else {
        return Ok(());
    };
    match fs::metadata(near) {
        Ok(near) if near.is_dir() => Ok(()),
        Ok(_) => Err(FolderError::NoFolder(root.to_owned(), near.to_owned())),
        Err(error) => Err(match fs::read_link(near) {
            Ok(target) => FolderError::DeadLink(root.to_owned(), near.to_owned(), target),
            Err(_) => FolderError::Unusable(root.to_owned(), error),
        }),
    }
}

/// Bytes that are no text stay in it as signs that no secret has, so that the reader of the secret refuses it.
fn read_secret(path: &Path) -> Result<Option<String>, FolderError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).trim().to_owned())),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(FolderError::Unusable(path.to_owned(), e)),
    }
}

fn lost(root: &Path, part: &DataFile) -> FolderError {
    FolderError::Lost {
        kind: part.kind,
        file: root.join(part.name),
        list: root.join(parts::LIST),
        holds: part.holds,
    }
}

fn warn_of_loss(root: &Path, part: &DataFile) {
    let DataFile { kind, holds, .. } = part;
    let path = root.join(part.name);
    let path = path.display();
    tracing::warn!("the {kind} {path} is missing or empty, and with it {holds}: it starts anew");
}

/// What to do about a damaged mailbox: it holds what was recorded for the developer to look at.
const MAILBOX_REMEDY: &str = "delete it to start with an empty mailbox, for nothing but the recorded \
    mails is in it, or put it back from a backup";

/// The error, when it is about a row of this file that cannot be read; otherwise gives it back.
fn damaged_row(file: &Path, error: std::io::Error) -> Result<FolderError, std::io::Error> {
    let cause = error
        .get_ref()
        .and_then(|e| e.downcast_ref::<rusqlite::Error>());
    match cause {
        Some(cause) if damage::is_damage(cause) || damage::is_damage_of_a_row(cause) => Ok(
            FolderError::Damaged(damage::sentence(file, &cause.to_string())),
        ),
        Some(_) | None => Err(error),
    }
}

/// Refuses a folder that lost a file, or in which one is damaged. Returns whether it lost the folder
/// of large bodies, which is judged later: see [`Folder::blobs`].
fn check(root: &Path, after_a_crash: bool) -> Result<bool, FolderError> {
    let unusable = |e| FolderError::Unusable(root.to_owned(), e);
    let expected = parts::expected(root).map_err(unusable)?;
    let mut lost_blobs = false;
    for part in parts::lost(root, &expected) {
        match part.needed {
            Needed::Always => return Err(lost(root, part)),
            Needed::WhileNamed => lost_blobs = true,
            Needed::Never => warn_of_loss(root, part),
        }
    }
    for name in ["table.db", "queue.db", "mailbox.sqlite"] {
        let file = root.join(name);
        if let Some(cause) = damage::of_file(&file, after_a_crash) {
            return Err(FolderError::Damaged(match name {
                "mailbox.sqlite" => damage::mendable(&file, &cause, MAILBOX_REMEDY),
                _ => damage::sentence(&file, &cause),
            }));
        }
    }
    let secret = root.join(SECRET);
    // An empty one is lost, which is judged above.
    if let Some(text) = read_secret(&secret)?.filter(|text| !text.is_empty()) {
        secrets::check(&secret, &text, &expected.secret(), &root.join(parts::LIST))?;
    }
    Ok(lost_blobs)
}

#[cfg(test)]
mod tests;
