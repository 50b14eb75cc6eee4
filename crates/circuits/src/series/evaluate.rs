//! Evaluation of a [`Series`] at an encrypted point.
//!
//! Scales are exact: a node of the plan is asked for a level and a scale, its products and its linear terms are made at one
//! common scale a level above (each coefficient is encoded at the scale that is missing there), and all are rescaled at once.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use num_complex::Complex64;
use sunzi_ckks::{Ciphertext, CkksError, Evaluator, Metadata};
use sunzi_rlwe::RelinearizationKey;

use super::plan::{Node, Plan, split};
use super::{Basis, Series};

const OPERATION: &str = "evaluate a polynomial";

/// Evaluates p(x) slot by slot, at the canonical scale of its level: ⌈log2(d + 1)⌉ below x, and one level more where the interval of a
/// Chebyshev basis requires a product with a number that is no integer ([`depth`]).
///
/// Paterson–Stockmeyer with giant steps x^(b·2^i) or T_(b·2^i): about √(2d) + log2 d relinearisations, since sums of products
/// share one; [`Series::cost`] counts them. Even polynomials are evaluated at x² or T_2, odd ones without even powers other than
/// powers of two. In a Chebyshev basis the slots must lie in the interval: outside, values grow like the 2d-th power of the distance. Where the
/// declared bound of the slots exceeds both ends the polynomial is refused; a bound cannot say which of the two ends a slot is near.
///
/// # Errors
/// [`CkksError::Value`] for slots whose declared bound lies outside of the interval: declare a smaller one
/// ([`with_magnitude`](Evaluator::with_magnitude)) or take a wider interval. [`CkksError::LevelExhausted`] with too few levels;
/// [`sunzi_rlwe::RlweError::KeyMismatch`];
/// [`CkksError::LevelMismatch`] or [`CkksError::Ring`] for a ciphertext of another context.
pub fn evaluate<C: Copy + Into<Complex64>>(
    evaluator: &Evaluator,
    series: &Series<C>,
    x: &Ciphertext,
    key: &RelinearizationKey,
) -> Result<Ciphertext, CkksError> {
    let level = x.metadata().level.saturating_sub(depth(series));
    evaluate_to(evaluator, series, x, evaluator.context().scale(level)?, key)
}

/// Computes [`evaluate`] at any scale instead of the canonical one.
///
/// # Errors
/// Every error of [`evaluate`].
pub fn evaluate_to<C: Copy + Into<Complex64>>(
    evaluator: &Evaluator,
    series: &Series<C>,
    x: &Ciphertext,
    scale: f64,
    key: &RelinearizationKey,
) -> Result<Ciphertext, CkksError> {
    let values = evaluate_all(evaluator, &[series], x, Some(scale), key)?;
    values.into_iter().next().ok_or(CkksError::Empty { what: OPERATION })
}

/// Evaluates several polynomials in one basis at one point, sharing its powers: a value for each, equal to that of [`evaluate`].
///
/// # Errors
/// Every error of [`evaluate`]; [`CkksError::Value`] for polynomials in different bases.
pub fn evaluate_many<C: Copy + Into<Complex64>>(
    evaluator: &Evaluator,
    series: &[&Series<C>],
    x: &Ciphertext,
    key: &RelinearizationKey,
) -> Result<Vec<Ciphertext>, CkksError> {
    evaluate_all(evaluator, series, x, None, key)
}

