//! Packing of the oracle's polynomials as bytes: the bits of q − 1 for each coefficient.

use std::io::BufRead;

use num_bigint::BigUint;
use sunzi_ring::{Append, Backend, PackingError, Residues, Storage, describe_index, describe_sets};

use super::BigRing;

impl BigRing {
    /// Returns the name of the big-integer ring in files.
    pub(super) fn description(&self) -> Vec<u8> {
        let mut numbers = Vec::new();
        for modulus in self.moduli() {
            let words = modulus.to_u64_digits();
            numbers.push(words.len() as u64);
            numbers.extend(words);
        }
        let rungs = 1..self.level() + 1;
        let rungs = rungs.map(|level| self.limbs(level));
        describe_sets(describe_index(Storage::Big, self.ring_index(), &numbers), self.moduli().len(), rungs)
    }

    /// Returns the number of bytes of a packed polynomial.
    pub(super) fn bytes(&self) -> usize {
        (self.degree() * self.coefficient_bits()).div_ceil(8)
    }

    /// Writes a big-integer polynomial as one long number: slow, as an oracle may be.
    pub(super) fn write(&self, a: &Residues, out: &mut dyn Append) -> Result<(), PackingError> {
        let bits = self.coefficient_bits();
        let mut number = BigUint::ZERO;
        for (i, coefficient) in self.values(a)?.iter().enumerate() {
            number |= coefficient << (i * bits);
        }
        let mut bytes = number.to_bytes_le();
        bytes.resize(self.bytes(), 0);
        Ok(out.write_all(&bytes)?)
    }

    /// Reads a big-integer polynomial that [`write`](Self::write) wrote.
    pub(super) fn read(&self, from: &mut dyn BufRead) -> Result<Residues, PackingError> {
        let mut bytes = vec![0; self.bytes()];
        from.read_exact(&mut bytes)?;
        let (number, bits) = (BigUint::from_bytes_le(&bytes), self.coefficient_bits());
        let mask = (BigUint::from(1_u8) << bits) - 1_u8;
        let coefficients: Vec<BigUint> =
            (0..self.degree()).map(|i| (&number >> (i * bits)) & &mask).collect();
        let reduced = coefficients.iter().all(|coefficient| coefficient < self.modulus());
        if reduced && number.bits() <= (self.degree() * bits) as u64 {
            Ok(self.wrap(coefficients))
        } else {
            Err(PackingError::Residue { limb: 0 })
        }
    }

    fn coefficient_bits(&self) -> usize {
        (self.modulus() - 1_u8).bits().max(1) as usize
    }
}
