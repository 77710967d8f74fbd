//! The operator's commands that this host carries out while it runs on a data folder.

use std::ffi::OsString;
use std::path::PathBuf;

use posthaste_blob::Blob;
use posthaste_mailbox::Mailbox;
use posthaste_operator::Tools;
use posthaste_transfer::Progress;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::args::{Cli, Command};
use crate::control::{self, CommandReply, ProgressSender};
use crate::engine::{EVENTS, Engine, RETRIES};
use crate::mailbox_feed::open_mailbox;
use crate::start::HostSettings;
use crate::table::Table;
use crate::transfer::{TransferFailure, TransferHost};
use crate::transfer_line::TransferCommand;
use crate::workers::stopped;

/// What the operator's commands work with while this host runs.
pub(crate) fn tools(
    settings: &HostSettings,
    table: &Table,
    engine: &Engine,
    (blob, mailbox): (Blob, &Mailbox),
    public_url: String,
) -> Tools {
    Tools {
        store: table.store.clone(),
        blob: Some(blob),
        clock: settings.clock.clone(),
        entropy: settings.entropy.clone(),
        events: Some(engine.queue(EVENTS)),
        retries: Some(engine.queue(RETRIES)),
        dead_jobs: Some(engine.dead_jobs()),
        bus: None,
        ses: None,
        resolver: None,
        elsewhere: Some(open_mailbox(mailbox)),
        public_url: Some(public_url),
    }
}

/// Answers the operator's commands; `None` where the folder's path is too long for a socket.
pub(crate) fn serve(
    folder: PathBuf,
    (tools, transfer): (Tools, TransferHost),
    stop: watch::Receiver<bool>,
) -> Option<JoinHandle<()>> {
    let listener = control::listen(&folder).inspect_err(|error| {
        tracing::warn!(%error, "operator commands cannot reach this host while it runs: {error}");
    });
    let listener = listener.ok()?;
    Some(tokio::spawn(async move {
        let answer = move |line: Vec<String>, progress: ProgressSender| {
            let (tools, transfer) = (tools.clone(), transfer.clone());
            async move { answer(line, &tools, &transfer, progress).await }
        };
        control::serve(listener, &folder, answer, stopped(stop)).await;
    }))
}

/// Carries out a command line of the operator.
async fn answer(
    line: Vec<String>,
    tools: &Tools,
    transfer: &TransferHost,
    progress: ProgressSender,
) -> CommandReply {
    let parsed = Cli::read(line.into_iter().map(OsString::from));
    let show = Progress::new(move |line| {
        // A client that has gone is noticed where the line is sent.
        let _ = progress.send(line);
    });
    let done: Result<String, TransferFailure> = match parsed.ok().and_then(|cli| cli.command) {
        Some(Command::Operator(operator)) => operator.on(tools).await.map_err(Into::into),
        Some(Command::Import(import)) => {
            let command = TransferCommand::from(*import);
            command.on(transfer, show).await
        }
        Some(Command::Export(export)) => {
            let command = TransferCommand::from(*export);
            command.on(transfer, show).await
        }
        _ => {
            let text = "the running host does not have this command: is it of another version?";
            return CommandReply {
                code: 2,
                text: text.to_owned(),
            };
        }
    };
    match done {
        Ok(text) => CommandReply { code: 0, text },
        Err(error) => CommandReply {
            code: error.exit_code(),
            text: error.to_string(),
        },
    }
}