fn evaluate_all<C: Copy + Into<Complex64>>(
    evaluator: &Evaluator,
    series: &[&Series<C>],
    x: &Ciphertext,
    scale: Option<f64>,
    key: &RelinearizationKey,
) -> Result<Vec<Ciphertext>, CkksError> {
    let Some(first) = series.first() else { return Ok(Vec::new()) };
    if series.iter().any(|other| other.basis() != first.basis()) {
        let expected = "evaluate polynomials of one basis and interval together";
        return Err(CkksError::Value { what: "polynomials in bases: ", got: series.len() as f64, expected });
    }
    check_bound(first.basis(), x.metadata().precision.magnitude())?;
    let needed = series.iter().map(|series| depth(series)).max().unwrap_or(0);
    let level = x.metadata().level;
    if level < needed {
        return Err(CkksError::LevelExhausted { operation: OPERATION, needed, level });
    }
    let point = brought_to_unit(evaluator, first, x)?;
    let mut plans: Vec<Plan> = series.iter().map(|series| Plan::new(series)).collect();
    if plans.iter().any(|plan| !plan.halved) {
        // Powers are shared only at one point.
        plans = series.iter().map(|series| Plan::whole(series)).collect();
    }
    let mut powers = Powers::new(evaluator, key, matches!(first.basis(), Basis::Chebyshev { .. }), point);
    if plans.iter().all(|plan| plan.halved) {
        let square = powers.computed(2)?;
        powers.elements = BTreeMap::from([(1, square)]);
        powers.lowered.clear();
    }
    let wanted: BTreeSet<usize> = plans.iter().flat_map(|plan| plan.powers.iter().copied()).collect();
    powers.prepare(&wanted)?;
    let mut value = |(plan, series): (&Plan, &&Series<C>)| {
        let level = level - depth(series);
        let scale = scale.map_or_else(|| evaluator.context().scale(level), Ok)?;
        let value = powers.node(&plan.root, level, scale)?;
        Ok(bounded(value, series.largest_value()))
    };
    plans.iter().zip(series).map(&mut value).collect()
}

/// Refuses slots that may lie outside an interval on both sides of it.
fn check_bound(basis: Basis, magnitude: f64) -> Result<(), CkksError> {
    match basis {
        // Rounding of the bound is tolerated.
        Basis::Chebyshev { low, high } if magnitude > low.abs().max(high.abs()) * (1.0 + 1e-9) => {
            let expected = "the interval of the polynomial ends before: declare a smaller bound by with_magnitude, or take a wider interval";
            Err(CkksError::Value { what: "a polynomial of slots of up to", got: magnitude, expected })
        }
        _ => Ok(()),
    }
}

/// Declares that the slots of a point lie in the interval of a polynomial, as the caller knows, by a bound. If they do not, results are
/// wrong.
///
/// # Errors
/// Every error of [`with_magnitude`](Evaluator::with_magnitude).
pub fn declared_within(
    evaluator: &Evaluator,
    series: &Series,
    x: &Ciphertext,
) -> Result<Ciphertext, CkksError> {
    let Basis::Chebyshev { low, high } = series.basis() else { return Ok(x.clone()) };
    let bound = low.abs().max(high.abs());
    if x.metadata().precision.magnitude() <= bound {
        return Ok(x.clone());
    }
    evaluator.with_magnitude(x, bound)
}

/// Number of levels that [`evaluate`] takes for a polynomial.
#[must_use]
pub fn depth<C: Copy + Into<Complex64>>(series: &Series<C>) -> usize {
    let (slope, _) = series.change_of_variable();
    series.cost().depth + usize::from(slope.fract() != 0.0)
}

/// Maps an encrypted point x to u = slope·x + shift.
fn brought_to_unit<'a, C: Copy + Into<Complex64>>(
    evaluator: &Evaluator,
    series: &Series<C>,
    x: &'a Ciphertext,
) -> Result<Cow<'a, Ciphertext>, CkksError> {
    let (slope, shift) = series.change_of_variable();
    let scaled = if slope == 1.0 {
        Cow::Borrowed(x)
    } else if slope.fract() == 0.0 {
        Cow::Owned(evaluator.multiply_integer(x, slope as i64)?)
    } else {
        Cow::Owned(evaluator.multiply_constant(x, slope)?)
    };
    Ok(if shift == 0.0 { scaled } else { Cow::Owned(evaluator.add_constant(&scaled, shift)?) })
}

/// Declares a bound on the slots of a ciphertext that holds whatever the operations that made it imply.
pub(crate) fn bounded(mut a: Ciphertext, magnitude: f64) -> Ciphertext {
    let precision = a.metadata().precision;
    if precision.magnitude() > magnitude {
        let metadata = Metadata { precision: precision.with_magnitude(magnitude), ..a.metadata().clone() };
        a.set_metadata(metadata);
    }
    a
}

