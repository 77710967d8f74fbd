//! Sending allowances, of any account.

use clap::{Subcommand, ValueEnum};
use posthaste_store::{Allowance, Credits, Frequency};
use serde_json::json;

use crate::{CommandError, Report, Tools, account_lookup};

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show what is left of an account's allowance
    Show {
        /// Account: its id, or its user name where only one has it
        account: String,
    },
    /// Give a fresh allowance of so many mails, once, or in each period
    Set {
        /// Account: its id, or its user name where only one has it
        account: String,
        /// Mails that it may send, 1 or more
        #[arg(allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
        total: u32,
        /// When it is filled up again
        #[arg(long, value_enum)]
        every: Option<Every>,
    },
    /// Let an account send as much as it likes
    Unlimited {
        /// Account: its id, or its user name where only one has it
        account: String,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Every {
    Day,
    Week,
    Month,
}

pub(crate) async fn run(command: &Command, tools: &Tools) -> Result<Report, CommandError> {
    match command {
        Command::Show { account } => show(account, tools).await,
        Command::Unlimited { account } => set(account, None, tools).await,
        Command::Set {
            account,
            total,
            every,
        } => {
            let frequency = every.map(|every| match every {
                Every::Day => Frequency::Daily,
                Every::Week => Frequency::Weekly,
                Every::Month => Frequency::Monthly,
            });
            let allowance = Allowance {
                frequency,
                total: *total,
            };
            set(account, Some(allowance), tools).await
        }
    }
}

async fn set(
    named: &str,
    allowance: Option<Allowance>,
    tools: &Tools,
) -> Result<Report, CommandError> {
    let account = account_lookup::find(tools, named).await?;
    let now = tools.clock.now();
    if !tools.store.set_credits(&account.id, allowance, now).await? {
        return Err(CommandError::NotFound(format!(
            "there is no account {named} any more"
        )));
    }
    show(account.id.as_str(), tools).await
}

async fn show(named: &str, tools: &Tools) -> Result<Report, CommandError> {
    let account = account_lookup::find(tools, named).await?;
    let credits = tools.store.credits(&account.id, tools.clock.now()).await?;
    let text = match &credits {
        None => format!("account {} may send as much as it likes", account.id),
        Some(credits) => describe(account.id.as_str(), credits),
    };
    let json = json!({"account": account.id, "credits": credits});
    Ok(Report::new(text, json))
}

fn describe(account: &str, credits: &Credits) -> String {
    let (remain, total) = (credits.remain, credits.total);
    let filled = match credits.frequency {
        None => "given once".to_owned(),
        Some(_) => format!("filled up again at {}", credits.until.iso()),
    };
    format!("account {account} may send {remain} more of {total} mails ({filled})")
}
