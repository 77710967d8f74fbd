//! Account-wide defaults, used where a request does not set a value.

use serde::{Deserialize, Serialize};

use crate::{ClickTracking, Footer, Ganalytics, OpenTracking, SubscriptionTracking};

/// The account's mail and tracking settings that shape a copy. Everything is off by default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AccountDefaults {
    pub footer: Footer,
    pub click: ClickTracking,
    pub open: OpenTracking,
    pub subscription: SubscriptionTracking,
    pub ganalytics: Ganalytics,
    pub wrapper: Wrapper,
}

/// HTML around every mail that uses no template, with `<% body %>` where the mail's own goes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Wrapper {
    pub enable: bool,
    pub html: String,
}
