//! One client, from the greeting to the goodbye.

mod secure;

use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf as _, BytesMut};
use posthaste_listen::{Grant, MemoryBudget};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::watch;
use tokio::time::{Instant, timeout, timeout_at};

use crate::command;
use crate::data::{DataReader, LineBuffer, SmtpLine};
use crate::protocol::{Next, Protocol, too_long};
use crate::reply::{AfterReply, SmtpReply};
use crate::{BareLineEnds, Config, Handler, ServerTls, Session};

/// Octets read at a time.
const PIECE: usize = 16 * 1024;

/// A response to AUTH may be this long (RFC 4954 section 4).
const AUTH_LINE: usize = 12_288;

/// Above this size, replies waiting for the end of a pipelined group are sent.
const OUTBOX: usize = 16 * 1024;

/// How long to wait for the client to close the connection after the goodbye.
const LINGER: Duration = Duration::from_secs(1);

pub(crate) trait Io: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Io for T {}

/// State shared by all connections of a server.
pub(crate) struct ServerState<H> {
    pub(crate) config: Config,
    pub(crate) handler: Arc<H>,
    pub(crate) budget: MemoryBudget,
}

pub(crate) struct Connection<H: Handler> {
    stream: Box<dyn Io>,
    inbox: BytesMut,
    outbox: Vec<u8>,
    lines: LineBuffer,
    protocol: Protocol,
    session: Session<H::Identity>,
    shared: Arc<ServerState<H>>,
    stop: watch::Receiver<bool>,
}

/// Why a conversation ended.
enum Closed {
    /// The client left or the connection broke: no goodbye is sent.
    Lost,
    /// With this reply.
    Farewell(SmtpReply),
}

type SessionResult<T> = Result<T, Closed>;

/// A message that was received to its end.
enum ReceivedData {
    Message(Vec<u8>),
    Refused(SmtpReply),
}

impl<H: Handler> Connection<H> {
    pub(crate) fn new(
        stream: Box<dyn Io>,
        session: Session<H::Identity>,
        shared: Arc<ServerState<H>>,
        stop: watch::Receiver<bool>,
    ) -> Self {
        Self {
            stream,
            inbox: BytesMut::new(),
            outbox: Vec::new(),
            lines: LineBuffer::default(),
            protocol: Protocol::new(false),
            session,
            shared,
            stop,
        }
    }

    /// Runs the conversation until either side ends it.
    pub(crate) async fn run(mut self) {
        if let Err(Closed::Farewell(reply)) = self.talk().await {
            reply.write(&mut self.outbox);
            if self.flush().await.is_ok() && reply.end != AfterReply::HangUp {
                self.linger().await;
            }
        }
    }

    async fn talk(&mut self) -> SessionResult<()> {
        let shared = Arc::clone(&self.shared);
        if let ServerTls::Wrapped(tls) = &shared.config.tls {
            self.encrypt(tls).await?;
        }
        if let Err(reply) = shared.handler.connected(&self.session).await {
            return Err(Closed::Farewell(reply.closing_unless_silent()));
        }
        let name = &shared.config.hostname;
        self.say(SmtpReply::new(220, "", format!("{name} ESMTP")))?;
        loop {
            let command = match self.line(shared.config.limits.line).await? {
                SmtpLine::Text(line) => command::parse(&line),
                other @ (SmtpLine::Bare | SmtpLine::TooLong | SmtpLine::Flood) => {
                    Err(complaint(&other))
                }
            };
            let next = self.protocol.next(&shared.config, command);
            self.act(&shared, next).await?;
        }
    }

    async fn act(&mut self, shared: &ServerState<H>, next: Next) -> SessionResult<()> {
        match next {
            Next::Say(reply) => self.say(reply),
            Next::Hello { name, extended } => self.hello(shared, name, extended).await,
            Next::Mail(envelope) => {
                let answer = shared.handler.mail(&self.session, &envelope).await;
                if answer.is_ok() {
                    self.protocol.open(envelope);
                }
                self.answer(answer, "2.1.0", "sender ok")
            }
            Next::Rcpt(to) => {
                let Some(envelope) = self.protocol.envelope() else {
                    return Ok(());
                };
                let answer = shared.handler.rcpt(&self.session, envelope, &to).await;
                if answer.is_ok() {
                    self.protocol.add(to);
                }
                self.answer(answer, "2.1.5", "recipient ok")
            }
            Next::Data => self.data(shared).await,
            Next::StartTls => self.start_tls(shared).await,
            Next::Auth { mechanism, initial } => self.auth(shared, &mechanism, initial).await,
        }
    }

    async fn hello(
        &mut self,
        shared: &ServerState<H>,
        name: String,
        extended: bool,
    ) -> SessionResult<()> {
        self.session.hello = name;
        self.session.esmtp = extended;
        match shared.handler.hello(&self.session).await {
            Ok(()) => {
                let reply = self.protocol.greet(&shared.config, extended);
                self.say(reply)
            }
            Err(reply) => self.say(reply),
        }
    }

