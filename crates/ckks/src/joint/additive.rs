//! Additive shares of messages of CKKS: integers that are wider than a machine word.

use num_bigint::BigInt;
use rand_core::CryptoRng;
use sunzi_ring::{Coefficient, Poly, Ring, RingError};
use zeroize::Zeroizing;

use crate::CkksError;

/// Largest number of bits of an additive share: that of two words.
pub(super) const MOST_BITS: u32 = 2 * WORD_BITS;
/// Bits of a word of an additive share.
const WORD_BITS: u32 = 124;
/// Length of a word of an additive share as bytes.
const WORD_LEN: usize = 16;

/// A party's additive share of a message of CKKS: one integer for each coefficient of the scaled message, erased when dropped.
///
/// The sum of the shares of all parties and of the [`SharedRest`](crate::SharedRest) is the scaled message with its noise, over the integers. So it is modulo every power of
/// two as well, which is what frameworks for computation on shares take: [`modulo`](Self::modulo).
///
/// ```
/// use sunzi_ckks::AdditiveShare;
///
/// let shares = [AdditiveShare::from_integers(&[5, -7])?, AdditiveShare::from_integers(&[-3, 8])?];
/// let words: Vec<_> = shares.iter().map(|share| share.modulo(64)).collect::<Result<_, _>>()?;
/// let sum: Vec<u128> = words[0].iter().zip(&*words[1]).map(|(a, b)| (a + b) % (1 << 64)).collect();
/// assert_eq!(sum, [2, 1]);
/// assert_eq!(AdditiveShare::from_bytes(&shares[0].to_bytes())?.modulo(8)?[1], 249);
/// # Ok::<(), sunzi_ckks::CkksError>(())
/// ```
pub struct AdditiveShare {
    /// Words in [−2^high, 2^high).
    high: Zeroizing<Vec<i128>>,
    /// Number of bits below the high words, and words of so many bits; none in shares of one word.
    low: Option<(u32, Zeroizing<Vec<i128>>)>,
}

impl AdditiveShare {
    /// Makes an additive share of integers below 2^124 in magnitude, one for each coefficient: of a message that was computed elsewhere.
    ///
    /// # Errors
    /// [`CkksError::Request`] for a larger integer.
    pub fn from_integers(integers: &[i128]) -> Result<Self, CkksError> {
        let most = 1_u128 << WORD_BITS;
        match integers.iter().find(|integer| integer.unsigned_abs() >= most) {
            Some(large) => {
                Err(wrong("an integer of an additive share", large, "it must be below 2^124 in magnitude"))
            }
            None => Ok(Self { high: Zeroizing::new(integers.to_vec()), low: None }),
        }
    }

    /// Draws an additive share of so many integers, uniform in [−2^bits, 2^bits).
    pub(super) fn draw(count: usize, bits: u32, rng: &mut dyn CryptoRng) -> Self {
        let below = bits.saturating_sub(WORD_BITS);
        let half = |bits: u32| 1_i128 << bits;
        let high_bits = bits - below;
        let high = words(count, high_bits + 1, -half(high_bits), rng);
        Self { high, low: (below > 0).then(|| (below, words(count, below, 0, rng))) }
    }

    /// Returns the integers as a polynomial.
    pub(super) fn at(&self, ring: &Ring) -> Result<Zeroizing<Poly<Coefficient>>, RingError> {
        let mut share = Zeroizing::new(ring.from_signed_wide(&self.high)?);
        if let Some((bits, low)) = &self.low {
            ring.mul_integer_assign(&mut share, &(BigInt::from(1) << *bits))?;
            ring.add_assign(&mut share, &*Zeroizing::new(ring.from_signed_wide(low)?))?;
        }
        Ok(share)
    }

    /// Returns the integers modulo 2^bits, for 1 to 128 bits: one word for each coefficient of the message.
    ///
    /// # Errors
    /// [`CkksError::Request`] for another number of bits.
    pub fn modulo(&self, bits: u32) -> Result<Zeroizing<Vec<u128>>, CkksError> {
        let mask = mask_of(bits)?;
        let mut residues = Zeroizing::new(Vec::with_capacity(self.high.len()));
        match &self.low {
            None => residues.extend(self.high.iter().map(|&word| word as u128 & mask)),
            Some((below, low)) => {
                residues.extend(self.high.iter().zip(&**low).map(|(&high, &low)| {
                    ((high as u128).wrapping_shl(*below).wrapping_add(low as u128)) & mask
                }))
            }
        }
        Ok(residues)
    }

