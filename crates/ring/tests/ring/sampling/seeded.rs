//! Tests of streams of named seeds against the cipher of another library.

use std::collections::HashSet;

use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use sunzi_ring::internals::stream;
use sunzi_ring::sampling::SeededRng;

/// Checks that streams agree whatever is drawn, in pieces of all lengths, and also where sixteen blocks end.
#[test]
fn the_cipher_is_the_generator() {
    for index in [0, 1, u64::MAX] {
        let mut ours = match index {
            0 => SeededRng::from_key(&[3; 32]),
            _ => stream(&[3; 32], index),
        };
        let mut other = ChaCha20Rng::from_seed([3; 32]);
        other.set_stream(index);
        for round in 0..40 {
            for len in [0, 1, 2, 3, 4, 7, 63, 64, 65, 1023, 1024, 1025 + round, 16384, 20001] {
                let (mut a, mut b) = (vec![1; len], vec![2; len]);
                ours.fill_bytes(&mut a);
                other.fill_bytes(&mut b);
                assert_eq!(a, b, "{index} {len}");
                assert_eq!(ours.next_u32(), other.next_u32());
                assert_eq!(ours.next_u64(), other.next_u64());
            }
        }
    }
}

#[test]
fn every_part_of_the_name_matters_and_nothing_else() {
    let mut seen = HashSet::new();
    let long = "x".repeat(100);
    let domains = ["", "\0", "\0\0", "a", "a\0", "key", "keys", "exactly8", "exactly8\0", "exactly9.", &long];
    for seed in [[0_u8; 32], [1; 32]] {
        for domain in domains {
            for index in [0, 1, u64::MAX] {
                let mut a = SeededRng::derive(&seed, domain, index);
                let mut b = SeededRng::derive(&seed, domain, index);
                let first = a.next_u64();
                assert_eq!(first, b.next_u64());
                assert!(seen.insert(first), "{domain:?} {index}");
            }
        }
    }
}

#[test]
fn the_stream_is_frozen() {
    // Ciphertexts travel as seeds: this value must never change.
    let mut rng = SeededRng::derive(&[0; 32], "sunzi", 1);
    assert_eq!(rng.next_u64(), FROZEN);
}

const FROZEN: u64 = 13_316_862_915_275_391_354;
