//! Create, list, get, update, delete.

use axum::Json;
use axum::extract::State;
use axum::http::header::WARNING;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use posthaste_http::{Caller, JsonBody, PathParams, Query, Rejection};
use posthaste_model::{Patch, Problems};
use posthaste_store::{ParseSetting, SettingChange, SettingCreation};
use serde::Serialize;

use crate::App;
use crate::check::{
    NO_POLICY, SettingRequest, check_flag, check_hostname, check_policy, check_target, hostname,
};
use crate::exchange::MailExchange;

/// A setting as the API shows it.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SettingView {
    url: String,
    hostname: String,
    spam_check: bool,
    send_raw: bool,
    /// Only where one is attached.
    #[serde(skip_serializing_if = "Option::is_none")]
    security_policy: Option<String>,
    /// Only with `details`.
    #[serde(skip_serializing_if = "Option::is_none")]
    mx: Option<MailExchange>,
}

impl From<ParseSetting> for SettingView {
    fn from(setting: ParseSetting) -> Self {
        Self {
            url: setting.url,
            hostname: setting.hostname,
            spam_check: setting.spam_check,
            send_raw: setting.send_raw,
            security_policy: setting.security_policy.map(Into::into),
            mx: None,
        }
    }
}

/// A setting that was created or changed. Its body has the fields of the v3 API alone, so that what
/// else there is to say is a header.
pub(crate) struct SavedSetting {
    setting: ParseSetting,
    scores_spam: bool,
}

impl IntoResponse for SavedSetting {
    fn into_response(self) -> Response {
        const UNSCORED: HeaderValue = HeaderValue::from_static(
            "299 - \"spam_check: no spam filter is configured, so posts have no spam_score\"",
        );
        let is_unscored = self.setting.spam_check && !self.scores_spam;
        let mut response = Json(SettingView::from(self.setting)).into_response();
        if is_unscored {
            response.headers_mut().insert(WARNING, UNSCORED);
        }
        response
    }
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SettingList {
    result: Vec<SettingView>,
}

/// `POST /v3/user/webhooks/parse/settings`.
pub(crate) async fn create(
    State(app): State<App>,
    caller: Caller,
    JsonBody(body): JsonBody<SettingRequest>,
) -> Result<(StatusCode, SavedSetting), Rejection> {
    let mut found = Problems::default();
    let target = match &body.url {
        Patch::Set(url) => check_target(&app.guard, url, &mut found),
        Patch::Keep | Patch::Clear => {
            found.add("url", "missing required argument");
            None
        }
    };
    let hostname = check_hostname(&app, &caller, &body.hostname, &mut found).await?;
    check_flag("spam_check", &body.spam_check, &mut found);
    check_flag("send_raw", &body.send_raw, &mut found);
    let policy = check_policy(&body.security_policy, &mut found);
    found.into_result()?;
    let target = target.ok_or_else(|| Rejection::on("url", "missing required argument"))?;
    let mut setting = ParseSetting {
        account: caller.id().clone(),
        hostname,
        url: target.url,
        target: target.target,
        spam_check: body.spam_check == Patch::Set(true),
        send_raw: body.send_raw == Patch::Set(true),
        created_at: app.clock.now(),
        security_policy: None,
    };
    policy.apply(&mut setting.security_policy);
    match app.store.create_parse(&setting).await? {
        SettingCreation::Stored => {}
        SettingCreation::NoPolicy => return Err(Rejection::on("security_policy", NO_POLICY)),
        SettingCreation::Taken => {
            return Err(Rejection::on("hostname", "hostname is already in use"));
        }
    }
    tracing::info!(account.id = %caller.id(), "mail for {} is parsed from now on", setting.hostname);
    let scores_spam = app.scores_spam;
    let saved = SavedSetting {
        setting,
        scores_spam,
    };
    Ok((StatusCode::CREATED, saved))
}

/// `GET /v3/user/webhooks/parse/settings?limit&offset`; all of them by default (API facts, "Inbound
/// parse settings").
pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
    query: Query,
) -> Result<Json<SettingList>, Rejection> {
    let all = usize::MAX;
    let (offset, limit) = query.checked(|query| (query.offset(), query.limit(all, all)))?;
    let settings = app.store.parse_settings(caller.id()).await?;
    let page = settings.into_iter().skip(offset).take(limit);
    let result = page.map(Into::into).collect();
    Ok(Json(SettingList { result }))
}

/// `GET …/settings/{hostname}`.
pub(crate) async fn one(
    State(app): State<App>,
    caller: Caller,
    PathParams(name): PathParams<String>,
    query: Query,
) -> Result<Json<SettingView>, Rejection> {
    let details = query.checked(|query| query.flag("details"))?;
    let name = hostname(&name).ok_or_else(Rejection::not_found)?;
    let setting = app.store.parse_setting(caller.id(), &name).await?;
    let mut view = SettingView::from(setting.ok_or_else(Rejection::not_found)?);
    if details {
        let mx = MailExchange::of(
            &view.hostname,
            app.mail_host.as_ref(),
            app.resolver.as_ref(),
        );
        view.mx = Some(mx.await);
    }
    Ok(Json(view))
}

/// `PATCH …/settings/{hostname}`: what is left out stays. The hostname names the setting and
/// cannot be changed.
pub(crate) async fn update(
    State(app): State<App>,
    caller: Caller,
    PathParams(name): PathParams<String>,
    JsonBody(body): JsonBody<SettingRequest>,
) -> Result<SavedSetting, Rejection> {
    let name = hostname(&name).ok_or_else(Rejection::not_found)?;
    if app.store.parse_setting(caller.id(), &name).await?.is_none() {
        return Err(Rejection::not_found());
    }
    let mut found = Problems::default();
    let target = match &body.url {
        Patch::Keep => None,
        Patch::Clear => {
            found.add("url", "missing required argument");
            None
        }
        Patch::Set(url) => check_target(&app.guard, url, &mut found),
    };
    if let Patch::Set(other) = &body.hostname {
        let same = hostname(other).as_deref() == Some(&name);
        found.unless(same, "hostname", "hostname cannot be changed");
    }
    check_flag("spam_check", &body.spam_check, &mut found);
    check_flag("send_raw", &body.send_raw, &mut found);
    let policy = check_policy(&body.security_policy, &mut found);
    found.into_result()?;
    let changed = app
        .store
        .update_parse(caller.id(), &name, |setting| {
            if let Some(target) = &target {
                setting.url.clone_from(&target.url);
                setting.target.clone_from(&target.target);
            }
            if let Patch::Set(spam_check) = body.spam_check {
                setting.spam_check = spam_check;
            }
            if let Patch::Set(send_raw) = body.send_raw {
                setting.send_raw = send_raw;
            }
            policy.clone().apply(&mut setting.security_policy);
        })
        .await?;
    match changed {
        SettingChange::Done(setting) => Ok(SavedSetting {
            setting: *setting,
            scores_spam: app.scores_spam,
        }),
        SettingChange::Missing => Err(Rejection::not_found()),
        SettingChange::NoPolicy => Err(Rejection::on("security_policy", NO_POLICY)),
    }
}

/// `DELETE …/settings/{hostname}`.
pub(crate) async fn delete(
    State(app): State<App>,
    caller: Caller,
    PathParams(name): PathParams<String>,
) -> Result<StatusCode, Rejection> {
    let name = hostname(&name).ok_or_else(Rejection::not_found)?;
    if app.store.delete_parse(caller.id(), &name).await? {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(Rejection::not_found())
    }
}
