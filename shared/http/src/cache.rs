//! What an instance caches for a few seconds: presence, never absence, so that a key or a batch
//! created a moment ago works at once and a revoked one stops within the limit.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Mutex;

use posthaste_model::Millis;

/// How long a cached answer may be used, in milliseconds (the documented limit is 10 s everywhere).
const FRESH_MS: i64 = 10_000;

/// How many answers are cached. Past that the stale ones are dropped, and if that makes no room all
/// of them are, which costs one read each.
const MOST: usize = 10_000;

/// Bytes of a large answer that count as one.
const PORTION: usize = 1_024;

/// A small map of answers that expire.
#[derive(Debug)]
pub struct Cache<K, V>(Mutex<CacheEntry<K, V>>);

#[derive(Debug)]
struct CacheEntry<K, V> {
    answers: HashMap<K, CachedValue<V>>,
    /// The total that all answers count for.
    size: usize,
}

#[derive(Debug)]
struct CachedValue<V> {
    at: Millis,
    value: V,
    size: usize,
}

impl<V> CachedValue<V> {
    fn is_fresh(&self, now: Millis) -> bool {
        let age = now.0.saturating_sub(self.at.0);
        (0..FRESH_MS).contains(&age)
    }
}

impl<K, V> Default for Cache<K, V> {
    fn default() -> Self {
        Self(Mutex::new(CacheEntry {
            answers: HashMap::new(),
            size: 0,
        }))
    }
}

impl<K: Eq + Hash, V: Clone> Cache<K, V> {
    /// A cached answer that is still fresh.
    pub fn get(&self, key: &K, now: Millis) -> Option<V> {
        let kept = self.0.lock().ok()?;
        let answer = kept.answers.get(key)?;
        answer.is_fresh(now).then(|| answer.value.clone())
    }

    /// Caches an answer that was read at `now`.
    pub fn put(&self, key: K, value: V, now: Millis) {
        self.put_large(key, value, 0, now);
    }

    /// Caches an answer of this many bytes: each kilobyte counts as one answer.
    pub fn put_large(&self, key: K, value: V, bytes: usize, now: Millis) {
        let size = 1 + bytes / PORTION;
        if let Ok(mut kept) = self.0.lock() {
            kept.forget(&key);
            if kept.size + size > MOST {
                kept.answers.retain(|_, answer| answer.is_fresh(now));
                kept.size = kept.answers.values().map(|answer| answer.size).sum();
            }
            if kept.size + size > MOST {
                kept.answers.clear();
                kept.size = 0;
            }
            kept.size += size;
            let at = now;
            kept.answers.insert(key, CachedValue { at, value, size });
        }
    }

    /// Drops one answer, which this instance changed itself.
    pub fn forget(&self, key: &K) {
        if let Ok(mut kept) = self.0.lock() {
            kept.forget(key);
        }
    }
}

impl<K: Eq + Hash, V> CacheEntry<K, V> {
    fn forget(&mut self, key: &K) {
        if let Some(gone) = self.answers.remove(key) {
            self.size -= gone.size;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_used_for_less_than_ten_seconds() {
        let cache = Cache::default();
        cache.put("k", 1, Millis(1000));
        for (now, want) in [
            (1000, Some(1)),
            (10_999, Some(1)),
            (11_000, None),
            (999, None),
        ] {
            assert_eq!(cache.get(&"k", Millis(now)), want, "at {now}");
        }
        cache.forget(&"k");
        assert_eq!(cache.get(&"k", Millis(1000)), None);
    }

    #[test]
    fn large_answers_take_the_room_of_many_and_the_stale_ones_go_first() {
        let cache = Cache::default();
        let kept = |keys: std::ops::Range<usize>, now| {
            keys.filter(|key| cache.get(key, Millis(now)).is_some())
                .count()
        };
        // Each counts as one hundred: there is room for one hundred of them.
        let put = |key, now| cache.put_large(key, (), 99 * PORTION, Millis(now));
        (0..50).for_each(|key| put(key, 0));
        (50..100).for_each(|key| put(key, 5_000));
        assert_eq!(kept(0..100, 5_000), 100);
        // The same entry again takes no more room.
        put(99, 5_000);
        assert_eq!(kept(0..100, 5_000), 100);

        put(100, 12_000);
        assert_eq!(kept(0..50, 5_000), 0);
        assert_eq!(kept(50..101, 12_000), 51);
        (101..150).for_each(|key| put(key, 12_000));
        assert_eq!(kept(50..150, 12_000), 100);
        put(150, 12_000);
        assert_eq!(kept(50..151, 12_000), 1);
        // An entry that is larger than the whole cache is cached alone.
        cache.put_large(151, (), usize::MAX / 2, Millis(12_000));
        assert_eq!(kept(50..152, 12_000), 1);
        cache.put(152, (), Millis(12_000));
        assert_eq!(kept(50..153, 12_000), 1);
    }

    #[test]
    fn an_answer_that_was_forgotten_makes_room() {
        let cache = Cache::default();
        for key in 0..3 {
            cache.put_large(key, (), 5_000 * PORTION, Millis(0));
            cache.forget(&key);
        }
        assert_eq!(cache.0.lock().unwrap().size, 0);
    }
}
