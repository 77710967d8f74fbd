//! What the settings are, and the fields of their forms.

use FieldKind::{Flag, Line, List, Number, OneOf, Text};
use SettingGroup::{Account, Mail, Tracking};

/// What a setting is about, and so which of the API's paths it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SettingGroup {
    Mail,
    Tracking,
    Account,
}

impl SettingGroup {
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Mail => "Mail",
            Self::Tracking => "Tracking",
            Self::Account => "Encryption",
        }
    }

    /// The path of the API before the name of a setting.
    fn path(self) -> &'static str {
        match self {
            Self::Mail => "/v3/mail_settings",
            Self::Tracking => "/v3/tracking_settings",
            Self::Account => "/v3/user/settings",
        }
    }

    /// The scope that lists the settings.
    pub(crate) fn scope(self) -> &'static str {
        match self {
            Self::Mail => "mail_settings.read",
            Self::Tracking => "tracking_settings.read",
            Self::Account => "user.settings.enforced_tls.read",
        }
    }
}

/// A setting.
pub(crate) struct SettingForm {
    pub(crate) group: SettingGroup,
    /// As in the API.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) about: &'static str,
    pub(crate) fields: &'static [SettingField],
}

impl SettingForm {
    /// The path of the API at which the setting is.
    pub(crate) fn path(&self) -> String {
        format!("{}/{}", self.group.path(), self.name)
    }
}

/// A field of a form.
pub(crate) struct SettingField {
    /// As in the API.
    pub(crate) name: &'static str,
    pub(crate) label: &'static str,
    pub(crate) kind: FieldKind,
}

/// How a field is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldKind {
    Flag,
    Line,
    Text,
    /// Entries, one a line.
    List,
    /// A number within bounds, or none.
    Number(u32, u32),
    /// One of these numbers.
    OneOf(&'static [&'static str]),
}

const fn form(
    group: SettingGroup,
    (name, title, about): (&'static str, &'static str, &'static str),
    fields: &'static [SettingField],
) -> SettingForm {
    SettingForm {
        group,
        name,
        title,
        about,
        fields,
    }
}

const fn field(name: &'static str, label: &'static str, kind: FieldKind) -> SettingField {
    SettingField { name, label, kind }
}

const ON: SettingField = field("enabled", "On", Flag);

/// Every setting that a form changes.
pub(crate) const SETTINGS: &[SettingForm] = &[
    form(
        Mail,
        (
            "kept_mail",
            "Keep composed mail",
            "Each mail is kept as it was composed, to be looked at and sent again.",
        ),
        &[
            ON,
            field("days", "Days", OneOf(&["1", "3", "7", "14", "30"])),
        ],
    ),
    form(
        Mail,
        (
            "address_whitelist",
            "Address allow list",
            "Mail to these addresses and domains is sent whatever suppression list has them.",
        ),
        &[ON, field("list", "Addresses and domains, one a line", List)],
    ),
    form(
        Mail,
        (
            "bounce_purge",
            "Bounce purge",
            "Bounced addresses are forgotten after some days, so that mail to them is tried again.",
        ),
        &[
            ON,
            field("soft_bounces", "Days of blocks", Number(1, 3_650)),
            field("hard_bounces", "Days of bounces", Number(1, 3_650)),
        ],
    ),
    form(
        Mail,
        (
            "footer",
            "Footer",
            "A text at the end of each mail that has none of its own.",
        ),
        &[
            ON,
            field("plain_content", "Of the text", Text),
            field("html_content", "Of the HTML", Text),
        ],
    ),
    form(
        Mail,
        (
            "template",
            "Layout of the account",
            "HTML around the content of mails, which <% body %> stands for.",
        ),
        &[ON, field("html_content", "HTML", Text)],
    ),
    form(
        Mail,
        (
            "forward_bounce",
            "Forward bounces",
            "What receiving servers say of bounces is mailed to an address, once that has confirmed it.",
        ),
        &[ON, field("email", "Address", Line)],
    ),
    form(
        Mail,
        (
            "forward_spam",
            "Forward spam reports",
            "Spam reports are mailed to addresses, once they have confirmed it.",
        ),
        &[ON, field("email", "Addresses, with commas between", Line)],
    ),
    form(
        Tracking,
        (
            "open",
            "Opens",
            "An invisible picture in the HTML says when a mail is opened.",
        ),
        &[ON],
    ),
    form(
        Tracking,
        (
            "click",
            "Clicks",
            "Links lead over this service, which counts them.",
        ),
        &[ON, field("enable_text", "In the text of mails too", Flag)],
    ),
    form(
        Tracking,
        (
            "subscription",
            "Unsubscribe links",
            "Each mail has a link by which its recipient leaves.",
        ),
        &[
            ON,
            field("plain_content", "At the end of the text", Text),
            field("html_content", "At the end of the HTML", Text),
            field("replace", "Instead, where this is in the mail", Line),
            field(
                "url",
                "The page that says goodbye is elsewhere: its address",
                Line,
            ),
            field("landing", "The page that says goodbye, as HTML", Text),
        ],
    ),
    form(
        Tracking,
        (
            "google_analytics",
            "Google Analytics",
            "Links carry these parameters.",
        ),
        &[
            ON,
            field("utm_source", "Source (utm_source)", Line),
            field("utm_medium", "Medium (utm_medium)", Line),
            field("utm_term", "Term (utm_term)", Line),
            field("utm_content", "Content (utm_content)", Line),
            field("utm_campaign", "Campaign (utm_campaign)", Line),
        ],
    ),
    form(
        Account,
        (
            "enforced_tls",
            "Enforced TLS",
            "Mail leaves by encrypted connections only; otherwise it is blocked.",
        ),
        &[
            field("require_tls", "Require TLS", Flag),
            field("require_valid_cert", "Require a valid certificate", Flag),
            field("version", "At least version", OneOf(&["1.1", "1.2", "1.3"])),
        ],
    ),
];
