//! Receives a message within its size, its time and the available memory.

use bytes::Buf;
use posthaste_listen::Grant;
use tokio::time::Instant;

use super::{Closed, Connection, ServerState, SessionResult};
use crate::data::DataReader;
use crate::protocol::too_long;
use crate::reply::SmtpReply;
use crate::{BareLineEnds, Handler};

impl<H: Handler> Connection<H> {
    /// Reads a message to its end; the inner `Err` is the reason for its refusal.
    pub(super) async fn receive(
        &mut self,
        shared: &ServerState<H>,
        grant: &mut Grant,
    ) -> SessionResult<Result<Vec<u8>, SmtpReply>> {
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
            Err(too_long(config))
        } else if !room {
            Err(SmtpReply::new(452, "4.3.1", "no room for the message now"))
        } else if message.has_bare_line_ends() && config.bare_line_ends == BareLineEnds::Refuse {
            Err(SmtpReply::new(
                554,
                "5.6.0",
                "the message has bare CR or LF",
            ))
        } else {
            Ok(message.into_body())
        })
    }
}
