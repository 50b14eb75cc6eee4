//! Sums of products with constants that wrap at 2^64 or are rounded to integers.
#![expect(unsafe_code, reason = "calls through tables chosen for an available instruction set")]

use crate::error::{KernelError, check_count, check_length};
use crate::generic::rounding::{Double, Fixed, Nearest, Wrapping};
use crate::isa::Isa;
use crate::modulus::{Modulus, check_terms};
use crate::table::Table;

/// The sum start + Σ_i x_i·c_i modulo 2^64, word by word: a matrix column modulo any power of two up to 2^64.
///
/// ```
/// use sunzi_kernels::{WrappingSum, active_isa};
/// let sum = WrappingSum::new(active_isa()?, 5, &[3, u64::MAX])?;
/// let mut out = [0; 2];
/// sum.apply(&[&[1, 2], &[1, 20]], &mut out)?;
/// assert_eq!(out, [7, 9_u64.wrapping_neg()]);
/// # Ok::<(), sunzi_kernels::KernelError>(())
/// ```
#[derive(Clone)]
pub struct WrappingSum {
    table: &'static Table,
    sum: Wrapping,
}

impl WrappingSum {
    /// Makes the wrapping sum with the constants of `column`.
    ///
    /// # Errors
    /// [`KernelError::UnavailableIsa`]; [`KernelError::TooManyTerms`].
    pub fn new(isa: Isa, start: u64, column: &[u64]) -> Result<Self, KernelError> {
        let sum = Wrapping { start, column: column.to_vec() };
        Ok(Self { table: table_of(isa, column.len())?, sum })
    }

    /// Computes the wrapping sum from one vector for every constant, all as long as `out`.
    ///
    /// # Errors
    /// [`KernelError::CountMismatch`], [`KernelError::LengthMismatch`] for another number or length of
    /// vectors.
    pub fn apply(&self, input: &[&[u64]], out: &mut [u64]) -> Result<(), KernelError> {
        check(self.sum.column.len(), input, out)?;
        // SAFETY: the table was chosen for an available instruction set.
        unsafe { (self.table.rounding.wrapping)(&self.sum, out, input) };
        Ok(())
    }
}

/// The sum ⌊Σ_i x_i·t/q_i⌉ mod t in [0, t), word by word, for x_i in [0, q_i): right wherever the sum is nearer to an
/// integer than 1/2 − [`error`](Self::error).
///
/// ```
/// use sunzi_kernels::{Modulus, RoundedSum, active_isa};
/// let from = [Modulus::new(97)?, Modulus::new(193)?];
/// let sum = RoundedSum::double(active_isa()?, &from, 10)?;
/// let mut out = [0; 2];
/// sum.apply(&[&[96, 10], &[192, 0]], &mut out)?;
/// assert_eq!(out, [0, 1]); // 19.84…, 1.03…
/// # Ok::<(), sunzi_kernels::KernelError>(())
/// ```
#[derive(Clone)]
pub struct RoundedSum {
    table: &'static Table,
    method: RoundingMethod,
    error: f64,
}

#[derive(Clone)]
enum RoundingMethod {
    Double(Double),
    Fixed(Fixed),
}

impl RoundedSum {
    /// Makes the rounded sum in doubles, with 52 bits of every x_i.
    ///
    /// # Errors
    /// [`KernelError::UnavailableIsa`]; [`KernelError::TooManyTerms`]; [`KernelError::ModulusOutOfRange`] for a
    /// t outside `2 ≤ t < 2^62`.
    pub fn double(isa: Isa, from: &[Modulus], t: u64) -> Result<Self, KernelError> {
        Modulus::with_isa(t, isa)?;
        let (terms, error) = terms_of(from, t);
        Ok(Self {
            table: table_of(isa, from.len())?,
            method: RoundingMethod::Double(Double { terms, t }),
            error,
        })
    }

    /// Makes the rounded sum in 128-bit fixed point.
    ///
    /// # Errors
    /// Every error of [`double`](Self::double).
    pub fn fixed(isa: Isa, from: &[Modulus], t: u64) -> Result<Self, KernelError> {
        Modulus::with_isa(t, isa)?;
        // 2^128 = quotient·q + remainder, rounded to the nearest.
        let nearest = |q: &Modulus| {
            let q = u128::from(q.value());
            let remainder = (u128::MAX % q + 1) % q;
            let floor = u128::MAX / q + u128::from(remainder == 0);
            if 2 * remainder > q { (floor + 1, q - remainder) } else { (floor, remainder) }
        };
        let (reciprocals, errors): (Vec<u128>, Vec<u128>) = from.iter().map(nearest).unzip();
        // x_i < q_i times a reciprocal that is off by error_i/q_i.
        let error = errors.iter().sum::<u128>() as f64 * t as f64 / 128_f64.exp2() * (1.0 + 1e-12);
        let method = RoundingMethod::Fixed(Fixed { reciprocals, t });
        Ok(Self { table: table_of(isa, from.len())?, method, error })
    }

