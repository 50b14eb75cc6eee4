//! Encoder for batching: n slots in two rows of n/2, one at each primitive 2n-th root of unity modulo t.
//!
//! With ζ the smallest primitive 2n-th root of unity modulo t, slot (row 0, column i) of m(X) is
//! m(ζ^{3^i}) and slot (row 1, column i) is m(ζ^{-3^i}). The powers of 3 and their negatives
//! reach every odd exponent once, so X → X^{3^s} moves each row by s columns and X → X^{-1}
//! swaps the rows. Slots are listed row 0 first.

use std::fmt;
use std::sync::Arc;

use sunzi_kernels::{Modulus, NttPlan, evaluation_exponent};
use sunzi_math::slot_exponents;
use zeroize::Zeroizing;

use crate::plaintext::check_plain_modulus;
use crate::slots::{row_rotation_exponent, row_swap_exponent};
use crate::{EncodingError, Plaintext};

use super::{Encoder, check_values};

/// Encodes 2 × n/2 numbers modulo a prime t ≡ 1 (mod 2n); sums and products act slot by slot.
///
/// ```
/// use sunzi_encoding::{BatchEncoder, Encoder};
///
/// let encoder = BatchEncoder::new(1024, 65537)?;
/// let plaintext = encoder.encode_signed(&[3, -4, 5])?;
/// assert_eq!(encoder.decode_signed(&plaintext)?[..4], [3, -4, 5, 0]);
/// # Ok::<(), sunzi_encoding::EncodingError>(())
/// ```
#[derive(Clone)]
pub struct BatchEncoder {
    plan: Arc<NttPlan>,
    /// Position of slot i in the output of the transform.
    positions: Arc<[u32]>,
    degree: usize,
    plain_modulus: u64,
}

impl BatchEncoder {
    /// Makes the encoder for ring degree n, a power of two from 2^6 to 2^17, and a prime t ≡ 1 (mod 2n).
    ///
    /// # Errors
    /// [`EncodingError::PlainModulusOutOfRange`]; [`EncodingError::DegreeOutOfRange`];
    /// [`EncodingError::NotBatchable`] where t has no 2n-th roots of unity.
    pub fn new(degree: usize, plain_modulus: u64) -> Result<Self, EncodingError> {
        check_plain_modulus(plain_modulus)?;
        crate::plaintext::check_degree(degree)?;
        if !is_batchable(degree, plain_modulus) {
            return Err(EncodingError::NotBatchable { plain_modulus, degree });
        }
        let plan = Arc::new(NttPlan::new(Modulus::new(plain_modulus)?, degree)?);
        let positions = slot_positions(degree)?;
        Ok(Self { plan, positions, degree, plain_modulus })
    }

    /// Length n/2 of a row; slots 0 … n/2 − 1 are row 0, the others row 1.
    #[must_use]
    pub fn row_length(&self) -> usize {
        self.degree / 2
    }

    /// Returns the k of the automorphism X → X^k that moves column i + `steps` to column i of each row.
    ///
    /// A positive `steps` rotates to the left, a negative one to the right; rotations are cyclic,
    /// so `steps` counts modulo n/2.
    #[must_use]
    pub fn rotation_exponent(&self, steps: i64) -> u64 {
        row_rotation_exponent(self.degree, steps)
    }

    /// Returns the k of the automorphism X → X^k that swaps the two rows: 2n − 1.
    #[must_use]
    pub fn row_swap_exponent(&self) -> u64 {
        row_swap_exponent(self.degree)
    }
}

impl fmt::Debug for BatchEncoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // All tables follow from degree and modulus.
        f.debug_struct("BatchEncoder")
            .field("degree", &self.degree)
            .field("plain_modulus", &self.plain_modulus)
            .finish_non_exhaustive()
    }
}

/// Whether t is a prime ≡ 1 (mod 2n), so that slots exist.
pub fn is_batchable(degree: usize, plain_modulus: u64) -> bool {
    // A degree that exceeds a word has no modulus.
    let index = (degree.max(1) as u64).saturating_mul(2);
    plain_modulus % index == 1 && sunzi_math::is_prime(plain_modulus)
}

