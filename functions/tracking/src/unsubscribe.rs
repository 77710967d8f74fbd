//! Unsubscribing. Opening a page changes nothing: mail scanners open every link. A `POST` does,
//! from the button or from the mail client (RFC 8058).

use std::collections::BTreeSet;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use posthaste_http::{RawBody, Rejection, page};
use posthaste_model::{EmailAddress, EventKind};
use posthaste_render::LinkAction;
use posthaste_store::{Group, SuppressionList};
use url::form_urlencoded;

use crate::page::{GroupChoice, PreferencesPage, UnsubscribePage, gone};
use crate::visit::{Visit, queue, tell};
use crate::{App, landing};

/// `GET /asm/unsubscribe`: from what, and a button.
pub(crate) async fn ask(State(app): State<App>, visit: Visit) -> Result<Response, Rejection> {
    let Some(what) = what(&app, &visit).await? else {
        return Ok(gone());
    };
    let body = UnsubscribePage {
        email: &visit.token.email,
        group: match &what {
            What::Everything => None,
            What::Group(group) => Some(&group.name),
        },
    };
    Ok(page(StatusCode::OK, "Unsubscribe", &body))
}

/// `POST /asm/unsubscribe`: the button, or one click in a mail client.
pub(crate) async fn leave(
    State(app): State<App>,
    visit: Visit,
    RawBody(body): RawBody,
) -> Result<Response, Rejection> {
    let Some(what) = what(&app, &visit).await? else {
        return Ok(gone());
    };
    let first = visit.first_event(&app).await?;
    let event = match &what {
        What::Everything => visit.event(&app, EventKind::Unsubscribe, first.as_ref()),
        What::Group(group) => {
            let which = (EventKind::GroupUnsubscribe, group.id);
            visit.group_event(&app, which, first.as_ref())
        }
    };
    let kind = event.kind;
    let form = posthaste_offload::run(body.len(), || Form::read(&body)).await;
    tell(&app, &[event]).await?;
    if kind == EventKind::Unsubscribe && !form.is_one_click {
        return Ok(landing::after(&app, &visit).await);
    }
    Ok(landing::plain(&visit))
}

/// What a link leaves.
enum What {
    Everything,
    Group(Group),
}

/// What this link unsubscribes from; `None` for a link of another kind. Leaving a deleted group
/// unsubscribes from everything (API facts 7, "deleted group").
async fn what(app: &App, visit: &Visit) -> Result<Option<What>, Rejection> {
    Ok(match visit.token.action {
        LinkAction::Unsubscribe => Some(What::Everything),
        LinkAction::GroupUnsubscribe { group } => {
            let group = app.store.group(&visit.token.account, group).await?;
            Some(group.map_or(What::Everything, What::Group))
        }
        LinkAction::Open { .. } | LinkAction::Click { .. } | LinkAction::Preferences { .. } => None,
    })
}

/// `GET /asm/preferences`: the groups that the sender shows, ticked where mail still comes.
pub(crate) async fn preferences(
    State(app): State<App>,
    visit: Visit,
) -> Result<Response, Rejection> {
    match shown(&app, &visit).await? {
        None => Ok(gone()),
        Some(state) => Ok(state.page(&visit.token.email, false)),
    }
}

/// `POST /asm/preferences`: ticked groups are subscribed, the others are unsubscribed.
pub(crate) async fn choose(
    State(app): State<App>,
    visit: Visit,
    RawBody(body): RawBody,
) -> Result<Response, Rejection> {
    let Some(state) = shown(&app, &visit).await? else {
        return Ok(gone());
    };
    let form = posthaste_offload::run(body.len(), || Form::read(&body)).await;
    let first = visit.first_event(&app).await?;
    let mut events = Vec::new();
    if form.all && !state.off {
        events.push(visit.event(&app, EventKind::Unsubscribe, first.as_ref()));
    }
    let mut back: Vec<_> = form.comes_back(&state).into_iter().collect();
    for group in &state.groups {
        let wants = form.groups.contains(&group.id);
        let left = state.left.contains(&group.id);
        let kind = match (wants, left) {
            (true, true) => EventKind::GroupResubscribe,
            (false, false) => EventKind::GroupUnsubscribe,
            (true, false) | (false, true) => continue,
        };
        if kind == EventKind::GroupResubscribe {
            back.push(SuppressionList::Group(group.id));
        }
        events.push(visit.group_event(&app, (kind, group.id), first.as_ref()));
    }
    // In the other order a queue that fails would leave changed lists, and a retry would find no
    // events to report.
    queue(&app, &events).await?;
    app.store.apply_suppressions(&events).await?;
    let (account, folded) = (&visit.token.account, &state.folded);
    let taken = app.store.change_suppressed(account, folded, |lists| {
        back.iter().for_each(|list| lists.take(*list));
    });
    taken.await?;
    let now = shown(&app, &visit).await?.unwrap_or(state);
    Ok(now.page(&visit.token.email, true))
}

