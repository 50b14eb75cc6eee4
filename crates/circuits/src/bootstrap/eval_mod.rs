//! EvalMod: x modulo 1 for x near an integer, |x| ≤ K + ε, in every slot.
//!
//! All forms evaluate a trigonometric function of a smaller angle and double the angle r times.
//!
//! * [`ApproximationForm::Exponential`], the paper's `[AS19, 3.1]`, steps 3 and 4: E = exp(2πi·x/2^r) by its Taylor polynomial, r squarings,
//!   and sin 2πx = (E − E*)/2i by a conjugation.
//! * [`ApproximationForm::JacobiAnger`]: the same by the Chebyshev series of the exponential, which needs fewer doublings. Tables
//!   ([`functional`](super::functional)) are polynomials of its E.
//! * [`ApproximationForm::Cosine`]: cos(2π(x − 1/4)/2^r) by an even polynomial that is near it only where x is near an integer, as in `[HK20]`,
//!   and there the nearer the likelier the integer; r times cos 2θ = 2cos²θ − 1; and an odd polynomial next to arcsin, which undoes
//!   that sin 2πx is not 2πx `[LLLKN21]`.

mod polynomials;
mod taylor_model;
mod worst;

pub use worst::WorstError;

use std::f64::consts::PI;

use num_complex::Complex64;
use sunzi_ckks::{Ciphertext, CkksError, Context, Evaluator, Metadata};
use sunzi_rlwe::{GaloisKeys, RelinearizationKey};

use self::polynomials::{cosine, inverse_sine, jacobi_anger, taylor};
use crate::approximation::nodes;
use crate::series::evaluate::bounded;
use crate::series::{Series, SeriesError, evaluate_to};

/// Form of the approximation of x modulo 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApproximationForm {
    /// Imaginary part of a power of an exponential.
    Exponential {
        /// Degree of the Taylor polynomial: 7 in the paper.
        degree: usize,
    },
    /// Imaginary part of a power of an exponential, by its Chebyshev series, which is near it for |x| up to K + 1, whatever x mod 1 is.
    JacobiAnger {
        /// Degree at which the series ends.
        degree: usize,
    },
    /// Form by the cosine, doubled, and then by arcsin.
    Cosine {
        /// Degree of the polynomial next to the cosine, rounded down to an even number.
        degree: usize,
        /// Degree of the polynomial next to arcsin, 1 for none, rounded up to an odd number.
        arcsine: usize,
    },
}

/// Parameters of EvalMod.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EvalModParameters {
    /// Form of the approximation.
    pub form: ApproximationForm,
    /// Number r of doublings.
    pub doublings: usize,
    /// Range K of the integers that EvalMod removes.
    pub range: usize,
    /// log2 of the largest |x mod 1|, negated: messages are at most q_0·2^-`ratio_bits`.
    pub ratio_bits: f64,
    /// Hamming weight of the secret at ModRaise, on which the distribution of the integers depends; n·2/3 for ternary secrets.
    pub weight: usize,
}

impl EvalModParameters {
    /// Returns whether an approximation of arcsin ends EvalMod.
    pub(super) fn has_arcsine(&self) -> bool {
        matches!(self.form, ApproximationForm::Cosine { arcsine: 2.., .. })
    }
}

/// Polynomials of EvalMod, and their errors.
#[derive(Clone, Debug, PartialEq)]
pub struct EvalMod {
    parameters: EvalModParameters,
    /// Width W of the argument: slots come as x/W.
    width: f64,
    /// First polynomial in u = x/W.
    base: Series<Complex64>,
    arcsine: Option<Series>,
}

/// Number of roundings of one product that the roundings of the first polynomial amount to.
const ROUNDINGS: f64 = 2.0;

