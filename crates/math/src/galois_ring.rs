//! Galois rings GR(p^r, d) = Z_(p^r)\[Y\]/G(Y), whose Y is a primitive m-th root of unity: a slot holds an element of such a ring.

use num_bigint::BigUint;

use crate::coordinates::Coordinates;
use crate::irreducible::first_irreducible;
use crate::prime_power::PrimePower;
use crate::{MathError, is_prime, mod_pow, multiplicative_order, prime_factors};

/// Bound on p^r, so that sums of two residues fit a word.
const MODULUS_LIMIT: u64 = 1 << 60;
/// Largest accepted degree d: products and tables grow with d^2 and m·d.
pub const MAX_SLOT_DEGREE: usize = 256;

/// The Galois ring GR(p^r, d), the field GF(p^d) for r = 1, as Z_(p^r)\[Y\]/G(Y).
///
/// G is a factor of Φ_m modulo p^r of degree d, the order of p modulo m: Y is a primitive m-th root of unity, and Y → Y^p is the Frobenius
/// automorphism. Elements are lists of d coefficients in \[0, p^r), that of Y^0 first.
///
/// The factor G is determined: f is the first irreducible polynomial of degree d modulo p in the order of the numbers Σ c_i·b^i,
/// c_i < b = min(p, 16), and x the first element of GF(p)\[Z\]/f in the order of Σ c_i·p^i that has order m when raised to (p^d − 1)/m;
/// G is the minimal polynomial of the m-th root of unity over that power.
///
/// ```
/// let field = sunzi_math::GaloisRing::new(15, 2, 1)?;
/// // X^4 + X + 1 divides Φ_15 modulo 2.
/// assert_eq!(field.relation(), [1, 1, 0, 0]);
/// let y3 = [0, 0, 0, 1];
/// assert_eq!(field.mul(&y3, &y3)?, [0, 0, 1, 1]);
/// # Ok::<(), sunzi_math::MathError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GaloisRing {
    index: u64,
    residues: PrimePower,
    exponent: u32,
    /// Coefficients of G − Y^d, which are those of G below its leading one.
    relation: Vec<u64>,
}

impl GaloisRing {
    /// Makes the ring for index m, prime p and exponent r.
    ///
    /// # Errors
    /// [`MathError::NotPrime`]; [`MathError::NotCoprime`] where p divides m; [`MathError::OutOfRange`] for r = 0, p^r ≥ 2^60, m = 0 or
    /// m above 2^22, or a degree above [`MAX_SLOT_DEGREE`].
    pub fn new(m: u64, p: u64, r: u32) -> Result<Self, MathError> {
        if !is_prime(p) {
            return Err(MathError::NotPrime { got: p });
        }
        let range = |what, expected, got| Err(MathError::OutOfRange { what, expected, got });
        if !(1..=1 << 22).contains(&m) {
            return range("ring index", "1 to 2^22", m);
        }
        let Some(t) = p.checked_pow(r).filter(|&t| r > 0 && t < MODULUS_LIMIT) else {
            return range("exponent of the prime", "at least 1, with a power below 2^60", r.into());
        };
        let d = multiplicative_order(p, m)?;
        if d > MAX_SLOT_DEGREE as u64 {
            return range("degree of a slot", "at most 256", d);
        }
        let residues = PrimePower { p, t };
        let low = first_irreducible(p, d as usize);
        // Exponent (p^d − 1)/m leads to order m modulo p, p^(d(r−1)) to the root of unity above it.
        let exponent =
            (BigUint::from(p).pow(d as u32) - 1_u32) / m * BigUint::from(p).pow(d as u32 * (r - 1));
        let auxiliary = Self { index: m, residues, exponent: r, relation: low };
        let root = auxiliary.first_root(&exponent, d as usize);
        let relation = root
            .and_then(|root| auxiliary.minimal_polynomial(&root))
            .ok_or(MathError::NoRootOfUnity { order: m, modulus: p })?;
        Ok(Self { relation, ..auxiliary })
    }

    /// Returns the first x^exponent of order m.
    fn first_root(&self, exponent: &BigUint, d: usize) -> Option<Vec<u64>> {
        let factors = prime_factors(self.index);
        let one = self.constant(1);
        // Constants have the orders of GF(p)*, too few for d > 1.
        let first = if d > 1 { self.residues.p } else { 1 };
        // A fraction φ(m)/m of all elements works; thousands of failures do not happen.
        (first..first.saturating_add(10_000)).find_map(|number| {
            let digits = std::iter::successors(Some(number), |rest| Some(rest / self.residues.p));
            let x: Vec<u64> = digits.take(d).map(|rest| rest % self.residues.p).collect();
            let root = self.power(&x, exponent);
            let has_order = |root: &[u64]| {
                self.power(root, &self.index.into()) == one
                    && factors.iter().all(|q| self.power(root, &(self.index / q).into()) != one)
            };
            has_order(&root).then_some(root)
        })
    }

