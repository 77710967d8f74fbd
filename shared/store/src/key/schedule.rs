//! Keys of scheduled mail: due rows, batches and what they hold.

use posthaste_model::{AccountId, BatchId, MessageId, Timestamp};

use super::Key;

/// The number of partitions that one collection is spread over: DynamoDB takes about 1,000 writes a
/// second into a partition. Part of the keys, so it never changes.
pub(crate) const SPREAD: u16 = 8;

/// The same for the list of minutes, which is written once per minute and process.
pub(crate) const MINUTE_PARTS: u16 = 4;

/// Greater than every character of our ids and of the `#` between them.
pub(crate) const LAST: &str = "~";

/// A stable hash (FNV-1a), to choose a partition by.
pub(crate) fn hash(parts: &[&str]) -> u64 {
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([b'#']));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Which of `of` partitions these parts map to.
pub(crate) fn share(parts: &[&str], of: u16) -> u16 {
    // FNV's low bits are its weakest; the fold mixes the high half in.
    let hash = hash(parts);
    u16::try_from((hash ^ (hash >> 32)) % u64::from(of.max(1))).unwrap_or(0)
}

/// Ten digits: sorts as text in the order of time.
pub(crate) fn padded(at: Timestamp) -> String {
    format!("{:010}", at.0.max(0))
}

/// The minute a second lies in.
pub(crate) fn minute(at: Timestamp) -> i64 {
    at.0.max(0) / 60
}

impl Key {
    pub(crate) fn batch(account: &AccountId, batch: &BatchId) -> Self {
        Self::of_account(account, format!("BATCH#{batch}"))
    }

    pub(crate) fn holds(account: &AccountId) -> Self {
        Self::of_account(account, "HOLDS")
    }

    /// A piece of scheduled mail, named by its first recipient.
    pub(crate) fn piece(account: &AccountId, message: &MessageId, first: u32) -> Self {
        let sk = format!("{}{first:05}", Self::pieces());
        Self::new(Self::message_pk(account, message), sk)
    }

    pub(crate) fn pieces() -> &'static str {
        "LATER#"
    }

    /// Where the pieces of a batch are listed, one of [`SPREAD`] partitions.
    pub(crate) fn entries_pk(account: &AccountId, batch: &BatchId, part: u16) -> String {
        format!("B#{account}#{batch}#{part}")
    }

    pub(crate) fn entry(account: &AccountId, batch: &BatchId, place: &HeldCursor<'_>) -> Self {
        let pk = Self::entries_pk(account, batch, place.part());
        Self::new(pk, place.sk())
    }

    /// Where the held pieces of a batch lie, one of [`SPREAD`] partitions.
    pub(crate) fn held_pk(account: &AccountId, batch: &BatchId, part: u16) -> String {
        format!("HELD#{account}#{batch}#{part}")
    }

    pub(crate) fn held(account: &AccountId, batch: &BatchId, place: &HeldCursor<'_>) -> Self {
        let pk = Self::held_pk(account, batch, place.part());
        Self::new(pk, place.sk())
    }

    pub(crate) fn due_pk(minute: i64, shard: u16) -> String {
        format!("DUE#{minute:010}#{shard}")
    }

    /// Where minutes are listed that may have due rows, one of [`MINUTE_PARTS`]
    /// partitions.
    pub(crate) fn minutes_pk(part: u16) -> String {
        format!("DUES#{part}")
    }

    /// A minute whose due rows lie in `shards` partitions.
    pub(crate) fn minute(minute: i64, shards: u16) -> Self {
        let part = u16::try_from(minute.rem_euclid(i64::from(MINUTE_PARTS))).unwrap_or(0);
        let sk = format!("{}{shards:05}", Self::minute_prefix(minute));
        Self::new(Self::minutes_pk(part), sk)
    }

    pub(crate) fn minute_prefix(minute: i64) -> String {
        format!("{minute:010}#")
    }
}

/// The position of a piece within its batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeldCursor<'a> {
    pub(crate) at: Timestamp,
    pub(crate) message: &'a MessageId,
    pub(crate) first: u32,
}

impl HeldCursor<'_> {
    fn sk(&self) -> String {
        format!("{}#{}#{:05}", padded(self.at), self.message, self.first)
    }

    fn part(&self) -> u16 {
        share(&[self.message.as_str()], SPREAD)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_fall_evenly_into_partitions() {
        let mut counts = [0_u32; SPREAD as usize];
        for seed in 0..8000_u64 {
            let bytes = u128::from(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)).to_be_bytes();
            let message = MessageId::from_bytes(bytes);
            counts[usize::from(share(&[message.as_str()], SPREAD))] += 1;
        }
        assert!(counts.iter().all(|n| (850..1150).contains(n)), "{counts:?}");
    }

    #[test]
    fn text_sorts_as_time_does() {
        let mut seconds = [
            1_800_000_000,
            5,
            0,
            999_999_999,
            1_000_000_000,
            9_999_999_999,
        ];
        let mut texts = seconds.map(|s| padded(Timestamp(s)));
        seconds.sort_unstable();
        texts.sort_unstable();
        assert_eq!(texts, seconds.map(|s| padded(Timestamp(s))));
        assert!(texts.iter().all(|text| text.as_str() < LAST));
    }
}
