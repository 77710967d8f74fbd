//! Finds the account a command names: by its id, or by a user name that only one account has.

use posthaste_model::AccountId;
use posthaste_store::Account;

use crate::{CommandError, Tools};

/// The account that the operator names.
pub(crate) async fn account(tools: &Tools, named: &str) -> Result<Account, CommandError> {
    if let Ok(id) = AccountId::parse(named)
        && let Some(account) = tools.store.account(&id).await?
    {
        return Ok(account);
    }
    let all = tools.store.accounts().await?;
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
