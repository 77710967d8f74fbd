//! How this instance writes due rows: over how many partitions, and which minutes it has listed. The
//! rows themselves are the subject of `schedule`; this memory is part of the [`Store`](super::Store),
//! whose clones share it.

use std::collections::{BTreeSet, HashSet};
use std::sync::Mutex;

#[derive(Debug)]
pub(crate) struct ListedMinutes {
    /// Partitions per minute.
    pub(crate) shards: u16,
    /// Minutes this instance has listed.
    listed: Mutex<HashSet<i64>>,
}

impl ListedMinutes {
    pub(crate) fn new(shards: u16) -> Self {
        Self {
            shards: shards.max(1),
            listed: Mutex::default(),
        }
    }

    pub(crate) fn unlisted(&self, minutes: &BTreeSet<i64>) -> Vec<i64> {
        match self.listed.lock() {
            Ok(listed) => {
                let new = minutes.iter().filter(|number| !listed.contains(number));
                new.copied().collect()
            }
            Err(_) => minutes.iter().copied().collect(),
        }
    }

    pub(crate) fn remember(&self, minutes: &[i64]) {
        // More than the minutes of three days; past that, listing a minute twice costs one write.
        const MOST: usize = 10_000;
        if let Ok(mut listed) = self.listed.lock() {
            if listed.len() > MOST {
                listed.clear();
            }
            listed.extend(minutes);
        }
    }
}
