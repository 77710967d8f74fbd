//! `/v3/partner_settings…`: integrations with other services. There are none to enable: what they were for is posted
//! to event webhooks.

use axum::Json;
use posthaste_http::{JsonBody, Query, Rejection};
use serde::{Deserialize, Serialize};

/// Settings that can be enabled.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct PartnerSettings {
    result: [PartnerSetting; 0],
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct PartnerSetting {
    title: String,
    enabled: bool,
    name: String,
    description: String,
}

/// `GET /v3/partner_settings`.
pub(crate) async fn list(query: Query) -> Result<Json<PartnerSettings>, Rejection> {
    query.checked(|query| (query.limit(500, 500), query.offset()))?;
    Ok(Json(PartnerSettings { result: [] }))
}

/// What was sent to New Relic, as it always is here: nothing.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct NewRelic {
    enable_subuser_statistics: bool,
    enabled: bool,
    license_key: &'static str,
}

#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct NewRelicChange {
    enable_subuser_statistics: Option<bool>,
    enabled: Option<bool>,
    license_key: Option<String>,
}

/// `GET /v3/partner_settings/new_relic`.
pub(crate) async fn new_relic() -> Json<NewRelic> {
    Json(NewRelic::default())
}

/// `PATCH /v3/partner_settings/new_relic`: it can stay off.
pub(crate) async fn change_new_relic(
    JsonBody(body): JsonBody<NewRelicChange>,
) -> Result<Json<NewRelic>, Rejection> {
    let is_key_set = body.license_key.is_some_and(|key| !key.is_empty());
    for (field, is_set) in [
        ("enabled", body.enabled == Some(true)),
        (
            "enable_subuser_statistics",
            body.enable_subuser_statistics == Some(true),
        ),
        ("license_key", is_key_set),
    ] {
        if is_set {
            let message = "statistics are not sent to New Relic: an event webhook posts what they are made of";
            return Err(Rejection::on(field, message));
        }
    }
    Ok(Json(NewRelic::default()))
}
