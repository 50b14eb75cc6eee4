//! Products of encrypted matrices with encrypted matrices, on CKKS, many of them at once.
//!
//! A line of d entries, a row or a column of a matrix, is the polynomial Σ_j X^j·m_j with entries m_j in the subring of
//! X^d, which has n/2d slots: one for each matrix of a batch, n/2d of them (one for d = n). A matrix of r rows by rows is
//! r ciphertexts. The product of a matrix by columns with one by rows is four products of matrices of integers
//! for each modulus and slot, 2·d key switches and d relinearisations `[Park25]` `[CKL25]`; turning rows to columns takes d more
//! key switches. So nothing is rotated, and all matrices of a batch cost as much as one.
//!
//! ```
//! use sunzi_circuits::matrix_batch::{Lines, MatrixBatch, MatrixKeys};
//! use sunzi_ckks::{Context, Evaluator, LevelRange, Parameters};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let security = sunzi_rlwe::Security::InsecureForResearchOnly;
//! let ranges = [LevelRange { levels: 1, scale_bits: 40 }];
//! // Numbers of at most 2^3.
//! let parameters = Parameters::from_ranges(8, 50, &ranges, security)?.with_digits(2)?.with_message_bits(3);
//! let context = Context::new(&parameters)?;
//! # let mut rng = sunzi_rlwe::randomness::from_os()?;
//! # let secret = sunzi_rlwe::SecretKey::generate(context.rlwe(), &mut rng)?;
//! // Sides of up to 64; n = 256 has room for two matrices at once.
//! let keys = MatrixKeys::generate(&context, &secret, 64, &mut rng)?;
//! // Two matrices of two rows and three columns, and two of three rows and one column.
//! let (a, b) = ([1., 2., 3., 4., 5., 6., 0., 0., 1., 0., 1., 0.], [1., 2., 3., 4., 5., 6.]);
//! let a = MatrixBatch::encrypt(&context, 64, [2, 3], &a, Lines::Columns, (&secret).into(), &mut rng)?;
//! let b = MatrixBatch::encrypt(&context, 64, [3, 1], &b, Lines::Rows, (&secret).into(), &mut rng)?;
//! let product = a.multiplied(&Evaluator::new(&context), &b, &keys)?;
//! let opened = product.decrypt(&context, &secret)?;
//! assert!(opened.iter().zip([14., 32., 6., 5.]).all(|(got, expected)| (got - expected).abs() < 1e-4));
//! # Ok(())
//! # }
//! ```

use num_complex::Complex64;
use rand_core::CryptoRng;
use rayon::prelude::*;
use sunzi_ckks::encoder::{Embedding, EncoderError};
use sunzi_ckks::{Ciphertext, CkksError, Context, Evaluator, Plaintext};
use sunzi_rlwe::evaluator::Transposition;
use sunzi_rlwe::{EncryptionKey, GaloisKeys, RelinearizationKey, SecretKey, memory};
use zeroize::Zeroizing;

use crate::CircuitError;

/// An error of products of matrices on CKKS.
type Error = CircuitError<CkksError>;

/// Lines of a matrix that have ciphertexts of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lines {
    /// A ciphertext for each row, as the right factor of a product needs it and a product has it.
    Rows,
    /// A ciphertext for each column, as the left factor of a product needs it.
    Columns,
}

/// Keys of products of encrypted matrices: Galois keys of the automorphisms that transpose, and a relinearisation key.
#[derive(Clone)]
pub struct MatrixKeys {
    size: usize,
    galois: GaloisKeys,
    relinearization: RelinearizationKey,
}

impl MatrixKeys {
    /// Makes the keys for matrices of sides up to `size`: size − 1 Galois keys.
    ///
    /// # Errors
    /// [`CircuitError::Scheme`] for a size that is no power of two from 64 to n, and without memory for the keys.
    pub fn generate(
        context: &Context,
        secret: &SecretKey,
        size: usize,
        rng: &mut dyn CryptoRng,
    ) -> Result<Self, Error> {
        Self::of(context, secret, size, |transposition| transposition.exponents().collect(), rng)
    }

    /// Makes fewer keys for the same products: about 2·√size Galois keys, with twice as many key switches.
    ///
    /// # Errors
    /// Every error of [`generate`](Self::generate).
    pub fn generate_few(
        context: &Context,
        secret: &SecretKey,
        size: usize,
        rng: &mut dyn CryptoRng,
    ) -> Result<Self, Error> {
        Self::of(context, secret, size, |transposition| transposition.few_exponents().collect(), rng)
    }

