//! The pages, and their places in the navigation.

mod first_key;
mod overview;

use std::future::Future;
use std::pin::Pin;

use crate::CONSOLE_PATH;
use crate::frame::PageResult;
use crate::visit::Visit;

type Shown = Pin<Box<dyn Future<Output = PageResult> + Send>>;

/// A page.
pub(crate) struct Page {
    /// Its name in the address; empty for the first page.
    pub(crate) name: &'static str,
    /// In the navigation.
    pub(crate) label: &'static str,
    pub(crate) group: Group,
    /// Whether `/console/NAME/ID` is a page too.
    pub(crate) is_about_one: bool,
    pub(crate) show: fn(Visit) -> Shown,
}

/// A heading of the navigation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    See,
    Guard,
}

impl Group {
    pub(crate) const ALL: [Self; 2] = [Self::See, Self::Guard];

    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::See => "See",
            Self::Guard => "Guard",
        }
    }
}

macro_rules! page {
    ($name:literal, $label:literal, $group:ident, $module:ident) => {
        Page {
            name: $name,
            label: $label,
            group: Group::$group,
            is_about_one: false,
            show: |visit| Box::pin($module::show(visit)),
        }
    };
}

/// In the order of the navigation.
pub(crate) const PAGES: &[Page] = &[
    page!("", "Overview", See, overview),
    page!("first-key", "New key", Guard, first_key),
];

impl Page {
    /// Its address.
    pub(crate) fn path(&self) -> String {
        match self.name {
            "" => CONSOLE_PATH.to_owned(),
            name => format!("{CONSOLE_PATH}/{name}"),
        }
    }
}
