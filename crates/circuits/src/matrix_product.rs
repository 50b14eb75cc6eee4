//! Products of plain matrices with encrypted ones, on CKKS: M is encrypted row by row, U·M takes one product of integer
//! matrices for each part of a ciphertext and each modulus `[BCHPS24]`.
//!
//! No rotation, no key and no transform: U acts across ciphertexts, and transforms commute with it. So the usual form
//! of ciphertexts serves as it is, with nothing to convert before or after. [`Packing`] says where the numbers of a row
//! stand. BFV and BGV have the same product, exact modulo t, as `Evaluator::multiply_matrix`.
//!
//! A matrix of r rows takes r·⌈c/n⌉ ciphertexts for c columns, each two polynomials: 16·n bytes a modulus.

use num_complex::Complex64;
use rand_core::CryptoRng;
use rayon::prelude::*;
use sunzi_ckks::{Ciphertext, CkksError, Context, Encoder, Evaluator, PlainMatrix, Plaintext};
use sunzi_rlwe::{EncryptionKey, SecretKey, memory};

use crate::CircuitError;

/// An error of products of matrices on CKKS.
type Error = CircuitError<CkksError>;

/// Places of the numbers of a row among the numbers of a ciphertext, n for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Packing {
    /// Two numbers a slot: number j is the real part of slot j, number n/2 + j its imaginary part. Rows are usual
    /// ciphertexts, for any operation.
    #[default]
    Slots,
    /// A number a coefficient, for matrix products alone: with the errors of the slots √n times smaller, a modulus of
    /// 48 bits suffices where slots take 54.
    Coefficients,
}

/// A matrix of real numbers, encrypted row by row.
///
/// ```
/// use sunzi_ckks::{Context, Evaluator, Parameters, PlainMatrix};
/// use sunzi_circuits::matrix_product::{EncryptedMatrix, Packing};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let security = sunzi_rlwe::Security::InsecureForResearchOnly;
/// # let parameters = Parameters::new(7, sunzi_math::primes_below(1 << 55, 256, 1)?, vec![1], 28, security);
/// // Two numbers share a slot, of at most 2^3.
/// let context = Context::new(&parameters.with_message_bits(3))?;
/// # let mut rng = sunzi_rlwe::randomness::from_os()?;
/// # let secret = sunzi_rlwe::SecretKey::generate(context.rlwe(), &mut rng)?;
/// // Two rows of three numbers.
/// let rows = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
/// let encrypted = EncryptedMatrix::encrypt(&context, 3, &rows, Packing::Slots, (&secret).into(), &mut rng)?;
/// let plain = PlainMatrix::new(1, 2, &[0.5, -0.25], 16)?;
/// let product = encrypted.multiplied(&Evaluator::new(&context), &plain)?;
/// let opened = product.decrypt(&context, &secret)?;
/// assert!(opened.iter().zip([-0.5, -0.25, 0.0]).all(|(got, expected)| (got - expected).abs() < 1e-3));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct EncryptedMatrix {
    /// Ciphertexts of every row, each row as many.
    rows: Vec<Vec<Ciphertext>>,
    columns: usize,
    packing: Packing,
    /// Deviation of errors of numbers in coefficients that come from rounded entries of plain matrices.
    rounding: f64,
}

impl std::fmt::Debug for EncryptedMatrix {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "EncryptedMatrix({} x {}, {:?})", self.rows.len(), self.columns, self.packing)
    }
}

