//! Polynomials as bytes: the bits of q − 1 for each coefficient.

use std::io::BufRead;

use num_bigint::BigUint;

use super::{BigPoly, BigRing};
use crate::{Append, Domain, Packing, PackingError, PolyRing, Storage, describe, describe_sets};

impl Packing for BigRing {
    fn description(&self) -> Vec<u8> {
        let mut numbers = Vec::new();
        for modulus in self.moduli() {
            let words = modulus.to_u64_digits();
            numbers.push(words.len() as u64);
            numbers.extend(words);
        }
        let rungs = 1..self.level() + 1;
        let rungs = rungs.map(|level| self.limbs(level));
        describe_sets(describe(Storage::Big, self.index(), &numbers), self.moduli().len(), rungs)
    }

    fn packed_len(&self) -> usize {
        (self.degree() * self.coefficient_bits()).div_ceil(8)
    }

    fn pack<D: Domain>(&self, a: &BigPoly<D>, out: &mut impl Append) -> Result<(), PackingError> {
        self.check(a)?;
        let bits = self.coefficient_bits();
        // One long number: slow, as an oracle may be.
        let mut number = BigUint::ZERO;
        for (i, coefficient) in a.coefficients.iter().enumerate() {
            number |= coefficient << (i * bits);
        }
        let mut bytes = number.to_bytes_le();
        bytes.resize(self.packed_len(), 0);
        Ok(out.write_all(&bytes)?)
    }

    fn unpack<D: Domain>(&self, from: &mut impl BufRead) -> Result<BigPoly<D>, PackingError> {
        let mut bytes = vec![0; self.packed_len()];
        from.read_exact(&mut bytes)?;
        let (number, bits) = (BigUint::from_bytes_le(&bytes), self.coefficient_bits());
        let mask = (BigUint::from(1_u8) << bits) - 1_u8;
        let mut a = self.zero();
        for (i, coefficient) in a.coefficients.iter_mut().enumerate() {
            *coefficient = (&number >> (i * bits)) & &mask;
        }
        let reduced = a.coefficients.iter().all(|coefficient| coefficient < self.modulus());
        if reduced && number.bits() <= (self.degree() * bits) as u64 {
            Ok(a)
        } else {
            Err(PackingError::Residue { limb: 0 })
        }
    }
}

impl BigRing {
    fn coefficient_bits(&self) -> usize {
        (self.modulus() - 1_u8).bits().max(1) as usize
    }
}
