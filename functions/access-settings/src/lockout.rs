//! The warning to a caller whose change locks the caller out. It is allowed (SPEC, "IP
//! restriction"), but reported.

use axum::http::{HeaderMap, HeaderValue};
use posthaste_http::{AllowList, Caller, ClientIp, Rejection};
use posthaste_store::AllowedIp;

use crate::AppState;

/// The header that carries the warning.
const HEADER: &str = "x-posthaste-warning";

/// Handles a changed list: this instance enforces it at once, and warns a caller it locks out.
pub(crate) async fn changed(
    desk: &AppState,
    caller: &Caller,
    ip: ClientIp,
) -> Result<HeaderMap, Rejection> {
    desk.gate.forget_account(caller.id());
    let mut headers = HeaderMap::new();
    // A parent acting on behalf of a subuser is checked against its own list.
    if caller.is_on_behalf() {
        return Ok(headers);
    }
    let entries = desk.app.store.allowed_ips(caller.id()).await?;
    if let Some(text) = warning(&entries, ip) {
        headers.insert(HEADER, text);
    }
    Ok(headers)
}

fn warning(entries: &[AllowedIp], ip: ClientIp) -> Option<HeaderValue> {
    let list = AllowList::new(entries.iter().map(|entry| entry.net));
    if list.lets_in(ip.0) {
        return None;
    }
    let who =
        ip.0.map_or_else(|| "your address".to_owned(), |ip| ip.to_string());
    let text = format!(
        "{who} is not on the allow list: this account refuses it from now on; \
         the operator's command `posthaste access recover` opens the account again"
    );
    HeaderValue::from_str(&text).ok()
}
