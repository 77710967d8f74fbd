//! A map with a largest number of entries.

use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

use lru::LruCache;

/// A shared map that holds at most a fixed number of entries. Past that, the entry that was least
/// recently used makes room.
#[derive(Debug)]
pub struct BoundedMap<K: Eq + Hash, V> {
    entries: Mutex<LruCache<K, V>>,
    most: usize,
}

impl<K: Eq + Hash, V> BoundedMap<K, V> {
    /// An empty map of at most `most` entries. Memory is taken as entries come.
    pub fn new(most: usize) -> Self {
        Self {
            entries: Mutex::new(LruCache::unbounded()),
            most,
        }
    }

    /// Inserts an entry, in place of the one with the same key.
    pub fn insert(&self, key: K, value: V) {
        let mut entries = self.lock();
        entries.put(key, value);
        self.trim(&mut entries);
    }

    /// Changes an entry, which begins as its default.
    pub fn update<T>(&self, key: K, change: impl FnOnce(&mut V) -> T) -> T
    where
        V: Default,
    {
        let mut entries = self.lock();
        let changed = change(entries.get_or_insert_mut(key, V::default));
        self.trim(&mut entries);
        changed
    }

    /// Changes an entry if there is one.
    pub fn update_existing<T>(&self, key: &K, change: impl FnOnce(&mut V) -> T) -> Option<T> {
        self.lock().get_mut(key).map(change)
    }

    /// A copy of an entry.
    pub fn get(&self, key: &K) -> Option<V>
    where
        V: Clone,
    {
        self.lock().get(key).cloned()
    }

    /// Drops an entry.
    pub fn remove(&self, key: &K) {
        self.lock().pop(key);
    }

    fn trim(&self, entries: &mut LruCache<K, V>) {
        while entries.len() > self.most {
            entries.pop_lru();
        }
    }

    /// A panic under the lock leaves whole entries: the map is usable after it.
    fn lock(&self) -> MutexGuard<'_, LruCache<K, V>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entry_used_longest_ago_makes_room() {
        let map = BoundedMap::new(2);
        map.insert("a", 1);
        map.insert("b", 2);
        assert_eq!(map.get(&"a"), Some(1));
        map.insert("c", 3);
        assert_eq!(
            ["a", "b", "c"].map(|key| map.get(&key)),
            [Some(1), None, Some(3)]
        );
        // A change is a use, and an entry that begins by one is bounded as well.
        map.update_existing(&"a", |value| *value += 10);
        map.update("d", |value: &mut i32| *value += 1);
        assert_eq!(
            ["a", "c", "d"].map(|key| map.get(&key)),
            [Some(11), None, Some(1)]
        );
        map.remove(&"a");
        assert_eq!(map.update_existing(&"a", |value| *value), None);
    }

    #[test]
    fn a_panic_under_the_lock_leaves_the_map_usable() {
        let map = BoundedMap::new(2);
        let failed = std::thread::scope(|scope| {
            let change = || map.update("a", |value: &mut i32| assert_eq!(*value, 1));
            scope.spawn(change).join()
        });
        assert!(failed.is_err());
        assert_eq!(map.get(&"a"), Some(0));
    }
}
