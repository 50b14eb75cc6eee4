//! Execution of the steps of a tape in every scheme, over any ring.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use sunzi_circuits::polynomial::{Method, Polynomial, evaluate};
use sunzi_circuits::series::declared_within;
use sunzi_circuits::{Arithmetic, CircuitError, EvaluationKeys, Rotation};
use sunzi_ckks::precision::flooding_error;
use sunzi_ckks::{CkksError, Complex64, Encoder as RealEncoder, Metadata};
use sunzi_rlwe::sharing::Flooding;
use sunzi_rlwe::{DeclaredNoise, RelinearizationKey, SharingPolicy};

use super::{Clear, Step};
use crate::ProgramError;

/// Properties of a ciphertext that are known before it exists.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// Level of the ciphertext; `None` in BFV.
    pub level: Option<usize>,
    /// Number of bits left before decryption is refused; in CKKS, bits of the modulus that rescalings can still drop.
    pub bits_left: f64,
    /// Number of right bits behind the binary point, in CKKS.
    pub precision: Option<f64>,
    /// Upper bound on the magnitude of the slots, in CKKS.
    pub magnitude: Option<f64>,
    /// Number of bytes of the ciphertext in memory.
    pub bytes: usize,
}

/// Executor of the steps of a tape in one scheme.
pub(super) trait Machine {
    type Ciphertext: Clone;
    /// Computes the result of a step that is no input from earlier results.
    fn step(&self, step: &Step, all: &[Self::Ciphertext]) -> Result<Self::Ciphertext, ProgramError>;
    /// Returns the known properties of a result.
    fn report(&self, a: &Self::Ciphertext) -> Report;
    /// Returns the right bits behind the binary point of a result after sharing, if the scheme has any; the key
    /// holder has run the same computation.
    fn shared(&self, a: &Self::Ciphertext, policy: SharingPolicy) -> Result<Option<f64>, ProgramError>;
}

fn at<T>(all: &[T], place: usize) -> Result<&T, ProgramError> {
    all.get(place).ok_or_else(|| ProgramError::Invalid(format!("step {place} is not on the tape yet")))
}

fn wrong_numbers(what: &str) -> ProgramError {
    ProgramError::Invalid(format!("{what} on a tape of the other kind of numbers"))
}

/// Executor of a tape's steps in an exact scheme: BFV, BGV, or the arithmetic that counts in their place.
pub(super) struct ExactMachine<'a, A: Arithmetic> {
    pub(super) arithmetic: &'a A,
    pub(super) keys: &'a A::Keys,
    /// Function that encodes numbers, residues modulo t, in every period.
    pub(super) encode: &'a Encode<'a, A>,
    /// Function that returns the level of a ciphertext, if the scheme has any, and its bytes in memory.
    pub(super) size: fn(&A::Ciphertext) -> (Option<usize>, usize),
    /// Function that fails for a result that cannot be shared.
    pub(super) check_shareable: &'a CheckShareable<'a, A>,
}

type Encode<'a, A> = dyn Fn(Vec<u64>, usize) -> Result<<A as Arithmetic>::Plaintext, ProgramError> + 'a;
type CheckShareable<'a, A> =
    dyn Fn(&<A as Arithmetic>::Ciphertext, SharingPolicy) -> Result<(), ProgramError> + 'a;

impl<A: Arithmetic> ExactMachine<'_, A> {
    fn encoded(&self, clear: &Clear, period: usize) -> Result<A::Plaintext, ProgramError> {
        let Clear::Integers(values) = clear else { return Err(wrong_numbers("real numbers")) };
        let t = i128::from(self.arithmetic.plain_modulus());
        (self.encode)(values.iter().map(|&v| i128::from(v).rem_euclid(t) as u64).collect(), period.max(1))
    }
}