    async fn data(&mut self, shared: &ServerState<H>) -> SessionResult<()> {
        let Some(envelope) = self.protocol.take() else {
            return Ok(());
        };
        if let Err(reply) = shared.handler.begin(&self.session, &envelope).await {
            return self.say(reply);
        }
        self.say(SmtpReply::new(354, "", "go ahead, end with <CRLF>.<CRLF>"))?;
        let mut grant = Grant::default();
        let reply = match self.receive(shared, &mut grant).await? {
            ReceivedData::Message(message) => {
                shared.handler.data(&self.session, envelope, message).await
            }
            ReceivedData::Refused(reply) => reply,
        };
        if reply.is_positive() {
            self.protocol.reset_errors();
        }
        self.say(reply)
    }

    fn answer(
        &mut self,
        answer: Result<(), SmtpReply>,
        status: &'static str,
        text: &str,
    ) -> SessionResult<()> {
        match answer {
            Ok(()) => self.say(SmtpReply::new(250, status, text)),
            Err(reply) => self.say(reply),
        }
    }

    /// Queues a reply, or ends the conversation with it.
    fn say(&mut self, reply: SmtpReply) -> SessionResult<()> {
        let reply = self.protocol.count_error(&self.shared.config, reply);
        if reply.end != AfterReply::Open {
            return Err(Closed::Farewell(reply));
        }
        reply.write(&mut self.outbox);
        Ok(())
    }

    /// The next line. Queued replies are sent before waiting.
    async fn line(&mut self, longest: usize) -> SessionResult<SmtpLine> {
        let end = Instant::now() + self.shared.config.limits.command;
        loop {
            if let Some(line) = self.lines.take(&mut self.inbox, longest) {
                if self.outbox.len() > OUTBOX {
                    self.flush().await?;
                }
                return Ok(line);
            }
            self.flush().await?;
            let mut stop = self.stop.clone();
            tokio::select! {
                read = self.read(end) => read?,
                _ = stop.wait_for(|stop| *stop) => {
                    let reply = SmtpReply::new(421, "4.3.2", "the server is stopping");
                    return Err(Closed::Farewell(reply));
                }
            }
        }
    }

    async fn read(&mut self, end: Instant) -> SessionResult<()> {
        self.inbox.reserve(PIECE);
        match timeout_at(end, self.stream.read_buf(&mut self.inbox)).await {
            Ok(Ok(0) | Err(_)) => Err(Closed::Lost),
            Ok(Ok(_)) => Ok(()),
            Err(_) => {
                let reply = SmtpReply::new(421, "4.4.2", "you took too long");
                Err(Closed::Farewell(reply))
            }
        }
    }

    async fn flush(&mut self) -> SessionResult<()> {
        if self.outbox.is_empty() {
            return Ok(());
        }
        let limit = self.shared.config.limits.pause;
        let write = async {
            self.stream.write_all(&self.outbox).await?;
            self.stream.flush().await
        };
        let written = timeout(limit, write).await;
        self.outbox.clear();
        match written {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(Closed::Lost),
        }
    }

    /// Closes the sending half and reads on for a moment: closing a socket with unread bytes in it
    /// would discard the goodbye.
    async fn linger(&mut self) {
        let end = Instant::now() + LINGER;
        if timeout_at(end, self.stream.shutdown()).await.is_err() {
            return;
        }
        let mut rest = 256 * 1024_usize;
        while rest > 0 {
            self.inbox.clear();
            if self.read(end).await.is_err() {
                return;
            }
            rest = rest.saturating_sub(self.inbox.len());
        }
    }
}

fn complaint(line: &SmtpLine) -> SmtpReply {
    match line {
        SmtpLine::TooLong => SmtpReply::new(500, "5.5.2", "line too long"),
        SmtpLine::Flood => SmtpReply::new(421, "4.7.0", "line too long"),
        SmtpLine::Text(_) | SmtpLine::Bare => SmtpReply::new(500, "5.5.2", "lines end with CRLF"),
    }
}

impl<H: Handler> Connection<H> {
    /// Reads a message to its end.
    async fn receive(
        &mut self,
        shared: &ServerState<H>,
        grant: &mut Grant,
    ) -> SessionResult<ReceivedData> {
        let config = &shared.config;
        let end = Instant::now() + config.limits.message;
        let mut message = DataReader::new(config.max_size);
        let mut room = true;
        loop {
            let ahead = message.length() + self.inbox.len();
            room &= !message.is_kept() || shared.budget.cover(grant, ahead);
            if !room {
                message.discard();
            }
            let ended = message.push(&self.inbox);
            self.inbox.advance(ended.unwrap_or(self.inbox.len()));
            room &= shared.budget.cover(grant, message.capacity());
            if ended.is_some() {
                break;
            }
            if !message.is_kept() {
                *grant = Grant::default();
            }
            if message.length() > config.max_size.saturating_mul(3) {
                return Err(Closed::Farewell(too_long(config).closing()));
            }
            self.flush().await?;
            let pause = Instant::now() + config.limits.pause;
            self.read(pause.min(end)).await?;
        }
        Ok(if message.is_too_long() {
            ReceivedData::Refused(too_long(config))
        } else if !room {
            ReceivedData::Refused(SmtpReply::new(452, "4.3.1", "no room for the message now"))
        } else if message.has_bare_line_ends() && config.bare_line_ends == BareLineEnds::Refuse {
            ReceivedData::Refused(SmtpReply::new(
                554,
                "5.6.0",
                "the message has bare CR or LF",
            ))
        } else {
            ReceivedData::Message(message.into_body())
        })
    }
}

#[cfg(test)]
mod tests;
