//! Plan of Paterson–Stockmeyer at minimal depth, for both bases: products and their order.

use std::collections::BTreeSet;
use std::fmt;

use num_complex::Complex64;

use super::{Basis, Parity, Series};

/// Cost of the evaluation of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Number of levels: ⌈log2(d + 1)⌉ for degree d.
    pub depth: usize,
    /// Number of products of two ciphertexts.
    pub products: usize,
    /// Number of relinearisations with a rescale: sums of products share one.
    pub relinearizations: usize,
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { depth, products, relinearizations } = self;
        write!(f, "{products} products and {relinearizations} relinearisations in {depth} levels")
    }
}

/// A node Σ c·B_i + Σ B_g·(node): linear terms and products with giant steps, all at one scale and rescaled once.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Node {
    /// Exponents and coefficients of the linear terms, none of them zero.
    pub(crate) linear: Vec<(usize, Complex64)>,
    /// Giant steps with the nodes that they multiply.
    pub(crate) products: Vec<(usize, Node)>,
    /// Sum Σ|c| of the coefficients of the whole node: a bound on its values where those of the basis are at most 1.
    pub(crate) bound: f64,
}

/// Plan of the evaluation of a polynomial.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Plan {
    /// Whether the series is evaluated at B_2(u) in place of u.
    pub(crate) halved: bool,
    /// Whether the basis is Chebyshev's, not powers.
    pub(crate) chebyshev: bool,
    /// Root node of the plan, whose value is that of the series.
    pub(crate) root: Node,
    /// Exponents of the basis elements needed at the point, without 1.
    pub(crate) powers: BTreeSet<usize>,
}

/// Number of levels that B_i takes from B_1: ⌈log2 i⌉.
pub(crate) fn power_depth(exponent: usize) -> usize {
    exponent.max(1).next_power_of_two().trailing_zeros() as usize
}

/// Splits i = a + b with a ≥ b: B_i comes from B_a·B_b, and in the Chebyshev basis B_(a−b).
pub(crate) fn split(exponent: usize) -> (usize, usize) {
    let half = exponent.next_power_of_two() / 2;
    (half, exponent - half)
}

impl Plan {
    /// Makes the plan with the fewest relinearisations over all numbers of baby steps.
    pub(crate) fn new<C: Copy + Into<Complex64>>(series: &Series<C>) -> Self {
        Self::at_point(series, series.degree() >= 2 && series.parity() == Parity::Even)
    }

    /// Makes the plan with the fewest relinearisations at u itself, whatever the parity.
    pub(crate) fn whole<C: Copy + Into<Complex64>>(series: &Series<C>) -> Self {
        Self::at_point(series, false)
    }

    fn at_point<C: Copy + Into<Complex64>>(series: &Series<C>, halved: bool) -> Self {
        let step = if halved { 2 } else { 1 };
        let coefficients: Vec<Complex64> = series.terms().step_by(step).collect();
        let chebyshev = matches!(series.basis(), Basis::Chebyshev { .. });
        let degree = coefficients.len().saturating_sub(1);
        let steps = (1..=degree.max(1).ilog2() + 1).map(|log2| 1_usize << log2);
        let plans = steps.map(|steps| {
            let root = Node::new(coefficients.clone(), steps, power_depth(degree + 1), chebyshev);
            let mut powers = BTreeSet::new();
            root.collect(&mut powers);
            let powers = closure(powers, chebyshev);
            Self { halved, chebyshev, root, powers }
        });
        let best = plans.min_by_key(|plan| (plan.cost().relinearizations, plan.cost().products));
        best.unwrap_or_else(|| Self { halved, chebyshev, root: Node::default(), powers: BTreeSet::new() })
    }

    pub(crate) fn cost(&self) -> Cost {
        let (nodes, products) = self.root.count();
        let powers = self.powers.len() + usize::from(self.halved);
        Cost {
            depth: self.root.depth() + usize::from(self.halved),
            products: products + powers,
            relinearizations: nodes + powers,
        }
    }
}

