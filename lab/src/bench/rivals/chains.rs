//! The moduli that each library is compared with.

use sunzi_ckks::{LevelRange, Parameters};
use sunzi_math::{DEFAULT_PRIME_BOUND, primes_below};
use sunzi_rlwe::Security;
use sunzi_rlwe::security::max_log2_modulus;

use super::Library;
use super::widths::WIDE;
use crate::bench::{CHANGE, LabError, Result};

/// log2 of the scale of CKKS in comparisons: one prime a level in every library.
pub(super) const SCALE_BITS: u32 = 45;

/// Part of log2 QP that a whole number of moduli, or narrow ones, may fall short of.
const SHORT: f64 = 0.03;

/// The modulus chain of a library: ciphertext moduli and special ones.
pub(super) struct Chain {
    pub(super) q: Vec<u64>,
    /// Number of the moduli `q` that make Q_0 of CKKS.
    pub(super) base: usize,
    pub(super) p: Vec<u64>,
}

impl Chain {
    /// The chain of a library for BFV and BGV, of `bits` bits together: ciphertext moduli of at most `width` bits,
    /// and as many special moduli as its key switching is fastest with.
    pub(super) fn exact(library: Library, n: usize, bits: f64, width: f64) -> Result<Self> {
        let count = |bits: f64| (bits / width).ceil() as usize;
        let fifth = |total: usize| total.div_ceil(5);
        let (mut q, special) = match library {
            // Words of 64 bits, and no special modulus: the fewer the faster.
            Library::FheRs => (chain(n, bits, count(bits), width)?, 0),
            // One special modulus. As many bits of ciphertexts as ours have, where the table allows them.
            Library::Seal | Library::SealHexl => {
                let ours = (bits / (DEFAULT_PRIME_BOUND as f64).log2()).ceil();
                let log_q = bits * (1.0 - (ours / 5.0).ceil() / ours);
                let limbs = count(log_q);
                let each = (log_q / limbs as f64).min(bits / (limbs + 1) as f64);
                (chain(n, each * (limbs + 1) as f64, limbs + 1, width)?, 1)
            }
            // Its special moduli have 60 bits, whatever the others have; one for every digit's limb.
            Library::OpenFhe | Library::OpenFheHexl => {
                let special = fifth((bits / WIDE).ceil() as usize);
                let log_q = bits - WIDE * special as f64;
                // It takes whole bits: one modulus less may be 3 % short.
                let limbs = count(log_q - SHORT * bits);
                let mut q = chain(n, log_q.min(width * limbs as f64), limbs, width)?;
                q.extend(primes_below(1 << 60, 2 * n as u64, special)?);
                (q, special)
            }
            // Three or four digits; and transforms alone.
            Library::Lattigo | Library::HElib | Library::TfheNtt | Library::Hexl | Library::Sunzi => {
                let q = chain(n, bits, count(bits), width)?;
                let special = fifth(q.len());
                (q, special)
            }
        };
        let p = q.split_off(q.len() - special);
        Ok(Self { q, base: 1, p })
    }

