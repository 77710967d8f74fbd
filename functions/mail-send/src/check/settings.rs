//! Unsubscribe group, mail settings, tracking settings.

use posthaste_model::{
    Asm, ClickTracking, Footer, Ganalytics, MailSettings, OpenTracking, SubscriptionTracking,
    Toggle, TrackingSettings,
};

use crate::errors::{JsonPath, ValidationErrors};
use crate::wire::{self, TextValue};

const GROUPS: usize = 25;

/// `asm`: a group is required; the display list is optional.
pub(super) fn asm(given: Option<wire::Asm>, found: &mut ValidationErrors) -> Option<Asm> {
    let (root, given) = (JsonPath::Root, given?);
    let at = &root.key("asm");
    let groups = given.groups_to_display.unwrap_or_default();
    if given.group_id.is_none() {
        found.push_error(&at.key("group_id"), "The ASM group ID must be an integer.");
    }
    if groups.count > GROUPS {
        found.push_error(
            &at.key("groups_to_display"),
            format!(
                "There is a limit of {GROUPS} unsubscribe groups that can be displayed to a user at a time."
            ),
        );
    }
    Some(Asm {
        group_id: given.group_id?,
        groups_to_display: groups.items,
    })
}

/// `mail_settings`: the bypass of everything excludes the single ones (SPEC, "Mail Send").
pub(super) fn mail(
    given: Option<wire::MailSettings<'_>>,
    found: &mut ValidationErrors,
) -> MailSettings {
    let given = given.unwrap_or_default();
    let on = |toggle: &Option<wire::Toggle>| toggle.as_ref().is_some_and(is_on);
    let single = on(&given.bypass_spam_management)
        || on(&given.bypass_bounce_management)
        || on(&given.bypass_unsubscribe_management);
    if single && on(&given.bypass_list_management) {
        found.push_error(
            &JsonPath::Root
                .key("mail_settings")
                .key("bypass_list_management"),
            "bypass_list_management cannot be combined with other bypass filters.",
        );
    }
    MailSettings {
        bypass_list_management: given.bypass_list_management.map(toggle),
        bypass_spam_management: given.bypass_spam_management.map(toggle),
        bypass_bounce_management: given.bypass_bounce_management.map(toggle),
        bypass_unsubscribe_management: given.bypass_unsubscribe_management.map(toggle),
        footer: given.footer.and_then(|footer| {
            Some(Footer {
                enable: footer.enable?,
                text: footer.text.map(TextValue::into_string),
                html: footer.html.map(TextValue::into_string),
            })
        }),
        sandbox_mode: given.sandbox_mode.map(toggle),
        wrapper: None,
    }
}

fn is_on(toggle: &wire::Toggle) -> bool {
    toggle.enable.unwrap_or_default()
}

fn toggle(given: wire::Toggle) -> Toggle {
    Toggle {
        enable: is_on(&given),
    }
}

/// `tracking_settings`: only the types are checked. A setting without `enable` inherits the
/// account's value.
pub(super) fn tracking(given: Option<wire::TrackingSettings<'_>>) -> TrackingSettings {
    let given = given.unwrap_or_default();
    TrackingSettings {
        click_tracking: given.click_tracking.and_then(click),
        open_tracking: given.open_tracking.and_then(open),
        subscription_tracking: given.subscription_tracking.and_then(subscription),
        ganalytics: given.ganalytics.and_then(ganalytics),
    }
}

fn click(given: wire::ClickTracking) -> Option<ClickTracking> {
    Some(ClickTracking {
        enable: given.enable?,
        enable_text: given.enable_text,
    })
}

fn open(given: wire::OpenTracking<'_>) -> Option<OpenTracking> {
    Some(OpenTracking {
        enable: given.enable?,
        substitution_tag: given.substitution_tag.map(TextValue::into_string),
    })
}

fn subscription(given: wire::SubscriptionTracking<'_>) -> Option<SubscriptionTracking> {
    Some(SubscriptionTracking {
        enable: given.enable?,
        text: given.text.map(TextValue::into_string),
        html: given.html.map(TextValue::into_string),
        substitution_tag: given.substitution_tag.map(TextValue::into_string),
    })
}

fn ganalytics(given: wire::Ganalytics<'_>) -> Option<Ganalytics> {
    Some(Ganalytics {
        enable: given.enable?,
        utm_source: given.utm_source.map(TextValue::into_string),
        utm_medium: given.utm_medium.map(TextValue::into_string),
        utm_term: given.utm_term.map(TextValue::into_string),
        utm_content: given.utm_content.map(TextValue::into_string),
        utm_campaign: given.utm_campaign.map(TextValue::into_string),
    })
}
