//! Plaintext polynomials modulo (Φ_m, t) by the definitions: the oracle of both exact schemes in any ring.

use sunzi_math::{CoefficientBasis, MathError, Residues, RingIndex};

/// The ring Z_t\[X\]/Φ_m(X) for t < 2^60, elements as lists of n coefficients in [0, t) in the basis of a ring.
#[derive(Clone, Debug)]
pub struct ClearRing {
    index: RingIndex,
    t: u64,
    basis: CoefficientBasis,
}

impl ClearRing {
    /// Makes the plaintext ring of index m modulo t in this basis.
    ///
    /// # Errors
    /// [`MathError`] for an index m of no ring.
    pub fn new(m: u64, t: u64, basis: CoefficientBasis) -> Result<Self, MathError> {
        Ok(Self { index: RingIndex::new(m)?, t, basis })
    }

    fn is_in_powers(&self) -> bool {
        self.basis == CoefficientBasis::Power || self.index.is_power_of_two()
    }

    /// Plaintext modulus t of the ring.
    #[must_use]
    pub fn modulus(&self) -> u64 {
        self.t
    }

    /// Returns the coefficients of X^0, …, X^(n−1) of an element.
    fn powers_of(&self, a: &[u64]) -> Result<Vec<u64>, MathError> {
        if self.is_in_powers() {
            return Ok(a.to_vec());
        }
        self.index.power_from_powerful(&Residues(self.t), a)
    }

    /// Returns the element Σ c_j·X^j of the plaintext ring, of any number of terms.
    fn element(&self, powers: Vec<u64>) -> Vec<u64> {
        let arithmetic = Residues(self.t);
        if self.is_in_powers() {
            self.index.remainder(&arithmetic, powers)
        } else {
            self.index.powerful_from_power(&arithmetic, &powers)
        }
    }

    /// Returns the product a·b of two elements, by schoolbook product and division.
    ///
    /// # Errors
    /// [`MathError`] for coefficient lists of another length than n.
    pub fn product(&self, a: &[u64], b: &[u64]) -> Result<Vec<u64>, MathError> {
        let (a, b) = (self.powers_of(a)?, self.powers_of(b)?);
        let n = a.len();
        // Coefficient k is ⟨a, e[n − 1 − k + (n − 1)..]⟩ for e = (0, …, 0, b_(n−1), …, b_0, 0, …, 0).
        let zeros = || std::iter::repeat_n(0, n.saturating_sub(1));
        let extended: Vec<u64> = zeros().chain(b.iter().rev().copied()).chain(zeros()).collect();
        let coefficient = |window: &[u64]| {
            // 256 products below 2^120 fit a double word.
            let chunks = a.chunks(255).zip(window.chunks(255));
            chunks.fold(0, |sum: u64, (a, b)| {
                let terms = a.iter().zip(b).map(|(&x, &y)| u128::from(x) * u128::from(y));
                ((u128::from(sum) + terms.sum::<u128>()) % u128::from(self.t)) as u64
            })
        };
        Ok(self.element(extended.windows(n).rev().map(coefficient).collect()))
    }

    /// Returns the image a(X^k) of an element of the plaintext ring under an automorphism.
    ///
    /// # Errors
    /// [`MathError`] for a coefficient list of another length than n.
    pub fn automorphism(&self, a: &[u64], k: u64) -> Result<Vec<u64>, MathError> {
        let m = self.index.value();
        let mut powers = vec![0; m as usize];
        for (j, x) in self.powers_of(a)?.into_iter().enumerate() {
            if let Some(at) = powers.get_mut((j as u64 * k % m) as usize) {
                *at = x;
            }
        }
        Ok(self.element(powers))
    }

    /// Returns the sum a + b of two elements of the plaintext ring.
    #[must_use]
    pub fn sum(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        a.iter().zip(b).map(|(x, y)| (x + y) % self.t).collect()
    }

    /// Returns the difference a − b of two elements of the plaintext ring.
    #[must_use]
    pub fn difference(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        a.iter().zip(b).map(|(x, y)| (x + self.t - y) % self.t).collect()
    }

    /// Returns the multiple c·a of an element of the plaintext ring by an integer.
    #[must_use]
    pub fn multiple(&self, a: &[u64], c: i64) -> Vec<u64> {
        let t = i128::from(self.t);
        a.iter().map(|&x| (i128::from(x) * i128::from(c)).rem_euclid(t) as u64).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_wrap_with_a_minus_sign() {
        let ring = ClearRing::new(8, 1000, CoefficientBasis::Power).unwrap();
        let product = ring.product(&[1, 2, 3, 0], &[4, 5, 6, 0]).unwrap();
        assert_eq!(product, [1000 + 4 - 18, 13, 28, 27]);
        let (n, t) = (512, (1 << 60) - 1);
        // (−Σ X^i)² has coefficients (k + 1) − (n − 1 − k).
        let square = ClearRing::new(1024, t, CoefficientBasis::Powerful)
            .unwrap()
            .product(&vec![t - 1; n], &vec![t - 1; n])
            .unwrap();
        let expected = |k: i64| (2 * k + 2 - n as i64).rem_euclid(t as i64) as u64;
        assert_eq!(square, (0..n as i64).map(expected).collect::<Vec<_>>());
    }

    /// Checks on ζ_15 that both bases are of one ring: X^15 = 1 and 1 + X^3 + X^6 + X^9 + X^12 = 0.
    #[test]
    fn both_bases_are_the_same_ring() {
        for basis in [CoefficientBasis::Powerful, CoefficientBasis::Power] {
            let ring = ClearRing::new(15, 97, basis).unwrap();
            let monomial = |j: usize| ring.element([vec![0; j], vec![1]].concat());
            assert_eq!(monomial(15), monomial(0));
            for (i, j) in [(3, 4), (7, 7), (14, 14), (0, 9)] {
                assert_eq!(ring.product(&monomial(i), &monomial(j)).unwrap(), monomial((i + j) % 15));
                assert_eq!(ring.automorphism(&monomial(i), 7).unwrap(), monomial(7 * i % 15));
            }
            let fifths = (0..5).map(|j| monomial(3 * j)).reduce(|a, b| ring.sum(&a, &b)).unwrap();
            assert_eq!(fifths, [0; 8]);
        }
    }
}