    /// Bound of the distance between the sum before rounding and Σ x_i·t/q_i modulo t.
    #[must_use]
    pub fn error(&self) -> f64 {
        self.error
    }

    /// Computes the rounded sum from one vector for every modulus, all as long as `out`.
    ///
    /// # Errors
    /// [`KernelError::CountMismatch`], [`KernelError::LengthMismatch`] for another number or length of
    /// vectors.
    pub fn apply(&self, input: &[&[u64]], out: &mut [u64]) -> Result<(), KernelError> {
        match &self.method {
            RoundingMethod::Double(sum) => {
                check(sum.terms.len(), input, out)?;
                // SAFETY: the table was chosen for an available instruction set, here and below.
                unsafe { (self.table.rounding.double)(sum, out, input) };
            }
            RoundingMethod::Fixed(sum) => {
                check(sum.reciprocals.len(), input, out)?;
                // SAFETY: as above.
                unsafe { (self.table.rounding.fixed)(sum, out, input) };
            }
        }
        Ok(())
    }
}

/// The quotient v = ⌊Σ_i x_i/q_i⌉, word by word, for x_i in [0, q_i): the multiple of q_1⋯q_k in Σ x_i·q/q_i that leaves a centred
/// remainder [HPS19, 2.2].
///
/// With one modulus v is exact. With several it is computed in doubles, and may be off by one where the sum is within
/// [`error`](Self::error) of a half.
///
/// ```
/// use sunzi_kernels::{Modulus, RoundedQuotient, active_isa};
/// let from = [Modulus::new(97)?, Modulus::new(193)?];
/// let mut out = [0; 3];
/// RoundedQuotient::new(active_isa()?, &from)?.apply(&[&[96, 10, 50], &[192, 0, 10]], &mut out)?;
/// assert_eq!(out, [2, 0, 1]);
/// # Ok::<(), sunzi_kernels::KernelError>(())
/// ```
#[derive(Clone)]
pub struct RoundedQuotient {
    table: &'static Table,
    sum: Nearest,
    range: Modulus,
    error: f64,
}

impl RoundedQuotient {
    /// Makes the rounded quotient for a list of moduli.
    ///
    /// # Errors
    /// [`KernelError::UnavailableIsa`]; [`KernelError::TooManyTerms`].
    pub fn new(isa: Isa, from: &[Modulus]) -> Result<Self, KernelError> {
        let range = Modulus::with_isa(from.len() as u64 + 1, isa)?;
        let table = table_of(isa, from.len())?;
        if let [q] = from {
            return Ok(Self { table, sum: Nearest::One { half: q.value() / 2 }, range, error: 0.0 });
        }
        let (terms, error) = terms_of(from, 1);
        Ok(Self { table, sum: Nearest::Many { start: 0.0, terms }, range, error })
    }

    /// Number k + 1, which v is below, as a modulus: that of v as a row of a [`Conversion`](crate::Conversion).
    #[must_use]
    pub fn range(&self) -> Modulus {
        self.range
    }

    /// Distance of a sum from a half within which the quotient v may be off by one.
    #[must_use]
    pub fn error(&self) -> f64 {
        self.error
    }

    /// Computes the rounded quotient v from one vector for every modulus, all as long as `out`.
    ///
    /// # Errors
    /// [`KernelError::CountMismatch`], [`KernelError::LengthMismatch`] for another number or length of
    /// vectors.
    pub fn apply(&self, input: &[&[u64]], out: &mut [u64]) -> Result<(), KernelError> {
        check(self.range.value() as usize - 1, input, out)?;
        // SAFETY: the table was chosen for an available instruction set.
        unsafe { (self.table.rounding.nearest)(&self.sum, out, input) };
        Ok(())
    }
}

