//! Nearest vectors of integers, on BFV: exact scores.
//!
//! The query is one ciphertext, a coordinate a coefficient, which the server expands into a ciphertext for each coordinate. The database is a matrix of
//! plaintexts: a row for every coordinate, and in the coefficients of a column those of as many vectors as the degree. So a product of the coordinates with the matrix has
//! the inner products with all vectors, without a rotation.
//!
//! ```
//! use sunzi_bfv::{Context, Evaluator};
//! use sunzi_circuits::EvaluationKeys;
//! use sunzi_circuits::nearest::integers::{Layout, Vectors, parameters};
//! use sunzi_circuits::nearest::{Measure, nearest};
//! use sunzi_rlwe::{SecretKey, randomness};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Three coordinates of at most 100.
//! let (context, mut rng) = (Context::new(&parameters(3, 100)?)?, randomness::from_os()?);
//! let layout = Layout::new(&context, 3, 100, Measure::Distance)?;
//! let evaluator = Evaluator::new(&context);
//! let database = Vectors::new(&evaluator, &layout, &[[0, 0, 0], [10, -20, 30], [100, 100, 100]])?;
//!
//! let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
//! let keys = EvaluationKeys::for_exponents(context.rlwe(), &secret, layout.exponents(), &mut rng)?;
//! let query = layout.query(&context, &[11, -20, 29], &secret, &mut rng)?;
//! let answer = database.answer(&evaluator, &query, &keys)?;
//! let scores = layout.read(&context, &[11, -20, 29], &answer, 3, &secret)?;
//! assert_eq!(nearest(&scores, Measure::Distance, 1), [(1, 2)]);
//! # Ok(())
//! # }
//! ```

use rand_core::CryptoRng;
use sunzi_bfv::{Algorithms, BfvError, Ciphertext, Context, Evaluator, Parameters, PlainMatrix, Plaintext};
use sunzi_math::primes_below;
use sunzi_ring::GadgetOptions;
use sunzi_rlwe::{EvaluationKeys, SecretKey, Security};
use zeroize::Zeroizing;

use super::{MOST_DIMENSIONS, Measure, VectorError};
use crate::CircuitError;
use crate::expansion::{expand, exponents, inverse_of_growth};

/// Largest absolute value of a coordinate.
pub const MOST_BOUND: u64 = 1 << 20;
/// Degrees and moduli of the parameters: log2 n, number and bits of the moduli, all of 128 bits of security with one special modulus more.
const SETS: [(u32, usize, u32); 3] = [(12, 2, 35), (13, 2, 48), (13, 3, 48)];

