//! What becomes of a copy, and how a copy and its request are named in the mailbox.

use posthaste_model::{AccountId, MessageId, Verp};

/// Where a copy is, or how it ended. A later one in this order replaces an earlier one, whatever the
/// order that the news of them arrive in: a bounce may come after a delivery, a delivery after none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DeliveryStatus {
    /// Accepted, and not handed over yet.
    Queued,
    /// Waits for its time.
    Scheduled,
    /// Only checked: the request enabled the sandbox mode.
    Sandboxed,
    /// A worker took it up.
    Processed,
    /// The relay refused it for the moment.
    Deferred,
    Delivered,
    Bounced,
    /// Never handed over.
    Dropped,
}

impl DeliveryStatus {
    /// All of them, by rank: the files of mailboxes have the ranks.
    pub(crate) const ALL: [Self; 8] = [
        Self::Queued,
        Self::Scheduled,
        Self::Sandboxed,
        Self::Processed,
        Self::Deferred,
        Self::Delivered,
        Self::Bounced,
        Self::Dropped,
    ];

    /// The place in the order.
    pub(crate) fn rank(self) -> i64 {
        let place = Self::ALL.iter().position(|one| *one == self);
        place
            .and_then(|place| i64::try_from(place).ok())
            .unwrap_or_default()
    }

    /// The status of this rank.
    pub(crate) fn of_rank(rank: i64) -> Option<Self> {
        Self::ALL.get(usize::try_from(rank).ok()?).copied()
    }

    /// The word that the page shows, and that a search finds it by.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Scheduled => "scheduled",
            Self::Sandboxed => "sandboxed",
            Self::Processed => "processed",
            Self::Deferred => "deferred",
            Self::Delivered => "delivered",
            Self::Bounced => "bounced",
            Self::Dropped => "dropped",
        }
    }

    /// The status of this word.
    pub(crate) fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.word() == word)
    }

    /// The colour of the word.
    pub(crate) fn tone(self) -> &'static str {
        match self {
            Self::Delivered => "good",
            Self::Deferred | Self::Scheduled => "warn",
            Self::Bounced | Self::Dropped => "bad",
            Self::Queued | Self::Sandboxed | Self::Processed => "plain",
        }
    }
}

/// A change in the state of a copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyEvent {
    pub copy: Verp,
    pub status: DeliveryStatus,
    /// Why it was deferred, bounced or dropped, or what the relay answered.
    pub reason: String,
}

/// The copy that an envelope's sender names; `None` for a mail that another program sent.
pub(crate) fn copy_of(sender: &str) -> Option<Verp> {
    let (local, _) = sender.rsplit_once('@')?;
    Verp::parse(local).ok().map(|(verp, _)| verp)
}

/// The name of a request: `account/message`.
pub(crate) fn request_name(account: &AccountId, message: &MessageId) -> String {
    format!("{account}/{message}")
}

/// The name of a copy: `account/message/recipient`.
pub(crate) fn copy_name(copy: &Verp) -> String {
    let request = request_name(&copy.account, &copy.message);
    format!("{request}/{}", copy.recipient)
}

/// The copy of this name.
pub(crate) fn copy_named(name: &str) -> Option<Verp> {
    let mut parts = name.split('/');
    Some(Verp {
        account: AccountId::parse(parts.next()?).ok()?,
        message: MessageId::parse(parts.next()?).ok()?,
        recipient: parts.next()?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_found_by_its_rank_and_by_its_word() {
        for status in DeliveryStatus::ALL {
            assert_eq!(DeliveryStatus::of_rank(status.rank()), Some(status));
            assert_eq!(DeliveryStatus::of_word(status.word()), Some(status));
        }
        // Rows of the first version are those of mails that the relay took.
        assert_eq!(DeliveryStatus::Delivered.rank(), 5);
        assert_eq!(DeliveryStatus::of_rank(8), None);
        assert_eq!(DeliveryStatus::of_word("tagged"), None);
    }

    #[test]
    fn a_copy_is_read_back_from_its_name() {
        let copy = Verp {
            account: AccountId::from_bytes([3; 10]),
            message: MessageId::from_bytes([9; 16]),
            recipient: 17,
        };
        let name = copy_name(&copy);
        assert!(name.starts_with(&request_name(&copy.account, &copy.message)));
        assert_eq!(copy_named(&name), Some(copy.clone()));
        for odd in ["", "a/b/c", name.trim_end_matches("17")] {
            assert_eq!(copy_named(odd), None, "{odd}");
        }
        let sender = format!("{}@bounce.example", copy.local(7));
        assert_eq!(copy_of(&sender), Some(copy));
        assert_eq!(copy_of("ann@bounce.example"), None);
        assert_eq!(copy_of(""), None);
    }
}