/// The box that leaves everything, by the name that the page gives it.
const ALL: &str = "all";

/// Goes with a page on which that box was ticked.
const WAS_ALL: &str = "was_all";

/// What a form of these pages says. Of what it holds besides, however much, nothing is stored.
#[derive(Debug, Default, PartialEq, Eq)]
struct Form {
    /// The ticked groups, as many as a link shows at most.
    groups: BTreeSet<i64>,
    all: bool,
    was_all: bool,
    /// Whether a mail client unsubscribed by itself and shows no page (RFC 8058, section 3.2).
    is_one_click: bool,
}

impl Form {
    fn read(body: &[u8]) -> Self {
        // A form shows 25 groups.
        const MOST: usize = 1_000;
        let mut form = Self::default();
        for (name, value) in form_urlencoded::parse(body) {
            match name.as_ref() {
                ALL => form.all = true,
                WAS_ALL => form.was_all = true,
                "List-Unsubscribe" => form.is_one_click |= value == "One-Click",
                name => {
                    let group: Option<i64> = name.strip_prefix('g').and_then(|id| id.parse().ok());
                    if form.groups.len() < MOST {
                        form.groups.extend(group);
                    }
                }
            }
        }
        form
    }

    /// The list of global unsubscribes, when the box was ticked and no longer is. A page from
    /// before the unsubscribe, submitted afterwards, resubscribes no address.
    fn comes_back(&self, state: &PreferencesView) -> Option<SuppressionList> {
        let cleared = self.was_all && !self.all;
        (state.off && cleared).then_some(SuppressionList::Unsubscribes)
    }
}

/// What the preferences page is about.
struct PreferencesView {
    groups: Vec<Group>,
    /// Ids of the groups that the address has left.
    left: BTreeSet<i64>,
    /// Whether it has left everything.
    off: bool,
    folded: String,
}

/// The groups of a preferences link; `None` for another link.
async fn shown(app: &App, visit: &Visit) -> Result<Option<PreferencesView>, Rejection> {
    let LinkAction::Preferences { group, display } = &visit.token.action else {
        return Ok(None);
    };
    let account = &visit.token.account;
    let mut ids = display.clone();
    if ids.is_empty() {
        ids.push(*group);
    }
    let groups = app.store.groups_among(account, &ids).await?;
    let Ok(address) = EmailAddress::parse_stored(&visit.token.email) else {
        return Ok(None);
    };
    let folded = address.folded();
    let known = app.store.suppressed(account, &folded).await?;
    Ok(Some(PreferencesView {
        groups,
        left: known.groups().collect(),
        off: known.on(SuppressionList::Unsubscribes).is_some(),
        folded,
    }))
}

impl PreferencesView {
    fn page(&self, email: &str, is_saved: bool) -> Response {
        let groups = self.groups.iter().map(|group| GroupChoice {
            id: group.id,
            name: &group.name,
            about: &group.description,
            is_ticked: !self.left.contains(&group.id),
        });
        let body = PreferencesPage {
            email,
            groups: groups.collect(),
            off: self.off,
            is_saved,
        };
        page(StatusCode::OK, "Your mail preferences", &body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_read_for_what_it_may_say_and_nothing_else() {
        let form = Form::read(b"g7=on&all=on&g+8=on&g9x=on&x=1&List-Unsubscribe=One-Click");
        let want = Form {
            groups: BTreeSet::from([7]),
            all: true,
            was_all: false,
            is_one_click: true,
        };
        assert_eq!(form, want);
        assert!(!Form::read(b"List-Unsubscribe=Two-Clicks").is_one_click);
    }

    #[test]
    fn a_form_of_a_million_fields_keeps_a_thousand() {
        let fields = (0..1_000_000).map(|n| format!("g{n}=on&a&"));
        let form = Form::read(fields.collect::<String>().as_bytes());
        assert_eq!(form.groups.len(), 1_000);
    }
}
