//! The mail as it was composed, where its account keeps that; and whether it does.

use axum::http::StatusCode;
use serde::Deserialize;

use crate::api::encoded;
use crate::texts::{self, count};
use crate::visit::PageVisit;

/// Fields of the header that the page shows: it is a page of 15 KB.
const MOST_HEADERS: usize = 40;

/// Characters of a field that it shows.
const LONGEST_HEADER: usize = 300;

/// The scope of a reader who may change whether mail is kept.
const CHANGES: &str = "mail_settings.kept_mail.update";

/// What the page has of it.
pub(crate) enum ComposedShown {
    Kept(Box<ComposedAnswer>),
    /// Why there is nothing, in a sentence.
    Absent(String),
}

/// What `/v3/messages/{id}/content` answers.
#[derive(Deserialize)]
pub(crate) struct ComposedAnswer {
    pub(crate) kept_until: String,
    size: i64,
    pub(crate) headers: Vec<HeaderAnswer>,
    pub(crate) text: Option<String>,
    pub(crate) html: Option<String>,
    pub(crate) truncated: bool,
    pub(crate) files: Vec<FileAnswer>,
}

#[derive(Deserialize)]
pub(crate) struct HeaderAnswer {
    pub(crate) name: String,
    pub(crate) value: String,
}

#[derive(Deserialize)]
pub(crate) struct FileAnswer {
    #[serde(rename = "type")]
    pub(crate) media: String,
    filename: Option<String>,
    size: i64,
}

/// What `/v3/mail_settings/kept_mail` answers, for a reader who may change it.
#[derive(Deserialize)]
pub(crate) struct KeptAnswer {
    pub(crate) enabled: bool,
    pub(crate) days: u16,
}

impl ComposedAnswer {
    /// Its size in bytes, as pages write it.
    pub(crate) fn bytes(&self) -> String {
        count(self.size)
    }
}

impl FileAnswer {
    pub(crate) fn name(&self) -> &str {
        self.filename.as_deref().unwrap_or(texts::mail::NO_NAME)
    }

    pub(crate) fn bytes(&self) -> String {
        count(self.size)
    }
}

impl KeptAnswer {
    /// The terms, and whether each is that of the account.
    pub(crate) fn terms(&self) -> [(u16, bool); 5] {
        posthaste_store::KEPT_DAYS.map(|days| (days, days == self.days))
    }
}

/// The composed mail of a copy.
pub(super) async fn of(visit: &PageVisit, id: &str) -> ComposedShown {
    let path = format!("/v3/messages/{}/content", encoded(id));
    match visit.api.get::<ComposedAnswer>(&path).await {
        Ok(mut mail) => {
            mail.truncated |= mail.headers.len() > MOST_HEADERS;
            mail.headers.truncate(MOST_HEADERS);
            for field in &mut mail.headers {
                if let Some((end, _)) = field.value.char_indices().nth(LONGEST_HEADER) {
                    field.value.truncate(end);
                    field.value.push('…');
                }
            }
            ComposedShown::Kept(Box::new(mail))
        }
        Err(refused) if refused.status == StatusCode::FORBIDDEN => {
            ComposedShown::Absent(texts::NO_CONTENT_SCOPE.to_owned())
        }
        Err(missing) if missing.message == "not found" => {
            ComposedShown::Absent(texts::NOT_COMPOSED.to_owned())
        }
        Err(error) => ComposedShown::Absent(error.message),
    }
}

/// Whether the account keeps its mail; `None` for a reader who may not change that.
pub(super) async fn setting(visit: &PageVisit) -> Option<KeptAnswer> {
    if !visit.caller.key.holds(CHANGES) {
        return None;
    }
    let setting = visit.api.get::<KeptAnswer>("/v3/mail_settings/kept_mail");
    setting.await.ok()
}
