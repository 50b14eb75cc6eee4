//! Nearest vectors of real numbers, on CKKS: scores with an error whose deviation is stated.
//!
//! The query is one ciphertext whose slots repeat the vector, padded to a power of two. Turned by k steps its slot i has coordinate i + k, and the database has
//! a plaintext with that coordinate of the vector of slot i: so sums of products are inner products with as many vectors as there are slots. The server needs one key, for
//! turns by one step.
//!
//! ```
//! use sunzi_circuits::nearest::reals::{Layout, Vectors};
//! use sunzi_circuits::nearest::{Measure, nearest};
//! use sunzi_ckks::{Context, Evaluator, Parameters};
//! use sunzi_rlwe::{GaloisKeys, SecretKey, randomness};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let context = Context::new(&Parameters::builder().depth(1).precision(20).build()?)?;
//! let mut rng = randomness::from_os()?;
//! let layout = Layout::new(&context, 2, 1.0, Measure::Product)?;
//! let evaluator = Evaluator::new(&context);
//! let database = Vectors::new(&evaluator, &layout, &[[1.0, 0.0], [0.6, 0.8], [0.0, -1.0]])?;
//!
//! let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
//! let keys = GaloisKeys::generate(context.rlwe(), &secret, [layout.exponent()], &mut rng)?;
//! let query = layout.query(&context, &[0.0, 1.0], &secret, &mut rng)?;
//! let answer = database.answer(&evaluator, &query, &keys)?;
//! let (scores, deviation) = layout.read(&context, &[0.0, 1.0], &answer, 3, &secret)?;
//! assert_eq!(nearest(&scores, Measure::Product, 1)[0].0, 1);
//! assert!((scores[1] - 0.8).abs() < 8.0 * deviation && deviation < 1e-5);
//! # Ok(())
//! # }
//! ```

use rand_core::CryptoRng;
use rayon::prelude::*;
use sunzi_ckks::rotation::rotation_exponent;
use sunzi_ckks::{Ciphertext, CkksError, Context, Encoder, Evaluator, Plaintext};
use sunzi_rlwe::{GaloisKeys, SecretKey};
use zeroize::Zeroizing;

use super::{MOST_DIMENSIONS, Measure, VectorError};

/// An error of nearest vectors of real numbers.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NearestError {
    /// Vectors or a query that cannot be.
    #[error(transparent)]
    Vector(#[from] VectorError),
    /// An error of CKKS.
    #[error(transparent)]
    Ckks(#[from] CkksError),
}

/// Layout of vectors of real numbers: how many coordinates they have, and how large these are.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    slots: usize,
    index: u64,
    dimensions: usize,
    /// Coordinates with padding: a power of two, which divides the slots.
    period: usize,
    bound: f64,
    measure: Measure,
}

impl Layout {
    /// Makes the layout of vectors of so many coordinates of at most this absolute value.
    ///
    /// # Errors
    /// [`NearestError::Vector`] for numbers that no vectors have, for more coordinates than slots, for a context of real slots, and for one without a level for a product.
    pub fn new(
        context: &Context,
        dimensions: usize,
        bound: f64,
        measure: Measure,
    ) -> Result<Self, NearestError> {
        let index = context.ring().index();
        if context.has_real_slots() {
            return Err(VectorError::new("the slots of the parameters", "complex ones", "real ones").into());
        }
        let slots = context.degree() / 2;
        VectorError::check("the coordinates of a vector", dimensions, (1, MOST_DIMENSIONS.min(slots)))?;
        VectorError::check("the levels of the parameters", context.depth(), (1, usize::MAX))?;
        if !(bound.is_finite() && bound > 0.0) {
            return Err(VectorError::new("the bound of coordinates", "a positive number", bound).into());
        }
        let period = dimensions.next_power_of_two();
        Ok(Self { slots, index, dimensions, period, bound, measure })
    }

    /// The number of coordinates of a vector.
    #[must_use]
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// The measure of nearness.
    #[must_use]
    pub fn measure(&self) -> Measure {
        self.measure
    }

    /// The exponent k of the automorphism X → X^k that the server needs a key for.
    #[must_use]
    pub fn exponent(&self) -> u64 {
        rotation_exponent(1, self.index)
    }

    /// The number of ciphertexts of an answer of so many vectors.
    #[must_use]
    pub fn answers(&self, vectors: usize) -> usize {
        vectors.div_ceil(self.slots)
    }

    /// Encrypts the query of a vector.
    ///
    /// # Errors
    /// [`NearestError::Vector`] for a vector of other coordinates; [`NearestError::Ckks`] for a key of other parameters.
    pub fn query(
        &self,
        context: &Context,
        vector: &[f64],
        secret: &SecretKey,
        rng: &mut dyn CryptoRng,
    ) -> Result<Ciphertext, NearestError> {
        self.check_vector(vector)?;
        let coordinate = |slot: usize| vector.get(slot % self.period).copied().unwrap_or(0.0);
        let slots: Zeroizing<Vec<f64>> = Zeroizing::new((0..self.slots).map(coordinate).collect());
        let plaintext = Encoder::new(context, self.slots)?.encode_real(&slots)?;
        Ok(context.encrypt_secret(&plaintext, secret, rng)?)
    }

