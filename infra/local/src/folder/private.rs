//! Keeping others out of the data folder: it holds keys, secrets and the text of mails.

use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

/// The bits of a mode that let others than the owner in.
const OTHERS: u32 = 0o077;

/// What a host keeps for its owner alone. SQLite gives its logs the mode of their database.
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

/// Takes from others what an earlier release or a restored backup left open to them.
pub(super) fn tighten(root: &Path) -> io::Result<()> {
    for name in FILES {
        restrict(&root.join(name), 0o600)?;
    }
    // Its files are reached through it alone.
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

/// Makes, for their owner alone, the files and the folder that other libraries would make by the
/// mode of the process.
pub(super) fn make(root: &Path) -> io::Result<()> {
    for name in ["table.db", "queue.db"] {
        let mut options = OpenOptions::new();
        options.create(true).append(true).mode(0o600);
        options.open(root.join(name))?;
    }
    let mut blobs = DirBuilder::new();
    blobs.recursive(true).mode(0o700).create(root.join("blobs"))
}
