//! How the operator's commands reach a host that runs: by a socket in its data folder.
//!
//! Table and queues belong to one process, which holds the folder's lock. A command that finds the folder locked
//! hands its command line to that process and prints the reply: one line of JSON each way. A long command sends lines
//! about its progress before, and ends when its reader is gone. Only the user that the host runs as may connect.

use std::ffi::OsString;
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader,
};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// The name of the socket in the data folder.
pub(crate) const SOCKET: &str = "control.sock";

/// The longest command line or reply, in bytes.
const LONGEST: u64 = 16 << 20;

/// How long a client may take to send its command line.
const SENT_WITHIN: Duration = Duration::from_secs(5);

/// What a command ended with.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CommandReply {
    /// Exit code of the process that asked.
    pub(crate) code: u8,
    /// What it prints: the answer, or the line of its failure.
    pub(crate) text: String,
}

/// A line of a host: about the progress of a command, or its end.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum HostLine {
    Progress { progress: String },
    Reply(CommandReply),
}

/// Where a command sends lines about its progress.
pub(crate) type ProgressSender = mpsc::UnboundedSender<String>;

/// Listens in a data folder whose lock this process holds.
pub(crate) fn listen(folder: &Path) -> io::Result<UnixListener> {
    let path = folder.join(SOCKET);
    match std::fs::remove_file(&path) {
        // Of a process that was killed.
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let listener = UnixListener::bind(&path)?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// Answers command lines until `stop` resolves; commands under way are finished.
pub(crate) async fn serve<F>(
    listener: UnixListener,
    folder: &Path,
    answer: impl Fn(Vec<String>, ProgressSender) -> F + Clone + Send + Sync + 'static,
    stop: impl Future<Output = ()>,
) where
    F: Future<Output = CommandReply> + Send + 'static,
{
    let owner = std::fs::metadata(folder.join(SOCKET)).map(|socket| socket.uid());
    let mut running = JoinSet::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        let accepted = tokio::select! {
            () = &mut stop => break,
            Some(_) = running.join_next() => continue,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let peer = stream.peer_cred().map(|peer| peer.uid());
        let is_owner =
            matches!((&peer, &owner), (Ok(peer), Ok(owner)) if *peer == *owner || *peer == 0);
        if is_owner {
            running.spawn(converse(stream, answer.clone()));
        }
    }
    while running.join_next().await.is_some() {}
    // A command that finds no socket says that the host runs.
    let _ = std::fs::remove_file(folder.join(SOCKET));
}

async fn converse<F>(mut stream: UnixStream, answer: impl Fn(Vec<String>, ProgressSender) -> F)
where
    F: Future<Output = CommandReply>,
{
    let (read, mut write) = stream.split();
    let mut line = String::new();
    let mut reader = BufReader::new(read).take(LONGEST);
    let received = tokio::time::timeout(SENT_WITHIN, reader.read_line(&mut line)).await;
    let Ok(Ok(1..)) = received else { return };
    let reply = match serde_json::from_str(&line) {
        Ok(words) => {
            let (progress, mut lines) = mpsc::unbounded_channel();
            let mut answer = std::pin::pin!(answer(words, progress));
            let mut gone = std::pin::pin!(is_gone(reader));
            let mut is_long = false;
            loop {
                // Lines first: those of a command that has ended come before its reply.
                tokio::select! {
                    biased;
                    Some(progress) = lines.recv() => {
                        let sent = send(&mut write, &HostLine::Progress { progress }).await;
                        // The client was stopped, and the command ends where it is.
                        if sent.is_err() {
                            return;
                        }
                        is_long = true;
                    }
                    () = &mut gone, if is_long => return,
                    reply = &mut answer => {
                        while let Ok(progress) = lines.try_recv() {
                            let _ = send(&mut write, &HostLine::Progress { progress }).await;
                        }
                        break reply;
                    }
                }
            }
        }
        Err(_) => CommandReply {
            code: 2,
            text: "the command line cannot be read".to_owned(),
        },
    };
    // The client may have been stopped; the command is done all the same.
    let _ = send(&mut write, &HostLine::Reply(reply)).await;
}

/// Resolves when the client has closed its end.
async fn is_gone(mut reader: impl AsyncRead + Unpin) {
    let mut bytes = [0; 256];
    while let Ok(1..) = reader.read(&mut bytes).await {}
}

async fn send(write: &mut (impl AsyncWrite + Unpin), line: &HostLine) -> io::Result<()> {
    let mut text = serde_json::to_string(line)?;
    text.push('\n');
    write.write_all(text.as_bytes()).await
}

/// Hands a command line, the name of the program first, to the host that runs on the folder.
///
/// # Errors
/// When no host answers there.
pub(crate) async fn ask(folder: &Path, line: &[OsString]) -> io::Result<CommandReply> {
    ask_with(folder, line, |_| ()).await
}

/// The same for a command that sends lines about its progress.
pub(crate) async fn ask_with(
    folder: &Path,
    line: &[OsString],
    show: impl Fn(String),
) -> io::Result<CommandReply> {
    let mut stream = UnixStream::connect(folder.join(SOCKET)).await?;
    // Only the name of the data folder may be other bytes, and the host has its own.
    let words: Vec<_> = line.iter().map(|word| word.to_string_lossy()).collect();
    let mut text = serde_json::to_string(&words)?;
    text.push('\n');
    stream.write_all(text.as_bytes()).await?;
    let mut reader = BufReader::new(stream);
    loop {
        let mut reply = String::new();
        (&mut reader).take(LONGEST).read_line(&mut reply).await?;
        match serde_json::from_str(&reply)? {
            HostLine::Progress { progress } => show(progress),
            HostLine::Reply(reply) => return Ok(reply),
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn a_long_command_ends_when_its_client_is_gone() {
        let (client, host) = UnixStream::pair().unwrap();
        let (kept, stopped) = oneshot::channel::<()>();
        let kept = std::sync::Mutex::new(Some(kept));
        let answer = |_: Vec<String>, progress: ProgressSender| {
            let kept = kept.lock().unwrap().take();
            async move {
                progress.send("begun".to_owned()).unwrap();
                // It says nothing more, and never ends by itself.
                let _work = kept;
                std::future::pending().await
            }
        };
        let ask = async move {
            let mut client = BufReader::new(client);
            client.write_all(b"[\"posthaste\"]\n").await.unwrap();
            let mut line = String::new();
            client.read_line(&mut line).await.unwrap();
            assert_eq!(line, "{\"progress\":\"begun\"}\n");
        };
        let ((), ()) = tokio::join!(converse(host, answer), ask);
        assert!(stopped.await.is_err(), "the work is dropped");
    }

    #[tokio::test]
    async fn a_command_line_comes_back_as_its_reply_until_the_host_stops() {
        let folder = tempfile::tempdir().unwrap();
        // Left by a process that was killed.
        drop(std::os::unix::net::UnixListener::bind(folder.path().join(SOCKET)).unwrap());
        let listener = listen(folder.path()).unwrap();
        let mode = std::fs::metadata(folder.path().join(SOCKET))
            .unwrap()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        let (stop, stopped) = oneshot::channel::<()>();
        let answer = |words: Vec<String>, progress: ProgressSender| async move {
            progress.send("half".to_owned()).unwrap();
            tokio::task::yield_now().await;
            progress.send("all".to_owned()).unwrap();
            CommandReply {
                code: 3,
                text: words.join(" "),
            }
        };
        let path = folder.path().to_owned();
        let serving = tokio::spawn(async move {
            let stop = async {
                let _ = stopped.await;
            };
            serve(listener, &path, answer, stop).await;
        });
        let line = ["posthaste", "account", "list"].map(OsString::from);
        let shown = std::cell::RefCell::new(Vec::new());
        let show = |line: String| shown.borrow_mut().push(line);
        let reply = ask_with(folder.path(), &line, show).await.unwrap();
        assert_eq!(*shown.borrow(), ["half", "all"]);
        assert_eq!(reply.text, "posthaste account list");
        assert_eq!(reply.code, 3);
        drop(stop);
        serving.await.unwrap();
        assert!(ask(folder.path(), &line).await.is_err());
    }
}
