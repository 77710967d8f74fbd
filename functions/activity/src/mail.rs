//! A mail as look-ups see it: its search row, and what only the row of its copy and other rows have.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use posthaste_model::{BounceType, Category, Event, EventKind, KeyId};
use posthaste_store::{CopyState, Recipient, SearchStatus, Seek, StoredArgs, WaitingCopies};

/// A mail that a search looks at. What is not in its search row is loaded where a query needs it.
#[derive(Debug)]
pub(crate) struct FoundMail {
    pub row: Seek,
    pub copy: Option<CopyDetails>,
    /// Of the template, if it still exists.
    pub template_name: Option<String>,
    /// Of the unsubscribe group, if it still exists.
    pub group_name: Option<String>,
}

impl From<Seek> for FoundMail {
    fn from(row: Seek) -> Self {
        Self {
            row,
            copy: None,
            template_name: None,
            group_name: None,
        }
    }
}

impl FoundMail {
    /// The kinds of its events, from both of its rows.
    pub(crate) fn kinds(&self) -> BTreeSet<EventKind> {
        let mut kinds = self.row.kinds();
        kinds.extend(self.copy.iter().flat_map(|copy| &copy.kinds));
        kinds
    }

    /// The status in the words of `/v3/logs`.
    pub(crate) fn log_status(&self) -> &'static str {
        let kinds = self.kinds();
        let copy = self.copy.as_ref();
        match self.row.status {
            SearchStatus::NotDelivered if kinds.contains(&EventKind::Dropped) => "dropped",
            SearchStatus::NotDelivered if copy.is_some_and(CopyDetails::is_dropped) => "dropped",
            SearchStatus::NotDelivered => bounced(copy.and_then(|copy| copy.bounce)),
            SearchStatus::Delivered => "delivered",
            SearchStatus::Processed => underway(&kinds),
        }
    }

    /// The same, by the row of its copy where that was read, and `scheduled` of one that waits for its time.
    pub(crate) fn state(&self) -> &'static str {
        match &self.copy {
            None => self.log_status(),
            Some(copy) => match copy.state {
                None => "scheduled",
                Some(state) => copy.log_status(state),
            },
        }
    }
}

/// `bounced` or `blocked`.
fn bounced(how: Option<BounceType>) -> &'static str {
    match how {
        Some(BounceType::Blocked) => "blocked",
        Some(BounceType::Bounce | BounceType::Expired) | None => "bounced",
    }
}

/// The status of a mail without an end; who opened it has it.
fn underway(kinds: &BTreeSet<EventKind>) -> &'static str {
    let has = |kind| kinds.contains(&kind);
    if has(EventKind::Open) || has(EventKind::Click) {
        "delivered"
    } else if has(EventKind::Deferred) {
        "deferred"
    } else {
        "processed"
    }
}

type Args = BTreeMap<String, String>;

/// Custom arguments of a copy. Copies that wait share them: a search holds thousands of those.
#[derive(Clone, Debug, Default)]
pub(crate) struct CustomArgs {
    /// Those of the envelope, which override the others; or all of them.
    own: Arc<Args>,
    of_message: Arc<Args>,
}

