//! Combination of word-size residues to residues of several words, by one matrix product.

use num_bigint::BigUint;
use num_traits::ToPrimitive;
use sunzi_kernels::{Modulus, WideSums, active_isa};
use sunzi_ring::RingError;

use crate::Component;

/// Number of coefficients that are combined together.
pub(crate) const BLOCK: usize = 64;
/// Number of bits of the digits of a combination's constants: the longest that 52-bit lanes multiply at half
/// the cost.
pub(crate) const FACTOR_BITS: u32 = 51;

/// Tables of out ← Σ_i x_i·C_i modulo q_j for words x_i and constants C_i of several words.
///
/// Constants C_i of a combination are cut into digits; for each digit one column sums products without a
/// reduction; carries join the sums to an integer hardly longer than q_j, which is folded.
pub(crate) struct Combination {
    component: Component,
    sums: WideSums,
    digits: usize,
}

impl Combination {
    /// Makes the tables of a combination for words below `sources` and constants in [0, q_j).
    pub(crate) fn new(
        component: Component,
        sources: &[Modulus],
        constants: &[BigUint],
    ) -> Result<Self, RingError> {
        let digits = (component.bits() + 1).div_ceil(FACTOR_BITS as usize);
        let mask = BigUint::from((1_u64 << FACTOR_BITS) - 1);
        let digit = |i: usize, d: usize| {
            let shifted = constants.get(i).map_or(BigUint::ZERO, |c| c >> (d * FACTOR_BITS as usize));
            (shifted & &mask).to_u64().unwrap_or(0)
        };
        let sums = WideSums::new(active_isa()?, sources, digits, digit)?;
        Ok(Self { component, sums, digits })
    }

    /// Combines `rows`, [`BLOCK`] words for each source, to as many residues in `out`, one after the other.
    pub(crate) fn apply(&self, rows: &[&[u64]], out: &mut [u64]) -> Result<(), RingError> {
        let mut sums = vec![0; 2 * self.digits * BLOCK];
        self.sums.apply(rows, &mut sums.chunks_exact_mut(BLOCK).collect::<Vec<_>>())?;
        let mut words = Vec::with_capacity(self.component.len() + 2);
        for (c, out) in out.chunks_exact_mut(self.component.len()).enumerate() {
            let mut at_c = sums.iter().skip(c).step_by(BLOCK).copied();
            carry(std::iter::from_fn(|| at_c.next().zip(at_c.next())), &mut words);
            self.component.reduce(out, &words);
        }
        Ok(())
    }
}

/// Returns the integer Σ_d s_d·2^(bits·d) for sums s_d of two words.
fn carry(sums: impl Iterator<Item = (u64, u64)>, words: &mut Vec<u64>) {
    words.clear();
    let (mask, mut carry, mut word, mut filled) = ((1_u128 << FACTOR_BITS) - 1, 0_u128, 0_u128, 0);
    for (low, high) in sums {
        carry += u128::from(high) << 64 | u128::from(low);
        word |= (carry & mask) << filled;
        carry >>= FACTOR_BITS;
        filled += FACTOR_BITS;
        if filled >= 64 {
            words.push(word as u64);
            word >>= 64;
            filled -= 64;
        }
    }
    // Sums of 2^12 words below 2^48 leave fewer than 61 bits of carry, above fewer than 64 pending bits.
    word += carry << filled;
    words.extend([word as u64, (word >> 64) as u64]);
}
