//! Polynomials with clear coefficients at an encrypted point.

mod interpolation;
mod plan;
mod powers;

use std::collections::BTreeMap;

pub use interpolation::interpolate;
pub use plan::{Cost, Method, Plan};

use crate::arithmetic::check_keys;
use crate::{Arithmetic, CircuitError, Outcome};

/// A coefficient of a polynomial: one number for every slot, or a number for each slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Coefficient<P> {
    /// One number for all slots as the coefficient, taken modulo t.
    Constant(i64),
    /// An encoded number for each slot: each slot has a polynomial of its own.
    Slots(P),
}

/// A polynomial whose coefficients are numbers or plaintexts of type `P`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Polynomial<P> {
    coefficients: Vec<Coefficient<P>>,
}

impl<P> Polynomial<P> {
    /// Makes the polynomial Σ a_i·x^i from coefficients a_0, a_1, …; the empty list is the polynomial zero.
    #[must_use]
    pub fn new(coefficients: Vec<Coefficient<P>>) -> Self {
        Self { coefficients }
    }

    /// Makes the polynomial with coefficients that are one number each.
    #[must_use]
    pub fn constants(coefficients: &[i64]) -> Self {
        Self::new(coefficients.iter().map(|&c| Coefficient::Constant(c)).collect())
    }

    /// Coefficients a_0, a_1, … of the polynomial.
    #[must_use]
    pub fn coefficients(&self) -> &[Coefficient<P>] {
        &self.coefficients
    }

    /// Returns the plan of [`evaluate`] modulo t, with its cost.
    #[must_use]
    pub fn plan(&self, plain_modulus: u64, method: Method) -> Plan {
        Plan::new(&self.support(plain_modulus), method)
    }

    /// Lists the exponents of the polynomial whose coefficients do not vanish modulo t.
    fn support(&self, plain_modulus: u64) -> Vec<usize> {
        let vanishes = |a: &Coefficient<P>| match a {
            Coefficient::Constant(c) => i128::from(*c) % i128::from(plain_modulus.max(1)) == 0,
            Coefficient::Slots(_) => false,
        };
        let all = self.coefficients.iter().enumerate();
        all.filter(|(_, a)| !vanishes(a)).map(|(exponent, _)| exponent).collect()
    }
}

/// Evaluates the polynomial Σ a_i·x^i, slot by slot in both rows, at the least depth: ⌈log2 d⌉ for degree d.
///
/// *Power basis*: x^2, …, x^d, each by one product, then a linear combination; d − 1 relinearisations.
///
/// *Paterson–Stockmeyer* with b baby steps, a power of two: x^2, …, x^(b−1), the giant steps x^b, x^(2b), x^(4b), …,
/// and the polynomial as p_0 + x^b·p_1 + x^(2b)·p_2 + x^(4b)·p_3 + …, where p_i has degree below b·2^(i−1) and is
/// evaluated in the same way. Each such sum of products is scaled and relinearised once. With
/// d + 1 = 2^h·b coefficients that makes b − 2 + h relinearisations for powers and 2^(h−1) = (d + 1)/2b for sums:
/// about √(2d) + log2 d for the best b, against 2√d without lazy sums, and as the coefficients are never divided
/// they stay as small as they came.
///
/// Powers that no coefficient needs are left out, and a polynomial of degree 0 or 1 takes no product. A
/// constant polynomial gives a ciphertext that hides nothing: its value was known.
///
/// ```
/// use sunzi_circuits::polynomial::{Method, Polynomial, evaluate};
/// # use sunzi_circuits::{Clear, ClearKeys};
/// # let arithmetic = Clear::new(4, 65537);
/// # let keys = ClearKeys::all();
/// # let x = arithmetic.encrypt(&[0, 1, 2, 3]);
/// // 5 − 2x + x³
/// let polynomial = Polynomial::constants(&[5, -2, 0, 1]);
/// let y = evaluate(&arithmetic, &polynomial, &x, Method::Automatic, &keys)?;
/// # assert_eq!(y.slots()[..4], [5, 4, 9, 26]);
/// # Ok::<(), sunzi_circuits::CircuitError<sunzi_circuits::ClearError>>(())
/// ```
///
/// # Errors
/// [`CircuitError::MissingRelinearizationKey`] if there are products; [`CircuitError::Scheme`].
pub fn evaluate<A: Arithmetic>(
    arithmetic: &A,
    polynomial: &Polynomial<A::Plaintext>,
    x: &A::Ciphertext,
    method: Method,
    keys: &A::Keys,
) -> Outcome<A, A::Ciphertext> {
    let support = polynomial.support(arithmetic.plain_modulus());
    let plan = Plan::new(&support, method);
    check_keys(arithmetic, keys, plan.cost().products > 0, [])?;
    let mut evaluation = Evaluation {
        arithmetic,
        polynomial,
        plan: &plan,
        keys,
        powers: BTreeMap::from([(1, x.clone())]),
        operands: BTreeMap::new(),
    };
    evaluation.prepare()?;
    evaluation.node(&support, 0, plan.doublings)
}

