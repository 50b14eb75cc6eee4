//! Residues of a polynomial modulo 2^g − 1 and modulo word-size primes beside it, and their lifts.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, OnceLock};

use sunzi_ring::{Content, RingError};
use zeroize::{Zeroize, Zeroizing};

use crate::modulus::MOST_COMPONENTS;

/// Transforms modulo primes of the residues of one component; erased when dropped, since they may be a secret's.
pub(crate) type Lifted = Arc<Zeroizing<Vec<u64>>>;

/// An element of a [`FermatRing`](crate::FermatRing), as a polynomial stores it.
///
/// Both domains of the ring hold coefficients modulo 2^g − 1: component after component, in each the residues
/// of X^0, X^1, … one after the other. Limbs modulo primes, which the ring of products has, hold n
/// coefficients or values each.
#[derive(Clone, Default, Zeroize)]
pub(crate) struct FermatResidues {
    /// Residues of the polynomial modulo the components.
    pub(crate) words: CachedWords,
    /// Residues of the polynomial modulo the primes beside q.
    pub(crate) limbs: Vec<u64>,
}

impl Content for FermatResidues {
    fn byte_len(&self) -> usize {
        size_of_val(&*self.words) + size_of_val(&*self.limbs)
    }
}

/// Words of residues that store, until they change, their lift as key material: a key meets many polynomials.
#[derive(Clone, Default)]
pub(crate) struct CachedWords {
    words: Vec<u64>,
    /// Stored lifts of the residues, by component.
    lifted: OnceLock<Box<[OnceLock<Lifted>; MOST_COMPONENTS]>>,
}

impl CachedWords {
    pub(crate) fn zero(length: usize) -> Self {
        Self { words: vec![0; length], lifted: OnceLock::new() }
    }

    /// Returns at least `len` words of the lift of a component: stored from the first time on, and made again where more are requested.
    pub(crate) fn lifted(
        &self,
        position: usize,
        length: usize,
        lift: impl FnOnce() -> Result<Zeroizing<Vec<u64>>, RingError>,
    ) -> Result<Lifted, RingError> {
        let cell = self.lifted.get_or_init(Box::default).get(position);
        match cell.and_then(OnceLock::get) {
            Some(kept) if kept.len() >= length => Ok(Arc::clone(kept)),
            _ => {
                let lifted = Arc::new(lift()?);
                Ok(cell.map_or(Arc::clone(&lifted), |cell| {
                    let kept = cell.get_or_init(|| Arc::clone(&lifted));
                    if kept.len() >= length { Arc::clone(kept) } else { lifted }
                }))
            }
        }
    }
}

impl Deref for CachedWords {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        &self.words
    }
}

impl DerefMut for CachedWords {
    fn deref_mut(&mut self) -> &mut [u64] {
        self.lifted.take();
        &mut self.words
    }
}

impl Zeroize for CachedWords {
    fn zeroize(&mut self) {
        self.lifted.take();
        self.words.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_lifted_is_kept_until_the_words_change() {
        let mut residues = CachedWords::zero(4);
        let lifted = |residues: &CachedWords, length: usize, word: u64| {
            residues.lifted(1, length, || Ok(Zeroizing::new(vec![word; length]))).unwrap()[0]
        };
        assert_eq!([lifted(&residues, 2, 5), lifted(&residues, 2, 6), lifted(&residues, 1, 7)], [5; 3]);
        // A request for more words than are stored makes them again, without storing them.
        assert_eq!([lifted(&residues, 3, 8), lifted(&residues, 2, 9)], [8, 5]);
        let copy = residues.clone();
        residues[0] = 1;
        assert_eq!([lifted(&residues, 2, 10), lifted(&copy, 2, 11)], [10, 5]);
        residues.zeroize();
        assert_eq!((lifted(&residues, 2, 12), residues.len()), (12, 0));
    }
}