/// Returns the shifts and the factors t·2^shift/q_i of a sum in doubles, and its error.
fn terms_of(from: &[Modulus], t: u64) -> (Vec<(u32, f64)>, f64) {
    let term = |q: &Modulus| {
        let shift = q.bits().saturating_sub(52);
        (shift, t as f64 * f64::from(shift).exp2() / q.value() as f64)
    };
    let terms: Vec<_> = from.iter().map(term).collect();
    // In units of t·2^-53. A product is below t with three roundings: of its factor (of q_i and of the quotient
    // where q_i is that long), of itself. Bits dropped are worth 2^shift/q_i ≤ 2^-51. Partial sum j is below j·t.
    let products: f64 = terms.iter().map(|(shift, _)| if *shift == 0 { 3.0 } else { 7.0 }).sum();
    let k = from.len() as f64;
    (terms, t as f64 * (products + k * (k + 1.0) / 2.0) / 53_f64.exp2())
}

/// The sum ⌊start + Σ_i x_i·c_i⌉ as a word, word by word, in doubles, for x_i in [0, q_i] and constants for which the sum stays in
/// [0, 2^51): off by at most one, and right wherever the sum is nearer to an integer than 1/2 − [`error`](Self::error).
///
/// ```
/// use sunzi_kernels::{NearestSum, active_isa};
/// let sum = NearestSum::new(active_isa()?, 0.0, &[(96, 1.0 / 97.0), (192, 1.0 / 193.0)])?;
/// let mut out = [0; 2];
/// sum.apply(&[&[96, 10], &[192, 0]], &mut out)?;
/// assert_eq!(out, [2, 0]); // 1.98…, 0.10…
/// # Ok::<(), sunzi_kernels::KernelError>(())
/// ```
#[derive(Clone)]
pub struct NearestSum {
    table: &'static Table,
    terms: usize,
    sum: Nearest,
    error: f64,
}

impl NearestSum {
    /// Makes the nearest sum that starts from `start`, for terms (q_i, c_i): the largest x_i, below 2^62, and
    /// its constant, rounded up to three times.
    ///
    /// # Errors
    /// [`KernelError::UnavailableIsa`]; [`KernelError::TooManyTerms`].
    pub fn new(isa: Isa, start: f64, terms: &[(u64, f64)]) -> Result<Self, KernelError> {
        const UNIT: f64 = 1.0 / (1_u64 << 53) as f64;
        // Bound of a partial sum, and the error so far.
        let (mut sum, mut error) = (start.abs(), start.abs() * UNIT);
        let mut doubles = Vec::with_capacity(terms.len());
        for &(largest, c) in terms {
            let shift = (u64::BITS - largest.leading_zeros()).saturating_sub(52);
            let dropped = f64::from(shift).exp2();
            doubles.push((shift, c * dropped));
            // The constant is within three units, its product and the sum are rounded once each; bits dropped of x_i are
            // worth less than 2^shift·c_i.
            let product = largest as f64 * c.abs() * (1.0 + 4.0 * UNIT);
            sum += product;
            error += (4.0 * product + sum) * UNIT + if shift > 0 { dropped * c.abs() } else { 0.0 };
        }
        let (table, count) = (table_of(isa, terms.len())?, terms.len());
        let sum = Nearest::Many { start, terms: doubles };
        Ok(Self { table, terms: count, sum, error: error * (1.0 + 1e-9) })
    }

    /// Bound of the distance between the sum before rounding and start + Σ x_i·c_i.
    #[must_use]
    pub fn error(&self) -> f64 {
        self.error
    }

    /// Computes the nearest sum from one vector for every term, all as long as `out`.
    ///
    /// # Errors
    /// [`KernelError::CountMismatch`], [`KernelError::LengthMismatch`] for another number or length of
    /// vectors.
    pub fn apply(&self, input: &[&[u64]], out: &mut [u64]) -> Result<(), KernelError> {
        check(self.terms, input, out)?;
        // SAFETY: the table was chosen for an available instruction set.
        unsafe { (self.table.rounding.nearest)(&self.sum, out, input) };
        Ok(())
    }
}

/// Returns the kernel table of an instruction set, for loops without a modulus.
fn table_of(isa: Isa, terms: usize) -> Result<&'static Table, KernelError> {
    check_terms(terms)?;
    // The modulus 3, which every instruction set takes.
    Ok(Modulus::with_isa(3, isa)?.table)
}

fn check(expected: usize, input: &[&[u64]], out: &[u64]) -> Result<(), KernelError> {
    check_count(expected, input.len())?;
    input.iter().try_for_each(|row| check_length(out.len(), row.len()))
}
