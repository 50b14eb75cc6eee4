//! From word-size residues to residues of several words by one matrix product.

use num_bigint::BigUint;
use num_traits::ToPrimitive;
use sunzi_kernels::{Conversion, Modulus};
use sunzi_math::{DEFAULT_PRIME_BOUND, mod_inv, primes_below};
use sunzi_ring::RingError;

use crate::Component;

/// Coefficients handled together.
pub(crate) const BLOCK: usize = 64;

/// out ← Σ_i x_i·C_i modulo q_j for words x_i and constants C_i of several words.
///
/// The C_i are cut into digits so short that a sum of products with one digit is known by its residues modulo two primes; carries
/// join the sums to an integer hardly longer than q_j, which is folded.
pub(crate) struct Combination {
    component: Component,
    conversion: Conversion,
    /// The primes, and the inverse of the first modulo the second.
    pair: [Modulus; 2],
    inverse: u64,
    digit_bits: u32,
    digits: usize,
}

impl Combination {
    /// For words below `sources` and constants in [0, q_j).
    pub(crate) fn new(
        component: Component,
        sources: &[Modulus],
        constants: &[BigUint],
    ) -> Result<Self, RingError> {
        let primes = primes_below(DEFAULT_PRIME_BOUND, 2, 2)?;
        let [first, second] = [0, 1].map(|i| primes.get(i).copied().unwrap_or(3));
        let pair = [Modulus::new(first)?, Modulus::new(second)?];
        // Σ (x_i·digit) < first·second for digits of so many bits.
        let words: u128 = sources.iter().map(|source| u128::from(source.value())).sum();
        let digit_bits = (u128::from(first) * u128::from(second) / words.max(1)).ilog2().min(63);
        let digits = (component.bits() + 1).div_ceil(digit_bits as usize);
        let mask = (1_u64 << digit_bits) - 1;
        let digit = |i: usize, d: usize| {
            let shifted = constants.get(i).map_or(BigUint::ZERO, |c| c >> (d * digit_bits as usize));
            (shifted & BigUint::from(mask)).to_u64().unwrap_or(0)
        };
        let table: Vec<Vec<u64>> =
            (0..sources.len()).map(|i| (0..digits).map(|d| digit(i, d)).collect()).collect();
        let targets: Vec<Modulus> = (0..digits).flat_map(|_| pair).collect();
        let entry = |i: usize, j: usize| table.get(i).and_then(|row| row.get(j / 2)).copied().unwrap_or(0);
        let conversion = Conversion::new(sources, &targets, entry)?;
        let inverse = mod_inv(first % second, second)?;
        Ok(Self { component, conversion, pair, inverse, digit_bits, digits })
    }

    /// `rows`: [`BLOCK`] words for each source; `out`: as many residues, one after the other.
    pub(crate) fn apply(&self, rows: &[&[u64]], out: &mut [u64]) -> Result<(), RingError> {
        let mut sums = vec![0; 2 * self.digits * BLOCK];
        self.conversion.apply(rows, &mut sums.chunks_exact_mut(BLOCK).collect::<Vec<_>>())?;
        let mut words = Vec::with_capacity(self.component.len() + 2);
        for (c, out) in out.chunks_exact_mut(self.component.len()).enumerate() {
            let mut at_c = sums.iter().skip(c).step_by(BLOCK).copied();
            self.carry(std::iter::from_fn(|| at_c.next().zip(at_c.next())), &mut words);
            self.component.reduce(out, &words);
        }
        Ok(())
    }

    /// The integer Σ_d s_d·2^(bits·d) for sums s_d that are given by their two residues.
    fn carry(&self, sums: impl Iterator<Item = (u64, u64)>, words: &mut Vec<u64>) {
        words.clear();
        let [first, second] = self.pair;
        let (mask, mut carry, mut word, mut filled) = ((1_u128 << self.digit_bits) - 1, 0_u128, 0_u128, 0);
        for (a, b) in sums {
            let difference = second.sub(b, second.reduce(a));
            carry +=
                u128::from(a) + u128::from(first.value()) * u128::from(second.mul(difference, self.inverse));
            word |= (carry & mask) << filled;
            carry >>= self.digit_bits;
            filled += self.digit_bits;
            if filled >= 64 {
                words.push(word as u64);
                word >>= 64;
                filled -= 64;
            }
        }
        // At most 57 bits of carry lie above fewer than 64 that wait.
        word += carry << filled;
        words.extend([word as u64, (word >> 64) as u64]);
    }
}
