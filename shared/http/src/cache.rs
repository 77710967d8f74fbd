//! What an instance remembers for a few seconds: presence, never absence, so that a key or a
//! batch made a moment ago works at once and a revoked one stops within the limit.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Mutex;

use posthaste_model::Millis;

/// How long a remembered answer may be used, in milliseconds (the promise is 10 s everywhere).
const FRESH_MS: i64 = 10_000;

/// So many answers are kept; past that everything is forgotten, which costs one read each.
const MOST: usize = 10_000;

/// A small map of answers that grow stale.
#[derive(Debug)]
pub struct Cache<K, V>(Mutex<HashMap<K, (Millis, V)>>);

impl<K, V> Default for Cache<K, V> {
    fn default() -> Self {
        Self(Mutex::new(HashMap::new()))
    }
}

impl<K: Eq + Hash, V: Clone> Cache<K, V> {
    /// A remembered answer that is still fresh.
    pub fn get(&self, key: &K, now: Millis) -> Option<V> {
        let map = self.0.lock().ok()?;
        let (at, value) = map.get(key)?;
        let age = now.0.saturating_sub(at.0);
        (0..FRESH_MS).contains(&age).then(|| value.clone())
    }

    /// Remembers an answer that was read at `now`.
    pub fn put(&self, key: K, value: V, now: Millis) {
        if let Ok(mut map) = self.0.lock() {
            if map.len() >= MOST {
                map.clear();
            }
            map.insert(key, (now, value));
        }
    }

    /// Forgets one answer: what this instance changed itself.
    pub fn forget(&self, key: &K) {
        if let Ok(mut map) = self.0.lock() {
            map.remove(key);
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
}
