//! Notifies open pages of changes by server-sent events.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::State;
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use futures_util::{Stream, stream};

use crate::mailbox;
use crate::routes::App;

/// `GET /live`: one event for every burst of changes, until the mailbox or the page closes.
///
/// A watch holds only the newest state, so a slow page gets few events and costs no memory.
pub(crate) async fn stream(
    State(app): State<App>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let events = stream::unfold(app.mailbox.watch(), async |mut state| {
        state.changed().await.ok()?;
        let now = *state.borrow_and_update();
        match now {
            mailbox::ChangeCount::Changed(count) => {
                let event = Event::default().event("change").data(count.to_string());
                Some((Ok(event), state))
            }
            mailbox::ChangeCount::Closed => None,
        }
    });
    // Comments between events, so that a connection whose peer is gone is noticed.
    Sse::new(events).keep_alive(KeepAlive::new().interval(Duration::from_secs(20)))
}
