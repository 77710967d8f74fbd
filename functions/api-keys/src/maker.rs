//! The caller's key, read again before it is used to grant anything: a cached key may be some
//! seconds old, and a key that has been revoked or narrowed must not create another.

use posthaste_http::{Caller, Rejection};
use posthaste_store::Maker;

use crate::AppState;

/// The number of reads of a key that changes while it is used.
pub(crate) const MAX_ATTEMPTS: u32 = 5;

/// The caller's key as it is now.
///
/// # Errors
/// 401 when it was revoked, 403 when it lost the scope of the endpoint.
pub(crate) async fn read(
    desk: &AppState,
    caller: &Caller,
    scope: &str,
) -> Result<Maker, Rejection> {
    let held = &caller.key;
    let maker = desk.app.store.maker(&held.account, &held.id).await?;
    // Drops the cached key of this instance in any case.
    desk.gate.forget_key(&held.id);
    let maker = maker.ok_or_else(Rejection::unauthorized)?;
    match maker.key.holds(scope) {
        true => Ok(maker),
        false => Err(Rejection::forbidden()),
    }
}

/// The response when the caller's key changed during every attempt.
pub(crate) fn restless() -> Rejection {
    Rejection::unavailable(&"the caller's key keeps changing")
}
