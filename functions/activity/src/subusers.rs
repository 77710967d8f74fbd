//! `GET /v3/subusers/stats…` and `/v3/subusers/reputations`: what became of the mails of the
//! caller's subusers.

mod reputations;
mod stats;

use axum::http::StatusCode;
use posthaste_http::{Caller, Rejection, UNKNOWN_ID};
use posthaste_store::Account;

use crate::App;

#[cfg(test)]
pub(crate) use reputations::Reputation;
pub(crate) use reputations::reputations;
#[cfg(test)]
pub(crate) use stats::OF_MONTHS;
pub(crate) use stats::{by_day, month, month_of_one, sums};

/// The maximum number of subusers in one request (as many as `/v3/subusers` lists at once).
const MOST: usize = 500;

/// Rejects a subuser: it has no subusers.
fn check_parent(caller: &Caller) -> Result<(), Rejection> {
    if caller.account.is_subuser() {
        let message = "you dont have permission to access this resource";
        return Err(Rejection::plain(StatusCode::FORBIDDEN, message));
    }
    Ok(())
}

/// All subusers of the caller, oldest first.
async fn all_subusers(app: &App, caller: &Caller) -> Result<Vec<Account>, Rejection> {
    check_parent(caller)?;
    Ok(app.store.subusers(caller.id()).await?)
}

/// The subusers of these names, in this order, each once.
///
/// # Errors
/// 400 about `field` when one is not the caller's, or there are too many.
async fn named_subusers(
    app: &App,
    caller: &Caller,
    (field, names): (&str, &[&str]),
) -> Result<Vec<Account>, Rejection> {
    if names.len() > MOST {
        let message = format!("name at most {MOST} subusers");
        return Err(Rejection::on(field, message));
    }
    let all = all_subusers(app, caller).await?;
    let mut found: Vec<Account> = Vec::new();
    for name in names {
        let known = all.iter().find(|a| a.username.eq_ignore_ascii_case(name));
        let account =
            known.ok_or_else(|| Rejection::on(field, "invalid username").with_help(UNKNOWN_ID))?;
        if found.iter().all(|other| other.id != account.id) {
            found.push(account.clone());
        }
    }
    Ok(found)
}
