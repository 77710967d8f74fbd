//! A visit of a link, and the resulting event.

use std::time::Duration;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{Method, header};
use axum::response::{IntoResponse, Response};
use posthaste_http::{ClientIp, Query, Rejection, RequestUrl};
use posthaste_model::{Event, EventKind};
use posthaste_queue::EventBatch;
use posthaste_render::{LinkToken, TOKEN_PARAMETER};

use crate::App;
use crate::page::gone;

/// The longest user agent that is passed on, in characters.
const LONGEST_AGENT: usize = 500;

/// One visit.
pub(crate) struct Visit {
    pub(crate) token: LinkToken,
    pub(crate) agent: String,
    /// Whether only the head of the answer is wanted: a program looks whether the link works.
    pub(crate) is_probe: bool,
    ip: Option<String>,
    /// The page that was requested, without the token, which would grant its rights to any reader.
    page: String,
}

/// The visit of a signed link. Any other link, and one under the host of another account, is rejected with an error page.
impl FromRequestParts<App> for Visit {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Response> {
        let query = Query::from_request_parts(parts, app).await;
        let query = query.map_err(IntoResponse::into_response)?;
        let Ok(ClientIp(ip)) = ClientIp::from_request_parts(parts, app).await;
        let Ok(address) = RequestUrl::from_request_parts(parts, app).await;
        let token = query.text(TOKEN_PARAMETER);
        let token = token.and_then(|token| app.keys.verify(token).ok());
        let token = token.ok_or_else(gone)?;
        let opened = (token.host.as_deref(), &parts.headers);
        if !app.hosts.permit(&app.store, &app.clock, opened).await {
            return Err(gone());
        }
        let agent = parts.headers.get(header::USER_AGENT);
        let agent = agent.and_then(|agent| agent.to_str().ok()).unwrap_or("");
        Ok(Self {
            token,
            agent: agent.chars().take(LONGEST_AGENT).collect(),
            is_probe: parts.method == Method::HEAD,
            ip: ip.map(|ip| ip.to_string()),
            page: address.page().to_owned(),
        })
    }
}

impl Visit {
    /// The shared fields of the copy's own events. An old mail's row may have expired.
    pub(crate) async fn first_event(&self, app: &App) -> Result<Option<Event>, Rejection> {
        let token = &self.token;
        let copy = app
            .store
            .recipient(&token.account, &token.message, token.recipient)
            .await?;
        Ok(copy.and_then(|copy| copy.events().into_iter().next()))
    }

    /// An event of this visit, with the fields of the copy's `first` event. Without one it has the
    /// fields of the link.
    pub(crate) fn event(&self, app: &App, kind: EventKind, first: Option<&Event>) -> Event {
        let token = &self.token;
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
        if let Some(first) = first {
            event.custom_args.clone_from(&first.custom_args);
            event.category.clone_from(&first.category);
            event.asm_group_id = first.asm_group_id;
            event.template_id.clone_from(&first.template_id);
        }
        event
    }

    /// An event about one group, with the page it came from (API facts 3.3).
    pub(crate) fn group_event(
        &self,
        app: &App,
        (kind, group): (EventKind, i64),
        first: Option<&Event>,
    ) -> Event {
        let mut event = self.event(app, kind, first);
        event.asm_group_id = Some(group);
        event.url = Some(self.page.clone());
        event
    }
}

/// Writes the events to the lists, then queues them: a repeat is a no-op.
pub(crate) async fn tell(app: &App, events: &[Event]) -> Result<(), Rejection> {
    app.store.apply_suppressions(events).await?;
    queue(app, events).await
}

/// Queues events.
pub(crate) async fn queue(app: &App, events: &[Event]) -> Result<(), Rejection> {
    let texts = EventBatch::to_texts(events).map_err(|e| Rejection::internal(&e))?;
    let messages = texts.into_iter().map(|text| (text, Duration::ZERO));
    let sent = app.events.send_all(messages.collect()).await;
    sent.map_err(|e| Rejection::unavailable(&e))
}
