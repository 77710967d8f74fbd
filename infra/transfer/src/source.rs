//! Reads from the service that an account is taken from: within its limits, and again where an answer is broken.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use posthaste_model::Clock;
use serde_json::Value;

use crate::json_array::{ArrayFault, ArrayItems};
use crate::json_text;
use crate::pace::{Attempted, CallAttempts, NextAttempt, pause_after, retry_after};
use crate::report::shown;
use crate::service::{AnswerFault, BROWSER_PAGE, Reply, Service};

/// What shows whether an API is at an address: every key may ask for its own scopes (API facts, "API keys").
const FIRST_CALL: &str = "/v3/scopes";

/// How long an attempt of the first call may take.
const FIRST_WITHIN: Duration = Duration::from_secs(14);

/// How large an answer is at most, and how long it takes until its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnswerBound {
    bytes: usize,
    time: Duration,
}

impl AnswerBound {
    /// Of an answer that is in memory.
    pub(crate) const PAGE: Self = Self {
        bytes: 16 << 20,
        time: Duration::from_secs(120),
    };

    /// Of a list without pages, which goes into a file as it arrives.
    pub(crate) const LIST: Self = Self {
        bytes: 1 << 30,
        time: Duration::from_secs(1_800),
    };
}

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
        (self.0)(shown(&line.into()));
    }
}

/// Why something cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadFault {
    /// The service refuses the key at the first call: nothing else can be read either.
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
    /// Whether a call had an answer with data.
    has_answered: bool,
    /// Bytes of the last answer.
    last_bytes: usize,
    /// Whether an answer had something that is no text.
    is_mended: bool,
}

/// What an answer with a list had.
#[derive(Clone, Copy, Debug)]
struct ListRead {
    items: usize,
    is_mended: bool,
}

