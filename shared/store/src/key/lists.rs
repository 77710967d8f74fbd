//! Keys of who is not written to, and of unsubscribe groups.

use posthaste_model::{AccountId, Timestamp};

use super::{Key, SPREAD, share};

/// So that later times sort first: ten digits, as `padded` writes.
const END: i64 = 9_999_999_999;

impl Key {
    /// Everything known about one address; a partition each, because a job reads many at once.
    pub(crate) fn suppressed(account: &AccountId, folded: &str) -> Self {
        Self::new(format!("SUP#{account}#{folded}"), "SUP")
    }

    /// Where the addresses of a list stand in the order of time, one of [`SPREAD`] partitions.
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
        Self::new(pk, format!("{}#{folded}", Self::backwards(at)))
    }

    /// The latest time sorts first.
    pub(crate) fn backwards(at: Timestamp) -> String {
        format!("{:010}", END - at.0.clamp(0, END))
    }

    pub(crate) fn group(account: &AccountId, id: i64) -> Self {
        Self::of_account(account, format!("GROUP#{id:010}"))
    }

    /// What holds the name of a group.
    pub(crate) fn group_name(account: &AccountId, hash: &str) -> Self {
        Self::of_account(account, format!("GROUPNAME#{hash}"))
    }

    pub(crate) fn default_group(account: &AccountId) -> Self {
        Self::of_account(account, "DEFAULTGROUP")
    }
}
