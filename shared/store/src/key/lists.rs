//! Keys of suppressions, of unsubscribe groups, and of what is searched in the order of time.

use posthaste_model::{AccountId, MessageId, Timestamp};

use super::{Key, SPREAD, fitting, share};

/// Makes later times sort first: ten digits, as `padded` writes.
const END: i64 = 9_999_999_999;

impl Key {
    /// Everything stored about one address; a partition each, because a job reads many at once.
    pub(crate) fn suppressed(account: &AccountId, folded: &str) -> Self {
        Self::new(format!("SUP#{account}#{folded}"), "SUP")
    }

    /// The addresses of a list in the order of time, one of [`SPREAD`] partitions.
    pub(crate) fn suppressions_pk(account: &AccountId, list: &str, part: u16) -> String {
        format!("SUPS#{account}#{list}#{part}")
    }

    pub(crate) fn suppression(
        account: &AccountId,
        list: &str,
        at: Timestamp,
        folded: &str,
    ) -> Self {
        let pk = Self::suppressions_pk(account, list, share(&[folded], SPREAD));
        Self::new(pk, format!("{}#{}", Self::backwards(at), fitting(folded)))
    }

    /// The latest time sorts first.
    pub(crate) fn backwards(at: Timestamp) -> String {
        format!("{:010}", END - at.0.clamp(0, END))
    }

    /// Where mails to one address are found.
    pub(crate) fn seek_pk(account: &AccountId, folded: &str) -> String {
        format!("SEEK#{account}#{folded}")
    }

    /// Where mails are found in the order of time, one of [`SPREAD`] partitions.
    pub(crate) fn seeks_pk(account: &AccountId, part: u16) -> String {
        format!("SEEKS#{account}#{part}")
    }

    /// The partition that a message falls into.
    pub(crate) fn seeks_pk_of(account: &AccountId, message: &MessageId) -> String {
        Self::seeks_pk(account, share(&[message.as_str()], SPREAD))
    }

    /// The composed mails that an account keeps, one of [`SPREAD`] partitions.
    pub(crate) fn kept_pk(account: &AccountId, part: u16) -> String {
        format!("KEPT#{account}#{part}")
    }

    /// The composed mail of a copy.
    pub(crate) fn kept(account: &AccountId, message: &MessageId, recipient: u32) -> Self {
        let part = share(&[message.as_str()], SPREAD);
        let sk = format!("{message}#{recipient:05}");
        Self::new(Self::kept_pk(account, part), sk)
    }

    /// Where scheduled mail is found in the same order, one of [`SPREAD`] partitions.
    pub(crate) fn waiting_pk(account: &AccountId, part: u16) -> String {
        format!("{}{part}", Self::waiting_pks(account))
    }

    /// What all partitions of an account's waiting copies begin with.
    pub(crate) fn waiting_pks(account: &AccountId) -> String {
        format!("WAITS#{account}#")
    }

    /// The partition that a message falls into.
    pub(crate) fn waiting_pk_of(account: &AccountId, message: &MessageId) -> String {
        Self::waiting_pk(account, share(&[message.as_str()], SPREAD))
    }

    /// The sort key of a copy in these.
    pub(crate) fn seek_place(accepted: Timestamp, message: &MessageId, recipient: u32) -> String {
        format!("{}{recipient:05}", Self::seek_message(accepted, message))
    }

    /// What the sort keys of all copies of a message begin with.
    pub(crate) fn seek_message(accepted: Timestamp, message: &MessageId) -> String {
        format!("{}#{message}#", Self::backwards(accepted))
    }

    /// Which copy such a key is of.
    pub(crate) fn copy_of_place(place: &str) -> Option<(MessageId, u32)> {
        let mut parts = place.split('#').skip(1);
        let message = MessageId::parse(parts.next()?).ok()?;
        Some((message, parts.next()?.parse().ok()?))
    }

    /// The search row of the copy at this place.
    pub(crate) fn seek_in_time(account: &AccountId, place: String) -> Option<Self> {
        let (message, _) = Self::copy_of_place(&place)?;
        Some(Self::new(Self::seeks_pk_of(account, &message), place))
    }

    pub(crate) fn group(account: &AccountId, id: i64) -> Self {
        Self::of_account(account, format!("GROUP#{id:010}"))
    }

    /// The holder row of a group's name.
    pub(crate) fn group_name(account: &AccountId, hash: &str) -> Self {
        Self::of_account(account, format!("GROUPNAME#{hash}"))
    }

    pub(crate) fn default_group(account: &AccountId) -> Self {
        Self::of_account(account, "DEFAULTGROUP")
    }
}