impl SourceApi {
    pub(crate) fn new(service: Service, clock: Clock, pause: Pause, progress: Progress) -> Self {
        Self {
            service,
            clock,
            pause,
            progress,
            wait: None,
            has_answered: false,
            last_bytes: 0,
            is_mended: false,
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
            has_answered: self.has_answered,
            last_bytes: 0,
            is_mended: false,
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

    /// Whether anything could be read.
    pub(crate) fn has_answered(&self) -> bool {
        self.has_answered
    }

    /// Bytes of the last answer.
    pub(crate) fn last_bytes(&self) -> usize {
        self.last_bytes
    }

    /// Whether an answer had something that is no text since this was asked the last time.
    pub(crate) fn take_mended(&mut self) -> bool {
        std::mem::take(&mut self.is_mended)
    }

    /// Finds out whether an API is at the address and takes the key. One that refuses this call does; what it has shows
    /// in the others.
    ///
    /// # Errors
    /// [`ReadFault::Key`] for a key that is refused, [`ReadFault::Broken`] where no API answers.
    pub(crate) async fn greet(&mut self) -> Result<(), ReadFault> {
        let mut attempts = CallAttempts::default();
        loop {
            let attempt = self.value_once(FIRST_CALL, AnswerBound::PAGE);
            let done = tokio::time::timeout(FIRST_WITHIN, attempt).await;
            let end = match done {
                Err(_) => Attempted::Costly("no answer in time".to_owned()),
                Ok(Ok(value)) if value.is_object() || value.is_array() => {
                    self.has_answered = true;
                    return Ok(());
                }
                Ok(Ok(_)) => return Err(ReadFault::Broken("the answer is no API's".to_owned())),
                Ok(Err(Attempted::Refused(StatusCode::UNAUTHORIZED, why))) => {
                    return Err(ReadFault::Key(format!("401 {why}")));
                }
                Ok(Err(Attempted::Refused(status, why))) => {
                    let kind = match why.as_str() {
                        _ if status.is_redirection() => "leads to another address",
                        BROWSER_PAGE => BROWSER_PAGE,
                        _ => return Ok(()),
                    };
                    let why = format!("it answers {}, {kind}", status.as_u16());
                    return Err(ReadFault::Broken(why));
                }
                Ok(Err(end)) => end,
            };
            self.next(FIRST_CALL, &mut attempts, end).await?;
        }
    }

    /// What a path answers.
    pub(crate) async fn value(&mut self, path: &str) -> Result<Value, ReadFault> {
        let mut attempts = CallAttempts::default();
        loop {
            match self.value_once(path, AnswerBound::PAGE).await {
                Ok(value) => {
                    self.has_answered |= value.is_object() || value.is_array();
                    return Ok(value);
                }
                Err(end) => self.next(path, &mut attempts, end).await?,
            }
        }
    }

    async fn value_once(&mut self, path: &str, bound: AnswerBound) -> Result<Value, Attempted> {
        let read = async {
            let mut reply = self.attempt(path).await?;
            let body = reply.bytes(bound.bytes).await.map_err(ended)?;
            let broken = || Attempted::Broken("the answer is not JSON".to_owned());
            let text = json_text::parse(&body).ok_or_else(broken)?;
            Ok((text, body.len()))
        };
        let done = tokio::time::timeout(bound.time, read).await;
        let (text, bytes) = done.unwrap_or_else(|_| Err(endless(bound)))?;
        self.last_bytes = bytes;
        self.is_mended |= text.is_mended;
        Ok(text.value)
    }

    /// The items of a list, as they arrive; how many there are.
    pub(crate) async fn array(
        &mut self,
        path: &str,
        bound: AnswerBound,
        sink: &mut (dyn FnMut(Feed) -> io::Result<()> + Send),
    ) -> Result<usize, ReadFault> {
        let mut attempts = CallAttempts::default();
        loop {
            let mut taken = 0;
            let read = async {
                let mut reply = match self.attempt(path).await {
                    Ok(reply) => reply,
                    Err(end) => return Ok(Err(end)),
                };
                feed(&mut reply, bound, (&mut *sink, &mut taken)).await
            };
            let done = tokio::time::timeout(bound.time, read).await;
            let end = match done.unwrap_or_else(|_| Ok(Err(endless(bound))))? {
                Ok(list) => {
                    self.last_bytes = taken;
                    self.has_answered = true;
                    self.is_mended |= list.is_mended;
                    return Ok(list.items);
                }
                Err(end) => end,
            };
            if taken > 0 {
                sink(Feed::Restart)?;
            }
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
        self.array(path, AnswerBound::PAGE, &mut sink).await?;
        Ok(all)
    }

    async fn attempt(&mut self, path: &str) -> Result<Reply, Attempted> {
        if let Some(wait) = self.wait.take() {
            self.pause.wait(wait).await;
        }
        let mut reply = self.service.get(path).await.map_err(ended)?;
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
            Attempted::Limited(_) | Attempted::Broken(_) | Attempted::Costly(_) => None,
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
            (NextAttempt::GiveUp(why), Some(status)) => Err(ReadFault::Refused(status, why)),
            (NextAttempt::GiveUp(why), None) => Err(ReadFault::Broken(why)),
        }
    }
}

fn ended(fault: AnswerFault) -> Attempted {
    match fault {
        AnswerFault::Broken(why) => Attempted::Broken(why),
        AnswerFault::TimedOut | AnswerFault::TooLarge(_) => Attempted::Costly(fault.to_string()),
    }
}

fn endless(bound: AnswerBound) -> Attempted {
    let seconds = bound.time.as_secs();
    Attempted::Costly(format!("the answer has no end within {seconds} s"))
}

/// Passes the items of an answer on, and counts its bytes. The inner error is that of the answer.
async fn feed(
    reply: &mut Reply,
    bound: AnswerBound,
    (sink, taken): (&mut (dyn FnMut(Feed) -> io::Result<()> + Send), &mut usize),
) -> io::Result<Result<ListRead, Attempted>> {
    let (mut array, mut items) = (ArrayItems::new(), 0);
    loop {
        let bytes = match reply.chunk().await {
            Err(fault) => return Ok(Err(ended(fault))),
            Ok(None) => break,
            Ok(Some(bytes)) => bytes,
        };
        *taken += bytes.len();
        if *taken > bound.bytes {
            return Ok(Err(ended(AnswerFault::TooLarge(bound.bytes))));
        }
        let mut found = Vec::new();
        if let Err(fault) = array.push(&bytes, &mut found) {
            let why = fault.to_string();
            return Ok(Err(match fault {
                // That is what the service means, and no answer that broke.
                ArrayFault::Object => Attempted::Costly(why),
                _ => Attempted::Broken(why),
            }));
        }
        items += found.len();
        if !found.is_empty() {
            sink(Feed::Items(found))?;
        }
    }
    let is_mended = array.is_mended();
    let end = array.finish().map(|()| ListRead { items, is_mended });
    Ok(end.map_err(|fault| Attempted::Broken(fault.to_string())))
}

#[cfg(test)]
mod tests;
