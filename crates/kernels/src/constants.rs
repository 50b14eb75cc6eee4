//! Numbers derived from one modulus, shared by every kernel.

/// Length in bits of the longest modulus, and so of the longest residue.
pub(crate) const MAX_BITS: u32 = 62;
/// Number of words of an element in the products of [`Modulus::packed_matrix_products`](crate::Modulus::packed_matrix_products).
pub const MATRIX_BLOCK: usize = 16;

/// A modulus and its reciprocals for both word sizes.
#[derive(Clone, Copy)]
pub struct Constants {
    /// The modulus, from 2 to 2^62.
    pub(crate) q: u64,
    /// Length of the modulus in bits.
    pub(crate) bits: u32,
    pub(crate) word64: Constants64,
    pub(crate) word52: Constants52,
}

/// Reciprocals of the modulus scaled to 64-bit words.
#[derive(Clone, Copy)]
pub(crate) struct Constants64 {
    /// Reciprocal ⌊2^64 / q⌋ of the modulus.
    pub(crate) reciprocal: u64,
    /// Residue 2^64 mod q and its Shoup quotient.
    pub(crate) wrap: (u64, u64),
    /// Barrett's constant ⌊2^(bits + 62) / q⌋.
    pub(crate) barrett: u64,
}

/// Reciprocals of the modulus scaled to 52-bit words; meaningful for odd q < 2^49 only.
#[derive(Clone, Copy)]
pub(crate) struct Constants52 {
    /// Negated modulus 2^52 − q as a word.
    pub(crate) negated: u64,
    /// Reciprocal ⌊2^52 / q⌋ of the modulus.
    pub(crate) reciprocal: u64,
    /// Residue 2^52 mod q and its Shoup quotient.
    pub(crate) wrap: (u64, u64),
    /// Barrett's constant ⌊2^(bits + 50) / q⌋.
    pub(crate) barrett: u64,
    /// Inverse q^-1 mod 2^52 of the modulus.
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "for conversions with 52-bit words"))]
    pub(crate) inverse: u64,
}

impl Constants {
    /// Number of bytes that hold every canonical word of this modulus.
    #[inline]
    pub(crate) fn residue_bytes(&self) -> usize {
        residue_bytes(self.q)
    }

    /// Derives the constants of the modulus q.
    #[must_use]
    pub fn new(q: u64) -> Self {
        let bits = u64::BITS - q.leading_zeros();
        let wide = u128::from(q);
        let wrap64 = ((1u128 << 64) % wide) as u64;
        let wrap52 = (1u64 << 52) % q;
        Self {
            q,
            bits,
            word64: Constants64 {
                reciprocal: ((1u128 << 64) / wide) as u64,
                wrap: (wrap64, shoup_quotient(wrap64, q, 64)),
                barrett: ((1u128 << (bits + 62)) / wide) as u64,
            },
            word52: Constants52 {
                negated: (1u64 << 52).wrapping_sub(q),
                reciprocal: (1u64 << 52) / q,
                wrap: (wrap52, shoup_quotient(wrap52, q, 52)),
                barrett: ((1u128 << (bits + 50)) / wide) as u64,
                inverse: inverse_of_odd(q) & ((1 << 52) - 1),
            },
        }
    }

    /// Sum a + b mod q of canonical words.
    #[inline]
    pub(crate) fn add(&self, a: u64, b: u64) -> u64 {
        let sum = a.wrapping_add(b);
        sum.min(sum.wrapping_sub(self.q))
    }

    /// Product a·b mod q of canonical words.
    #[inline]
    pub(crate) fn mul(&self, a: u64, b: u64) -> u64 {
        self.reduce_u128(u128::from(a) * u128::from(b))
    }

    /// Reduces any word modulo the modulus q.
    #[inline]
    pub(crate) fn reduce(&self, a: u64) -> u64 {
        let quotient = high_product(a, self.word64.reciprocal);
        let r = a.wrapping_sub(quotient.wrapping_mul(self.q));
        r.min(r.wrapping_sub(self.q))
    }

    /// Reduces any double word modulo q.
    #[inline]
    pub(crate) fn reduce_u128(&self, a: u128) -> u64 {
        let (q, c) = (self.q, &self.word64);
        let (high, low) = ((a >> 64) as u64, a as u64);
        // high·2^64 by Shoup's multiplication and low by its reciprocal, each below 2q.
        let quotient = high_product(high, c.wrap.1).wrapping_add(high_product(low, c.reciprocal));
        let r = high.wrapping_mul(c.wrap.0).wrapping_add(low).wrapping_sub(quotient.wrapping_mul(q));
        let r = r.min(r.wrapping_sub(2 * q));
        r.min(r.wrapping_sub(q))
    }
}

/// Returns the number of bytes that hold every canonical word modulo q: what a residue of a key takes.
///
/// ```
/// assert_eq!(sunzi_kernels::residue_bytes((1 << 48) - 59), 6);
/// assert_eq!(sunzi_kernels::residue_bytes((1 << 49) - 1), 7);
/// ```
#[must_use]
#[inline]
pub fn residue_bytes(q: u64) -> usize {
    (u64::BITS - q.leading_zeros()).div_ceil(u8::BITS) as usize
}

/// High 64 bits of the product of two words.
#[inline]
pub(crate) fn high_product(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}

/// Shoup's quotient ⌊w · 2^word_bits / q⌋ for w < q, which makes w·y mod q two products and no division.
pub fn shoup_quotient(w: u64, q: u64, word_bits: u32) -> u64 {
    ((u128::from(w) << word_bits) / u128::from(q)) as u64
}

/// Inverse q^-1 mod 2^64 of an odd q, by Newton's iteration; each step doubles the correct low bits.
pub fn inverse_of_odd(q: u64) -> u64 {
    // q·q = 1 mod 8: three bits to start from, 96 after five steps.
    (0..5).fold(q, |x, _| x.wrapping_mul(2u64.wrapping_sub(q.wrapping_mul(x))))
}
