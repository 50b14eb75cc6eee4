//! Tests of ternary secrets of a given weight, and of the network that shuffles them.

use rand_core::Rng;
use sunzi_ring::RingError;
use sunzi_ring::internals::sort;
use sunzi_ring::sampling::{SeededRng, fixed_weight_ternary};

#[test]
fn the_network_sorts_every_length() {
    let mut rng = SeededRng::derive(&[3; 32], "network", 0);
    for n in 0..70 {
        // Inputs sample the 0-1 principle, and are full words with repeats.
        for mask in [1, 7, u64::MAX >> 1] {
            for _ in 0..50 {
                let mut cards: Vec<u64> = (0..n).map(|_| rng.next_u64() & mask).collect();
                let mut expected = cards.clone();
                expected.sort_unstable();
                sort(&mut cards);
                assert_eq!(cards, expected);
            }
        }
    }
}

#[test]
fn the_weight_is_exact() {
    let mut rng = SeededRng::derive(&[3; 32], "weight", 0);
    for n in [1, 2, 64, 100, 1024] {
        for weight in [0, 1, n / 2, n] {
            let secret = fixed_weight_ternary(n, weight, &mut rng).unwrap();
            assert_eq!(secret.len(), n);
            assert_eq!(secret.iter().filter(|c| c.abs() == 1).count(), weight);
            assert_eq!(secret.iter().filter(|&&c| c == 0).count(), n - weight);
        }
    }
    assert!(matches!(fixed_weight_ternary(8, 9, &mut rng), Err(RingError::OutOfRange { .. })));
}
