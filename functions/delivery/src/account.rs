//! Caches accounts and their settings for a few seconds, so that they cost no read per copy.

use std::sync::Arc;

use posthaste_http::Cache;
use posthaste_model::AccountId;
use posthaste_store::{Account, AccountSettings, AccountStatus, StoreError};

use crate::App;

/// Caches accounts and their settings.
#[derive(Debug, Default)]
pub struct AccountCache {
    accounts: Cache<AccountId, Option<Account>>,
    /// By account and change count: unchanged settings are not read again when the account is.
    settings: Cache<(AccountId, u64), Arc<AccountSettings>>,
}

/// The account of a mail, which may have been deleted by now.
pub(crate) async fn account(app: &App, id: &AccountId) -> Result<Option<Account>, StoreError> {
    let (known, now) = (&app.accounts.accounts, app.clock.now_ms());
    if let Some(known) = known.get(id, now) {
        return Ok(known);
    }
    let account = app.store.account(id).await?;
    known.put(id.clone(), account.clone(), now);
    Ok(account)
}

/// Why no mail of the account may leave any more, as its dropped events state: the account or one
/// above it was suspended or deleted after the mail was accepted. Takes effect within ten seconds.
pub(crate) async fn suspension_reason(
    app: &App,
    id: &AccountId,
) -> Result<Option<&'static str>, StoreError> {
    // A subuser, under a customer account, under its parent: the depth the authorizer checks.
    const ABOVE: usize = 3;
    let Some(own) = account(app, id).await? else {
        return Ok(Some("Account Deleted"));
    };
    let mut next = Some(own);
    for _ in 0..=ABOVE {
        let Some(account) = next else { break };
        match account.status {
            AccountStatus::Active => {}
            AccountStatus::Disabled => return Ok(Some("Account Disabled")),
            AccountStatus::Suspended | AccountStatus::DisabledAndSuspended => {
                return Ok(Some("Account Suspended"));
            }
        }
        next = match &account.parent {
            None => None,
            Some(parent) => self::account(app, parent).await?,
        };
    }
    Ok(None)
}

/// The settings for all mail of the account. An account without settings costs no read beyond its
/// own.
pub(crate) async fn settings(
    app: &App,
    id: &AccountId,
) -> Result<Arc<AccountSettings>, StoreError> {
    let changes = account(app, id)
        .await?
        .map_or(0, |account| account.settings);
    if changes == 0 {
        return Ok(Arc::default());
    }
    let (known, now) = (&app.accounts.settings, app.clock.now_ms());
    let asked = (id.clone(), changes);
    if let Some(known) = known.get(&asked, now) {
        return Ok(known);
    }
    let settings = Arc::new(app.store.settings(id).await?);
    known.put(asked, Arc::clone(&settings), now);
    Ok(settings)
}
