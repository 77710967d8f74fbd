//! Classifies a refusal as one of the seven kinds of bounce of API facts 3.3, and decides whether
//! it suppresses the address.
//!
//! Servers agree on little, so a table of what they say is asked (see `rows`). Who is at fault
//! decides: an address is suppressed only by a refusal that is about the address. In the order of
//! the table: what is said of the sender, the rate, the content or the size; what is said of the
//! recipient; the enhanced code; the reply code. A refusal that says nothing suppresses no address.

mod rows;
mod text;

use posthaste_model::{BounceType, Classification};

use crate::{EnhancedStatus, RefusalStage};
use rows::{CodeRow, Row};

/// What a refusal for good means, and by which row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefusalMeaning {
    /// `bounce`, which suppresses the address, or `blocked`.
    pub kind: BounceType,
    pub class: Classification,
    /// The name of the row.
    pub row: &'static str,
    /// The phrase of that row; none when a code decided.
    pub phrase: Option<&'static str>,
}

/// Reads a refusal: reply code, enhanced code if any, text, and what had been sent by then.
pub fn meaning(
    code: u16,
    status: Option<EnhancedStatus>,
    text: &str,
    stage: RefusalStage,
) -> RefusalMeaning {
    let words = text::words(text);
    let status = status.or_else(|| text::embedded(text));
    let status = status.map(|s| (s.subject, s.detail));
    let status = status.filter(|vague| *vague != (0, 0));
    // The codes of the sender's own address (RFC 3463, section 3.2), whatever does not exist in the words.
    if let Some(row) = status
        .filter(|status| matches!(status, (1, 7 | 8)))
        .and_then(|status| rows::by_status(status, true).or_else(|| rows::by_status(status, false)))
    {
        return coded(row, stage);
    }
    let by_status = |certain| status.and_then(|status| rows::by_status(status, certain));
    by_words(&words, rows::before_codes(), stage)
        .or_else(|| Some(coded(by_status(true)?, stage)))
        .or_else(|| by_words(&words, rows::after_codes(), stage))
        .or_else(|| Some(coded(by_status(false)?, stage)))
        .or_else(|| Some(coded(rows::by_code(code)?, stage)))
        .unwrap_or_else(|| coded(&rows::NOTHING, stage))
}

/// The first of the rows that says what the words say.
fn by_words(
    words: &str,
    mut rows: impl Iterator<Item = &'static Row>,
    stage: RefusalStage,
) -> Option<RefusalMeaning> {
    rows.find_map(|row| {
        let phrase = row.says.iter().find(|phrase| text::says(words, phrase))?;
        Some(RefusalMeaning {
            kind: row.about.kind(stage),
            class: row.class,
            row: row.name,
            phrase: Some(phrase),
        })
    })
}

fn coded(row: &CodeRow, stage: RefusalStage) -> RefusalMeaning {
    RefusalMeaning {
        kind: row.about.kind(stage),
        class: row.class,
        row: row.name,
        phrase: None,
    }
}

/// The classification of a refusal, which the stage does not change.
pub fn classify(code: u16, status: Option<EnhancedStatus>, text: &str) -> Classification {
    meaning(code, status, text, RefusalStage::Data).class
}

/// Whether the refusal is of the address for good (`bounce`, which suppresses it) or of this mail
/// only (`blocked`).
pub fn bounce_type(
    code: u16,
    status: Option<EnhancedStatus>,
    text: &str,
    stage: RefusalStage,
) -> BounceType {
    meaning(code, status, text, stage).kind
}

#[cfg(test)]
mod tests;
