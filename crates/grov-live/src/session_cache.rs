//! A bounded cache of state that requests share.

use hashlink::LinkedHashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Keeps the most recently used entries in memory. An entry that is in use is never evicted, so that no second copy of it can
/// be created.
pub struct SessionCache<K, V> {
    /// The least recently used entry first.
    entries: Mutex<LinkedHashMap<K, Arc<V>>>,
    capacity: usize,
}

impl<K: Clone + Eq + Hash, V> SessionCache<K, V> {
    /// Creates a cache of at most `capacity` entries, apart from entries that cannot be evicted.
    pub fn new(capacity: usize) -> Self {
        Self {
            entries: Mutex::default(),
            capacity,
        }
    }

    /// Returns an entry, without marking it as used.
    pub fn get(&self, key: &K) -> Option<Arc<V>> {
        self.entries().get(key).cloned()
    }

    /// Returns an entry, created if it is not in the cache. Evicts the least recently used entries for which `can_evict`
    /// returns true.
    pub fn get_or_create(
        &self,
        key: &K,
        create: impl FnOnce() -> V,
        can_evict: impl Fn(&V) -> bool,
    ) -> Arc<V> {
        let mut entries = self.entries();
        if let Some(entry) = entries.to_back(key) {
            return Arc::clone(entry);
        }
        let mut excess = (entries.len() + 1).saturating_sub(self.capacity);
        entries.retain_with_order(|_, entry| {
            let is_evicted = excess > 0 && Arc::strong_count(entry) == 1 && can_evict(entry);
            excess -= usize::from(is_evicted);
            !is_evicted
        });
        let entry = Arc::new(create());
        entries.insert(key.clone(), Arc::clone(&entry));
        entry
    }

    /// Returns all entries, most recently used first.
    pub fn newest_first(&self) -> Vec<(K, Arc<V>)> {
        let entries = self.entries();
        let newest_first = entries.iter().rev();
        newest_first
            .map(|(key, entry)| (key.clone(), Arc::clone(entry)))
            .collect()
    }

    fn entries(&self) -> MutexGuard<'_, LinkedHashMap<K, Arc<V>>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(cache: &SessionCache<u32, ()>) -> Vec<u32> {
        cache.newest_first().into_iter().map(|(key, _)| key).collect()
    }

    #[test]
    fn the_least_recently_used_entry_is_evicted() {
        let cache = SessionCache::new(2);
        for key in [1, 2, 1, 3] {
            cache.get_or_create(&key, || (), |()| true);
        }
        assert_eq!(keys(&cache), [3, 1]);
        assert!(cache.get(&2).is_none());
    }

    #[test]
    fn entries_in_use_stay_and_the_cache_shrinks_again() {
        let cache = SessionCache::new(2);
        let in_use: Vec<_> = (0..4)
            .map(|key| cache.get_or_create(&key, || (), |()| true))
            .collect();
        assert_eq!(keys(&cache), [3, 2, 1, 0]);
        drop(in_use);
        cache.get_or_create(&4, || (), |()| true);
        assert_eq!(keys(&cache), [4, 3]);
        cache.get_or_create(&5, || (), |()| false);
        assert_eq!(keys(&cache), [5, 4, 3]);
    }
}