    /// The chain of a library for CKKS: log2 Q and log2 P are 145 and 55, 325 and 110, 690 and 183, 1365 and
    /// 366 at most, of as many levels of one scale in every library. Four or five digits are the fastest in
    /// most; SEAL has one special modulus. Rivals have one prime as Q_0, of at most `width` bits.
    pub(super) fn approximate(library: Library, log_n: u32, width: f64) -> Result<Self> {
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
        // The other primes as ours has them.
        let step = 2 << log_n;
        let narrow = first_bits.min(width as u32);
        let (count, bits) = match library {
            Library::Seal | Library::SealHexl => (1, one_special(first_bits, narrow, levels)),
            _ => special,
        };
        let mut q = primes_below(1 << narrow, step, 1)?;
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

/// Bits of the one special modulus of SEAL in CKKS, which should have as many as any other modulus: as few as a
/// narrow Q_0 has, where log2 QP is then not much below that of the widest.
fn one_special(first_bits: u32, narrow: u32, levels: usize) -> u32 {
    let above = levels as f64 * f64::from(SCALE_BITS);
    let widest = above + f64::from(first_bits) + WIDE;
    let both = above + 2.0 * f64::from(narrow);
    if narrow < first_bits && both >= (1.0 - SHORT) * widest { narrow } else { WIDE as u32 }
}

/// `count` distinct primes ≡ 1 (mod 2n) of at most `width` bits whose product is just below 2^`bits`, all of
/// about one size.
fn chain(n: usize, bits: f64, count: usize, width: f64) -> Result<Vec<u64>> {
    let mut primes: Vec<u64> = Vec::new();
    let mut left = bits;
    for missing in (1..=count).rev() {
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
    use crate::bench::rivals::widths::NARROW;
    use sunzi_math::log2_product;

    #[test]
    fn chains_fill_the_bits_they_are_given() {
        let shapes =
            [(13, 214.0, 62.0, 4), (13, 214.0, 47.8, 5), (14, 430.0, 62.0, 7), (15, 868.0, 62.0, 14)];
        for (log_n, bits, width, count) in shapes {
            let primes = chain(1 << log_n, bits, count, width).unwrap();
            assert_eq!(primes.len(), count);
            let total = log2_product(&primes);
            assert!(bits - 1e-3 < total && total <= bits, "{total}");
            assert!(primes.iter().all(|prime| *prime < 1 << 62 && prime % (2 << log_n) == 1));
            assert!((1..count).all(|at| !primes[..at].contains(&primes[at])));
        }
    }

    #[test]
    fn narrow_chains_have_primes_below_their_width_and_equal_bits() {
        for (log_n, bits) in [(13, 214.0), (14, 430.0), (15, 868.0), (16, 1746.0)] {
            for library in [Library::SealHexl, Library::OpenFheHexl] {
                let [wide, narrow] =
                    [WIDE, NARROW].map(|width| Chain::exact(library, 1 << log_n, bits, width).unwrap());
                let log_qp = |chain: &Chain| log2_product(&chain.q) + log2_product(&chain.p);
                let ratio = log_qp(&narrow) / log_qp(&wide);
                assert!((1.0 - SHORT..1.0 + SHORT).contains(&ratio), "{library:?} {log_n}: {ratio}");
                assert!(log_qp(&narrow) <= bits && log_qp(&wide) <= bits, "{library:?} {log_n}");
                assert!(narrow.q.iter().all(|&prime| prime < 1 << 50), "{library:?} {log_n}: {:?}", narrow.q);
                assert!(wide.q.iter().all(|&prime| (1 << 50..1 << 60).contains(&prime)), "{:?}", wide.q);
                assert!(narrow.q.len() >= wide.q.len() && narrow.p.len() == wide.p.len());
            }
        }
    }

    #[test]
    fn narrow_chains_of_ckks_differ_in_the_first_and_special_moduli() {
        for (log_n, special_bits) in [(13, 60), (14, 60), (15, 50), (16, 50)] {
            let [wide, narrow] =
                [WIDE, NARROW].map(|width| Chain::approximate(Library::SealHexl, log_n, width).unwrap());
            assert_eq!(wide.q[1..], narrow.q[1..]);
            assert!(narrow.q[0] < 1 << 50 && wide.q[0] > 1 << 54);
            let special = narrow.p[0];
            assert!((1 << (special_bits - 1)..1 << special_bits).contains(&special), "{log_n}: {special}");
            assert!(!narrow.q.contains(&special));
            let log_qp = |chain: &Chain| log2_product(&chain.q) + log2_product(&chain.p);
            let ratio = log_qp(&narrow) / log_qp(&wide);
            assert!((1.0 - SHORT..1.0).contains(&ratio), "{log_n}: {ratio}");
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
            let [ours, theirs] = [Library::Sunzi, Library::Lattigo]
                .map(|library| Chain::approximate(library, log_n, WIDE).unwrap());
            for chain in [&ours, &theirs] {
                let (log_q, log_p) = (log2_product(&chain.q), log2_product(&chain.p));
                assert!((log_q - q).abs() < 0.05, "{log_n}: {log_q}");
                assert!(log_p < p + 0.05, "{log_n}: {log_p}");
            }
            assert_eq!(ours.q.len() - ours.base, theirs.q.len() - theirs.base);
        }
    }
}
