//! `POST /v3/api_keys`.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use posthaste_http::{Body, Caller, Rejection};
use posthaste_store::{ApiKey, Secret};

use crate::Desk;
use crate::grant::Grant;
use crate::wire::{Created, Missing, Wanted};

/// Keys of one account (SPEC, "Limits").
const MOST: i64 = 100;

/// Makes a key. Its secret is in this answer and nowhere else, ever.
pub(crate) async fn create(
    State(desk): State<Desk>,
    caller: Caller,
    Body(wanted): Body<Wanted>,
) -> Result<(StatusCode, Json<Created>), Rejection> {
    let name = wanted.name(Missing::OnCreate)?;
    let grant = match &wanted.scopes {
        None => Grant::of_maker(&caller.key),
        Some(names) => Grant::named(&caller.key, names)?,
    };
    let secret = Secret::generate(&desk.app.entropy);
    let key = ApiKey {
        id: secret.id().clone(),
        account: caller.id().clone(),
        name,
        kind: grant.kind,
        scopes: grant.scopes,
        hash: secret.hash(),
        created_at: desk.app.clock.now(),
    };
    if !desk.app.store.create_key(&key, MOST).await? {
        let message = format!("Cannot create more than {MOST} API Keys");
        return Err(Rejection::plain(StatusCode::FORBIDDEN, message));
    }
    tracing::info!(account.id = %key.account, "key {} of account {} created", key.id, key.account);
    let created = Created {
        api_key: secret.expose().to_owned(),
        api_key_id: key.id.to_string(),
        scopes: key.all_scopes(),
        name: key.name,
    };
    Ok((StatusCode::CREATED, Json(created)))
}
