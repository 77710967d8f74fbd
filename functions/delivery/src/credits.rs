//! Sending allowances: what is past an account's credits is dropped.
//!
//! One copy costs one credit, taken at its first attempt by whoever won its claim: a repeated job
//! takes none. A process that dies between the claim and the outcome has taken a credit that the
//! next one takes again; nothing gives it back.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use posthaste_model::{AccountId, Timestamp};
use posthaste_queue::Job;
use posthaste_render::Rendered;
use posthaste_store::{Account, Store, StoreError};

use crate::App;
use crate::copy::Trouble;

/// The reason of SPEC, "Events".
pub(crate) const OVER_QUOTA: &str = "Recipient List over Package Quota";

/// Seconds for which an account is not read again (README: within 10 s everywhere).
const KNOWN: i64 = 10;

/// Accounts remembered; past that all are forgotten, which costs a read each.
const MOST: usize = 10_000;

/// Remembers accounts for some seconds, so that an account costs no read per copy.
#[derive(Debug, Default)]
pub struct Meter(Mutex<HashMap<AccountId, (Timestamp, Option<Account>)>>);

impl Meter {
    async fn account(
        &self,
        store: &Store,
        id: &AccountId,
        now: Timestamp,
    ) -> Result<Option<Account>, StoreError> {
        let known = {
            let accounts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            accounts.get(id).cloned()
        };
        if let Some((read_at, account)) = known
            && (0..KNOWN).contains(&now.since(read_at))
        {
            return Ok(account);
        }
        let account = store.account(id).await?;
        let mut accounts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if accounts.len() >= MOST {
            accounts.clear();
        }
        accounts.insert(id.clone(), (now, account.clone()));
        Ok(account)
    }
}

/// What is to be sent, or the reason why not: a copy that is about to leave for the first time
/// pays for it.
pub(crate) async fn within(
    app: &App,
    job: &Job,
    rendered: Result<Rendered, String>,
) -> Result<Result<Rendered, String>, Trouble> {
    if job.attempt > 0 || rendered.is_err() {
        return Ok(rendered);
    }
    let now = app.clock.now();
    let account = app.meter.account(&app.store, &job.account, now).await?;
    let Some(account) = account.filter(|account| account.metered) else {
        return Ok(rendered);
    };
    let granted = app.store.spend_credits(&account, 1, now).await?;
    Ok(match granted {
        0 => Err(OVER_QUOTA.to_owned()),
        _ => rendered,
    })
}
