//! Takes an account over from another service that speaks the v3 API, and writes one down so that its owner can leave.
//!
//! An import has two halves. The first reads the other service into a folder (`read`): lists in windows of time,
//! in constant memory, within the limits of the service. The second writes the folder into an account
//! (`write`), by the functions that answer the account's own requests, and long lists in batches. A journal
//! beside the files (`journal`) has every step, so that a run that was stopped goes on, and a later one takes
//! only what changed. An export is the first half, read from the account; an import of a folder is the second.
//!
//! | module | what it knows |
//! |---|---|
//! | `part` | the parts of an account, their files and columns |
//! | `service`, `source`, `pace` | calls: by HTTP or in this process, again, and how long to wait |
//! | `json_array`, `json_text`, `folder`, `csv`, `journal`, `digest` | bytes: lists as they arrive, files, steps |
//! | `read`, `write` | the two halves |
//! | `check` | what a template has that is read otherwise here |
//! | `report` | what is printed in the end |

mod args;
mod check;
mod csv;
mod digest;
mod error;
mod folder;
mod journal;
mod json_array;
mod json_text;
mod pace;
mod part;
mod read;
mod report;
mod service;
mod source;
mod write;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use axum::Router;
use posthaste_model::{Clock, Entropy};
use posthaste_store::{Account, Store};

pub use args::{Export, Import, ImportSource};
pub use error::TransferError;
pub use report::{NotTaken, PartCounts, RecordChange, ShownKey, TransferReport};
pub use source::{Pause, Progress, Waiting};

use folder::{AccountFolder, Lines};
use journal::ImportJournal;
use part::AccountPart;
use read::{AccountReader, account_of, username};
use service::{Here, Remote, Service};
use source::{ReadFault, SourceApi};
use write::{AccountWriter, WriteOptions};

/// What an import and an export work with.
#[derive(Clone)]
pub struct TransferTools {
    /// The account that is written to, or read.
    pub account: Arc<Account>,
    pub store: Store,
    pub clock: Clock,
    pub entropy: Entropy,
    /// The routes of every function about settings, which answer calls in the account's name.
    pub api: Router,
    pub pause: Pause,
    pub progress: Progress,
}

/// Reads an account into a folder.
///
/// # Errors
/// When the folder has something in it, or a file or the table fails.
pub async fn export(
    export: &Export,
    tools: &TransferTools,
) -> Result<TransferReport, TransferError> {
    let folder = AccountFolder::create(export.folder.clone())?;
    if folder.path().read_dir()?.next().is_some() {
        let path = folder.path().display();
        return Err(TransferError::Refused(format!(
            "{path} is not empty: name another folder"
        )));
    }
    folder.protect()?;
    let here = Here::new(tools.api.clone(), Arc::clone(&tools.account));
    let mut journal = ImportJournal::default();
    let source = source(tools, Service::Here(here));
    let mut report = TransferReport::of(&tools.account.username, false);
    let store = Some(tools.store.clone());
    let reading = Reading {
        source,
        folder: folder.clone(),
        store,
    };
    let subusers = read_all(reading, &mut journal, &mut report).await?;
    count(&folder, &mut report)?;
    csv::write_all(&folder)?;
    for (name, mut of_subuser) in subusers {
        let folder = AccountFolder::at(folder.subuser(&name));
        count(&folder, &mut of_subuser)?;
        csv::write_all(&folder)?;
        report.subusers.push(of_subuser);
    }
    Ok(report)
}

