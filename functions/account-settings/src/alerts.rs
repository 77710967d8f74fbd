//! `/v3/alerts…`: mails with figures that the account has sent to an address, once that is confirmed.
//! `schedule-sweep` sends them.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use posthaste_http::{Access, Caller, GatewayName, JsonBody, PathParams, Rejection, Routes};
use posthaste_model::{EmailAddress, Problems, Timestamp};
use posthaste_store::{Alert, AlertKind, Frequency};
use serde::{Deserialize, Serialize};

use crate::AppState;
use crate::confirm::ConfirmationMail;

/// Alerts that an account has at most. The v3 API states no limit.
pub(crate) const MOST: usize = 50;

/// The routes, each with its scope.
pub(crate) fn routes(routes: Routes<AppState>) -> Routes<AppState> {
    const ALL: &str = "/v3/alerts";
    const ONE: &str = "/v3/alerts/{alert_id}";
    let scope = Access::Scope;
    routes
        .at(Method::POST, ALL, scope("alerts.create"), create)
        .at(Method::GET, ALL, scope("alerts.read"), list)
        .at(Method::GET, ONE, scope("alerts.read"), one)
        .at(Method::PATCH, ONE, scope("alerts.update"), change)
        .at(Method::DELETE, ONE, scope("alerts.delete"), delete)
}

/// An alert as the API shows it.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct AlertView {
    id: i64,
    #[serde(rename = "type")]
    kind: AlertType,
    email_to: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<AlertFrequency>"))]
    frequency: Option<Frequency>,
    #[serde(skip_serializing_if = "Option::is_none")]
    percentage: Option<u8>,
    #[cfg_attr(test, schemars(with = "i64"))]
    created_at: Timestamp,
    #[cfg_attr(test, schemars(with = "i64"))]
    updated_at: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
enum AlertType {
    StatsNotification,
    UsageLimit,
}

/// `posthaste_store::Frequency`, which has no schema.
#[cfg(test)]
#[derive(schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(dead_code, reason = "it is only described")]
enum AlertFrequency {
    Daily,
    Weekly,
    Monthly,
}

impl From<Alert> for AlertView {
    fn from(alert: Alert) -> Self {
        let (kind, frequency, percentage) = match alert.kind {
            AlertKind::StatsNotification { frequency } => {
                (AlertType::StatsNotification, Some(frequency), None)
            }
            AlertKind::UsageLimit { percentage } => (AlertType::UsageLimit, None, Some(percentage)),
        };
        Self {
            id: alert.id,
            kind,
            email_to: alert.email_to,
            frequency,
            percentage,
            created_at: alert.created_at,
            updated_at: alert.updated_at,
        }
    }
}

/// All of an alert to create one, parts to change one.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct AlertBody {
    /// `stats_notification` or `usage_limit`; it cannot be changed.
    #[serde(rename = "type")]
    kind: Option<String>,
    /// Null for the email address of the account.
    email_to: Option<String>,
    /// Of a `stats_notification`: `daily`, `weekly` or `monthly`.
    frequency: Option<String>,
    /// Of a `usage_limit`: 1 to 100.
    percentage: Option<i64>,
}

impl AlertBody {
    /// The address, if one is named.
    fn email(&self, found: &mut Problems) -> Option<EmailAddress> {
        let email = EmailAddress::parse(self.email_to.as_deref()?.trim());
        found.unless(
            email.is_ok(),
            "email_to",
            "email_to is an invalid email address",
        );
        email.ok()
    }

    /// The frequency, if one is named.
    fn frequency(&self, found: &mut Problems) -> Option<Frequency> {
        let frequency = match self.frequency.as_deref()? {
            "daily" => Some(Frequency::Daily),
            "weekly" => Some(Frequency::Weekly),
            "monthly" => Some(Frequency::Monthly),
            _ => None,
        };
        let is_known = frequency.is_some();
        found.unless(
            is_known,
            "frequency",
            "frequency must be daily, weekly or monthly",
        );
        frequency
    }

    /// The percentage, if one is named.
    fn percentage(&self, found: &mut Problems) -> Option<u8> {
        let percentage = u8::try_from(self.percentage?).ok();
        let percentage = percentage.filter(|percentage| (1..=100).contains(percentage));
        let fits = percentage.is_some();
        found.unless(fits, "percentage", "percentage must be 1 to 100");
        percentage
    }

    /// The kind of a new alert.
    fn new_kind(&self, found: &mut Problems) -> Option<AlertKind> {
        match self.kind.as_deref() {
            Some("stats_notification") => {
                let frequency = self.frequency(found);
                let is_missing = self.frequency.is_none();
                found.unless(!is_missing, "frequency", "frequency is required");
                Some(AlertKind::StatsNotification {
                    frequency: frequency?,
                })
            }
            Some("usage_limit") => {
                let percentage = self.percentage(found);
                let is_missing = self.percentage.is_none();
                found.unless(!is_missing, "percentage", "percentage is required");
                Some(AlertKind::UsageLimit {
                    percentage: percentage?,
                })
            }
            Some(_) => {
                found.add("type", "type must be stats_notification or usage_limit");
                None
            }
            None => {
                found.add("type", "type is required");
                None
            }
        }
    }

