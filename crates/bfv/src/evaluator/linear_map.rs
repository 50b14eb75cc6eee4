//! Sums of products of plaintexts with automorphisms of one ciphertext.

use sunzi_encoding::Plaintext;
use sunzi_rlwe::{GaloisKeys, PlainMultiplier, plain_factor};
use zeroize::Zeroizing;

use super::Evaluator;
use crate::{BfvError, Ciphertext};

/// A plaintext made ready to multiply automorphisms of ciphertexts modulo QP; erased when dropped.
#[derive(Clone)]
pub struct PreparedMultiplier {
    multiplier: PlainMultiplier,
    plain_modulus: u64,
}

/// An automorphism X → X^g of a sum Σ m_b·σ_b(a): g, and its terms (b, m_b).
pub type GiantStep<'a> = (u64, Vec<(u64, &'a PreparedMultiplier)>);

impl PreparedMultiplier {
    /// Bytes in memory: fewer for plaintexts whose slots repeat.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.multiplier.byte_len()
    }
}

impl Evaluator {
    /// A plaintext made ready for [`linear_map`](Self::linear_map): transformed once, modulo QP.
    ///
    /// # Errors
    /// [`sunzi_encoding::EncodingError::PlaintextMismatch`].
    pub fn prepare_multiplier(&self, plaintext: &Plaintext) -> Result<PreparedMultiplier, BfvError> {
        self.context.check_plaintext(plaintext)?;
        let multiplier = PlainMultiplier::new(self.context.rlwe(), &Zeroizing::new(plaintext.centred()))?;
        Ok(PreparedMultiplier { multiplier, plain_modulus: plaintext.modulus() })
    }

    /// Σ_g σ_g(Σ_b m_gb·σ_b(a)) for `steps` of an exponent g and terms (b, m_gb), where σ_k is X → X^k: a matrix times a vector by baby steps
    /// b and giant steps g, with digits for all baby steps together and one way down from modulo QP for all of it.
    ///
    /// # Errors
    /// [`BfvError::Empty`] without steps; [`sunzi_rlwe::RlweError::MissingGaloisKey`]; [`sunzi_rlwe::RlweError::WrongPartCount`] for three
    /// parts; [`BfvError::PlainModulusMismatch`] or [`BfvError::Ring`] for operands of other parameters.
    pub fn linear_map(
        &self,
        a: &Ciphertext,
        steps: &[GiantStep<'_>],
        keys: &GaloisKeys,
    ) -> Result<Ciphertext, BfvError> {
        self.context.check(a)?;
        for (_, prepared) in steps.iter().flat_map(|(_, terms)| terms) {
            self.context.check_plain_modulus(prepared.plain_modulus)?;
        }
        let steps: Vec<_> = steps
            .iter()
            .map(|(giant, terms)| (*giant, terms.iter().map(|&(baby, m)| (baby, &m.multiplier)).collect()))
            .collect();
        let t = self.context.plain_modulus();
        let sum = plain_factor::linear_map(self.context.rlwe(), a, &steps, keys, t)?;
        let sum = sum.ok_or(BfvError::Empty { what: "a linear map" })?;
        Ok(self.context.record(sum, "apply a linear map", &[a.trace()]))
    }
}
