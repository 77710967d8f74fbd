//! The subusers of the caller, and whether the caller may have any.

use axum::http::StatusCode;
use posthaste_http::{Caller, Rejection};
use posthaste_store::Account;

use crate::AppState;

/// Rejects a subuser: it has no subusers.
pub(crate) fn check_parent(caller: &Caller) -> Result<(), Rejection> {
    if caller.account.is_subuser() {
        let message = "you dont have permission to access this resource";
        return Err(Rejection::plain(StatusCode::FORBIDDEN, message));
    }
    Ok(())
}

/// The caller's subuser of this name; `None` if it belongs to another account.
pub(crate) async fn named(
    desk: &AppState,
    caller: &Caller,
    username: &str,
) -> Result<Option<Account>, Rejection> {
    check_parent(caller)?;
    let store = &desk.app.store;
    let Some(id) = store.subuser_id(caller.id(), username).await? else {
        return Ok(None);
    };
    let account = store.account(&id).await?;
    Ok(account.filter(|account| account.parent.as_ref() == Some(caller.id())))
}
