//! The moduli that each library is compared with.

use sunzi_ckks::{LevelRange, Parameters};
use sunzi_math::{DEFAULT_PRIME_BOUND, primes_below};
use sunzi_rlwe::Security;

use super::Library;
use crate::BenchError;

/// log2 of the scale of CKKS: one prime a level in every library.
pub(super) const SCALE_BITS: u32 = 45;

/// Moduli of ciphertexts and special ones.
pub(super) struct Chain {
    pub(super) q: Vec<u64>,
    /// How many of `q` make Q_0 of CKKS.
    pub(super) base: usize,
    pub(super) p: Vec<u64>,
}

impl Chain {
    /// Of `bits` bits together: as wide as a library is fast with, and as many special ones as its key switching is
    /// fastest with.
    pub(super) fn exact(library: Library, n: usize, bits: f64) -> Result<Self, BenchError> {
        let (width, hybrid) = match library {
            // Words of 64 bits, and no special modulus: the fewer the faster.
            Library::FheRs => (62.0, false),
            // Three or four digits.
            Library::Lattigo => (60.0, true),
            Library::TfheNtt | Library::Sunzi => ((DEFAULT_PRIME_BOUND as f64).log2(), true),
        };
        let mut q = chain(n, bits, width)?;
        let special = if hybrid { q.len().div_ceil(5) } else { 0 };
        let p = q.split_off(q.len() - special);
        Ok(Self { q, base: 1, p })
    }

    /// For CKKS: log2 Q and log2 P are 325 and 110, 690 and 183, 1365 and 366 at most, of as many levels of one scale in
    /// every library. Four or five digits are the fastest, in both.
    pub(super) fn approximate(library: Library, log_n: u32) -> Result<Self, BenchError> {
        let (first_bits, levels, special) = match log_n {
            14 => (55, 6, (2, 55)),
            15 => (60, 14, (3, 61)),
            16 => (60, 29, (6, 61)),
            got => return Err(BenchError::Degree { got, low: 14, high: 16 }),
        };
        let ranges = [LevelRange { levels, scale_bits: SCALE_BITS }];
        let ours = Parameters::from_ranges(log_n, first_bits, &ranges, Security::Bits128)?.with_digits(4)?;
        let base = ours.levels().first().copied().unwrap_or_default();
        if library == Library::Sunzi {
            return Ok(Self {
                q: ours.moduli().to_vec(),
                base,
                p: ours.key_switching().special_moduli.clone(),
            });
        }
        // One prime as Q_0, the others as ours has them.
        let step = 2 << log_n;
        let (count, bits) = special;
        let mut q = primes_below(1 << first_bits, step, 1)?;
        q.extend(ours.moduli().iter().skip(base));
        let candidates = primes_below(1 << bits, step, count + 1)?;
        let p = candidates.into_iter().filter(|prime| !q.contains(prime)).take(count).collect();
        Ok(Self { q, base: 1, p })
    }
}

/// The fewest distinct primes ≡ 1 (mod 2n) of at most `width` bits whose product is just below 2^`bits`,
/// all of about one size.
fn chain(n: usize, bits: f64, width: f64) -> Result<Vec<u64>, BenchError> {
    let mut primes: Vec<u64> = Vec::new();
    let mut left = bits;
    for missing in (1..=(bits / width).ceil() as usize).rev() {
        let bound = (left / missing as f64).min(width).exp2() as u64;
        let candidates = primes_below(bound, 2 * n as u64, primes.len() + 1)?;
        let fresh = candidates.into_iter().find(|candidate| !primes.contains(candidate)).unwrap_or_default();
        left -= (fresh as f64).log2();
        primes.push(fresh);
    }
    Ok(primes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sunzi_math::log2_product;

    #[test]
    fn chains_fill_the_bits_they_are_given() {
        let shapes =
            [(13, 214.0, 62.0, 4), (13, 214.0, 47.8, 5), (14, 430.0, 62.0, 7), (15, 868.0, 62.0, 14)];
        for (log_n, bits, width, count) in shapes {
            let primes = chain(1 << log_n, bits, width).unwrap();
            assert_eq!(primes.len(), count);
            let total = log2_product(&primes);
            assert!(bits - 1e-3 < total && total <= bits, "{total}");
            assert!(primes.iter().all(|prime| *prime < 1 << 62 && prime % (2 << log_n) == 1));
            assert!((1..count).all(|at| !primes[..at].contains(&primes[at])));
        }
    }

    #[test]
    fn chains_of_ckks_are_of_one_size() {
        for (log_n, q, p) in [(14, 325.0, 110.0), (15, 690.0, 183.0), (16, 1365.0, 366.0)] {
            let [ours, theirs] =
                [Library::Sunzi, Library::Lattigo].map(|library| Chain::approximate(library, log_n).unwrap());
            for chain in [&ours, &theirs] {
                let (log_q, log_p) = (log2_product(&chain.q), log2_product(&chain.p));
                assert!((log_q - q).abs() < 0.05, "{log_n}: {log_q}");
                assert!(log_p < p + 0.05, "{log_n}: {log_p}");
            }
            assert_eq!(ours.q.len() - ours.base, theirs.q.len() - theirs.base);
        }
    }
}
