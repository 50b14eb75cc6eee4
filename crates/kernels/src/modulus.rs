//! A modulus, its constants and the kernels that compute with it.

mod packed;
mod slices;

use std::fmt;
use std::hash::{Hash, Hasher};

use crate::constants::Constants;
use crate::error::KernelError;
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

    pub(crate) fn check_reduced(&self, value: u64) -> Result<(), KernelError> {
        let modulus = self.value();
        if value < modulus { Ok(()) } else { Err(KernelError::NotReduced { value, modulus }) }
    }
}

/// Checks that a number of terms is at most [`MAX_TERMS`].
pub(crate) fn check_terms(got: usize) -> Result<(), KernelError> {
    if got <= MAX_TERMS { Ok(()) } else { Err(KernelError::TooManyTerms { limit: MAX_TERMS, got }) }
}
