//! Deterministic random streams with domain separation.

use std::fmt;

use chacha20::ChaCha20Legacy;
use chacha20::cipher::{KeyIvInit, StreamCipher};
use rand_core::{Infallible, TryCryptoRng, TryRng};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// A ChaCha20 stream named by (seed, domain, index).
///
/// The domain is absorbed eight bytes at a time, its length first: each step replaces the key by the first
/// 32 bytes of the ChaCha20 stream whose 64-bit nonce is the block, so distinct names give independent
/// streams as long as ChaCha20 is a pseudo-random function (the cascade of Goldreich, Goldwasser and Micali,
/// over a prefix-free code). The output is the stream of nonce `index` under the last key, the same on every
/// machine.
///
/// **Two generators that go on from one state give the same numbers**, and two keys or encryptions made of the same
/// numbers give the secret away. So the generator has no `Clone`. Nothing stops the operating system from copying it:
/// after a `fork` (and in a restored snapshot of a virtual machine) parent and child hold the same state. Whoever
/// forks makes a generator anew in each process, `sunzi_rlwe::randomness::from_os` for one; to share work among
/// threads derive a stream for each with an index of its own.
///
/// ```
/// use rand_core::Rng;
/// use sunzi_ring::sampling::SeededRng;
///
/// let mut a = SeededRng::derive(&[7; 32], "relinearization key", 0);
/// let mut b = SeededRng::derive(&[7; 32], "relinearization key", 1);
/// assert_ne!(a.next_u64(), b.next_u64());
/// ```
pub struct SeededRng(ChaCha20Legacy);

impl SeededRng {
    /// The random stream that is named by a seed, a domain and an index.
    #[must_use]
    pub fn derive(seed: &[u8; 32], domain: &str, index: u64) -> Self {
        let mut key = Zeroizing::new(*seed);
        absorb(&mut key, domain.len() as u64);
        for chunk in domain.as_bytes().chunks(8) {
            let mut block = [0_u8; 8];
            for (to, from) in block.iter_mut().zip(chunk) {
                *to = *from;
            }
            absorb(&mut key, u64::from_le_bytes(block));
        }
        Self::of_nonce(&key, index)
    }

    /// The random stream of a nonce under a key.
    pub(crate) fn of_nonce(key: &[u8; 32], nonce: u64) -> Self {
        Self(stream(key, nonce))
    }

    /// The stream of nonce 0 under the given key: equal to that of `ChaCha20Rng::from_seed`, with AVX-512 four times
    /// as fast.
    #[must_use]
    pub fn from_key(key: &[u8; 32]) -> Self {
        Self(stream(key, 0))
    }
}

/// The cipher rather than the generator of an equal stream: it computes sixteen blocks at once where there is
/// AVX-512, the generator four.
fn stream(key: &[u8; 32], nonce: u64) -> ChaCha20Legacy {
    ChaCha20Legacy::new(key.into(), &nonce.to_le_bytes().into())
}

fn absorb(key: &mut [u8; 32], block: u64) {
    let mut next = [0_u8; 32];
    stream(key, block).write_keystream(&mut next);
    key.copy_from_slice(&next);
    next.zeroize();
}

impl TryRng for SeededRng {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let mut bytes = [0; 4];
        self.0.write_keystream(&mut bytes);
        Ok(u32::from_le_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut bytes = [0; 8];
        self.0.write_keystream(&mut bytes);
        Ok(u64::from_le_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.write_keystream(bytes);
        // The stream advances by words of 32 bits.
        let past = bytes.len().wrapping_neg() % 4;
        self.0.write_keystream([0; 3].get_mut(..past).unwrap_or_default());
        Ok(())
    }
}

impl TryCryptoRng for SeededRng {}

// The cipher erases its state when dropped.
impl ZeroizeOnDrop for SeededRng {}

impl fmt::Debug for SeededRng {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SeededRng")
    }
}
