//! The moduli that each library is compared with.

use sunzi_ckks::{LevelRange, Parameters};
use sunzi_math::{DEFAULT_PRIME_BOUND, primes_below};
use sunzi_rlwe::Security;
use sunzi_rlwe::security::max_log2_modulus;

use super::widths::{self, EQUAL, WIDE};
use super::{Library, Scheme};
use crate::bench::{CHANGE, LabError, Result};

/// log2 of the scale of CKKS in comparisons: one prime a level in every library.
pub(super) const SCALE_BITS: u32 = 45;

/// Bits of the one special modulus of Sunzi where every library has one: the most that its kernels take.
const OUR_SPECIAL_BITS: u32 = 47;

/// Bits of log2 QP that OpenFHE cannot do without in CKKS at n = 2^13.
const LEAST_OF_OPENFHE: u32 = 195;

/// The modulus chain of a library: ciphertext moduli and special ones.
pub(super) struct Chain {
    pub(super) q: Vec<u64>,
    /// Number of the moduli `q` that make Q_0 of CKKS.
    pub(super) base: usize,
    pub(super) p: Vec<u64>,
}

impl Chain {
    /// The chain that a library is compared with in a scheme; `width` bounds the bits of its ciphertext moduli,
    /// unless they are as wide as it is fastest with, and `most` log2 QP, unless the security table does.
    pub(super) fn of(
        library: Library,
        scheme: Scheme,
        log_n: u32,
        (width, most): (Option<u32>, Option<u32>),
    ) -> Result<Self> {
        let limit = max_log2_modulus(log_n, Security::Bits128).unwrap_or_default();
        let bits = most.map_or(limit, |most| most.min(limit));
        let width = match (width, library) {
            (Some(width), _) => f64::from(width),
            (None, Library::Sunzi) => widths::ours(scheme, f64::from(bits)),
            _ => widths::fastest(library, scheme, log_n),
        };
        match scheme {
            Scheme::Bfv | Scheme::Bgv | Scheme::Parties => {
                Self::exact(library, 1 << log_n, f64::from(bits), width)
            }
            Scheme::Ckks => Self::approximate(library, log_n, (width, most)),
        }
    }

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
                let limbs = count(log_q - EQUAL * bits);
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

    /// The chain of a library for CKKS: as many levels of one scale in every library, and log2 QP within
    /// 3 % of one number. SEAL has one special modulus, as wide as its Q_0; where others need several,
    /// it has fewer bits than that.
    pub(super) fn approximate(
        library: Library,
        log_n: u32,
        (width, most): (f64, Option<u32>),
    ) -> Result<Self> {
        let sizes = Sizes::within(log_n, most)?;
        let ranges = [LevelRange { levels: sizes.levels, scale_bits: SCALE_BITS }];
        let ours = Parameters::from_ranges(log_n, sizes.first_bits, &ranges, Security::Bits128)?;
        let ours = match sizes.special {
            // The least digits: a special modulus has room for one modulus, and no more.
            1 => ours.with_special(1, OUR_SPECIAL_BITS)?,
            _ => ours.with_digits(4)?,
        };
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
        let first = sizes.rival_first_bits.min(width as u32);
        let (count, bits) = match library {
            Library::Seal | Library::SealHexl => (1, first),
            Library::OpenFhe | Library::OpenFheHexl => (sizes.special, WIDE as u32),
            _ => (sizes.special, sizes.special_bits),
        };
        // The special primes of OpenFHE have 60 bits: a smaller Q_0 makes up for it.
        let first = match library {
            Library::OpenFhe | Library::OpenFheHexl => first.min(sizes.openfhe_first_bits),
            _ => first,
        };
        let mut q = primes_below(1 << first, step, 1)?;
        q.extend(ours.moduli().iter().skip(base));
        let candidates = primes_below(1 << bits, step, count + 1)?;
        let p = candidates.into_iter().filter(|prime| !q.contains(prime)).take(count).collect();
        Ok(Self { q, base: 1, p })
    }
}

/// Sizes of the moduli of CKKS at one degree.
pub(super) struct Sizes {
    /// Number of levels of every library.
    levels: usize,
    /// Bits of Sunzi's Q_0, and the most of a rival's and of OpenFHE's.
    first_bits: u32,
    rival_first_bits: u32,
    openfhe_first_bits: u32,
    /// Number of special moduli of a rival that may have several, and their bits where it is told them.
    special: usize,
    special_bits: u32,
}

impl Sizes {
    /// Sizes of the moduli at 2^`log_n`: as many levels as the table of 2024 has room for.
    ///
    /// Key moduli of one special modulus are the only ones that all libraries can have of one size: SEAL has no
    /// more, and OpenFHE's two take 120 bits. From n = 2^15 on there is room for several, which are faster.
    pub(super) fn of(log_n: u32) -> Result<Self> {
        let (levels, [first_bits, rival_first_bits, openfhe_first_bits], (special, special_bits)) =
            match log_n {
                13 => (2, [58, 52, 50], (1, 53)),
                14 => (7, [47, 52, 46], (1, 53)),
                15 => (14, [57, 58, 58], (3, 60)),
                16 => (29, [60, 60, 60], (6, 60)),
                got => return Err(LabError::degree(got, &(13..=16), CHANGE)),
            };
        Ok(Self { levels, first_bits, rival_first_bits, openfhe_first_bits, special, special_bits })
    }

