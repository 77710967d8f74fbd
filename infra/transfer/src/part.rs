//! The parts of an account that are taken along, each a file of JSON lines in the fields of the API.

use posthaste_store::SuppressionList;

/// One part. Their order is that in which they are written: what others need comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum AccountPart {
    Domains,
    Senders,
    Groups,
    GroupMembers,
    Bounces,
    Blocks,
    InvalidEmails,
    SpamReports,
    Unsubscribes,
    Templates,
    EventWebhooks,
    ParseSettings,
    MailSettings,
    TrackingSettings,
    Alerts,
    ApiKeys,
    Subusers,
}

impl AccountPart {
    pub(crate) const ALL: [Self; 17] = [
        Self::Domains,
        Self::Senders,
        Self::Groups,
        Self::GroupMembers,
        Self::Bounces,
        Self::Blocks,
        Self::InvalidEmails,
        Self::SpamReports,
        Self::Unsubscribes,
        Self::Templates,
        Self::EventWebhooks,
        Self::ParseSettings,
        Self::MailSettings,
        Self::TrackingSettings,
        Self::Alerts,
        Self::ApiKeys,
        Self::Subusers,
    ];

    /// The name in file names, in the journal and in reports.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Domains => "domains",
            Self::Senders => "verified_senders",
            Self::Groups => "groups",
            Self::GroupMembers => "group_members",
            Self::Bounces => "bounces",
            Self::Blocks => "blocks",
            Self::InvalidEmails => "invalid_emails",
            Self::SpamReports => "spam_reports",
            Self::Unsubscribes => "unsubscribes",
            Self::Templates => "templates",
            Self::EventWebhooks => "event_webhooks",
            Self::ParseSettings => "parse_settings",
            Self::MailSettings => "mail_settings",
            Self::TrackingSettings => "tracking_settings",
            Self::Alerts => "alerts",
            Self::ApiKeys => "api_keys",
            Self::Subusers => "subusers",
        }
    }

    /// The columns of its CSV file; what is no text or number there is JSON.
    #[expect(clippy::too_many_lines, reason = "one table")]
    pub(crate) fn columns(self) -> &'static [&'static str] {
        match self {
            Self::Domains => &[
                "id",
                "domain",
                "subdomain",
                "username",
                "default",
                "custom_spf",
                "automatic_security",
                "valid",
                "ips",
                "dns",
            ],
            Self::Senders => &[
                "id",
                "nickname",
                "from_email",
                "from_name",
                "reply_to",
                "reply_to_name",
                "address",
                "address2",
                "city",
                "state",
                "zip",
                "country",
                "verified",
                "locked",
            ],
            Self::Groups => &["id", "name", "description", "is_default", "unsubscribes"],
            Self::GroupMembers => &["email", "group_id", "group_name", "created_at"],
            Self::Bounces | Self::Blocks => &["created", "email", "reason", "status"],
            Self::InvalidEmails => &["created", "email", "reason"],
            Self::SpamReports => &["created", "email", "ip"],
            Self::Unsubscribes => &["created", "email"],
            Self::Templates => &["id", "name", "generation", "updated_at", "versions"],
            Self::EventWebhooks => &[
                "id",
                "url",
                "enabled",
                "friendly_name",
                "processed",
                "delivered",
                "deferred",
                "bounce",
                "dropped",
                "open",
                "click",
                "spam_report",
                "unsubscribe",
                "group_unsubscribe",
                "group_resubscribe",
                "account_status_change",
                "oauth_client_id",
                "oauth_token_url",
                "public_key",
                "created_date",
                "updated_date",
            ],
            Self::ParseSettings => &[
                "hostname",
                "url",
                "spam_check",
                "send_raw",
                "security_policy",
            ],
            Self::MailSettings | Self::TrackingSettings => &["name", "value"],
            Self::Alerts => &[
                "id",
                "type",
                "email_to",
                "frequency",
                "percentage",
                "created_at",
                "updated_at",
            ],
            Self::ApiKeys => &["api_key_id", "name", "scopes"],
            Self::Subusers => &["id", "username", "email", "disabled", "credits", "domains"],
        }
    }

    /// The list of an entry of this part; of a group, that with this id.
    pub(crate) fn list(self) -> Option<SuppressionList> {
        match self {
            Self::Bounces => Some(SuppressionList::Bounces),
            Self::Blocks => Some(SuppressionList::Blocks),
            Self::InvalidEmails => Some(SuppressionList::InvalidEmails),
            Self::SpamReports => Some(SuppressionList::SpamReports),
            Self::Unsubscribes => Some(SuppressionList::Unsubscribes),
            _ => None,
        }
    }
}

/// The settings of mails: a name, and its path.
pub(crate) const MAIL_SETTINGS: [(&str, &str); 11] = [
    ("address_whitelist", "/v3/mail_settings/address_whitelist"),
    ("bcc", "/v3/mail_settings/bcc"),
    ("bounce_purge", "/v3/mail_settings/bounce_purge"),
    ("enforced_tls", "/v3/user/settings/enforced_tls"),
    ("footer", "/v3/mail_settings/footer"),
    ("forward_bounce", "/v3/mail_settings/forward_bounce"),
    ("forward_spam", "/v3/mail_settings/forward_spam"),
    ("kept_mail", "/v3/mail_settings/kept_mail"),
    ("plain_content", "/v3/mail_settings/plain_content"),
    ("spam_check", "/v3/mail_settings/spam_check"),
    ("template", "/v3/mail_settings/template"),
];

/// The settings of tracking.
pub(crate) const TRACKING_SETTINGS: [(&str, &str); 4] = [
    ("click", "/v3/tracking_settings/click"),
    ("google_analytics", "/v3/tracking_settings/google_analytics"),
    ("open", "/v3/tracking_settings/open"),
    ("subscription", "/v3/tracking_settings/subscription"),
];