impl EncryptedMatrix {
    /// Encrypts a matrix of rows of `columns` numbers, row after row, at the highest level and the canonical scale.
    ///
    /// # Errors
    /// [`CircuitError::MatrixRows`] for a matrix without entries, or whose entries do not fill rows; [`CircuitError::Scheme`] for
    /// numbers that are not finite or too large, for a key of another context, and for more ciphertexts than the machine
    /// has memory for.
    pub fn encrypt(
        context: &Context,
        columns: usize,
        entries: &[f64],
        packing: Packing,
        key: EncryptionKey<'_>,
        rng: &mut dyn CryptoRng,
    ) -> Result<Self, Error> {
        if columns == 0 || entries.is_empty() || !entries.len().is_multiple_of(columns) {
            return Err(CircuitError::MatrixRows { columns, entries: entries.len() });
        }
        let n = context.degree();
        let level = context.limbs(context.depth())?;
        let count = entries.len() / columns * columns.div_ceil(n);
        let needed =
            16_u64.saturating_mul(n as u64).saturating_mul(level as u64).saturating_mul(count as u64);
        memory::require(needed).map_err(CkksError::from)?;
        let encoder = Encoder::new(context, context.max_slots())?;
        let encode = |numbers: &&[f64]| encoded(context, &encoder, numbers, packing);
        let mut rows = Vec::with_capacity(entries.len() / columns);
        for row in entries.chunks(columns) {
            let parts: Vec<&[f64]> = row.chunks(n).collect();
            let plaintexts: Vec<Plaintext> = parts.par_iter().map(encode).collect::<Result<_, _>>()?;
            let encrypted = plaintexts.iter().map(|plaintext| match key {
                EncryptionKey::Public(key) => context.encrypt(plaintext, key, rng),
                EncryptionKey::Secret(key) => context.encrypt_secret(plaintext, key, rng),
            });
            rows.push(encrypted.collect::<Result<_, _>>()?);
        }
        Ok(Self { rows, columns, packing, rounding: 0.0 })
    }

    /// A matrix whose rows were encrypted already, in slots: number j of a ciphertext is the real part of slot j, number
    /// n/2 + j its imaginary part.
    ///
    /// # Errors
    /// [`CircuitError::MatrixRows`] without rows or columns, and for rows of another number of ciphertexts than `columns` take.
    pub fn from_rows(context: &Context, columns: usize, rows: Vec<Vec<Ciphertext>>) -> Result<Self, Error> {
        let count = columns.div_ceil(context.degree());
        if count == 0 || rows.is_empty() || rows.iter().any(|row| row.len() != count) {
            return Err(CircuitError::MatrixRows { columns, entries: rows.iter().map(Vec::len).sum() });
        }
        Ok(Self { rows, columns, packing: Packing::Slots, rounding: 0.0 })
    }

    /// Number of rows of the matrix.
    #[must_use]
    pub fn row_count(&self) -> usize {
        self.rows.len()
    }

    /// Number of columns of the matrix.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Places of the numbers of a row.
    #[must_use]
    pub fn packing(&self) -> Packing {
        self.packing
    }

    /// Ciphertexts of every row, for other operations; `None` where numbers stand in coefficients.
    #[must_use]
    pub fn rows(&self) -> Option<&[Vec<Ciphertext>]> {
        (self.packing == Packing::Slots).then_some(self.rows.as_slice())
    }

    /// Estimated deviation √E|e|² of the error e of a number, the largest of all ciphertexts.
    #[must_use]
    pub fn deviation(&self, context: &Context) -> f64 {
        let deviation = |a: &Ciphertext| a.metadata().precision.deviation();
        let most = self.rows.iter().flatten().map(deviation).fold(0.0, f64::max);
        match self.packing {
            Packing::Slots if context.has_real_slots() => most,
            // Half of the variance of a slot is that of its real part.
            Packing::Slots => most / 2_f64.sqrt(),
            // An error of a slot is the sum of n coefficients' errors, or 2n in a real ring; roundings of a matrix are no smaller there.
            Packing::Coefficients => {
                let weight = context.ring().expansion().weight() as f64;
                (most / weight.sqrt()).hypot(self.rounding)
            }
        }
    }

