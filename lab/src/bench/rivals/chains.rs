//! The moduli that each library is compared with.

use sunzi_ckks::{LevelRange, Parameters};
use sunzi_math::{DEFAULT_PRIME_BOUND, primes_below};
use sunzi_rlwe::Security;
use sunzi_rlwe::security::max_log2_modulus;

use super::Library;
use crate::bench::{CHANGE, LabError, Result};

/// log2 of the scale of CKKS in comparisons: one prime a level in every library.
pub(super) const SCALE_BITS: u32 = 45;

/// Bits of the widest moduli that most libraries take.
const WIDTH: f64 = 60.0;

/// The modulus chain of a library: ciphertext moduli and special ones.
pub(super) struct Chain {
    pub(super) q: Vec<u64>,
    /// Number of the moduli `q` that make Q_0 of CKKS.
    pub(super) base: usize,
    pub(super) p: Vec<u64>,
}

impl Chain {
    /// The chain of a library for BFV and BGV, of `bits` bits together: as wide as the library is fast with,
    /// and with as many special moduli as its key switching is fastest with.
    pub(super) fn exact(library: Library, n: usize, bits: f64) -> Result<Self> {
        let ours = (DEFAULT_PRIME_BOUND as f64).log2();
        let fifth = |total: usize| total.div_ceil(5);
        let (mut q, special) = match library {
            // Words of 64 bits, and no special modulus: the fewer the faster.
            Library::FheRs => (chain(n, bits, 62.0)?, 0),
            // One special modulus. As many bits of ciphertexts as ours have, where the table allows them.
            Library::Seal | Library::SealHexl => {
                let count = (bits / ours).ceil();
                let log_q = bits * (1.0 - (count / 5.0).ceil() / count);
                let limbs = (log_q / WIDTH).ceil();
                let width = (log_q / limbs).min(bits / (limbs + 1.0));
                (chain(n, width * (limbs + 1.0), width)?, 1)
            }
            // Its special moduli have 60 bits, whatever the others have; one for every digit's limb.
            Library::OpenFhe | Library::OpenFheHexl => {
                let special = fifth((bits / WIDTH).ceil() as usize);
                let log_q = bits - WIDTH * special as f64;
                let mut q = chain(n, log_q, WIDTH)?;
                q.extend(primes_below(1 << 60, 2 * n as u64, special)?);
                (q, special)
            }
            // Three or four digits.
            Library::Lattigo | Library::HElib => {
                let q = chain(n, bits, WIDTH)?;
                let special = fifth(q.len());
                (q, special)
            }
            Library::TfheNtt | Library::Hexl | Library::Sunzi => {
                let q = chain(n, bits, ours)?;
                let special = fifth(q.len());
                (q, special)
            }
        };
        let p = q.split_off(q.len() - special);
        Ok(Self { q, base: 1, p })
    }

    /// The chain of a library for CKKS: log2 Q and log2 P are 145 and 55, 325 and 110, 690 and 183, 1365 and
    /// 366 at most, of as many levels of one scale in every library. Four or five digits are the fastest in
    /// most; SEAL has one special modulus.
    pub(super) fn approximate(library: Library, log_n: u32) -> Result<Self> {
        let (first_bits, levels, special) = match log_n {
            13 => (55, 2, (1, 55)),
            14 => (55, 6, (2, 55)),
            15 => (60, 14, (3, 61)),
            16 => (60, 29, (6, 61)),
            got => return Err(LabError::degree(got, &(13..=16), CHANGE)),
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
        let (count, bits) = match library {
            Library::Seal | Library::SealHexl => (1, 60),
            _ => special,
        };
        let mut q = primes_below(1 << first_bits, step, 1)?;
        q.extend(ours.moduli().iter().skip(base));
        let candidates = primes_below(1 << bits, step, count + 1)?;
        let p = candidates.into_iter().filter(|prime| !q.contains(prime)).take(count).collect();
        Ok(Self { q, base: 1, p })
    }
}

/// Bits of security by the table of 2024, for a uniform ternary secret at this degree and key modulus; 0 for
/// less than 128.
pub(super) fn security_bits(log_n: u32, log_key_modulus: f64) -> u32 {
    let levels = [(Security::Bits256, 256), (Security::Bits192, 192), (Security::Bits128, 128)];
    let holds =
        |security| max_log2_modulus(log_n, security).is_some_and(|limit| log_key_modulus <= f64::from(limit));
    levels.into_iter().find(|(security, _)| holds(*security)).map_or(0, |(_, bits)| bits)
}

/// The fewest distinct primes ≡ 1 (mod 2n) of at most `width` bits whose product is just below 2^`bits`,
/// all of about one size.
fn chain(n: usize, bits: f64, width: f64) -> Result<Vec<u64>> {
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
    fn security_is_that_of_the_table() {
        for (log_q, bits) in [(214.0, 128), (214.001, 0), (147.0, 192), (114.0, 256), (1.0, 256)] {
            assert_eq!(security_bits(13, log_q), bits, "{log_q}");
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
