//! Determines the settings for one send: the account's own, overridden by the request.

use posthaste_model::{
    AccountDefaults, ClickTracking, Footer, Ganalytics, Mail, OpenTracking, SubscriptionTracking,
};

/// The effective settings for one send, with `enable` of each resolved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effective {
    pub footer: Footer,
    pub click: ClickTracking,
    pub open: OpenTracking,
    pub subscription: SubscriptionTracking,
    pub ganalytics: Ganalytics,
    /// HTML around a mail that uses no template.
    pub wrapper: Option<String>,
}

/// Merges the account's settings with those of a request (API facts 7, "settings precedence").
///
/// A setting missing from the request is the account's. For one that is present the request decides
/// `enable`; its empty fields are filled from the account, but only where the account has it
/// enabled.
pub fn effective(account: &AccountDefaults, mail: &Mail) -> Effective {
    let own = &mail.tracking_settings;
    Effective {
        footer: footer(&account.footer, mail.mail_settings.footer.as_ref()),
        click: click(account.click, own.click_tracking),
        open: open(&account.open, own.open_tracking.as_ref()),
        subscription: subscription(&account.subscription, own.subscription_tracking.as_ref()),
        ganalytics: ganalytics(&account.ganalytics, own.ganalytics.as_ref()),
        wrapper: mail.mail_settings.wrapper.clone().or_else(|| {
            let own = Some(&account.wrapper).filter(|wrapper| wrapper.enable);
            own.map(|wrapper| wrapper.html.clone())
        }),
    }
}

/// A text of the request, or else the account's if enabled there. Empty texts count as absent.
fn pick(own: Option<&String>, account: Option<&String>, on: bool) -> Option<String> {
    let filled = |text: &&String| !text.is_empty();
    own.filter(filled)
        .or_else(|| account.filter(|_| on).filter(filled))
        .cloned()
}

fn footer(account: &Footer, own: Option<&Footer>) -> Footer {
    let Some(own) = own else {
        return account.clone();
    };
    Footer {
        enable: own.enable,
        text: pick(own.text.as_ref(), account.text.as_ref(), account.enable),
        html: pick(own.html.as_ref(), account.html.as_ref(), account.enable),
    }
}

fn click(account: ClickTracking, own: Option<ClickTracking>) -> ClickTracking {
    let Some(own) = own else {
        return account;
    };
    ClickTracking {
        enable: own.enable,
        enable_text: own
            .enable_text
            .or(account.enable_text.filter(|_| account.enable)),
    }
}

fn open(account: &OpenTracking, own: Option<&OpenTracking>) -> OpenTracking {
    let Some(own) = own else {
        return account.clone();
    };
    OpenTracking {
        enable: own.enable,
        substitution_tag: pick(
            own.substitution_tag.as_ref(),
            account.substitution_tag.as_ref(),
            account.enable,
        ),
    }
}

fn subscription(
    account: &SubscriptionTracking,
    own: Option<&SubscriptionTracking>,
) -> SubscriptionTracking {
    let Some(own) = own else {
        return account.clone();
    };
    let on = account.enable;
    // A text in the request takes precedence over the account's tag, which would override it.
    let speaks = [&own.text, &own.html]
        .into_iter()
        .flatten()
        .any(|t| !t.is_empty());
    SubscriptionTracking {
        enable: own.enable,
        text: pick(own.text.as_ref(), account.text.as_ref(), on),
        html: pick(own.html.as_ref(), account.html.as_ref(), on),
        substitution_tag: pick(
            own.substitution_tag.as_ref(),
            account.substitution_tag.as_ref(),
            on && !speaks,
        ),
    }
}

