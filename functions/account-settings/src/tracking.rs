//! `/v3/tracking_settings/…`.

use posthaste_model::Problems;
use posthaste_store::AccountSettings;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::limits::{self, put, put_some, shown};
use crate::setting::Setting;

/// Links that count clicks.
#[derive(Serialize)]
pub(crate) struct Click {
    enable_text: bool,
    enabled: bool,
}

#[derive(Clone, Deserialize)]
pub(crate) struct ClickChange {
    enabled: Option<bool>,
    enable_text: Option<bool>,
}

impl Setting for Click {
    type Patch = ClickChange;

    const PATH: &'static str = "/v3/tracking_settings/click";
    const READ: &'static str = "tracking_settings.click.read";
    const UPDATE: &'static str = "tracking_settings.click.update";

    fn of(all: &AccountSettings) -> Self {
        let click = all.defaults.click;
        Self {
            enable_text: click.enable_text.unwrap_or_default(),
            enabled: click.enable,
        }
    }

    fn change(all: &mut AccountSettings, change: ClickChange, _: &mut Problems) {
        let click = &mut all.defaults.click;
        click.enable = change.enabled.unwrap_or(click.enable);
        click.enable_text = change.enable_text.or(click.enable_text);
    }
}

/// An image that counts opens.
#[derive(Serialize)]
pub(crate) struct OpenTracking {
    enabled: bool,
}

#[derive(Clone, Deserialize)]
pub(crate) struct OpenChange {
    enabled: Option<bool>,
}

impl Setting for OpenTracking {
    type Patch = OpenChange;

    const PATH: &'static str = "/v3/tracking_settings/open";
    const READ: &'static str = "tracking_settings.open.read";
    const UPDATE: &'static str = "tracking_settings.open.update";

    fn of(all: &AccountSettings) -> Self {
        Self {
            enabled: all.defaults.open.enable,
        }
    }

    fn change(all: &mut AccountSettings, change: OpenChange, _: &mut Problems) {
        let open = &mut all.defaults.open;
        open.enable = change.enabled.unwrap_or(open.enable);
    }
}

/// utm parameters of every link.
#[derive(Serialize)]
pub(crate) struct GoogleAnalytics {
    enabled: bool,
    utm_campaign: String,
    utm_content: String,
    utm_medium: String,
    utm_source: String,
    utm_term: String,
}

#[derive(Clone, Deserialize)]
pub(crate) struct GoogleAnalyticsChange {
    enabled: Option<bool>,
    utm_campaign: Option<String>,
    utm_content: Option<String>,
    utm_medium: Option<String>,
    utm_source: Option<String>,
    utm_term: Option<String>,
}

impl Setting for GoogleAnalytics {
    type Patch = GoogleAnalyticsChange;

    const PATH: &'static str = "/v3/tracking_settings/google_analytics";
    const READ: &'static str = "tracking_settings.google_analytics.read";
    const UPDATE: &'static str = "tracking_settings.google_analytics.update";

    fn of(all: &AccountSettings) -> Self {
        let own = &all.defaults.ganalytics;
        Self {
            enabled: own.enable,
            utm_campaign: shown(own.utm_campaign.as_deref()),
            utm_content: shown(own.utm_content.as_deref()),
            utm_medium: shown(own.utm_medium.as_deref()),
            utm_source: shown(own.utm_source.as_deref()),
            utm_term: shown(own.utm_term.as_deref()),
        }
    }

    fn change(all: &mut AccountSettings, change: GoogleAnalyticsChange, found: &mut Problems) {
        let own = &mut all.defaults.ganalytics;
        own.enable = change.enabled.unwrap_or(own.enable);
        for (slot, text, field) in [
            (&mut own.utm_campaign, change.utm_campaign, "utm_campaign"),
            (&mut own.utm_content, change.utm_content, "utm_content"),
            (&mut own.utm_medium, change.utm_medium, "utm_medium"),
            (&mut own.utm_source, change.utm_source, "utm_source"),
            (&mut own.utm_term, change.utm_term, "utm_term"),
        ] {
            put_some(slot, text, (field, limits::LINK), found);
        }
    }
}

/// A link by which people unsubscribe.
#[derive(Serialize)]
pub(crate) struct Subscription {
    enabled: bool,
    html_content: String,
    landing: String,
    plain_content: String,
    replace: String,
    url: String,
}

#[derive(Clone, Deserialize)]
pub(crate) struct SubscriptionChange {
    enabled: Option<bool>,
    html_content: Option<String>,
    landing: Option<String>,
    plain_content: Option<String>,
    replace: Option<String>,
    url: Option<String>,
}

impl Setting for Subscription {
    type Patch = SubscriptionChange;

    const PATH: &'static str = "/v3/tracking_settings/subscription";
    const READ: &'static str = "tracking_settings.subscription.read";
    const UPDATE: &'static str = "tracking_settings.subscription.update";

    fn of(all: &AccountSettings) -> Self {
        let own = &all.defaults.subscription;
        Self {
            enabled: own.enable,
            html_content: shown(own.html.as_deref()),
            landing: all.landing.html.clone(),
            plain_content: shown(own.text.as_deref()),
            replace: shown(own.substitution_tag.as_deref()),
            url: all.landing.url.clone(),
        }
    }

    fn change(all: &mut AccountSettings, change: SubscriptionChange, found: &mut Problems) {
        let own = &mut all.defaults.subscription;
        own.enable = change.enabled.unwrap_or(own.enable);
        for (slot, text, limit) in [
            (
                &mut own.html,
                change.html_content,
                ("html_content", limits::TEXT),
            ),
            (
                &mut own.text,
                change.plain_content,
                ("plain_content", limits::TEXT),
            ),
            (
                &mut own.substitution_tag,
                change.replace,
                ("replace", limits::LINK),
            ),
        ] {
            put_some(slot, text, limit, found);
        }
        let landing = &mut all.landing;
        put(
            &mut landing.html,
            change.landing,
            ("landing", limits::LANDING),
            found,
        );
        put(&mut landing.url, change.url, ("url", limits::LINK), found);
        let web = |url: Url| matches!(url.scheme(), "http" | "https") && url.has_host();
        let fits = landing.url.is_empty() || Url::parse(&landing.url).is_ok_and(web);
        found.unless(fits, "url", "url must be an http or https URL");
    }
}
