//! The pages, and their places in the navigation.

mod access;
mod activity;
mod audit_log;
mod domain;
mod domains;
mod first_key;
mod inbound;
mod mail;
mod overview;
mod scheduled;
mod scheduled_batch;
mod setting;
mod settings;
mod statistics;
mod subuser;
mod subusers;
mod suppression_list;
mod suppressions;
mod template;
mod templates;
mod waiting;
mod webhook;
mod webhooks;

use std::future::Future;
use std::pin::Pin;

use crate::CONSOLE_PATH;
use crate::content::PageResult;
use crate::frame::{NavGroup, NavLink};
use crate::texts;
use crate::visit::PageVisit;
use access::keys as key;
pub(crate) use template::PreviewAnswer;

type Shown = Pin<Box<dyn Future<Output = PageResult> + Send>>;

/// A page.
pub(crate) struct ConsolePage {
    /// Its name in the address; empty for the first page.
    pub(crate) name: &'static str,
    /// In the navigation.
    pub(crate) label: &'static str,
    pub(crate) group: Group,
    pub(crate) show: fn(PageVisit) -> Shown,
    /// `/console/NAME/ID`, where there is such a page.
    pub(crate) show_one: Option<fn(PageVisit, String) -> Shown>,
}

/// A heading of the navigation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    See,
    Send,
    Guard,
}

impl Group {
    pub(crate) const ALL: [Self; 3] = [Self::See, Self::Send, Self::Guard];

    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::See => texts::SEE,
            Self::Send => texts::SEND,
            Self::Guard => texts::GUARD,
        }
    }
}

macro_rules! page {
    ($name:literal, $label:expr, $group:ident, $module:ident) => {
        page!($name, $label, $group, $module, None)
    };
    // With a page about one thing of the list.
    ($name:literal, $label:expr, $group:ident, $module:ident, one: $one:ident) => {
        page!(
            $name,
            $label,
            $group,
            $module,
            Some(|visit, id| Box::pin($one::show(visit, id)))
        )
    };
    ($name:literal, $label:expr, $group:ident, $module:ident, $one:expr) => {
        ConsolePage {
            name: $name,
            label: $label,
            group: Group::$group,
            show: |visit| Box::pin($module::show(visit)),
            show_one: $one,
        }
    };
}

/// In the order of the navigation.
pub(crate) const PAGES: &[ConsolePage] = &[
    page!("", texts::OVERVIEW, See, overview),
    page!("activity", texts::ACTIVITY, See, activity, one: mail),
    page!("statistics", texts::STATISTICS, See, statistics),
    page!(
        "scheduled",
        texts::SCHEDULED,
        Send,
        scheduled,
        one: scheduled_batch
    ),
    page!("templates", texts::TEMPLATES, Send, templates, one: template),
    page!("domains", texts::DOMAINS, Send, domains, one: domain),
    page!("inbound", texts::INBOUND, Send, inbound),
    page!("webhooks", texts::WEBHOOKS, Send, webhooks, one: webhook),
    page!(
        "suppressions",
        texts::SUPPRESSIONS,
        Guard,
        suppressions,
        one: suppression_list
    ),
    page!("access", texts::ACCESS, Guard, access, one: key),
    page!("subusers", texts::SUBUSERS, Guard, subusers, one: subuser),
    page!("settings", texts::SETTINGS, Guard, settings, one: setting),
    page!("audit-log", texts::AUDIT_LOG, Guard, audit_log),
    page!("first-key", texts::NEW_KEY, Guard, first_key),
];

/// The navigation on the page of this name.
pub(crate) fn navigation(current: &str) -> Vec<NavGroup> {
    let link = |page: &ConsolePage| NavLink {
        label: page.label,
        path: page.path(),
        is_current: page.name == current,
    };
    let of = |group: Group| {
        let pages = PAGES.iter().filter(|page| page.group == group);
        NavGroup {
            label: group.label(),
            links: pages.map(link).collect(),
        }
    };
    Group::ALL.map(of).into()
}

impl ConsolePage {
    /// Its address.
    pub(crate) fn path(&self) -> String {
        match self.name {
            "" => CONSOLE_PATH.to_owned(),
            name => format!("{CONSOLE_PATH}/{name}"),
        }
    }
}
