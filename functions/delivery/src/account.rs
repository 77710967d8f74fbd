//! What the account of a mail is and decided, remembered for some seconds, so that it costs no
//! read per copy.

use std::sync::Arc;

use posthaste_http::Cache;
use posthaste_model::AccountId;
use posthaste_store::{Account, AccountSettings, StoreError};

use crate::App;

/// Remembers accounts and their settings.
#[derive(Debug, Default)]
pub struct Meter {
    accounts: Cache<AccountId, Option<Account>>,
    /// By account and the number of its changes: settings that did not change are not read again
    /// because of the account.
    settings: Cache<(AccountId, u64), Arc<AccountSettings>>,
}

/// The account of a mail; it may be gone by now.
pub(crate) async fn account(app: &App, id: &AccountId) -> Result<Option<Account>, StoreError> {
    let (known, now) = (&app.meter.accounts, app.clock.now_ms());
    if let Some(known) = known.get(id, now) {
        return Ok(known);
    }
    let account = app.store.account(id).await?;
    known.put(id.clone(), account.clone(), now);
    Ok(account)
}

/// What the account decided for all of its mail. One that never decided anything costs no read
/// beyond its own.
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
    let (known, now) = (&app.meter.settings, app.clock.now_ms());
    let asked = (id.clone(), changes);
    if let Some(known) = known.get(&asked, now) {
        return Ok(known);
    }
    let settings = Arc::new(app.store.settings(id).await?);
    known.put(asked, Arc::clone(&settings), now);
    Ok(settings)
}
