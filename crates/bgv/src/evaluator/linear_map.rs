//! Sums of products of plaintexts with automorphisms of one ciphertext.

use sunzi_encoding::Plaintext;
use sunzi_rlwe::{GaloisKeys, PlainMultiplier, plain_factor};
use zeroize::Zeroizing;

use super::Evaluator;
use crate::{BgvError, Ciphertext, Usage};

/// A plaintext made ready to multiply automorphisms of ciphertexts of any level modulo QP; erased when dropped.
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
    pub fn prepare_multiplier(&self, plaintext: &Plaintext) -> Result<PreparedMultiplier, BgvError> {
        plaintext.check(self.context.degree(), self.context.plain_modulus())?;
        let multiplier = PlainMultiplier::new(self.context.rlwe(), &Zeroizing::new(plaintext.centred()))?;
        Ok(PreparedMultiplier { multiplier, plain_modulus: plaintext.modulus() })
    }

    /// Σ_g σ_g(Σ_b m_gb·σ_b(a)) for `steps` of an exponent g and terms (b, m_gb), where σ_k is X → X^k: a matrix times a vector by baby steps
    /// b and giant steps g, with digits for all baby steps together and one way down from modulo QP for all of it. It uses of the budget what
    /// its automorphisms, products and additions would one by one.
    ///
    /// # Errors
    /// [`BgvError::Empty`] without steps; [`sunzi_rlwe::RlweError::MissingGaloisKey`]; [`sunzi_rlwe::RlweError::WrongPartCount`] for three
    /// parts; [`BgvError::Undeclared`]; [`BgvError::BudgetExceeded`]; [`BgvError::PlainModulusMismatch`], [`BgvError::LevelMismatch`] or
    /// [`BgvError::Ring`] for operands of other parameters.
    pub fn linear_map(
        &self,
        a: &Ciphertext,
        steps: &[GiantStep<'_>],
        keys: &GaloisKeys,
    ) -> Result<Ciphertext, BgvError> {
        self.context.check(a)?;
        let expected = self.context.plain_modulus();
        let moduli = steps.iter().flat_map(|(_, terms)| terms).map(|(_, m)| m.plain_modulus);
        if let Some(got) = moduli.into_iter().find(|&got| got != expected) {
            return Err(BgvError::PlainModulusMismatch { expected, got });
        }
        let mut metadata = a.metadata().clone();
        metadata.usage = mapped(&metadata.usage, steps);
        let steps: Vec<_> = steps
            .iter()
            .map(|(giant, terms)| (*giant, terms.iter().map(|&(baby, m)| (baby, &m.multiplier)).collect()))
            .collect();
        let sum = plain_factor::linear_map(self.context.rlwe(), a, &steps, keys, metadata)?;
        let sum = sum.ok_or(BgvError::Empty { what: "a linear map" })?;
        self.context.finish(sum, "apply a linear map", &[a.trace()])
    }
}

/// What a linear map makes of what its operand used.
fn mapped(usage: &Usage, steps: &[GiantStep<'_>]) -> Usage {
    let turned = |usage: Usage, exponent: u64| {
        let rotations = usage.rotations.saturating_add(u64::from(exponent != 1));
        Usage { rotations, ..usage }
    };
    let product = |&(baby, _): &(u64, &PreparedMultiplier)| {
        let plain_products = usage.plain_products.saturating_add(1);
        Usage { plain_products, ..turned(*usage, baby) }
    };
    let join = |a: Usage, b: Usage| a.sum(&b);
    let sums = steps
        .iter()
        .filter_map(|(giant, terms)| Some(turned(terms.iter().map(product).reduce(join)?, *giant)));
    sums.reduce(join).unwrap_or(*usage)
}
