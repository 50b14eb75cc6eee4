//! What both sides of a comparison are given: operands and moduli.

use std::f64::consts::TAU;

use super::chains::{Chain, SCALE_BITS};
use super::protocol::Preparation;
use super::{Library, Scheme};
use crate::bench::job::expected::{expected, expected_complex};
use crate::bench::values::Values;
use crate::bench::{PLAIN_MODULUS, Result, check};

/// Plaintext modulus 786433, prime and ≡ 1 (mod 2n) at n = 2^16 as well, where [`PLAIN_MODULUS`] is not.
const LARGE_PLAIN_MODULUS: u64 = 786_433;

/// Number of parties that are compared.
const PARTIES: u32 = 8;

/// The two vectors of slots that both libraries compute with.
pub(super) enum Operands {
    /// Two vectors of slots modulo t, and t.
    Words([Vec<u64>; 2], u64),
    Reals([Vec<f64>; 2]),
}

impl Operands {
    pub(super) fn new(scheme: Scheme, log_n: u32) -> Self {
        let (n, t) = (1_usize << log_n, plain_modulus(log_n));
        let words = [1, 2].map(|seed| check::residues(n, t, seed));
        match scheme {
            Scheme::Bfv | Scheme::Bgv | Scheme::Parties => Self::Words(words, t),
            // Slots of absolute value 1, which products keep.
            Scheme::Ckks => Self::Reals(words.map(|words| {
                let slot = |word: &u64| {
                    let (im, re) = (*word as f64 / t as f64 * TAU).sin_cos();
                    [re, im]
                };
                words.iter().take(n / 2).flat_map(slot).collect()
            })),
        }
    }

    fn values(&self) -> [Values; 2] {
        match self {
            Self::Words(words, _) => words.clone().map(Values::Words),
            Self::Reals(reals) => reals.clone().map(Values::Reals),
        }
    }

    pub(super) fn expected(&self, name: &str) -> Values {
        match self {
            Self::Words([left, right], t) => Values::Words(expected(name, left, right, *t)),
            Self::Reals([left, right]) => Values::Reals(expected_complex(name, left, right)),
        }
    }
}

fn plain_modulus(log_n: u32) -> u64 {
    if log_n < 16 { PLAIN_MODULUS } else { LARGE_PLAIN_MODULUS }
}

/// The request that a library make keys and data ready.
///
/// `width` bounds the bits of its ciphertext moduli, unless they are as wide as it is fastest with, and `bits` log2 QP, unless the
/// security table does.
pub(super) fn preparation(
    scheme: Scheme,
    library: Library,
    log_n: u32,
    (width, bits): (Option<u32>, Option<u32>),
    operands: &Operands,
) -> Result<Preparation> {
    let n = 1_usize << log_n;
    let (t, log_scale) = match scheme {
        Scheme::Bfv | Scheme::Bgv | Scheme::Parties => (plain_modulus(log_n), 0),
        Scheme::Ckks => (0, SCALE_BITS),
    };
    let Chain { q, base, p } = Chain::of(library, scheme, log_n, (width, bits))?;
    let [left, right] = operands.values();
    let parties = (scheme == Scheme::Parties).then_some(PARTIES);
    let scheme = scheme.name().to_owned();
    Ok(Preparation { scheme, n, t, log_scale, q, base, p, parties, left, right, ..Preparation::default() })
}
