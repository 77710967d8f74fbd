//! A stand-in for the Lambda service: it runs a built function, hands it events over the Runtime
//! API and collects its answers.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read};
use std::path::Path as FsPath;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::routing::{get, post};
use axum::{Json, Router};
use bytes::Bytes;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot, watch};

/// The time limit of a function per event. Far more than it needs, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// The trace of every event, in the form of X-Ray's header.
pub const TRACE: &str =
    "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1";

/// The result of a function: its answer, or the error it reported.
pub type LambdaResult = Result<Value, Value>;

/// A running function, until dropped.
#[derive(Debug)]
pub struct LambdaFunction {
    child: Child,
    state: Arc<Events>,
    events: mpsc::UnboundedSender<(String, Value)>,
    /// Its output, line by line.
    log: Arc<Mutex<String>>,
    /// Its standard error was closed: it has ended, or is about to.
    ended: watch::Receiver<bool>,
}

#[derive(Debug)]
struct Events {
    waiting: tokio::sync::Mutex<mpsc::UnboundedReceiver<(String, Value)>>,
    running: Mutex<Running>,
}

#[derive(Debug, Default)]
struct Running {
    count: u64,
    answers: HashMap<String, oneshot::Sender<LambdaResult>>,
}

impl LambdaFunction {
    /// Starts the binary with these variables and those that Lambda itself sets, without the rest
    /// of this process's environment.
    ///
    /// # Panics
    /// When it cannot be started.
    pub async fn start<'a>(
        binary: &FsPath,
        variables: impl IntoIterator<Item = (&'a str, String)>,
    ) -> Self {
        let (events, waiting) = mpsc::unbounded_channel();
        let state = Arc::new(Events {
            waiting: tokio::sync::Mutex::new(waiting),
            running: Mutex::default(),
        });
        let address = serve(Arc::clone(&state)).await;
        let mut child = Command::new(binary)
            .env_clear()
            .env("AWS_LAMBDA_RUNTIME_API", address)
            .env("AWS_LAMBDA_FUNCTION_NAME", "under-test")
            .env("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "512")
            .env("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST")
            .env("AWS_REGION", "us-east-1")
            .env("AWS_ACCESS_KEY_ID", "test")
            .env("AWS_SECRET_ACCESS_KEY", "test")
            .envs(variables)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("a function that can be started");
        let log = Arc::new(Mutex::new(String::new()));
        let (end, ended) = watch::channel(false);
        copy(child.stdout.take(), Arc::clone(&log), || ());
        copy(child.stderr.take(), Arc::clone(&log), move || {
            end.send_replace(true);
        });
        Self {
            child,
            state,
            events,
            log,
            ended,
        }
    }

    /// Hands over one event and waits for its result.
    ///
    /// # Panics
    /// When the function ends, or does not answer within a minute; its log is in the message.
    pub async fn invoke(&self, event: Value) -> LambdaResult {
        let (id, answer) = self.state.announce();
        let handed = self.events.send((id, event));
        let mut ended = self.ended.clone();
        let outcome = tokio::time::timeout(PATIENCE, async {
            tokio::select! {
                biased;
                answer = answer => answer.ok(),
                _ = ended.wait_for(|&ended| ended) => None,
            }
        });
        let outcome = outcome.await.ok().flatten();
        assert!(handed.is_ok(), "the stand-in for Lambda has ended");
        let log = self.log();
        assert!(outcome.is_some(), "the function did not answer:\n{log}");
        outcome.expect("checked above")
    }

    /// The most memory that it has held so far, in bytes (`VmHWM` of `proc_pid_status(5)`).
    ///
    /// # Panics
    /// When the system does not say.
    pub fn most_memory(&self) -> u64 {
        most_memory_of(&self.child.id().to_string())
    }

    /// Its output so far.
    pub fn log(&self) -> String {
        lock(&self.log).clone()
    }
}

/// The most memory that this process has held so far, in bytes: for a test that is the only one of its program.
///
/// # Panics
/// When the system does not say.
pub fn most_memory() -> u64 {
    most_memory_of("self")
}

/// The same of another process, by its number (`VmHWM` of `proc_pid_status(5)`).
fn most_memory_of(process: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"));
    let status = status.expect("a process that runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
    let kilobytes = kilobytes.and_then(|figure| figure.parse::<u64>().ok());
    kilobytes.expect("a figure") << 10
}

impl Drop for LambdaFunction {
    fn drop(&mut self) {
        // A process that has ended already only needs reaping.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Events {
    /// A new event's id, and where its answer will appear.
    fn announce(&self) -> (String, oneshot::Receiver<LambdaResult>) {
        let (tell, answer) = oneshot::channel();
        let mut running = lock(&self.running);
        running.count += 1;
        let id = format!("00000000-0000-0000-0000-{:012}", running.count);
        running.answers.insert(id.clone(), tell);
        (id, answer)
    }

    fn end(&self, id: &str, outcome: LambdaResult) -> StatusCode {
        match lock(&self.running).answers.remove(id) {
            Some(tell) => {
                // The test may have stopped waiting.
                let _ = tell.send(outcome);
                StatusCode::ACCEPTED
            }
            None => StatusCode::BAD_REQUEST,
        }
    }
}

/// Serves the Runtime API on a loopback port, and returns its address.
async fn serve(state: Arc<Events>) -> String {
    const INVOCATION: &str = "/2018-06-01/runtime/invocation";
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("a bound port has an address");
    let router = Router::new()
        .route(&format!("{INVOCATION}/next"), get(next))
        .route(&format!("{INVOCATION}/{{id}}/response"), post(response))
        .route(&format!("{INVOCATION}/{{id}}/error"), post(error))
        .with_state(state);
    tokio::spawn(async move {
        // Ends with the runtime of the test; an error has no receiver.
        let _ = axum::serve(listener, router).await;
    });
    address.to_string()
}

/// Answers when there is an event.
#[expect(
    clippy::disallowed_methods,
    reason = "the deadline is real time: a real process reads it"
)]
async fn next(State(state): State<Arc<Events>>) -> impl IntoResponse {
    let event = state.waiting.lock().await.recv().await;
    let Some((id, event)) = event else {
        return StatusCode::GONE.into_response();
    };
    let deadline = (SystemTime::now() + PATIENCE).duration_since(SystemTime::UNIX_EPOCH);
    let deadline = deadline.unwrap_or_default().as_millis().to_string();
    let arn = "arn:aws:lambda:us-east-1:000000000000:function:under-test";
    let headers = [
        ("lambda-runtime-aws-request-id", id),
        ("lambda-runtime-deadline-ms", deadline),
        ("lambda-runtime-invoked-function-arn", arn.to_owned()),
        ("lambda-runtime-trace-id", TRACE.to_owned()),
    ];
    (headers, Json(event)).into_response()
}

async fn response(
    State(state): State<Arc<Events>>,
    Path(id): Path<String>,
    body: Bytes,
) -> StatusCode {
    match serde_json::from_slice(&body) {
        Ok(answer) => state.end(&id, Ok(answer)),
        Err(_) => StatusCode::BAD_REQUEST,
    }
}

async fn error(
    State(state): State<Arc<Events>>,
    Path(id): Path<String>,
    body: Bytes,
) -> StatusCode {
    match serde_json::from_slice(&body) {
        Ok(report) => state.end(&id, Err(report)),
        Err(_) => StatusCode::BAD_REQUEST,
    }
}

/// Copies the lines of one stream into the log until it closes, then calls `closed`.
fn copy(
    stream: Option<impl Read + Send + 'static>,
    log: Arc<Mutex<String>>,
    closed: impl FnOnce() + Send + 'static,
) {
    std::thread::spawn(move || {
        let lines = stream.into_iter().flat_map(|s| BufReader::new(s).lines());
        for line in lines.map_while(Result::ok) {
            let mut log = lock(&log);
            log.push_str(&line);
            log.push('\n');
        }
        closed();
    });
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
