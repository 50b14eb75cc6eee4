//! Products of plaintexts modulo X^n + 1 and t by transforms, which results are checked against.

use rand_core::CryptoRng;
use sunzi_encoding::Plaintext;
use sunzi_kernels::{Modulus, NttPlan};
use sunzi_math::primes_below;

use crate::repro::{LabError, Result, plaintexts};

/// The plaintext ring, with the transforms of its products.
pub(super) struct Clear {
    plan: NttPlan,
    plain_modulus: u64,
}

impl Clear {
    /// The plaintext ring of degree n modulo t: 2, or a prime that is 1 modulo 2n.
    pub(super) fn new(degree: usize, plain_modulus: u64) -> Result<Self> {
        let order = 2 * degree as u64;
        let modulus = match plain_modulus {
            // Coefficients of a product are below n in absolute value: no wrap.
            2 => primes_below(1 << 30, order, 1)?.into_iter().next().unwrap_or_default(),
            t if t % order == 1 => t,
            got => return Err(LabError::plain_modulus(got)),
        };
        Ok(Self { plan: NttPlan::new(Modulus::new(modulus)?, degree)?, plain_modulus })
    }

    /// The product a·b of two plaintexts.
    pub(super) fn product(&self, a: &Plaintext, b: &Plaintext) -> Result<Plaintext> {
        let forward = |x: &Plaintext| {
            let mut words = x.coefficients().to_vec();
            self.plan.forward(&mut words).map(|()| words)
        };
        let (mut values, b) = (forward(a)?, forward(b)?);
        let modulus = self.plan.modulus();
        modulus.mul_assign(&mut values, &b)?;
        self.plan.inverse(&mut values)?;
        if self.plain_modulus == 2 {
            let p = modulus.value();
            // Below zero the representative p + c has the other parity.
            values.iter_mut().for_each(|c| *c = (*c ^ u64::from(*c > p / 2)) & 1);
        }
        Ok(Plaintext::new(values, self.plain_modulus)?)
    }

    /// The sum a + f·b of two plaintexts with an integer f.
    pub(super) fn add_multiple(&self, a: &Plaintext, f: i64, b: &Plaintext) -> Result<Plaintext> {
        let t = i128::from(self.plain_modulus);
        let pairs = a.coefficients().iter().zip(b.coefficients());
        let sums = pairs.map(|(&a, &b)| (i128::from(a) + i128::from(f) * i128::from(b)).rem_euclid(t) as u64);
        Ok(Plaintext::new(sums.collect(), self.plain_modulus)?)
    }

    /// A uniformly random plaintext polynomial.
    pub(super) fn random(&self, rng: &mut dyn CryptoRng) -> Result<Plaintext> {
        Ok(plaintexts::random(self.plan.n(), self.plain_modulus, rng)?)
    }

    /// The constant plaintext polynomial c.
    pub(super) fn constant(&self, c: i64) -> Result<Plaintext> {
        let residue = c.rem_euclid(self.plain_modulus as i64) as u64;
        Ok(Plaintext::constant(residue, self.plan.n(), self.plain_modulus)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_the_definition() {
        for t in [2, 65537, (1 << 30) - (1 << 18) + 1] {
            let clear = Clear::new(64, t).unwrap();
            let some = |seed: u64| (0..64).map(|i| (i * i + seed).pow(5) % t).collect::<Vec<u64>>();
            let (a, b) = (some(3), some(1000));
            let mut expected = vec![0_i128; 64];
            for (i, &a) in a.iter().enumerate() {
                for (j, &b) in b.iter().enumerate() {
                    let sign = if i + j < 64 { 1 } else { -1 };
                    expected[(i + j) % 64] += sign * i128::from(a) * i128::from(b);
                }
            }
            let expected: Vec<u64> = expected.into_iter().map(|c| c.rem_euclid(t.into()) as u64).collect();
            let [a, b] = [a, b].map(|words| Plaintext::new(words, t).unwrap());
            let product = clear.product(&a, &b).unwrap();
            assert_eq!(product.coefficients(), expected);
            let sum = clear.add_multiple(&a, -3, &b).unwrap();
            assert_eq!(clear.add_multiple(&sum, 3, &b).unwrap(), a);
            let one = clear.constant(1).unwrap();
            assert_eq!(clear.product(&one, &product).unwrap(), product);
            assert_eq!(
                clear.add_multiple(&clear.constant(-1).unwrap(), 1, &one).unwrap(),
                clear.constant(0).unwrap()
            );
        }
        let error = Clear::new(64, 7).err().unwrap().to_string();
        assert!(error.starts_with("products modulo 7 cannot"), "{error}");
    }
}
