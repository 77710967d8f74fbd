//! What an API key may do: the names, and the three kinds of keys.

/// Every scope a key may be given (API facts, appendix B), sorted.
pub const ALL: [&str; 198] = [
    "access_settings.activity.read",
    "access_settings.whitelist.create",
    "access_settings.whitelist.delete",
    "access_settings.whitelist.read",
    "access_settings.whitelist.update",
    "alerts.create",
    "alerts.delete",
    "alerts.read",
    "alerts.update",
    "api_keys.create",
    "api_keys.delete",
    "api_keys.read",
    "api_keys.update",
    "asm.groups.create",
    "asm.groups.delete",
    "asm.groups.read",
    "asm.groups.update",
    "billing.create",
    "billing.delete",
    "billing.read",
    "billing.update",
    "browsers.stats.read",
    "categories.create",
    "categories.delete",
    "categories.read",
    "categories.stats.read",
    "categories.stats.sums.read",
    "categories.update",
    "clients.desktop.stats.read",
    "clients.phone.stats.read",
    "clients.stats.read",
    "clients.tablet.stats.read",
    "clients.webmail.stats.read",
    "credentials.create",
    "credentials.delete",
    "credentials.read",
    "credentials.update",
    "devices.stats.read",
    "email_activity.read",
    "geo.stats.read",
    "ips.assigned.read",
    "ips.pools.create",
    "ips.pools.delete",
    "ips.pools.ips.create",
    "ips.pools.ips.delete",
    "ips.pools.ips.read",
    "ips.pools.ips.update",
    "ips.pools.read",
    "ips.pools.update",
    "ips.read",
    "ips.warmup.create",
    "ips.warmup.delete",
    "ips.warmup.read",
    "ips.warmup.update",
    "mail.batch.create",
    "mail.batch.delete",
    "mail.batch.read",
    "mail.batch.update",
    "mail.send",
    "mail_settings.address_whitelist.read",
    "mail_settings.address_whitelist.update",
    "mail_settings.bcc.read",
    "mail_settings.bcc.update",
    "mail_settings.bounce_purge.read",
    "mail_settings.bounce_purge.update",
    "mail_settings.footer.read",
    "mail_settings.footer.update",
    "mail_settings.forward_bounce.read",
    "mail_settings.forward_bounce.update",
    "mail_settings.forward_spam.read",
    "mail_settings.forward_spam.update",
    "mail_settings.plain_content.read",
    "mail_settings.plain_content.update",
    "mail_settings.read",
    "mail_settings.spam_check.read",
    "mail_settings.spam_check.update",
    "mail_settings.template.read",
    "mail_settings.template.update",
    "mailbox_providers.stats.read",
    "marketing_campaigns.create",
    "marketing_campaigns.delete",
    "marketing_campaigns.read",
    "marketing_campaigns.update",
    "partner_settings.new_relic.read",
    "partner_settings.new_relic.update",
    "partner_settings.read",
    "partner_settings.sendwithus.read",
    "partner_settings.sendwithus.update",
    "stats.global.read",
    "stats.read",
    "subusers.create",
    "subusers.credits.create",
    "subusers.credits.delete",
    "subusers.credits.read",
    "subusers.credits.remaining.create",
    "subusers.credits.remaining.delete",
    "subusers.credits.remaining.read",
    "subusers.credits.remaining.update",
    "subusers.credits.update",
    "subusers.delete",
    "subusers.monitor.create",
    "subusers.monitor.delete",
    "subusers.monitor.read",
    "subusers.monitor.update",
    "subusers.read",
    "subusers.reputations.read",
    "subusers.stats.monthly.read",
    "subusers.stats.read",
    "subusers.stats.sums.read",
    "subusers.summary.read",
    "subusers.update",
    "suppression.blocks.create",
    "suppression.blocks.delete",
    "suppression.blocks.read",
    "suppression.blocks.update",
    "suppression.bounces.create",
    "suppression.bounces.delete",
    "suppression.bounces.read",
    "suppression.bounces.update",
    "suppression.create",
    "suppression.delete",
    "suppression.invalid_emails.create",
    "suppression.invalid_emails.delete",
    "suppression.invalid_emails.read",
    "suppression.invalid_emails.update",
    "suppression.read",
    "suppression.spam_reports.create",
    "suppression.spam_reports.delete",
    "suppression.spam_reports.read",
    "suppression.spam_reports.update",
    "suppression.unsubscribes.create",
    "suppression.unsubscribes.delete",
    "suppression.unsubscribes.read",
    "suppression.unsubscribes.update",
    "suppression.update",
    "teammates.create",
    "teammates.delete",
    "teammates.read",
    "teammates.update",
    "templates.create",
    "templates.delete",
    "templates.read",
    "templates.update",
    "templates.versions.activate.create",
    "templates.versions.activate.delete",
    "templates.versions.activate.read",
    "templates.versions.activate.update",
    "templates.versions.create",
    "templates.versions.delete",
    "templates.versions.read",
    "templates.versions.update",
    "tracking_settings.click.read",
    "tracking_settings.click.update",
    "tracking_settings.google_analytics.read",
    "tracking_settings.google_analytics.update",
    "tracking_settings.open.read",
    "tracking_settings.open.update",
    "tracking_settings.read",
    "tracking_settings.subscription.read",
    "tracking_settings.subscription.update",
    "user.account.read",
    "user.credits.read",
    "user.email.create",
    "user.email.delete",
    "user.email.read",
    "user.email.update",
    "user.multifactor_authentication.create",
    "user.multifactor_authentication.delete",
    "user.multifactor_authentication.read",
    "user.multifactor_authentication.update",
    "user.password.read",
    "user.password.update",
    "user.profile.read",
    "user.profile.update",
    "user.scheduled_sends.create",
    "user.scheduled_sends.delete",
    "user.scheduled_sends.read",
    "user.scheduled_sends.update",
    "user.settings.enforced_tls.read",
    "user.settings.enforced_tls.update",
    "user.timezone.read",
    "user.timezone.update",
    "user.username.read",
    "user.username.update",
    "user.webhooks.event.settings.read",
    "user.webhooks.event.settings.update",
    "user.webhooks.event.test.create",
    "user.webhooks.event.test.read",
    "user.webhooks.event.test.update",
    "user.webhooks.parse.settings.create",
    "user.webhooks.parse.settings.delete",
    "user.webhooks.parse.settings.read",
    "user.webhooks.parse.settings.update",
    "user.webhooks.parse.stats.read",
    "whitelabel.create",
    "whitelabel.delete",
    "whitelabel.read",
    "whitelabel.update",
];

