//! Restricts the data folder to its owner: it holds keys, secrets and the text of mails.

use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

/// The mode bits that grant access to users other than the owner.
const OTHERS: u32 = 0o077;

/// Files for the owner only. SQLite gives its logs the mode of their database.
const FILES: [&str; 13] = [
    "table.db",
    "table.db-wal",
    "table.db-shm",
    "queue.db",
    "queue.db-wal",
    "queue.db-shm",
    "mailbox.sqlite",
    "mailbox.sqlite-wal",
    "mailbox.sqlite-shm",
    "api-key",
    "stack-secret",
    "lock",
    "folder.json",
];

/// The mode of the folder, if it is open to others.
pub(super) fn open_to_others(root: &Path) -> Option<u32> {
    let mode = fs::metadata(root).ok()?.permissions().mode() & 0o777;
    (mode & OTHERS != 0).then_some(mode)
}

/// Removes access that an earlier release or a restored backup left open to other users.
pub(super) fn tighten(root: &Path) -> io::Result<()> {
    for name in FILES {
        restrict(&root.join(name), 0o600)?;
    }
    // Its files are reached only through it.
    restrict(&root.join("blobs"), 0o700)
}

fn restrict(path: &Path, mode: u32) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(there) if there.permissions().mode() & OTHERS == 0 => Ok(()),
        Ok(_) => fs::set_permissions(path, Permissions::from_mode(mode)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Creates, for the owner only, the files that other libraries would create with the mode of the
/// process.
pub(super) fn make(root: &Path) -> io::Result<()> {
    for name in ["table.db", "queue.db"] {
        let mut options = OpenOptions::new();
        options.create(true).append(true).mode(0o600);
        options.open(root.join(name))?;
    }
    Ok(())
}

/// The same for a folder; one that is there stays.
pub(super) fn make_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}
