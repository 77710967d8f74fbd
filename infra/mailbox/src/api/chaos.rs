//! The REST calls about refusals by chance.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};

use super::{ApiResponse, read_fields};
use crate::app::{App, Refusal};
use crate::chaos::{Chaos, Trigger, Triggers};

/// `GET /api/v1/chaos`.
pub(crate) async fn read(State(app): State<App>) -> ApiResponse<Json<impl Serialize>> {
    Ok(Json(chaos(&app)?.triggers()))
}

/// `PUT /api/v1/chaos`: a trigger that is left out is reset.
pub(crate) async fn set(State(app): State<App>, body: String) -> ApiResponse<Json<impl Serialize>> {
    let chaos = chaos(&app)?;
    let form = r#"{"Sender": {"ErrorCode": 451, "Probability": 5}}"#;
    let body: TriggersBody = read_fields(&app, body, form).await?;
    let default = Triggers::default();
    let triggers = Triggers {
        sender: trigger("Sender", body.sender, default.sender)?,
        recipient: trigger("Recipient", body.recipient, default.recipient)?,
        authentication: trigger(
            "Authentication",
            body.authentication,
            default.authentication,
        )?,
    };
    chaos.set(triggers);
    Ok(Json(triggers))
}

fn chaos(app: &App) -> ApiResponse<&Chaos> {
    let none = || Refusal::Bad("Chaos is not enabled".to_owned());
    app.sources.chaos.as_ref().ok_or_else(none)
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct TriggersBody {
    sender: Option<TriggerBody>,
    recipient: Option<TriggerBody>,
    authentication: Option<TriggerBody>,
}

#[derive(Deserialize)]
#[serde(default, rename_all = "PascalCase", deny_unknown_fields)]
#[derive(Default)]
struct TriggerBody {
    error_code: i64,
    probability: i64,
}

/// A code of 0, or none, is that of `default`.
fn trigger(name: &str, body: Option<TriggerBody>, default: Trigger) -> ApiResponse<Trigger> {
    let Some(body) = body else {
        return Ok(default);
    };
    let code = match body.error_code {
        0 => Some(default.error_code),
        code => u16::try_from(code).ok(),
    };
    let code = code.filter(|code| (400..=599).contains(code));
    let probability = u8::try_from(body.probability).ok();
    let probability = probability.filter(|percent| *percent <= 100);
    let bad = |field: &str, range: &str| Refusal::Bad(format!("{name}: {field} must be {range}"));
    Ok(Trigger {
        error_code: code.ok_or_else(|| bad("ErrorCode", "between 400 and 599"))?,
        probability: probability.ok_or_else(|| bad("Probability", "between 0 and 100"))?,
    })
}
