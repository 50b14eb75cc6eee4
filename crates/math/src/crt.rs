//! The Chinese remainder theorem between words and big integers.

use num_bigint::{BigInt, BigUint, Sign};
use num_integer::Integer;
use num_traits::{One, ToPrimitive, Zero};

use crate::{MathError, gcd, mod_inv, mul_mod};

/// The isomorphism Z_q ≅ ∏ Z_{q_i} for pairwise coprime words q_i.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crt {
    moduli: Vec<u64>,
    product: BigUint,
    /// Quotients q/q_i of the product by each modulus.
    quotients: Vec<BigUint>,
    /// Inverses (q/q_i)^-1 mod q_i of the quotients.
    inverses: Vec<u64>,
}

impl Crt {
    /// Makes the tables for a list of moduli; the empty list stands for q = 1.
    ///
    /// # Errors
    /// [`MathError::OutOfRange`] for a modulus below 2; [`MathError::NotCoprime`].
    pub fn new(moduli: &[u64]) -> Result<Self, MathError> {
        let mut rest = moduli;
        while let Some((&left, others)) = rest.split_first() {
            if left < 2 {
                return Err(MathError::OutOfRange { what: "modulus", expected: "at least 2", got: left });
            }
            if let Some(&right) = others.iter().find(|&&right| gcd(left, right) != 1) {
                return Err(MathError::NotCoprime { left, right });
            }
            rest = others;
        }
        let product = moduli.iter().fold(BigUint::one(), |product, &q| product * q);
        let quotients: Vec<BigUint> = moduli.iter().map(|&q| &product / q).collect();
        let inverses = moduli
            .iter()
            .zip(&quotients)
            .map(|(&q, quotient)| mod_inv((quotient % q).to_u64().unwrap_or(0), q))
            .collect::<Result<_, _>>()?;
        Ok(Self { moduli: moduli.to_vec(), product, quotients, inverses })
    }

    /// Moduli q_i of the isomorphism, in order.
    #[must_use]
    pub fn moduli(&self) -> &[u64] {
        &self.moduli
    }

    /// Product q = ∏ q_i of the moduli.
    #[must_use]
    pub const fn product(&self) -> &BigUint {
        &self.product
    }

    /// Quotients q/q_i of the product by each modulus.
    #[must_use]
    pub fn quotients(&self) -> &[BigUint] {
        &self.quotients
    }

    /// Inverses (q/q_i)^-1 mod q_i of the quotients.
    #[must_use]
    pub fn inverses(&self) -> &[u64] {
        &self.inverses
    }

    /// Returns the integer x in [0, q) with the given residues, which need not be reduced.
    ///
    /// # Errors
    /// [`MathError::LengthMismatch`] unless there is one residue for each modulus.
    pub fn reconstruct(&self, residues: &[u64]) -> Result<BigUint, MathError> {
        if residues.len() != self.moduli.len() {
            return Err(MathError::LengthMismatch { expected: self.moduli.len(), got: residues.len() });
        }
        let mut sum = BigUint::zero();
        for (((&x, &q), quotient), &inverse) in
            residues.iter().zip(&self.moduli).zip(&self.quotients).zip(&self.inverses)
        {
            sum += quotient * mul_mod(x, inverse, q);
        }
        Ok(sum % &self.product)
    }

    /// Returns the integer x in [-q/2, q/2) with the given residues.
    ///
    /// # Errors
    /// [`MathError::LengthMismatch`] unless there is one residue for each modulus.
    pub fn reconstruct_centered(&self, residues: &[u64]) -> Result<BigInt, MathError> {
        let x = self.reconstruct(residues)?;
        let negative = (&x << 1_u32) >= self.product;
        let x = BigInt::from_biguint(Sign::Plus, x);
        Ok(if negative { x - BigInt::from_biguint(Sign::Plus, self.product.clone()) } else { x })
    }

    /// Returns the residues x mod q_i in [0, q_i) of any integer.
    #[must_use]
    pub fn residues(&self, x: &BigInt) -> Vec<u64> {
        self.moduli.iter().map(|&q| x.mod_floor(&BigInt::from(q)).to_u64().unwrap_or(0)).collect()
    }
}

#[cfg(test)]
mod tests {
    use num_bigint::ToBigUint;

    use super::*;

    #[test]
    fn round_trips_at_every_value_of_a_small_ring() {
        let crt = Crt::new(&[4, 9, 5]).unwrap();
        for x in -400_i32..400 {
            let residues = crt.residues(&x.into());
            assert_eq!(crt.reconstruct(&residues).unwrap(), x.rem_euclid(180).to_biguint().unwrap());
            let centered = (x + 90).rem_euclid(180) - 90;
            assert_eq!(crt.reconstruct_centered(&residues).unwrap(), centered.into());
        }
        // An odd product: [-q/2, q/2) is symmetric.
        let odd = Crt::new(&[3, 5]).unwrap();
        for x in -7..=7 {
            assert_eq!(odd.reconstruct_centered(&odd.residues(&x.into())).unwrap(), x.into());
        }
    }

    #[test]
    fn ends_of_a_large_range() {
        let crt = Crt::new(&[u64::MAX, u64::MAX - 1, u64::MAX - 58]).unwrap();
        let q = BigInt::from(crt.product().clone());
        for x in [BigInt::zero(), BigInt::one(), -BigInt::one(), &q / 2 - 1_u32, -(&q / 2_u32)] {
            assert_eq!(crt.reconstruct_centered(&crt.residues(&x)).unwrap(), x);
        }
        assert_eq!(crt.quotients().len(), 3);
        assert_eq!(crt.inverses().len(), 3);
    }

    #[test]
    fn refuses_what_is_not_a_basis() {
        assert_eq!(Crt::new(&[6, 35, 15]).unwrap_err(), MathError::NotCoprime { left: 6, right: 15 });
        assert!(matches!(Crt::new(&[3, 1]), Err(MathError::OutOfRange { .. })));
        assert!(matches!(Crt::new(&[0]), Err(MathError::OutOfRange { .. })));
        assert_eq!(Crt::new(&[]).unwrap().product(), &BigUint::one());
        let crt = Crt::new(&[3, 5]).unwrap();
        assert_eq!(crt.reconstruct(&[1]).unwrap_err(), MathError::LengthMismatch { expected: 2, got: 1 });
    }
}
