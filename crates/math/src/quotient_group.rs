//! Group (Z/m)*/⟨p⟩ of the slots of plaintexts modulo p^r, as a product of cyclic dimensions.

use crate::{MathError, gcd, mod_pow, mul_mod, prime_factors};

/// Largest accepted index m: tables have one entry for each residue.
const GREATEST_INDEX: u64 = 1 << 22;

/// One dimension of the hypercube of slots: the powers g^0, …, g^(length − 1) of its generator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dimension {
    /// Generator g of the dimension, in (1, m).
    pub generator: u64,
    /// Order of g in the quotient by p and the generators before it.
    pub length: usize,
    /// Whether g^length = 1 modulo m: one automorphism then rotates the dimension cyclically. In a bad dimension the slots that leave at one end
    /// come back under another automorphism `[HS14, section 2.4]`.
    pub good: bool,
}

/// The group (Z/m)*/⟨p⟩ as a hypercube: every class has exactly one representative Π g_i^(e_i) with 0 ≤ e_i < length of dimension i.
///
/// Slots are numbered by (e_1, e_2, …), the last coordinate fastest. Dimensions are found greedily and deterministically: the good generator
/// of the largest order, the smallest of several; a bad one only where there is no good one. The order d of p modulo m is the degree of a slot.
///
/// ```
/// let group = sunzi_math::QuotientGroup::new(21845, 2)?;
/// assert_eq!((group.order_of_p(), group.slots()), (16, 1024));
/// let shape: Vec<(usize, bool)> = group.dimensions().iter().map(|d| (d.length, d.good)).collect();
/// assert_eq!(shape, [(16, true), (4, true), (16, false)]);
/// # Ok::<(), sunzi_math::MathError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuotientGroup {
    index: u64,
    p: u64,
    order_of_p: usize,
    dimensions: Vec<Dimension>,
}

/// Returns Euler's φ(m), by trial division.
#[must_use]
pub fn euler_phi(m: u64) -> u64 {
    prime_factors(m).iter().fold(m, |n, q| n / q * (q - 1))
}

/// Returns the multiplicative order of p modulo m; 1 for m = 1.
///
/// # Errors
/// [`MathError::OutOfRange`] for m = 0; [`MathError::NotCoprime`] where p has no order.
pub fn multiplicative_order(p: u64, m: u64) -> Result<u64, MathError> {
    if m == 0 {
        return Err(MathError::OutOfRange { what: "ring index", expected: "at least 1", got: m });
    }
    if gcd(p, m) != 1 {
        return Err(MathError::NotCoprime { left: p, right: m });
    }
    Ok(reduced_order(euler_phi(m), |e| mod_pow(p, e, m) == 1 % m))
}

/// Returns the least divisor e of `multiple` with `trivial`(e), where trivial(multiple) holds and trivial exponents are the multiples of e.
fn reduced_order(multiple: u64, trivial: impl Fn(u64) -> bool) -> u64 {
    let mut order = multiple;
    for q in prime_factors(multiple) {
        while order.is_multiple_of(q) && trivial(order / q) {
            order /= q;
        }
    }
    order
}

impl QuotientGroup {
    /// Finds the dimensions for index m and a number p coprime to it.
    ///
    /// # Errors
    /// [`MathError::OutOfRange`] unless 1 ≤ m ≤ 2^22; [`MathError::NotCoprime`] where p and m share a factor.
    pub fn new(m: u64, p: u64) -> Result<Self, MathError> {
        if !(1..=GREATEST_INDEX).contains(&m) {
            return Err(MathError::OutOfRange { what: "ring index", expected: "1 to 2^22", got: m });
        }
        let order_of_p = multiplicative_order(p, m)?;
        let mut subgroup = Subgroup::generated_by(p % m, m);
        let mut dimensions = Vec::new();
        let mut left = euler_phi(m) / order_of_p;
        while left > 1 {
            let Some(dimension) = subgroup.next_dimension(left) else { break };
            subgroup.extend(dimension);
            left /= dimension.length as u64;
            dimensions.push(dimension);
        }
        Ok(Self { index: m, p, order_of_p: order_of_p as usize, dimensions })
    }

    /// Index m of the group (Z/m)*/⟨p⟩.
    #[must_use]
    pub fn index(&self) -> u64 {
        self.index
    }

    /// Number p of the group (Z/m)*/⟨p⟩.
    #[must_use]
    pub fn p(&self) -> u64 {
        self.p
    }

    /// Order d of p modulo m: the degree of a slot.
    #[must_use]
    pub fn order_of_p(&self) -> usize {
        self.order_of_p
    }

    /// Number of slots: the classes of the group, φ(m)/d.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.dimensions.iter().map(|dimension| dimension.length).product()
    }

    /// Dimensions of the hypercube of slots, the slowest first; empty for one slot.
    #[must_use]
    pub fn dimensions(&self) -> &[Dimension] {
        &self.dimensions
    }

    /// Distance of neighbours along a dimension, in slots; `None` for a dimension that does not exist.
    #[must_use]
    pub fn stride(&self, dimension: usize) -> Option<usize> {
        let inner = self.dimensions.get(dimension..)?.get(1..)?;
        Some(inner.iter().map(|dimension| dimension.length).product())
    }

    /// Coordinate of a slot along a dimension; `None` for a dimension that does not exist.
    #[must_use]
    pub fn coordinate(&self, slot: usize, dimension: usize) -> Option<usize> {
        let length = self.dimensions.get(dimension)?.length;
        Some(slot / self.stride(dimension)? % length)
    }

    /// Returns the representative Π g_i^(e_i) modulo m of every slot in order.
    #[must_use]
    pub fn representatives(&self) -> Vec<u64> {
        let mut representatives = vec![1 % self.index];
        for dimension in &self.dimensions {
            let g = dimension.generator;
            let step = |&x: &u64| {
                std::iter::successors(Some(x), move |&y| Some(mul_mod(y, g, self.index)))
                    .take(dimension.length)
            };
            representatives = representatives.iter().flat_map(step).collect();
        }
        representatives
    }
}

