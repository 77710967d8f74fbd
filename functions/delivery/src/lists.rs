//! Suppressed recipients: the lists of an account, read once for all recipients of a job.

use std::collections::HashMap;

use posthaste_model::{AccountId, DropReason, Mail, RecipientCopy, Timestamp, Toggle};
use posthaste_store::{AccountSettings, StoreError, Suppressed, SuppressionList};

use crate::App;

/// The lists that the recipients of a job are on.
#[derive(Debug, Default)]
pub(crate) struct AccountLists(HashMap<String, Suppressed>);

fn is_on(switch: Option<&Toggle>) -> bool {
    switch.is_some_and(|switch| switch.enable)
}

/// Reads the lists in one batch; not at all when the mail bypasses every one of them.
pub(crate) async fn read(
    app: &App,
    account: &AccountId,
    mail: &Mail,
    copies: &[RecipientCopy<'_>],
) -> Result<AccountLists, StoreError> {
    if is_on(mail.mail_settings.bypass_list_management.as_ref()) {
        return Ok(AccountLists::default());
    }
    let emails: Vec<String> = copies
        .iter()
        .map(|copy| copy.mailbox.email.folded())
        .collect();
    let found = app.store.suppressed_among(account, &emails).await?;
    let by_email = found.into_iter().map(|lists| (lists.email.clone(), lists));
    Ok(AccountLists(by_email.collect()))
}

impl AccountLists {
    /// Why the recipient is suppressed, as SPEC, "Events", dropped, words it. Each bypass lifts its
    /// own list only; none of the three lifts a group (SPEC, `mail_settings`). The account's
    /// whitelist lifts bounces and unsubscribes; a bounce past the account's purge period does not
    /// count.
    pub(crate) fn reason(
        &self,
        mail: &Mail,
        copy: RecipientCopy<'_>,
        account: &AccountSettings,
        now: Timestamp,
    ) -> Option<DropReason> {
        let email = &copy.mailbox.email;
        let lists = self.0.get(&email.folded())?;
        let settings = &mail.mail_settings;
        let spared = account.whitelist.holds(email);
        let bounce = spared || is_on(settings.bypass_bounce_management.as_ref());
        let spam = is_on(settings.bypass_spam_management.as_ref());
        let unsubscribe = spared || is_on(settings.bypass_unsubscribe_management.as_ref());
        let group = mail
            .asm
            .as_ref()
            .map(|asm| SuppressionList::Group(asm.group_id));
        let holds = |list| lists.on(list).is_some();
        let forgotten = account.bounce_purge.hard_since(now);
        let bounced = lists
            .on(SuppressionList::Bounces)
            .is_some_and(|mark| forgotten.is_none_or(|since| mark.at >= since));
        if holds(SuppressionList::InvalidEmails) {
            Some(DropReason::Invalid)
        } else if !bounce && bounced {
            Some(DropReason::BouncedAddress)
        } else if !spam && holds(SuppressionList::SpamReports) {
            Some(DropReason::SpamReportingAddress)
        } else if !unsubscribe && holds(SuppressionList::Unsubscribes) || group.is_some_and(holds) {
            Some(DropReason::UnsubscribedAddress)
        } else {
            None
        }
    }
}