/// Adds to the exponents all those that their elements are made of, without 0 and 1.
fn closure(mut wanted: BTreeSet<usize>, chebyshev: bool) -> BTreeSet<usize> {
    let mut all = BTreeSet::new();
    while let Some(exponent) = wanted.pop_last() {
        if exponent < 2 || !all.insert(exponent) {
            continue;
        }
        let (a, b) = split(exponent);
        wanted.extend([a, b]);
        if chebyshev {
            wanted.insert(a - b);
        }
    }
    all
}

impl Node {
    /// Makes a node for Σ c_i·B_i with `steps` baby steps, a power of two, in at most `depth` ≥ ⌈log2(d + 1)⌉ levels.
    fn new(mut coefficients: Vec<Complex64>, steps: usize, depth: usize, chebyshev: bool) -> Self {
        let bound = coefficients.iter().map(|c| c.norm()).sum();
        let mut node = Self { bound, ..Self::default() };
        trim(&mut coefficients);
        let leaf = |c: &[Complex64]| c.len() <= 1 || c.len() <= steps && power_depth(c.len() - 1) < depth;
        // The terms that need splitting go level by level to giant steps; where depth forbids a leaf, the
        // first split suffices, since its remainder is multiplied one level earlier.
        let mut first = true;
        while !leaf(&coefficients) && (first || coefficients.len() > steps) {
            let giant = coefficients.len().next_power_of_two() / 2;
            if giant < 2 {
                break;
            }
            let quotient = divide(&mut coefficients, giant, chebyshev);
            match quotient.as_slice() {
                [] => {}
                [constant] => node.linear.push((giant, *constant)),
                _ => node.products.push((giant, Self::new(quotient, steps, depth - 1, chebyshev))),
            }
            trim(&mut coefficients);
            first = false;
        }
        let rest = coefficients.into_iter().enumerate().filter(|&(_, c)| c != Complex64::ZERO);
        node.linear.extend(rest);
        node
    }

    pub(crate) fn depth(&self) -> usize {
        let linear = self.linear.iter().filter(|&&(i, _)| i > 0).map(|&(i, _)| power_depth(i) + 1);
        let products = self.products.iter().map(|(g, node)| power_depth(*g).max(node.depth()) + 1);
        linear.chain(products).max().unwrap_or(0)
    }

    fn collect(&self, powers: &mut BTreeSet<usize>) {
        powers.extend(self.linear.iter().map(|&(i, _)| i));
        for (giant, node) in &self.products {
            powers.insert(*giant);
            node.collect(powers);
        }
    }

    /// Counts the nodes of the plan with products, and the products.
    fn count(&self) -> (usize, usize) {
        let below = self.products.iter().map(|(_, node)| node.count());
        let own = (usize::from(!self.products.is_empty()), self.products.len());
        below.fold(own, |(nodes, products), (n, p)| (nodes + n, products + p))
    }
}

fn trim(coefficients: &mut Vec<Complex64>) {
    while coefficients.last() == Some(&Complex64::ZERO) {
        coefficients.pop();
    }
}