fn ganalytics(account: &Ganalytics, own: Option<&Ganalytics>) -> Ganalytics {
    let Some(own) = own else {
        return account.clone();
    };
    let pick =
        |own: &Option<String>, of: &Option<String>| pick(own.as_ref(), of.as_ref(), account.enable);
    Ganalytics {
        enable: own.enable,
        utm_source: pick(&own.utm_source, &account.utm_source),
        utm_medium: pick(&own.utm_medium, &account.utm_medium),
        utm_term: pick(&own.utm_term, &account.utm_term),
        utm_content: pick(&own.utm_content, &account.utm_content),
        utm_campaign: pick(&own.utm_campaign, &account.utm_campaign),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mail(settings: &str) -> Mail {
        let json = format!(
            r#"{{"from":{{"email":"f@x.co"}},"personalizations":[{{"to":[{{"email":"a@x.co"}}]}}],{settings}}}"#
        );
        serde_json::from_str(&json).unwrap()
    }

    fn account(enable: bool) -> AccountDefaults {
        let text = |t: &str| Some(t.to_owned());
        AccountDefaults {
            footer: Footer {
                enable,
                text: text("account text"),
                html: text("account html"),
            },
            click: ClickTracking {
                enable,
                enable_text: Some(true),
            },
            subscription: SubscriptionTracking {
                enable,
                substitution_tag: text("[out]"),
                ..SubscriptionTracking::default()
            },
            ganalytics: Ganalytics {
                enable,
                utm_source: text("account"),
                utm_medium: text("email"),
                ..Ganalytics::default()
            },
            ..AccountDefaults::default()
        }
    }

    #[test]
    fn a_request_that_names_no_setting_gets_the_accounts() {
        for on in [true, false] {
            let got = effective(&account(on), &mail(r#""subject":"x""#));
            assert_eq!(got.footer, account(on).footer);
            assert_eq!(got.click, account(on).click);
            assert_eq!(got.ganalytics, account(on).ganalytics);
        }
    }

    #[test]
    fn a_request_switches_off_what_the_account_has_on() {
        let own = r#""mail_settings":{"footer":{"enable":false}},
            "tracking_settings":{"click_tracking":{"enable":false},"ganalytics":{"enable":false}}"#;
        let got = effective(&account(true), &mail(own));
        assert!(!got.footer.enable && !got.click.enable && !got.ganalytics.enable);
        assert!(got.subscription.enable);
    }

    #[test]
    fn the_accounts_content_is_pulled_only_where_its_switch_is_on() {
        let own = r#""mail_settings":{"footer":{"enable":true,"text":"mine"}},
            "tracking_settings":{"ganalytics":{"enable":true,"utm_source":"mine"}}"#;
        for (on, html, medium) in [
            (true, Some("account html"), Some("email")),
            (false, None, None),
        ] {
            let got = effective(&account(on), &mail(own));
            assert!(got.footer.enable && got.ganalytics.enable);
            assert_eq!(got.footer.text.as_deref(), Some("mine"));
            assert_eq!(got.footer.html.as_deref(), html);
            assert_eq!(got.ganalytics.utm_source.as_deref(), Some("mine"));
            assert_eq!(got.ganalytics.utm_medium.as_deref(), medium);
        }
    }

    #[test]
    fn links_of_the_text_count_as_the_account_has_it_where_the_request_does_not_say() {
        for (on, more, want) in [
            (true, "", Some(true)),
            (true, r#","enable_text":false"#, Some(false)),
            (false, "", None),
            (false, r#","enable_text":true"#, Some(true)),
        ] {
            let own =
                format!(r#""tracking_settings":{{"click_tracking":{{"enable":true{more}}}}}"#);
            let got = effective(&account(on), &mail(&own)).click;
            assert_eq!((got.enable, got.enable_text), (true, want), "{on} {more}");
        }
    }

    #[test]
    fn the_accounts_tag_does_not_override_the_requests_text() {
        let own =
            r#""tracking_settings":{"subscription_tracking":{"enable":true,"html":"<% go %>"}}"#;
        let got = effective(&account(true), &mail(own)).subscription;
        assert_eq!(
            (got.html.as_deref(), got.substitution_tag),
            (Some("<% go %>"), None)
        );
    }
}