/// Scopes outside the published list that this service's endpoints need, or that existing keys
/// carry; accepted on create and update. Sorted.
pub const EXTRA: [&str; 15] = [
    "2fa_exempt",
    "2fa_required",
    "asm.groups.suppressions.create",
    "asm.groups.suppressions.delete",
    "asm.groups.suppressions.read",
    "asm.suppressions.create",
    "asm.suppressions.delete",
    "asm.suppressions.read",
    "messages.read",
    "sender_verification_eligible",
    "sender_verification_exempt",
    "sender_verification_legacy",
    "user.webhooks.event.settings.create",
    "user.webhooks.event.settings.delete",
    "validations.email.create",
];

/// Whether this is the name of a scope.
pub fn is_known(name: &str) -> bool {
    ALL.binary_search(&name).is_ok() || EXTRA.binary_search(&name).is_ok()
}

/// Whether the scope belongs to billing.
pub fn is_billing(name: &str) -> bool {
    name.starts_with("billing.")
}

/// Whether the scope belongs to email address validation, which no supported kind of key holds.
pub fn is_validation(name: &str) -> bool {
    name.starts_with("validations.")
}

/// Whether the scope is a mark that the service puts on keys rather than a permission: any key may
/// pass it on, because it grants nothing.
pub fn is_mark(name: &str) -> bool {
    name.starts_with("2fa_") || name.starts_with("sender_verification_")
}

/// Whether a Full Access key holds this scope (SPEC, "Authentication": all parts of the account
/// except billing and email address validation).
pub fn in_full_access(name: &str) -> bool {
    is_known(name) && !is_billing(name) && !is_validation(name) && !is_mark(name)
}

/// Everything a Full Access key holds, sorted.
pub fn full_access() -> Vec<&'static str> {
    let mut all: Vec<_> = ALL
        .iter()
        .chain(&EXTRA)
        .copied()
        .filter(|name| in_full_access(name))
        .collect();
    all.sort_unstable();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted_and_have_no_twins() {
        assert!(ALL.is_sorted() && EXTRA.is_sorted());
        assert!(EXTRA.iter().all(|name| ALL.binary_search(name).is_err()));
    }

    /// API facts, appendix B, verbatim: a prefix and what may follow it.
    const APPENDIX_B: &str = include_str!("scope/appendix_b.txt");

    #[test]
    fn the_list_is_that_of_appendix_b() {
        let mut published = Vec::new();
        for line in APPENDIX_B.lines() {
            let (prefix, rest) = line.split_once(' ').unwrap();
            let actions = rest.trim_matches(['{', '}']).split(", ");
            published.extend(actions.map(|action| format!("{prefix}{action}")));
        }
        published.sort_unstable();
        assert_eq!(published, ALL);
        for newer in [
            "2fa_required",
            "2fa_exempt",
            "sender_verification_eligible",
            "sender_verification_exempt",
            "sender_verification_legacy",
        ] {
            assert!(is_known(newer) && is_mark(newer), "{newer}");
        }
    }

    #[test]
    fn full_access_leaves_out_billing_and_address_validation() {
        let full = full_access();
        assert!(full.contains(&"mail.send") && full.contains(&"api_keys.create"));
        assert!(
            !full
                .iter()
                .any(|s| is_billing(s) || is_validation(s) || is_mark(s))
        );
        assert_eq!(full.len(), ALL.len() - 4 + EXTRA.len() - 6);
        assert!(!in_full_access("mail.read") && !in_full_access(""));
    }
}