/// State of the evaluation of a polynomial.
struct Evaluation<'a, A: Arithmetic> {
    arithmetic: &'a A,
    polynomial: &'a Polynomial<A::Plaintext>,
    plan: &'a Plan,
    keys: &'a A::Keys,
    powers: BTreeMap<usize, A::Ciphertext>,
    /// Powers of x that were factors, prepared for the next product.
    operands: BTreeMap<usize, A::Operand>,
}

/// Error text for a power missing from the plan.
const NO_POWER: &str = "a power of x";

impl<A: Arithmetic> Evaluation<'_, A> {
    /// Computes the powers of x that the plan lists.
    fn prepare(&mut self) -> Outcome<A, ()> {
        for (exponent, (a, b)) in self.plan.powers.steps() {
            self.prepare_operand(a)?;
            self.prepare_operand(b)?;
            let mut product = None;
            self.arithmetic.add_product(&mut product, self.operand(a)?, self.operand(b)?)?;
            let product = product.ok_or(CircuitError::Empty { what: NO_POWER })?;
            self.powers.insert(exponent, self.arithmetic.finish(product, self.keys)?);
        }
        Ok(())
    }

    fn prepare_operand(&mut self, exponent: usize) -> Outcome<A, ()> {
        if !self.operands.contains_key(&exponent) {
            let operand = self.arithmetic.operand(self.power(exponent)?)?;
            self.operands.insert(exponent, operand);
        }
        Ok(())
    }

    fn power(&self, exponent: usize) -> Outcome<A, &A::Ciphertext> {
        self.powers.get(&exponent).ok_or(CircuitError::Empty { what: NO_POWER })
    }

    fn operand(&self, exponent: usize) -> Outcome<A, &A::Operand> {
        self.operands.get(&exponent).ok_or(CircuitError::Empty { what: NO_POWER })
    }

    /// Evaluates the terms from exponent `low` on, below b·2^`height` of them, divided by x^low: those below x^b directly, and
    /// for each giant step x^(b·2^i) the terms up to the next one, divided by it.
    fn node(&mut self, support: &[usize], low: usize, height: u32) -> Outcome<A, A::Ciphertext> {
        let b = self.plan.baby_steps;
        let own = plan::between(support, low, low.saturating_add(b));
        let mut linear: Vec<(usize, usize)> = own.iter().map(|&e| (e - low, e)).collect();
        let mut products = None;
        for i in 0..height {
            let giant = b << i;
            let above = plan::between(support, low.saturating_add(giant), low.saturating_add(2 * giant));
            match above {
                [] => {}
                [only] if *only == low + giant => linear.push((giant, *only)),
                _ => {
                    let cofactor = self.node(above, low + giant, i)?;
                    let cofactor = self.arithmetic.operand(&cofactor)?;
                    self.prepare_operand(giant)?;
                    self.arithmetic.add_product(&mut products, self.operand(giant)?, &cofactor)?;
                }
            }
        }
        let products = products.map(|sum| self.arithmetic.finish(sum, self.keys)).transpose()?;
        self.combine(&linear, products)
    }

    /// Adds the terms Σ a_e·x^i for pairs (i, e) to a ciphertext, or to zero.
    fn combine(&self, terms: &[(usize, usize)], start: Option<A::Ciphertext>) -> Outcome<A, A::Ciphertext> {
        let arithmetic = self.arithmetic;
        let (mut sum, mut factors, mut free) = (start, Vec::new(), None);
        for &(power, exponent) in terms {
            let Some(coefficient) = self.polynomial.coefficients.get(exponent) else { continue };
            match coefficient {
                _ if power == 0 => free = Some(coefficient),
                Coefficient::Constant(c) => {
                    let term = arithmetic.multiply_scalar(self.power(power)?, *c)?;
                    sum = Some(added(arithmetic, sum, term)?);
                }
                Coefficient::Slots(m) => factors.push((self.power(power)?, arithmetic.factor(m)?)),
            }
        }
        if !factors.is_empty() {
            let terms: Vec<_> = factors.iter().map(|(power, factor)| (*power, factor)).collect();
            sum = Some(added(arithmetic, sum, arithmetic.sum_of_plain_products(&terms)?)?);
        }
        let sum = sum.map_or_else(|| arithmetic.multiply_scalar(self.power(1)?, 0), Ok)?;
        match free {
            None => Ok(sum),
            Some(Coefficient::Constant(c)) => arithmetic.add_scalar(&sum, *c),
            Some(Coefficient::Slots(m)) => arithmetic.add_plain(&sum, m),
        }
    }
}

