//! Lists the parts of a data folder, to distinguish a lost one from one not yet created.
//!
//! `folder.json` lists them. It is written, empty, before the first of them, and after each start
//! with those that were opened. A folder of 0.1 has no list: there, the files that a host or an
//! operator's command would have created are expected, if any of them exists.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// The list.
pub(super) const LIST: &str = "folder.json";

/// A file or folder in the folder, and what is lost with it.
pub(super) struct DataFile {
    pub(super) name: &'static str,
    /// `file` or `folder`.
    pub(super) kind: &'static str,
    pub(super) holds: &'static str,
    pub(super) needed: Needed,
}

/// When the host does not start without a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Needed {
    Always,
    /// While a job that waits names something in it (see `blobs`).
    WhileNamed,
    Never,
}

/// The folder of large bodies.
pub(super) const BLOBS: DataFile = DataFile {
    name: "blobs",
    kind: "folder",
    holds: "large mails and received mail",
    needed: Needed::WhileNamed,
};

/// The parts of a host; an operator's command of release 0.1 creates the first two only.
pub(super) const PARTS: [DataFile; 5] = [
    DataFile {
        name: "table.db",
        kind: "file",
        holds: "accounts, keys and the states of mails",
        needed: Needed::Always,
    },
    DataFile {
        name: "queue.db",
        kind: "file",
        holds: "mail that is still to be sent",
        needed: Needed::Always,
    },
    DataFile {
        name: "stack-secret",
        kind: "file",
        holds: "the secret that opens sealed settings and proves links",
        needed: Needed::Always,
    },
    BLOBS,
    DataFile {
        name: "mailbox.sqlite",
        kind: "file",
        holds: "the recorded mails",
        needed: Needed::Never,
    },
];

#[derive(Debug, Serialize, Deserialize)]
struct DataFiles {
    /// Form of this record; 1.
    v: u8,
    files: Vec<String>,
}

/// Whether a folder is there, or a file that is not empty. A folder often is: most mail is small.
fn is_there(root: &Path, name: &str) -> bool {
    fs::metadata(root.join(name)).is_ok_and(|part| part.is_dir() || part.len() > 0)
}

/// The parts that the folder should have.
pub(super) fn expected(root: &Path) -> io::Result<Vec<String>> {
    let names = |parts: &[DataFile]| parts.iter().map(|part| part.name.to_owned()).collect();
    let list = match fs::read(root.join(LIST)) {
        Ok(text) => serde_json::from_slice::<DataFiles>(&text).ok(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    if let Some(list) = list {
        return Ok(list.files);
    }
    // Even an empty one shows that it had more in it before.
    let any = |names: &[&str]| names.iter().any(|name| root.join(name).exists());
    let expected = if !any(&["table.db", "queue.db", "mailbox.sqlite"]) {
        // New, perhaps with a key or a secret placed there for it.
        Vec::new()
    } else if any(&["api-key", "stack-secret", "mailbox.sqlite"]) {
        names(&PARTS)
    } else {
        names(PARTS.get(..2).unwrap_or_default())
    };
    // Written now: to continue without a lost file, remove its name from the list.
    write(root, expected.clone())?;
    Ok(expected)
}

/// The expected parts that are missing or empty.
pub(super) fn lost(root: &Path, expected: &[String]) -> Vec<&'static DataFile> {
    PARTS
        .iter()
        .filter(|part| expected.iter().any(|name| name == part.name))
        .filter(|part| !is_there(root, part.name))
        .collect()
}

/// Lists the parts that exist now.
pub(super) fn note(root: &Path) -> io::Result<()> {
    let there = PARTS.iter().filter(|part| is_there(root, part.name));
    write(root, there.map(|part| part.name.to_owned()).collect())
}

/// Written aside and renamed, so that a kill never leaves half a list.
fn write(root: &Path, files: Vec<String>) -> io::Result<()> {
    let mut text = serde_json::to_string(&DataFiles { v: 1, files })?;
    text.push('\n');
    let path = root.join(LIST);
    if fs::read_to_string(&path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    let aside = root.join(format!("{LIST}.new"));
    let mut file = OpenOptions::new()
        .create(true)
        .truncate(true)
        .write(true)
        .mode(0o600)
        .open(&aside)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(aside, path)
}