impl EvalMod {
    /// Computes the polynomials of EvalMod.
    ///
    /// # Errors
    /// [`SeriesError::OutOfRange`] for zero ratio bits, more than 40 doublings, a range beyond 4096 or a degree beyond 255.
    pub fn new(parameters: EvalModParameters) -> Result<Self, SeriesError> {
        let EvalModParameters { form, doublings, range, ratio_bits, .. } = parameters;
        let (degree, odd) = match form {
            ApproximationForm::Exponential { degree } | ApproximationForm::JacobiAnger { degree } => {
                (degree, 1)
            }
            ApproximationForm::Cosine { degree, arcsine } => (degree, arcsine),
        };
        let limits = [
            ("the degree of EvalMod", degree, 2, 255, "from 2 to 255"),
            ("the degree of arcsin", odd, 1, 31, "from 1 to 31"),
            ("the number of doublings", doublings, 0, 40, "at most 40"),
            ("the range", range, 1, 4096, "from 1 to 4096"),
        ];
        for (what, got, least, most, expected) in limits {
            if !(least..=most).contains(&got) {
                return Err(SeriesError::OutOfRange { what, got: got as f64, expected });
            }
        }
        // The cosine is near only where x is near an integer; exponentials are so everywhere.
        let (least, expected) = match form {
            ApproximationForm::Cosine { .. } => (2.0, "from 2 to 60"),
            _ => (1.0, "from 1 to 60"),
        };
        if !(least..=60.0).contains(&ratio_bits) {
            let what = "log2 of q_0 over the message";
            return Err(SeriesError::OutOfRange { what, got: ratio_bits, expected });
        }
        let width = match form {
            ApproximationForm::Exponential { .. } => range as f64 + 0.5,
            ApproximationForm::JacobiAnger { .. } => range as f64 + 1.0,
            ApproximationForm::Cosine { .. } => range as f64 + 0.5 + SHIFT,
        };
        let (base, arcsine) = match form {
            ApproximationForm::Exponential { degree } => (taylor(width, doublings, degree)?, None),
            ApproximationForm::JacobiAnger { degree } => (jacobi_anger(width, doublings, degree)?, None),
            ApproximationForm::Cosine { degree, arcsine } => {
                (cosine(&parameters, width, degree)?.to_complex(), inverse_sine(arcsine | 1)?)
            }
        };
        Ok(Self { parameters, width, base, arcsine })
    }

    /// Parameters from which the polynomials of EvalMod were made.
    #[must_use]
    pub fn parameters(&self) -> &EvalModParameters {
        &self.parameters
    }

    /// Width W of the argument: slots come as x/W, so that they are at most 1.
    #[must_use]
    pub fn width(&self) -> f64 {
        self.width
    }

    /// Number of levels that EvalMod takes.
    #[must_use]
    pub fn depth(&self) -> usize {
        let arcsine = self.arcsine.as_ref().map_or(0, |series| series.cost().depth);
        self.base.cost().depth + self.parameters.doublings + arcsine
    }

    /// Whether EvalMod needs the key of the conjugation.
    #[must_use]
    pub fn conjugates(&self) -> bool {
        !matches!(self.parameters.form, ApproximationForm::Cosine { .. })
    }

    /// Returns the largest |value − (x mod 1)| for x near an integer of this absolute value.
    #[must_use]
    pub fn error_at(&self, integer: usize) -> f64 {
        let ratio = ratio(self.parameters.ratio_bits);
        let error = |x: f64, rest: f64| (self.at(x) - rest).abs();
        let grid = nodes(-ratio, ratio, 32).chain([-ratio, ratio]);
        let both = grid.flat_map(|rest| [(integer as f64 + rest, rest), (-(integer as f64) + rest, rest)]);
        both.map(|(x, rest)| error(x, rest)).fold(0.0, f64::max)
    }

    /// Returns √E|value|² over the distribution of the integers, at the integers themselves: the error of coefficients that are far smaller than the
    /// largest possible, as in messages with many different slots.
    #[must_use]
    pub fn typical_error(&self) -> f64 {
        self.mean_square(|integer| self.at(integer))
    }