/// Adds two ciphertexts, where `None` counts as zero.
fn added<A: Arithmetic>(
    arithmetic: &A,
    sum: Option<A::Ciphertext>,
    term: A::Ciphertext,
) -> Outcome<A, A::Ciphertext> {
    match sum {
        Some(sum) => arithmetic.add(&sum, &term),
        None => Ok(term),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Clear, ClearKeys};

    const T: u64 = 257;
    const METHODS: [Method; 3] = [Method::Automatic, Method::PowerBasis, Method::PatersonStockmeyer];

    /// Evaluates a polynomial by Horner's rule, slot by slot, for comparison.
    fn expected(coefficients: &[Vec<u64>], x: &[u64]) -> Vec<u64> {
        let at = |(slot, x): (usize, &u64)| coefficients.iter().rev().fold(0, |y, a| (y * x + a[slot]) % T);
        x.iter().enumerate().map(at).collect()
    }

    /// Evaluates a polynomial by every method and compares values and counts with Horner's rule and the plan.
    fn check(coefficients: Vec<Coefficient<Vec<u64>>>) {
        let slots: Vec<u64> = vec![0, 1, 2, T - 1, 77, 128, 129, 200];
        let rows: Vec<Vec<u64>> = coefficients
            .iter()
            .map(|a| match a {
                Coefficient::Constant(c) => vec![c.rem_euclid(T as i64) as u64; 8],
                Coefficient::Slots(m) => m.clone(),
            })
            .collect();
        let polynomial = Polynomial::new(coefficients);
        for method in METHODS {
            let clear = Clear::new(4, T);
            let x = clear.encrypt(&slots);
            let y = evaluate(&clear, &polynomial, &x, method, &ClearKeys::all()).unwrap();
            assert_eq!(y.slots(), expected(&rows, &slots), "{method:?} {polynomial:?}");
            let (cost, counts) = (polynomial.plan(T, method).cost(), clear.counts());
            assert_eq!(cost.products, counts.products, "{method:?} {polynomial:?}");
            assert_eq!(cost.relinearizations, counts.relinearizations);
            assert_eq!(counts.relinearizations, counts.scalings);
            assert_eq!(cost.depth, y.depth());
        }
    }

    #[test]
    fn dense_polynomials_of_every_degree() {
        for d in 0..70 {
            check((0..d).map(|i| Coefficient::Constant(i * i - 40 * i + 3)).collect());
        }
    }

    #[test]
    fn sparse_polynomials_and_vanishing_coefficients() {
        for mask in 0..1024_i64 {
            // Multiples of t vanish.
            let t = T as i64;
            let bit = |i: i64| if mask >> i & 1 == 1 { i - 4 - 2 * t } else { (i - 3) * t };
            check((0..10).map(|i| Coefficient::Constant(if i == 4 { 0 } else { bit(i) })).collect());
        }
        let mut lone = vec![Coefficient::Constant(0); 101];
        lone[100] = Coefficient::Constant(i64::MIN);
        lone[37] = Coefficient::Constant(i64::MAX);
        check(lone);
    }

    #[test]
    fn slots_may_have_polynomials_of_their_own() {
        for d in 0..20_u64 {
            let mixed = |i: u64| match i % 3 {
                0 => Coefficient::Constant(i as i64 - 5),
                _ => Coefficient::Slots((0..8).map(|slot| (slot * i + 11 * i * i) % T).collect()),
            };
            check((0..d).map(mixed).collect());
            check((0..d).map(|i| Coefficient::Slots(vec![i % 2; 8])).collect());
        }
    }

    #[test]
    fn a_missing_key_is_found_before_any_work() {
        let clear = Clear::new(4, T);
        let keys = ClearKeys { relinearization: false, rotations: None };
        let x = clear.encrypt(&[3]);
        let evaluate = |coefficients: &[i64]| {
            evaluate(&clear, &Polynomial::constants(coefficients), &x, Method::Automatic, &keys)
        };
        let error = evaluate(&[1, 2, 3]).unwrap_err();
        assert!(matches!(error, CircuitError::MissingRelinearizationKey), "{error}");
        assert_eq!(clear.counts(), crate::clear::Counts::default());
        assert_eq!(evaluate(&[1, 2]).unwrap().slots()[..2], [7, 1]);
    }

    #[test]
    fn plans_say_why() {
        let text =
            |d: usize| Polynomial::<()>::constants(&vec![1; d + 1]).plan(T, Method::Automatic).to_string();
        assert!(text(2).starts_with("power basis: 1 products"), "{}", text(2));
        assert!(text(31).contains("the power basis takes 30 products"), "{}", text(31));
    }
}
