//! Reads from the service that an account is taken from: within its limits, and again where an answer is broken.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use posthaste_model::Clock;
use serde_json::Value;

use crate::json_array::ArrayItems;
use crate::pace::{Attempted, CallAttempts, NextAttempt, pause_after, retry_after};
use crate::service::{Reply, Service};

/// Bytes of an answer that is no list.
const LARGEST: usize = 32 << 20;

/// Waits, as the process does.
#[derive(Clone)]
pub struct Pause(Arc<dyn Fn(Duration) -> Waiting + Send + Sync>);

/// A wait that is under way.
pub type Waiting = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Pause {
    /// Wraps a function that waits.
    pub fn new(wait: impl Fn(Duration) -> Waiting + Send + Sync + 'static) -> Self {
        Self(Arc::new(wait))
    }

    pub(crate) async fn wait(&self, wait: Duration) {
        (self.0)(wait).await;
    }
}

/// Where lines about the progress go.
#[derive(Clone)]
pub struct Progress(Arc<dyn Fn(String) + Send + Sync>);

impl Progress {
    /// Wraps a function that shows a line.
    pub fn new(show: impl Fn(String) + Send + Sync + 'static) -> Self {
        Self(Arc::new(show))
    }

    pub(crate) fn say(&self, line: impl Into<String>) {
        (self.0)(line.into());
    }
}

/// Why something cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadFault {
    /// The service refuses the key: nothing else can be read either.
    #[error("the key is refused: {0}")]
    Key(String),
    /// The service refuses the call, or has nothing there.
    #[error("{1}")]
    Refused(StatusCode, String),
    /// The answers stay broken.
    #[error("{0}")]
    Broken(String),
    /// What was read cannot be stored.
    #[error(transparent)]
    Folder(#[from] io::Error),
}

/// What a list gives to its reader.
pub(crate) enum Feed {
    /// The answer broke off: its items come again from the first one.
    Restart,
    Items(Vec<Value>),
}

/// The reading end of a service.
pub(crate) struct SourceApi {
    service: Service,
    clock: Clock,
    pause: Pause,
    progress: Progress,
    /// What the service asked to wait before the next call.
    wait: Option<Duration>,
}

impl SourceApi {
    pub(crate) fn new(service: Service, clock: Clock, pause: Pause, progress: Progress) -> Self {
        Self {
            service,
            clock,
            pause,
            progress,
            wait: None,
        }
    }

    /// The same for a subuser.
    pub(crate) fn with_service(&self, service: Service) -> Self {
        Self {
            service,
            clock: self.clock.clone(),
            pause: self.pause.clone(),
            progress: self.progress.clone(),
            wait: self.wait,
        }
    }

    pub(crate) fn service(&self) -> &Service {
        &self.service
    }

    pub(crate) fn progress(&self) -> &Progress {
        &self.progress
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Whether lists may be asked for in pages of any length.
    pub(crate) fn is_here(&self) -> bool {
        matches!(self.service, Service::Here(_))
    }

    /// What a path answers.
    pub(crate) async fn value(&mut self, path: &str) -> Result<Value, ReadFault> {
        let mut attempts = CallAttempts::default();
        loop {
            let end = match self.attempt(path).await {
                Err(end) => end,
                Ok(mut reply) => match reply.bytes(LARGEST).await {
                    Err(why) => Attempted::Broken(why),
                    Ok(body) => match serde_json::from_slice(&body) {
                        Ok(value) => return Ok(value),
                        Err(_) => Attempted::Broken("the answer is not JSON".to_owned()),
                    },
                },
            };
            self.next(path, &mut attempts, end).await?;
        }
    }

    /// The items of a list, as they arrive; how many there are.
    pub(crate) async fn array(
        &mut self,
        path: &str,
        sink: &mut (dyn FnMut(Feed) -> io::Result<()> + Send),
    ) -> Result<usize, ReadFault> {
        let mut attempts = CallAttempts::default();
        loop {
            let end = match self.attempt(path).await {
                Err(end) => end,
                Ok(mut reply) => match feed(&mut reply, sink).await? {
                    Ok(count) => return Ok(count),
                    Err(why) => {
                        sink(Feed::Restart)?;
                        Attempted::Broken(why)
                    }
                },
            };
            self.next(path, &mut attempts, end).await?;
        }
    }

    /// The items of a list that is short enough for memory.
    pub(crate) async fn items(&mut self, path: &str) -> Result<Vec<Value>, ReadFault> {
        let mut all = Vec::new();
        let mut sink = |feed: Feed| {
            match feed {
                Feed::Restart => all.clear(),
                Feed::Items(items) => all.extend(items),
            }
            Ok(())
        };
        self.array(path, &mut sink).await?;
        Ok(all)
    }

    async fn attempt(&mut self, path: &str) -> Result<Reply, Attempted> {
        if let Some(wait) = self.wait.take() {
            self.pause.wait(wait).await;
        }
        let mut reply = self.service.get(path).await.map_err(Attempted::Broken)?;
        let now = self.clock.now();
        self.wait = pause_after(&reply.headers, now);
        match reply.status {
            StatusCode::TOO_MANY_REQUESTS => {
                // One wait is enough.
                self.wait = None;
                Err(Attempted::Limited(retry_after(&reply.headers, now)))
            }
            status if status.is_server_error() => {
                Err(Attempted::Broken(format!("it answers {}", status.as_u16())))
            }
            status if status.is_success() => Ok(reply),
            status => Err(Attempted::Refused(status, reply.problems().await)),
        }
    }

    async fn next(
        &mut self,
        path: &str,
        attempts: &mut CallAttempts,
        end: Attempted,
    ) -> Result<(), ReadFault> {
        let status = match &end {
            Attempted::Refused(status, _) => Some(*status),
            Attempted::Limited(_) | Attempted::Broken(_) => None,
        };
        let is_limited = matches!(end, Attempted::Limited(_));
        match (attempts.after(end), status) {
            (NextAttempt::After(wait), _) => {
                let why = if is_limited {
                    "it takes no calls"
                } else {
                    "a broken answer"
                };
                let path = path.split('?').next().unwrap_or_default();
                let seconds = wait.as_secs();
                self.progress
                    .say(format!("{path}: {why}; next attempt in {seconds} s"));
                self.pause.wait(wait).await;
                Ok(())
            }
            (NextAttempt::GiveUp(why), Some(StatusCode::UNAUTHORIZED)) => Err(ReadFault::Key(why)),
            (NextAttempt::GiveUp(why), Some(status)) => Err(ReadFault::Refused(status, why)),
            (NextAttempt::GiveUp(why), None) => Err(ReadFault::Broken(why)),
        }
    }
}

/// Passes the items of an answer on. The inner error is that of the answer.
async fn feed(
    reply: &mut Reply,
    sink: &mut (dyn FnMut(Feed) -> io::Result<()> + Send),
) -> io::Result<Result<usize, String>> {
    let (mut array, mut count) = (ArrayItems::new(), 0);
    loop {
        let bytes = match reply.chunk().await {
            Err(why) => return Ok(Err(why)),
            Ok(None) => break,
            Ok(Some(bytes)) => bytes,
        };
        let mut found = Vec::new();
        if let Err(fault) = array.push(&bytes, &mut found) {
            return Ok(Err(fault.to_string()));
        }
        count += found.len();
        if !found.is_empty() {
            sink(Feed::Items(found))?;
        }
    }
    Ok(array
        .finish()
        .map(|()| count)
        .map_err(|fault| fault.to_string()))
}
