//! Links that sign in to the web console.

use clap::Subcommand;
use posthaste_store::{ConsoleToken, LINK_LIFE};
use serde_json::json;

use crate::{CommandError, Report, Tools, account_lookup};

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Make a link that opens one session with full access, within 15 minutes
    Link {
        /// Account: its id, or its user name where only one has it
        account: String,
        /// Address of the service, as a browser reaches it (default: that of the running host, or `PUBLIC_URL`)
        #[arg(long, value_name = "URL")]
        url: Option<String>,
    },
}

pub(crate) async fn run(command: &Command, tools: &Tools) -> Result<Report, CommandError> {
    let Command::Link { account, url } = command;
    link(account, url.as_deref(), tools).await
}

/// The address of the service that the link leads to.
fn address<'a>(url: Option<&'a str>, tools: &'a Tools) -> Result<&'a str, CommandError> {
    let wrong = |why: &str| CommandError::Usage(why.to_owned());
    let unknown = "the address of the service is not known: name it with --url";
    let url = url.or(tools.public_url.as_deref());
    let url = url.ok_or_else(|| wrong(unknown))?;
    let is_address = ["https://", "http://"]
        .iter()
        .any(|scheme| url.starts_with(scheme));
    is_address
        .then_some(url)
        .ok_or_else(|| wrong("--url is an address that begins with https:// or http://"))
}

async fn link(named: &str, url: Option<&str>, tools: &Tools) -> Result<Report, CommandError> {
    let base = address(url, tools)?;
    let account = account_lookup::find(tools, named).await?;
    let token = ConsoleToken::generate(&account.id, &tools.entropy);
    let now = tools.clock.now();
    tools.store.create_sign_in_link(&token, now).await?;
    let link = token.link(base);
    let text = format!(
        "Opens one session of account {}, within {} minutes:\n{link}",
        account.id,
        LINK_LIFE / 60
    );
    let until = now.plus(LINK_LIFE).iso();
    let json = json!({"account": account.id, "url": link, "until": until});
    Ok(Report::new(text, json))
}