    /// Returns √E max|value − (x mod 1)|² over the distribution of the integers, the maximum over all x mod 1 of at most `largest`.
    #[must_use]
    pub fn error_within(&self, largest: f64) -> f64 {
        self.mean_square(|integer| {
            self.rests(largest).map(|rest| (self.at(integer + rest) - rest).abs()).fold(0.0, f64::max)
        })
    }

    /// Returns how much x mod 1 of at most `largest` changes the error of the value: the maximum around integers within three deviations, as all of
    /// a message may lie beside one of them.
    #[must_use]
    pub fn distortion(&self, largest: f64) -> f64 {
        let likely = (3.0 * variance(self.parameters.weight).sqrt()).min(self.parameters.range as f64) as i64;
        let around = |integer: i64| {
            let x = integer as f64;
            self.rests(largest).map(move |rest| (self.at(x + rest) - self.at(x) - rest).abs())
        };
        (-likely..=likely).flat_map(around).fold(0.0, f64::max)
    }

    fn rests(&self, largest: f64) -> impl Iterator<Item = f64> + use<> {
        nodes(-largest, largest, 16).collect::<Vec<_>>().into_iter().chain([-largest, largest])
    }

    /// Returns the root mean square √E f² over the distribution of the integers.
    fn mean_square(&self, f: impl Fn(f64) -> f64) -> f64 {
        let (mut sum, mut total) = (0.0, 0.0);
        let range = self.parameters.range as i64;
        for integer in -range..=range {
            let likely = likelihood(integer as f64, self.parameters.weight);
            sum += likely * f(integer as f64).powi(2);
            total += likely;
        }
        (sum / total).sqrt()
    }

    /// Returns √E|e|² in one of `coefficients` coefficients, at their integers: in the mean, or from the largest integer that one in some ten messages has, whichever
    /// is more. With few coefficients the mean says too little, for errors grow with a high power of the integer.
    pub(crate) fn sample_error(&self, coefficients: f64) -> f64 {
        let largest = (2.0 * variance(self.parameters.weight) * (32.0 * coefficients).ln()).sqrt();
        let integer = largest.round().min(self.parameters.range as f64);
        let one = self.at(integer).abs().max(self.at(-integer).abs()) / coefficients.sqrt();
        self.typical_error().max(one)
    }

    /// Returns √E|value/x − 1|² over the distribution of the integers, for x mod 1 a hundredth of the largest.
    #[must_use]
    pub fn relative_error(&self) -> f64 {
        let rest = ratio(self.parameters.ratio_bits) / 100.0;
        self.mean_square(|integer| self.at(integer + rest) - self.at(integer) - rest) / rest
    }

    /// Returns the growth of one rounding at the scale of EvalMod until x mod 1.
    ///
    /// A rounding of a product in the first polynomial grows a^2/4 times for a = 2πW/2^r, since the function of angle a·u changes so fast with
    /// T_2(u) = 2u² − 1, the first product, near 0. Then 4|cos θ| times with every doubling, √8 in the mean over all angles, and 2 for a squaring of
    /// |E| = 1; 2π times less at the end.
    pub(crate) fn growth(&self) -> f64 {
        let doublings = self.parameters.doublings as f64;
        let angle = 2.0 * PI * self.width / doublings.exp2();
        let each = match self.parameters.form {
            ApproximationForm::Cosine { .. } => 1.5,
            _ => 1.0,
        };
        (each * doublings).exp2() / (2.0 * PI) * ROUNDINGS.hypot(angle * angle / 4.0)
    }

    /// Returns the value of EvalMod in the clear.
    #[must_use]
    pub fn at(&self, x: f64) -> f64 {
        let u = x / self.width;
        match self.parameters.form {
            ApproximationForm::Exponential { .. } | ApproximationForm::JacobiAnger { .. } => {
                let mut power = self.base.at_complex(u.into());
                for _ in 0..self.parameters.doublings {
                    power *= power;
                }
                power.im / (2.0 * PI)
            }
            ApproximationForm::Cosine { .. } => {
                let mut cosine = self.base.at_complex((u - SHIFT / self.width).into()).re;
                for _ in 0..self.parameters.doublings {
                    cosine = 2.0 * cosine * cosine - 1.0;
                }
                self.arcsine.as_ref().map_or(cosine / (2.0 * PI), |series| series.at(cosine))
            }
        }
    }