    /// Moduli within `most` bits of log2 QP: at n = 2^13 Q_0 is then one prime in every library, and as wide as the special modulus.
    /// OpenFHE, whose special modulus has 60 bits, is not compared.
    fn within(log_n: u32, most: Option<u32>) -> Result<Self> {
        let sizes = Self::of(log_n)?;
        Ok(match most {
            Some(most) if log_n == 13 && most < LEAST_OF_OPENFHE => {
                let bits = OUR_SPECIAL_BITS;
                Self { first_bits: bits, rival_first_bits: bits, special_bits: bits, ..sizes }
            }
            _ => sizes,
        })
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
                let ratio = log_qp(&narrow) / log_qp(&wide);
                assert!((1.0 - EQUAL..1.0 + EQUAL).contains(&ratio), "{library:?} {log_n}: {ratio}");
                assert!(log_qp(&narrow) <= bits && log_qp(&wide) <= bits, "{library:?} {log_n}");
                assert!(narrow.q.iter().all(|&prime| prime < 1 << 50), "{library:?} {log_n}: {:?}", narrow.q);
                assert!(wide.q.iter().all(|&prime| (1 << 50..1 << 60).contains(&prime)), "{:?}", wide.q);
                assert!(narrow.q.len() >= wide.q.len() && narrow.p.len() == wide.p.len());
            }
        }
    }

    #[test]
    fn narrow_chains_of_ckks_differ_in_the_first_and_special_moduli() {
        for log_n in 13..=16 {
            let [wide, narrow] = [WIDE, NARROW]
                .map(|width| Chain::approximate(Library::SealHexl, log_n, (width, None)).unwrap());
            assert_eq!(wide.q[1..], narrow.q[1..]);
            assert!(narrow.q[0] < 1 << 50 && wide.q[0] > 1 << 51);
            let special = narrow.p[0];
            assert!((1 << 49..1 << 50).contains(&special), "{log_n}: {special}");
            assert!(!narrow.q.contains(&special));
            assert!(log_qp(&narrow) < log_qp(&wide), "{log_n}");
        }
    }

    #[test]
    fn fewer_bits_give_every_library_three_moduli_and_a_special_one() {
        let within = |library, scheme, bits| Chain::of(library, scheme, 13, (None, Some(bits))).unwrap();
        let shape = |chain: &Chain| (chain.q.len(), chain.base, chain.p.len());
        for library in [Library::Sunzi, Library::SealHexl, Library::Lattigo] {
            let (exact, approximate) =
                (within(library, Scheme::Bgv, 196), within(library, Scheme::Ckks, 190));
            assert_eq!([shape(&exact), shape(&approximate)], [(3, 1, 1); 2], "{library:?}");
            // Primes of the scale may be a little above a power of two.
            for (chain, expected) in [(&exact, 196.0), (&approximate, 184.0)] {
                assert!((log_qp(chain) - expected).abs() < 1e-3, "{library:?}: {}", log_qp(chain));
            }
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
        use Library::{HElib, Lattigo, OpenFhe, OpenFheHexl, Seal, SealHexl, Sunzi};
        for log_n in 13..=16 {
            let sizes = Sizes::of(log_n).unwrap();
            for library in [Sunzi, Lattigo, HElib, OpenFhe, OpenFheHexl, Seal, SealHexl] {
                for width in [NARROW, WIDE] {
                    let chain = Chain::approximate(library, log_n, (width, None)).unwrap();
                    assert_eq!(chain.q.len() - chain.base, sizes.levels, "{library:?} {log_n}");
                    assert!(security_bits(log_n, log_qp(&chain)) >= 128, "{library:?} {log_n}");
                    let part = log_qp(&chain) / told(&sizes);
                    // One special modulus for three or six is less, and faster.
                    let one = matches!(library, Seal | SealHexl) && sizes.special > 1;
                    assert_eq!(
                        (1.0 - EQUAL..1.0 + EQUAL).contains(&part),
                        !one,
                        "{library:?} {log_n}: {part}"
                    );
                    assert!(part < 1.0 + EQUAL, "{library:?} {log_n}: {part}");
                }
            }
        }
    }

    /// log2 QP of a rival that is told all its moduli.
    fn told(sizes: &Sizes) -> f64 {
        let above = sizes.levels * SCALE_BITS as usize + sizes.special * sizes.special_bits as usize;
        above as f64 + f64::from(sizes.rival_first_bits)
    }

    fn log_sizes(chain: &Chain) -> [f64; 2] {
        let log_q = log2_product(&chain.q);
        [log_q, log_q + log2_product(&chain.p)]
    }

    fn log_qp(chain: &Chain) -> f64 {
        log_sizes(chain)[1]
    }

    /// Tests every rival against Sunzi as they are compared, at the width that it is fastest with.
    #[test]
    fn rivals_have_the_modulus_of_ours_or_are_named() {
        use Library::{FheRs, HElib, Lattigo, OpenFhe, OpenFheHexl, Seal, SealHexl};
        for library in [FheRs, Lattigo, HElib, OpenFhe, OpenFheHexl, Seal, SealHexl] {
            for &scheme in library.schemes() {
                for log_n in 13..=16 {
                    let [ours, theirs] = [Library::Sunzi, library]
                        .map(|library| log_sizes(&Chain::of(library, scheme, log_n, (None, None)).unwrap()));
                    let told = widths::unequal(library, ours, theirs).unwrap();
                    let least = if scheme == Scheme::Ckks { 15 } else { 14 };
                    let one = matches!(library, Seal | SealHexl) && log_n >= least;
                    assert_eq!(told.is_some(), one, "{library:?} {scheme:?} {log_n}: {told:?}");
                }
            }
        }
    }
}
