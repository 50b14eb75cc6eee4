//! Keys of clients in memory, by their hash.

use std::collections::HashMap;
use std::sync::Arc;

/// Keys of the clients that asked last.
pub(super) struct Kept<K> {
    most: usize,
    /// Number of uses so far, which orders them.
    uses: u64,
    keys: HashMap<String, (Arc<K>, u64)>,
}

impl<K> Kept<K> {
    pub(super) fn new(most: usize) -> Self {
        Self { most, uses: 0, keys: HashMap::new() }
    }

    /// Keeps keys, in place of those that were used longest ago where there is no room.
    pub(super) fn put(&mut self, name: String, keys: K) {
        self.uses += 1;
        self.keys.insert(name, (Arc::new(keys), self.uses));
        while self.keys.len() > self.most {
            let oldest = self.keys.iter().min_by_key(|(_, (_, used))| *used).map(|(name, _)| name.clone());
            let Some(oldest) = oldest else { break };
            self.keys.remove(&oldest);
        }
    }

    /// Returns the keys of this hash, if they are there.
    pub(super) fn get(&mut self, name: &str) -> Option<Arc<K>> {
        self.uses += 1;
        let (keys, used) = self.keys.get_mut(name)?;
        *used = self.uses;
        Some(Arc::clone(keys))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_that_were_used_longest_ago_make_room() {
        let mut kept = Kept::new(2);
        kept.put("a".to_owned(), 1);
        kept.put("b".to_owned(), 2);
        assert_eq!(kept.get("a").as_deref(), Some(&1));
        kept.put("c".to_owned(), 3);
        assert_eq!(
            (kept.get("b"), kept.get("a").as_deref(), kept.get("c").as_deref()),
            (None, Some(&1), Some(&3))
        );
    }
}
