//! Masks of a refresh: integers that are wider than a machine word.

use num_bigint::BigInt;
use rand_core::CryptoRng;
use sunzi_ring::{Coefficient, Poly, Ring, RingError};
use zeroize::Zeroizing;

/// Largest number of bits of a mask: that of two words.
pub(super) const MOST_BITS: u32 = 2 * WORD_BITS;
/// Bits of a word of a mask.
const WORD_BITS: u32 = 124;

/// A mask of integers uniform in [−2^bits, 2^bits), by two words of each: erased when dropped.
pub(super) struct Mask {
    /// Words in [−2^high, 2^high).
    high: Zeroizing<Vec<i128>>,
    /// Words in [0, 2^bits), for the number of bits; none in masks of one word.
    low: Option<(u32, Zeroizing<Vec<i128>>)>,
}

impl Mask {
    /// Draws a mask of so many integers.
    pub(super) fn draw(count: usize, bits: u32, rng: &mut dyn CryptoRng) -> Self {
        let below = bits.saturating_sub(WORD_BITS);
        let half = |bits: u32| 1_i128 << bits;
        let high_bits = bits - below;
        let high = words(count, high_bits + 1, -half(high_bits), rng);
        Self { high, low: (below > 0).then(|| (below, words(count, below, 0, rng))) }
    }

    /// Returns the integers as a polynomial.
    pub(super) fn at(&self, ring: &Ring) -> Result<Zeroizing<Poly<Coefficient>>, RingError> {
        let mut mask = Zeroizing::new(ring.from_signed_wide(&self.high)?);
        if let Some((bits, low)) = &self.low {
            ring.mul_integer_assign(&mut mask, &(BigInt::from(1) << *bits))?;
            ring.add_assign(&mut mask, &*Zeroizing::new(ring.from_signed_wide(low)?))?;
        }
        Ok(mask)
    }
}

/// Draws integers uniform in [least, least + 2^bits), for 1 to 125 bits.
fn words(count: usize, bits: u32, least: i128, rng: &mut dyn CryptoRng) -> Zeroizing<Vec<i128>> {
    let mut draw = || {
        let wide = u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64());
        (wide >> (128 - bits)) as i128 + least
    };
    let mut words = Zeroizing::new(Vec::with_capacity(count));
    words.extend(std::iter::repeat_with(&mut draw).take(count));
    words
}

#[cfg(test)]
mod tests {
    use num_traits::Signed;
    use sunzi_ring::sampling::SeededRng;

    use super::*;

    #[test]
    fn masks_fill_their_range_and_are_the_same_integers_at_every_level() {
        let count = 256;
        let ring =
            Ring::new(2 * count as u64, &sunzi_math::primes_below(1 << 47, 2 * count as u64, 6).unwrap());
        let ring = ring.unwrap();
        for bits in [1, 2, 63, 64, 123, 124, 125, 126, 200, 248] {
            let mask = Mask::draw(count, bits, &mut SeededRng::derive(&[9; 32], "mask", bits.into()));
            let values = ring.to_integers(&mask.at(&ring).unwrap()).unwrap();
            let bound = BigInt::from(1) << bits;
            assert!(values.iter().all(|value| -&bound <= *value && *value < bound), "{bits} bits");
            // Half of the integers are negative, and about half are in the upper half of their side.
            let negative = values.iter().filter(|value| value.is_negative()).count();
            let wide = values.iter().filter(|value| value.abs() > &bound / 2).count();
            assert!((96..160).contains(&negative), "{bits} bits: {negative} negative");
            assert!(bits < 2 || (64..170).contains(&wide), "{bits} bits: {wide} wide");
            // Low bits are those of words of their own.
            let odd = values.iter().filter(|value| value.bit(0)).count();
            assert!((96..160).contains(&odd), "{bits} bits: {odd} odd");
            let most = BigInt::from(ring.at_level(3).unwrap().modulus().clone()) / 2;
            if bound < most {
                let low = ring.at_level(3).unwrap();
                assert_eq!(low.to_integers(&mask.at(&low).unwrap()).unwrap(), values, "{bits} bits");
            }
        }
    }
}