    /// Returns the additive share as bytes: the bits below the high words in 4 bytes, the high words in 16 bytes each, then the low ones.
    #[must_use]
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let (below, low) = self.low.as_ref().map_or((0, &[][..]), |(bits, low)| (*bits, &low[..]));
        let mut bytes = Zeroizing::new(Vec::with_capacity(4 + WORD_LEN * (self.high.len() + low.len())));
        bytes.extend(below.to_le_bytes());
        bytes.extend(self.high.iter().chain(low).flat_map(|word| word.to_le_bytes()));
        bytes
    }

    /// Reads the additive share that [`to_bytes`](Self::to_bytes) wrote.
    ///
    /// # Errors
    /// [`CkksError::Request`] for bytes of another length, and for words out of range.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CkksError> {
        let Some((below, rest)) = bytes.split_first_chunk() else {
            return Err(wrong("the length of an additive share", bytes.len(), "it has at least 4 bytes"));
        };
        let below = u32::from_le_bytes(*below);
        let (words, left) = rest.as_chunks();
        let whole = left.is_empty() && below <= WORD_BITS && (below == 0 || words.len().is_multiple_of(2));
        if !whole {
            let expected = "it has 4 bytes, and 16 for each word";
            return Err(wrong("the length of an additive share", bytes.len(), expected));
        }
        let words = Zeroizing::new(words.iter().map(|word| i128::from_le_bytes(*word)).collect::<Vec<_>>());
        let (high, low) = words.split_at(if below == 0 { words.len() } else { words.len() / 2 });
        let fits = high.iter().all(|word| word.unsigned_abs() <= 1 << WORD_BITS)
            && low.iter().all(|&word| word >= 0 && word < 1 << below);
        if !fits {
            let expected = "high words are at most 2^124 in magnitude, low ones have the bits that are told";
            return Err(wrong("a word of an additive share", format_args!("one of {below} bits"), expected));
        }
        let low = (below > 0).then(|| (below, Zeroizing::new(low.to_vec())));
        Ok(Self { high: Zeroizing::new(high.to_vec()), low })
    }
}

/// Returns the mask of so many bits, from 1 to 128.
pub(super) fn mask_of(bits: u32) -> Result<u128, CkksError> {
    match bits {
        1..=128 => Ok(u128::MAX >> (128 - bits)),
        _ => Err(wrong("the bits of a modulus of additive shares", bits, "they are 1 to 128")),
    }
}

fn wrong(what: &'static str, got: impl ToString, expected: &'static str) -> CkksError {
    CkksError::Request { what, got: got.to_string(), expected }
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
    use num_integer::Integer;
    use num_traits::Signed;
    use sunzi_ring::sampling::SeededRng;

    use super::*;

    #[test]
    fn shares_fill_their_range_and_are_the_same_integers_at_every_level() {
        let count = 256;
        let ring =
            Ring::new(2 * count as u64, &sunzi_math::primes_below(1 << 47, 2 * count as u64, 6).unwrap());
        let ring = ring.unwrap();
        for bits in [1, 2, 63, 64, 123, 124, 125, 126, 200, 248] {
            let share =
                AdditiveShare::draw(count, bits, &mut SeededRng::derive(&[9; 32], "mask", bits.into()));
            let values = ring.to_integers(&share.at(&ring).unwrap()).unwrap();
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
                assert_eq!(low.to_integers(&share.at(&low).unwrap()).unwrap(), values, "{bits} bits");
            }
        }
    }
    #[test]
    fn residues_and_bytes_are_those_of_the_integers() {
        let count = 64;
        let moduli = sunzi_math::primes_below(1 << 47, 2 * count as u64, 6).unwrap();
        let ring = Ring::new(2 * count as u64, &moduli).unwrap();
        for bits in [1, 63, 64, 124, 125, 128, 200, 248] {
            let share =
                AdditiveShare::draw(count, bits, &mut SeededRng::derive(&[8; 32], "share", bits.into()));
            let values = ring.to_integers(&share.at(&ring).unwrap()).unwrap();
            for modulus in [1, 7, 64, 127, 128] {
                let power = BigInt::from(1) << modulus;
                let expected: Vec<BigInt> = values.iter().map(|value| value.mod_floor(&power)).collect();
                let found = share.modulo(modulus).unwrap();
                assert!(found.iter().map(|&word| BigInt::from(word)).eq(expected), "{bits} bits");
            }
            let bytes = share.to_bytes();
            let read = AdditiveShare::from_bytes(&bytes).unwrap();
            assert_eq!(ring.to_integers(&read.at(&ring).unwrap()).unwrap(), values);
            assert!(AdditiveShare::from_bytes(&bytes[..bytes.len() - 1]).is_err());
            assert!(AdditiveShare::from_bytes(&bytes[..3]).is_err());
            let mut wide = bytes.to_vec();
            wide[4..20].copy_from_slice(&i128::MIN.to_le_bytes());
            assert!(AdditiveShare::from_bytes(&wide).is_err());
            wide[..4].copy_from_slice(&125_u32.to_le_bytes());
            assert!(AdditiveShare::from_bytes(&wide).is_err());
        }
        let share = AdditiveShare::from_integers(&[-1; 4]).unwrap();
        assert!(share.modulo(0).is_err() && share.modulo(129).is_err());
        assert!(AdditiveShare::from_integers(&[1 << 124]).is_err());
    }
}