    /// Returns the monic polynomial of degree d, without Y^d, that has a given root of unity of degree d as root.
    fn minimal_polynomial(&self, root: &[u64]) -> Option<Vec<u64>> {
        let mut powers = vec![self.constant(1)];
        for _ in 0..self.degree() {
            powers.push(self.product(powers.last()?, root));
        }
        let highest = powers.pop()?;
        let coordinates = Coordinates::new(self.residues, &powers)?.of(&highest);
        Some(coordinates.iter().map(|&x| (self.residues.t - x) % self.residues.t).collect())
    }

    /// Index m: the order of Y.
    #[must_use]
    pub fn index(&self) -> u64 {
        self.index
    }

    /// Prime p of the modulus.
    #[must_use]
    pub fn prime(&self) -> u64 {
        self.residues.p
    }

    /// Exponent r of the modulus p^r.
    #[must_use]
    pub fn exponent(&self) -> u32 {
        self.exponent
    }

    /// Modulus t = p^r of the coefficients.
    #[must_use]
    pub fn modulus(&self) -> u64 {
        self.residues.t
    }

    /// Degree d of the ring: the number of coefficients of an element.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.relation.len()
    }

    /// Low d coefficients of G, whose leading one is 1.
    #[must_use]
    pub fn relation(&self) -> &[u64] {
        &self.relation
    }

    /// Returns a number as element of the ring.
    #[must_use]
    pub fn constant(&self, value: u64) -> Vec<u64> {
        let mut element = vec![0; self.degree()];
        if let Some(first) = element.first_mut() {
            *first = value % self.residues.t;
        }
        element
    }

    fn check(&self, elements: &[&[u64]]) -> Result<(), MathError> {
        for element in elements {
            if element.len() != self.degree() {
                return Err(MathError::LengthMismatch { expected: self.degree(), got: element.len() });
            }
            if let Some(&got) = element.iter().find(|&&x| x >= self.residues.t) {
                return Err(MathError::OutOfRange { what: "coefficient", expected: "below p^r", got });
            }
        }
        Ok(())
    }

    fn product(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        self.residues.product_modulo(a, b, &self.relation)
    }

    fn power(&self, a: &[u64], exponent: &BigUint) -> Vec<u64> {
        let mut result = self.constant(1);
        for bit in (0..exponent.bits()).rev() {
            result = self.product(&result, &result);
            if exponent.bit(bit) {
                result = self.product(&result, a);
            }
        }
        result
    }

    /// Returns the sum a + b of two elements.
    ///
    /// # Errors
    /// [`MathError::LengthMismatch`] unless both have d coefficients; [`MathError::OutOfRange`] for one of p^r or more.
    pub fn add(&self, a: &[u64], b: &[u64]) -> Result<Vec<u64>, MathError> {
        self.check(&[a, b])?;
        Ok(a.iter().zip(b).map(|(&x, &y)| self.residues.add(x, y)).collect())
    }

    /// Returns the product a·b of two elements.
    ///
    /// # Errors
    /// Every error of [`add`](Self::add).
    pub fn mul(&self, a: &[u64], b: &[u64]) -> Result<Vec<u64>, MathError> {
        self.check(&[a, b])?;
        Ok(self.product(a, b))
    }

    /// Returns the power a^e of an element; a^0 = 1.
    ///
    /// # Errors
    /// Every error of [`add`](Self::add).
    pub fn pow(&self, a: &[u64], e: &BigUint) -> Result<Vec<u64>, MathError> {
        self.check(&[a])?;
        Ok(self.power(a, e))
    }

    /// Returns a(Y^k): for k = p^i the Frobenius automorphism applied i times.
    ///
    /// # Errors
    /// Every error of [`add`](Self::add).
    pub fn substitute(&self, a: &[u64], k: u64) -> Result<Vec<u64>, MathError> {
        self.check(&[a])?;
        let mut y = vec![0; self.degree().max(2)];
        if let Some(entry) = y.get_mut(1) {
            *entry = 1;
        }
        // For d = 1 the root of unity is a number: −G(0).
        if self.degree() == 1 {
            y = self.relation.iter().map(|&g| (self.residues.t - g) % self.residues.t).collect();
        }
        let point = self.power(&y, &(k % self.index).into());
        // Horner's rule.
        Ok(a.iter().rev().fold(self.constant(0), |sum, &x| {
            let mut sum = self.product(&sum, &point);
            if let Some(first) = sum.first_mut() {
                *first = self.residues.add(*first, x);
            }
            sum
        }))
    }

    /// Returns the inverse of a unit, that is of an element that is not 0 modulo p.
    ///
    /// # Errors
    /// Every error of [`add`](Self::add); [`MathError::NotAUnit`].
    pub fn inverse(&self, a: &[u64]) -> Result<Vec<u64>, MathError> {
        self.check(&[a])?;
        // The group of units has (p^d − 1)·p^(d(r−1)) elements.
        let (p, d) = (BigUint::from(self.residues.p), self.degree() as u32);
        let order = (p.pow(d) - 1_u32) * p.pow(d * (self.exponent - 1));
        let inverse = self.power(a, &(order - 1_u32));
        if self.product(&inverse, a) == self.constant(1) { Ok(inverse) } else { Err(MathError::NotAUnit) }
    }

    /// Returns Y^0, …, Y^(m − 1), one after the other.
    #[must_use]
    pub fn powers_of_y(&self) -> Vec<u64> {
        let d = self.degree();
        let mut powers = Vec::with_capacity(self.index as usize * d);
        let mut power = self.constant(1);
        for _ in 0..self.index {
            powers.extend_from_slice(&power);
            // Multiplication by Y: the leading coefficient comes back as −G + Y^d.
            let leading = power.pop().unwrap_or(0);
            power.insert(0, 0);
            for (x, &g) in power.iter_mut().zip(&self.relation) {
                *x = self.residues.add(*x, self.residues.t - self.residues.mul(leading, g));
            }
        }
        powers
    }

    /// Returns the c_0, …, c_(d−1) with L(a) = Σ c_k·a(Y^(p^k)) for the Z_(p^r)-linear map L that takes Y^j to the j-th of `images`: the
    /// linearised polynomial of L, which exists for every linear map.
    ///
    /// With the basis β dual to Y^j for the trace, a = Σ Tr(a·β_j)·Y^j, so c_k = Σ_j L(Y^j)·β_j(Y^(p^k)).
    ///
    /// # Errors
    /// Every error of [`add`](Self::add); [`MathError::LengthMismatch`] unless there are d images.
    pub fn linearized<E: AsRef<[u64]>>(&self, images: &[E]) -> Result<Vec<Vec<u64>>, MathError> {
        let d = self.degree();
        if images.len() != d {
            return Err(MathError::LengthMismatch { expected: d, got: images.len() });
        }
        let conjugate =
            |a: &[u64], k: usize| self.substitute(a, mod_pow(self.residues.p, k as u64, self.index));
        let powers = self.powers_of_y();
        let power = |k: usize| powers.chunks(d).nth(k % self.index as usize).unwrap_or_default();
        // Entry (i, j) of the Gram matrix is the trace of Y^(i + j), a number.
        let mut traces = Vec::with_capacity(2 * d);
        for k in 0..2 * d - 1 {
            let sum = (0..d).try_fold(self.constant(0), |sum, i| self.add(&sum, &conjugate(power(k), i)?))?;
            traces.push(sum.first().copied().unwrap_or(0));
        }
        let gram: Vec<Vec<u64>> = traces.windows(d).map(<[u64]>::to_vec).collect();
        let missing = MathError::NoRootOfUnity { order: self.index, modulus: self.residues.t };
        let coordinates = Coordinates::new(self.residues, &gram).ok_or(missing)?;
        let unit = |j: usize| (0..d).map(|i| u64::from(i == j)).collect::<Vec<u64>>();
        let dual: Vec<Vec<u64>> = (0..d).map(|j| coordinates.of(&unit(j))).collect();
        let coefficient = |k: usize| {
            images.iter().zip(&dual).try_fold(self.constant(0), |sum, (image, dual)| {
                self.add(&sum, &self.mul(image.as_ref(), &conjugate(dual, k)?)?)
            })
        };
        (0..d).map(coefficient).collect()
    }

    /// Returns the subring Z_(p^r)\[Y^k\], for k that divides m, with Y^k as its own Y, and the map that gives coordinates in it.
    ///
    /// # Errors
    /// [`MathError::OutOfRange`] for a k that does not divide m.
    pub fn subring(&self, k: u64) -> Result<(Self, Subring), MathError> {
        if k == 0 || !self.index.is_multiple_of(k) {
            return Err(MathError::OutOfRange { what: "power of Y", expected: "a divisor of m", got: k });
        }
        let index = self.index / k;
        let degree = multiplicative_order(self.residues.p, index)? as usize;
        let powers = self.powers_of_y();
        let multiples = powers.chunks(self.degree()).step_by(k as usize);
        // Y^(k·degree) is Y^0 for the index 1.
        let highest = powers.chunks(self.degree()).nth((k as usize * degree) % self.index as usize);
        let basis: Vec<Vec<u64>> = multiples.take(degree).map(<[u64]>::to_vec).collect();
        let coordinates = Coordinates::new(self.residues, &basis);
        let missing = MathError::NoRootOfUnity { order: index, modulus: self.residues.t };
        let (Some(coordinates), Some(highest)) = (coordinates, highest) else { return Err(missing) };
        let minus = |&x: &u64| (self.residues.t - x) % self.residues.t;
        let relation = coordinates.of(highest).iter().map(minus).collect();
        Ok((Self { index, relation, ..*self }, Subring(coordinates)))
    }
}

/// Coordinates of elements of a ring in a subring: see [`GaloisRing::subring`].
#[derive(Debug, Clone)]
pub struct Subring(Coordinates);

impl Subring {
    /// Returns the coefficients, in the subring, of an element of the ring that lies there; unspecified for any other element.
    #[must_use]
    pub fn coordinates(&self, element: &[u64]) -> Vec<u64> {
        self.0.of(element)
    }
}

#[cfg(test)]
#[path = "galois_ring/tests.rs"]
mod tests;