impl<A: Arithmetic> Machine for ExactMachine<'_, A> {
    type Ciphertext = A::Ciphertext;

    fn step(&self, step: &Step, all: &[A::Ciphertext]) -> Result<A::Ciphertext, ProgramError> {
        let (arithmetic, keys) = (self.arithmetic, self.keys);
        let scheme = |error: CircuitError<A::Error>| ProgramError::scheme(error);
        match step {
            Step::Add(a, b) => arithmetic.add(at(all, *a)?, at(all, *b)?),
            Step::Sub(a, b) => arithmetic.sub(at(all, *a)?, at(all, *b)?),
            Step::Negate(a) => arithmetic.negate(at(all, *a)?),
            Step::Multiply(a, b) if a == b => arithmetic.square(at(all, *a)?, keys),
            Step::Multiply(a, b) => arithmetic.multiply(at(all, *a)?, at(all, *b)?, keys),
            Step::AddPlain(a, m, period) => arithmetic.add_plain(at(all, *a)?, &self.encoded(m, *period)?),
            Step::SubPlain(a, m, period) => arithmetic.sub_plain(at(all, *a)?, &self.encoded(m, *period)?),
            Step::PlainProducts(terms, period) => {
                let mut sum: Option<A::Ciphertext> = None;
                for (a, m) in terms {
                    let m = self.encoded(m, *period)?;
                    let product = arithmetic.multiply_plain(at(all, *a)?, &m).map_err(scheme)?;
                    sum = Some(match sum {
                        Some(sum) => arithmetic.add(&sum, &product).map_err(scheme)?,
                        None => product,
                    });
                }
                return sum.ok_or_else(|| ProgramError::Invalid("a sum of no products".to_owned()));
            }
            Step::Products(terms) => {
                let pairs: Result<Vec<_>, ProgramError> =
                    terms.iter().map(|&(a, b)| Ok((at(all, a)?, at(all, b)?))).collect();
                arithmetic.sum_of_products(&pairs?, keys)
            }
            Step::Integer(a, factor) => arithmetic.multiply_scalar(at(all, *a)?, *factor),
            Step::Rotate(a, steps) => arithmetic.rotate(at(all, *a)?, Rotation::Rows(*steps), keys),
            Step::Swap(a) => arithmetic.rotate(at(all, *a)?, Rotation::Columns, keys),
            Step::Polynomial(a, coefficients) => {
                let polynomial = Polynomial::constants(coefficients);
                evaluate(arithmetic, &polynomial, at(all, *a)?, Method::Automatic, keys)
            }
            Step::Input(_) => return Err(ProgramError::Invalid("an input is encrypted".to_owned())),
            Step::Bounded(a, _) => return at(all, *a).cloned(),
            Step::Constant(..) | Step::Series(..) => return Err(wrong_numbers("real numbers")),
        }
        .map_err(scheme)
    }

    fn report(&self, a: &A::Ciphertext) -> Report {
        let (level, bytes) = (self.size)(a);
        Report { level, bits_left: self.arithmetic.bits_left(a), precision: None, magnitude: None, bytes }
    }

    fn shared(&self, a: &A::Ciphertext, policy: SharingPolicy) -> Result<Option<f64>, ProgramError> {
        (self.check_shareable)(a, policy).map(|()| None)
    }
}

/// Executor of a tape's steps in CKKS.
pub(super) struct RealMachine<'a> {
    pub(super) evaluator: &'a sunzi_ckks::Evaluator,
    pub(super) keys: &'a EvaluationKeys,
    encoders: RefCell<HashMap<usize, Arc<RealEncoder>>>,
}

impl<'a> RealMachine<'a> {
    pub(super) fn new(evaluator: &'a sunzi_ckks::Evaluator, keys: &'a EvaluationKeys) -> Self {
        Self { evaluator, keys, encoders: RefCell::default() }
    }

    pub(super) fn encoder(&self, slots: usize) -> Result<Arc<RealEncoder>, ProgramError> {
        if let Some(encoder) = self.encoders.borrow().get(&slots) {
            return Ok(Arc::clone(encoder));
        }
        let encoder = RealEncoder::new(self.evaluator.context(), slots).map_err(ProgramError::scheme)?;
        let encoder = Arc::new(encoder);
        self.encoders.borrow_mut().insert(slots, Arc::clone(&encoder));
        Ok(encoder)
    }

    fn encoded(
        &self,
        clear: &Clear,
        period: usize,
        near: &Metadata,
        scale: f64,
    ) -> Result<sunzi_ckks::Plaintext, ProgramError> {
        let values: Vec<Complex64> = match clear {
            Clear::Integers(values) => values.iter().map(|&v| (v as f64).into()).collect(),
            Clear::Complex(values) => values.clone(),
        };
        self.encoder(period)?.encode_at(&values, near.level, scale).map_err(ProgramError::scheme)
    }

    fn relinearization(&self) -> Result<&RelinearizationKey, ProgramError> {
        let missing = || ProgramError::Invalid("products take a relinearisation key".to_owned());
        self.keys.relinearization.as_ref().ok_or_else(missing)
    }

    /// Returns Σ a_i·m_i, computed at the product of the scales and then rescaled.
    fn plain_products(
        &self,
        terms: &[(usize, Clear)],
        period: usize,
        all: &[sunzi_ckks::Ciphertext],
    ) -> Result<sunzi_ckks::Ciphertext, ProgramError> {
        let scheme = |error: CkksError| ProgramError::scheme(error);
        let mut sum: Option<sunzi_ckks::Ciphertext> = None;
        for (a, m) in terms {
            let a = at(all, *a)?;
            let scale = self.evaluator.context().scale(a.metadata().level).map_err(scheme)?;
            let m = self.encoded(m, period, a.metadata(), scale)?;
            if terms.len() == 1 {
                return self.evaluator.multiply_plain(a, &m).map_err(scheme);
            }
            let product = self.evaluator.multiply_plain_unscaled(a, &m).map_err(scheme)?;
            sum = Some(match sum {
                Some(sum) => self.evaluator.add(&sum, &product).map_err(scheme)?,
                None => product,
            });
        }
        let sum = sum.ok_or_else(|| ProgramError::Invalid("a sum of no products".to_owned()))?;
        self.evaluator.rescale(&sum).map_err(scheme)
    }
}

