//! Opens and clicks of a copy, stored in the copy's own row, so that they expire with it.
//!
//! Each is a set of texts, so a repeated visit is a no-op.

use std::collections::BTreeSet;

use aws_sdk_dynamodb::types::AttributeValue;
use posthaste_model::{AccountId, MessageId, Timestamp, cut};
use serde::{Deserialize, Serialize};

use super::messages::Recipient;
use crate::key::Key;
use crate::table::{Store, StoreError, UpdateBuilder, number};

/// How many opens, and how many clicks, are stored of a copy; the statistics count all of them. The
/// last batch may add up to `AT_ONCE` - 1 more.
pub const MOST_VISITS: usize = 100;

/// Visits that one batch adds, at most.
const AT_ONCE: usize = 20;

/// Bytes of a URL that are stored.
const LONGEST_URL: usize = 500;

/// Bytes of the name of a program that are stored.
const LONGEST_AGENT: usize = 200;

/// The kind of visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum VisitKind {
    Open,
    Click,
}

/// One open or click.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Visit {
    pub at: Timestamp,
    /// The id of the event, which identifies the visit.
    pub id: String,
    /// Where a click led; cut where it is very long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The program that visited (`User-Agent`); cut where it is very long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

impl Visit {
    /// The text to store. An open has no URL: it leads nowhere.
    fn to_text(&self, kind: VisitKind) -> Result<String, StoreError> {
        let short = |text: &Option<String>, most| {
            let text = text.as_deref();
            text.map(|text| cut(text, most).to_owned())
        };
        let stored = Self {
            url: match kind {
                VisitKind::Open => None,
                VisitKind::Click => short(&self.url, LONGEST_URL),
            },
            agent: short(&self.agent, LONGEST_AGENT),
            ..self.clone()
        };
        serde_json::to_string(&stored).map_err(|e| StoreError::Unreadable(e.to_string()))
    }
}

impl Recipient {
    /// The opens or the clicks that are stored, oldest first.
    pub fn visits(&self, kind: VisitKind) -> Vec<Visit> {
        let texts = match kind {
            VisitKind::Open => &self.opens,
            VisitKind::Click => &self.clicks,
        };
        let read = |text: &String| serde_json::from_str(text).ok();
        let mut visits: Vec<Visit> = texts.iter().filter_map(read).collect();
        visits.sort();
        visits
    }
}

impl Store {
    /// Adds visits to the row of a copy. Returns `false` when the row is gone or full; it then
    /// stays as it is, which is not an error.
    pub async fn note_visits(
        &self,
        copy: (&AccountId, &MessageId, u32),
        kind: VisitKind,
        visits: &[Visit],
    ) -> Result<bool, StoreError> {
        let texts = visits.iter().take(AT_ONCE);
        let texts = texts.map(|visit| visit.to_text(kind));
        let texts: BTreeSet<String> = texts.collect::<Result<_, _>>()?;
        if texts.is_empty() {
            return Ok(false);
        }
        let name = match kind {
            VisitKind::Open => "opens",
            VisitKind::Click => "clicks",
        };
        let texts = AttributeValue::Ss(texts.into_iter().collect());
        let update = UpdateBuilder::default().add_to(name, texts).condition(
            format!(
                "attribute_exists(pk) AND (attribute_not_exists(#{name}) OR size(#{name}) < :most)"
            ),
            [("most", number(MOST_VISITS))],
        );
        let key = Key::recipient(copy.0, copy.1, copy.2);
        match self.update(&key, &update).await {
            // A row that an earlier release let grow is full.
            Err(StoreError::Validation(_)) => Ok(false),
            done => done,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_between_letters() {
        let visit = Visit {
            at: Timestamp(1),
            id: "x".to_owned(),
            url: Some(format!("https://a.example/{}", "ä".repeat(1_000))),
            agent: Some("é".repeat(1_000)),
        };
        let back: Visit = serde_json::from_str(&visit.to_text(VisitKind::Click).unwrap()).unwrap();
        let url = back.url.unwrap();
        assert!(url.len() <= LONGEST_URL && url.len() > LONGEST_URL - 2);
        assert!(url.ends_with('ä'));
        assert_eq!(back.agent.unwrap().len(), LONGEST_AGENT);
    }
}