    fn of(
        context: &Context,
        secret: &SecretKey,
        size: usize,
        exponents: impl Fn(Transposition) -> Vec<u64>,
        rng: &mut dyn CryptoRng,
    ) -> Result<Self, Error> {
        let rlwe = context.rlwe();
        let exponents =
            exponents(Transposition::new(rlwe.ring().ring_index(), size).map_err(CkksError::from)?);
        let galois = GaloisKeys::generate(rlwe, secret, exponents, rng).map_err(CkksError::from)?;
        let relinearization = RelinearizationKey::generate(rlwe, secret, rng).map_err(CkksError::from)?;
        Ok(Self { size, galois, relinearization })
    }

    /// Multiplies a matrix whose columns are the polynomials Σ_i X^i·m_ik, numbers m_ik in place of entries of a subring, by one
    /// whose rows are ciphertexts of any encoding: row i of the product is Σ_k m_ik·row_k in that encoding, one level
    /// lower. As many rows as the size, those beyond the rows of the left matrix zero.
    ///
    /// # Errors
    /// [`CircuitError::Scheme`]: every error of
    /// [`multiply_encrypted_matrices`](Evaluator::multiply_encrypted_matrices).
    pub fn multiply(
        &self,
        evaluator: &Evaluator,
        columns: &[&Ciphertext],
        rows: &[&Ciphertext],
    ) -> Result<Vec<Ciphertext>, Error> {
        let Self { size, galois, relinearization } = self;
        Ok(evaluator.multiply_encrypted_matrices(*size, columns, rows, galois, relinearization)?)
    }

    /// Length of all keys in memory, in bytes.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.galois.byte_len() + self.relinearization.byte_len()
    }
}

impl std::fmt::Debug for MatrixKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "MatrixKeys(size {})", self.size)
    }
}

/// Encrypted matrices of one shape, a ciphertext for each line of all of them.
#[derive(Clone)]
pub struct MatrixBatch {
    lines: Vec<Ciphertext>,
    size: usize,
    count: usize,
    shape: [usize; 2],
    by: Lines,
}

impl std::fmt::Debug for MatrixBatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [rows, columns] = self.shape;
        write!(f, "MatrixBatch({} of {rows} x {columns}, size {}, {:?})", self.count, self.size, self.by)
    }
}

impl MatrixBatch {
    /// Number of matrices that a batch has room for: n/2d for sides up to a size d, and one for d = n.
    #[must_use]
    pub fn capacity(context: &Context, size: usize) -> usize {
        (context.max_slots() / size.max(1)).max(1)
    }

    /// Encrypts matrices of [rows, columns] for products of sides up to `size`: entries are row after row, matrix after
    /// matrix. At the highest level and the canonical scale.
    ///
    /// # Errors
    /// [`CircuitError::MatrixShape`] for sides that are 0 or above the size; [`CircuitError::MatrixRows`] for entries that do not
    /// fill matrices; [`CircuitError::Scheme`] for more matrices than the [`capacity`](Self::capacity), numbers that are not
    /// finite or too large, a size that is no power of two from 64 to n, a key of another context, and without the memory.
    pub fn encrypt(
        context: &Context,
        size: usize,
        shape: [usize; 2],
        entries: &[f64],
        by: Lines,
        key: EncryptionKey<'_>,
        rng: &mut dyn CryptoRng,
    ) -> Result<Self, Error> {
        let count = check(context, size, shape, entries)?;
        let [rows, columns] = shape;
        let number = if by == Lines::Rows { rows } else { columns };
        let level = context.limbs(context.depth()).map_err(Error::Scheme)?;
        let needed = (16 * context.degree() * level * number) as u64;
        memory::require(needed).map_err(CkksError::from)?;
        let embedding = Embedding::new(Self::capacity(context, size)).map_err(CkksError::from)?;
        let entry = |matrix: usize, line: usize, j: usize| {
            let (i, j) = if by == Lines::Rows { (line, j) } else { (j, line) };
            entries.get((matrix * rows + i) * columns + j).copied().unwrap_or_default()
        };
        let length = if by == Lines::Rows { columns } else { rows };
        let encode = |line: usize| {
            let numbers = |j: usize| (0..count).map(|matrix| entry(matrix, line, j)).collect();
            encoded(context, &embedding, size, (0..length).map(numbers))
        };
        let plaintexts: Vec<Plaintext> =
            (0..number).into_par_iter().map(encode).collect::<Result<_, CkksError>>()?;
        let encrypted = plaintexts.iter().map(|plaintext| match key {
            EncryptionKey::Public(key) => context.encrypt(plaintext, key, rng),
            EncryptionKey::Secret(key) => context.encrypt_secret(plaintext, key, rng),
        });
        let lines = encrypted.collect::<Result<_, _>>()?;
        Ok(Self { lines, size, count, shape, by })
    }