/// Elements B_i of a basis at an encrypted point.
pub(crate) struct Powers<'a> {
    evaluator: &'a Evaluator,
    key: &'a RelinearizationKey,
    chebyshev: bool,
    elements: BTreeMap<usize, Ciphertext>,
    /// Basis elements switched to a lower level, by that level: each is switched once.
    lowered: BTreeMap<(usize, usize), Ciphertext>,
}

impl<'a> Powers<'a> {
    pub(crate) fn new(
        evaluator: &'a Evaluator,
        key: &'a RelinearizationKey,
        chebyshev: bool,
        point: Cow<'_, Ciphertext>,
    ) -> Self {
        let point = point.into_owned();
        let point = if chebyshev { bounded(point, 1.0) } else { point };
        Self { evaluator, key, chebyshev, elements: BTreeMap::from([(1, point)]), lowered: BTreeMap::new() }
    }

    /// Computes all wanted basis elements and those they are made of, in ascending order.
    fn prepare(&mut self, wanted: &BTreeSet<usize>) -> Result<(), CkksError> {
        for &exponent in wanted {
            let element = self.computed(exponent)?;
            self.elements.insert(exponent, element);
        }
        Ok(())
    }

    fn element(&self, exponent: usize) -> Result<&Ciphertext, CkksError> {
        self.elements.get(&exponent).ok_or(CkksError::Empty { what: "a power of x" })
    }

    /// Prepares [`at`](Self::at) for an element and a level, by a modulus switch if need be.
    fn prepare_at(&mut self, exponent: usize, level: usize) -> Result<(), CkksError> {
        if self.lowered.contains_key(&(exponent, level)) {
            return Ok(());
        }
        if let Cow::Owned(lowered) = self.evaluator.nested(self.element(exponent)?, level)? {
            self.lowered.insert((exponent, level), lowered);
        }
        Ok(())
    }

    /// Returns the element that stands for B_i at a level.
    fn at(&self, exponent: usize, level: usize) -> Result<&Ciphertext, CkksError> {
        self.lowered.get(&(exponent, level)).map_or_else(|| self.element(exponent), Ok)
    }

    /// Computes B_(a+b) from B_a, B_b and, in the Chebyshev basis, B_(a−b): T_(a+b) = 2·T_a·T_b − T_(a−b).
    fn computed(&mut self, exponent: usize) -> Result<Ciphertext, CkksError> {
        let evaluator = self.evaluator;
        let (a, b) = split(exponent);
        let level = self.element(a)?.metadata().level.min(self.element(b)?.metadata().level);
        if level == 0 {
            return Err(CkksError::LevelExhausted { operation: OPERATION, needed: 1, level });
        }
        let below = (self.chebyshev && a != b).then_some(a - b);
        for operand in [Some(a), Some(b), below].into_iter().flatten() {
            self.prepare_at(operand, level)?;
        }
        let factor = if self.chebyshev { 2 } else { 1 };
        let [left, right] = [self.at(a, level)?, self.at(b, level)?];
        let mut product = evaluator.multiply_unscaled_at(left, right, factor, level)?;
        if let Some(below) = below {
            evaluator.add_linear_combination_assign(&mut product, &[(-1.0, self.at(below, level)?)])?;
        } else if self.chebyshev {
            evaluator.add_constant_assign(&mut product, -1.0)?;
        }
        let element = evaluator.relinearize_rescale(&product, self.key)?;
        Ok(if self.chebyshev { bounded(element, 1.0) } else { element })
    }