/// Takes an account over from another service, or from the folder of an export.
///
/// # Errors
/// When the other service refuses the key, or a file or the table fails. What single items are refused for is in the
/// report. A run that failed goes on when it is repeated.
pub async fn import(
    import: &Import,
    tools: &TransferTools,
) -> Result<TransferReport, TransferError> {
    let mut report = TransferReport::of(&tools.account.username, import.dry_run);
    let (folder, mut journal, mut subusers) = match &import.from {
        ImportSource::Folder(path) => {
            if !path.is_dir() {
                // An address without its https:// may have a password in it.
                let name = path.to_string_lossy();
                let name = if name.contains('@') { "--from" } else { &name };
                let why = format!("{name} is neither a folder nor an https:// address");
                return Err(TransferError::Usage(why));
            }
            let folder = AccountFolder::at(path.clone());
            let journal = folder_journal(import, path, tools)?;
            (folder, journal, BTreeMap::new())
        }
        ImportSource::Service(address) => {
            let key = import.key.as_deref().ok_or_else(|| {
                TransferError::Usage("name the other service's API key with --key".to_owned())
            })?;
            let remote = Remote::new(address, key)?;
            let id = &tools.account.id;
            let state = import.state_of_service(id.as_str());
            let mut source = source(tools, Service::Remote(remote));
            greet(&mut source).await?;
            let folder = AccountFolder::create(state)?;
            let from = address.as_str();
            let mut journal = ImportJournal::open(folder.path(), from, id.as_str())?;
            folder.protect()?;
            if journal.is_resumed() {
                tools
                    .progress
                    .say("going on where the last run was stopped");
            }
            let reading = Reading {
                source,
                folder: folder.clone(),
                store: None,
            };
            let subusers = read_all(reading, &mut journal, &mut report).await?;
            if import.dry_run {
                // A plan says what there is when it is made; the keys of an import that was stopped are still to be
                // shown by the next one.
                journal.note_planned()?;
                journal = journal.detached();
            }
            (folder, journal, subusers)
        }
    };
    write_all(
        import,
        tools,
        folder,
        &mut journal,
        (&mut report, &mut subusers),
    )
    .await?;
    journal.finish()?;
    report.subusers.extend(subusers.into_values());
    Ok(report)
}

/// The journal of an import from a folder; a plan leaves nothing behind.
fn folder_journal(
    import: &Import,
    folder: &Path,
    tools: &TransferTools,
) -> Result<ImportJournal, TransferError> {
    let id = &tools.account.id;
    let state = import.state.clone();
    let state = state.unwrap_or_else(|| folder.join(format!(".import-{id}")));
    if import.dry_run {
        if !state.is_dir() {
            return Ok(ImportJournal::default());
        }
        return Ok(ImportJournal::peek(&state, "a folder", id.as_str())?);
    }
    let state = AccountFolder::create(state)?;
    let journal = ImportJournal::open(state.path(), "a folder", id.as_str())?;
    state.protect()?;
    Ok(journal)
}

/// Ends what cannot be read at all, after the attempts of one call and before anything is written.
async fn greet(source: &mut SourceApi) -> Result<(), TransferError> {
    source.progress().say("asking the other service");
    match source.greet().await {
        Ok(()) => Ok(()),
        Err(ReadFault::Key(why)) => Err(TransferError::Key(why)),
        Err(ReadFault::Folder(error)) => Err(error.into()),
        Err(fault @ (ReadFault::Refused(..) | ReadFault::Broken(_))) => {
            Err(TransferError::Source(fault.to_string()))
        }
    }
}

fn source(tools: &TransferTools, service: Service) -> SourceApi {
    let (pause, progress) = (tools.pause.clone(), tools.progress.clone());
    SourceApi::new(service, tools.clock.clone(), pause, progress)
}

/// What is read, and into what.
struct Reading {
    source: SourceApi,
    folder: AccountFolder,
    store: Option<Store>,
}

/// Reads an account and its subusers; the reports of these, by name.
async fn read_all(
    reading: Reading,
    journal: &mut ImportJournal,
    report: &mut TransferReport,
) -> Result<BTreeMap<String, TransferReport>, TransferError> {
    let (dry_run, is_resumed) = (report.dry_run, journal.is_resumed());
    let mut reader = AccountReader {
        source: reading.source,
        folder: reading.folder,
        journal,
        prefix: String::new(),
        report,
        store: reading.store,
        account: None,
    };
    reader.read().await?;
    if !reader.source.has_answered() && !is_resumed {
        reader.journal.note_planned()?;
        let why = reader.report.not_taken.first();
        let why = why.map_or_else(String::new, |one| format!(": {}: {}", one.what, one.reason));
        return Err(TransferError::Source(format!("it refuses every call{why}")));
    }
    let mut subusers = BTreeMap::new();
    for line in Lines::open(&reader.folder.file(AccountPart::Subusers))? {
        let Ok(item) = line?.value() else { continue };
        let Some(name) = username(&item) else {
            continue;
        };
        let mut of_subuser = TransferReport::of(&name, dry_run);
        let read = match reader.subuser(&name, &mut of_subuser).await? {
            None => None,
            Some(mut subuser) => Some(subuser.read().await?),
        };
        if read.is_some() {
            subusers.insert(name, of_subuser);
        }
    }
    Ok(subusers)
}

