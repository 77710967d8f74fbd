//! `filters`: the mail settings and tracking settings of mail/send, under their older names.

use posthaste_model::{
    ClickTracking, Footer, Ganalytics, OpenTracking, SubscriptionTracking, Toggle,
};
use serde_json::{Map, Value};

use crate::{Instructions, Invalid, invalid, value};

/// The settings of one filter.
struct FilterSettings<'a> {
    filter: &'a str,
    values: Option<&'a Map<String, Value>>,
}

impl FilterSettings<'_> {
    fn get(&self, name: &str) -> Option<&Value> {
        self.values?.get(name).filter(|value| !value.is_null())
    }

    /// A filter without an `enable` setting keeps the account's default.
    fn enable(&self) -> Result<Option<bool>, Invalid> {
        self.flag("enable")
    }

    fn flag(&self, name: &str) -> Result<Option<bool>, Invalid> {
        let flag = self.get(name).map(|value| value::flag(self.filter, value));
        flag.transpose()
    }

    /// An empty text is none.
    fn text(&self, name: &str) -> Result<Option<String>, Invalid> {
        let text = self
            .get(name)
            .map(|value| value::string(self.filter, value));
        Ok(text.transpose()?.filter(|text| !text.is_empty()))
    }
}

/// Applies the filters. Unknown ones, and those the service has replaced or retired (`bcc`, `dkim`,
/// `domainkeys`, `gravatar`, `spamcheck`), change nothing.
pub(crate) fn read(given: Option<&Value>) -> Result<Instructions, Invalid> {
    let mut all = Instructions::default();
    for (filter, body) in value::object("filters", given)?.into_iter().flatten() {
        let Some(body) = value::object(filter, Some(body))? else {
            continue;
        };
        // Some clients omit the s.
        let values = body.get("settings").or_else(|| body.get("setting"));
        let settings = FilterSettings {
            filter,
            values: value::object(filter, values)?,
        };
        one(&settings, &mut all)?;
    }
    let mail = &all.mail_settings;
    let on = |toggle: &Option<Toggle>| toggle.is_some_and(|toggle| toggle.enable);
    let single = on(&mail.bypass_spam_management)
        || on(&mail.bypass_bounce_management)
        || on(&mail.bypass_unsubscribe_management);
    if single && on(&mail.bypass_list_management) {
        return invalid("bypass_list_management cannot be combined with other bypass filters");
    }
    Ok(all)
}

fn one(settings: &FilterSettings<'_>, all: &mut Instructions) -> Result<(), Invalid> {
    let (mail, tracking) = (&mut all.mail_settings, &mut all.tracking_settings);
    let Some(enable) = settings.enable()? else {
        return Ok(());
    };
    let toggle = Some(Toggle { enable });
    match settings.filter {
        "bypass_list_management" => mail.bypass_list_management = toggle,
        "bypass_spam_management" => mail.bypass_spam_management = toggle,
        "bypass_bounce_management" => mail.bypass_bounce_management = toggle,
        "bypass_unsubscribe_management" => mail.bypass_unsubscribe_management = toggle,
        "footer" => {
            mail.footer = Some(Footer {
                enable,
                text: settings.text("text/plain")?,
                html: settings.text("text/html")?,
            });
        }
        "template" => {
            let html = settings.text("text/html")?.unwrap_or_default();
            mail.wrapper = Some(if enable { html } else { String::new() });
        }
        "templates" => {
            let id = settings.text("template_id")?;
            all.template_id = id.filter(|_| enable);
        }
        "clicktrack" => {
            tracking.click_tracking = Some(ClickTracking {
                enable,
                enable_text: settings.flag("enable_text")?,
            });
        }
        "opentrack" => {
            tracking.open_tracking = Some(OpenTracking {
                enable,
                substitution_tag: settings.text("replace")?,
            });
        }
        "subscriptiontrack" => {
            tracking.subscription_tracking = Some(SubscriptionTracking {
                enable,
                text: settings.text("text/plain")?,
                html: settings.text("text/html")?,
                substitution_tag: settings.text("replace")?,
            });
        }
        "ganalytics" => {
            tracking.ganalytics = Some(Ganalytics {
                enable,
                utm_source: settings.text("utm_source")?,
                utm_medium: settings.text("utm_medium")?,
                utm_term: settings.text("utm_term")?,
                utm_content: settings.text("utm_content")?,
                utm_campaign: settings.text("utm_campaign")?,
            });
        }
        _ => {}
    }
    Ok(())
}
