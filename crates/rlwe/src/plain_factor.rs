//! Products of ciphertexts with plaintext polynomials, computed alike in every scheme.

use std::collections::BTreeSet;

use sunzi_ring::{Evaluation, Factors, Multiplier, Poly};
use zeroize::Zeroizing;

use crate::{Ciphertext, GaloisKeys, Log2, NoiseBound, RlweContext, RlweError, Scheme, extended, key_switch};

/// A plaintext polynomial in evaluation form, ready to multiply any number of ciphertexts of any level; erased when
/// dropped.
#[derive(Clone)]
pub struct PlainFactor {
    poly: Zeroizing<Poly<Evaluation>>,
    norm: f64,
}

impl PlainFactor {
    /// Transforms the plaintext polynomial with the given coefficients, centred modulo the plaintext modulus.
    ///
    /// # Errors
    /// [`RlweError::Ring`] if the number of coefficients is not the ring degree.
    pub fn new(context: &RlweContext, centred: &[i64]) -> Result<Self, RlweError> {
        let ring = context.ring();
        let norm = norm(centred);
        Ok(Self { poly: Zeroizing::new(ring.to_evaluation(ring.from_signed(centred)?)?), norm })
    }

    /// The transformed plaintext polynomial.
    pub(crate) fn poly(&self) -> &Poly<Evaluation> {
        &self.poly
    }

    /// The 1-norm Σ|m_i| of a plaintext polynomial, by which the noise of a product grows.
    #[must_use]
    pub fn norm(&self) -> f64 {
        self.norm
    }
}

/// Terms a_i·m_i of a sum of products of ciphertexts and plaintext polynomials.
pub type PlainTerms<'a, S> = Vec<(&'a Ciphertext<S>, &'a PlainFactor)>;

/// Returns the parts of Σ a_i·m_i of ciphertexts and plaintext polynomials, for one level and equal part counts, in one pass over all of them.
///
/// # Errors
/// [`RlweError::KeyMismatch`]; [`RlweError::WrongPartCount`]; [`RlweError::Ring`] for ciphertexts of another ring or a lower
/// level.
pub fn sum_of_products<S: Scheme>(
    context: &RlweContext,
    level: usize,
    terms: &[(&Ciphertext<S>, &PlainFactor)],
) -> Result<Vec<Poly<Evaluation>>, RlweError> {
    let parts = by_part(terms.iter().map(|(term, _)| *term))?;
    let factors = || terms.iter().map(|(_, factor)| &*factor.poly);
    let list =
        |parts: Vec<_>| parts.into_iter().zip(factors()).map(|(part, factor)| [part, factor]).collect();
    let lists: Vec<Factors<'_>> = parts.into_iter().map(list).collect();
    Ok(context.ring().inner_products(&lists, level)?)
}

/// Returns the first parts of all ciphertexts, their second parts and so on: they must have one key and equal part counts.
///
/// # Errors
/// [`RlweError::KeyMismatch`]; [`RlweError::WrongPartCount`].
pub fn by_part<'a, S: Scheme + 'a>(
    ciphertexts: impl Iterator<Item = &'a Ciphertext<S>>,
) -> Result<Vec<Vec<&'a Poly<Evaluation>>>, RlweError> {
    let mut ciphertexts = ciphertexts.peekable();
    let Some(first) = ciphertexts.peek().copied() else { return Ok(Vec::new()) };
    let mut lists = vec![Vec::new(); first.parts().len()];
    for term in ciphertexts {
        first.check_key(term.key(), "the second summand")?;
        if term.parts().len() != lists.len() {
            return Err(RlweError::WrongPartCount {
                operation: "a sum of products with plaintexts",
                expected: "equally many",
                got: term.parts().len(),
                remedy: "relinearize all of its terms or none",
            });
        }
        lists.iter_mut().zip(term.parts()).for_each(|(list, part)| list.push(part));
    }
    Ok(lists)
}

/// A plaintext polynomial in evaluation form modulo QP, ready to multiply rotated ciphertexts of any level before they
/// are divided by P; erased when dropped.
#[derive(Clone)]
pub struct PlainMultiplier {
    multiplier: Zeroizing<Multiplier>,
    norm: f64,
}

