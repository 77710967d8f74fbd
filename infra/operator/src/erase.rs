//! Erases the stored data of an account about an address, in one run.

use activity::Eraser;
use clap::Args;
use posthaste_model::EmailAddress;
use serde_json::json;

use crate::{CommandError, Report, Tools, account_lookup};

/// Pages of the table between two looks at what is found at once.
const PAGES: usize = 1_000;

#[derive(Debug, Args)]
pub struct EraseArgs {
    /// Account: its id, or its user name where only one has it
    account: String,
    /// The address to forget
    address: String,
    /// Also take it off the suppression lists: it may be written to again then
    #[arg(long)]
    suppressions: bool,
}

pub(crate) async fn run(choice: &EraseArgs, tools: &Tools) -> Result<Report, CommandError> {
    let address = EmailAddress::parse(&choice.address).map_err(|why| {
        CommandError::Usage(format!("`{}` is no e-mail address: {why}", choice.address))
    })?;
    let account = account_lookup::find(tools, &choice.account).await?.id;
    let Some(blob) = &tools.blob else {
        let why = "name the bucket of the stack, so that bodies of mails can be forgotten too";
        return Err(CommandError::Refused(why.to_owned()));
    };
    let eraser = Eraser {
        store: &tools.store,
        blob,
        account: &account,
        address: &address,
        suppressions: choice.suppressions,
    };
    let mut erased = 0;
    let under_way = loop {
        let progress = eraser.run(tools.clock.now(), PAGES).await;
        let progress = progress.map_err(|error| CommandError::Unerased(error.to_string()))?;
        erased += progress.erased;
        if progress.complete {
            break progress.under_way;
        }
    };
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
