//! Moduli 2^g − 1 and their factors.

use num_bigint::BigUint;
use num_integer::Integer;
use num_traits::One;
use sunzi_math::{gcd, mul_mod};
use sunzi_ring::RingError;

use crate::Component;

/// Number of bits of the smallest component of 2^g − 1, which fits a word.
pub(crate) const WORD: usize = 64;
/// Largest exponent g of a modulus 2^g − 1.
pub(crate) const MOST_BITS: usize = 16_384;
/// Largest number of components of a modulus 2^g − 1.
pub(crate) const MOST_COMPONENTS: usize = 1 + (MOST_BITS / WORD).ilog2() as usize;

/// A modulus q = 2^g − 1 for g = 64, 128, …, 16384 with its pairwise coprime factors `[TSKJ20, Lemma 1]`.
///
/// Components of the modulus are ordered from the smallest to the largest: 2^64 − 1, 2^64 + 1, 2^128 + 1, …,
/// 2^(g/2) + 1. The first l of them have the product 2^(g_l) − 1 with g_l = 2^(l+5), which is q at level l. The smallest may be
/// longer: 2^w − 1 for w = 64, 128, … up to g, followed by 2^w + 1.
///
/// ```
/// use sunzi_fermat::FermatModulus;
///
/// let q = FermatModulus::new(512)?;
/// let bits: Vec<usize> = q.components().iter().map(|q_i| q_i.bits()).collect();
/// assert_eq!(bits, [64, 64, 128, 256]);
/// assert!(q.check_coprime(786_433).is_ok());
/// assert!(q.check_coprime(65_537).is_err());
/// # Ok::<(), sunzi_ring::RingError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FermatModulus {
    bits: usize,
    /// Exponent w of the smallest component of the modulus, 2^w − 1.
    smallest: usize,
    components: Vec<Component>,
}

impl FermatModulus {
    /// Least prime that is coprime to every q and 1 modulo 2n for all degrees up to 2^17: a plaintext modulus with slots. 257 and 65537
    /// divide q.
    pub const BATCHING: u64 = 786_433;

    /// Makes the modulus q = 2^g − 1 with its components.
    ///
    /// # Errors
    /// [`RingError::OutOfRange`] unless g is a power of two from 64 to 16384.
    pub fn new(bits: usize) -> Result<Self, RingError> {
        Self::with_smallest(bits, WORD)
    }

    /// Makes the modulus q = 2^g − 1 with 2^`smallest` − 1 as its smallest component: longer ones are fewer.
    ///
    /// # Errors
    /// [`RingError::OutOfRange`] unless g is a power of two from 64 to 16384, and `smallest` one from 64 to g.
    pub fn with_smallest(bits: usize, smallest: usize) -> Result<Self, RingError> {
        if !bits.is_power_of_two() || !(WORD..=MOST_BITS).contains(&bits) {
            let expected = format_args!("a power of two from {WORD} to {MOST_BITS}");
            return Err(RingError::out_of_range("bits of a Fermat modulus", expected, bits));
        }
        if !smallest.is_power_of_two() || !(WORD..=bits).contains(&smallest) {
            let expected = format_args!("a power of two from {WORD} to {bits}");
            return Err(RingError::out_of_range("bits of the smallest component", expected, smallest));
        }
        let doubled = |h: &usize| Some(2 * h);
        let larger = std::iter::successors(Some(smallest), doubled).take_while(|h| 2 * h <= bits);
        let components = [Component::mersenne(smallest)].into_iter().chain(larger.map(Component::fermat));
        Ok(Self { bits, smallest, components: components.collect() })
    }

    /// Returns the modulus 2^g − 1 with `level` components.
    ///
    /// # Errors
    /// [`RingError::NoSuchLevel`] unless the modulus has as many components.
    pub fn at_level(&self, level: usize) -> Result<Self, RingError> {
        if (1..=self.level()).contains(&level) {
            return Self::with_smallest(self.smallest << (level - 1), self.smallest);
        }
        Err(RingError::NoSuchLevel { got: level, highest: self.level() })
    }

    /// Exponent g of the modulus 2^g − 1.
    #[must_use]
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// Exponent w of the smallest component 2^w − 1; 64 unless it was asked for.
    #[must_use]
    pub fn smallest(&self) -> usize {
        self.smallest
    }

    /// Number k = 1 + log2(g/w) of components of the modulus `[TSKJ20, 4.4]`.
    #[must_use]
    pub fn level(&self) -> usize {
        self.components.len()
    }

    /// Components of the modulus, from the smallest to the largest.
    #[must_use]
    pub fn components(&self) -> &[Component] {
        &self.components
    }

    /// Value q = 2^g − 1 of the modulus.
    #[must_use]
    pub fn value(&self) -> BigUint {
        (BigUint::one() << self.bits) - 1_u32
    }

    /// Returns i with q/q_i = −2^i modulo the component 2^h + 1 at this position, 2^i modulo the smallest: the
    /// index of `[TSKJ20, Lemma 2]`, and f for the last.
    #[must_use]
    pub fn twos(&self, position: usize) -> u32 {
        self.level().saturating_sub(position.max(1)) as u32
    }

    /// Checks that an integer has no factor in common with q.
    ///
    /// # Errors
    /// [`RingError::NotCoprime`] with the integer and the common factor; [`RingError::OutOfRange`] for 0.
    pub fn check_coprime(&self, m: u64) -> Result<(), RingError> {
        if m == 0 {
            return Err(RingError::out_of_range("an integer beside a Fermat modulus", "one above 0", m));
        }
        match gcd(m, self.remainder(m)) {
            1 => Ok(()),
            shared => Err(RingError::NotCoprime { left: m, right: shared }),
        }
    }

    /// Returns the remainder of q = 2^g − 1 modulo m, for m > 0.
    pub(crate) fn remainder(&self, m: u64) -> u64 {
        let power = (0..self.bits.ilog2()).fold(2 % m, |power, _| mul_mod(power, power, m));
        if power == 0 { m - 1 } else { power - 1 }
    }

    /// Returns the integer in [0, q) with these residues, one for each component.
    #[must_use]
    pub fn integer<'a>(&self, residues: impl Iterator<Item = &'a [u64]>) -> BigUint {
        let mut sum = BigUint::ZERO;
        for (component, residue) in self.components.iter().zip(residues) {
            let residue = integer(residue);
            if !component.is_fermat() {
                sum = residue;
                continue;
            }
            // x = v + (2^h − 1)·u for x = v modulo 2^h − 1 and x = a modulo 2^h + 1, where 2^h − 1 = −2: u = (v − a)/2.
            let q = component.value();
            let difference = &q + &sum - residue;
            let u = if difference.is_even() { difference >> 1 } else { (difference + &q) >> 1 } % &q;
            sum += (&u << component.bits()) - u;
        }
        sum
    }
}

/// Returns the integer of words of 64 bits.
pub(crate) fn integer(words: &[u64]) -> BigUint {
    BigUint::new(words.iter().flat_map(|&word| [word as u32, (word >> 32) as u32]).collect())
}