impl PlainMultiplier {
    /// Transforms, modulo QP, the plaintext polynomial with the given coefficients, centred modulo the plaintext
    /// modulus.
    ///
    /// # Errors
    /// [`RlweError::Ring`] if the number of coefficients is not the ring degree.
    pub fn new(context: &RlweContext, centred: &[i64]) -> Result<Self, RlweError> {
        let (gadget, ring) = (context.gadget(), context.key_ring());
        let multiplier = gadget.multiplier(ring.to_evaluation(ring.from_signed(centred)?)?)?;
        Ok(Self { multiplier: Zeroizing::new(multiplier), norm: norm(centred) })
    }

    /// Length of the transformed plaintext polynomial in memory, in bytes.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.multiplier.byte_len()
    }
}

/// Returns the 1-norm Σ|m_i| of coefficients, summed as integers, which is faster than a sum of doubles.
fn norm(centred: &[i64]) -> f64 {
    centred.iter().map(|&c| u128::from(c.unsigned_abs())).sum::<u128>() as f64
}

/// A giant step of a linear map: exponent g of an automorphism X → X^g, and the terms (b, m_b) of Σ m_b·σ_b(a).
pub type PlainStep<'a> = (u64, Vec<(u64, &'a PlainMultiplier)>);

/// Returns Σ_g σ_g(Σ_b m_gb·σ_b(a)) of a ciphertext a by double hoisting, at the level of a; `None` without steps.
///
/// # Errors
/// Every error of [`extended::linear_map`].
pub fn linear_map<'a, S: Scheme>(
    context: &RlweContext,
    a: &Ciphertext<S>,
    steps: &[PlainStep<'a>],
    keys: &GaloisKeys,
    metadata: S::Metadata,
) -> Result<Option<Ciphertext<S>>, RlweError> {
    let babies: BTreeSet<u64> =
        steps.iter().flat_map(|(_, terms)| terms).map(|&(exponent, _)| exponent).collect();
    let babies: Vec<u64> = babies.into_iter().collect();
    let giant = |(exponent, terms): &PlainStep<'a>| -> extended::GiantStep<'a> {
        let place = |baby: u64| babies.binary_search(&baby).ok();
        let terms = terms.iter().filter_map(|&(baby, m)| Some((place(baby)?, &*m.multiplier)));
        (*exponent, terms.collect())
    };
    let Some(sum) = extended::linear_map(context, a, &babies, steps.iter().map(giant).collect(), keys)?
    else {
        return Ok(None);
    };
    let noise = mapped_noise(context, sum.level(), a.noise(), steps)?;
    Ok(Some(sum.mod_down(context, sum.level(), metadata, noise)?))
}

/// Returns the noise of a [`linear_map`]: the noise of the ciphertext and of key switches modulo QP times 1-norms, and
/// the noise of the divisions by P.
fn mapped_noise(
    context: &RlweContext,
    level: usize,
    noise: &NoiseBound,
    steps: &[PlainStep<'_>],
) -> Result<NoiseBound, RlweError> {
    let (switch, division) =
        (key_switch::extended_noise(context, level, 1)?, key_switch::division_noise(context));
    let (mut total, mut switched): (Option<NoiseBound>, bool) = (None, false);
    for (giant, terms) in steps {
        let [turned, all] = [false, true].map(|all| -> f64 {
            terms.iter().filter(|(baby, _)| all || *baby != 1).map(|(_, m)| m.norm).sum()
        });
        let mut sum = noise.times_norm(all);
        if turned > 0.0 {
            sum = sum.plus(switch.scaled(Log2::of(turned)));
        }
        if *giant != 1 {
            sum = sum.plus(switch);
            // The identity adds nothing: multiples of P are divided without an error.
            sum = if turned > 0.0 { sum.plus(division) } else { sum };
        }
        switched |= turned > 0.0 || *giant != 1;
        total = Some(total.map_or(sum, |total| total.sum(&sum)));
    }
    let total = total.unwrap_or_else(NoiseBound::none);
    Ok(if switched { total.plus(division) } else { total })
}