    /// Adds a linear combination with complex factors: that of the real parts, and i times that of the imaginary ones.
    fn with_linear(
        &self,
        sum: Option<Ciphertext>,
        terms: &[(Complex64, &Ciphertext)],
        level: usize,
        scale: f64,
    ) -> Result<Ciphertext, CkksError> {
        let evaluator = self.evaluator;
        let of = |part: fn(Complex64) -> f64| -> Vec<(f64, &Ciphertext)> {
            terms.iter().map(|&(c, term)| (part(c), term)).filter(|&(c, _)| c != 0.0).collect()
        };
        let (real, imaginary) = (of(|c| c.re), of(|c| c.im));
        let turned = match imaginary.as_slice() {
            [] => None,
            terms => Some(evaluator.multiply_by_i(&evaluator.linear_combination(terms, level, scale)?)?),
        };
        let mut sum = match (sum, turned) {
            (None, None) => return evaluator.linear_combination(&real, level, scale),
            (Some(sum), None) | (None, Some(sum)) => sum,
            (Some(mut sum), Some(turned)) => {
                evaluator.add_assign(&mut sum, &turned)?;
                sum
            }
        };
        evaluator.add_linear_combination_assign(&mut sum, &real)?;
        Ok(sum)
    }

    /// Evaluates a node of the plan at this level and scale.
    fn node(&mut self, node: &Node, level: usize, scale: f64) -> Result<Ciphertext, CkksError> {
        let evaluator = self.evaluator;
        let free: Complex64 =
            node.linear.iter().filter(|&&(exponent, _)| exponent == 0).map(|&(_, c)| c).sum();
        if node.depth() == 0 {
            let zero = evaluator.multiply_integer(self.element(1)?, 0)?;
            let mut constant = evaluator.drop_to(&zero, level)?;
            constant.set_metadata(Metadata { scale, ..constant.metadata().clone() });
            evaluator.add_constant_assign(&mut constant, free)?;
            return Ok(constant);
        }
        let above = level + 1;
        let wide = scale * evaluator.context().divisor(above)?;
        let mut sum: Option<Ciphertext> = None;
        for (giant, below) in &node.products {
            self.prepare_at(*giant, above)?;
            let missing = wide / self.at(*giant, above)?.metadata().scale;
            let cofactor = self.node(below, above, missing)?;
            let power = self.at(*giant, above)?;
            let product = evaluator.multiply_unscaled_at(power, &cofactor, 1, above)?;
            match &mut sum {
                Some(sum) => evaluator.add_assign(sum, &product)?,
                None => sum = Some(product),
            }
        }
        let linear = || node.linear.iter().filter(|&&(exponent, _)| exponent > 0);
        linear().try_for_each(|&(exponent, _)| self.prepare_at(exponent, above))?;
        let terms: Vec<(Complex64, &Ciphertext)> = linear()
            .map(|&(exponent, coefficient)| Ok((coefficient, self.at(exponent, above)?)))
            .collect::<Result<_, CkksError>>()?;
        let mut sum = self.with_linear(sum, &terms, above, wide)?;
        if free != Complex64::ZERO {
            evaluator.add_constant_assign(&mut sum, free)?;
        }
        let sum = if self.chebyshev { bounded(sum, node.bound) } else { sum };
        evaluator.relinearize_rescale(&sum, self.key)
    }
}

#[cfg(test)]
mod tests {
    use chacha20::ChaCha20Rng;
    use chacha20::rand_core::SeedableRng;
    use sunzi_ckks::encoder::Encoder;
    use sunzi_ckks::{Context, Parameters};
    use sunzi_math::primes_below;
    use sunzi_ring::GadgetOptions;
    use sunzi_rlwe::{SecretKey, Security};

    use super::*;
    use crate::approximation::{Function, Target, approximate_function};

    const LOG2_DEGREE: u32 = 9;
    const SLOTS: usize = 1 << (LOG2_DEGREE - 1);

    /// Test bench: a context with levels of 40 bits over 47, and keys that encrypt and decrypt.
    struct Bench {
        context: Context,
        secret: SecretKey,
        key: RelinearizationKey,
        rng: ChaCha20Rng,
    }

