//! A modulus, its constants and the kernels that compute with it.
#![expect(unsafe_code, reason = "calls through tables chosen for an available instruction set")]

mod fused;
mod packed;

use std::fmt;
use std::hash::{Hash, Hasher};

use crate::constants::Constants;
use crate::error::{KernelError, check_count, check_length};
use crate::isa::Isa;
use crate::select::{self, active_isa};
use crate::table::Table;

/// Largest number of terms that an inner product or a conversion takes.
pub const MAX_TERMS: usize = 4096;

/// A modulus `2 ≤ q < 2^62` bound to the kernels that serve it.
///
/// Operands are canonical (in `[0, q)`) unless said otherwise, and so are results. Words that are not
/// give unspecified results, never undefined behaviour. Equality is that of the values.
///
/// ```
/// use sunzi_kernels::Modulus;
/// let q = Modulus::new(97)?;
/// assert_eq!(q.mul(50, 2), 3);
/// let mut a = [96, 1, 5];
/// q.add_assign(&mut a, &[2, 2, 2])?;
/// assert_eq!(a, [1, 3, 7]);
/// # Ok::<(), sunzi_kernels::KernelError>(())
/// ```
#[derive(Clone, Copy)]
pub struct Modulus {
    pub(crate) constants: Constants,
    pub(crate) table: &'static Table,
}

impl PartialEq for Modulus {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.value() == other.value()
    }
}

impl Eq for Modulus {}

impl Hash for Modulus {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.value().hash(state);
    }
}

impl fmt::Debug for Modulus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Modulus({}, {})", self.value(), self.isa())
    }
}

impl fmt::Display for Modulus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value().fmt(f)
    }
}

impl Modulus {
    /// Makes the modulus `q` on the [active](active_isa) instruction set.
    ///
    /// # Errors
    /// [`KernelError::ModulusOutOfRange`] outside `2 ≤ q < 2^62`; every error of [`active_isa`].
    pub fn new(q: u64) -> Result<Self, KernelError> {
        Self::with_isa(q, active_isa()?)
    }

    /// Makes the modulus `q` on a given instruction set, or on the portable one where that set cannot take `q` (above the bound of
    /// [`Isa::Avx2`] and [`Isa::Neon`]).
    ///
    /// # Errors
    /// [`KernelError::ModulusOutOfRange`] outside `2 ≤ q < 2^62`, [`KernelError::UnavailableIsa`].
    pub fn with_isa(q: u64, isa: Isa) -> Result<Self, KernelError> {
        if !(2..1 << 62).contains(&q) {
            return Err(KernelError::ModulusOutOfRange { value: q });
        }
        if !isa.is_available() {
            return Err(KernelError::UnavailableIsa { isa });
        }
        Ok(Self { constants: Constants::new(q), table: select::table(isa, q) })
    }

    /// Value of the modulus.
    #[must_use]
    #[inline]
    pub fn value(&self) -> u64 {
        self.constants.q
    }

    /// Length of the modulus in bits.
    #[must_use]
    #[inline]
    pub fn bits(&self) -> u32 {
        self.constants.bits
    }

    /// Instruction set whose kernels serve this modulus.
    #[must_use]
    #[inline]
    pub fn isa(&self) -> Isa {
        self.table.isa
    }

    /// Sum a + b mod q of canonical words.
    #[must_use]
    #[inline]
    pub fn add(&self, a: u64, b: u64) -> u64 {
        self.constants.add(a, b)
    }

    /// Difference a − b mod q of canonical words.
    #[must_use]
    #[inline]
    pub fn sub(&self, a: u64, b: u64) -> u64 {
        let difference = a.wrapping_sub(b);
        difference.min(difference.wrapping_add(self.value()))
    }

    /// Opposite −a mod q of a canonical word.
    #[must_use]
    #[inline]
    pub fn neg(&self, a: u64) -> u64 {
        self.sub(0, a)
    }

    /// Product a·b mod q of canonical words.
    #[must_use]
    #[inline]
    pub fn mul(&self, a: u64, b: u64) -> u64 {
        self.constants.mul(a, b)
    }