    /// Multiplies a plain matrix by this one: row i of the result is Σ_k u_ik·row_k. At the level of the rows, at the
    /// product of both scales; it needs no key.
    ///
    /// # Errors
    /// [`CircuitError::Scheme`]: every error of [`multiply_matrix`](Evaluator::multiply_matrix).
    pub fn multiplied(&self, evaluator: &Evaluator, matrix: &PlainMatrix) -> Result<Self, Error> {
        let mut rows: Vec<Vec<Ciphertext>> = (0..matrix.rows()).map(|_| Vec::new()).collect();
        let count = self.rows.first().map_or(0, Vec::len);
        for part in 0..count {
            let column: Vec<&Ciphertext> = self.rows.iter().filter_map(|row| row.get(part)).collect();
            let products = evaluator.multiply_matrix(matrix, &column)?;
            rows.iter_mut().zip(products).for_each(|(row, product)| row.push(product));
        }
        let magnitude = |a: &Ciphertext| a.metadata().precision.magnitude();
        let most = self.rows.iter().flatten().map(magnitude).fold(0.0, f64::max);
        let rounding = (self.rounding * matrix.norm()).hypot(matrix.rounding_error(most));
        Ok(Self { rows, columns: self.columns, packing: self.packing, rounding })
    }

    /// Decrypts the matrix: its entries, row after row.
    ///
    /// # Errors
    /// [`CircuitError::Scheme`] for a key of another context or other ciphertexts.
    pub fn decrypt(&self, context: &Context, key: &SecretKey) -> Result<Vec<f64>, Error> {
        let encoder = Encoder::new(context, context.max_slots())?;
        let open = |row: &Vec<Ciphertext>| -> Result<Vec<f64>, CkksError> {
            let mut numbers = Vec::with_capacity(self.columns);
            for ciphertext in row {
                numbers.extend(decoded(context, &encoder, &context.decrypt(ciphertext, key)?, self.packing)?);
            }
            numbers.truncate(self.columns);
            Ok(numbers)
        };
        let rows: Vec<Vec<f64>> = self.rows.par_iter().map(open).collect::<Result<_, _>>()?;
        Ok(rows.concat())
    }
}

/// Encodes at most n numbers.
fn encoded(
    context: &Context,
    encoder: &Encoder,
    numbers: &[f64],
    packing: Packing,
) -> Result<Plaintext, CkksError> {
    let (slots, level) = (context.max_slots(), context.depth());
    if packing == Packing::Slots {
        let (real, imaginary) = numbers.split_at(numbers.len().min(slots));
        let number = |part: &[f64], j: usize| part.get(j).copied().unwrap_or_default();
        let pairs: Vec<Complex64> =
            (0..slots).map(|j| Complex64::new(number(real, j), number(imaginary, j))).collect();
        return encoder.encode(&pairs);
    }
    let scale = context.scale(level)?;
    let magnitude = numbers.iter().fold(0.0, |most: f64, number| most.max(number.abs()));
    let mut coefficients = vec![0; context.degree()];
    for (coefficient, &number) in coefficients.iter_mut().zip(numbers) {
        if !number.is_finite() {
            let expected = "give finite numbers";
            return Err(CkksError::Value { what: "a matrix with an entry of", got: number, expected });
        }
        *coefficient = (number * scale).round() as i128;
    }
    Plaintext::from_coefficients(context, &coefficients, level, scale, slots, magnitude)
}

/// Decodes the n numbers of a plaintext.
fn decoded(
    context: &Context,
    encoder: &Encoder,
    plaintext: &Plaintext,
    packing: Packing,
) -> Result<Vec<f64>, CkksError> {
    if packing == Packing::Slots {
        if context.has_real_slots() {
            return encoder.decode_real(plaintext);
        }
        let slots = encoder.decode(plaintext)?;
        return Ok(slots.iter().map(|slot| slot.re).chain(slots.iter().map(|slot| slot.im)).collect());
    }
    Ok(plaintext
        .to_coefficients(context)?
        .iter()
        .map(|coefficient| coefficient / plaintext.scale())
        .collect())
}

impl From<CkksError> for CircuitError<CkksError> {
    fn from(error: CkksError) -> Self {
        Self::Scheme(error)
    }
}

#[cfg(test)]
mod tests;
