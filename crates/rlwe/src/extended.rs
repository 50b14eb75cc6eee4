//! Double hoisting: sums of rotated ciphertexts modulo Q_l·P, before the division by P.
//!
//! A key switch begins with a cut into digits and ends with a division by P. Rotations of one ciphertext share their
//! digits ([`galois::hoist`]); sums of plaintexts times rotations share the division as well, if they are taken modulo
//! Q_l·P `[BMTH21, 5]`. A rotation of such a sum divides one of its halves only.

use num_bigint::BigInt;
use rayon::prelude::*;
use sunzi_ring::{Evaluation, Multiplier, Poly, Rotation, SwitchInput};

use crate::galois::{self, Hoisted};
use crate::seeded_parts::Halves;
use crate::{Ciphertext, GaloisKeys, KeyId, NoiseBound, RlweContext, RlweError, Scheme};

/// An extended ciphertext: P times one of level l, modulo Q_l·P, with the error of a key switch not yet divided by P.
/// Without special moduli it is a ciphertext.
#[derive(Clone)]
pub struct ExtendedCiphertext {
    parts: [Poly<Evaluation>; 2],
    level: usize,
    key: KeyId,
}

impl<S: Scheme> Hoisted<'_, S> {
    /// Applies the automorphism X → X^k without the division by P: returns P times the ciphertext of m(X^k).
    ///
    /// # Errors
    /// Every error of [`automorphism`](Self::automorphism).
    pub fn extended(&self, exponent: u64, keys: &GaloisKeys) -> Result<ExtendedCiphertext, RlweError> {
        let (context, ciphertext) = (self.context(), self.ciphertext());
        ciphertext.check_key(keys.id(), "the Galois key set")?;
        let [c0, c1] = ciphertext.two_parts("an automorphism")?;
        let level = context.ring().level_of(c1)?;
        let gadget = context.gadget_at(level)?;
        let parts = if exponent == 1 {
            [gadget.key_ring().scale_up(c0)?, gadget.key_ring().scale_up(c1)?]
        } else {
            let halves = keys.get(exponent)?.halves(context, level)?;
            let input = SwitchInput::Digits(self.digits());
            gadget.switch_extended(input, Some(c0), halves.both(), exponent)?
        };
        Ok(ExtendedCiphertext { parts, level, key: ciphertext.key() })
    }
}

impl ExtendedCiphertext {
    /// The level l of the ciphertext of which the extended ciphertext is a multiple.
    #[must_use]
    pub fn level(&self) -> usize {
        self.level
    }

    /// Applies the automorphism X → X^k without the division by P: returns P times the ciphertext of m(X^k).
    ///
    /// # Errors
    /// [`RlweError::KeyMismatch`], [`RlweError::MissingGaloisKey`], [`RlweError::KeyLevel`].
    pub fn automorphism(
        &self,
        context: &RlweContext,
        exponent: u64,
        keys: &GaloisKeys,
    ) -> Result<Self, RlweError> {
        self.check_key(keys.id(), "the Galois key set")?;
        if exponent == 1 {
            return Ok(self.clone());
        }
        let [first, second] = &self.parts;
        let gadget = context.gadget_at(self.level)?;
        let down = gadget.mod_down(second, self.level)?;
        let halves = keys.get(exponent)?.halves(context, self.level)?;
        let input = SwitchInput::Values(&down);
        let parts = gadget.switch_extended(input, Some(first), halves.both(), exponent)?;
        Ok(Self { parts, ..*self })
    }

    /// Returns the sum of extended ciphertexts of one level; `None` for no terms.
    ///
    /// # Errors
    /// [`RlweError::KeyMismatch`]; [`RlweError::Ring`] for terms of different levels.
    pub fn sum(context: &RlweContext, terms: &[Self]) -> Result<Option<Self>, RlweError> {
        let Some(first) = terms.first() else { return Ok(None) };
        terms.iter().try_for_each(|term| first.check_key(term.key, "a summand"))?;
        let gadget = context.gadget_at(first.level)?;
        let (ring, one) = (gadget.key_ring(), BigInt::from(1));
        let half = |half: fn(&Self) -> &Poly<Evaluation>| {
            let terms: Vec<_> = terms.iter().map(|term| (&one, half(term))).collect();
            ring.linear_combination(&terms, ring.level())
        };
        let parts = [half(|term| &term.parts[0])?, half(|term| &term.parts[1])?];
        Ok(Some(Self { parts, ..*first }))
    }

