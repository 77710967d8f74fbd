//! Who came by which link, and the event that makes.

use axum::http::{HeaderMap, header};
use posthaste_http::{ClientIp, Query, Rejection};
use posthaste_model::{Event, Kind};
use posthaste_queue::Happened;
use posthaste_render::{TOKEN_PARAMETER, Token};

use crate::App;

/// The longest user agent that is passed on, in characters.
const LONGEST_AGENT: usize = 500;

/// One visit.
pub(crate) struct Visit {
    pub(crate) token: Token,
    pub(crate) agent: String,
    ip: Option<String>,
}

impl Visit {
    /// The visit of a link that we signed; `None` for any other.
    pub(crate) fn read(
        app: &App,
        query: &Query,
        ClientIp(ip): ClientIp,
        headers: &HeaderMap,
    ) -> Option<Self> {
        let token = app.keys.verify(query.text(TOKEN_PARAMETER)?).ok()?;
        let agent = headers.get(header::USER_AGENT);
        let agent = agent.and_then(|agent| agent.to_str().ok()).unwrap_or("");
        Some(Self {
            token,
            agent: agent.chars().take(LONGEST_AGENT).collect(),
            ip: ip.map(|ip| ip.to_string()),
        })
    }

    /// The event of this visit, with what the copy's own events carry. An old mail may have no
    /// row any more: then it is told with what the link knows.
    pub(crate) async fn event(&self, app: &App, kind: Kind) -> Result<Event, Rejection> {
        let token = &self.token;
        let copy = app
            .store
            .recipient(&token.account, &token.message, token.recipient)
            .await?;
        let told = copy.and_then(|copy| copy.events().into_iter().next());
        let nonce = app.entropy.below(u64::MAX);
        let id = format!(
            "{}-{nonce:016x}-{}-{}",
            kind.wire(),
            token.message,
            token.recipient
        );
        let at = app.clock.now();
        let mut event = Event::new(id, token.account.clone(), kind, at, token.email.clone());
        event.message = Some(token.message.clone());
        event.recipient = token.recipient;
        event.useragent = Some(self.agent.clone());
        event.ip.clone_from(&self.ip);
        if let Some(told) = told {
            event.custom_args = told.custom_args;
            event.category = told.category;
            event.asm_group_id = told.asm_group_id;
            event.template_id = told.template_id;
        }
        Ok(event)
    }
}

/// Writes what the events mean for the lists, then queues them: told twice they change nothing.
pub(crate) async fn tell(app: &App, events: &[Event]) -> Result<(), Rejection> {
    app.store.learn(events).await?;
    let texts = Happened::to_texts(events).map_err(|e| Rejection::internal(&e))?;
    for text in texts {
        let sent = app.events.send(text, std::time::Duration::ZERO).await;
        sent.map_err(|e| Rejection::unavailable(&e))?;
    }
    Ok(())
}
