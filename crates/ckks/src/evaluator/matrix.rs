//! Products of a plain matrix of real numbers with the rows of an encrypted matrix.

use sunzi_rlwe::evaluator::PreparedMatrix;

use super::Evaluator;
use super::level::bounded_error;
use crate::plaintext::check_scale;
use crate::{Ciphertext, CkksError, Metadata};

/// Largest number of bits of the entries of a plain matrix.
const MOST_BITS: u32 = 52;

/// A plain matrix of real numbers, times a scale and rounded to integers of a number of bits, prepared to multiply
/// encrypted rows.
///
/// ```
/// use sunzi_ckks::PlainMatrix;
///
/// let matrix = PlainMatrix::new(2, 2, &[0.5, -1.0, 0.25, 0.0], 16)?;
/// // The largest entry becomes 2^15 − 1.
/// assert_eq!((matrix.rows(), matrix.scale()), (2, 32767.0));
/// # Ok::<(), sunzi_ckks::CkksError>(())
/// ```
#[derive(Clone, Debug)]
pub struct PlainMatrix {
    matrix: PreparedMatrix,
    scale: f64,
    /// Whether the entries times the scale were integers.
    exact: bool,
}

impl PlainMatrix {
    /// Prepares a matrix of `rows` times `columns` entries, row after row. Entries are rounded to signed integers of
    /// `bits` bits, so that the largest of them is off by at most 2^−bits of itself. Products take longer with more than
    /// 16, 24, 32, … bits.
    ///
    /// # Errors
    /// [`CkksError::Value`] for entries that are not finite; [`CkksError::Request`] for fewer than 2 or more than 52 bits;
    /// [`CkksError::Rlwe`] for a matrix without entries, with more than 2^19 columns or another number of entries.
    pub fn new(rows: usize, columns: usize, entries: &[f64], bits: u32) -> Result<Self, CkksError> {
        if !(2..=MOST_BITS).contains(&bits) {
            let expected = "entries of a matrix are rounded to 2 to 52 bits";
            return Err(CkksError::Request { what: "bits", got: bits.to_string(), expected });
        }
        let largest = entries.iter().fold(0.0, |most: f64, entry| most.max(entry.abs()));
        let top = ((1_u64 << (bits - 1)) - 1) as f64;
        // Scales below 1 are none: larger entries take more bits.
        let scale = if largest > 0.0 && (top / largest).is_finite() { (top / largest).max(1.0) } else { 1.0 };
        Self::with_scale(rows, columns, entries, scale)
    }

    /// Prepares a matrix of `rows` times `columns` entries, row after row, times a scale: entries are rounded to the nearest
    /// multiples of 1/scale.
    ///
    /// # Errors
    /// [`CkksError::Value`] for a scale below 1, for entries that are not finite or that come to more than 2^52;
    /// [`CkksError::Rlwe`] for a matrix without entries, with more than 2^19 columns or another number of entries.
    pub fn with_scale(rows: usize, columns: usize, entries: &[f64], scale: f64) -> Result<Self, CkksError> {
        const WHAT: &str = "a matrix with an entry of";
        check_scale(scale)?;
        if let Some(&got) = entries.iter().find(|entry| !entry.is_finite()) {
            return Err(CkksError::Value { what: WHAT, got, expected: "give finite entries" });
        }
        let most = (1_u64 << MOST_BITS) as f64;
        if let Some(&got) = entries.iter().find(|&&entry| (entry * scale).abs() > most) {
            let expected =
                "divide the matrix by a power of two, and multiply the numbers by it after decryption";
            return Err(CkksError::Value { what: WHAT, got, expected });
        }
        let scaled = entries.iter().map(|entry| entry * scale);
        let exact = scaled.clone().all(|entry| entry.fract() == 0.0);
        let integers: Vec<i64> = scaled.map(|entry| entry.round() as i64).collect();
        Ok(Self { matrix: PreparedMatrix::new(rows, columns, &integers)?, scale, exact })
    }

    /// Number of rows of the matrix, which the product has.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.matrix.rows()
    }

    /// Number of columns of the matrix, as many as the encrypted matrix has rows.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.matrix.columns()
    }

    /// Scale of the matrix, by which its entries are multiplied before they are rounded: a product has it times that of its rows.
    #[must_use]
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// Largest sum of absolute values in a row of the matrix: numbers grow by no more.
    #[must_use]
    pub fn norm(&self) -> f64 {
        self.matrix.norms().iter().map(|norms| norms.sum).fold(0.0, f64::max) / self.scale
    }

    /// Estimated deviation of the errors that rounded entries make in a product with numbers of a magnitude: every entry is
    /// off by up to 1/2, with a variance of 1/12. None where no entry was rounded.
    #[must_use]
    pub fn rounding_error(&self, magnitude: f64) -> f64 {
        let error = (self.columns() as f64 / 12.0).sqrt() * magnitude / self.scale;
        if self.exact { 0.0 } else { error }
    }

    /// Length of the prepared matrix in memory, in bytes.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.matrix.byte_len()
    }
}

