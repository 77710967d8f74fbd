//! The table of refusals: the first row that says what the server says decides.
//!
//! The order is the rule of who is at fault. What is about the sender, the rate, the reputation, the
//! content or the size wins over what is about the recipient, and any words win over codes: servers
//! put `5.1.1` and `5.2.1` before all kinds of refusals.

mod codes;
mod content;
mod machines;
mod mailbox;
mod recipient;
mod sender;
mod trust;

use posthaste_model::{BounceType, Classification};

use crate::RefusalStage;

pub(super) use codes::{by_code, by_status};

/// What a refusal is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RefusalSubject {
    /// The address: it is suppressed.
    Address,
    /// The address, if it was refused at RCPT: at DATA it may be the sender's, or another's.
    AddressAtRcpt,
    /// The sender, the mail, the moment, the machines: another mail may be accepted.
    Mail,
}

impl RefusalSubject {
    /// What a refusal at this stage means for the address.
    pub(super) fn kind(self, stage: RefusalStage) -> BounceType {
        match self {
            Self::Address => BounceType::Bounce,
            Self::AddressAtRcpt if stage == RefusalStage::Rcpt => BounceType::Bounce,
            Self::AddressAtRcpt | Self::Mail => BounceType::Blocked,
        }
    }
}

/// One kind of refusal, and the phrases it is known by (see `text::says`).
#[derive(Debug)]
pub(super) struct Row {
    /// Names the row in an explanation.
    pub(super) name: &'static str,
    pub(super) about: RefusalSubject,
    pub(super) class: Classification,
    pub(super) says: &'static [&'static str],
}

/// One kind of refusal that is known by a code alone.
#[derive(Debug)]
pub(super) struct CodeRow {
    pub(super) name: &'static str,
    pub(super) about: RefusalSubject,
    pub(super) class: Classification,
}

/// A refusal without a word or a code that decides.
pub(super) const NOTHING: CodeRow = CodeRow {
    name: "unknown",
    about: RefusalSubject::Mail,
    class: Classification::Unclassified,
};

/// The rows that are known by words, in their order.
#[cfg(test)]
pub(super) fn all() -> impl Iterator<Item = &'static Row> {
    before_codes().chain(after_codes())
}

/// Those that win over every code.
pub(super) fn before_codes() -> impl Iterator<Item = &'static Row> {
    let rows = [
        machines::FIRST,
        mailbox::ROWS,
        recipient::FIRST,
        sender::ROWS,
        trust::ROWS,
        content::ROWS,
        sender::YOURS,
        recipient::ROWS,
        machines::SYSTEM,
        recipient::WEAK,
        sender::WEAK,
    ];
    rows.into_iter().flatten()
}

/// Those that say less than a certain code: `5.1.2 DNS: no such name` is about the address.
pub(super) fn after_codes() -> impl Iterator<Item = &'static Row> {
    machines::NETWORK.iter()
}
