//! Linear combinations of CKKS ciphertexts with real factors, which polynomials of ciphertexts need: one pass over
//! memory for all terms.

use std::borrow::Cow;

use num_bigint::BigInt;
use sunzi_rlwe::{Homomorphic as _, NoiseBound, Trace};

use super::Evaluator;
use super::constant::Rounded;
use super::level::bounded_error;
use crate::context::same_scale;
use crate::plaintext::check_scale;
use crate::{Ciphertext, Ckks, CkksError, Metadata};

const OPERATION: &str = "combine linearly";

/// A term c·a of a linear combination at a level and a scale.
struct Weighted<'a> {
    term: Cow<'a, Ciphertext>,
    factor: BigInt,
    metadata: Metadata,
    noise: NoiseBound,
}

impl Evaluator {
    /// Explicit mode: computes the linear combination Σ c_i·a_i of CKKS ciphertexts at a level and scale, without a
    /// rescaling. Terms may have any scales and any levels from that one, of which moduli are dropped as by
    /// [`drop_to`](Self::drop_to); every factor is rounded at the scale that its term lacks.
    ///
    /// # Errors
    /// [`CkksError::Empty`] for no terms; as [`add_linear_combination_assign`](Self::add_linear_combination_assign).
    pub fn linear_combination(
        &self,
        terms: &[(f64, &Ciphertext)],
        level: usize,
        scale: f64,
    ) -> Result<Ciphertext, CkksError> {
        let weighted = self.weighted(terms, level, scale)?;
        let Some((first, others)) = weighted.split_first() else {
            return Err(CkksError::Empty { what: "a linear combination" });
        };
        let carried = self.carried(&first.metadata, first.noise, others)?;
        let count = terms.iter().map(|(_, term)| term.parts().len()).max().unwrap_or(0);
        let limbs = self.context().limbs(level)?;
        let mut parts = Vec::with_capacity(count);
        for i in 0..count {
            parts.push(self.context().ring().linear_combination(&part(&weighted, i), limbs)?);
        }
        let sum = Ciphertext::from_parts(parts, carried.0, carried.1, first.term.key())?;
        self.finish(sum, OPERATION, &traces(&weighted))
    }

    /// Explicit mode: adds a linear combination to a ciphertext, a ← a + Σ c_i·a_i, at the level and the scale of a.
    /// On an error `a` is not changed.
    ///
    /// # Errors
    /// [`CkksError::LevelTooLow`] for a term below that level; [`CkksError::ScaleMismatch`] for one of a higher scale;
    /// [`CkksError::Value`] for a factor that is not finite; [`CkksError::MessageTooLarge`]; [`sunzi_rlwe::RlweError::KeyMismatch`];
    /// [`sunzi_rlwe::RlweError::WrongPartCount`] for a term of more parts than a; [`CkksError::LevelMismatch`] or
    /// [`CkksError::Ring`] for ciphertexts of another context.
    pub fn add_linear_combination_assign(
        &self,
        a: &mut Ciphertext,
        terms: &[(f64, &Ciphertext)],
    ) -> Result<(), CkksError> {
        self.context().check(a)?;
        let &Metadata { level, scale, .. } = a.metadata();
        let weighted = self.weighted(terms, level, scale)?;
        for term in &weighted {
            a.check_key(term.term.key(), "a term")?;
            if term.term.parts().len() > a.parts().len() {
                return Err(sunzi_rlwe::RlweError::WrongPartCount {
                    operation: OPERATION,
                    expected: "no more than the sum has",
                    got: term.term.parts().len(),
                    remedy: "relinearize the term first",
                }
                .into());
            }
        }
        let (metadata, noise) = self.carried(a.metadata(), *a.noise(), &weighted)?;
        self.context().check_magnitude(OPERATION, metadata.precision.magnitude(), level, scale)?;
        for (i, own) in a.parts_mut().iter_mut().enumerate() {
            self.context().ring().add_linear_combination_assign(own, &part(&weighted, i))?;
        }
        let bits = metadata.precision.bits();
        a.set_noise(noise);
        a.set_metadata(metadata);
        a.record(OPERATION, bits, &traces(&weighted));
        Ok(())
    }

    fn weighted<'a>(
        &self,
        terms: &[(f64, &'a Ciphertext)],
        level: usize,
        scale: f64,
    ) -> Result<Vec<Weighted<'a>>, CkksError> {
        let weigh = |&(c, term): &(f64, &'a Ciphertext)| {
            self.context().check(term)?;
            if term.metadata().level < level {
                return Err(CkksError::LevelTooLow {
                    what: "a term",
                    got: term.metadata().level,
                    wanted: level,
                });
            }
            let term = self.nested(term, level)?;
            let (own, ring) = (term.metadata(), self.context().ring().expansion());
            let missing = scale / own.scale;
            if check_scale(missing).is_err() && !same_scale(scale, own.scale) {
                let [left, right] = [scale.log2(), own.scale.log2()];
                return Err(CkksError::ScaleMismatch { operation: OPERATION, left, right });
            }
            let (factor, precision) = Rounded::real(c, missing)?;
            // Rounding the factor changes it by at most 1/2; integers are exact.
            let off = if precision.deviation() == 0.0 { 0.0 } else { 0.5 };
            let rounding = bounded_error(off * own.precision.magnitude() * own.scale);
            let noise = term.noise().times_values(c.abs() * missing + 2.0 * off, ring).plus(rounding);
            let precision = own.precision.product(&precision, 1.0);
            let metadata = Metadata { level, scale, precision, slots: own.slots };
            Ok(Weighted { term, factor, metadata, noise })
        };
        terms.iter().map(weigh).collect()
    }

    /// Metadata and noise of the sum of a first term and other terms of a linear combination.
    fn carried(
        &self,
        first: &Metadata,
        noise: NoiseBound,
        others: &[Weighted<'_>],
    ) -> Result<(Metadata, NoiseBound), CkksError> {
        others.iter().try_fold((first.clone(), noise), |(metadata, noise), other| {
            Ok((Ckks::join(self.context(), &metadata, &other.metadata, OPERATION)?, noise.sum(&other.noise)))
        })
    }
}

/// The parts with index i of all terms of a linear combination, with their factors; terms of fewer parts are left out.
fn part<'a>(
    terms: &'a [Weighted<'_>],
    i: usize,
) -> Vec<(&'a BigInt, &'a sunzi_ring::Poly<sunzi_ring::Evaluation>)> {
    terms.iter().filter_map(|term| Some((&term.factor, term.term.parts().get(i)?))).collect()
}

fn traces<'a>(terms: &'a [Weighted<'_>]) -> Vec<&'a Trace> {
    terms.iter().map(|term| term.term.trace()).collect()
}