/// An error of nearest vectors of integers.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NearestError {
    /// Vectors or a query that cannot be.
    #[error(transparent)]
    Vector(#[from] VectorError),
    /// An error of BFV.
    #[error(transparent)]
    Bfv(#[from] BfvError),
    /// An error of a circuit, a missing key among them.
    #[error(transparent)]
    Circuit(#[from] CircuitError<BfvError>),
}

/// Returns the parameters of vectors of so many coordinates of at most this absolute value, of 128 bits of security.
///
/// # Errors
/// [`NearestError::Vector`] for no coordinates, too many or too large ones.
pub fn parameters(dimensions: usize, bound: u64) -> Result<Parameters, NearestError> {
    check(dimensions, bound)?;
    // Even moduli have no half, by which an expansion is made up for.
    let plain_modulus = (2 * largest(dimensions, bound, Measure::Distance) + 1).max(257);
    // Noise of an expansion of up to 2^12 parts, and its growth by products with plaintexts whose coefficients are as large as can be, in the worst case.
    let log2 = |x: f64| x.log2().ceil() as u32;
    let noise = |log_n: u32| 28 + log_n + log2(2.0 * bound as f64) + log2(dimensions as f64);
    let needed = |log_n: u32| log2(plain_modulus as f64) + noise(log_n) + 1;
    let fits = |&&(log_n, count, bits): &&(u32, usize, u32)| needed(log_n) <= (bits - 1) * count as u32;
    let &(log_n, count, bits) = SETS.iter().find(fits).ok_or_else(|| {
        VectorError::new(
            "the coordinates",
            "fewer or smaller ones",
            format!("{dimensions} of at most {bound}"),
        )
    })?;
    let mut moduli = primes_below(1 << bits, 2 << log_n, count + 1)
        .map_err(|error| VectorError::new("the moduli", format!("{} primes", count + 1), error))?;
    let special_moduli = moduli.drain(..1).collect();
    let key_switching = GadgetOptions { digits: Some(count), special_moduli, ..GadgetOptions::default() };
    let algorithms = Algorithms { key_switching, ..Algorithms::default() };
    Ok(Parameters::new(log_n, moduli, plain_modulus, Security::Bits128).with_algorithms(algorithms))
}

/// The largest absolute value of a score of coordinates of at most this one, as the server computes it.
fn largest(dimensions: usize, bound: u64, measure: Measure) -> u64 {
    let square = dimensions as u64 * bound * bound;
    match measure {
        // |x|² − 2·x·q: the client adds |q|².
        Measure::Distance => 3 * square,
        Measure::Product => square,
    }
}

fn check(dimensions: usize, bound: u64) -> Result<(), VectorError> {
    VectorError::check("the coordinates of a vector", dimensions, (1, MOST_DIMENSIONS))?;
    VectorError::check("the bound of coordinates", bound as usize, (1, MOST_BOUND as usize))
}

/// Layout of vectors: how many coordinates they have, and how large these are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    degree: usize,
    plain_modulus: u64,
    dimensions: usize,
    bound: u64,
    measure: Measure,
}

impl Layout {
    /// Makes the layout of vectors of so many coordinates of at most this absolute value.
    ///
    /// # Errors
    /// [`NearestError::Vector`] for numbers that no vectors have, for a ring whose index is no power of two or has fewer coefficients than there are coordinates, and for a plaintext modulus that is even or has no room for scores.
    pub fn new(
        context: &Context,
        dimensions: usize,
        bound: u64,
        measure: Measure,
    ) -> Result<Self, NearestError> {
        check(dimensions, bound)?;
        let (degree, plain_modulus) = (context.degree(), context.plain_modulus());
        let index = context.ring().index();
        if !index.is_power_of_two() || degree < dimensions {
            let expected = format!("a power of two, from {} on", 2 * dimensions);
            return Err(VectorError::new("the index of the ring", expected, index).into());
        }
        let least = 2 * largest(dimensions, bound, measure) + 1;
        if plain_modulus < least || plain_modulus.is_multiple_of(2) {
            let expected = format!("an odd number from {least} on");
            return Err(VectorError::new("the plaintext modulus", expected, plain_modulus).into());
        }
        Ok(Self { degree, plain_modulus, dimensions, bound, measure })
    }

    /// The number of coordinates of a vector.
    #[must_use]
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// The largest absolute value of a coordinate.
    #[must_use]
    pub fn bound(&self) -> u64 {
        self.bound
    }

    /// The measure of nearness.
    #[must_use]
    pub fn measure(&self) -> Measure {
        self.measure
    }

    /// Exponents k of the automorphisms X → X^k that the server needs keys for.
    pub fn exponents(&self) -> impl Iterator<Item = u64> + use<> {
        exponents(self.degree, self.dimensions)
    }

    /// The number of ciphertexts of an answer of so many vectors.
    #[must_use]
    pub fn answers(&self, vectors: usize) -> usize {
        vectors.div_ceil(self.degree)
    }

    /// Encrypts the query of a vector.
    ///
    /// # Errors
    /// [`NearestError::Vector`] for a vector of other coordinates, and for a context of another layout; [`NearestError::Bfv`].
    pub fn query(
        &self,
        context: &Context,
        vector: &[i64],
        secret: &SecretKey,
        rng: &mut dyn CryptoRng,
    ) -> Result<Ciphertext, NearestError> {
        self.check(context)?;
        self.check_vector(vector)?;
        let (t, growth) = (self.plain_modulus, inverse_of_growth(self.dimensions, self.plain_modulus));
        let mut coefficients = Zeroizing::new(vec![0; self.degree]);
        for (to, coordinate) in coefficients.iter_mut().zip(vector) {
            *to = (u128::from(coordinate.rem_euclid(t as i64) as u64) * u128::from(growth) % u128::from(t))
                as u64;
        }
        let plaintext = Plaintext::new(coefficients.to_vec(), t).map_err(BfvError::from)?;
        Ok(context.encrypt_secret(&plaintext, secret, rng)?)
    }

    /// Decrypts an answer: returns the scores of all vectors of the database in their order, squares of distances or inner products.
    ///
    /// # Errors
    /// [`NearestError::Vector`] for an answer of another number of ciphertexts; [`NearestError::Bfv`] for one that does not decrypt.
    pub fn read(
        &self,
        context: &Context,
        vector: &[i64],
        answer: &[Ciphertext],
        vectors: usize,
        secret: &SecretKey,
    ) -> Result<Vec<i64>, NearestError> {
        self.check(context)?;
        self.check_vector(vector)?;
        if answer.len() != self.answers(vectors) {
            return Err(VectorError::new(
                "the ciphertexts of an answer",
                self.answers(vectors),
                answer.len(),
            )
            .into());
        }
        let own = match self.measure {
            Measure::Distance => vector.iter().map(|x| x * x).sum(),
            Measure::Product => 0,
        };
        let mut scores = Vec::with_capacity(vectors);
        for one in answer {
            let plaintext = context.decrypt(one, secret)?;
            scores.extend(plaintext.centred().iter().map(|score| score + own));
        }
        scores.truncate(vectors);
        Ok(scores)
    }

    fn check_vector(&self, vector: &[i64]) -> Result<(), VectorError> {
        if vector.len() != self.dimensions {
            return Err(VectorError::new("the coordinates of a vector", self.dimensions, vector.len()));
        }
        match vector.iter().find(|coordinate| coordinate.unsigned_abs() > self.bound) {
            Some(large) => Err(VectorError::new("a coordinate", format!("-{0} to {0}", self.bound), large)),
            None => Ok(()),
        }
    }

    fn check(&self, context: &Context) -> Result<(), VectorError> {
        let (own, got) = ((self.degree, self.plain_modulus), (context.degree(), context.plain_modulus()));
        if own == got {
            return Ok(());
        }
        let said = |(degree, modulus)| format!("degree {degree}, plaintext modulus {modulus}");
        Err(VectorError::new("the parameters of a layout", said(own), said(got)))
    }
}

/// A database of vectors, ready to answer any number of queries.
pub struct Vectors {
    layout: Layout,
    /// Coordinates, times −2 for distances: a row for each, a column for as many vectors as the degree.
    matrix: PlainMatrix,
    /// Squares of lengths, for distances.
    squares: Vec<Plaintext>,
}

impl Vectors {
    /// Prepares the vectors of a database in their order.
    ///
    /// # Errors
    /// [`NearestError::Vector`] for no vectors, for one of other coordinates than the layout's, and for an evaluator of other parameters; [`NearestError::Bfv`] for more than the memory takes.
    pub fn new(
        evaluator: &Evaluator,
        layout: &Layout,
        vectors: &[impl AsRef<[i64]>],
    ) -> Result<Self, NearestError> {
        layout.check(evaluator.context())?;
        VectorError::check("the number of vectors", vectors.len(), (1, 1 << 30))?;
        let (degree, t) = (layout.degree, layout.plain_modulus);
        let mut matrix = evaluator.plain_matrix(layout.dimensions, layout.answers(vectors.len()))?;
        let mut squares = Vec::new();
        let plaintext = |numbers: &mut dyn Iterator<Item = i64>| {
            let mut coefficients: Vec<u64> =
                numbers.map(|number| number.rem_euclid(t as i64) as u64).collect();
            coefficients.resize(degree, 0);
            Plaintext::new(coefficients, t).map_err(BfvError::from)
        };
        for (column, block) in vectors.chunks(degree).enumerate() {
            for vector in block {
                layout.check_vector(vector.as_ref())?;
            }
            let factor = match layout.measure {
                Measure::Distance => -2,
                Measure::Product => 1,
            };
            for row in 0..layout.dimensions {
                let coordinate = |vector: &_| AsRef::<[i64]>::as_ref(vector).get(row).copied().unwrap_or(0);
                let row_of = plaintext(&mut block.iter().map(|vector| factor * coordinate(vector)))?;
                evaluator.set_plain(&mut matrix, [row, column], &row_of)?;
            }
            if layout.measure == Measure::Distance {
                let square = |vector: &_| AsRef::<[i64]>::as_ref(vector).iter().map(|x| x * x).sum();
                squares.push(plaintext(&mut block.iter().map(square))?);
            }
        }
        Ok(Self { layout: layout.clone(), matrix, squares })
    }

    /// The layout of the vectors.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Length of the prepared vectors in memory, in bytes, without that of squares.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.matrix.byte_len()
    }

    /// Answers a query: a ciphertext for as many vectors as the degree.
    ///
    /// # Errors
    /// [`CircuitError::MissingAutomorphism`] in a [`NearestError::Circuit`] for keys that lack something; [`NearestError::Bfv`] for a query of other parameters.
    pub fn answer(
        &self,
        evaluator: &Evaluator,
        query: &Ciphertext,
        keys: &EvaluationKeys,
    ) -> Result<Vec<Ciphertext>, NearestError> {
        self.layout.check(evaluator.context())?;
        let coordinates = expand(evaluator, query, self.layout.dimensions, keys)?;
        let mut scores =
            evaluator.plain_matrix_products(&[&coordinates], &self.matrix)?.pop().unwrap_or_default();
        for (score, squares) in scores.iter_mut().zip(&self.squares) {
            *score = evaluator.add_plain(score, squares)?;
        }
        Ok(scores)
    }
}
