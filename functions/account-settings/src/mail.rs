//! `/v3/mail_settings/…`.

use posthaste_model::{EmailAddress, Patch, Problems};
use posthaste_render::has_body_tag;
use posthaste_store::{AccountSettings, Forward};
use serde::{Deserialize, Serialize};

use crate::limits::{self, put, put_some, shown};
use crate::setting::Setting;

/// Recipients that suppressions never block.
#[derive(Serialize)]
pub(crate) struct AddressWhitelist {
    enabled: bool,
    list: Vec<String>,
}

#[derive(Clone, Deserialize)]
pub(crate) struct AddressWhitelistChange {
    enabled: Option<bool>,
    list: Option<Vec<String>>,
}

impl Setting for AddressWhitelist {
    type Patch = AddressWhitelistChange;

    const PATH: &'static str = "/v3/mail_settings/address_whitelist";
    const READ: &'static str = "mail_settings.address_whitelist.read";
    const UPDATE: &'static str = "mail_settings.address_whitelist.update";

    fn of(all: &AccountSettings) -> Self {
        Self {
            enabled: all.whitelist.enabled,
            list: all.whitelist.list.clone(),
        }
    }

    fn change(all: &mut AccountSettings, change: AddressWhitelistChange, found: &mut Problems) {
        let own = &mut all.whitelist;
        own.enabled = change.enabled.unwrap_or(own.enabled);
        let Some(list) = change.list else { return };
        let message = format!("list holds more than {} entries", limits::ENTRIES);
        found.unless(list.len() <= limits::ENTRIES, "list", &message);
        own.list.clear();
        for (i, entry) in list.iter().enumerate().take(limits::ENTRIES) {
            match comparable(entry) {
                Some(entry) => own.list.push(entry),
                None => found.add(format!("list.{i}"), "neither an address nor a domain"),
            }
        }
        own.list.sort_unstable();
        own.list.dedup();
        let bytes: usize = own.list.iter().map(String::len).sum();
        let message = format!(
            "the entries of list exceed {} bytes together",
            limits::ENTRIES_TOGETHER
        );
        found.unless(bytes <= limits::ENTRIES_TOGETHER, "list", &message);
    }
}

/// The normalized form of an address or a domain.
fn comparable(entry: &str) -> Option<String> {
    let entry = entry.trim();
    if entry.contains('@') {
        return EmailAddress::parse(entry).ok().map(|email| email.folded());
    }
    let any = EmailAddress::parse(&format!("any@{entry}")).ok()?;
    Some(any.ascii_domain())
}

/// When bounces are purged.
#[derive(Serialize)]
pub(crate) struct BouncePurge {
    enabled: bool,
    soft_bounces: Option<u16>,
    hard_bounces: Option<u16>,
}

#[derive(Clone, Deserialize)]
pub(crate) struct BouncePurgeChange {
    enabled: Option<bool>,
    #[serde(default)]
    soft_bounces: Patch<i64>,
    #[serde(default)]
    hard_bounces: Patch<i64>,
}

impl Setting for BouncePurge {
    type Patch = BouncePurgeChange;

    const PATH: &'static str = "/v3/mail_settings/bounce_purge";
    const READ: &'static str = "mail_settings.bounce_purge.read";
    const UPDATE: &'static str = "mail_settings.bounce_purge.update";

    fn of(all: &AccountSettings) -> Self {
        Self {
            enabled: all.bounce_purge.enabled,
            soft_bounces: all.bounce_purge.soft,
            hard_bounces: all.bounce_purge.hard,
        }
    }

    fn change(all: &mut AccountSettings, change: BouncePurgeChange, found: &mut Problems) {
        let own = &mut all.bounce_purge;
        own.enabled = change.enabled.unwrap_or(own.enabled);
        for (slot, days, field) in [
            (&mut own.soft, change.soft_bounces, "soft_bounces"),
            (&mut own.hard, change.hard_bounces, "hard_bounces"),
        ] {
            match days {
                Patch::Keep => {}
                Patch::Clear => *slot = None,
                Patch::Set(days) => match u16::try_from(days) {
                    Ok(days @ 1..=3650) => *slot = Some(days),
                    Ok(_) | Err(_) => {
                        found.add(field, format!("{field} must be 1 to 3650 days"));
                    }
                },
            }
        }
    }
}

/// A text at the end of every mail.
#[derive(Serialize)]
pub(crate) struct Footer {
    enabled: bool,
    html_content: String,
    plain_content: String,
}

#[derive(Clone, Deserialize)]
pub(crate) struct FooterChange {
    enabled: Option<bool>,
    html_content: Option<String>,
    plain_content: Option<String>,
}

impl Setting for Footer {
    type Patch = FooterChange;

    const PATH: &'static str = "/v3/mail_settings/footer";
    const READ: &'static str = "mail_settings.footer.read";
    const UPDATE: &'static str = "mail_settings.footer.update";

    fn of(all: &AccountSettings) -> Self {
        let own = &all.defaults.footer;
        Self {
            enabled: own.enable,
            html_content: shown(own.html.as_deref()),
            plain_content: shown(own.text.as_deref()),
        }
    }

    fn change(all: &mut AccountSettings, change: FooterChange, found: &mut Problems) {
        let own = &mut all.defaults.footer;
        own.enable = change.enabled.unwrap_or(own.enable);
        let limit = ("html_content", limits::TEXT);
        put_some(&mut own.html, change.html_content, limit, found);
        let limit = ("plain_content", limits::TEXT);
        put_some(&mut own.text, change.plain_content, limit, found);
    }
}

