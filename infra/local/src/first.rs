//! The first account and its key, the same in every run of a data folder; and a link that signs it in to the console.
//!
//! A key is created only if the folder has no key file. A file whose key matches no account stays
//! unchanged, and so does the account: the key was revoked, and stays so, or the file belongs to
//! another folder. To request a new key, delete the file.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use posthaste_model::{AccountId, Timestamp};
use posthaste_store::{
    Account, AccountStatus, ApiKey, ConsoleToken, KeyKind, Secret, Store, StoreError,
};

use crate::damage;
use crate::folder::{Folder, FolderError};
use crate::start::HostSettings;
use crate::start_error::StartError;

/// The file of the key.
pub(crate) const FILE: &str = "api-key";

/// User name of the account that the host makes.
const USERNAME: &str = "local";

/// Keys an account may hold, the same as the API's own limit.
const MAX_KEYS: i64 = 100;

/// The account and key that the host starts with.
pub(crate) struct First {
    pub(crate) account: AccountId,
    /// In clear; `None` when the key in the file matches no account.
    pub(crate) key: Option<String>,
    /// A one-sentence note for the developer, when something has changed since the last run.
    pub(crate) notice: Option<String>,
}

/// Finds or creates the first account and its key.
pub(crate) async fn account(
    settings: &HostSettings,
    folder: Option<&Folder>,
    store: &Store,
) -> Result<First, StartError> {
    let Some(folder) = folder else {
        return make(settings, store, generate(settings)).await;
    };
    let found = match folder.existing_secret(FILE)? {
        Some(text) => with_file(settings, folder, store, text).await?,
        None => without_file(settings, folder, store).await?,
    };
    match &settings.api_key {
        None => Ok(found),
        Some(key) => with_key(settings, store, key, found).await,
    }
}

/// The key that was asked for, or a new one.
fn generate(settings: &HostSettings) -> String {
    let generated = || Secret::generate(&settings.entropy).expose().to_owned();
    settings.api_key.clone().unwrap_or_else(generated)
}

/// The first account with the key that was asked for, which is made if there is none like it.
async fn with_key(
    settings: &HostSettings,
    store: &Store,
    text: &str,
    found: First,
) -> Result<First, StartError> {
    if found.key.as_deref() == Some(text) {
        return Ok(found);
    }
    let new = key(&found.account, text, settings.clock.now())?;
    let account = match store.key_by_id(&new.id).await? {
        Some(existing) if existing.hash == new.hash => existing.account,
        Some(_) => return Err(StartError::ApiKey("a key of this id has another secret")),
        None => {
            if store.account(&found.account).await?.is_none() {
                return Err(StartError::ApiKey(
                    "the first account was deleted: delete the file of its key to get a new one",
                ));
            }
            if !store.create_key(&new, MAX_KEYS).await? {
                return Err(StartError::ApiKey(
                    "the first account has as many keys as it may have: revoke one",
                ));
            }
            found.account
        }
    };
    Ok(First {
        account,
        key: Some(text.to_owned()),
        notice: None,
    })
}

async fn with_file(
    settings: &HostSettings,
    folder: &Folder,
    store: &Store,
    text: String,
) -> Result<First, StartError> {
    let file = folder.path(FILE);
    let Some(secret) = Secret::parse(&text) else {
        let cause = match text.as_str() {
            "" => "it is empty",
            _ => "it holds no API key",
        };
        let remedy = "put it back from a backup, or delete it to get a new key of the same account \
            at the next start, beside the lost one";
        let what = damage::mendable(&file, cause, remedy);
        return Err(FolderError::Damaged(what).into());
    };
    if let Some(key) = store.key_by_id(secret.id()).await?
        && key.is_opened_by(&secret)
        && let Some(account) = store.account(&key.account).await?
    {
        if store.first_account().await?.is_none() {
            // A folder of release 0.1.
            store.set_first_account(&account.id).await?;
        }
        let notice = (account.status != AccountStatus::Active).then(|| {
            format!(
                "account {} is {}, and its keys open nothing; `posthaste account resume` ends a suspension",
                account.id,
                if account.status.is_suspended() { "suspended" } else { "disabled" },
            )
        });
        return Ok(First {
            account: account.id,
            key: Some(text),
            notice,
        });
    }
    match known(store).await? {
        // A new folder with a key placed there for it.
        ExistingAccount::None => make(settings, store, text).await,
        ExistingAccount::Account(account) => Ok(First {
            notice: Some(format!(
                "the key in {} opens nothing here: it was revoked, or the file is another folder's; \
                 delete the file to get a new key of account {} at the next start",
                file.display(),
                account.id
            )),
            account: account.id,
            key: None,
        }),
        ExistingAccount::Deleted(id) => Ok(First {
            notice: Some(format!(
                "account {id} of the key in {} was deleted; delete the file to get a new account at \
                 the next start",
                file.display()
            )),
            account: id,
            key: None,
        }),
    }
}