/// Returns for each slot i the position, in evaluation order, of its exponent.
fn slot_positions(degree: usize) -> Result<Arc<[u32]>, EncodingError> {
    // Odd exponent e is entry (e − 1)/2.
    let mut position_of = vec![0_u32; degree];
    for position in 0..degree {
        if let Some(entry) = position_of.get_mut(evaluation_exponent(degree, position) / 2) {
            *entry = position as u32;
        }
    }
    let exponents = slot_exponents(2 * degree as u64)?;
    Ok(exponents.iter().filter_map(|&e| position_of.get((e / 2) as usize).copied()).collect())
}

impl Encoder for BatchEncoder {
    fn degree(&self) -> usize {
        self.degree
    }

    fn plain_modulus(&self) -> u64 {
        self.plain_modulus
    }

    fn slots(&self) -> usize {
        self.degree
    }

    fn encode(&self, values: &[u64]) -> Result<Plaintext, EncodingError> {
        check_values(values, self.degree, self.plain_modulus)?;
        let mut coefficients = vec![0; self.degree];
        for (&value, &position) in values.iter().zip(self.positions.iter()) {
            if let Some(entry) = coefficients.get_mut(position as usize) {
                *entry = value;
            }
        }
        self.plan.inverse(&mut coefficients)?;
        Plaintext::new(coefficients, self.plain_modulus)
    }

