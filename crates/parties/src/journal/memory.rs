//! Records in memory.

use std::collections::BTreeMap;
use std::io::{Error, ErrorKind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sunzi_rlwe::wire::WireError;
use zeroize::Zeroizing;

use crate::Store;

type Records = BTreeMap<String, Zeroizing<Vec<u8>>>;

/// Records in memory, for tests and for processes that need no restart. Clones share their records.
///
/// ```
/// use sunzi_parties::{MemoryStore, Store};
///
/// let mut store = MemoryStore::default();
/// store.put("record", b"bytes", false)?;
/// assert_eq!(&**store.get("record")?.ok_or("there is one")?, b"bytes");
/// assert!(store.put("record", b"others", false).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct MemoryStore(Arc<Mutex<Records>>);

impl MemoryStore {
    fn records(&self) -> MutexGuard<'_, Records> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The names of the records, in order.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.records().keys().cloned().collect()
    }
}

impl Store for MemoryStore {
    fn get(&self, record: &str) -> Result<Option<Zeroizing<Vec<u8>>>, WireError> {
        Ok(self.records().get(record).cloned())
    }

    fn put(&mut self, record: &str, bytes: &[u8], _: bool) -> Result<(), WireError> {
        let mut records = self.records();
        if records.contains_key(record) {
            return Err(WireError::Io(Error::from(ErrorKind::AlreadyExists)));
        }
        records.insert(record.to_owned(), Zeroizing::new(bytes.to_vec()));
        Ok(())
    }

    fn remove(&mut self, record: &str) -> Result<(), WireError> {
        self.records().remove(record);
        Ok(())
    }
}