impl Machine for RealMachine<'_> {
    type Ciphertext = sunzi_ckks::Ciphertext;

    fn step(&self, step: &Step, all: &[Self::Ciphertext]) -> Result<Self::Ciphertext, ProgramError> {
        let evaluator = self.evaluator;
        let galois = || {
            let missing = || ProgramError::Invalid("rotations take Galois keys".to_owned());
            self.keys.galois.as_ref().ok_or_else(missing)
        };
        let shifted = |a: &Self::Ciphertext, m: &Clear, period: usize| {
            self.encoded(m, period, a.metadata(), a.metadata().scale)
        };
        match step {
            Step::Add(a, b) => evaluator.add(at(all, *a)?, at(all, *b)?),
            Step::Sub(a, b) => evaluator.sub(at(all, *a)?, at(all, *b)?),
            Step::Negate(a) => evaluator.negate(at(all, *a)?),
            Step::Multiply(a, b) => evaluator.multiply(at(all, *a)?, at(all, *b)?, self.relinearization()?),
            Step::AddPlain(a, m, period) => {
                evaluator.add_plain(at(all, *a)?, &shifted(at(all, *a)?, m, *period)?)
            }
            Step::SubPlain(a, m, period) => {
                evaluator.sub_plain(at(all, *a)?, &shifted(at(all, *a)?, m, *period)?)
            }
            Step::PlainProducts(terms, period) => return self.plain_products(terms, *period, all),
            Step::Products(terms) => {
                let pairs: Result<Vec<_>, ProgramError> =
                    terms.iter().map(|&(a, b)| Ok((at(all, a)?, at(all, b)?))).collect();
                evaluator.sum_of_products(pairs?, self.relinearization()?)
            }
            Step::Integer(a, factor) => evaluator.multiply_integer(at(all, *a)?, *factor),
            Step::Constant(a, factor) => evaluator.multiply_constant(at(all, *a)?, *factor),
            Step::Rotate(a, steps) => evaluator.rotate(at(all, *a)?, *steps, galois()?),
            Step::Swap(a) => evaluator.conjugate(at(all, *a)?, galois()?),
            Step::Series(a, series) => {
                // Arrays have looked at the bounds of their numbers, which are narrower than those of ciphertexts.
                let x = declared_within(evaluator, series, at(all, *a)?).map_err(ProgramError::scheme)?;
                sunzi_circuits::series::evaluate(evaluator, series, &x, self.relinearization()?)
            }
            Step::Bounded(a, others) => {
                let magnitudes = others.iter().filter_map(|&other| all.get(other));
                let largest =
                    magnitudes.map(|other| other.metadata().precision.magnitude()).fold(0.0, f64::max);
                evaluator.with_magnitude(at(all, *a)?, largest)
            }
            Step::Input(_) => return Err(ProgramError::Invalid("an input is encrypted".to_owned())),
            Step::Polynomial(..) => return Err(wrong_numbers("a polynomial modulo t")),
        }
        .map_err(ProgramError::scheme)
    }

    fn report(&self, a: &Self::Ciphertext) -> Report {
        let (metadata, context) = (a.metadata(), self.evaluator.context());
        let bits = |level| context.log2_modulus_at(level).unwrap_or(f64::NAN);
        Report {
            level: Some(metadata.level),
            bits_left: bits(metadata.level) - bits(0),
            precision: Some(metadata.precision.bits()),
            magnitude: Some(metadata.precision.magnitude()),
            bytes: a.parts().iter().map(|part| part.byte_len()).sum(),
        }
    }

    fn shared(&self, a: &Self::Ciphertext, policy: SharingPolicy) -> Result<Option<f64>, ProgramError> {
        let (metadata, context) = (a.metadata(), self.evaluator.context());
        let noise = DeclaredNoise::of_own_run(a.noise(), context.ring().expansion());
        context.check_shareable(a, noise, policy).map_err(ProgramError::of_ckks)?;
        let hiding = Flooding::new(policy, noise, context.degree()).map_err(ProgramError::of_rlwe)?;
        let parties = context.rlwe().parties();
        let added = flooding_error(&hiding, parties, metadata.slots, metadata.scale);
        Ok(Some(metadata.precision.plus_error(added).bits()))
    }
}
