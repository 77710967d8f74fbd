//! The lists that keep mail from the recipient.

use futures_util::future::join_all;
use posthaste_model::Timestamp;
use serde::Deserialize;

use super::encoded;
use crate::api::ApiReader;

/// A list, by its name on the page and its path without the address.
const LISTS: [(&str, &str); 5] = [
    ("Bounces", "/v3/suppression/bounces/"),
    ("Blocks", "/v3/suppression/blocks/"),
    ("Invalid addresses", "/v3/suppression/invalid_emails/"),
    ("Spam reports", "/v3/suppression/spam_reports/"),
    (
        "Unsubscribed from everything",
        "/v3/suppression/unsubscribes/",
    ),
];

/// An entry of the recipient.
pub(crate) struct SuppressedOn {
    pub(crate) list: &'static str,
    pub(crate) path: &'static str,
    pub(crate) since: String,
    pub(crate) reason: String,
}

#[derive(Deserialize)]
struct EntryAnswer {
    created: i64,
    reason: Option<String>,
}

/// The lists that an address is on, of those that the reader may see.
pub(super) async fn lists(api: &ApiReader, email: &str) -> Vec<SuppressedOn> {
    let all = LISTS.map(|(list, path)| async move {
        let address = format!("{path}{}", encoded(email));
        // A list without the address answers with nothing, or with a 404.
        let entries = api.get::<Vec<EntryAnswer>>(&address).await.ok()?;
        let entry = entries.into_iter().next()?;
        Some(SuppressedOn {
            list,
            path,
            since: Timestamp(entry.created).iso(),
            reason: entry.reason.unwrap_or_default(),
        })
    });
    join_all(all).await.into_iter().flatten().collect()
}