    impl Bench {
        fn new(depth: usize) -> Self {
            let step = 2 << LOG2_DEGREE;
            let mut moduli = primes_below(1 << 47, step, 1).unwrap();
            moduli.extend(primes_below(1 << 40, step, depth).unwrap());
            let special_moduli = primes_below(1 << 46, step, 3).unwrap();
            let options = GadgetOptions { special_moduli, ..GadgetOptions::default() };
            let levels = (1..=depth + 1).collect();
            let parameters =
                Parameters::new(LOG2_DEGREE, moduli, levels, 40, Security::InsecureForResearchOnly)
                    .with_key_switching(options)
                    .with_message_bits(1);
            let context = Context::new(&parameters).unwrap();
            let mut rng = ChaCha20Rng::seed_from_u64(7);
            let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
            let key = RelinearizationKey::generate(context.rlwe(), &secret, &mut rng).unwrap();
            Self { context, secret, key, rng }
        }

        /// Returns points of an interval, both ends among them.
        fn points(low: f64, high: f64) -> Vec<f64> {
            (0..SLOTS).map(|i| low + (high - low) * i as f64 / (SLOTS - 1) as f64).collect()
        }

        fn encrypt(&mut self, values: &[f64]) -> Ciphertext {
            let plaintext = Encoder::new(&self.context, SLOTS).unwrap().encode_real(values).unwrap();
            self.context.encrypt_secret(&plaintext, &self.secret, &mut self.rng).unwrap()
        }

        fn open(&self, a: &Ciphertext) -> Vec<f64> {
            let plaintext = self.context.decrypt(a, &self.secret).unwrap();
            Encoder::new(&self.context, SLOTS).unwrap().decode_real(&plaintext).unwrap()
        }
    }

    fn check(bench: &mut Bench, series: &Series, low: f64, high: f64, bound: f64) {
        let points = Bench::points(low, high);
        let evaluator = Evaluator::new(&bench.context);
        let x = evaluator.with_magnitude(&bench.encrypt(&points), high).unwrap();
        let y = evaluate(&evaluator, series, &x, &bench.key).unwrap();
        let level = bench.context.depth() - depth(series);
        assert_eq!(y.metadata().level, level, "{series:?}");
        assert_eq!(y.metadata().scale, bench.context.scale(level).unwrap());
        for (x, y) in points.iter().zip(bench.open(&y)) {
            assert!((series.at(*x) - y).abs() < bound, "{y} at {x} for {series:?}");
        }
    }

    #[test]
    fn every_degree_in_both_bases() {
        let mut bench = Bench::new(5);
        for degree in [0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 15, 16, 20, 23, 30, 31] {
            for step in [1, 2] {
                let c: Vec<f64> = (0..=degree)
                    .map(|i: usize| {
                        let absent = !(degree - i).is_multiple_of(step);
                        if absent { 0.0 } else { ((i * 7 + 3) % 11) as f64 / 11.0 - 0.4 }
                    })
                    .collect();
                check(&mut bench, &Series::chebyshev(-1.0, 1.0, c.clone()).unwrap(), -1.0, 1.0, 1e-7);
                check(&mut bench, &Series::power(c).unwrap(), -1.0, 1.0, 1e-7);
            }
        }
    }

    #[test]
    fn complex_coefficients_at_a_complex_point() {
        let mut bench = Bench::new(5);
        let points: Vec<Complex64> = (0..SLOTS).map(|i| Complex64::cis(i as f64)).collect();
        let plaintext = Encoder::new(&bench.context, SLOTS).unwrap().encode(&points).unwrap();
        let x = bench.context.encrypt_secret(&plaintext, &bench.secret, &mut bench.rng).unwrap();
        let x = Evaluator::new(&bench.context).with_magnitude(&x, 1.0).unwrap();
        for degree in [0, 1, 3, 6, 17, 31] {
            let c =
                (0..=degree).map(|i| Complex64::new((i * 7 % 11) as f64 - 5.0, (i * 5 % 13) as f64) / 64.0);
            // Some terms are real, imaginary, or absent.
            let c: Vec<Complex64> = c
                .enumerate()
                .map(|(i, c)| match i % 5 {
                    1 => c.re.into(),
                    2 => Complex64::new(0.0, c.im),
                    3 => Complex64::ZERO,
                    _ => c,
                })
                .collect();
            let series = Series::power(c).unwrap();
            let y = evaluate(&Evaluator::new(&bench.context), &series, &x, &bench.key).unwrap();
            assert_eq!(y.metadata().level, 5 - depth(&series));
            let plaintext = bench.context.decrypt(&y, &bench.secret).unwrap();
            let values = Encoder::new(&bench.context, SLOTS).unwrap().decode(&plaintext).unwrap();
            for (x, y) in points.iter().zip(values) {
                assert!((series.at_complex(*x) - y).norm() < 1e-6, "degree {degree}: {y} at {x}");
            }
        }
    }

