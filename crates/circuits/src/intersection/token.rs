//! Tokens of items: where an item is, and how its label is sealed.

use rand_core::Rng;
use sha2::{Digest, Sha256};
use sunzi_ring::sampling::SeededRng;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::Layout;
use crate::cuckoo::PLACES;

/// The token of an item, which whoever has it can look for: the output of an oblivious pseudorandom function. It is secret, and erased when dropped.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Zeroize, ZeroizeOnDrop)]
pub struct Token([u8; 64]);

impl Token {
    /// Makes a token of its bytes, which must be pseudorandom to all who have not asked for it.
    #[must_use]
    pub fn new(bytes: [u8; 64]) -> Self {
        Self(bytes)
    }

    /// The bytes of a token.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 64] {
        &self.0
    }
}

/// Where an item is: its bins, and its number within each of them.
pub(super) struct Place {
    pub(super) bins: [usize; PLACES],
    /// Number from 1 to t − 1, at which polynomials take the label.
    pub(super) node: u64,
}

impl Layout {
    /// The place of an item.
    pub(super) fn place(&self, token: &Token) -> Place {
        let (place, _) = token.0.split_at(32);
        let mut hash: [u8; 32] = Sha256::new_with_prefix(self.seed()).chain_update(place).finalize().into();
        let mut words =
            hash.chunks_exact(8).map(|word| word.iter().fold(0, |all, &byte| all << 8 | u64::from(byte)));
        let mut below =
            |bound: u64| ((u128::from(words.next().unwrap_or_default()) * u128::from(bound)) >> 64) as u64;
        let count = self.bins() as u64;
        let bins = [below(count) as usize, below(count) as usize, below(count) as usize];
        let node = 1 + below(self.plain_modulus() - 1);
        hash.zeroize();
        Place { bins, node }
    }

    /// Seals the label of an item, or opens one: both add the same stream.
    pub(super) fn sealed(&self, token: &Token, bytes: &mut [u8]) {
        let (_, key) = token.0.split_at(32);
        let key: Zeroizing<[u8; 32]> =
            Zeroizing::new(Sha256::new_with_prefix(self.seed()).chain_update(key).finalize().into());
        let mut stream = Zeroizing::new(vec![0; bytes.len()]);
        SeededRng::derive(&key, "label", 0).fill_bytes(&mut stream);
        bytes.iter_mut().zip(stream.iter()).for_each(|(byte, mask)| *byte ^= mask);
    }
}
