//! The IP allow list, managed from outside, where a lock-out cannot occur.

use clap::Subcommand;
use posthaste_store::AllowedIp;
use serde_json::{Value, json};

use crate::{CommandError, Report, Tools, account_lookup};

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show the allow list of an account
    Show {
        /// Account: its id, or its user name where only one has it
        account: String,
    },
    /// Clear the allow list, so that the account is open to every address again
    Recover {
        /// Account: its id, or its user name where only one has it
        account: String,
    },
}

pub(crate) async fn run(command: &Command, tools: &Tools) -> Result<Report, CommandError> {
    match command {
        Command::Show { account } => show(account, tools).await,
        Command::Recover { account } => recover(account, tools).await,
    }
}

async fn show(named: &str, tools: &Tools) -> Result<Report, CommandError> {
    let account = account_lookup::find(tools, named).await?;
    let entries = tools.store.allowed_ips(&account.id).await?;
    let json = |entry: &AllowedIp| json!({"id": entry.id, "ip": entry.net, "created_at": entry.created_at});
    let json: Value = entries.iter().map(json).collect();
    if entries.is_empty() {
        let open = format!("account {} is open to every address", account.id);
        return Ok(Report::new(open, json));
    }
    let row = |entry: &AllowedIp| {
        [
            entry.id.to_string(),
            entry.net.to_string(),
            entry.created_at.iso(),
        ]
    };
    let rows: Vec<_> = entries.iter().map(row).collect();
    Ok(Report::new(
        Report::table(["ID", "IP", "ADDED"], &rows),
        json,
    ))
}

async fn recover(named: &str, tools: &Tools) -> Result<Report, CommandError> {
    let account = account_lookup::find(tools, named).await?;
    let removed = tools.store.clear_allowed_ips(&account.id).await?;
    let text = format!(
        "{removed} entries removed: account {} is open to every address (within 10 s everywhere)",
        account.id
    );
    let json = json!({"account": account.id, "removed": removed});
    Ok(Report::new(text, json))
}
