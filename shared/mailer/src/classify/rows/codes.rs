//! What a refusal is about by its codes, where its words do not tell: RFC 3463 sections 3.2 to 3.8,
//! the registry of RFC 5248, and RFC 5321 section 4.2.3.

use super::RefusalSubject::{Address, AddressAtRcpt, Mail};
use super::{CodeRow, RefusalSubject};
use posthaste_model::Classification::{
    self, Content, InvalidAddress, MailboxUnavailable, Reputation, Technical, Volume,
};

/// Subject, details from and to, what it is about, class; the first that matches counts.
type StatusRow = (u16, (u16, u16), CodeRow);

const fn row(name: &'static str, about: RefusalSubject, class: Classification) -> CodeRow {
    CodeRow { name, about, class }
}

/// The codes that are more certain than the words of `machines::NETWORK`.
const CERTAIN: &[StatusRow] = &[
    (
        1,
        (1, 1),
        row("status-bad-mailbox", Address, InvalidAddress),
    ),
    (1, (2, 2), row("status-bad-system", Address, InvalidAddress)),
    (1, (3, 3), row("status-bad-syntax", Address, InvalidAddress)),
    (1, (6, 6), row("status-moved", Address, InvalidAddress)),
    (1, (10, 10), row("status-null-mx", Address, InvalidAddress)),
    (
        2,
        (1, 1),
        row("status-disabled", Address, MailboxUnavailable),
    ),
    (2, (2, 2), row("status-full", Mail, MailboxUnavailable)),
    (2, (3, 3), row("status-too-long", Mail, Content)),
    (3, (4, 4), row("status-too-big", Mail, Content)),
    // The mailbox or the domain has a new owner (RFC 7293 section 10.3).
    (
        7,
        (17, 18),
        row("status-new-owner", Address, InvalidAddress),
    ),
];

const LIKELY: &[StatusRow] = &[
    (1, (7, 9), row("status-sender-address", Mail, Technical)),
    (
        1,
        (0, 4),
        row("status-address", AddressAtRcpt, InvalidAddress),
    ),
    (
        1,
        (11, 999),
        row("status-address", AddressAtRcpt, InvalidAddress),
    ),
    (
        2,
        (0, 0),
        row("status-mailbox", AddressAtRcpt, MailboxUnavailable),
    ),
    (2, (4, 999), row("status-mailbox-setup", Mail, Technical)),
    (3, (0, 999), row("status-system", Mail, Technical)),
    (4, (0, 999), row("status-network", Mail, Technical)),
    (5, (3, 3), row("status-too-many-recipients", Mail, Volume)),
    (5, (1, 999), row("status-protocol", Mail, Technical)),
    // An address that needs SMTPUTF8 (RFC 6531 section 3.7.4.2).
    (6, (7, 7), row("status-smtputf8", Mail, Technical)),
    (6, (0, 999), row("status-content", Mail, Content)),
    // Encryption and its certificates.
    (7, (4, 5), row("status-encryption", Mail, Technical)),
    (7, (10, 11), row("status-encryption", Mail, Technical)),
    (7, (30, 30), row("status-encryption", Mail, Technical)),
    (7, (28, 28), row("status-flood", Mail, Volume)),
    (7, (0, 999), row("status-policy", Mail, Reputation)),
];

/// The row of an enhanced code, among the certain ones or the rest.
pub(in crate::classify) fn by_status(
    (subject, detail): (u16, u16),
    certain: bool,
) -> Option<&'static CodeRow> {
    let rows = if certain { CERTAIN } else { LIKELY };
    let hit = rows
        .iter()
        .find(|(own, (from, to), _)| *own == subject && (*from..=*to).contains(&detail));
    hit.map(|(_, _, row)| row)
}

/// The row of a reply code. None of them is about the address: a word of the server would say so.
pub(in crate::classify) fn by_code(code: u16) -> Option<&'static CodeRow> {
    const FULL: &CodeRow = &row("code-storage", Mail, MailboxUnavailable);
    const SYSTEM: &CodeRow = &row("code-system", Mail, Technical);
    match code {
        450 | 452 | 552 => Some(FULL),
        421 | 451 | 500..=504 | 521 | 555 | 556 => Some(SYSTEM),
        _ => None,
    }
}
