//! `posthaste import` and `posthaste export`: on a data folder, by the host that runs on it, or on a deployed stack.
//!
//! They work through the routes of the functions, as the account's own requests do. On a data folder without a host
//! these are opened without workers: nothing is delivered meanwhile, and mails with links leave at the next start.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use clap::Args;
use posthaste_blob::Blob;
use posthaste_http::Authorizer;
use posthaste_mailbox::{DEFAULT_LIMIT, Mailbox};
use posthaste_model::{Clock, Entropy, PublicUrl};
use posthaste_operator::find_account;
use posthaste_runtime::{Env, Platform};
use posthaste_store::Store;
use posthaste_transfer::{
    Export, Import, ImportSource, Pause, Progress, TransferError, TransferReport, TransferTools,
};

use crate::args::{API_PORT, Cli};
use crate::control;
use crate::engine::Engine;
use crate::folder::Folder;
use crate::host::stack_secret;
use crate::operator::{CommandContext, EXIT_CODES, OperatorError, of_stack, open};
use crate::platform::{self, HostParts};
use crate::start::HostSettings;
use crate::start_error::StartError;
use crate::table::{Disk, Table};
use crate::{functions, relay};

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
    place: CommandContext,
    work: TransferWork,
}

#[derive(Debug)]
enum TransferWork {
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

/// What a transfer works with in this process.
#[derive(Clone)]
pub(crate) struct TransferHost {
    store: Store,
    clock: Clock,
    entropy: Entropy,
    routes: Router,
    disk: Disk,
}

impl TransferHost {
    /// The routes of a host and its table.
    pub(crate) fn new(
        platform: &Platform,
        gate: &Authorizer,
        mail_send: &mail_send::App,
        table: &Table,
    ) -> Result<Self, StartError> {
        Ok(Self {
            store: table.store.clone(),
            clock: platform.clock(),
            entropy: platform.entropy(),
            routes: functions::routes(platform, gate, mail_send)?.into_router(),
            disk: table.disk.clone(),
        })
    }
}

impl TransferCommand {
    /// Whether answers and errors are JSON.
    pub fn is_json(&self) -> bool {
        self.place.json
    }

    /// Carries the command out and gives back what to print. `show` gets lines about the progress.
    pub async fn run(
        &self,
        show: impl Fn(String) + Clone + Send + Sync + 'static,
    ) -> Result<String, OperatorError> {
        let progress = Progress::new(show.clone());
        if self.place.aws {
            return self.deployed(progress).await;
        }
        let data = &self.place.data;
        let folder = match open(data) {
            Err(running @ OperatorError::Running(_)) => {
                let line = self.line(&std::env::current_dir().unwrap_or_default());
                let Ok(reply) = control::ask_with(data, &line, show).await else {
                    return Err(running);
                };
                return match reply.code {
                    0 => Ok(reply.text),
                    code => Err(OperatorError::InHost(reply.text, code)),
                };
            }
            other => other?,
        };
        self.local(folder, progress).await
    }

