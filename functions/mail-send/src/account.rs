//! Stage 3: the checks that depend on the account.

use std::sync::Arc;

use axum::http::StatusCode;
use posthaste_cache::Cache;
use posthaste_http::{Caller, Rejection};
use posthaste_model::{AccountId, EmailAddress, Mail, Problem, Problems};

use crate::App;

/// Checks sender identity, template, batch, pool and groups against the account. A sender that is not the
/// account's is rejected alone, with its own status; all other problems are reported at once.
pub(crate) async fn check(app: &App, caller: &Caller, mail: &Mail) -> Result<(), Rejection> {
    check_senders(app, caller, mail).await?;
    let mut found = Problems::default();
    crate::template::check(app, caller, mail, &mut found).await?;
    batch(app, caller, mail, &mut found).await?;
    ip_pool(app, caller, mail, &mut found).await?;
    let unrecorded = groups(app, caller, mail, &mut found).await?;
    found.into_result()?;
    if !crate::template::fits(app, caller, mail).await? {
        return Err(posthaste_http::too_large());
    }
    if let Some(id) = unrecorded {
        let now = app.clock.now();
        app.store.note_group_mailed(caller.id(), id, now).await?;
    }
    Ok(())
}

async fn batch(
    app: &App,
    caller: &Caller,
    mail: &Mail,
    found: &mut Problems,
) -> Result<(), Rejection> {
    let Some(batch) = &mail.batch_id else {
        return Ok(());
    };
    let now = app.clock.now();
    let known = app.store.batch_exists(caller.id(), batch, now).await?;
    let message = "The batch_id must be a valid batch id for your account.";
    found.unless(known, "batch_id", message);
    Ok(())
}

/// The pool is one of the account's or of the operator's (API facts 2.3; `IP_POOLS`).
async fn ip_pool(
    app: &App,
    caller: &Caller,
    mail: &Mail,
    found: &mut Problems,
) -> Result<(), Rejection> {
    let Some(name) = &mail.ip_pool_name else {
        return Ok(());
    };
    if app.pools.get(name).is_some() {
        return Ok(());
    }
    let pools = app.store.ip_pools(caller.id()).await?.pools;
    if !pools.contains_key(name) {
        let message = format!(
            "The IP Pool name must be a valid pool name for your account. You provided [{name}]."
        );
        found.add("ip_pool_name", message);
    }
    Ok(())
}

/// The group of the mail and those it displays must be the account's own (API facts 2.3). Use of a
/// group is recorded once a day, since a group in use must not be deleted: returns the group that
/// is still to be recorded.
async fn groups(
    app: &App,
    caller: &Caller,
    mail: &Mail,
    found: &mut Problems,
) -> Result<Option<i64>, Rejection> {
    let Some(asm) = &mail.asm else {
        return Ok(None);
    };
    let mut named = asm.groups_to_display.clone();
    named.push(asm.group_id);
    let known = app.store.known_groups(caller.id(), &named).await?;
    let is_known = |id: &i64| known.iter().any(|group| group.id == *id);
    if !is_known(&asm.group_id) {
        let message = format!(
            "The ASM group ID must be a valid Group ID on your account. You provided [{}].",
            asm.group_id
        );
        found.add("asm.group_id", message);
    }
    let shown = &asm.groups_to_display;
    let unknown: Vec<String> = shown
        .iter()
        .filter(|id| !is_known(id))
        .map(i64::to_string)
        .collect();
    if !unknown.is_empty() {
        let message = format!(
            "All ASM groups to display must be valid ASM groups IDs on your account. You provided {}.",
            unknown.join(", ")
        );
        found.add("asm.groups_to_display", message);
    }
    let now = app.clock.now();
    let own = known.iter().find(|group| group.id == asm.group_id);
    Ok(own
        .filter(|group| !group.is_noted(now))
        .map(|group| group.id))
}

/// The text of API facts 2.1: clients look for it.
const MISMATCH: &str = "The from address does not match a verified Sender Identity. Mail cannot be sent until this error is resolved. Visit https://sendgrid.com/docs/for-developers/sending-email/sender-identity/ to see the Sender Identity requirements";

/// Which senders are accepted.
#[derive(Clone, Debug)]
pub enum Senders {
    /// Any sender: for local development, where a domain cannot be verified.
    Any,
    /// Only verified senders; results are cached for a few seconds.
    Verified(Arc<Cache<(AccountId, String), ()>>),
}

impl Senders {
    /// Only verified senders.
    pub fn verified() -> Self {
        Self::Verified(Arc::default())
    }
}

/// Rejects a mail with an unverified sender, even in a single envelope. The first one is named.
async fn check_senders(app: &App, caller: &Caller, mail: &Mail) -> Result<(), Rejection> {
    let Senders::Verified(known) = &app.senders else {
        return Ok(());
    };
    let own = mail.personalizations.iter().enumerate();
    let own =
        own.filter_map(|(i, p)| Some((format!("personalizations.{i}.from"), p.from.as_ref()?)));
    let all = std::iter::once(("from".to_owned(), &mail.from)).chain(own);
    for (field, mailbox) in all {
        if !is_verified(app, known, caller.id(), &mailbox.email).await? {
            let problem = Problem::on(field, MISMATCH);
            return Err(Rejection::all(StatusCode::FORBIDDEN, vec![problem]));
        }
    }
    Ok(())
}

async fn is_verified(
    app: &App,
    known: &Cache<(AccountId, String), ()>,
    account: &AccountId,
    address: &EmailAddress,
) -> Result<bool, Rejection> {
    let (asked, now) = ((account.clone(), address.folded()), app.clock.now_ms());
    if known.get(&asked, now).is_some() {
        return Ok(true);
    }
    let verified = app.store.standing(account, address).await?.is_some();
    if verified {
        known.put(asked, (), now);
    }
    Ok(verified)
}
