//! Division by q and rounding modulo t by quotients in plain doubles for moduli of any length [KPZ21, 3.3].

use sunzi_kernels::{Buffer, Conversion, Modulus, NearestSum};
use zeroize::Zeroize;

use super::{DecryptionForm, half_less};
use super::{matrix_product, row_of_ones};
use crate::parallel::BLOCK;
use crate::scratch::Scratch;
use crate::{Basis, RingError};

/// Computes ⌊Σ x_ij·t·r_ij/q_i⌉ mod t for digits x_i = Σ x_ij·B^j and r_ij = |B^j·(q/q_i)^-1|_{q_i}: with t·r_ij/q_i
/// = ω_ij + θ_ij, an integer and a fraction in [−1/2, 1/2], it is [Σ x_ij·ω_ij + ⌊Σ x_ij·θ_ij⌉]_t [HPS19, 2.3; KPZ21,
/// 3.3].
///
/// Doubles occur in the second sum only. Its error is below k·d·B·2^-51 for d digits, whatever t is: one digit is
/// enough for k·q_i < 2^43, two of half the length are for all others. Residues enter as they are.
pub struct DigitDecryption {
    /// Width of a digit of a residue, log2 B, where there are two digits.
    width: Option<u32>,
    fractions: NearestSum,
    /// Conversion of the digits, of the rounded sum plus an offset, and of a row of ones to subtract it.
    conversion: Conversion,
    ones: Buffer,
}

/// Least k·q_i for which there are two digits: the error of one would reach 2^-8.
const ONE_DIGIT: u128 = 1 << 43;

impl DigitDecryption {
    /// Builds the tables of decryption modulo t.
    pub fn new(basis: &Basis, t: u64) -> Result<Self, RingError> {
        let longest = basis.values().iter().copied().max().unwrap_or(0);
        let bits = u64::BITS - longest.leading_zeros();
        let width = (basis.len() as u128 * u128::from(longest) >= ONE_DIGIT).then_some(bits.div_ceil(2));
        let target = basis.modulus(t)?;
        let (mut rows, mut column, mut terms) = (Vec::new(), Vec::new(), Vec::new());
        for (modulus, &inverse) in basis.moduli().iter().zip(basis.quotient_inverses()) {
            let q = modulus.value();
            let digits = match width {
                None => vec![(q - 1, inverse)],
                Some(width) => vec![
                    ((1 << width).min(q) - 1, inverse),
                    ((q - 1) >> width, modulus.mul(inverse, modulus.reduce(1 << width))),
                ],
            };
            for (largest, r) in digits {
                let (omega, theta) = split(t, r, q);
                rows.push(basis.modulus(largest.max(1) + 1)?);
                column.push(target.reduce(omega));
                terms.push((largest, theta));
            }
        }
        // The row of the rounded sum holds values up to twice a bound on the sum of fractions.
        let offset =
            terms.iter().map(|(largest, theta)| *largest as f64 * theta.abs()).sum::<f64>().ceil() + 1.0;
        rows.extend([basis.modulus(2 * offset as u64 + 1)?, row_of_ones(basis)?]);
        column.extend([1, target.neg(target.reduce(offset as u64))]);
        Ok(Self {
            width,
            fractions: NearestSum::new(basis.isa(), offset, &terms)?,
            conversion: matrix_product(&rows, &[target], &[column])?,
            ones: Buffer::from_slice(&[1; BLOCK]),
        })
    }
}

/// Splits t·r/q into the nearest integer and the remaining fraction.
pub fn split(t: u64, r: u64, q: u64) -> (u64, f64) {
    let (product, q) = (u128::from(t) * u128::from(r), u128::from(q));
    let omega = (product + q / 2) / q;
    let (floor, rest) = (omega * q, product);
    let difference = if rest >= floor { (rest - floor) as f64 } else { -((floor - rest) as f64) };
    (omega as u64, difference / q as f64)
}

impl DecryptionForm for DigitDecryption {
    fn row_factor(&self, _: &Modulus, _: u64) -> u64 {
        1
    }

    /// The margin of decryption by digits: 1/2 less the proven error of the sum.
    fn margin(&self) -> f64 {
        half_less(self.fractions.error())
    }

    fn apply(&self, rows: &[&[u64]], message: &mut [u64]) -> Result<(), RingError> {
        let len = message.len();
        let mut digits = Scratch::new(if self.width.is_some() { 2 * rows.len() * len } else { 0 });
        let mut inputs = Vec::with_capacity(2 * rows.len() + 2);
        match self.width {
            None => inputs.extend_from_slice(rows),
            Some(width) => {
                for (row, pair) in rows.iter().zip(digits.chunks_exact_mut((2 * len).max(1))) {
                    let (low, high) = pair.split_at_mut(len);
                    for ((&x, low), high) in row.iter().zip(low).zip(high) {
                        (*low, *high) = (x & ((1 << width) - 1), x >> width);
                    }
                }
                inputs.extend(digits.chunks_exact(len.max(1)));
            }
        }
        // The rounded sum takes the place of the message until the last step.
        let mut rounded = Scratch::new(len);
        self.fractions.apply(&inputs, &mut rounded)?;
        inputs.extend([&*rounded, self.ones.get(..len).unwrap_or_default()]);
        self.conversion.apply(&inputs, &mut [message])?;
        drop(inputs);
        digits.zeroize();
        rounded.zeroize();
        Ok(())
    }
}
