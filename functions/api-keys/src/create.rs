//! `POST /v3/api_keys`.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use posthaste_http::{Caller, JsonBody, Rejection};
use posthaste_store::{ApiKey, Granted, Secret};

use crate::grant::Grant;
use crate::wire::{CreatedKey, KeyRequest, Missing};
use crate::{AppState, CREATE, maker};

/// Keys of one account (SPEC, "Limits").
const MOST: i64 = 100;

/// Creates a key. Only this response contains its secret.
pub(crate) async fn create(
    State(desk): State<AppState>,
    caller: Caller,
    JsonBody(wanted): JsonBody<KeyRequest>,
) -> Result<(StatusCode, Json<CreatedKey>), Rejection> {
    let name = wanted.name(Missing::OnCreate)?;
    for _ in 0..maker::MAX_ATTEMPTS {
        let maker = maker::read(&desk, &caller, CREATE).await?;
        let grant = match &wanted.scopes {
            None => Grant::of_maker(&maker.key),
            Some(names) => Grant::named(&maker.key, names)?,
        };
        let secret = Secret::generate(&desk.app.entropy);
        let key = ApiKey {
            id: secret.id().clone(),
            account: caller.id().clone(),
            name: name.clone(),
            kind: grant.kind,
            scopes: grant.scopes,
            hash: secret.hash(),
            created_at: desk.app.clock.now(),
        };
        match desk.app.store.grant_key(&key, MOST, &maker).await? {
            Granted::Done => return Ok((StatusCode::CREATED, Json(created(key, &secret)))),
            Granted::Full => return Err(full()),
            Granted::Outdated => {}
        }
    }
    Err(maker::restless())
}

fn full() -> Rejection {
    let message = format!("Cannot create more than {MOST} API Keys");
    Rejection::plain(StatusCode::FORBIDDEN, message)
}

fn created(key: ApiKey, secret: &Secret) -> CreatedKey {
    tracing::info!(account.id = %key.account, "key {} of account {} created", key.id, key.account);
    CreatedKey {
        api_key: secret.expose().to_owned(),
        api_key_id: key.id.to_string(),
        scopes: key.all_scopes(),
        name: key.name,
    }
}
