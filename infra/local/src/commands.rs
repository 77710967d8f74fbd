//! The operator's commands that this host carries out while it runs on a data folder.

use std::ffi::OsString;
use std::path::PathBuf;

use posthaste_blob::Blob;
use posthaste_mailbox::Mailbox;
use posthaste_operator::Tools;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::args::{Cli, Command};
use crate::control::{self, CommandReply};
use crate::engine::{EVENTS, Engine, RETRIES};
use crate::mailbox_feed::open_mailbox;
use crate::start::HostSettings;
use crate::table::Table;
use crate::workers::stopped;

/// What the operator's commands work with while this host runs.
pub(crate) fn tools(
    settings: &HostSettings,
    table: &Table,
    engine: &Engine,
    blob: Blob,
    mailbox: &Mailbox,
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
    }
}

/// Answers the operator's commands; `None` where the folder's path is too long for a socket.
pub(crate) fn serve(
    folder: PathBuf,
    tools: Tools,
    stop: watch::Receiver<bool>,
) -> Option<JoinHandle<()>> {
    let listener = control::listen(&folder).inspect_err(|error| {
        tracing::warn!(%error, "operator commands cannot reach this host while it runs: {error}");
    });
    let listener = listener.ok()?;
    Some(tokio::spawn(async move {
        let answer = move |line: Vec<String>| {
            let tools = tools.clone();
            async move { answer(line, &tools).await }
        };
        control::serve(listener, &folder, answer, stopped(stop)).await;
    }))
}

/// Carries out a command line of the operator.
async fn answer(line: Vec<String>, tools: &Tools) -> CommandReply {
    let parsed = Cli::read(line.into_iter().map(OsString::from));
    let Ok(Cli {
        command: Some(Command::Operator(operator)),
        ..
    }) = parsed
    else {
        let text = "the running host does not have this command: is it of another version?";
        return CommandReply {
            code: 2,
            text: text.to_owned(),
        };
    };
    match operator.on(tools).await {
        Ok(text) => CommandReply { code: 0, text },
        Err(error) => CommandReply {
            code: error.exit_code(),
            text: error.to_string(),
        },
    }
}
