//! Creates an account and its first key, as the web application does at a sign-up.

use clap::{Args, ValueEnum};
use posthaste_model::{AccountId, EmailAddress};
use posthaste_store::{Account, KeyKind, Region, is_username};
use serde_json::Value;

use crate::account_lookup::to_json;
use crate::key::{self, NewKey};
use crate::{CommandError, Report, Tools, account_lookup};

#[derive(Debug, Args)]
pub struct CreateAccount {
    /// User name, unique among accounts of the same parent, whatever its case
    username: String,
    /// Address of the account's owner
    #[arg(long)]
    email: Option<String>,
    /// Which base address it belongs to
    #[arg(long, value_enum, default_value_t = Where::Global)]
    region: Where,
    /// Make it a subuser of this account
    #[arg(long, value_name = "ACCOUNT", conflicts_with = "customer_of")]
    subuser_of: Option<String>,
    /// Make it a customer account of this account
    #[arg(long, value_name = "ACCOUNT")]
    customer_of: Option<String>,
    /// Name of its first key
    #[arg(long, value_name = "NAME", default_value = "First key")]
    key_name: String,
    /// Create no key
    #[arg(long)]
    no_key: bool,
    /// When an account of this name exists, show that one and create nothing
    #[arg(long)]
    if_absent: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Where {
    Global,
    Eu,
}

pub(crate) async fn run(wanted: &CreateAccount, tools: &Tools) -> Result<Report, CommandError> {
    check(wanted)?;
    let parent = match wanted.subuser_of.as_ref().or(wanted.customer_of.as_ref()) {
        None => None,
        Some(named) => Some(account_lookup::find(tools, named).await?.id),
    };
    if let Some(existing) = of_name(wanted, parent.as_ref(), tools).await? {
        return found(wanted, &existing);
    }
    let id = tools.entropy.account_id();
    let account = Account {
        email: wanted.email.clone().unwrap_or_default(),
        region: match wanted.region {
            Where::Global => Region::Global,
            Where::Eu => Region::Eu,
        },
        parent,
        customer: wanted.customer_of.is_some(),
        ..Account::new(id, &wanted.username, tools.clock.now())
    };
    if !tools.store.create_account(&account).await? {
        // Another command was faster.
        let existing = of_name(wanted, account.parent.as_ref(), tools).await?;
        let taken = || CommandError::Refused(format!("the name {} is taken", wanted.username));
        return found(wanted, &existing.ok_or_else(taken)?);
    }
    let mut text = format!("account {} ({}) created", account.id, account.username);
    let mut json = to_json(&account);
    if !wanted.no_key {
        let key = key::make(
            tools,
            &account,
            NewKey {
                name: &wanted.key_name,
                kind: KeyKind::Full,
                scopes: Vec::new(),
                is_test: false,
            },
        )
        .await?;
        text.push_str(&format!(
            "\nAPI key {}, shown this once:\n{}",
            key.id, key.secret
        ));
        insert(&mut json, "api_key", key.secret.into());
        insert(&mut json, "api_key_id", key.id.into());
    }
    Ok(Report::new(text, json))
}

/// The account that has the wanted name already. The table itself keeps only those of subusers apart: of two
/// commands at the same moment both may make an account, which `account list` shows.
async fn of_name(
    wanted: &CreateAccount,
    parent: Option<&AccountId>,
    tools: &Tools,
) -> Result<Option<Account>, CommandError> {
    let all = tools.store.accounts().await?;
    let is_it = |account: &Account| {
        account.parent.as_ref() == parent && account.username.eq_ignore_ascii_case(&wanted.username)
    };
    Ok(all.into_iter().find(is_it))
}

/// The answer about an account that is there already.
fn found(wanted: &CreateAccount, existing: &Account) -> Result<Report, CommandError> {
    if !wanted.if_absent {
        let taken = format!(
            "the name {} is taken by account {}: choose another, or show that one with --if-absent",
            wanted.username, existing.id
        );
        return Err(CommandError::Refused(taken));
    }
    let text = format!(
        "account {} ({}) exists; `posthaste key create` creates another key of it",
        existing.id, existing.username
    );
    Ok(Report::new(text, to_json(existing)))
}

/// Refuses a name that cannot be in the on-behalf-of header, and an address that is none.
fn check(wanted: &CreateAccount) -> Result<(), CommandError> {
    if !is_username(&wanted.username) {
        let rule = "a user name is 1 to 64 visible ASCII characters without `/`, `?` and `%`, and none of `.`, \
                    `..`, `stats` and `reputations`";
        return Err(CommandError::Usage(rule.to_owned()));
    }
    match wanted.email.as_deref().map(EmailAddress::parse) {
        Some(Err(why)) => {
            let why = format!("the address after --email is none: {why}");
            Err(CommandError::Usage(why))
        }
        Some(Ok(_)) | None => Ok(()),
    }
}

fn insert(json: &mut Value, name: &str, value: Value) {
    if let Some(object) = json.as_object_mut() {
        object.insert(name.to_owned(), value);
    }
}