    /// Decrypts an answer: returns the scores of all vectors of the database in their order, squares of distances or inner products, and the deviation of their errors.
    ///
    /// # Errors
    /// [`NearestError::Vector`] for an answer of another number of ciphertexts; [`NearestError::Ckks`] for one that does not decrypt.
    pub fn read(
        &self,
        context: &Context,
        vector: &[f64],
        answer: &[Ciphertext],
        vectors: usize,
        secret: &SecretKey,
    ) -> Result<(Vec<f64>, f64), NearestError> {
        self.check_vector(vector)?;
        if answer.len() != self.answers(vectors) {
            return Err(VectorError::new(
                "the ciphertexts of an answer",
                self.answers(vectors),
                answer.len(),
            )
            .into());
        }
        let encoder = Encoder::new(context, self.slots)?;
        let own: f64 = match self.measure {
            Measure::Distance => vector.iter().map(|x| x * x).sum(),
            Measure::Product => 0.0,
        };
        let (mut scores, mut deviation) = (Vec::with_capacity(vectors), 0.0_f64);
        for one in answer {
            let plaintext = context.decrypt(one, secret)?;
            deviation = deviation.max(plaintext.precision().deviation());
            scores.extend(encoder.decode_real(&plaintext)?.iter().map(|score| score + own));
        }
        scores.truncate(vectors);
        Ok((scores, deviation))
    }

    fn check_vector(&self, vector: &[f64]) -> Result<(), VectorError> {
        if vector.len() != self.dimensions {
            return Err(VectorError::new("the coordinates of a vector", self.dimensions, vector.len()));
        }
        match vector.iter().find(|coordinate| !(-self.bound..=self.bound).contains(*coordinate)) {
            Some(large) => Err(VectorError::new("a coordinate", format!("-{0} to {0}", self.bound), large)),
            None => Ok(()),
        }
    }
}

/// A database of vectors of real numbers, ready to answer any number of queries.
pub struct Vectors {
    layout: Layout,
    /// Coordinates, times −2 for distances: plaintexts for every turn of the query, for as many vectors as there are slots.
    blocks: Vec<Vec<Plaintext>>,
    /// Squares of lengths, for distances.
    squares: Vec<Plaintext>,
}

impl Vectors {
    /// Prepares the vectors of a database in their order.
    ///
    /// # Errors
    /// [`NearestError::Vector`] for no vectors, and for one of other coordinates than the layout's; [`NearestError::Ckks`] for scores that do not fit the parameters.
    pub fn new(
        evaluator: &Evaluator,
        layout: &Layout,
        vectors: &[impl AsRef<[f64]> + Sync],
    ) -> Result<Self, NearestError> {
        VectorError::check("the number of vectors", vectors.len(), (1, 1 << 30))?;
        vectors.iter().try_for_each(|vector| layout.check_vector(vector.as_ref()))?;
        let context = evaluator.context();
        let encoder = Encoder::new(context, layout.slots)?;
        let factor = match layout.measure {
            Measure::Distance => -2.0,
            Measure::Product => 1.0,
        };
        let (mut blocks, mut squares) = (Vec::new(), Vec::new());
        for block in vectors.chunks(layout.slots) {
            let turned = |turn: usize| {
                let coordinate = |(slot, vector): (usize, &_)| {
                    let at = (slot + turn) % layout.period;
                    factor * AsRef::<[f64]>::as_ref(vector).get(at).copied().unwrap_or(0.0)
                };
                encoder.encode_real(&block.iter().enumerate().map(coordinate).collect::<Vec<f64>>())
            };
            blocks.push((0..layout.period).into_par_iter().map(turned).collect::<Result<_, _>>()?);
            if layout.measure == Measure::Distance {
                let square = |vector: &_| AsRef::<[f64]>::as_ref(vector).iter().map(|x| x * x).sum::<f64>();
                let level = context.depth() - 1;
                let lengths: Vec<f64> = block.iter().map(square).collect();
                squares.push(encoder.encode_real_at(&lengths, level, context.scale(level)?)?);
            }
        }
        Ok(Self { layout: layout.clone(), blocks, squares })
    }

    /// The layout of the vectors.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Answers a query: a ciphertext for as many vectors as there are slots.
    ///
    /// # Errors
    /// [`NearestError::Ckks`] for a query of other parameters, and for a missing key.
    pub fn answer(
        &self,
        evaluator: &Evaluator,
        query: &Ciphertext,
        keys: &GaloisKeys,
    ) -> Result<Vec<Ciphertext>, NearestError> {
        let mut turned = vec![query.clone()];
        for turn in 1..self.layout.period {
            let next = turned.last().map(|last| evaluator.rotate(last, 1, keys)).transpose()?;
            turned.extend(next);
            debug_assert_eq!(turned.len(), turn + 1);
        }
        let score = |(at, block): (usize, &Vec<Plaintext>)| -> Result<Ciphertext, NearestError> {
            let mut sum: Option<Ciphertext> = None;
            for (query, plaintext) in turned.iter().zip(block) {
                let product = evaluator.multiply_plain_unscaled(query, plaintext)?;
                match &mut sum {
                    Some(sum) => evaluator.add_assign(sum, &product)?,
                    None => sum = Some(product),
                }
            }
            let sum = sum.ok_or_else(|| VectorError::new("the coordinates of a vector", "some", 0))?;
            let score = evaluator.rescale(&sum)?;
            match self.squares.get(at) {
                Some(squares) => Ok(evaluator.add_plain(&score, squares)?),
                None => Ok(score),
            }
        };
        self.blocks.par_iter().enumerate().map(score).collect()
    }
}
