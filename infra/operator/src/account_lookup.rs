//! Finds the account that a command names, and shows it.

use posthaste_model::AccountId;
use posthaste_store::{Account, Region, Store};
use serde_json::{Value, json};

use crate::{CommandError, Tools};

/// The account that a command names.
pub(crate) async fn find(tools: &Tools, named: &str) -> Result<Account, CommandError> {
    find_account(&tools.store, named).await
}

/// Finds an account by its id, or by a user name that only one account has.
///
/// # Errors
/// When there is none, or several accounts have the name.
pub async fn find_account(store: &Store, named: &str) -> Result<Account, CommandError> {
    if let Ok(id) = AccountId::parse(named)
        && let Some(account) = store.account(&id).await?
    {
        return Ok(account);
    }
    let all = store.accounts().await?;
    let mut found = all.into_iter().filter(|account| account.username == named);
    let Some(account) = found.next() else {
        return Err(CommandError::NotFound(format!(
            "there is no account {named}"
        )));
    };
    let others: Vec<_> = found.map(|other| other.id.to_string()).collect();
    if others.is_empty() {
        return Ok(account);
    }
    Err(CommandError::Refused(format!(
        "several accounts are called {named}: name one by its id ({}, {})",
        account.id,
        others.join(", ")
    )))
}

pub(crate) fn to_json(account: &Account) -> Value {
    json!({
        "id": account.id,
        "username": account.username,
        "email": account.email,
        "user_id": account.user_id,
        "parent": account.parent,
        "customer": account.customer,
        "status": account.status.text(),
        "disabled": account.status.is_disabled(),
        "suspended": account.status.is_suspended(),
        "suspension_cause": account.suspension_cause(),
        "region": region(account.region),
        "gzip": account.gzip,
        "metered": account.metered,
        "created_at": account.created_at,
    })
}

pub(crate) fn region(region: Region) -> &'static str {
    match region {
        Region::Global => "global",
        Region::Eu => "eu",
    }
}
