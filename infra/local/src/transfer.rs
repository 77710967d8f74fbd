//! `posthaste import` and `posthaste export`: on a data folder, by the host that runs on it, or on a deployed stack.
//!
//! They work through the routes of the functions, as the account's own requests do. On a data folder without a host
//! these are opened without workers: nothing is delivered meanwhile, and mails with links leave at the next start.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use posthaste_blob::Blob;
use posthaste_http::Authorizer;
use posthaste_mailbox::{DEFAULT_LIMIT, Mailbox};
use posthaste_model::{Clock, Entropy, PublicUrl};
use posthaste_operator::find_account;
use posthaste_runtime::{Env, Platform};
use posthaste_store::Store;
use posthaste_transfer::{Pause, Progress, TransferError, TransferReport, TransferTools};

use crate::control;
use crate::engine::Engine;
use crate::folder::Folder;
use crate::operator::{OperatorError, of_stack, open};
use crate::platform::{self, HostParts};
use crate::start::HostSettings;
use crate::start_error::StartError;
use crate::table::{Disk, Table};
use crate::transfer_line::{TransferCommand, TransferWork};
use crate::{functions, relay};

/// Why a transfer could not begin, or what it failed with.
#[derive(Debug, thiserror::Error)]
pub enum TransferFailure {
    /// As for any command of the operator.
    #[error(transparent)]
    Operator(#[from] OperatorError),
    /// The functions of a data folder cannot be opened.
    #[error(transparent)]
    Start(#[from] StartError),
    #[error(transparent)]
    Transfer(#[from] TransferError),
}

impl TransferFailure {
    /// The exit code of the process.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Operator(error) => error.exit_code(),
            Self::Start(error) => error.exit_code(),
            Self::Transfer(error) => error.exit_code(),
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
    /// Carries the command out and gives back what to print. `show` gets lines about the progress. `settings` are those
    /// of a host, for a data folder that none runs on.
    pub async fn run(
        &self,
        settings: &HostSettings,
        show: impl Fn(String) + Clone + Send + Sync + 'static,
    ) -> Result<String, TransferFailure> {
        let progress = Progress::new(show.clone());
        if self.place.aws {
            return self.deployed(progress).await;
        }
        let data = &self.place.data;
        let folder = match open(data) {
            Err(running @ OperatorError::Running(_)) => {
                let line = self.line(&std::env::current_dir().unwrap_or_default());
                let Ok(reply) = control::ask_with(data, &line, show).await else {
                    return Err(running.into());
                };
                return match reply.code {
                    0 => Ok(reply.text),
                    code => Err(OperatorError::InHost(reply.text, code).into()),
                };
            }
            other => other?,
        };
        self.local(settings, folder, progress).await
    }

    /// Carries the command out in a host.
    pub(crate) async fn on(
        &self,
        host: &TransferHost,
        progress: Progress,
    ) -> Result<String, TransferFailure> {
        let transfer = Box::pin(self.transfer(host, progress));
        let done = host.disk.durable(transfer).await;
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
    ) -> Result<TransferReport, TransferFailure> {
        let named = match &self.work {
            TransferWork::Import(import) => &import.account,
            TransferWork::Export(export) => &export.account,
        };
        let account = find_account(&host.store, named)
            .await
            .map_err(OperatorError::from)?;
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
    async fn deployed(&self, progress: Progress) -> Result<String, TransferFailure> {
        let (table, environment) = (self.place.table.clone(), posthaste_runtime::variables());
        let named = move |name: &str| {
            let flag = table.clone().filter(|_| name == "TABLE_NAME");
            flag.or_else(|| environment.get(name))
        };
        let platform = Platform::host_with_secrets(Env::new(named))
            .await
            .map_err(OperatorError::from)?;
        let opened = |error: posthaste_runtime::Error| {
            let why =
                format!("the functions need their variables, as for `posthaste --aws`: {error}");
            OperatorError::Setting(why)
        };
        let gate = platform.gate().map_err(OperatorError::from)?;
        let mail_send = mail_send::App::from_env(&platform).map_err(|e| opened(e.into()))?;
        let routes = functions::routes(&platform, &gate, &mail_send).map_err(opened)?;
        let host = TransferHost {
            store: platform.store().map_err(OperatorError::from)?,
            clock: platform.clock(),
            entropy: platform.entropy(),
            routes: routes.into_router(),
            disk: Disk::none(),
        };
        let table = platform.env().get("TABLE_NAME").unwrap_or_default();
        self.on(&host, progress).await.map_err(|error| match error {
            TransferFailure::Operator(OperatorError::Failed(error)) => {
                of_stack(error, &table).into()
            }
            other => other,
        })
    }

    /// On a data folder that no host runs on.
    async fn local(
        &self,
        settings: &HostSettings,
        folder: Folder,
        progress: Progress,
    ) -> Result<String, TransferFailure> {
        let table = Table::start(Some(&folder.path("table.db")))
            .await
            .map_err(StartError::from)?;
        let table = table.with_clock(settings.clock.clone());
        let engine = Engine::start(Some(&folder.path("queue.db")), settings.clock.clone())
            .map_err(StartError::from)?;
        let done = self
            .with(settings, &folder, (&table, &engine), progress)
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
    ) -> Result<String, TransferFailure> {
        let blobs = folder.blobs(&table.store).await.map_err(StartError::from)?;
        let blob = Blob::folder(&blobs).map_err(StartError::from)?;
        let path = Some(folder.path(""));
        let mailbox = Mailbox::open(path, DEFAULT_LIMIT, settings.clock.clone());
        let mailbox = mailbox.map_err(StartError::from)?;
        // Nothing is delivered, so that it is not listened on.
        let recorder = relay::recorder(settings, settings.api)?;
        let public_url = settings.public_url.clone();
        let parts = HostParts {
            store: table.store.clone(),
            engine,
            blob,
            mailer: recorder.clone(),
            recorder,
            secret: platform::stack_secret(settings, Some(folder))?,
            public_url: public_url
                .unwrap_or_else(|| PublicUrl::of_listener(settings.tls.is_some(), settings.api)),
            mailbox: &mailbox,
            mailbox_address: settings.mailbox,
        };
        let platform = platform::platform(settings, parts);
        let gate = platform.gate().map_err(StartError::from)?;
        let mail_send = mail_send::App::from_env(&platform).map_err(StartError::from)?;
        let host = TransferHost::new(&platform, &gate, &mail_send, table)?;
        let done = self.on(&host, progress).await;
        mailbox.close();
        done
    }
}
