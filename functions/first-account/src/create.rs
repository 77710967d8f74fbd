//! Creates the account and its key, once.

use std::time::Duration;

use posthaste_secrets::{SecretWrite, SecretsError};
use posthaste_store::{Account, ApiKey, KeyKind, OWNER_LINK_LIFE, StoreError, is_username};

use crate::App;
use crate::owner_secret::OwnerSecret;
use crate::request::ResourceRequest;

/// Why there is no first account. CloudFormation shows it, and undoes the deployment.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CreateError {
    #[error(
        "Owner is no user name: 1 to 64 visible ASCII characters without `/`, `?` and `%`, and none of `.`, `..`, `stats` and `reputations`"
    )]
    NoUsername,
    #[error("the owner's secret holds something else")]
    OtherSecret,
    #[error("the owner's key is in use by another account")]
    KeyInUse,
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Secrets(#[from] SecretsError),
}

/// Pauses between attempts: the role is as new as the stack, and may be refused for some seconds.
const PAUSES: [Duration; 3] = [
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(5),
];

impl CreateError {
    /// Whether the same call may succeed later.
    fn is_transient(&self) -> bool {
        matches!(self, Self::Store(_) | Self::Secrets(_))
    }
}

/// Creates the account and its key, unless the table has a first account, or one of this name. Tries for some seconds.
pub(crate) async fn first_account(app: &App, request: &ResourceRequest) -> Result<(), CreateError> {
    for pause in PAUSES {
        match create(app, request).await {
            Err(error) if error.is_transient() => {
                tracing::warn!(%error, "the first account is tried again: {error}");
                tokio::time::sleep(pause).await;
            }
            outcome => return outcome,
        }
    }
    create(app, request).await
}

/// Key and link are in the secret before they are in the table. After a crash in between the next call finds them there,
/// and the table has never a key that is lost.
async fn create(app: &App, request: &ResourceRequest) -> Result<(), CreateError> {
    let username = request.resource_properties.username.as_str();
    if !is_username(username) {
        return Err(CreateError::NoUsername);
    }
    if let Some(id) = app.store.first_account().await? {
        tracing::info!(account.id = %id, "the table has a first account: {id}");
        return Ok(());
    }
    let is_it = |account: &Account| {
        account.parent.is_none() && account.username.eq_ignore_ascii_case(username)
    };
    if let Some(account) = app.store.accounts().await?.into_iter().find(is_it) {
        tracing::info!(account.id = %account.id, "an account of this name exists: {}", account.id);
        return Ok(());
    }
    let OwnerSecret { key: secret, link } = in_secret(app, request).await?;
    let now = app.clock.now();
    // The link names its account.
    let id = link.as_ref().map(|link| link.account().clone());
    let id = id.unwrap_or_else(|| app.entropy.account_id());
    let account = Account::new(id, username, now);
    let key = ApiKey {
        id: secret.id().clone(),
        account: account.id.clone(),
        name: "First key".to_owned(),
        kind: KeyKind::Full,
        scopes: Vec::new(),
        hash: secret.hash(),
        created_at: now,
        is_test: false,
        used_at: None,
    };
    let link = link.as_ref().map(|link| (link, now.plus(OWNER_LINK_LIFE)));
    let store = &app.store;
    if store.create_first_account(&account, &key, link).await? {
        tracing::info!(account.id = %account.id, "created account {}", account.id);
        return Ok(());
    }
    // A second call at the same moment.
    match app.store.first_account().await? {
        Some(_) => Ok(()),
        None => Err(CreateError::KeyInUse),
    }
}

/// What the secret holds, or a new key and a new link, which it then holds.
async fn in_secret(app: &App, request: &ResourceRequest) -> Result<OwnerSecret, CreateError> {
    let mut held = app.secrets.read(&app.secret_arn, None).await?;
    if held.is_none() {
        let new = OwnerSecret::generate(&app.entropy);
        let text = new.text(&request.resource_properties.base_url);
        let write = app
            .secrets
            .write(&app.secret_arn, &request.request_id, &text);
        match write.await? {
            SecretWrite::Done => return Ok(new),
            SecretWrite::Before => held = app.secrets.read(&app.secret_arn, None).await?,
        }
    }
    let held = held.as_deref().and_then(OwnerSecret::parse);
    held.ok_or(CreateError::OtherSecret)
}
