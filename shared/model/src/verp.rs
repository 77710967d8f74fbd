//! The envelope sender of each copy: one address per recipient (VERP), so that a bounce that
//! comes back by mail names the message and recipient it is about.
//!
//! `b-<message>-<recipient>-<account>-<mark>@<bounce domain>`, all in lower-case letters and
//! digits, because mail servers may change the case of a local part. It stays under the 64
//! octets of RFC 5321 section 4.5.3.1.1. The mark is a keyed hash (made by the caller), so bounces
//! cannot be forged.

use crate::{AccountId, MessageId};

/// The mailbox of the bounce domain that takes unsubscribe mails, the second address of
/// `List-Unsubscribe`.
pub const LEAVE_MAILBOX: &str = "unsubscribe";

/// The content of an envelope sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verp {
    pub account: AccountId,
    pub message: MessageId,
    /// Position of the recipient within the message.
    pub recipient: u32,
}

/// The local part is not an envelope sender of this service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an envelope sender of this service")]
pub struct InvalidVerp;

const DIGITS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

impl Verp {
    /// The text that the mark is computed over, which precedes it in the address.
    pub fn claim(&self) -> String {
        let bytes = self.message.to_bytes().unwrap_or_default();
        format!(
            "b-{}-{}-{}",
            base32(u128::from_be_bytes(bytes)),
            self.recipient,
            self.account
        )
    }

    /// The local part, closed with a mark of eight hexadecimal digits.
    pub fn local(&self, mark: u32) -> String {
        format!("{}-{mark:08x}", self.claim())
    }

    /// Reads a local part; the caller compares the mark with its own.
    pub fn parse(local: &str) -> Result<(Self, u32), InvalidVerp> {
        let lower = local.to_ascii_lowercase();
        let parts: Vec<&str> = lower.split('-').collect();
        let ["b", message, recipient, account, mark] = parts.as_slice() else {
            return Err(InvalidVerp);
        };
        let verp = Self {
            account: AccountId::parse(account).map_err(|_| InvalidVerp)?,
            message: MessageId::from_bytes(unbase32(message).ok_or(InvalidVerp)?.to_be_bytes()),
            recipient: recipient.parse().map_err(|_| InvalidVerp)?,
        };
        let mark = u32::from_str_radix(mark, 16).map_err(|_| InvalidVerp)?;
        Ok((verp, mark))
    }
}

/// The digits of one number, not the five-bit groups of RFC 4648, which no crate writes. Addresses of
/// this form are in mails that have left, so it stays.
fn base32(mut bits: u128) -> String {
    let mut text = [b'a'; 26];
    for slot in text.iter_mut().rev() {
        let digit = usize::try_from(bits & 31).unwrap_or_default();
        *slot = DIGITS.get(digit).copied().unwrap_or_default();
        bits >>= 5;
    }
    text.iter().map(|b| char::from(*b)).collect()
}

fn unbase32(text: &str) -> Option<u128> {
    if text.len() != 26 {
        return None;
    }
    text.bytes().try_fold(0_u128, |bits, b| {
        let digit = DIGITS.iter().position(|d| *d == b)?;
        bits.checked_mul(32)?
            .checked_add(u128::try_from(digit).ok()?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_written_is_read_back_in_any_case(bytes: [u8; 16], recipient: u32, account: [u8; 10], mark: u32) {
            let verp = Verp {
                account: AccountId::from_bytes(account),
                message: MessageId::from_bytes(bytes),
                recipient,
            };
            let local = verp.local(mark);
            prop_assert!(local.len() <= 64, "{local}");
            prop_assert_eq!(Verp::parse(&local), Ok((verp.clone(), mark)));
            prop_assert_eq!(Verp::parse(&local.to_uppercase()), Ok((verp, mark)));
        }

        #[test]
        fn strange_local_parts_are_refused(text in ".{0,80}") {
            prop_assert!(Verp::parse(&text).is_err());
        }
    }
}
