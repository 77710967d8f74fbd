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

use super::secrets::{self, Marks};

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

/// The file of the stack's secret.
pub(super) const SECRET: &str = "stack-secret";

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
        name: SECRET,
        kind: "file",
        holds: "the secret that opens the keys of domains and sealed settings and proves links",
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
pub(super) struct DataFiles {
    /// Form of this record; 1.
    v: u8,
    files: Vec<String>,
    /// Marks of the keys in the file of the stack's secret (see `secrets`). An earlier release wrote
    /// none; the next start adds them.
    #[serde(default, skip_serializing_if = "Marks::is_empty")]
    secret: Marks,
}

impl DataFiles {
    fn new(files: Vec<String>, secret: Marks) -> Self {
        Self {
            v: 1,
            files,
            secret,
        }
    }

    fn lists(&self, name: &str) -> bool {
        self.files.iter().any(|file| file == name)
    }

    /// The marks that the stack's secret should have: none once its name was taken out of the list.
    pub(super) fn secret(&self) -> Marks {
        if self.lists(SECRET) {
            self.secret.clone()
        } else {
            Marks::new()
        }
    }
}

/// Whether a folder is there, or a file that is not empty. A folder often is: most mail is small.
fn is_there(root: &Path, name: &str) -> bool {
    fs::metadata(root.join(name)).is_ok_and(|part| part.is_dir() || part.len() > 0)
}

/// What the folder should have.
pub(super) fn expected(root: &Path) -> io::Result<DataFiles> {
    let names = |parts: &[DataFile]| parts.iter().map(|part| part.name.to_owned()).collect();
    match fs::read(root.join(LIST)) {
        Ok(text) => match serde_json::from_slice::<DataFiles>(&text) {
            Ok(list) => return Ok(list),
            // Also after a mistake of an editor: without a warning, a name taken out would come back.
            Err(error) => tracing::warn!(
                "the list {} cannot be read ({error}), it is made anew: every part counts as missing \
                 that is not there",
                root.join(LIST).display()
            ),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
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
    let list = DataFiles::new(expected, Marks::new());
    write(root, &list)?;
    Ok(list)
}

/// The expected parts that are missing or empty.
pub(super) fn lost(root: &Path, expected: &DataFiles) -> Vec<&'static DataFile> {
    PARTS
        .iter()
        .filter(|part| expected.lists(part.name))
        .filter(|part| !is_there(root, part.name))
        .collect()
}

/// Lists the parts that exist now.
pub(super) fn note(root: &Path) -> io::Result<()> {
    let there = PARTS.iter().filter(|part| is_there(root, part.name));
    let files = there.map(|part| part.name.to_owned()).collect();
    let secret = fs::read_to_string(root.join(SECRET)).unwrap_or_default();
    // What cannot be read was refused before.
    let marks = secrets::marks(secret.trim()).unwrap_or_default();
    write(root, &DataFiles::new(files, marks))
}

/// Written aside and renamed, so that a kill never leaves half a list.
fn write(root: &Path, list: &DataFiles) -> io::Result<()> {
    let mut text = serde_json::to_string(list)?;
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
