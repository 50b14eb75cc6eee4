//! The server's side: ciphertexts and evaluation keys in, encrypted sums out.

use rayon::prelude::*;
use sunzi_bfv::{BfvError, Ciphertext, Evaluator, Extended, slot_sum_exponents};
use sunzi_ring::{PolyRing, Ring};
use sunzi_rlwe::{GaloisKeys, RelinearizationKey};

use super::{Layout, StatisticsError};

/// All the keys a server needs, none of which decrypts.
pub struct ServerKeys<'a, R: PolyRing = Ring> {
    /// Brings products back to two parts.
    pub relinearization: &'a RelinearizationKey<R>,
    /// Rotates by the amounts of [`Layout::galois_exponents`].
    pub galois: &'a GaloisKeys<R>,
}

impl<R: PolyRing> Clone for ServerKeys<'_, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R: PolyRing> Copy for ServerKeys<'_, R> {}

/// The ciphertexts of one chunk, in the layout's order.
pub struct EncryptedChunk<R: PolyRing = Ring> {
    /// Inputs [`Packed`](super::Input::Packed) 0, 1, ….
    pub packed: Vec<Ciphertext<R>>,
    /// Inputs [`Repeated`](super::Input::Repeated) 0, 1, ….
    pub repeated: Vec<Ciphertext<R>>,
}

/// The sums of one packed ciphertext.
pub struct EncryptedSum<R: PolyRing = Ring> {
    /// The first slot of each segment holds its group's sum.
    pub groups: Ciphertext<R>,
    /// The first slot of each unit holds the sum over all groups.
    pub total: Ciphertext<R>,
}

/// Everything the server sends back.
pub struct EncryptedSums<R: PolyRing = Ring> {
    /// Sums of columns, for each packed input; the column of ones gives counts.
    pub columns: Vec<EncryptedSum<R>>,
    /// Sums of products, in the order of [`Layout::products`].
    pub products: Vec<EncryptedSum<R>>,
}

impl Layout {
    /// The exponents of the Galois keys that a [`Server`] needs.
    #[must_use]
    pub fn galois_exponents(&self) -> Vec<u64> {
        slot_sum_exponents(self.degree(), self.unit())
    }

    /// How many times a [`Server`] reports progress: each product of each chunk, each sum.
    #[must_use]
    pub fn steps(&self) -> usize {
        let products = self.products().len();
        self.chunks() * products + products + self.packed()
    }
}

/// Computes encrypted sums, chunk by chunk, in memory that does not grow with the rows.
///
/// Its inputs are the public context, evaluation keys and ciphertexts: a secret key fits nowhere.
/// Results do not depend on the number of threads of the rayon pool it runs in.
pub struct Server<'a, R: PolyRing = Ring> {
    evaluator: &'a Evaluator<R>,
    keys: ServerKeys<'a, R>,
    layout: &'a Layout,
    packed: Vec<Option<Ciphertext<R>>>,
    products: Vec<Option<Ciphertext<R>>>,
    absorbed: usize,
}

impl<'a, R: PolyRing> Server<'a, R> {
    /// A server for one layout.
    ///
    /// # Errors
    /// [`StatisticsError::DegreeMismatch`] for a layout of another ring degree.
    pub fn new(
        evaluator: &'a Evaluator<R>,
        keys: ServerKeys<'a, R>,
        layout: &'a Layout,
    ) -> Result<Self, StatisticsError> {
        let got = evaluator.context().degree();
        if got != layout.degree() {
            return Err(StatisticsError::DegreeMismatch { expected: layout.degree(), got });
        }
        let none = |count| std::iter::repeat_with(|| None).take(count).collect();
        let (packed, products) = (none(layout.packed()), none(layout.products().len()));
        Ok(Self { evaluator, keys, layout, packed, products, absorbed: 0 })
    }

