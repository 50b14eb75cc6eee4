//! Tests of conversions to doubles: the sums of vectors against those of multiply-adds.

use rand_core::Rng;
use sunzi_kernels::Modulus;
use sunzi_math::{DEFAULT_PRIME_BOUND, primes_below};
use sunzi_ring::internals::{NARROW, horner, horner_of_doubles};
use sunzi_ring::sampling::SeededRng;

/// Checks that both ways of summing to doubles agree bit by bit, at the ends of all digits and inside.
#[test]
fn sums_of_doubles_are_those_of_multiply_adds() {
    let mut rng = SeededRng::derive(&[1; 32], "digits", 0);
    for bound in [5, 1 << 20, DEFAULT_PRIME_BOUND, NARROW] {
        let primes = primes_below(bound, 2, if bound == 5 { 1 } else { 17 }).unwrap();
        let moduli: Vec<Modulus> = primes.iter().map(|&q| Modulus::new(q).unwrap()).collect();
        for count in 1..=moduli.len() {
            let moduli = &moduli[..count];
            let digit = |q: &Modulus, at: usize, random: u64| match at % 8 {
                0 => (q.value() / 2).cast_signed(),
                1 => -(q.value() / 2).cast_signed(),
                2 => 0,
                _ => (random % q.value()).cast_signed() - (q.value() / 2).cast_signed(),
            };
            let digits: Vec<Vec<i64>> = moduli
                .iter()
                .map(|q| (0..64).map(|at| digit(q, at + at / 8, rng.next_u64())).collect())
                .collect();
            let mut sums = [1.0; 64];
            horner_of_doubles(digits.iter().map(Vec::as_slice).zip(moduli).rev(), &mut sums);
            for (at, sum) in sums.iter().enumerate() {
                let one = digits.iter().map(|row| &row[at]).zip(moduli).rev();
                assert_eq!(sum.to_bits(), horner(one).to_bits(), "{bound} {count} {at}");
            }
        }
    }
}