    /// a^exponent, where 0^0 = 1. Takes time that depends on the exponent.
    #[must_use]
    pub fn pow(&self, a: u64, mut exponent: u64) -> u64 {
        let (mut base, mut result) = (a, 1);
        while exponent > 0 {
            if exponent & 1 == 1 {
                result = self.mul(result, base);
            }
            base = self.mul(base, base);
            exponent >>= 1;
        }
        result
    }

    /// Returns a^-1, or `None` where a and q share a factor. Takes time that depends on a.
    #[must_use]
    pub fn inv(&self, a: u64) -> Option<u64> {
        // Invariant of Euclid's steps: r = s·a mod q for both pairs.
        let (mut r0, mut r1) = (self.value(), self.reduce(a));
        let (mut s0, mut s1) = (0, 1);
        while r1 != 0 {
            let quotient = r0 / r1;
            (r0, r1) = (r1, r0 - quotient * r1);
            (s0, s1) = (s1, self.sub(s0, self.mul(self.reduce(quotient), s1)));
        }
        (r0 == 1).then_some(s0)
    }

    /// Reduces any word modulo q.
    #[must_use]
    #[inline]
    pub fn reduce(&self, a: u64) -> u64 {
        self.constants.reduce(a)
    }

    /// Reduces any double word modulo q.
    #[must_use]
    #[inline]
    pub fn reduce_u128(&self, a: u128) -> u64 {
        self.constants.reduce_u128(a)
    }

    /// Reduces any signed word modulo q, to `[0, q)`.
    #[must_use]
    #[inline]
    pub fn reduce_i64(&self, a: i64) -> u64 {
        let magnitude = self.reduce(a.unsigned_abs());
        if a < 0 { self.neg(magnitude) } else { magnitude }
    }

    /// a += b, word by word.
    ///
    /// # Errors
    /// [`KernelError::LengthMismatch`], as for all operations on slices.
    pub fn add_assign(&self, a: &mut [u64], b: &[u64]) -> Result<(), KernelError> {
        check_length(a.len(), b.len())?;
        // SAFETY: the table was chosen for an available instruction set, here and below.
        unsafe { (self.table.elementwise.add_assign)(&self.constants, a, b) };
        Ok(())
    }

    /// a −= b, word by word.
    ///
    /// # Errors
    /// [`KernelError::LengthMismatch`].
    pub fn sub_assign(&self, a: &mut [u64], b: &[u64]) -> Result<(), KernelError> {
        check_length(a.len(), b.len())?;
        // SAFETY: as in `add_assign`.
        unsafe { (self.table.elementwise.sub_assign)(&self.constants, a, b) };
        Ok(())
    }

    /// a = −a, word by word.
    pub fn neg_assign(&self, a: &mut [u64]) {
        // SAFETY: as in `add_assign`.
        unsafe { (self.table.elementwise.neg_assign)(&self.constants, a) };
    }

    /// (a, b) = (a + b, a − b), word by word: a butterfly with twiddle 1.
    ///
    /// # Errors
    /// [`KernelError::LengthMismatch`].
    pub fn sum_difference_assign(&self, a: &mut [u64], b: &mut [u64]) -> Result<(), KernelError> {
        check_length(a.len(), b.len())?;
        // SAFETY: as in `add_assign`.
        unsafe { (self.table.elementwise.sum_difference_assign)(&self.constants, a, b) };
        Ok(())
    }

    /// a ·= b, word by word.
    ///
    /// # Errors
    /// [`KernelError::LengthMismatch`].
    pub fn mul_assign(&self, a: &mut [u64], b: &[u64]) -> Result<(), KernelError> {
        check_length(a.len(), b.len())?;
        #[cfg(feature = "tally")]
        crate::tally::products(1, a.len());
        // SAFETY: as in `add_assign`.
        unsafe { (self.table.elementwise.mul_assign)(&self.constants, a, b) };
        Ok(())
    }

    /// acc += a·b, word by word.
    ///
    /// # Errors
    /// [`KernelError::LengthMismatch`].
    pub fn mul_add_assign(&self, acc: &mut [u64], a: &[u64], b: &[u64]) -> Result<(), KernelError> {
        check_lengths(acc.len(), [a, b])?;
        #[cfg(feature = "tally")]
        crate::tally::products(1, acc.len());
        // SAFETY: as in `add_assign`.
        unsafe { (self.table.elementwise.mul_add_assign)(&self.constants, acc, a, b) };
        Ok(())
    }

