//! Accounts: the operations of SendGrid's web application, and the operator's own.

use clap::{Subcommand, ValueEnum};
use posthaste_notices::StatusReports;
use posthaste_store::{Account, AccountStatus, SuspensionCause, SuspensionRequest};

use crate::account_lookup::{region, to_json};
use crate::{CommandError, Report, Tools, account_lookup};

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Create an account, and its first API key
    Create(crate::create_account::CreateAccount),
    /// List every account
    List,
    /// Show one account
    Show {
        /// Account: its id, or its user name where only one has it
        account: String,
    },
    /// Stop an account from sending, and notify its webhooks
    Suspend {
        /// Account: its id, or its user name where only one has it
        account: String,
    },
    /// Let a suspended account send again, and notify its webhooks
    Resume {
        /// Account: its id, or its user name where only one has it
        account: String,
    },
    /// Delete an account with its keys, settings, lists and statistics
    Delete {
        /// Account: its id, or its user name where only one has it
        account: String,
        /// Confirms the deletion, which cannot be undone
        #[arg(long)]
        yes: bool,
    },
    /// Erase what is stored of an address
    Erase(crate::erase::EraseArgs),
    /// Whether an account may send compressed request bodies
    Gzip {
        /// Account: its id, or its user name where only one has it
        account: String,
        /// Whether they are accepted; otherwise the answer is 415
        allowed: OnOff,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnOff {
    On,
    Off,
}

pub(crate) async fn run(command: &Command, tools: &Tools) -> Result<Report, CommandError> {
    match command {
        Command::Create(wanted) => crate::create_account::run(wanted, tools).await,
        Command::List => list(tools).await,
        Command::Show { account } => {
            let account = account_lookup::find(tools, account).await?;
            Ok(Report::new(describe(&account), to_json(&account)))
        }
        Command::Suspend { account } => set(account, true, tools).await,
        Command::Resume { account } => set(account, false, tools).await,
        Command::Delete { account, yes } => {
            crate::erase::delete_account(account, *yes, tools).await
        }
        Command::Erase(choice) => crate::erase::run(choice, tools).await,
        Command::Gzip { account, allowed } => gzip(account, *allowed, tools).await,
    }
}

async fn list(tools: &Tools) -> Result<Report, CommandError> {
    let all = tools.store.accounts().await?;
    let rows: Vec<_> = all.iter().map(row).collect();
    let head = ["ID", "NAME", "STATUS", "REGION", "PARENT", "CREATED"];
    let json = all.iter().map(to_json).collect();
    Ok(Report::new(Report::table(head, &rows), json))
}

fn row(account: &Account) -> [String; 6] {
    let parent = account.parent.as_ref();
    [
        account.id.to_string(),
        account.username.clone(),
        account.status.text().to_owned(),
        region(account.region).to_owned(),
        parent.map(ToString::to_string).unwrap_or_default(),
        account.created_at.day(),
    ]
}

fn describe(account: &Account) -> String {
    let kind = match (&account.parent, account.customer) {
        (None, _) => "account",
        (Some(_), false) => "subuser",
        (Some(_), true) => "customer account",
    };
    let mut lines = vec![
        format!("id          {}", account.id),
        format!("name        {}", account.username),
        format!("kind        {kind}"),
        format!("status      {}", described_status(account)),
        format!("region      {}", region(account.region)),
        format!("created     {}", account.created_at.iso()),
        format!("gzip        {}", if account.gzip { "on" } else { "off" }),
        format!(
            "allowance   {}",
            if account.metered {
                "limited"
            } else {
                "unlimited"
            }
        ),
    ];
    if let Some(parent) = &account.parent {
        lines.push(format!("parent      {parent}"));
    }
    if !account.email.is_empty() {
        lines.push(format!("email       {}", account.email));
    }
    lines.join("\n")
}

fn described_status(account: &Account) -> String {
    let cause = match account.suspension_cause() {
        Some(SuspensionCause::Bounces) => ", by the service: too many bounces",
        Some(SuspensionCause::Complaints) => ", by the service: too many spam reports",
        Some(SuspensionCause::Operator) | None => "",
    };
    format!("{}{cause}", account.status.text())
}

/// Suspends an account or ends that. A repeat sends the notice that could not be sent the last time.
async fn set(named: &str, suspended: bool, tools: &Tools) -> Result<Report, CommandError> {
    let account = account_lookup::find(tools, named).await?;
    if !suspended && account.status == AccountStatus::Disabled {
        let why = format!(
            "account {} was disabled by its parent, which alone can enable it",
            account.id
        );
        return Err(CommandError::Refused(why));
    }
    let already = account.status.is_suspended() == suspended;
    if already && account.verdict.is_none_or(|verdict| verdict.reported) {
        let text = format!(
            "account {} is {} already",
            account.id,
            account.status.text()
        );
        return Ok(Report::new(text, to_json(&account)));
    }
    let wanted = SuspensionRequest {
        suspended,
        cause: SuspensionCause::Operator,
        at: tools.clock.now(),
    };
    let changed = tools.store.set_suspended(&account.id, wanted, |_| true);
    let gone = || CommandError::NotFound(format!("there is no account {named} any more"));
    let (account, _) = changed.await?.ok_or_else(gone)?;
    let done = if suspended { "suspended" } else { "resumed" };
    let reports = StatusReports {
        events: tools.events.as_ref(),
        bus: tools.bus.as_ref(),
    };
    let is_notified = reports
        .send(&tools.store, &account)
        .await
        .map_err(|error| {
            CommandError::NoticeNotSent(format!("account {} is {done}: {error}", account.id))
        })?;
    let notice = if is_notified {
        "its webhooks are notified"
    } else {
        "its webhooks are not notified, because no events queue is named"
    };
    let disabled = if !suspended && account.status.is_disabled() {
        "; its parent keeps it disabled"
    } else {
        ""
    };
    let text = format!(
        "account {} {done} (within 10 s everywhere); {notice}{disabled}",
        account.id
    );
    Ok(Report::new(text, to_json(&account)))
}

async fn gzip(named: &str, allowed: OnOff, tools: &Tools) -> Result<Report, CommandError> {
    let account = account_lookup::find(tools, named).await?;
    let on = allowed == OnOff::On;
    let changed = tools
        .store
        .update_account(&account.id, |account| account.gzip = on);
    let Some(account) = changed.await? else {
        return Err(CommandError::NotFound(format!(
            "there is no account {named} any more"
        )));
    };
    let word = if on { "may" } else { "may not" };
    let text = format!("account {} {word} send compressed bodies", account.id);
    Ok(Report::new(text, to_json(&account)))
}
