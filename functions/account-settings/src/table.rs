//! Every setting of an account as one table: its endpoint, its scopes, its line in the list, its
//! fields and the rules between them. Shapes are those of API facts, appendix A.

use posthaste_model::{Problems, TlsVersion};
use posthaste_render::has_body_tag;
use posthaste_store::{AccountSettings, Forward};
use serde_json::{Map, Value};
use url::Url;

use crate::field::Slot;

/// Bytes of the HTML around every mail. The v3 API states no limits; these are ours, because all
/// texts of an account share one row, which DynamoDB limits to 400 KB.
const WRAPPER: usize = 100_000;

/// Bytes of the landing page after an unsubscribe.
const LANDING: usize = 50_000;

/// Bytes of any other text that goes into mails.
const TEXT: usize = 20_000;

/// Bytes of the text of a link, and of the link itself.
const LINK: usize = 1_000;

/// One setting.
pub(crate) struct Setting {
    pub(crate) name: &'static str,
    pub(crate) path: &'static str,
    /// The scopes of its `GET` and its `PATCH`.
    pub(crate) scopes: [&'static str; 2],
    /// Title and description in the list of settings; a legacy setting is not listed.
    pub(crate) listed: Option<[&'static str; 2]>,
    pub(crate) fields: &'static [Field],
    /// Rules beyond those of single fields, for the settings as they would be stored.
    rules: fn(&AccountSettings, &mut Problems),
    /// For a setting by which the service mails reports to addresses: what is stored of it.
    pub(crate) forward: Option<fn(&AccountSettings) -> &Forward>,
}

/// The name of a field, and where its value is stored.
pub(crate) type Field = (&'static str, fn(&mut AccountSettings) -> Slot<'_>);

impl Setting {
    /// The setting as its own endpoint shows it.
    pub(crate) fn shown(&self, mut all: AccountSettings) -> Value {
        let field = |(name, slot): &Field| ((*name).to_owned(), slot(&mut all).shown());
        Value::Object(self.fields.iter().map(field).collect())
    }

    /// Whether it is on.
    pub(crate) fn is_on(&self, all: &AccountSettings) -> bool {
        self.shown(all.clone()).get("enabled") == Some(&Value::Bool(true))
    }

    /// Applies the body of a `PATCH`, in which omitted fields are unchanged, and reports every
    /// problem.
    pub(crate) fn change(
        &self,
        all: &mut AccountSettings,
        body: &Map<String, Value>,
    ) -> Result<(), Problems> {
        let mut found = Problems::default();
        for (name, slot) in self.fields {
            if let Some(value) = body.get(*name) {
                slot(all).change(name, value, &mut found);
            }
        }
        // A rule about the result says nothing about fields that were refused.
        if found.is_empty() {
            (self.rules)(all, &mut found);
        }
        found.into_result()
    }
}

/// A setting of a list, its title and description if it is listed, and its fields: type, place in
/// [`AccountSettings`], largest size.
macro_rules! setting {
    ($list:literal / $name:literal $([$($line:literal),+])?:
     $($field:ident: $slot:ident($($place:ident).+ $(, $most:ident)?)),+) => {
        Setting {
            name: $name,
            path: concat!("/v3/", $list, "/", $name),
            scopes: [
                concat!($list, ".", $name, ".read"),
                concat!($list, ".", $name, ".update"),
            ],
            fields: &[$((
                stringify!($field),
                |all| Slot::$slot(&mut all.$($place).+ $(, $most)?),
            )),+],
            $(listed: Some([$($line),+]),)?
            ..EMPTY
        }
    };
}

const EMPTY: Setting = Setting {
    name: "",
    path: "",
    scopes: ["", ""],
    listed: None,
    fields: &[],
    rules: |_, _| (),
    forward: None,
};

/// `/v3/mail_settings/…`. The last two are legacy settings (API facts 1, "Others"): clients still
/// use them, so they are stored; they change no mail.
pub(crate) const MAIL: &[Setting] = &[
    setting!("mail_settings" / "address_whitelist" [
        "Address Whitelist",
        "Addresses and domains to which mail is sent in spite of bounces and unsubscribes"
    ]:
        enabled: Flag(whitelist.enabled),
        list: Entries(whitelist.list)
    ),
    setting!("mail_settings" / "bounce_purge" [
        "Bounce Purge",
        "Days after which bounces are deleted"
    ]:
        enabled: Flag(bounce_purge.enabled),
        soft_bounces: Days(bounce_purge.soft),
        hard_bounces: Days(bounce_purge.hard)
    ),
    setting!("mail_settings" / "footer" ["Footer", "A text at the end of every mail"]:
        enabled: Flag(defaults.footer.enable),
        html_content: OptionalText(defaults.footer.html, TEXT),
        plain_content: OptionalText(defaults.footer.text, TEXT)
    ),
    Setting {
        rules: |all, found| require_address(&all.forward_bounce, found),
        forward: Some(|all| &all.forward_bounce),
        ..setting!("mail_settings" / "forward_bounce" [
            "Forward Bounce",
            "An address to which bounces are forwarded"
        ]:
            email: Address(forward_bounce.email),
            enabled: Flag(forward_bounce.enabled)
        )
    },
    Setting {
        forward: Some(|all| &all.forward_spam),
        ..setting!("mail_settings" / "forward_spam" [
            "Forward Spam",
            "Addresses to which spam reports are forwarded"
        ]:
            email: Addresses(forward_spam.email),
            enabled: Flag(forward_spam.enabled)
        )
    },
    // An extension.
    setting!("mail_settings" / "kept_mail" [
        "Kept Mail",
        "Days for which each mail is kept as it was composed, to be shown and sent again"
    ]:
        days: KeptDays(kept_mail.days),
        enabled: Flag(kept_mail.enabled)
    ),
    setting!("mail_settings" / "spam_check" [
        "Spam Checker",
        "The score from which a mail is dropped as spam, if the service has a spam filter"
    ]:
        enabled: Flag(spam_check.enabled),
        max_score: Score(spam_check.max_score)
    ),
    Setting {
        rules: |all, found| {
            // Without its tag a mail's own content would be lost.
            let html = &all.defaults.wrapper.html;
            let fits = html.is_empty() || has_body_tag(html);
            found.unless(fits, "html_content", "html_content must contain <% body %>");
        },
        ..setting!("mail_settings" / "template" [
            "Email Template",
            "HTML around every mail that uses no template"
        ]:
            enabled: Flag(defaults.wrapper.enable),
            html_content: Text(defaults.wrapper.html, WRAPPER)
        )
    },
    Setting {
        rules: |all, found| require_address(&all.bcc, found),
        ..setting!("mail_settings" / "bcc":
            email: LegacyAddress(bcc.email),
            enabled: Flag(bcc.enabled)
        )
    },
    setting!("mail_settings" / "plain_content": enabled: Flag(plain_content)),
];

/// `/v3/user/settings/enforced_tls`.
pub(crate) const ENFORCED_TLS: &Setting = &Setting {
    path: "/v3/user/settings/enforced_tls",
    ..setting!("user.settings" / "enforced_tls":
        require_tls: Flag(enforced_tls.require_tls),
        require_valid_cert: Flag(enforced_tls.require_valid_cert),
        version: TlsVersion(enforced_tls.version)
    )
};

/// The same where SES delivers.
pub(crate) const ENFORCED_TLS_BY_SES: &Setting = &Setting {
    rules: |all, found| {
        let own = all.enforced_tls;
        found.unless(
            !own.require_valid_cert,
            "require_valid_cert",
            "mail leaves by Amazon SES here, which checks no certificates",
        );
        found.unless(
            own.version <= TlsVersion::V1_2,
            "version",
            "mail leaves by Amazon SES here, which also uses TLS 1.2",
        );
    },
    ..*ENFORCED_TLS
};

/// `/v3/tracking_settings/…`.
pub(crate) const TRACKING: &[Setting] = &[
    setting!("tracking_settings" / "click" [
        "Click Tracking",
        "Links lead over the tracking host, which counts clicks"
    ]:
        enable_text: OptionalFlag(defaults.click.enable_text),
        enabled: Flag(defaults.click.enable)
    ),
    setting!("tracking_settings" / "google_analytics" [
        "Google Analytics",
        "utm parameters at the end of every link"
    ]:
        enabled: Flag(defaults.ganalytics.enable),
        utm_campaign: OptionalText(defaults.ganalytics.utm_campaign, LINK),
        utm_content: OptionalText(defaults.ganalytics.utm_content, LINK),
        utm_medium: OptionalText(defaults.ganalytics.utm_medium, LINK),
        utm_source: OptionalText(defaults.ganalytics.utm_source, LINK),
        utm_term: OptionalText(defaults.ganalytics.utm_term, LINK)
    ),
    setting!("tracking_settings" / "open" [
        "Open Tracking",
        "An image in every HTML mail counts opens"
    ]:
        enabled: Flag(defaults.open.enable)
    ),
    Setting {
        rules: |all, found| {
            let url = &all.landing.url;
            let web = |url: Url| matches!(url.scheme(), "http" | "https") && url.has_host();
            let fits = url.is_empty() || Url::parse(url).is_ok_and(web);
            found.unless(fits, "url", "url must be an http or https URL");
        },
        ..setting!("tracking_settings" / "subscription" [
            "Subscription Tracking",
            "A link in every mail by which recipients unsubscribe"
        ]:
            enabled: Flag(defaults.subscription.enable),
            html_content: OptionalText(defaults.subscription.html, TEXT),
            landing: Text(landing.html, LANDING),
            plain_content: OptionalText(defaults.subscription.text, TEXT),
            replace: OptionalText(defaults.subscription.substitution_tag, LINK),
            url: Text(landing.url, LINK)
        )
    },
];

/// A setting that is on forwards to an address.
fn require_address(own: &Forward, found: &mut Problems) {
    found.unless(
        !own.enabled || own.email.is_some(),
        "email",
        "email is required while the setting is on",
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_has_a_switch_and_known_scopes() {
        let mut paths = std::collections::BTreeSet::new();
        for setting in MAIL.iter().chain(TRACKING) {
            let shown = setting.shown(AccountSettings::default());
            assert!(shown["enabled"].is_boolean(), "{}", setting.path);
            assert!(
                !setting.is_on(&AccountSettings::default()),
                "{}",
                setting.path
            );
            assert!(setting.path.ends_with(setting.name));
            assert!(paths.insert(setting.path), "{}", setting.path);
            for scope in setting.scopes {
                assert!(posthaste_model::scope::is_known(scope), "{scope}");
            }
        }
    }
}
