//! The settings of mail, tracking and TLS: which are on.

use askama::Template;
use serde::Deserialize;

use crate::api::{ApiReader, ReadError};
use crate::content::{PageContent, PageResult};
use crate::texts;
use crate::texts::settings::{SETTINGS, SettingForm, SettingGroup};
use crate::visit::PageVisit;

#[derive(Template)]
#[template(path = "settings.html")]
struct SettingsPage {
    groups: Vec<GroupOfSettings>,
}

struct GroupOfSettings {
    label: &'static str,
    settings: Result<Vec<SettingRow>, String>,
}

struct SettingRow {
    name: &'static str,
    title: &'static str,
    about: &'static str,
    is_on: bool,
}

#[derive(Deserialize)]
struct SettingsAnswer {
    result: Vec<SettingState>,
}

#[derive(Deserialize)]
struct SettingState {
    name: String,
    enabled: bool,
}

#[derive(Deserialize)]
struct TlsAnswer {
    require_tls: bool,
}

pub(crate) async fn show(visit: PageVisit) -> PageResult {
    let api = &visit.api;
    let (mail, tracking, tls) = futures_util::join!(
        states(api, "/v3/mail_settings"),
        states(api, "/v3/tracking_settings"),
        api.get::<TlsAnswer>("/v3/user/settings/enforced_tls"),
    );
    let tls = tls.map(|tls| {
        vec![SettingState {
            name: "enforced_tls".to_owned(),
            enabled: tls.require_tls,
        }]
    });
    let groups = [
        (SettingGroup::Mail, mail),
        (SettingGroup::Tracking, tracking),
        (SettingGroup::Account, tls),
    ];
    let groups = groups.map(|(group, states)| GroupOfSettings {
        label: group.label(),
        settings: states
            .map(|states| rows(group, &states))
            .map_err(|error| error.without(group.scope())),
    });
    let groups = groups.into();
    PageContent::of(texts::SETTINGS, &SettingsPage { groups })
}

async fn states(api: &ApiReader, path: &str) -> Result<Vec<SettingState>, ReadError> {
    let answer = api.get::<SettingsAnswer>(path).await?;
    Ok(answer.result)
}

/// The settings of a group that the API has, in the order of the table.
fn rows(group: SettingGroup, states: &[SettingState]) -> Vec<SettingRow> {
    let row = |form: &SettingForm| {
        let state = states.iter().find(|state| state.name == form.name)?;
        Some(SettingRow {
            name: form.name,
            title: form.title,
            about: form.about,
            is_on: state.enabled,
        })
    };
    let of_group = SETTINGS.iter().filter(|form| form.group == group);
    of_group.filter_map(row).collect()
}