    /// Returns the scale of the result of [`evaluate`](Self::evaluate) for slots of this level: the one requested, or, for the exponential, that of
    /// the squarings.
    ///
    /// # Errors
    /// [`CkksError::NoSuchLevel`] for a level that the context lacks.
    pub fn output_scale(&self, context: &Context, level: usize, wanted: f64) -> Result<f64, CkksError> {
        if self.conjugates() { self.squared_scale(context, level) } else { Ok(wanted) }
    }

    /// Returns the scale of x mod 1 for slots of this level if all scales before arcsin are canonical: that of the squarings, times the factor 2π or 4π that
    /// they lack.
    ///
    /// # Errors
    /// [`CkksError::NoSuchLevel`] for a level that the context lacks.
    pub fn squared_scale(&self, context: &Context, level: usize) -> Result<f64, CkksError> {
        let start = level.saturating_sub(self.base.cost().depth);
        let mut scale = context.scale(start)?;
        for step in 0..self.parameters.doublings {
            scale *= scale / context.divisor(start.saturating_sub(step))?;
        }
        Ok(scale * if self.conjugates() { 4.0 * PI } else { 2.0 * PI })
    }

    /// Returns the scale of the first polynomial at this level from which doublings lead to the scale `wanted`: √(Δ·q) before a doubling that ends at Δ.
    fn scale_before_doublings(&self, context: &Context, level: usize, wanted: f64) -> Result<f64, CkksError> {
        let mut scale = wanted;
        for step in (0..self.parameters.doublings).rev() {
            scale = (scale * context.divisor(level.saturating_sub(step))?).sqrt();
        }
        Ok(scale)
    }

    /// Whether an approximation of arcsin ends EvalMod.
    #[must_use]
    pub fn has_arcsine(&self) -> bool {
        self.arcsine.is_some()
    }

    /// Returns the number of levels that the first polynomial takes.
    #[must_use]
    pub fn polynomial_depth(&self) -> usize {
        self.base.cost().depth
    }

    /// Returns the numbers of relinearisations of the first polynomial, and of what follows it.
    pub(super) fn relinearizations(&self) -> [usize; 2] {
        let arcsine = self.arcsine.as_ref().map_or(0, |series| series.cost().relinearizations);
        [self.base.cost().relinearizations, self.parameters.doublings + arcsine]
    }

    /// Evaluates E = exp(2πi·x) for slots x/W at this scale, by a form that has it: at the level [`depth`](Self::depth) below.
    ///
    /// # Errors
    /// Every error of [`evaluate`](Self::evaluate).
    pub(super) fn exponential(
        &self,
        x: &Ciphertext,
        scale: f64,
        products: [(&Evaluator, &RelinearizationKey); 2],
    ) -> Result<Ciphertext, CkksError> {
        let below = x.metadata().level.saturating_sub(self.polynomial_depth());
        let [(first, _), _] = products;
        let start = self.scale_before_doublings(first.context(), below, scale)?;
        self.power(&bounded(x.clone(), 1.0), start, products)
    }

    /// Evaluates the first polynomial at this scale, and the squarings.
    fn power(
        &self,
        x: &Ciphertext,
        scale: f64,
        [(first, first_key), (evaluator, key)]: [(&Evaluator, &RelinearizationKey); 2],
    ) -> Result<Ciphertext, CkksError> {
        let mut power = bounded(evaluate_to(first, &self.base, x, scale, first_key)?, 1.0);
        for _ in 0..self.parameters.doublings {
            let square = evaluator.multiply_unscaled(&power, &power)?;
            power = bounded(evaluator.relinearize_rescale(&square, key)?, 1.0);
        }
        Ok(power)
    }

