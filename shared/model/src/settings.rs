//! The settings of a mail, and those of its account that apply where a request sets none.

use serde::{Deserialize, Serialize};

/// The unsubscribe group of a send.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asm {
    pub group_id: i64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups_to_display: Vec<i64>,
}

/// A setting with nothing except a switch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Toggle {
    #[serde(default)]
    pub enable: bool,
}

/// `mail_settings`; an absent setting leaves the account's own in force.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MailSettings {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bypass_list_management: Option<Toggle>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bypass_spam_management: Option<Toggle>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bypass_bounce_management: Option<Toggle>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bypass_unsubscribe_management: Option<Toggle>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub footer: Option<Footer>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox_mode: Option<Toggle>,
    /// HTML around the mail's own, replacing the account's; empty for none (only by SMTP).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrapper: Option<String>,
}

/// `mail_settings.footer`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Footer {
    #[serde(default)]
    pub enable: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub html: Option<String>,
}

/// `tracking_settings`; an absent setting leaves the account's own in force.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrackingSettings {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub click_tracking: Option<ClickTracking>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_tracking: Option<OpenTracking>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subscription_tracking: Option<SubscriptionTracking>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ganalytics: Option<Ganalytics>,
}

impl TrackingSettings {
    /// Every setting off, whatever the account has.
    pub fn off() -> Self {
        Self {
            click_tracking: Some(ClickTracking::default()),
            open_tracking: Some(OpenTracking::default()),
            subscription_tracking: Some(SubscriptionTracking::default()),
            ganalytics: Some(Ganalytics::default()),
        }
    }
}

/// `tracking_settings.click_tracking`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClickTracking {
    #[serde(default)]
    pub enable: bool,
    /// Whether links of the text part count too; if absent, unspecified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enable_text: Option<bool>,
}

/// `tracking_settings.open_tracking`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenTracking {
    #[serde(default)]
    pub enable: bool,
    /// Where the pixel goes; at the end of the HTML when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub substitution_tag: Option<String>,
}

/// `tracking_settings.subscription_tracking`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubscriptionTracking {
    #[serde(default)]
    pub enable: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub html: Option<String>,
    /// Replaced by the bare URL; overrides `text` and `html`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub substitution_tag: Option<String>,
}

/// `tracking_settings.ganalytics`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ganalytics {
    #[serde(default)]
    pub enable: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub utm_source: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub utm_medium: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub utm_term: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub utm_content: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub utm_campaign: Option<String>,
}

/// What an account requires of the connection that its mail leaves by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EnforcedTls {
    pub require_tls: bool,
    /// Whether the certificate must be valid for the server; TLS is required then too.
    pub require_valid_cert: bool,
    /// The oldest version that is permitted where TLS is required.
    pub version: TlsVersion,
}

impl EnforcedTls {
    /// Whether mail may leave by encrypted connections only.
    pub fn is_on(self) -> bool {
        self.require_tls || self.require_valid_cert
    }
}

/// A version of TLS, oldest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum TlsVersion {
    /// Connections use 1.2 or newer whatever is permitted (RFC 8996).
    #[default]
    #[serde(rename = "1.1")]
    V1_1,
    #[serde(rename = "1.2")]
    V1_2,
    #[serde(rename = "1.3")]
    V1_3,
}

impl MailSettings {
    pub(crate) fn is_default(&self) -> bool {
        self == &Self::default()
    }

    /// Whether this is a test send that is only checked.
    pub fn is_sandbox(&self) -> bool {
        self.sandbox_mode.is_some_and(|mode| mode.enable)
    }
}

impl TrackingSettings {
    pub(crate) fn is_default(&self) -> bool {
        self == &Self::default()
    }
}

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
