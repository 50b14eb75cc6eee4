//! Tests that public values are never the output of the random generator itself, from which secrets come too.

use crate::storage::stored;
use std::collections::HashSet;

use rand_core::{Infallible, TryCryptoRng, TryRng};
use sunzi_big::BigRing;
use sunzi_ring::{Ring, Storage};
use sunzi_rlwe::encryption::zero_secret;
use sunzi_rlwe::{RelinearizationKey, RlweContext, SecretKey, Security};

/// A random generator that gives words of a simple sequence and records them.
struct Recorder {
    state: u64,
    words: HashSet<u64>,
}

impl TryRng for Recorder {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.try_next_u64().map(|word| word as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        self.words.insert(self.state);
        Ok(self.state)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for chunk in bytes.chunks_mut(8) {
            let word = self.try_next_u64()?.to_le_bytes();
            for (to, from) in chunk.iter_mut().zip(word) {
                *to = from;
            }
        }
        Ok(())
    }
}

impl TryCryptoRng for Recorder {}

fn words(bytes: &[u8]) -> Vec<u64> {
    bytes.chunks_exact(8).map(|chunk| u64::from_le_bytes(chunk.try_into().unwrap())).collect()
}

#[test]
fn nothing_public_is_raw_output_of_the_generator() {
    let moduli = sunzi_math::primes_with_bits(62, 128, 2).unwrap();
    let ring = Ring::new(128, &moduli).unwrap();
    let context = RlweContext::new(ring, Security::InsecureForResearchOnly).unwrap();
    let mut rng = Recorder { state: 1, words: HashSet::new() };
    let secret = SecretKey::generate(&context, &mut rng).unwrap();
    let key = RelinearizationKey::generate(&context, &secret, &mut rng).unwrap();
    let parts = zero_secret(&context, &secret, context.level(), &mut rng).unwrap().parts;
    let mut public = words(key.key().seed());
    public.extend(words(secret.id().as_bytes()));
    public.extend(parts.iter().flat_map(|part| part.words()).copied());
    assert!(public.len() > 6 && public.iter().all(|word| !rng.words.contains(word)));
}

#[test]
fn one_generator_gives_different_seeds_and_names() {
    let ring = stored(BigRing::new(128, &65_537_u32.into()).unwrap(), Storage::Big);
    let context = RlweContext::new(ring, Security::InsecureForResearchOnly).unwrap();
    let mut rng = Recorder { state: 2, words: HashSet::new() };
    let secrets: Vec<_> = (0..3).map(|_| SecretKey::generate(&context, &mut rng).unwrap()).collect();
    let ids: HashSet<_> = secrets.iter().map(SecretKey::id).collect();
    let keys = secrets.iter().map(|s| RelinearizationKey::generate(&context, s, &mut rng).unwrap());
    let seeds: HashSet<_> = keys.map(|key| *key.key().seed()).collect();
    assert_eq!((ids.len(), seeds.len()), (3, 3));
}