    /// Number of matrices of the batch.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Rows and columns of every matrix.
    #[must_use]
    pub fn shape(&self) -> [usize; 2] {
        self.shape
    }

    /// Lines that have ciphertexts of their own.
    #[must_use]
    pub fn lines(&self) -> Lines {
        self.by
    }

    /// Ciphertexts of the lines.
    #[must_use]
    pub fn ciphertexts(&self) -> &[Ciphertext] {
        &self.lines
    }

    /// The transposed matrices, at no cost: rows are called columns, and columns rows.
    #[must_use]
    pub fn transposed(self) -> Self {
        let ([rows, columns], by) = (self.shape, self.by);
        let by = if by == Lines::Rows { Lines::Columns } else { Lines::Rows };
        Self { shape: [columns, rows], by, ..self }
    }

    /// Estimated deviation √E|e|² of the error e of an entry, the largest of all ciphertexts.
    #[must_use]
    pub fn deviation(&self) -> f64 {
        let deviation = |a: &Ciphertext| a.metadata().precision.deviation();
        // An error of a slot of the whole ring is the sum of those of d entries, times roots of unity.
        self.lines.iter().map(deviation).fold(0.0, f64::max) / (self.size as f64).sqrt()
    }

    /// Brings the matrices to ciphertexts of rows or of columns: `size` key switches, or twice as many with few keys. It
    /// takes no level; matrices that have these lines are returned as they are.
    ///
    /// # Errors
    /// [`CircuitError::PlanMismatch`] for keys of another size; [`CircuitError::Scheme`]: every error of
    /// [`transpose_encrypted_matrix`](Evaluator::transpose_encrypted_matrix).
    pub fn by(&self, evaluator: &Evaluator, lines: Lines, keys: &MatrixKeys) -> Result<Self, Error> {
        self.check_size(keys.size)?;
        if self.by == lines {
            return Ok(self.clone());
        }
        let first = self.lines.first().ok_or(CircuitError::Empty { what: "a batch of matrices" })?;
        // Lines that are missing are zero.
        let ring = evaluator.context().ring_at(first.metadata().level)?;
        let zero = first.with_parts(vec![ring.zero(), ring.zero()]).map_err(CkksError::from)?;
        let missing = std::iter::repeat_n(&zero, self.size.saturating_sub(self.lines.len()));
        let all: Vec<&Ciphertext> = self.lines.iter().chain(missing).collect();
        let mut turned = evaluator.transpose_encrypted_matrix(self.size, &all, &keys.galois)?;
        let [rows, columns] = self.shape;
        turned.truncate(if lines == Lines::Rows { rows } else { columns });
        Ok(Self { lines: turned, by: lines, ..self.clone() })
    }

    /// Multiplies every matrix by the matrix of the other batch in its place; one level below both, by rows. A left factor by
    /// rows and a right factor by columns are brought to the other lines first.
    ///
    /// # Errors
    /// [`CircuitError::LengthsDiffer`] unless the left matrices have as many columns as the right ones rows, and for batches
    /// of different numbers of matrices; [`CircuitError::PlanMismatch`] for keys or factors of another size;
    /// [`CircuitError::Scheme`]: every error of
    /// [`multiply_encrypted_matrices`](Evaluator::multiply_encrypted_matrices).
    pub fn multiplied(&self, evaluator: &Evaluator, right: &Self, keys: &MatrixKeys) -> Result<Self, Error> {
        self.check_size(keys.size)?;
        right.check_size(keys.size)?;
        let ([rows, inner], [other, columns]) = (self.shape, right.shape);
        for (left, right) in [(inner, other), (self.count, right.count)] {
            if left != right {
                return Err(CircuitError::LengthsDiffer { left, right });
            }
        }
        let left = self.by(evaluator, Lines::Columns, keys)?;
        let right = right.by(evaluator, Lines::Rows, keys)?;
        let [ours, theirs] = [&left, &right].map(|batch| batch.lines.iter().collect::<Vec<&Ciphertext>>());
        let MatrixKeys { galois, relinearization, .. } = keys;
        let mut lines =
            evaluator.multiply_encrypted_matrices(self.size, &ours, &theirs, galois, relinearization)?;
        lines.truncate(rows);
        Ok(Self { lines, shape: [rows, columns], by: Lines::Rows, ..*self })
    }

