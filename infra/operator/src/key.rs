//! API keys of every kind: billing keys are created only here, because no key created by the API
//! can grant billing.

use clap::{Args, Subcommand};
use posthaste_model::{KeyId, scope};
use posthaste_store::{Account, ApiKey, KeyKind, Secret};
use serde_json::{Value, json};

use crate::{CommandError, Report, Tools, account_lookup};

/// Keys of one account (SPEC, "Limits").
const MOST: i64 = 100;

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Create a key: with full access, unless scopes or billing are named
    Create(CreateKey),
    /// List the keys of an account
    List {
        /// Account: its id, or its user name where only one has it
        account: String,
    },
    /// Revoke a key (within 10 s everywhere)
    Revoke {
        /// Account: its id, or its user name where only one has it
        account: String,
        /// Id of the key, as `key list` shows it
        key_id: String,
    },
}

#[derive(Debug, Args)]
pub struct CreateKey {
    /// Account: its id, or its user name where only one has it
    account: String,
    /// What the key is for
    #[arg(long, default_value = "Operator's key")]
    name: String,
    /// What the key may do, separated by commas [default: everything but billing]
    #[arg(long, value_delimiter = ',', value_parser = trimmed, conflicts_with = "billing")]
    scopes: Vec<String>,
    /// Access to billing, and to nothing else
    #[arg(long)]
    billing: bool,
    /// A key for tests: its mail is recorded and never leaves
    #[arg(long)]
    test: bool,
}

/// One scope of a list: people write a space after a comma.
fn trimmed(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("a scope between two commas is missing".to_owned()),
        scope => Ok(scope.to_owned()),
    }
}

pub(crate) async fn run(command: &Command, tools: &Tools) -> Result<Report, CommandError> {
    match command {
        Command::Create(wanted) => create(wanted, tools).await,
        Command::List { account } => list(account, tools).await,
        Command::Revoke { account, key_id } => revoke(account, key_id, tools).await,
    }
}

async fn create(wanted: &CreateKey, tools: &Tools) -> Result<Report, CommandError> {
    let (kind, scopes) = grant(wanted)?;
    let account = account_lookup::find(tools, &wanted.account).await?;
    let made = make(
        tools,
        &account,
        NewKey {
            name: &wanted.name,
            kind,
            scopes,
            is_test: wanted.test,
        },
    )
    .await?;
    let text = format!("API key {}, shown this once:\n{}", made.id, made.secret);
    let json = json!({"api_key": made.secret, "api_key_id": made.id, "name": wanted.name,
        "kind": word(kind), "test": wanted.test});
    Ok(Report::new(text, json))
}

fn grant(wanted: &CreateKey) -> Result<(KeyKind, Vec<String>), CommandError> {
    if wanted.billing {
        let billing = scope::ALL.iter().filter(|name| scope::is_billing(name));
        return Ok((
            KeyKind::Billing,
            billing.map(|&name| name.to_owned()).collect(),
        ));
    }
    if wanted.scopes.is_empty() {
        return Ok((KeyKind::Full, Vec::new()));
    }
    let grantable = |name: &String| scope::in_full_access(name) || scope::is_mark(name);
    if let Some(name) = wanted.scopes.iter().find(|name| !grantable(name)) {
        let why = format!("no restricted key can hold the scope `{name}`");
        return Err(CommandError::Usage(why));
    }
    let mut scopes = wanted.scopes.clone();
    scopes.sort_unstable();
    scopes.dedup();
    Ok((KeyKind::Restricted, scopes))
}

/// A key as it is shown once.
pub(crate) struct Made {
    pub(crate) id: String,
    pub(crate) secret: String,
}

/// What a new key is.
pub(crate) struct NewKey<'a> {
    pub(crate) name: &'a str,
    pub(crate) kind: KeyKind,
    /// Those of a restricted or a billing key.
    pub(crate) scopes: Vec<String>,
    pub(crate) is_test: bool,
}

/// Makes a key of an account.
pub(crate) async fn make(
    tools: &Tools,
    account: &Account,
    new: NewKey<'_>,
) -> Result<Made, CommandError> {
    let secret = Secret::generate(&tools.entropy);
    let key = ApiKey {
        id: secret.id().clone(),
        account: account.id.clone(),
        name: new.name.to_owned(),
        kind: new.kind,
        scopes: new.scopes,
        hash: secret.hash(),
        created_at: tools.clock.now(),
        is_test: new.is_test,
        used_at: None,
    };
    if !tools.store.create_key(&key, MOST).await? {
        let full = format!("account {} holds {MOST} keys already", account.id);
        return Err(CommandError::Refused(full));
    }
    Ok(Made {
        id: key.id.to_string(),
        secret: secret.expose().to_owned(),
    })
}

fn word(kind: KeyKind) -> &'static str {
    match kind {
        KeyKind::Full => "full",
        KeyKind::Restricted => "restricted",
        KeyKind::Billing => "billing",
    }
}

async fn list(named: &str, tools: &Tools) -> Result<Report, CommandError> {
    let account = account_lookup::find(tools, named).await?;
    let keys = tools.store.keys(&account.id).await?;
    let row = |key: &ApiKey| {
        let kind = format!(
            "{}{}",
            word(key.kind),
            if key.is_test { ",test" } else { "" }
        );
        let scopes = match key.kind {
            KeyKind::Full => "all".to_owned(),
            KeyKind::Restricted | KeyKind::Billing => key.all_scopes().join(","),
        };
        [
            key.id.to_string(),
            kind,
            key.created_at.day(),
            key.name.clone(),
            scopes,
        ]
    };
    let rows: Vec<_> = keys.iter().map(row).collect();
    let json = |key: &ApiKey| {
        json!({"api_key_id": key.id, "name": key.name, "kind": word(key.kind),
            "scopes": key.all_scopes(), "created_at": key.created_at, "test": key.is_test})
    };
    let json: Value = keys.iter().map(json).collect();
    let text = Report::table(["ID", "KIND", "CREATED", "NAME", "SCOPES"], &rows);
    Ok(Report::new(text, json))
}

async fn revoke(named: &str, id: &str, tools: &Tools) -> Result<Report, CommandError> {
    let account = account_lookup::find(tools, named).await?;
    let missing = || CommandError::NotFound(format!("account {} has no key {id}", account.id));
    let key = KeyId::parse(id).map_err(|_| missing())?;
    if !tools.store.delete_key(&account.id, &key).await? {
        return Err(missing());
    }
    let text = format!("key {id} revoked (within 10 s everywhere)");
    Ok(Report::new(
        text,
        json!({"api_key_id": id, "revoked": true}),
    ))
}