#[derive(Clone, Deserialize)]
pub(crate) struct ForwardChange {
    #[serde(default)]
    email: Patch<String>,
    enabled: Option<bool>,
}

/// Applies a change to a forwarding setting.
pub(crate) fn forward(own: &mut Forward, change: ForwardChange, found: &mut Problems) {
    own.enabled = change.enabled.unwrap_or(own.enabled);
    change.email.apply(&mut own.email);
    own.email = own.email.take().filter(|email| !email.is_empty());
    let fits = own.email.as_deref().map(EmailAddress::parse);
    found.unless(
        fits.is_none_or(|read| read.is_ok()),
        "email",
        "invalid email address",
    );
    found.unless(
        !own.enabled || own.email.is_some(),
        "email",
        "email is required while the setting is on",
    );
}

/// The address that receives bounces.
#[derive(Serialize)]
pub(crate) struct ForwardBounce {
    email: Option<String>,
    enabled: bool,
}

impl Setting for ForwardBounce {
    type Patch = ForwardChange;

    const PATH: &'static str = "/v3/mail_settings/forward_bounce";
    const READ: &'static str = "mail_settings.forward_bounce.read";
    const UPDATE: &'static str = "mail_settings.forward_bounce.update";

    fn of(all: &AccountSettings) -> Self {
        Self {
            email: all.forward_bounce.email.clone(),
            enabled: all.forward_bounce.enabled,
        }
    }

    fn change(all: &mut AccountSettings, change: ForwardChange, found: &mut Problems) {
        forward(&mut all.forward_bounce, change, found);
    }

    fn forwards<'a>(
        all: &'a AccountSettings,
        change: &'a ForwardChange,
    ) -> Option<(&'a Forward, bool)> {
        Some((&all.forward_bounce, change.email != Patch::Keep))
    }
}

/// The address that receives spam reports.
#[derive(Serialize)]
pub(crate) struct ForwardSpam {
    email: String,
    enabled: bool,
}

impl Setting for ForwardSpam {
    type Patch = ForwardChange;

    const PATH: &'static str = "/v3/mail_settings/forward_spam";
    const READ: &'static str = "mail_settings.forward_spam.read";
    const UPDATE: &'static str = "mail_settings.forward_spam.update";

    fn of(all: &AccountSettings) -> Self {
        Self {
            email: all.forward_spam.email.clone().unwrap_or_default(),
            enabled: all.forward_spam.enabled,
        }
    }

    fn change(all: &mut AccountSettings, change: ForwardChange, found: &mut Problems) {
        forward(&mut all.forward_spam, change, found);
    }

    fn forwards<'a>(
        all: &'a AccountSettings,
        change: &'a ForwardChange,
    ) -> Option<(&'a Forward, bool)> {
        Some((&all.forward_spam, change.email != Patch::Keep))
    }
}

/// The score from which mail counts as spam. A legacy setting that clients still use.
#[derive(Serialize)]
pub(crate) struct SpamCheck {
    enabled: bool,
    max_score: u8,
}

#[derive(Clone, Deserialize)]
pub(crate) struct SpamCheckChange {
    enabled: Option<bool>,
    max_score: Option<i64>,
}

impl Setting for SpamCheck {
    type Patch = SpamCheckChange;

    const PATH: &'static str = "/v3/mail_settings/spam_check";
    const READ: &'static str = "mail_settings.spam_check.read";
    const UPDATE: &'static str = "mail_settings.spam_check.update";

    fn of(all: &AccountSettings) -> Self {
        Self {
            enabled: all.spam_check.enabled,
            max_score: all.spam_check.max_score,
        }
    }

    fn change(all: &mut AccountSettings, change: SpamCheckChange, found: &mut Problems) {
        let own = &mut all.spam_check;
        own.enabled = change.enabled.unwrap_or(own.enabled);
        match change.max_score.map(u8::try_from) {
            None => {}
            Some(Ok(score @ 1..=10)) => own.max_score = score,
            Some(Ok(_) | Err(_)) => found.add("max_score", "max_score must be 1 to 10"),
        }
    }
}

/// HTML around every mail that uses no template.
#[derive(Serialize)]
pub(crate) struct Template {
    enabled: bool,
    html_content: String,
}

#[derive(Clone, Deserialize)]
pub(crate) struct TemplateChange {
    enabled: Option<bool>,
    html_content: Option<String>,
}

impl Setting for Template {
    type Patch = TemplateChange;

    const PATH: &'static str = "/v3/mail_settings/template";
    const READ: &'static str = "mail_settings.template.read";
    const UPDATE: &'static str = "mail_settings.template.update";

    fn of(all: &AccountSettings) -> Self {
        let own = &all.defaults.wrapper;
        Self {
            enabled: own.enable,
            html_content: own.html.clone(),
        }
    }

    /// Without its tag a mail's own content would be lost.
    fn change(all: &mut AccountSettings, change: TemplateChange, found: &mut Problems) {
        let own = &mut all.defaults.wrapper;
        own.enable = change.enabled.unwrap_or(own.enable);
        let limit = ("html_content", limits::WRAPPER);
        put(&mut own.html, change.html_content, limit, found);
        let fits = own.html.is_empty() || has_body_tag(&own.html);
        found.unless(fits, "html_content", "html_content must contain <% body %>");
    }
}