/// Divides p = q·B_g + r with deg r < g for deg p < 2g: keeps r, returns q. T_(g+j) = 2·T_g·T_j − T_(g−j).
fn divide(coefficients: &mut Vec<Complex64>, giant: usize, chebyshev: bool) -> Vec<Complex64> {
    let mut quotient = coefficients.split_off(giant.min(coefficients.len()));
    if chebyshev {
        for (r, q) in coefficients.iter_mut().rev().zip(quotient.iter_mut().skip(1)) {
            *r -= *q;
            *q *= 2.0;
        }
    }
    quotient
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Runs the plan in the clear, with the depth of every value, for comparison.
    fn run(plan: &Plan, u: impl Into<Complex64>) -> (Complex64, usize) {
        let u = u.into();
        let product = |a: (Complex64, usize), b: (Complex64, usize)| (a.0 * b.0, a.1.max(b.1) + 1);
        let square = if plan.chebyshev { 2.0 * u * u - 1.0 } else { u * u };
        let start = if plan.halved { (square, 1) } else { (u, 0) };
        let mut powers = BTreeMap::from([(0, (Complex64::ONE, 0)), (1, start)]);
        for &i in &plan.powers {
            let (a, b) = split(i);
            let (mut value, depth) = product(powers[&a], powers[&b]);
            if plan.chebyshev {
                value = 2.0 * value - powers[&(a - b)].0;
            }
            powers.insert(i, (value, depth));
        }
        fn node(n: &Node, powers: &BTreeMap<usize, (Complex64, usize)>) -> (Complex64, usize) {
            let mut sum = (Complex64::ZERO, 0);
            for &(i, c) in &n.linear {
                let (value, depth) = powers[&i];
                sum = (sum.0 + c * value, sum.1.max(if i == 0 { 0 } else { depth + 1 }));
            }
            for (g, below) in &n.products {
                let ((a, da), (b, db)) = (powers[g], node(below, powers));
                sum = (sum.0 + a * b, sum.1.max(da.max(db) + 1));
            }
            sum
        }
        node(&plan.root, &powers)
    }

    #[test]
    fn every_degree_basis_and_parity_at_minimal_depth() {
        for degree in 0..140_usize {
            for (chebyshev, step) in [(true, 1), (false, 1), (true, 2), (false, 2)] {
                let c: Vec<f64> = (0..=degree)
                    .map(|i| {
                        let absent = !(degree - i).is_multiple_of(step);
                        if absent { 0.0 } else { ((i * i * 7 + 3 * i + 1) % 23) as f64 / 23.0 + 0.05 }
                    })
                    .collect();
                let basis = if chebyshev { Basis::Chebyshev { low: -1.0, high: 1.0 } } else { Basis::Power };
                let series = Series::new(basis, c).unwrap();
                let plan = Plan::new(&series);
                let minimal = (degree + 1).next_power_of_two().trailing_zeros() as usize;
                assert_eq!(plan.cost().depth, minimal, "degree {degree} step {step}");
                for u in [-1.0, -0.7, 0.0, 0.3, 1.0] {
                    let (value, depth) = run(&plan, u);
                    assert!((value - series.at(u)).norm() < 1e-11, "degree {degree} {chebyshev} at {u}");
                    assert!(depth <= minimal);
                }
            }
        }
    }

    /// Where few terms are present, no other one brings the powers that they are made of.
    #[test]
    fn every_choice_of_terms_has_its_powers() {
        for terms in 1..1_u32 << 12 {
            let c: Vec<f64> = (0..12).map(|i| f64::from(terms >> i & 1)).collect();
            let series = Series::chebyshev(-1.0, 1.0, c).unwrap();
            for plan in [Plan::new(&series), Plan::whole(&series)] {
                assert!((run(&plan, 0.7).0 - series.at(0.7)).norm() < 1e-11, "terms {terms:012b}");
            }
        }
    }

    #[test]
    fn complex_coefficients_are_planned_as_real_ones() {
        for degree in [1, 7, 30, 127, 255] {
            let c: Vec<Complex64> = (0..=degree)
                .map(|i| Complex64::new((i * 7 % 11) as f64 - 5.0, (i * 5 % 13) as f64 - 6.5) / 64.0)
                .collect();
            let real = Series::power(vec![1.0; degree + 1]).unwrap();
            for series in [Series::power(c.clone()).unwrap(), Series::chebyshev(-1.0, 1.0, c).unwrap()] {
                let plan = Plan::new(&series);
                assert_eq!(plan.cost().depth, real.cost().depth);
                for u in [Complex64::from(0.3), Complex64::cis(2.0) * 0.99] {
                    let (value, expected) = (run(&plan, u).0, series.at_complex(u));
                    let size = if plan.chebyshev { expected.norm().max(1.0) } else { 1.0 };
                    assert!((value - expected).norm() < 1e-9 * size, "degree {degree} at {u}");
                }
            }
        }
    }

    #[test]
    fn few_relinearizations() {
        let cost = |step: usize, d: usize| {
            let c = (0..=d).map(|i| if (d - i).is_multiple_of(step) { 1.0 } else { 0.0 }).collect();
            Series::chebyshev(-1.0, 1.0, c).unwrap().cost()
        };
        assert!(cost(1, 31).relinearizations <= 10, "{}", cost(1, 31));
        assert!(cost(2, 31).relinearizations <= 9, "{}", cost(2, 31));
        assert!(cost(2, 30).relinearizations <= 8, "{}", cost(2, 30));
        assert!(cost(1, 63).relinearizations <= 15, "{}", cost(1, 63));
    }
}