    /// a ·= c for one scalar c < q.
    ///
    /// # Errors
    /// [`KernelError::NotReduced`] for a larger scalar.
    pub fn mul_scalar_assign(&self, a: &mut [u64], c: u64) -> Result<(), KernelError> {
        self.check_reduced(c)?;
        #[cfg(feature = "tally")]
        crate::tally::products(1, a.len());
        // SAFETY: as in `add_assign`.
        unsafe { (self.table.elementwise.mul_scalar_assign)(&self.constants, a, c) };
        Ok(())
    }

    /// out = a mod q, word by word, for any words.
    ///
    /// # Errors
    /// [`KernelError::LengthMismatch`].
    pub fn reduce_into(&self, out: &mut [u64], a: &[u64]) -> Result<(), KernelError> {
        check_length(out.len(), a.len())?;
        // SAFETY: as in `add_assign`.
        unsafe { (self.table.elementwise.reduce_into)(&self.constants, out, a) };
        Ok(())
    }

    /// out = a mod q in `[0, q)`, word by word, for any signed words.
    ///
    /// # Errors
    /// [`KernelError::LengthMismatch`].
    pub fn reduce_signed_into(&self, out: &mut [u64], a: &[i64]) -> Result<(), KernelError> {
        check_length(out.len(), a.len())?;
        // SAFETY: as in `add_assign`.
        unsafe { (self.table.elementwise.reduce_signed_into)(&self.constants, out, a) };
        Ok(())
    }

    /// out = Σ_i a_i·b_i, word by word, reduced once for many terms.
    ///
    /// # Errors
    /// [`KernelError::CountMismatch`] for unequal numbers of slices, [`KernelError::TooManyTerms`]
    /// above [`MAX_TERMS`], [`KernelError::LengthMismatch`].
    pub fn inner_product(&self, out: &mut [u64], a: &[&[u64]], b: &[&[u64]]) -> Result<(), KernelError> {
        check_inner_product(out, a, b)?;
        #[cfg(feature = "tally")]
        crate::tally::products(a.len(), out.len());
        // SAFETY: as in `add_assign`.
        unsafe { (self.table.inner_products.one)(&self.constants, out, a, b) };
        Ok(())
    }

    /// [`inner_product`](Self::inner_product) of one `a` with two lists at once: out_k = Σ_i a_i·b_ki.
    /// Every word of `a` is read once for both: a key switch multiplies its digits by two halves of a key.
    ///
    /// # Errors
    /// Every error of [`inner_product`](Self::inner_product), for either list.
    pub fn inner_product_pair(
        &self,
        out: [&mut [u64]; 2],
        a: &[&[u64]],
        b: [&[&[u64]]; 2],
    ) -> Result<(), KernelError> {
        for (out, b) in out.iter().zip(b) {
            check_inner_product(out, a, b)?;
        }
        let [first, second] = &out;
        check_length(first.len(), second.len())?;
        #[cfg(feature = "tally")]
        crate::tally::products(2 * a.len(), first.len());
        // SAFETY: as in `add_assign`.
        unsafe { (self.table.inner_products.pair)(&self.constants, out, a, b) };
        Ok(())
    }

    pub(crate) fn check_reduced(&self, value: u64) -> Result<(), KernelError> {
        let modulus = self.value();
        if value < modulus { Ok(()) } else { Err(KernelError::NotReduced { value, modulus }) }
    }
}

/// Checks that both slices have the expected length.
fn check_lengths(expected: usize, slices: [&[u64]; 2]) -> Result<(), KernelError> {
    slices.iter().try_for_each(|slice| check_length(expected, slice.len()))
}

/// Checks the shape of an inner product.
fn check_inner_product(out: &[u64], a: &[&[u64]], b: &[&[u64]]) -> Result<(), KernelError> {
    check_count(a.len(), b.len())?;
    check_terms(a.len())?;
    a.iter().chain(b).try_for_each(|slice| check_length(out.len(), slice.len()))
}

/// Checks that a number of terms is at most [`MAX_TERMS`].
pub(crate) fn check_terms(got: usize) -> Result<(), KernelError> {
    if got <= MAX_TERMS { Ok(()) } else { Err(KernelError::TooManyTerms { limit: MAX_TERMS, got }) }
}
