//! Plan of the evaluation of a polynomial, and its cost.

use std::fmt;

use super::powers::{Powers, depth};

/// Method of evaluating a polynomial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// The cheaper of the other two methods.
    #[default]
    Automatic,
    /// Power basis: all powers, then one linear combination Σ a_i·x^i.
    PowerBasis,
    /// Paterson–Stockmeyer: baby steps x, …, x^(b−1) and giant steps x^b, x^(2b), x^(4b), ….
    PatersonStockmeyer,
}

/// Relative cost of a product in a sum of products that is scaled and relinearised once: it extends one
/// operand, the giant step being at hand, and multiplies. Measured: 0.21 to 0.36 (BFV and BGV, n = 2^13 and 2^14, Zen 4,
/// one thread).
const LAZY_PRODUCT: f64 = 0.25;

/// Cost of the evaluation of a polynomial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Number of products of ciphertexts.
    pub products: usize,
    /// Number of relinearisations, each after one scaling: fewer than products, since sums share them.
    pub relinearizations: usize,
    /// Multiplicative depth of the evaluation.
    pub depth: usize,
}

impl Cost {
    /// Cost of the evaluation in units of one product on its own.
    fn weight(&self) -> f64 {
        let shared = self.products.saturating_sub(self.relinearizations);
        self.relinearizations as f64 + LAZY_PRODUCT * shared as f64
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { products, relinearizations, depth } = self;
        write!(f, "{products} products, {relinearizations} relinearisations, depth {depth}")
    }
}

/// Plan of the evaluation of one polynomial; its `Display` gives the reasons.
///
/// ```
/// use sunzi_circuits::polynomial::{Method, Polynomial};
///
/// let polynomial = Polynomial::<()>::constants(&[1; 64]);
/// let plan = polynomial.plan(65537, Method::Automatic);
/// assert_eq!((plan.cost().relinearizations, plan.cost().depth), (13, 6));
/// assert_eq!(plan.power_basis().relinearizations, 62);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub(super) baby_steps: usize,
    pub(super) doublings: u32,
    pub(super) powers: Powers,
    cost: Cost,
    power_basis: Cost,
}

impl Plan {
    /// Makes the plan for a polynomial whose coefficients do not vanish at these exponents, in ascending order.
    pub(super) fn new(support: &[usize], method: Method) -> Self {
        let degree = support.last().copied().unwrap_or(0);
        // One baby step more than the degree leaves no giant step.
        let all = degree.checked_add(1).and_then(usize::checked_next_power_of_two).unwrap_or(usize::MAX);
        let basis = Self::with_baby_steps(support, all, None);
        let mut best = basis.clone();
        let mut baby_steps = 1;
        let mut first = method == Method::PatersonStockmeyer;
        while method != Method::PowerBasis && baby_steps < all {
            let plan = Self::with_baby_steps(support, baby_steps, Some(basis.cost));
            if first || plan.cost.weight() < best.cost.weight() {
                best = plan;
                first = false;
            }
            baby_steps *= 2;
        }
        best
    }

    /// Makes a plan with the given number of baby steps, a power of two.
    fn with_baby_steps(support: &[usize], baby_steps: usize, power_basis: Option<Cost>) -> Self {
        let degree = support.last().copied().unwrap_or(0);
        let doublings = (degree / baby_steps).checked_ilog2().map_or(0, |log| log + 1);
        let mut walk = Walk { baby_steps, exponents: Vec::new(), cost: Cost::default() };
        walk.cost.depth = walk.node(support, 0, doublings);
        let powers = Powers::of(walk.exponents);
        let mut cost = walk.cost;
        cost.products += powers.products();
        cost.relinearizations += powers.products();
        Self { baby_steps, doublings, powers, cost, power_basis: power_basis.unwrap_or(cost) }
    }

    /// Cost of the evaluation by the chosen method.
    #[must_use]
    pub fn cost(&self) -> Cost {
        self.cost
    }

    /// Cost of the evaluation by the power basis.
    #[must_use]
    pub fn power_basis(&self) -> Cost {
        self.power_basis
    }