async fn without_file(
    settings: &HostSettings,
    folder: &Folder,
    store: &Store,
) -> Result<First, StartError> {
    let ExistingAccount::Account(account) = known(store).await? else {
        // The file first: if killed in between, the next start creates the account for the key.
        let text = folder.secret(FILE, || generate(settings))?;
        return make(settings, store, text).await;
    };
    // The row first: a kill in between leaves an unknown key in the table, and no file that matches
    // nothing.
    let text = generate(settings);
    let now = settings.clock.now();
    let new = key(&account.id, &text, now)?;
    if !store.create_key(&new, MAX_KEYS).await? {
        let what = format!(
            "{} is missing and account {} holds {MAX_KEYS} keys already: revoke one to get a new one \
             at the next start",
            folder.path(FILE).display(),
            account.id
        );
        return Ok(First {
            account: account.id,
            key: None,
            notice: Some(what),
        });
    }
    let text = folder.secret(FILE, || text)?;
    let what = format!(
        "{} was missing: account {} has a new key beside those it had, which go on working until \
         they are revoked",
        folder.path(FILE).display(),
        account.id
    );
    Ok(First {
        account: account.id,
        key: Some(text),
        notice: Some(what),
    })
}

/// The account that an earlier start made.
enum ExistingAccount {
    None,
    Account(Account),
    Deleted(AccountId),
}

async fn known(store: &Store) -> Result<ExistingAccount, StartError> {
    if let Some(id) = store.first_account().await? {
        return Ok(match store.account(&id).await? {
            Some(account) => ExistingAccount::Account(account),
            None => ExistingAccount::Deleted(id),
        });
    }
    // A folder of release 0.1, which has no record of it.
    let all = store.accounts().await?;
    let made = all
        .into_iter()
        .find(|account| account.parent.is_none() && account.username == USERNAME);
    Ok(made.map_or(ExistingAccount::None, ExistingAccount::Account))
}

/// A new account with this key.
async fn make(settings: &HostSettings, store: &Store, text: String) -> Result<First, StartError> {
    let now = settings.clock.now();
    let account = Account::new(settings.entropy.account_id(), USERNAME, now);
    let key = key(&account.id, &text, now)?;
    if !store.create_first_account(&account, &key, None).await? {
        // The key is in the table, but matched neither an account nor anything else.
        return Err(StartError::Secret(format!("the key in {FILE} is in use")));
    }
    Ok(First {
        account: account.id,
        key: Some(text),
        notice: None,
    })
}

/// A key with full access.
fn key(account: &AccountId, text: &str, now: Timestamp) -> Result<ApiKey, StartError> {
    let secret = Secret::parse(text)
        .ok_or_else(|| StartError::Secret(format!("{FILE} holds no API key")))?;
    Ok(ApiKey {
        id: secret.id().clone(),
        account: account.clone(),
        name: "made by the local host".to_owned(),
        kind: KeyKind::Full,
        scopes: Vec::new(),
        hash: secret.hash(),
        created_at: now,
        is_test: false,
        used_at: None,
    })
}

/// The address at which a browser on this machine reaches the API. One that listens everywhere is reached at loopback,
/// where a session may be used without HTTPS.
pub(crate) fn console_base(api: SocketAddr, https: bool) -> String {
    let scheme = if https { "https" } else { "http" };
    let ip = match api.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    format!("{scheme}://{}", SocketAddr::new(ip, api.port()))
}

/// A link of the first account, which opens one session; `None` when that account was deleted.
pub(crate) async fn console_link(
    settings: &HostSettings,
    store: &Store,
    account: &AccountId,
    base: &str,
) -> Result<Option<String>, StoreError> {
    if store.account(account).await?.is_none() {
        return Ok(None);
    }
    let token = ConsoleToken::generate(account, &settings.entropy);
    let now = settings.clock.now();
    store.create_sign_in_link(&token, now).await?;
    Ok(Some(token.link(base)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_listens_everywhere_is_reached_at_loopback() {
        for (api, https, want) in [
            ("127.0.0.1:3000", false, "http://127.0.0.1:3000"),
            ("0.0.0.0:3000", false, "http://127.0.0.1:3000"),
            ("[::]:3000", true, "https://[::1]:3000"),
            ("192.168.1.7:443", true, "https://192.168.1.7:443"),
        ] {
            assert_eq!(console_base(api.parse().unwrap(), https), want);
        }
    }
}
