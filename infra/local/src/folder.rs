//! The data folder: what stays between runs, and the lock that keeps a second host out.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// Why the folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    #[error("the data folder {0} cannot be used: {1}")]
    Unusable(PathBuf, std::io::Error),
    #[error("the data folder {0} is used by another posthaste that is still running")]
    Locked(PathBuf),
}

/// An opened data folder; the lock goes with it.
#[derive(Debug)]
pub(crate) struct Folder {
    root: PathBuf,
    _lock: File,
}

impl Folder {
    /// Makes the folder when it is not there, and locks it.
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
        Ok(Self {
            root: root.to_owned(),
            _lock: lock,
        })
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

    /// A secret that is made once and kept in a file of mode 0600.
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_secret_is_made_once_and_only_its_owner_reads_it() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("data");
        let first = Folder::open(&root)
            .unwrap()
            .secret("key", || "one".to_owned())
            .unwrap();
        let again = Folder::open(&root)
            .unwrap()
            .secret("key", || "two".to_owned())
            .unwrap();
        assert_eq!((first.as_str(), again.as_str()), ("one", "one"));
        let mode = fs::metadata(root.join("key")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_second_host_is_kept_out() {
        let dir = tempfile::tempdir().unwrap();
        let _first = Folder::open(dir.path()).unwrap();
        assert!(matches!(
            Folder::open(dir.path()),
            Err(FolderError::Locked(_))
        ));
    }

    #[test]
    fn a_file_in_the_way_is_one_clear_line() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = Folder::open(file.path()).unwrap_err().to_string();
        assert!(
            error.starts_with("the data folder") && !error.contains('\n'),
            "{error}"
        );
    }
}