    /// Method of evaluation that was chosen.
    #[must_use]
    pub fn method(&self) -> Method {
        if self.doublings == 0 { Method::PowerBasis } else { Method::PatersonStockmeyer }
    }

    /// Number of baby steps of the plan: it computes the powers below this one.
    #[must_use]
    pub fn baby_steps(&self) -> usize {
        self.baby_steps
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.doublings == 0 {
            return write!(f, "power basis: {}; no baby steps take fewer", self.cost);
        }
        let (baby_steps, cost, basis) = (self.baby_steps, self.cost, self.power_basis);
        write!(
            f,
            "Paterson-Stockmeyer with {baby_steps} baby and {} giant steps: {cost}; the power basis takes {basis}",
            self.doublings
        )
    }
}

/// Returns the part of the exponents `support` in [from, to).
pub(super) fn between(support: &[usize], from: usize, to: usize) -> &[usize] {
    let start = support.partition_point(|&e| e < from);
    let end = support.partition_point(|&e| e < to);
    support.get(start..end).unwrap_or_default()
}

/// Count of the steps of an evaluation, node by node: see `super::Evaluation::node`.
struct Walk {
    baby_steps: usize,
    exponents: Vec<usize>,
    cost: Cost,
}

impl Walk {
    /// Visits the exponents from `low` on, below b·2^`height` of them; returns the depth.
    fn node(&mut self, support: &[usize], low: usize, height: u32) -> usize {
        let mut deepest = 0;
        for &exponent in between(support, low, low.saturating_add(self.baby_steps)) {
            self.exponents.push(exponent - low);
            deepest = deepest.max(depth(exponent - low));
        }
        let mut products = 0;
        for i in 0..height {
            let giant = self.baby_steps << i;
            let above = between(support, low.saturating_add(giant), low.saturating_add(2 * giant));
            match above {
                [] => continue,
                [only] if *only == low + giant => deepest = deepest.max(depth(giant)),
                _ => {
                    products += 1;
                    deepest = deepest.max(1 + depth(giant).max(self.node(above, low + giant, i)));
                }
            }
            self.exponents.push(giant);
        }
        self.cost.products += products;
        self.cost.relinearizations += usize::from(products > 0);
        deepest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_polynomials_take_about_the_root_of_twice_the_degree() {
        for d in 1..400_usize {
            let support: Vec<usize> = (0..=d).collect();
            let (auto, basis) =
                (Plan::new(&support, Method::Automatic), Plan::new(&support, Method::PowerBasis));
            assert_eq!((basis.cost.products, basis.cost.depth), (d - 1, depth(d)));
            assert_eq!(basis, Plan::with_baby_steps(&support, basis.baby_steps, None));
            assert_eq!(auto.cost.depth, depth(d), "degree {d}: {auto}");
            assert!(auto.cost.weight() <= basis.cost.weight());
            let few = Plan::new(&support, Method::PatersonStockmeyer).cost.relinearizations as f64;
            let root = (2.0 * d as f64).sqrt();
            // Baby steps are powers of two: up to 3/√8 of the ideal number.
            assert!(few <= 1.07 * root + (d as f64).log2() + 2.0, "degree {d}: {few}");
        }
    }

    #[test]
    fn sparse_polynomials_skip_what_vanishes() {
        let cost = |support: &[usize]| Plan::new(support, Method::Automatic).cost;
        assert_eq!(cost(&[]), Cost::default());
        assert_eq!(cost(&[0, 1]), Cost::default());
        assert_eq!(cost(&[1 << 20]), Cost { products: 20, relinearizations: 20, depth: 20 });
        assert!(cost(&[0, 3, 100]).products <= 10);
        assert_eq!(cost(&[0, 3, 100]).depth, 7);
        // Even polynomials are polynomials in x².
        let even: Vec<usize> = (0..=32).map(|i| 2 * i).collect();
        let dense: Vec<usize> = (0..=32).collect();
        assert!(cost(&even).relinearizations <= cost(&dense).relinearizations + 1);
        let huge = Plan::new(&[usize::MAX / 4], Method::Automatic);
        assert_eq!(huge.cost.depth, usize::BITS as usize - 2);
    }
}