    /// Evaluates x mod 1 for slots x/W, real up to their error: at the level [`depth`](Self::depth) below, at the
    /// [`output_scale`](Self::output_scale) for `scale`. Products of the first polynomial take the first evaluator and its key, those below the second;
    /// they may have different special moduli.
    ///
    /// # Errors
    /// [`CkksError::LevelExhausted`]; [`CkksError::MissingRotation`] if it conjugates and there is no key for that; every error of
    /// [`evaluate_to`].
    pub fn evaluate(
        &self,
        x: &Ciphertext,
        scale: f64,
        products: [(&Evaluator, &RelinearizationKey); 2],
        rotations: (&Evaluator, &GaloisKeys),
    ) -> Result<Ciphertext, CkksError> {
        let [(first, first_key), (evaluator, key)] = products;
        let (needed, level) = (self.depth(), x.metadata().level);
        if level < needed {
            return Err(CkksError::LevelExhausted { operation: "EvalMod", needed, level });
        }
        let x = bounded(x.clone(), 1.0);
        match self.parameters.form {
            ApproximationForm::Exponential { .. } | ApproximationForm::JacobiAnger { .. } => {
                let start = evaluator.context().scale(level.saturating_sub(self.polynomial_depth()))?;
                let power = self.power(&x, start, products)?;
                let (turning, keys) = rotations;
                let twice = evaluator.sub(&power, &turning.conjugate(&power, keys)?)?;
                let sine = evaluator.negate(&evaluator.multiply_by_i(&twice)?)?;
                Ok(reinterpreted(sine, 4.0 * PI))
            }
            ApproximationForm::Cosine { .. } => {
                let mut point = x;
                evaluator.add_constant_assign(&mut point, -SHIFT / self.width)?;
                // W has room for the shift.
                let (below, context) = (level.saturating_sub(self.polynomial_depth()), evaluator.context());
                let start = match &self.arcsine {
                    // It reaches any scale.
                    Some(_) => context.scale(below)?,
                    None => self.scale_before_doublings(context, below, scale / (2.0 * PI))?,
                };
                let mut cosine = evaluate_to(first, &self.base, &bounded(point, 1.0), start, first_key)?;
                for _ in 0..self.parameters.doublings {
                    cosine = doubled(evaluator, &bounded(cosine, 1.0), key)?;
                }
                let largest = (2.0 * PI * ratio(self.parameters.ratio_bits)).sin();
                let sine = bounded(cosine, largest);
                match &self.arcsine {
                    Some(series) => evaluate_to(evaluator, series, &sine, scale, key),
                    None => Ok(reinterpreted(sine, 2.0 * PI)),
                }
            }
        }
    }
}

/// Shift of the argument in turns: cos(2πx − π/2) = sin(2πx).
const SHIFT: f64 = 0.25;

fn ratio(bits: f64) -> f64 {
    (-bits).exp2()
}

/// Returns the variance σ² of the sum of `weight` uniform variables, rounded.
fn variance(weight: usize) -> f64 {
    (weight.max(1) as f64 + 1.0) / 12.0
}

/// Returns the likelihood e^(−x²/2σ²) of an integer x, relative to 0.
fn likelihood(x: f64, weight: usize) -> f64 {
    (-x * x / (2.0 * variance(weight))).exp()
}

/// Computes the cosine 2a² − 1 of the doubled angle from the cosine a.
fn doubled(evaluator: &Evaluator, a: &Ciphertext, key: &RelinearizationKey) -> Result<Ciphertext, CkksError> {
    let mut square = evaluator.multiply_unscaled_at(a, a, 2, a.metadata().level)?;
    evaluator.add_constant_assign(&mut square, -1.0)?;
    evaluator.relinearize_rescale(&square, key)
}

/// Divides the slots of a ciphertext by a number, by declaring a larger scale.
fn reinterpreted(mut a: Ciphertext, divisor: f64) -> Ciphertext {
    let metadata = a.metadata();
    let precision = metadata.precision.scaled(1.0 / divisor);
    let metadata = Metadata { scale: metadata.scale * divisor, precision, ..metadata.clone() };
    a.set_metadata(metadata);
    a
}

#[cfg(test)]
mod tests;