    fn decode(&self, plaintext: &Plaintext) -> Result<Vec<u64>, EncodingError> {
        plaintext.check(self.degree, self.plain_modulus)?;
        let mut values = Zeroizing::new(plaintext.coefficients().to_vec());
        self.plan.forward(&mut values)?;
        let value = |&position: &u32| values.get(position as usize).copied().unwrap_or_default();
        Ok(self.positions.iter().map(value).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Yields a deterministic stream of numbers in [0, `bound`).
    fn numbers(seed: u64, bound: u64) -> impl Iterator<Item = u64> {
        let mut state = seed;
        std::iter::repeat_with(move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((u128::from(state) * u128::from(bound)) >> 64) as u64
        })
    }

    /// Returns the schoolbook product of two polynomials modulo X^n + 1 and t.
    fn negacyclic_product(a: &[u64], b: &[u64], t: u64) -> Vec<u64> {
        let n = a.len();
        let mut out = vec![0_u64; n];
        for (i, &x) in a.iter().enumerate() {
            for (j, &y) in b.iter().enumerate() {
                let product = (u128::from(x) * u128::from(y) % u128::from(t)) as u64;
                let k = (i + j) % n;
                let term = if i + j < n { product } else { (t - product) % t };
                out[k] = (out[k] + term) % t;
            }
        }
        out
    }

    /// Returns the image a(X^k) modulo X^n + 1 and t.
    fn automorphism(a: &[u64], k: u64, t: u64) -> Vec<u64> {
        let n = a.len();
        let mut out = vec![0; n];
        for (i, &x) in a.iter().enumerate() {
            let e = i * k as usize % (2 * n);
            out[e % n] = if e < n { x } else { (t - x) % t };
        }
        out
    }

    /// Returns the least prime ≡ 1 (mod 2n) of at least `from`.
    fn prime_from(from: u64, n: u64) -> u64 {
        (from / (2 * n) * 2 * n + 1..)
            .step_by(2 * n as usize)
            .find(|&p| p >= from && sunzi_math::is_prime(p))
            .unwrap()
    }

    fn cases() -> Vec<BatchEncoder> {
        [
            (64, 257),
            (64, prime_from(1 << 59, 64)),
            (128, prime_from(1 << 47, 128)),
            (256, 65537),
            (1024, 12289),
        ]
        .into_iter()
        .map(|(n, t)| BatchEncoder::new(n, t).unwrap())
        .collect()
    }

    #[test]
    fn products_act_slot_by_slot() {
        for encoder in cases() {
            let (n, t) = (encoder.degree(), encoder.plain_modulus());
            let a: Vec<u64> = numbers(1, t).take(n).collect();
            let b: Vec<u64> = numbers(2, t).take(n).collect();
            let product = negacyclic_product(
                encoder.encode(&a).unwrap().coefficients(),
                encoder.encode(&b).unwrap().coefficients(),
                t,
            );
            let slots = encoder.decode(&Plaintext::new(product, t).unwrap()).unwrap();
            for i in 0..n {
                assert_eq!(u128::from(slots[i]), u128::from(a[i]) * u128::from(b[i]) % u128::from(t));
            }
        }
    }

    #[test]
    fn automorphisms_rotate_rows_to_the_left_and_swap_them() {
        for encoder in cases() {
            let (n, t, half) = (encoder.degree(), encoder.plain_modulus(), encoder.row_length());
            let a: Vec<u64> = numbers(3, t).take(n).collect();
            let plaintext = encoder.encode(&a).unwrap();
            for steps in [1_i64, 2, 5, -1, -3, half as i64 - 1, half as i64, 0, i64::MAX, i64::MIN] {
                let k = encoder.rotation_exponent(steps);
                let moved = Plaintext::new(automorphism(plaintext.coefficients(), k, t), t).unwrap();
                let slots = encoder.decode(&moved).unwrap();
                for i in 0..half {
                    let from = (i as i128 + i128::from(steps)).rem_euclid(half as i128) as usize;
                    assert_eq!(slots[i], a[from], "n = {n}, steps {steps}, row 0, column {i}");
                    assert_eq!(slots[half + i], a[half + from], "n = {n}, steps {steps}, row 1, column {i}");
                }
            }
            let swapped = automorphism(plaintext.coefficients(), encoder.row_swap_exponent(), t);
            let slots = encoder.decode(&Plaintext::new(swapped, t).unwrap()).unwrap();
            assert_eq!(slots[..half], a[half..]);
            assert_eq!(slots[half..], a[..half]);
        }
    }

    #[test]
    fn values_round_trip_and_short_input_is_padded() {
        for encoder in cases() {
            let (n, t) = (encoder.degree(), encoder.plain_modulus());
            let a: Vec<u64> = numbers(4, t).take(n).collect();
            assert_eq!(encoder.decode(&encoder.encode(&a).unwrap()).unwrap(), a);
            let all_high = vec![t - 1; n];
            assert_eq!(encoder.decode(&encoder.encode(&all_high).unwrap()).unwrap(), all_high);
            let short = encoder.encode_signed(&[-1, 2]).unwrap();
            let back = encoder.decode_signed(&short).unwrap();
            assert_eq!(back[..2], [-1, 2]);
            assert!(back[2..].iter().all(|&x| x == 0));
            assert!(encoder.encode(&[]).unwrap().is_zero());
        }
    }

    #[test]
    fn the_same_number_everywhere_is_a_constant_polynomial() {
        let encoder = BatchEncoder::new(128, 257).unwrap();
        let plaintext = encoder.encode(&[200; 128]).unwrap();
        assert_eq!(plaintext, Plaintext::constant(200, 128, 257).unwrap());
    }

    #[test]
    fn misuse_is_an_error() {
        assert!(matches!(BatchEncoder::new(1024, 65536), Err(EncodingError::NotBatchable { .. })));
        assert!(matches!(BatchEncoder::new(1024, 40961 * 3), Err(EncodingError::NotBatchable { .. })));
        assert!(matches!(BatchEncoder::new(1024, 257), Err(EncodingError::NotBatchable { .. })));
        assert!(matches!(BatchEncoder::new(1024, 2), Err(EncodingError::NotBatchable { .. })));
        assert!(matches!(BatchEncoder::new(1000, 65537), Err(EncodingError::DegreeOutOfRange { .. })));
        assert!(matches!(BatchEncoder::new(0, 65537), Err(EncodingError::DegreeOutOfRange { .. })));
        assert!(BatchEncoder::new(1024, 1).is_err());
        let encoder = BatchEncoder::new(64, 257).unwrap();
        assert!(matches!(encoder.encode(&[0; 65]), Err(EncodingError::TooManyValues { got: 65, slots: 64 })));
        assert!(matches!(encoder.encode(&[0, 0, 257]), Err(EncodingError::ValueOutOfRange { index: 2, .. })));
        assert!(matches!(
            encoder.encode_signed(&[129]),
            Err(EncodingError::ValueOutOfRange { index: 0, .. })
        ));
        let foreign = Plaintext::constant(1, 128, 257).unwrap();
        assert!(matches!(encoder.decode(&foreign), Err(EncodingError::PlaintextMismatch { .. })));
    }
}
