//! The event webhooks of the account: where events of mails are posted, and what for.

use askama::Template;
use posthaste_model::EventKind;
use posthaste_store::ApiKey;
use serde::Deserialize;

use crate::content::{PageContent, PageResult};
use crate::texts;
use crate::visit::PageVisit;

/// The scope of the settings and of the posts.
pub(super) const READ: &str = "user.webhooks.event.settings.read";

/// The parameter by which the API answers and takes the flag of its extension.
pub(super) const WITH_STATUS: &str = "include=account_status_change";

#[derive(Template)]
#[template(path = "webhooks.html")]
struct WebhooksPage {
    rows: Vec<ListedWebhook>,
    most: usize,
    /// Why there is no list.
    problem: Option<String>,
    /// The flags of one that is yet to be created.
    flags: Vec<EventFlag>,
    rights: WebhookRights,
}

#[derive(Default, Deserialize)]
struct WebhooksListed {
    max_allowed: usize,
    webhooks: Vec<ListedWebhook>,
}

/// A webhook as the API answers it.
#[derive(Deserialize)]
pub(super) struct ListedWebhook {
    pub(super) id: String,
    pub(super) enabled: bool,
    pub(super) url: String,
    friendly_name: Option<String>,
    pub(super) oauth_client_id: Option<String>,
    pub(super) oauth_token_url: Option<String>,
    pub(super) public_key: Option<String>,
    /// The flags, by the API's names.
    #[serde(flatten)]
    rest: serde_json::Map<String, serde_json::Value>,
}

/// A kind of event, and whether it is posted.
pub(super) struct EventFlag {
    pub(super) name: &'static str,
    pub(super) label: &'static str,
    pub(super) is_on: bool,
}

/// What the reader may do with webhooks.
pub(super) struct WebhookRights {
    can_create: bool,
    pub(super) can_edit: bool,
    pub(super) can_delete: bool,
    pub(super) can_test: bool,
}

impl WebhookRights {
    pub(super) fn of(key: &ApiKey) -> Self {
        Self {
            can_create: key.holds("user.webhooks.event.settings.create"),
            can_edit: key.holds("user.webhooks.event.settings.update"),
            can_delete: key.holds("user.webhooks.event.settings.delete"),
            can_test: key.holds("user.webhooks.event.test.create"),
        }
    }
}

impl ListedWebhook {
    /// What the page calls it: its name, or else its address.
    pub(super) fn title(&self) -> &str {
        match self.name() {
            "" => &self.url,
            name => name,
        }
    }

    pub(super) fn name(&self) -> &str {
        self.friendly_name.as_deref().unwrap_or_default()
    }

    pub(super) fn flags(&self) -> Vec<EventFlag> {
        flags(|name| self.rest.get(name) == Some(&serde_json::Value::Bool(true)))
    }

    /// The kinds of events that are posted, in words.
    fn events(&self) -> String {
        let flags = self.flags();
        let on: Vec<_> = flags.iter().filter(|flag| flag.is_on).collect();
        if on.len() == flags.len() {
            return texts::ALL_EVENTS.to_owned();
        }
        if on.is_empty() {
            return texts::NO_EVENTS.to_owned();
        }
        let on: Vec<_> = on.into_iter().map(|flag| flag.label).collect();
        on.join(", ")
    }
}

/// A flag for each kind of event.
fn flags(is_on: impl Fn(&str) -> bool) -> Vec<EventFlag> {
    let flag = |kind: EventKind| EventFlag {
        name: kind.flag(),
        label: texts::event(kind),
        is_on: is_on(kind.flag()),
    };
    EventKind::ALL.map(flag).into()
}

pub(crate) async fn show(visit: PageVisit) -> PageResult {
    let path = format!("/v3/user/webhooks/event/settings/all?{WITH_STATUS}");
    let (found, problem) = match visit.api.get::<WebhooksListed>(&path).await {
        Ok(found) => (found, None),
        Err(error) => (WebhooksListed::default(), Some(error.without(READ))),
    };
    let page = WebhooksPage {
        most: found.max_allowed,
        rows: found.webhooks,
        problem,
        flags: flags(|name| name != EventKind::AccountStatusChange.flag()),
        rights: WebhookRights::of(&visit.caller.key),
    };
    PageContent::of(texts::WEBHOOKS, &page)
}

impl WebhooksPage {
    fn has_room(&self) -> bool {
        self.rows.len() < self.most
    }
}
