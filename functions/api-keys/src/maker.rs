//! The caller's key, read anew before anything is granted with it: what an instance remembers of a
//! key may be some seconds old, and a key that is revoked or narrowed meanwhile must not leave
//! another one behind.

use posthaste_http::{Caller, Rejection};
use posthaste_store::Maker;

use crate::AppState;

/// A key that changes while it is used is read again this often.
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
    // Whatever it is now, this instance need not believe the old one any longer.
    desk.gate.forget_key(&held.id);
    let maker = maker.ok_or_else(Rejection::unauthorized)?;
    match maker.key.holds(scope) {
        true => Ok(maker),
        false => Err(Rejection::forbidden()),
    }
}

/// What a caller is told whose key never stood still.
pub(crate) fn restless() -> Rejection {
    Rejection::unavailable(&"the caller's key keeps changing")
}
