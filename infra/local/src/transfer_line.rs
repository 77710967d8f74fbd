//! The command lines of `posthaste import` and `posthaste export`, and how a running host is given one.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;
use posthaste_transfer::{Export, Import, ImportSource};

use crate::operator::{CommandContext, EXIT_CODES};

/// `posthaste import`.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct ImportCommand {
    #[command(flatten)]
    place: CommandContext,
    #[command(flatten)]
    import: Import,
}

/// `posthaste export`.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct ExportCommand {
    #[command(flatten)]
    place: CommandContext,
    #[command(flatten)]
    export: Export,
}

/// One of the two, with where it works.
#[derive(Debug)]
pub struct TransferCommand {
    pub(crate) place: CommandContext,
    pub(crate) work: TransferWork,
}

/// What is done.
#[derive(Debug)]
pub(crate) enum TransferWork {
    Import(Import),
    Export(Export),
}

impl From<ImportCommand> for TransferCommand {
    fn from(command: ImportCommand) -> Self {
        Self {
            place: command.place,
            work: TransferWork::Import(command.import),
        }
    }
}

impl From<ExportCommand> for TransferCommand {
    fn from(command: ExportCommand) -> Self {
        Self {
            place: command.place,
            work: TransferWork::Export(command.export),
        }
    }
}

impl TransferCommand {
    /// Whether answers and errors are JSON.
    pub fn is_json(&self) -> bool {
        self.place.json
    }

    /// The command line for the host that runs on the data folder: paths are this process's, and what comes from its
    /// environment is named.
    pub(crate) fn line(&self, here: &Path) -> Vec<OsString> {
        let path = |path: &PathBuf| here.join(path).into_os_string();
        let mut line = vec![OsString::from("posthaste")];
        let mut flag = |name: &str, value: OsString| {
            line.push(name.into());
            line.push(value);
        };
        match &self.work {
            TransferWork::Export(export) => {
                flag("export", path(&export.folder));
                flag("--account", (&export.account).into());
            }
            TransferWork::Import(import) => {
                let from = match &import.from {
                    ImportSource::Service(address) => address.into(),
                    ImportSource::Folder(folder) => path(folder),
                };
                flag("import", "--from".into());
                line.push(from);
                let mut flag = |name: &str, value: OsString| {
                    line.push(name.into());
                    line.push(value);
                };
                flag("--account", (&import.account).into());
                flag("--dkim-selector", (&import.dkim_selector).into());
                if let Some(key) = &import.key {
                    flag("--key", key.into());
                }
                // Its default lies in the folder that this process runs in, too.
                match (&import.state, &import.from) {
                    (Some(state), _) => flag("--state", path(state)),
                    (None, ImportSource::Folder(_)) => {}
                    (None, ImportSource::Service(_)) => flag("--state-in", here.into()),
                }
                for (name, is_set) in [
                    ("--dry-run", import.dry_run),
                    ("--trust-senders", import.trust_senders),
                    ("--without-keys", import.without_keys),
                ] {
                    if is_set {
                        line.push(name.into());
                    }
                }
            }
        }
        if self.place.json {
            line.push("--json".into());
        }
        line
    }
}
