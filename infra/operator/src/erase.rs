//! Deletes stored data: an account with everything it owns, or what an account stores of an address.

use activity::Eraser;
use clap::Args;
use posthaste_model::EmailAddress;
use serde_json::json;

use crate::{CommandError, Report, Tools, account_lookup};

/// Pages of the table that one run of the eraser reads.
const PAGES: usize = 1_000;

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
        account: &account,
        address: &address,
        suppressions: choice.suppressions,
        elsewhere: tools.elsewhere.as_ref(),
    };
    let (erased, under_way) = to_the_end(&eraser, tools).await?;
    let mut text = format!("{erased} rows of the address were erased from account {account}");
    if under_way > 0 {
        text.push_str(&format!(
            "; {under_way} mails to it are under way: erase it again when they have ended, at most \
             six days from now"
        ));
    }
    let json = json!({"account": account, "erased": erased, "under_way": under_way});
    Ok(Report::new(text, json))
}

/// Runs the eraser until nothing is left: the rows erased, and the mails that are still under way.
async fn to_the_end(eraser: &Eraser<'_>, tools: &Tools) -> Result<(usize, usize), CommandError> {
    let mut erased = 0;
    loop {
        let progress = eraser.run(tools.clock.now(), PAGES).await;
        let progress = progress.map_err(|error| CommandError::Unerased(error.to_string()))?;
        erased += progress.erased;
        if progress.complete {
            return Ok((erased, progress.under_way));
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
    tools.store.delete_account(&account).await?;
    let text =
        format!("account {id} ({name}) deleted; its keys are refused within 10 s everywhere");
    Ok(Report::new(
        text,
        json!({"id": id, "username": name, "deleted": true}),
    ))
}
