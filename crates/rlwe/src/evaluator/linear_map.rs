//! Sums of products of plaintexts with automorphisms of one ciphertext.

use sunzi_encoding::Plaintext;

use super::{Evaluator, Exact};
use crate::{Ciphertext, GaloisKeys, PlainMultiplier, plain_factor};

const OPERATION: &str = "apply a linear map";

/// A plaintext prepared to multiply automorphisms of ciphertexts of any level modulo QP; erased when dropped.
#[derive(Clone)]
pub struct PreparedMultiplier {
    multiplier: PlainMultiplier,
    plain_modulus: u64,
}

/// A giant step of a linear map: exponent g of the automorphism X → X^g, and the terms (b, m_b) of Σ m_b·σ_b(a).
pub type GiantStep<'a> = (u64, Vec<(u64, &'a PreparedMultiplier)>);

impl PreparedMultiplier {
    /// Length of the prepared plaintext in memory, in bytes: shorter where the slots of the plaintext repeat.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.multiplier.byte_len()
    }
}

impl<S: Exact> Evaluator<S> {
    /// Prepares a plaintext for [`linear_map`](Self::linear_map): transforms it once, modulo QP.
    ///
    /// # Errors
    /// [`EncodingError::PlaintextMismatch`](sunzi_encoding::EncodingError) for a plaintext of another degree or modulus.
    pub fn prepare_multiplier(&self, plaintext: &Plaintext) -> Result<PreparedMultiplier, S::Error> {
        let multiplier = PlainMultiplier::new(S::rlwe(self.context()), &self.centred(plaintext)?)?;
        Ok(PreparedMultiplier { multiplier, plain_modulus: plaintext.modulus() })
    }

    /// Returns Σ_g σ_g(Σ_b m_gb·σ_b(a)) for a ciphertext a and `steps` of g and terms (b, m_gb), with σ_k for X → X^k:
    /// a matrix times a vector by baby steps b and giant steps g. Baby steps share their digits, and the sum is divided
    /// by P once. A budget counts its automorphisms, products and additions one by one.
    ///
    /// # Errors
    /// The scheme's error `Empty` without steps; [`RlweError::MissingGaloisKey`](crate::RlweError::MissingGaloisKey);
    /// [`RlweError::WrongPartCount`](crate::RlweError::WrongPartCount) for three parts; the scheme's errors for operands of other
    /// parameters, and its refusal of the result.
    pub fn linear_map(
        &self,
        a: &Ciphertext<S>,
        steps: &[GiantStep<'_>],
        keys: &GaloisKeys,
    ) -> Result<Ciphertext<S>, S::Error> {
        S::check(self.context(), a)?;
        let expected = S::plain_modulus(self.context());
        let mut moduli = steps.iter().flat_map(|(_, terms)| terms).map(|(_, m)| m.plain_modulus);
        if let Some(got) = moduli.find(|&got| got != expected) {
            return Err(S::other_modulus(expected, got));
        }
        let metadata = self.mapped(a.metadata(), steps)?;
        let steps: Vec<_> = steps
            .iter()
            .map(|(giant, terms)| (*giant, terms.iter().map(|&(baby, m)| (baby, &m.multiplier)).collect()))
            .collect();
        let sum = plain_factor::linear_map(S::rlwe(self.context()), a, &steps, keys, metadata)?;
        self.finish(sum.ok_or_else(|| S::empty("a linear map"))?, OPERATION, &[a.trace()])
    }

    /// Returns the metadata of the result of a linear map, from the metadata of its operand.
    fn mapped(&self, operand: &S::Metadata, steps: &[GiantStep<'_>]) -> Result<S::Metadata, S::Error> {
        let rotated = |metadata: S::Metadata, exponent: u64| {
            if exponent == 1 { Ok(metadata) } else { S::rotated(self.context(), &metadata) }
        };
        let join = |sum: Option<S::Metadata>, term: S::Metadata| match sum {
            Some(sum) => S::join(self.context(), &sum, &term, OPERATION),
            None => Ok(term),
        };
        let mut all = None;
        for (giant, terms) in steps {
            let mut inner = None;
            for &(baby, _) in terms {
                inner = Some(join(inner, rotated(S::multiplied(operand), baby)?)?);
            }
            if let Some(inner) = inner {
                all = Some(join(all, rotated(inner, *giant)?)?);
            }
        }
        Ok(all.unwrap_or_else(|| operand.clone()))
    }
}