    /// Decrypts the matrices: their entries, row after row and matrix after matrix.
    ///
    /// # Errors
    /// [`CircuitError::Scheme`] for a key of another context or other ciphertexts.
    pub fn decrypt(&self, context: &Context, key: &SecretKey) -> Result<Vec<f64>, Error> {
        let [rows, columns] = self.shape;
        let embedding = Embedding::new(Self::capacity(context, self.size)).map_err(CkksError::from)?;
        let length = if self.by == Lines::Rows { columns } else { rows };
        let open =
            |line: &Ciphertext| decoded(context, &embedding, self.size, &context.decrypt(line, key)?, length);
        let lines: Vec<Vec<Vec<f64>>> = self.lines.par_iter().map(open).collect::<Result<_, CkksError>>()?;
        let entry = |matrix: usize, i: usize, j: usize| {
            let (line, at) = if self.by == Lines::Rows { (i, j) } else { (j, i) };
            let numbers = lines.get(line).and_then(|line| line.get(at));
            numbers.and_then(|numbers| numbers.get(matrix)).copied().unwrap_or_default()
        };
        let places = (0..self.count * rows * columns)
            .map(|at| (at / columns / rows, at / columns % rows, at % columns));
        Ok(places.map(|(matrix, i, j)| entry(matrix, i, j)).collect())
    }

    fn check_size(&self, got: usize) -> Result<(), Error> {
        let (what, expected, got) = ("matrices of size", self.size as u64, got as u64);
        if expected == got { Ok(()) } else { Err(CircuitError::PlanMismatch { what, expected, got }) }
    }
}

/// Checks the shape of matrices; returns how many there are.
fn check(
    context: &Context,
    size: usize,
    [rows, columns]: [usize; 2],
    entries: &[f64],
) -> Result<usize, Error> {
    Transposition::new(context.ring().ring_index(), size).map_err(CkksError::from)?;
    if rows == 0 || columns == 0 || rows > size || columns > size {
        return Err(CircuitError::MatrixShape { rows, columns, row_length: size });
    }
    if entries.is_empty() || !entries.len().is_multiple_of(rows * columns) {
        return Err(CircuitError::MatrixRows { columns, entries: entries.len() });
    }
    let (got, slots) = (entries.len() / (rows * columns), MatrixBatch::capacity(context, size));
    if got > slots {
        return Err(CkksError::from(EncoderError::TooManyValues { got, slots }).into());
    }
    Ok(got)
}

/// Encodes a line: for every entry, its number in each matrix.
fn encoded(
    context: &Context,
    embedding: &Embedding,
    size: usize,
    line: impl Iterator<Item = Vec<f64>>,
) -> Result<Plaintext, CkksError> {
    let level = context.depth();
    let (scale, n) = (context.scale(level)?, context.degree());
    let mut coefficients = Zeroizing::new(vec![0_i128; n]);
    let mut magnitude = 0.0_f64;
    for (j, numbers) in line.enumerate() {
        let numbers = Zeroizing::new(numbers);
        if let Some(&got) = numbers.iter().find(|number| !number.is_finite()) {
            let expected = "give finite numbers";
            return Err(CkksError::Value { what: "a matrix with an entry of", got, expected });
        }
        magnitude = numbers.iter().fold(magnitude, |most, number| most.max(number.abs()));
        let places = coefficients.iter_mut().skip(j).step_by(size);
        if size == n {
            places.zip(numbers.iter()).for_each(|(to, number)| *to = (number * scale).round() as i128);
        } else {
            let slots: Vec<Complex64> = numbers.iter().map(|&number| number.into()).collect();
            let entry = embedding.encode(&slots, scale)?;
            places.zip(entry.iter()).for_each(|(to, &from)| *to = from);
        }
    }
    Plaintext::from_coefficients(context, &coefficients, level, scale, context.max_slots(), magnitude)
}

/// Decodes the first entries of a line: for each, its number in every matrix.
fn decoded(
    context: &Context,
    embedding: &Embedding,
    size: usize,
    plaintext: &Plaintext,
    length: usize,
) -> Result<Vec<Vec<f64>>, CkksError> {
    let coefficients = plaintext.to_coefficients(context)?;
    let scale = plaintext.scale();
    let entry = |j: usize| {
        let own: Zeroizing<Vec<f64>> =
            Zeroizing::new(coefficients.iter().skip(j).step_by(size).copied().collect());
        if size == context.degree() {
            return Ok(own.iter().map(|number| number / scale).collect());
        }
        Ok(embedding.decode(&own, scale)?.iter().map(|slot| slot.re).collect())
    };
    (0..length).map(entry).collect()
}

#[cfg(test)]
mod tests;
