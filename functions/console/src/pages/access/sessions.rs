//! Sessions of the console, as the API lists them.

use std::collections::BTreeMap;

use posthaste_model::Timestamp;
use serde::Deserialize;

use super::Listed;
use crate::api::ReadError;
use crate::texts;
use crate::visit::PageVisit;

/// A session in the list.
pub(super) struct SessionRow {
    pub(super) id: String,
    /// The name of the key that opened it; `None`: a link did.
    pub(super) key: Option<String>,
    pub(super) browser: String,
    /// What the browser calls itself in full.
    pub(super) agent: String,
    pub(super) ip: String,
    pub(super) began: String,
    pub(super) used: String,
    pub(super) ends: String,
    pub(super) is_own: bool,
}

#[derive(Deserialize)]
struct SessionAnswer {
    session_id: String,
    #[serde(default)]
    api_key_id: Option<String>,
    created_at: Timestamp,
    last_used_at: Timestamp,
    ends_at: Timestamp,
    ip: String,
    user_agent: String,
    current: bool,
}

#[derive(Deserialize)]
struct NamedKey {
    api_key_id: String,
    name: String,
}

pub(super) async fn rows(visit: &PageVisit) -> Result<Vec<SessionRow>, ReadError> {
    let path = "/v3/access_settings/sessions";
    let (sessions, keys) = futures_util::join!(
        visit.api.get::<Listed<SessionAnswer>>(path),
        visit.api.get::<Listed<NamedKey>>("/v3/api_keys"),
    );
    // Who may not read keys sees their ids.
    let keys = keys.map(|keys| keys.result).unwrap_or_default();
    let names = keys.into_iter().map(|key| (key.api_key_id, key.name));
    let names: BTreeMap<_, _> = names.collect();
    let row = |session: SessionAnswer| SessionRow {
        key: session
            .api_key_id
            .map(|id| names.get(&id).cloned().unwrap_or(id)),
        browser: browser(&session.user_agent),
        began: session.created_at.iso(),
        used: session.last_used_at.iso(),
        ends: session.ends_at.iso(),
        is_own: session.current,
        id: session.session_id,
        ip: session.ip,
        agent: session.user_agent,
    };
    Ok(sessions?.result.into_iter().map(row).collect())
}

/// The browser and the system in a `User-Agent`, which names many others besides: of the names that it holds the most
/// particular one comes first here.
fn browser(agent: &str) -> String {
    let named = |names: &[(&str, &'static str)]| {
        let found = names.iter().find(|(mark, _)| agent.contains(mark));
        found.map(|(_, name)| *name)
    };
    let browser = named(&[
        ("Edg/", "Edge"),
        ("OPR/", "Opera"),
        ("Firefox/", "Firefox"),
        ("Chrome/", "Chrome"),
        ("Safari/", "Safari"),
    ]);
    let system = named(&[
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Android", "Android"),
        ("Windows", "Windows"),
        ("Mac OS X", "macOS"),
        ("CrOS", "ChromeOS"),
        ("Linux", "Linux"),
    ]);
    match (browser, system) {
        (Some(browser), Some(system)) => format!("{browser} on {system}"),
        (Some(name), None) | (None, Some(name)) => name.to_owned(),
        (None, None) if agent.is_empty() => texts::UNKNOWN_BROWSER.to_owned(),
        (None, None) => agent.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_is_called_by_its_name_and_its_system() {
        let chrome = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/139.0 Safari/537.36";
        let edge = format!("{chrome} Edg/139.0");
        for (agent, want) in [
            (chrome, "Chrome on Linux"),
            (edge.as_str(), "Edge on Linux"),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1 Version/18.0 Safari/604.1",
                "Safari on iPhone",
            ),
            (
                "Mozilla/5.0 (Windows NT 10.0; rv:141.0) Gecko/20100101 Firefox/141.0",
                "Firefox on Windows",
            ),
            ("curl/8.14", "curl/8.14"),
            ("", "unknown browser"),
        ] {
            assert_eq!(browser(agent), want, "{agent}");
        }
    }
}