    /// What an alert of this kind is changed to.
    fn changed_kind(&self, old: AlertKind, found: &mut Problems) -> AlertKind {
        match old {
            AlertKind::StatsNotification { frequency } => {
                let foreign = self.percentage.is_some();
                found.unless(
                    !foreign,
                    "percentage",
                    "percentage is of usage_limit alerts",
                );
                AlertKind::StatsNotification {
                    frequency: self.frequency(found).unwrap_or(frequency),
                }
            }
            AlertKind::UsageLimit { percentage } => {
                let foreign = self.frequency.is_some();
                found.unless(
                    !foreign,
                    "frequency",
                    "frequency is of stats_notification alerts",
                );
                AlertKind::UsageLimit {
                    percentage: self.percentage(found).unwrap_or(percentage),
                }
            }
        }
    }
}

/// An id in a path; a text that is not a number matches nothing.
fn number(text: &str) -> Result<i64, Rejection> {
    text.parse().map_err(|_| Rejection::not_found())
}

async fn create(
    State(state): State<AppState>,
    caller: Caller,
    gateway: GatewayName,
    JsonBody(body): JsonBody<AlertBody>,
) -> Result<(StatusCode, Json<AlertView>), Rejection> {
    let mut found = Problems::default();
    let kind = body.new_kind(&mut found);
    let email = match body.email_to {
        Some(_) => body.email(&mut found),
        None => {
            let own = EmailAddress::parse(&caller.account.email).ok();
            found.unless(own.is_some(), "email_to", "email_to is required");
            own
        }
    };
    found.into_result()?;
    let (Some(kind), Some(email)) = (kind, email) else {
        return Err(Rejection::internal(
            &"an alert without a problem is complete",
        ));
    };
    if state.store.alerts(caller.id()).await?.len() >= MOST {
        return Err(Rejection::bad(format!(
            "an account has at most {MOST} alerts"
        )));
    }
    let asks = (&caller, &gateway);
    let to = ("email_to", email.clone());
    let mail = ConfirmationMail::write(&state, asks, to, false).await?;
    let clock = &state.notices.clock;
    let now = clock.now();
    let alert = Alert {
        id: state.store.next_alert_id(caller.id()).await?,
        account: caller.id().clone(),
        email_to: email.as_str().to_owned(),
        kind,
        created_at: now,
        updated_at: now,
        next: kind.next(now),
        is_past: false,
    };
    if let Err(error) = state.store.put_alert(&alert, clock).await {
        if let Some(mail) = mail {
            mail.discard(&state).await;
        }
        return Err(error.into());
    }
    if let Some(mail) = mail {
        mail.post(&state).await?;
    }
    Ok((StatusCode::CREATED, Json(alert.into())))
}

async fn list(
    State(state): State<AppState>,
    caller: Caller,
) -> Result<Json<Vec<AlertView>>, Rejection> {
    let alerts = state.store.alerts(caller.id()).await?;
    Ok(Json(alerts.into_iter().map(AlertView::from).collect()))
}

async fn one(
    State(state): State<AppState>,
    caller: Caller,
    PathParams(id): PathParams<String>,
) -> Result<Json<AlertView>, Rejection> {
    let alert = state.store.alert(caller.id(), number(&id)?).await?;
    let alert = alert.ok_or_else(Rejection::not_found)?;
    Ok(Json(alert.into()))
}

/// Changes what is given. Another address has to be confirmed.
async fn change(
    State(state): State<AppState>,
    caller: Caller,
    gateway: GatewayName,
    PathParams(id): PathParams<String>,
    JsonBody(body): JsonBody<AlertBody>,
) -> Result<Json<AlertView>, Rejection> {
    let id = number(&id)?;
    let old = state.store.alert(caller.id(), id).await?;
    let old = old.ok_or_else(Rejection::not_found)?;
    let mut found = Problems::default();
    let email = body.email(&mut found);
    let kind = body.changed_kind(old.kind, &mut found);
    found.into_result()?;
    let mail = match &email {
        None => None,
        Some(email) => {
            let again = email.as_str() == old.email_to;
            let to = ("email_to", email.clone());
            ConfirmationMail::write(&state, (&caller, &gateway), to, again).await?
        }
    };
    let changed = state
        .store
        .change_alert(caller.id(), id, &state.notices.clock, |alert| {
            alert.kind = kind;
            if let Some(email) = &email {
                email.as_str().clone_into(&mut alert.email_to);
            }
        });
    let alert = match changed.await {
        Ok(Some(alert)) => alert,
        refused => {
            if let Some(mail) = mail {
                mail.discard(&state).await;
            }
            return Err(refused
                .err()
                .map_or_else(Rejection::not_found, Rejection::from));
        }
    };
    if let Some(mail) = mail {
        mail.post(&state).await?;
    }
    Ok(Json(alert.into()))
}

async fn delete(
    State(state): State<AppState>,
    caller: Caller,
    PathParams(id): PathParams<String>,
) -> Result<StatusCode, Rejection> {
    if state.store.delete_alert(caller.id(), number(&id)?).await? {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(Rejection::not_found())
    }
}