impl Evaluator {
    /// Prepares a matrix for rows at a level and its canonical scale, at the scale that a [`rescale`](Self::rescale) of each row
    /// of the product takes away: so they have the canonical scale of the level below.
    ///
    /// # Errors
    /// [`CkksError::LevelExhausted`] at level 0; [`CkksError::NoSuchLevel`]; every error of [`PlainMatrix::with_scale`].
    pub fn prepare_matrix(
        &self,
        rows: usize,
        columns: usize,
        entries: &[f64],
        level: usize,
    ) -> Result<PlainMatrix, CkksError> {
        let divisor = self.divisor(level, "multiply by a matrix")?;
        let context = self.context();
        let scale = context.scale(level - 1)? * divisor / context.scale(level)?;
        PlainMatrix::with_scale(rows, columns, entries, scale)
    }

    /// Explicit mode: multiplies a plain matrix by encrypted rows, at the level of the lowest row and the product of both
    /// scales: row i of the result is Σ_k m_ik·row_k, slot by slot. It needs no key and takes no level; one
    /// [`rescale`](Self::rescale) brings the scale back.
    ///
    /// The bound on slots grows by the sum of absolute values in a row of the matrix; errors grow by the length of the row
    /// where all rows are fresh encryptions, by that sum where they may depend on each other.
    ///
    /// ```
    /// use sunzi_ckks::{Context, Encoder, Evaluator, Parameters, PlainMatrix};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let security = sunzi_rlwe::Security::InsecureForResearchOnly;
    /// # let moduli = sunzi_math::primes_below(1 << 55, 256, 1)?;
    /// # let context = Context::new(&Parameters::new(7, moduli, vec![1], 28, security))?;
    /// # let mut rng = sunzi_rlwe::randomness::from_os()?;
    /// # let secret = sunzi_rlwe::SecretKey::generate(context.rlwe(), &mut rng)?;
    /// # let encoder = Encoder::new(&context, 64)?;
    /// let a = context.encrypt_secret(&encoder.encode_real(&[0.5, -1.0])?, &secret, &mut rng)?;
    /// let b = context.encrypt_secret(&encoder.encode_real(&[0.25, 0.5])?, &secret, &mut rng)?;
    /// let matrix = PlainMatrix::new(1, 2, &[0.5, -1.0], 16)?;
    /// let product = Evaluator::new(&context).multiply_matrix(&matrix, &[&a, &b])?;
    /// let opened = encoder.decode_real(&context.decrypt(&product[0], &secret)?)?;
    /// assert!((opened[0] - 0.0).abs() < 1e-4 && (opened[1] + 1.0).abs() < 1e-4);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`CkksError::Empty`] without rows; [`CkksError::Rlwe`] unless there is a row for each column of the matrix, for rows of
    /// different part counts, other keys, and without the memory for the product; [`CkksError::ScaleMismatch`] for rows of different
    /// scales; [`CkksError::MessageTooLarge`]; [`CkksError::LevelMismatch`] or [`CkksError::Ring`] for rows of another context.
    pub fn multiply_matrix(
        &self,
        matrix: &PlainMatrix,
        rows: &[&Ciphertext],
    ) -> Result<Vec<Ciphertext>, CkksError> {
        let most = |size: fn(&Ciphertext) -> f64| rows.iter().map(|row| size(row)).fold(0.0, f64::max);
        let magnitude = most(|row| row.metadata().precision.magnitude());
        let deviation = most(|row| row.metadata().precision.deviation());
        let terms = rows.len() as f64;
        self.combine_rows(&matrix.matrix, rows, |common, norms| {
            let Metadata { level, scale, slots, precision } = common.metadata;
            // Every entry is rounded by up to 1/2.
            let rounded = if matrix.exact { 0.0 } else { terms / 2.0 };
            let noise = common.noise.combination(norms).plus(bounded_error(rounded * magnitude * scale));
            let deviation = common.noise.growth(norms) / matrix.scale * deviation;
            let precision = precision
                .with_magnitude((norms.sum + rounded) / matrix.scale * magnitude)
                .with_deviation(deviation.hypot(matrix.rounding_error(magnitude)));
            let scale = scale * matrix.scale;
            check_scale(scale)?;
            self.context().check_magnitude("multiply by a matrix", precision.magnitude(), level, scale)?;
            Ok((Metadata { level, scale, slots, precision }, noise))
        })
    }
}