/// A subgroup of (Z/m)*, by its members and a table of membership.
struct Subgroup {
    index: u64,
    members: Vec<u64>,
    contains: Vec<bool>,
}

impl Subgroup {
    fn generated_by(p: u64, m: u64) -> Self {
        let mut subgroup = Self { index: m, members: vec![1 % m], contains: vec![false; m as usize] };
        let mut power = p;
        while power != 1 % m {
            subgroup.members.push(power);
            power = mul_mod(power, p, m);
        }
        subgroup.mark();
        subgroup
    }

    fn mark(&mut self) {
        for &member in &self.members {
            if let Some(entry) = self.contains.get_mut(member as usize) {
                *entry = true;
            }
        }
    }

    fn has(&self, x: u64) -> bool {
        self.contains.get(x as usize).copied().unwrap_or(false)
    }

    /// Returns the best dimension among all elements outside the subgroup: a good dimension before a bad one,
    /// then the largest order, then the least element; `quotient` is the order of the quotient group.
    fn next_dimension(&self, quotient: u64) -> Option<Dimension> {
        let m = self.index;
        let mut best: Option<Dimension> = None;
        for generator in (2..m).filter(|&x| !self.has(x) && gcd(x, m) == 1) {
            let order = reduced_order(quotient, |e| self.has(mod_pow(generator, e, m)));
            let good = mod_pow(generator, order, m) == 1;
            let length = order as usize;
            if best.is_none_or(|best| (good, length) > (best.good, best.length)) {
                best = Some(Dimension { generator, length, good });
            }
            // Nothing can be better than a good dimension of all classes.
            if good && order == quotient {
                break;
            }
        }
        best
    }

    /// Returns the subgroup that this subgroup and the generator of a dimension generate.
    fn extend(&mut self, dimension: Dimension) {
        let old = std::mem::take(&mut self.members);
        let mut power = 1 % self.index;
        for _ in 0..dimension.length {
            self.members.extend(old.iter().map(|&member| mul_mod(member, power, self.index)));
            power = mul_mod(power, dimension.generator, self.index);
        }
        self.mark();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CASES: [(u64, u64); 22] = [
        (1, 2),
        (3, 2),
        (4, 3),
        (5, 2),
        (7, 2),
        (8, 3),
        (16, 7),
        (21, 2),
        (45, 2),
        (105, 2),
        (127, 2),
        (128, 127),
        (255, 2),
        (257, 2),
        (91, 3),
        (364, 3),
        (1024, 17),
        (1023, 2),
        (4369, 2),
        (3855, 7),
        (13107, 2),
        (21845, 2),
    ];

    #[test]
    fn every_unit_has_exactly_one_class() {
        for (m, p) in CASES {
            let group = QuotientGroup::new(m, p).unwrap();
            let representatives = group.representatives();
            assert_eq!(representatives.len(), group.slots());
            let units = (0..m).filter(|&x| gcd(x, m) == 1).count();
            assert_eq!(group.slots() * group.order_of_p(), units, "m = {m}, p = {p}");
            let mut seen = vec![0; m as usize];
            for &x in &representatives {
                for k in 0..group.order_of_p() {
                    seen[mul_mod(x, mod_pow(p, k as u64, m), m) as usize] += 1;
                }
            }
            assert!((0..m).all(|x| seen[x as usize] == i32::from(gcd(x, m) == 1)), "m = {m}, p = {p}");
        }
    }

    #[test]
    fn coordinates_are_exponents_and_good_is_what_it_says() {
        for (m, p) in CASES {
            let group = QuotientGroup::new(m, p).unwrap();
            for (slot, &x) in group.representatives().iter().enumerate() {
                let product = group.dimensions().iter().enumerate().fold(1 % m, |product, (i, dimension)| {
                    let e = group.coordinate(slot, i).unwrap();
                    mul_mod(product, mod_pow(dimension.generator, e as u64, m), m)
                });
                assert_eq!(x, product);
            }
            for dimension in group.dimensions() {
                let full = mod_pow(dimension.generator, dimension.length as u64, m);
                assert_eq!(full == 1, dimension.good);
                assert!(dimension.length > 1);
            }
            assert_eq!(group.stride(group.dimensions().len()), None);
        }
    }

    #[test]
    fn orders_are_least() {
        for m in 1..200 {
            for p in 0..30 {
                match multiplicative_order(p, m) {
                    Ok(order) => {
                        let least = (1..).find(|&e| mod_pow(p, e, m) == 1 % m).unwrap();
                        assert_eq!(order, least);
                    }
                    Err(error) => {
                        assert_eq!(error, MathError::NotCoprime { left: p, right: m });
                        assert_ne!(gcd(p, m), 1);
                    }
                }
            }
        }
        assert!(multiplicative_order(2, 0).is_err());
    }

    #[test]
    fn what_has_no_quotient_is_refused() {
        assert_eq!(QuotientGroup::new(15, 3).unwrap_err(), MathError::NotCoprime { left: 3, right: 15 });
        assert!(matches!(QuotientGroup::new(0, 3), Err(MathError::OutOfRange { .. })));
        assert!(matches!(QuotientGroup::new((1 << 22) + 1, 3), Err(MathError::OutOfRange { .. })));
    }
}