/// Writes a folder into the account, and those of its subusers into theirs. Keys come last: a run that is stopped has
/// shown no secret, so those that it made are made anew by the next.
async fn write_all(
    import: &Import,
    tools: &TransferTools,
    folder: AccountFolder,
    journal: &mut ImportJournal,
    (report, subusers): (&mut TransferReport, &mut BTreeMap<String, TransferReport>),
) -> Result<(), TransferError> {
    let options = Arc::new(WriteOptions {
        dry_run: import.dry_run,
        trust_senders: import.trust_senders,
        dkim_selector: import.dkim_selector.clone(),
        without_keys: import.without_keys,
    });
    let here = Here::new(tools.api.clone(), Arc::clone(&tools.account));
    let root = WrittenAccount {
        target: Some(here.clone()),
        folder: folder.clone(),
        prefix: String::new(),
    };
    let mut writer = root.writer(tools, &options, journal, report);
    writer.write().await?;
    let mut accounts = Vec::new();
    for name in writer.write_subusers().await? {
        let path = folder.subuser(&name);
        if !path.is_dir() {
            continue;
        }
        let mut account = account_of(&tools.store, &tools.account, &name).await?;
        if account.is_none() && import.dry_run {
            account = Some(Arc::new(planned(tools, &name)));
        }
        let of_subuser = WrittenAccount {
            target: account.map(|account| here.of(account)),
            folder: AccountFolder::at(path),
            prefix: format!("subusers/{name}/"),
        };
        accounts.push((name, of_subuser));
    }
    for (name, account) in &accounts {
        let report = subusers.entry(name.clone());
        let report = report.or_insert_with(|| TransferReport::of(name, import.dry_run));
        account
            .writer(tools, &options, journal, report)
            .write()
            .await?;
    }
    root.writer(tools, &options, journal, report)
        .write_keys()
        .await?;
    for (name, account) in &accounts {
        if let Some(report) = subusers.get_mut(name) {
            account
                .writer(tools, &options, journal, report)
                .write_keys()
                .await?;
        }
    }
    Ok(())
}

/// A subuser that a plan would create: what it reads of it is what a fresh account has.
fn planned(tools: &TransferTools, name: &str) -> Account {
    let id = tools.entropy.account_id();
    let mut account = Account::new(id, name, tools.clock.now());
    account.parent = Some(tools.account.id.clone());
    account
}

/// An account that is written to, and the folder that it gets.
struct WrittenAccount {
    target: Option<Here>,
    folder: AccountFolder,
    prefix: String,
}

impl WrittenAccount {
    fn writer<'a>(
        &self,
        tools: &TransferTools,
        options: &Arc<WriteOptions>,
        journal: &'a mut ImportJournal,
        report: &'a mut TransferReport,
    ) -> AccountWriter<'a> {
        AccountWriter {
            target: self.target.clone(),
            store: tools.store.clone(),
            folder: self.folder.clone(),
            journal,
            prefix: self.prefix.clone(),
            report,
            options: Arc::clone(options),
            clock: tools.clock.clone(),
            entropy: tools.entropy.clone(),
            pause: tools.pause.clone(),
            progress: tools.progress.clone(),
        }
    }
}

/// Counts the lines of each file.
fn count(folder: &AccountFolder, report: &mut TransferReport) -> Result<(), TransferError> {
    for part in AccountPart::ALL {
        let file = folder.file(part);
        if file.is_file() {
            let mut lines = 0;
            for line in Lines::open(&file)? {
                line?;
                lines += 1;
            }
            report.counts(part).read = lines;
        }
    }
    Ok(())
}