    /// Divides an extended ciphertext by P: returns the ciphertext times Q_j/Q_l, of level j ≤ l, with one rounding.
    ///
    /// # Errors
    /// [`RlweError::Ring`] for a level above the level of the ciphertext.
    pub fn mod_down<S: Scheme>(
        &self,
        context: &RlweContext,
        level: usize,
        metadata: S::Metadata,
        noise: NoiseBound,
    ) -> Result<Ciphertext<S>, RlweError> {
        let gadget = context.gadget_at(self.level)?;
        let parts = gadget.mod_down_all(&self.parts.each_ref(), level)?;
        Ciphertext::from_parts(parts, metadata, noise, self.key)
    }

    fn check_key(&self, other: KeyId, what: &'static str) -> Result<(), RlweError> {
        if self.key == other { Ok(()) } else { Err(RlweError::KeyMismatch { what }) }
    }
}

/// A giant step of a linear map: exponent k of an automorphism X → X^k, and the terms (i, m_i) of Σ m_i·(rotation i).
pub type GiantStep<'a> = (u64, Vec<(usize, &'a Multiplier)>);

/// Returns P times Σ m_i·(the ciphertext of m(X^k_i)) for every list of terms (i, m_i), k_i the i-th of `exponents`: as
/// from [`Hoisted::extended`], without holding any of these. The m_i are packed by the gadget of the ciphertext's level
/// or of one that it is nested in. Digits are computed once, and only where something is rotated.
///
/// # Errors
/// Every error of [`galois::automorphism`]; [`RlweError::Ring`] for polynomials of another ring and indices of no
/// exponent.
pub fn sums_of_products<S: Scheme>(
    context: &RlweContext,
    ciphertext: &Ciphertext<S>,
    exponents: &[u64],
    keys: &GaloisKeys,
    lists: &[Vec<(usize, &Multiplier)>],
) -> Result<Vec<ExtendedCiphertext>, RlweError> {
    ciphertext.check_key(keys.id(), "the Galois key set")?;
    let parts = ciphertext.two_parts("an automorphism")?;
    let level = context.ring().level_of(parts[0])?;
    let rotates = exponents.iter().any(|&exponent| exponent != 1);
    let hoisted = rotates.then(|| galois::hoist(context, ciphertext)).transpose()?;
    let halves = |&exponent: &u64| match exponent {
        1 => Ok(None),
        _ => keys.get(exponent)?.halves(context, level).map(Some),
    };
    let halves: Vec<Option<_>> = exponents.iter().map(halves).collect::<Result<_, RlweError>>()?;
    let digits = hoisted.as_ref().map(Hoisted::digits);
    let switches = halves.iter().map(|halves| digits.zip(halves.as_ref().map(Halves::both)));
    let rotations = exponents.iter().zip(switches);
    let rotations: Vec<_> = rotations.map(|(&exponent, switch)| Rotation { exponent, switch }).collect();
    let sums = context.gadget_at(level)?.sums_of_rotations(parts, &rotations, lists)?;
    let key = ciphertext.key();
    Ok(sums.into_iter().map(|parts| ExtendedCiphertext { parts, level, key }).collect())
}

/// Returns the linear map P·Σ_g σ_g(Σ_i m_gi·σ_i(c)) of a ciphertext c, for `giants` g and the i-th of the exponents
/// `babies`; `None` without giant steps.
///
/// Cost of a linear map: with d digits, l moduli and k special moduli, all baby steps together take d·(l + k)
/// transforms, every giant step (d + 1)·(l + k), and the division by P, [`ExtendedCiphertext::mod_down`], 2(l + k).
/// Nothing is done where a key is missing.
///
/// # Errors
/// Every error of [`sums_of_products`].
pub fn linear_map<S: Scheme>(
    context: &RlweContext,
    ciphertext: &Ciphertext<S>,
    babies: &[u64],
    giants: Vec<GiantStep<'_>>,
    keys: &GaloisKeys,
) -> Result<Option<ExtendedCiphertext>, RlweError> {
    let (exponents, lists): (Vec<u64>, Vec<_>) = giants.into_iter().unzip();
    for &exponent in babies.iter().chain(&exponents).filter(|&&exponent| exponent != 1) {
        keys.get(exponent)?;
    }
    let sums = sums_of_products(context, ciphertext, babies, keys, &lists)?;
    let steps: Vec<_> = exponents.into_iter().zip(sums).collect();
    let rotated = |(exponent, sum): (u64, ExtendedCiphertext)| match exponent {
        1 => Ok(sum),
        _ => sum.automorphism(context, exponent, keys),
    };
    let rotated: Vec<_> = steps.into_par_iter().map(rotated).collect::<Result<_, RlweError>>()?;
    ExtendedCiphertext::sum(context, &rotated)
}