    /// Adds the columns and products of one chunk to what is there; `step` hears of each product.
    ///
    /// # Errors
    /// [`StatisticsError::InputCount`]; [`StatisticsError::ChunkCount`] for one chunk too many;
    /// [`StatisticsError::Bfv`] for ciphertexts of other keys or parameters.
    pub fn absorb(
        &mut self,
        chunk: &EncryptedChunk<R>,
        step: &(dyn Fn() + Sync),
    ) -> Result<(), StatisticsError> {
        let (evaluator, layout, relinearization) = (self.evaluator, self.layout, self.keys.relinearization);
        self.absorbed += 1;
        if self.absorbed > layout.chunks() {
            return Err(StatisticsError::ChunkCount { expected: layout.chunks(), got: self.absorbed });
        }
        check_count("packed", layout.packed(), chunk.packed.len())?;
        check_count("repeated", layout.repeated(), chunk.repeated.len())?;
        for (sum, input) in self.packed.iter_mut().zip(&chunk.packed) {
            accumulate(evaluator, sum, input.clone())?;
        }
        // An operand enters many products: extend it once.
        let extend = |inputs: &[Ciphertext<R>]| -> Result<Vec<Extended<R>>, BfvError> {
            inputs.par_iter().map(|input| evaluator.extend(input)).collect()
        };
        let (packed, repeated) = (extend(&chunk.packed)?, extend(&chunk.repeated)?);
        self.products.par_iter_mut().zip(layout.products()).try_for_each(|(sum, product)| {
            if let (Some(left), Some(right)) = (packed.get(product.block), repeated.get(product.column)) {
                accumulate(evaluator, sum, evaluator.multiply_extended(left, right, relinearization)?)?;
            }
            step();
            Ok(())
        })
    }

    /// Sums the slots of every segment, and over all segments; `step` hears of each sum.
    ///
    /// # Errors
    /// [`StatisticsError::ChunkCount`] before all chunks are absorbed; [`StatisticsError::Bfv`]
    /// without the keys of [`Layout::galois_exponents`].
    pub fn finish(self, step: &(dyn Fn() + Sync)) -> Result<EncryptedSums<R>, StatisticsError> {
        if self.absorbed != self.layout.chunks() {
            return Err(StatisticsError::ChunkCount { expected: self.layout.chunks(), got: self.absorbed });
        }
        let (evaluator, keys, layout) = (self.evaluator, self.keys, self.layout);
        let sum_all = |terms: Vec<Option<Ciphertext<R>>>| -> Result<Vec<EncryptedSum<R>>, StatisticsError> {
            terms
                .into_par_iter()
                .flatten()
                .map(|term| {
                    let sum = sum_groups(evaluator, &keys, layout, &term)?;
                    step();
                    Ok(sum)
                })
                .collect()
        };
        Ok(EncryptedSums { columns: sum_all(self.packed)?, products: sum_all(self.products)? })
    }
}

/// Segment sums, then the same doubling on over the segments of a unit.
fn sum_groups<R: PolyRing>(
    evaluator: &Evaluator<R>,
    keys: &ServerKeys<'_, R>,
    layout: &Layout,
    term: &Ciphertext<R>,
) -> Result<EncryptedSum<R>, StatisticsError> {
    let groups = evaluator.sum_segments(term, layout.segment(), keys.galois)?;
    let mut total = groups.clone();
    let mut distance = layout.segment();
    while distance < layout.unit() {
        let rotated = evaluator.rotate_rows(&total, distance as i64, keys.galois)?;
        evaluator.add_assign(&mut total, &rotated)?;
        distance *= 2;
    }
    Ok(EncryptedSum { groups, total })
}

/// sum ← sum + term, where none counts as zero.
fn accumulate<R: PolyRing>(
    evaluator: &Evaluator<R>,
    sum: &mut Option<Ciphertext<R>>,
    term: Ciphertext<R>,
) -> Result<(), StatisticsError> {
    match sum {
        Some(sum) => evaluator.add_assign(sum, &term)?,
        None => *sum = Some(term),
    }
    Ok(())
}

fn check_count(what: &'static str, expected: usize, got: usize) -> Result<(), StatisticsError> {
    if got == expected { Ok(()) } else { Err(StatisticsError::InputCount { what, expected, got }) }
}
