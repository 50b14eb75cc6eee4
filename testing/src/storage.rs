//! Which storage a test runs on.

use sunzi_big::BigRing;
use sunzi_ring::{Ring, Storage};

/// Returns the ring, which has residues in the given form: a law that holds over two rings says more if they differ.
///
/// # Panics
/// If the ring stores them in another form.
#[must_use]
pub fn stored(ring: Ring, storage: Storage) -> Ring {
    let kinds = [Storage::Sets, Storage::Real].map(|kind| kind as u8);
    let own = ring.description().into_iter().find(|byte| !kinds.contains(byte));
    assert_eq!(own, Some(storage as u8), "not a ring of {storage:?}");
    let in_words = matches!(storage, Storage::Words | Storage::MultiPrecision);
    assert_eq!(
        (ring.words().is_ok(), ring.storage::<BigRing>().is_some()),
        (in_words, storage == Storage::Big)
    );
    ring
}