    #[test]
    fn intervals_take_a_level_unless_they_fit() {
        let mut bench = Bench::new(4);
        let c = vec![0.3, -0.2, 0.4, 0.1, 0.05];
        // u = 2x − 1, exact, and u = (x − 1/2)·4/3.
        let fits = Series::chebyshev(0.0, 1.0, c.clone()).unwrap();
        let not = Series::chebyshev(-0.25, 1.25, c).unwrap();
        assert_eq!((depth(&fits), depth(&not)), (3, 4));
        check(&mut bench, &fits, 0.0, 1.0, 1e-7);
        check(&mut bench, &not, -0.25, 1.25, 1e-7);
    }

    #[test]
    fn several_polynomials_share_powers() {
        let mut bench = Bench::new(4);
        let points = Bench::points(-1.0, 1.0);
        let evaluator = Evaluator::new(&bench.context);
        let x = evaluator.with_magnitude(&bench.encrypt(&points), 1.0).unwrap();
        let series: Vec<Series> = [vec![0.1, 0.2, 0.3], vec![0.0, 0.5, 0.0, 0.2, 0.0, 0.1], vec![0.7; 12]]
            .map(|c| Series::chebyshev(-1.0, 1.0, c).unwrap())
            .into();
        for chosen in [vec![0], vec![0, 1, 2], vec![1, 0]] {
            let chosen: Vec<&Series> = chosen.iter().map(|&i| &series[i]).collect();
            let values = evaluate_many(&evaluator, &chosen, &x, &bench.key).unwrap();
            for (series, value) in chosen.iter().zip(&values) {
                assert_eq!(value.metadata().level, 4 - depth(series));
                for (x, y) in points.iter().zip(bench.open(value)) {
                    assert!((series.at(*x) - y).abs() < 1e-7);
                }
            }
        }
    }

    #[test]
    fn slots_that_may_lie_outside_are_refused_and_errors_travel() {
        let mut bench = Bench::new(5);
        let points = Bench::points(-0.1, 0.1);
        let (x, evaluator) = (bench.encrypt(&points), Evaluator::new(&bench.context));
        let found = approximate_function(Function::Exp, -0.1, 0.1, Target::Error(1e-3)).unwrap();
        let refused = found.evaluate(&evaluator, &x, &bench.key).err().unwrap();
        assert!(matches!(refused, CkksError::Value { .. }), "{refused}");
        let declared = evaluator.with_magnitude(&x, 0.1).unwrap();
        let y = found.evaluate(&evaluator, &declared, &bench.key).unwrap();
        let deviation = y.metadata().precision.deviation();
        assert!(deviation >= found.error, "{deviation:e}");
        for (x, y) in points.iter().zip(bench.open(&y)) {
            assert!((x.exp() - y).abs() <= 7.2 * deviation, "{y} at {x}");
        }
    }

    #[test]
    fn too_few_levels_say_so() {
        let mut bench = Bench::new(2);
        let x = bench.encrypt(&[0.5; SLOTS]);
        let series = Series::power(vec![1.0; 5]).unwrap();
        let error = evaluate(&Evaluator::new(&bench.context), &series, &x, &bench.key).err().unwrap();
        assert!(matches!(error, CkksError::LevelExhausted { needed: 3, level: 2, .. }), "{error}");
    }
}
