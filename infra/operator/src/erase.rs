//! Deletes stored data: an account with everything it owns, or what an account stores of an address.

use clap::Args;
use posthaste_erasure::Eraser;
use posthaste_kept::KeptMails;
use posthaste_model::{AccountId, EmailAddress};
use posthaste_runtime::WorkError;
use posthaste_store::{Erasure, ErasureState};
use serde_json::json;

use crate::{CommandError, Report, Tools, account_lookup};

/// Steps of the erasure after which it is taken up anew, so that no sweep takes it up meanwhile: some
/// seconds.
const STEPS: usize = 20;

#[derive(Debug, Args)]
pub struct EraseArgs {
    /// Account: its id, or its user name where only one has it
    account: String,
    /// The address to erase
    address: String,
    /// Also remove it from the suppression lists: mail to it is allowed again then
    #[arg(long)]
    suppressions: bool,
}

pub(crate) async fn run(choice: &EraseArgs, tools: &Tools) -> Result<Report, CommandError> {
    let address = EmailAddress::parse_stored(&choice.address).map_err(|why| {
        CommandError::Usage(format!("`{}` is no e-mail address: {why}", choice.address))
    })?;
    let account = account_lookup::find(tools, &choice.account).await?.id;
    let Some(blob) = &tools.blob else {
        let why = "name the bucket of the stack, so that bodies of mails can be erased too";
        return Err(CommandError::Refused(why.to_owned()));
    };
    let eraser = Eraser {
        store: &tools.store,
        blob,
        clock: &tools.clock,
        elsewhere: tools.elsewhere.as_ref(),
    };
    let to_the_end = to_the_end(&eraser, &account, address, choice.suppressions).await;
    let done = to_the_end.map_err(|error| CommandError::Unerased(error.to_string()))?;
    let (erased, under_way) = (done.erased, done.under_way);
    let mut text = format!("{erased} rows of the address were erased from account {account}");
    if under_way > 0 {
        text.push_str(&format!(
            "; {under_way} mails to it are under way: the service erases what is stored of them when \
             they have ended, at most six days from now"
        ));
    }
    let json = json!({"account": account, "erased": erased, "under_way": under_way});
    Ok(Report::new(text, json))
}

/// Starts the erasure, or finds it, and runs it until nothing is left but mails that are under way.
async fn to_the_end(
    eraser: &Eraser<'_>,
    account: &AccountId,
    address: EmailAddress,
    suppressions: bool,
) -> Result<Erasure, WorkError> {
    let (store, clock) = (eraser.store, eraser.clock);
    let started = posthaste_erasure::start(store, account, &[address], suppressions, clock).await?;
    let id = started.id;
    loop {
        eraser.resume(account, &id, None).await?;
        eraser.advance(account, &id, STEPS).await?;
        let gone = || WorkError::Unreadable(format!("erasure {id} is gone"));
        let erasure = store.erasure(account, &id).await?.ok_or_else(gone)?.value;
        match erasure.state {
            ErasureState::Waiting | ErasureState::Done => return Ok(erasure),
            ErasureState::Pending | ErasureState::Running => {}
        }
    }
}

/// Deletes an account. One with accounts under it stays, because these would be out of reach.
pub(crate) async fn delete_account(
    named: &str,
    confirmed: bool,
    tools: &Tools,
) -> Result<Report, CommandError> {
    let account = account_lookup::find(tools, named).await?;
    let (id, name) = (&account.id, &account.username);
    let all = tools.store.accounts().await?;
    let under = all.iter().filter(|one| one.parent.as_ref() == Some(id));
    let under: Vec<_> = under.map(|one| one.id.to_string()).collect();
    if !under.is_empty() {
        let why = format!(
            "account {id} has accounts under it: delete {} first",
            under.join(", ")
        );
        return Err(CommandError::Refused(why));
    }
    if !confirmed {
        let why = format!(
            "account {id} ({name}) would be deleted with its keys, settings, lists and statistics, for good: \
             confirm it with --yes"
        );
        return Err(CommandError::Refused(why));
    }
    if let Some(blob) = &tools.blob {
        let kept = KeptMails::new(tools.store.clone(), blob.clone());
        let forgotten = kept.forget_account(&account.id).await;
        forgotten.map_err(|error| CommandError::Unerased(error.to_string()))?;
    }
    tools.store.delete_account(&account).await?;
    let text =
        format!("account {id} ({name}) deleted; its keys are refused within 10 s everywhere");
    Ok(Report::new(
        text,
        json!({"id": id, "username": name, "deleted": true}),
    ))
}
