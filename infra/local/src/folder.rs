//! The data folder: persists data between runs, with a lock that keeps out a second host.
//!
//! A folder is opened only when none of its files is missing (see `parts`) or damaged (see
//! `integrity`): a host that starts with a new file in place of a lost one would reject every key,
//! or drop mail that it accepted, without any error.

mod parts;
mod private;

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use crate::{damage, integrity};

/// Why the folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    #[error("the data folder {0} cannot be used: {1}")]
    Unusable(PathBuf, std::io::Error),
    #[error("the data folder {0} is used by another posthaste that is still running")]
    Locked(PathBuf),
    #[error(
        "the file {} is missing or empty, and with it {holds}: put it back from a backup, or, to go \
         on without it, take its name out of {}",
        .file.display(), .list.display()
    )]
    Lost {
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
        check(root, after_a_crash)?;
        private::make(root).map_err(unusable)?;
        (&lock).write_all(b"open\n").map_err(unusable)?;
        Ok(Self {
            root: root.to_owned(),
            lock,
        })
    }

    /// Records which files the folder has, once they were opened: from then on a missing one is an
    /// error.
    pub(crate) fn note_parts(&self) -> Result<(), FolderError> {
        parts::note(&self.root).map_err(|e| FolderError::Unusable(self.root.clone(), e))
    }

    /// A file or folder inside.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// The secret in a file, when there is one.
    pub(crate) fn existing_secret(&self, name: &str) -> Result<Option<String>, FolderError> {
        let path = self.path(name);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Some(text.trim().to_owned())),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(FolderError::Unusable(path, e)),
        }
    }

    /// A secret that is created once and stored in a file of mode 0600.
    pub(crate) fn secret(
        &self,
        name: &str,
        make: impl FnOnce() -> String,
    ) -> Result<String, FolderError> {
        if let Some(text) = self.existing_secret(name)? {
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

/// Refuses a folder that lost a file, or in which one is damaged.
fn check(root: &Path, after_a_crash: bool) -> Result<(), FolderError> {
    let unusable = |e| FolderError::Unusable(root.to_owned(), e);
    let expected = parts::expected(root).map_err(unusable)?;
    for part in parts::lost(root, &expected) {
        let file = root.join(part.name);
        if part.needed {
            return Err(FolderError::Lost {
                file,
                list: root.join(parts::LIST),
                holds: part.holds,
            });
        }
        let (file, holds) = (file.display(), part.holds);
        tracing::warn!("the file {file} is missing or empty, and with it {holds}: it starts anew");
    }
    for name in ["table.db", "queue.db", "mailbox.sqlite"] {
        let file = root.join(name);
        if let Some(cause) = integrity::damage(&file, after_a_crash) {
            return Err(FolderError::Damaged(damage::sentence(&file, &cause)));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