    /// The command line for the host that runs on the data folder: paths are this process's, and what comes from its
    /// environment is named.
    fn line(&self, here: &Path) -> Vec<OsString> {
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

    /// Carries the command out in a host.
    pub(crate) async fn on(
        &self,
        host: &TransferHost,
        progress: Progress,
    ) -> Result<String, OperatorError> {
        let done = host.disk.durable(self.transfer(host, progress)).await;
        let unsynced = || TransferError::Target("the table's file cannot be synced".to_owned());
        let report = done.ok_or_else(unsynced)??;
        Ok(if self.place.json {
            serde_json::to_string(&report).unwrap_or_default()
        } else {
            report.text()
        })
    }

    async fn transfer(
        &self,
        host: &TransferHost,
        progress: Progress,
    ) -> Result<TransferReport, OperatorError> {
        let named = match &self.work {
            TransferWork::Import(import) => &import.account,
            TransferWork::Export(export) => &export.account,
        };
        let account = find_account(&host.store, named).await?;
        let tools = TransferTools {
            account: Arc::new(account),
            store: host.store.clone(),
            clock: host.clock.clone(),
            entropy: host.entropy.clone(),
            api: host.routes.clone(),
            pause: Pause::new(|wait| Box::pin(tokio::time::sleep(wait))),
            progress,
        };
        Ok(match &self.work {
            TransferWork::Import(import) => posthaste_transfer::import(import, &tools).await?,
            TransferWork::Export(export) => posthaste_transfer::export(export, &tools).await?,
        })
    }

    /// On a stack, whose variables the environment has, as for `posthaste --aws`.
    async fn deployed(&self, progress: Progress) -> Result<String, OperatorError> {
        let (table, environment) = (self.place.table.clone(), posthaste_runtime::variables());
        let named = move |name: &str| {
            let flag = table.clone().filter(|_| name == "TABLE_NAME");
            flag.or_else(|| environment.get(name))
        };
        let platform = Platform::host_with_secrets(Env::new(named)).await?;
        let opened = |error: posthaste_runtime::Error| {
            let why =
                format!("the functions need their variables, as for `posthaste --aws`: {error}");
            OperatorError::Setting(why)
        };
        let gate = platform.gate()?;
        let mail_send = mail_send::App::from_env(&platform).map_err(|e| opened(e.into()))?;
        let routes = functions::routes(&platform, &gate, &mail_send).map_err(opened)?;
        let host = TransferHost {
            store: platform.store()?,
            clock: platform.clock(),
            entropy: platform.entropy(),
            routes: routes.into_router(),
            disk: Disk::none(),
        };
        let table = platform.env().get("TABLE_NAME").unwrap_or_default();
        self.on(&host, progress).await.map_err(|error| match error {
            OperatorError::Failed(error) => of_stack(error, &table),
            other => other,
        })
    }

    /// On a data folder that no host runs on.
    async fn local(&self, folder: Folder, progress: Progress) -> Result<String, OperatorError> {
        let line = [
            "posthaste".into(),
            "--data".into(),
            folder.path("").into_os_string(),
        ];
        let args = Cli::read(line)
            .map_err(|error| OperatorError::Setting(error.to_string()))?
            .run;
        let settings = HostSettings::from_args(
            &args,
            posthaste_runtime::clock(),
            posthaste_runtime::entropy(),
        );
        let settings = settings.map_err(StartError::from)?;
        let table = Table::start(Some(&folder.path("table.db"))).await?;
        let table = table.with_clock(settings.clock.clone());
        let engine = Engine::start(Some(&folder.path("queue.db")), settings.clock.clone())?;
        let done = self
            .with(&settings, &folder, (&table, &engine), progress)
            .await;
        let stopped = tokio::task::spawn_blocking(move || engine.stop());
        // Every answer followed its commit: an engine that does not end loses nothing.
        let _ = tokio::time::timeout(Duration::from_secs(10), stopped).await;
        table.stop().await;
        done
    }

    async fn with(
        &self,
        settings: &HostSettings,
        folder: &Folder,
        (table, engine): (&Table, &Engine),
        progress: Progress,
    ) -> Result<String, OperatorError> {
        let blobs = folder.blobs(&table.store).await?;
        let blob = Blob::folder(&blobs)?;
        let path = Some(folder.path(""));
        let mailbox = Mailbox::open(path, DEFAULT_LIMIT, settings.clock.clone());
        let mailbox = mailbox.map_err(StartError::from)?;
        let nowhere = ([127, 0, 0, 1], API_PORT).into();
        let recorder = relay::recorder(settings, nowhere).map_err(StartError::from)?;
        let public_url = settings.public_url.clone();
        let parts = HostParts {
            store: table.store.clone(),
            engine,
            blob,
            mailer: recorder.clone(),
            recorder,
            secret: stack_secret(settings, Some(folder))?,
            public_url: public_url.unwrap_or_else(|| PublicUrl::of_listener(false, nowhere)),
            mailbox: &mailbox,
            mailbox_address: settings.mailbox,
        };
        let platform = platform::platform(settings, parts);
        let gate = platform.gate()?;
        let mail_send = mail_send::App::from_env(&platform).map_err(StartError::from)?;
        let host = TransferHost::new(&platform, &gate, &mail_send, table)?;
        let done = self.on(&host, progress).await;
        mailbox.close();
        done
    }
}