impl CustomArgs {
    /// All of them, as an event has them.
    pub(crate) fn merged(all: Args) -> Self {
        Self {
            own: Arc::new(all),
            of_message: Arc::default(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.own.is_empty() && self.of_message.is_empty()
    }

    /// The value of one.
    pub(crate) fn get(&self, name: &str) -> Option<&String> {
        self.own.get(name).or_else(|| self.of_message.get(name))
    }

    /// Each name with its value.
    pub(crate) fn all(&self) -> BTreeMap<&str, &str> {
        let all = self.of_message.iter().chain(self.own.iter());
        all.map(|(name, value)| (name.as_str(), value.as_str()))
            .collect()
    }
}

/// The copies of a scheduled mail that wait.
pub(crate) fn waiting_mails(row: &WaitingCopies) -> impl Iterator<Item = FoundMail> {
    let of_message = Arc::new(row.args.0.clone());
    let mut last: Option<(&StoredArgs, Arc<Args>)> = None;
    row.each().map(move |details| {
        let own = match &last {
            Some((args, own)) if std::ptr::eq(*args, details.args) => Arc::clone(own),
            _ => Arc::new(details.args.0.clone()),
        };
        last = Some((details.args, Arc::clone(&own)));
        let copy = CopyDetails {
            args: CustomArgs {
                own,
                of_message: Arc::clone(&of_message),
            },
            template_id: row.template_id.clone(),
            group: row.asm_group_id,
            key: row.key.clone(),
            client_ip: row.client_ip.clone(),
            ..CopyDetails::default()
        };
        FoundMail {
            copy: Some(copy),
            ..FoundMail::from(Seek::waiting(row, &details))
        }
    })
}

/// What the events of a copy say about its mail.
#[derive(Debug, Default)]
pub(crate) struct CopyDetails {
    pub kinds: BTreeSet<EventKind>,
    pub categories: Vec<String>,
    pub args: CustomArgs,
    pub template_id: Option<String>,
    pub group: Option<i64>,
    /// The key that sent it; none for a notice of the service.
    pub key: Option<KeyId>,
    /// The client that sent it.
    pub client_ip: Option<String>,
    /// The address that handed it to the receiving side.
    pub outbound_ip: Option<String>,
    /// Of the last event that has one.
    pub reason: Option<String>,
    pub bounce: Option<BounceType>,
    /// How it stands; `None` of one that waits for its time.
    pub state: Option<CopyState>,
}

impl CopyDetails {
    pub(crate) fn of(copy: &Recipient) -> Self {
        let mut details = Self {
            state: Some(copy.state),
            ..Self::default()
        };
        for event in copy.events() {
            details.add(event);
        }
        details
    }

    fn add(&mut self, event: Event) {
        self.kinds.insert(event.kind);
        if self.categories.is_empty() {
            self.categories = match event.category {
                None => Vec::new(),
                Some(Category::One(one)) => vec![one],
                Some(Category::Many(many)) => many,
            };
        }
        if self.args.is_empty() {
            self.args = CustomArgs::merged(event.custom_args);
        }
        self.template_id = self.template_id.take().or(event.template_id);
        self.group = self.group.or(event.asm_group_id);
        self.key = self.key.take().or(event.key);
        self.client_ip = self.client_ip.take().or(event.client_ip);
        // The last of each: a late bounce comes after a delivery.
        self.outbound_ip = event.ip.or(self.outbound_ip.take());
        self.reason = event.reason.or(event.response).or(self.reason.take());
        self.bounce = event.bounce_type.or(self.bounce);
    }

    fn is_dropped(&self) -> bool {
        self.state == Some(CopyState::Dropped)
    }

    /// The status of the copy in the words of `/v3/logs`.
    pub(crate) fn log_status(&self, state: CopyState) -> &'static str {
        match state {
            CopyState::Dropped => "dropped",
            CopyState::Bounced => bounced(self.bounce),
            CopyState::Delivered => "delivered",
            CopyState::Deferred => "deferred",
            CopyState::Claimed | CopyState::Handed => underway(&self.kinds),
        }
    }
}

/// The name of an event in the activity feed.
pub(crate) fn event_name(kind: EventKind) -> &'static str {
    match kind {
        EventKind::Bounce => "bounced",
        EventKind::Open => "opened",
        EventKind::Click => "clicked",
        other @ (EventKind::Processed
        | EventKind::Delivered
        | EventKind::Deferred
        | EventKind::Dropped
        | EventKind::SpamReport
        | EventKind::Unsubscribe
        | EventKind::GroupUnsubscribe
        | EventKind::GroupResubscribe
        | EventKind::AccountStatusChange) => other.flag(),
    }
}

/// The event of this name, in the words of the feed or of webhooks.
pub(crate) fn event_of(name: &str) -> Option<EventKind> {
    let same = |kind: &EventKind| [event_name(*kind), kind.flag(), kind.wire()].contains(&name);
    let of_mails = |kind: &EventKind| *kind != EventKind::AccountStatusChange;
    EventKind::ALL.into_iter().filter(of_mails).find(same)
}
