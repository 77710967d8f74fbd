//! Answers that are used for a few seconds: presence, and absence only where the caller caches it,
//! so that a key or a batch created a moment ago works at once and a revoked one stops within the
//! limit.

use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

use lru::LruCache;
use posthaste_model::Millis;

/// How long a cached answer may be used, in milliseconds (the documented limit is 10 s everywhere).
const FRESH_MS: i64 = 10_000;

/// How many answers are cached. Past that, those used longest ago make room.
const MOST: usize = 10_000;

/// Bytes of a large answer that count as one.
const PORTION: usize = 1_024;

/// A shared, bounded map of answers that expire after ten seconds.
#[derive(Debug)]
pub struct Cache<K: Eq + Hash, V>(Mutex<CacheEntries<K, V>>);

#[derive(Debug)]
struct CacheEntries<K: Eq + Hash, V> {
    answers: LruCache<K, CachedValue<V>>,
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

impl<K: Eq + Hash, V> Default for Cache<K, V> {
    fn default() -> Self {
        Self(Mutex::new(CacheEntries {
            answers: LruCache::unbounded(),
            size: 0,
        }))
    }
}

impl<K: Eq + Hash, V: Clone> Cache<K, V> {
    /// A cached answer that is still fresh.
    pub fn get(&self, key: &K, now: Millis) -> Option<V> {
        let mut entries = self.lock();
        let answer = entries.answers.get(key)?;
        answer.is_fresh(now).then(|| answer.value.clone())
    }

    /// Caches an answer that was read at `now`.
    pub fn put(&self, key: K, value: V, now: Millis) {
        self.put_large(key, value, 0, now);
    }

    /// Caches an answer of this many bytes: each kilobyte counts as one answer. An answer that is
    /// larger than the whole cache is cached alone.
    pub fn put_large(&self, key: K, value: V, bytes: usize, now: Millis) {
        let size = 1 + bytes / PORTION;
        let mut entries = self.lock();
        entries.forget(&key);
        while entries.size + size > MOST {
            let Some((_, gone)) = entries.answers.pop_lru() else {
                break;
            };
            entries.size -= gone.size;
        }
        entries.size += size;
        let at = now;
        entries.answers.put(key, CachedValue { at, value, size });
    }

    /// Drops one answer, which this process changed itself.
    pub fn forget(&self, key: &K) {
        self.lock().forget(key);
    }

    /// A panic under the lock can only come from a caller's `Hash` or `Clone`.
    fn lock(&self) -> MutexGuard<'_, CacheEntries<K, V>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Eq + Hash, V> CacheEntries<K, V> {
    fn forget(&mut self, key: &K) {
        if let Some(gone) = self.answers.pop(key) {
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
    fn large_answers_take_the_room_of_many_and_those_used_longest_ago_go_first() {
        let cache = Cache::default();
        let kept = |keys: std::ops::Range<usize>| {
            keys.filter(|key| cache.get(key, Millis(0)).is_some())
                .count()
        };
        // Each counts as one hundred: there is room for one hundred of them.
        let put = |key| cache.put_large(key, (), 99 * PORTION, Millis(0));
        (0..100).for_each(put);
        assert_eq!(kept(0..100), 100);
        // The same entry again takes no more room.
        put(99);
        assert_eq!(kept(0..100), 100);

        assert_eq!(kept(0..10), 10);
        (100..150).for_each(put);
        assert_eq!((kept(0..10), kept(10..60), kept(60..150)), (10, 0, 90));
        // An entry that is larger than the whole cache is cached alone.
        cache.put_large(151, (), usize::MAX / 2, Millis(0));
        assert_eq!(kept(0..152), 1);
        cache.put(152, (), Millis(0));
        assert_eq!(kept(0..153), 1);
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
