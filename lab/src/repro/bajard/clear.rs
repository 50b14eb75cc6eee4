//! Products of plaintexts modulo 2 and Φ_m by the definition, which every product is checked against.

use sunzi_encoding::Plaintext;
use sunzi_math::{CoefficientBasis, Residues, RingIndex, cyclotomic_polynomial};

use crate::Result;

/// A polynomial over GF(2), 64 coefficients a word.
type Bits = Vec<u64>;

fn pack(coefficients: impl Iterator<Item = bool>, length: usize) -> Bits {
    let mut words = vec![0; length.div_ceil(64)];
    for (i, _) in coefficients.enumerate().filter(|(_, bit)| *bit) {
        flip(&mut words, i);
    }
    words
}

fn flip(a: &mut [u64], i: usize) {
    a.iter_mut().skip(i / 64).take(1).for_each(|word| *word ^= 1 << (i % 64));
}

fn bit(a: &[u64], i: usize) -> bool {
    a.get(i / 64).is_some_and(|word| word >> (i % 64) & 1 == 1)
}

/// Adds b·X^shift to a, for polynomials over GF(2).
fn add_shifted(a: &mut [u64], b: &[u64], shift: usize) {
    let (words, bits) = (shift / 64, shift % 64);
    let mut carry = 0;
    for (word, &from) in a.iter_mut().skip(words).zip(b.iter().chain([&0])) {
        *word ^= from << bits | carry;
        carry = if bits == 0 { 0 } else { from >> (64 - bits) };
    }
}

/// The product a·b modulo 2 of plaintexts whose coefficients are in `basis`.
pub(super) fn product_in(basis: CoefficientBasis, a: &Plaintext, b: &Plaintext, m: u64) -> Result<Plaintext> {
    if basis == CoefficientBasis::Power {
        return product(a, b, m);
    }
    let (shape, bits) = (RingIndex::new(m)?, Residues(2));
    let power = |plain: &Plaintext| -> Result<Plaintext> {
        Ok(Plaintext::new(shape.power_from_powerful(&bits, plain.coefficients())?, 2)?)
    };
    let product = product(&power(a)?, &power(b)?, m)?;
    Ok(Plaintext::new(shape.powerful_from_power(&bits, product.coefficients()), 2)?)
}

/// The product a·b of two plaintexts modulo 2 and Φ_m.
fn product(a: &Plaintext, b: &Plaintext, m: u64) -> Result<Plaintext> {
    let phi = cyclotomic_polynomial(m)?;
    let n = phi.len() - 1;
    let odd = |c: &u64| c % 2 == 1;
    let [a, b] = [a, b].map(|plain| pack(plain.coefficients().iter().map(odd), n));
    let phi = pack(phi.iter().map(|c| c % 2 != 0), n + 1);
    let mut product = vec![0; (2 * n).div_ceil(64) + 2];
    (0..n).filter(|&i| bit(&a, i)).for_each(|i| add_shifted(&mut product, &b, i));
    for i in (n..2 * n).rev() {
        if bit(&product, i) {
            add_shifted(&mut product, &phi, i - n);
        }
    }
    Ok(Plaintext::new((0..n).map(|i| u64::from(bit(&product, i))).collect(), 2)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_reduced() {
        let plain = |bits: &[u64]| Plaintext::new(bits.to_vec(), 2).unwrap();
        // X^7·X = X^8 = X^7 + X^5 + X^4 + X^3 + X + 1 modulo Φ_15 and 2.
        let (a, b) = (plain(&[0, 0, 0, 0, 0, 0, 0, 1]), plain(&[0, 1, 0, 0, 0, 0, 0, 0]));
        assert_eq!(product(&a, &b, 15).unwrap(), plain(&[1, 1, 0, 1, 1, 1, 0, 1]));
        // In a ring of power of two X^n = −1 = 1.
        let mut top = vec![0; 128];
        top[127] = 1;
        let mut expected = vec![0; 128];
        expected[126] = 1;
        assert_eq!(product(&plain(&top), &plain(&top), 256).unwrap(), plain(&expected));
    }
}
