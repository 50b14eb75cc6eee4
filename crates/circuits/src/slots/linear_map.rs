//! Linear maps of the slots.

use sunzi_encoding::{Encoder, GaloisEncoder, Plaintext};
use sunzi_math::MathError;

use super::check_keys;
use crate::{Automorphisms, CircuitError, Outcome};

/// A map of every slot that is linear over Z_(p^r), such as taking out one coefficient or multiplying by a matrix of bits: Σ c_k·Frob^k(x), which
/// takes d − 1 automorphisms of one ciphertext and d products with plaintexts, fewer where coefficients are 0.
pub struct SlotMap<A: Automorphisms> {
    exponents: Vec<u64>,
    factors: Vec<A::Factor>,
}

impl<A: Automorphisms<Plaintext = Plaintext>> SlotMap<A> {
    /// Prepares a map for each slot, as the images of Y^0, …, Y^(d − 1); the last one serves all slots that follow.
    ///
    /// # Errors
    /// [`CircuitError::Empty`] without a map; [`CircuitError::Encoding`] for too many of them, or images that are no elements;
    /// [`CircuitError::Scheme`].
    pub fn new(arithmetic: &A, encoder: &GaloisEncoder, maps: &[Vec<Vec<u64>>]) -> Outcome<A, Self> {
        let linearized = |map: &Vec<Vec<u64>>| encoder.ring().linearized(map);
        let coefficients: Result<Vec<Vec<Vec<u64>>>, MathError> = maps.iter().map(linearized).collect();
        let coefficients = coefficients.map_err(sunzi_encoding::EncodingError::from)?;
        let last = coefficients.last().ok_or(CircuitError::Empty { what: "a linear map" })?;
        let (mut exponents, mut factors) = (Vec::new(), Vec::new());
        for k in 0..encoder.ring().degree() {
            let of_slot = coefficients.iter().chain(std::iter::repeat(last));
            let count = encoder.slots().max(coefficients.len());
            let column: Vec<&[u64]> =
                of_slot.take(count).filter_map(|c| c.get(k).map(Vec::as_slice)).collect();
            if column.iter().all(|c| c.iter().all(|&x| x == 0)) {
                continue;
            }
            exponents.push(encoder.frobenius_exponent(k as i64));
            factors.push(arithmetic.factor(&encoder.encode_elements(&column)?)?);
        }
        if factors.is_empty() {
            // The map to 0 is a product with 0.
            exponents.push(1);
            factors.push(arithmetic.factor(&encoder.encode(&[])?)?);
        }
        Ok(Self { exponents, factors })
    }

    /// The exponents that need keys.
    #[must_use]
    pub fn exponents(&self) -> &[u64] {
        &self.exponents
    }

    /// The mapped slots.
    ///
    /// # Errors
    /// [`CircuitError::MissingAutomorphism`]; [`CircuitError::Scheme`].
    pub fn apply(&self, arithmetic: &A, a: &A::Ciphertext, keys: &A::Keys) -> Outcome<A, A::Ciphertext> {
        check_keys(arithmetic, keys, false, self.exponents.iter().copied())?;
        let images = arithmetic.automorphisms(a, &self.exponents, keys)?;
        let terms: Vec<(&A::Ciphertext, &A::Factor)> = images.iter().zip(&self.factors).collect();
        arithmetic.sum_of_plain_products(&terms)
    }
}
