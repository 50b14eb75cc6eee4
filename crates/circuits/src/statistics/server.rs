//! Server of the statistics circuit: ciphertexts and evaluation keys in, encrypted sums out.

use rayon::prelude::*;
use sunzi_encoding::doubling_steps;

use super::{Layout, StatisticsError};
use crate::arithmetic::check_keys;
use crate::inner_product::{required_rotations, sum_segments};
use crate::{Arithmetic, Outcome, Rotation};

/// Ciphertexts of one chunk, in the order of the layout.
pub struct EncryptedChunk<C = sunzi_bfv::Ciphertext> {
    /// Packed inputs [`Packed`](super::Input::Packed) 0, 1, … of the chunk.
    pub packed: Vec<C>,
    /// Repeated inputs [`Repeated`](super::Input::Repeated) of the layout's repeated columns.
    pub repeated: Vec<C>,
}

/// Sums of one packed ciphertext.
pub struct EncryptedSum<C = sunzi_bfv::Ciphertext> {
    /// Sums over groups: the first slot of each segment holds its group's sum.
    pub groups: C,
    /// Sums over all groups: the first slot of each unit holds one.
    pub total: C,
}

/// Encrypted sums that the server sends back.
pub struct EncryptedSums<C = sunzi_bfv::Ciphertext> {
    /// Sums of columns, for each packed input; the column of ones gives counts.
    pub columns: Vec<EncryptedSum<C>>,
    /// Sums of products, in the order of [`Layout::products`].
    pub products: Vec<EncryptedSum<C>>,
}

impl Layout {
    /// Lists the rotations that a [`Server`] needs keys for.
    #[must_use]
    pub fn required_rotations(&self) -> Vec<Rotation> {
        required_rotations(self.unit(), self.degree() / 2)
    }

    /// Number of times that a [`Server`] reports progress: each product of each chunk, each sum.
    #[must_use]
    pub fn steps(&self) -> usize {
        let products = self.products().len();
        self.chunks() * products + products + self.packed()
    }
}

/// Computes encrypted sums, chunk by chunk, in memory that does not grow with the rows.
///
/// The inputs of the server are public parameters, evaluation keys and ciphertexts: a secret key fits
/// nowhere. Products of a block with a column are summed over all chunks before they are scaled and
/// relinearised once. Results do not depend on the number of threads of the rayon pool it runs in.
pub struct Server<'a, A: Arithmetic> {
    arithmetic: &'a A,
    keys: &'a A::Keys,
    layout: &'a Layout,
    packed: Vec<Option<A::Ciphertext>>,
    products: Vec<Option<A::Sum>>,
    absorbed: usize,
}

impl<'a, A: Arithmetic> Server<'a, A> {
    /// Makes a server for one layout.
    ///
    /// # Errors
    /// [`StatisticsError::DegreeMismatch`] for a layout of another ring degree;
    /// [`CircuitError::MissingRelinearizationKey`](crate::CircuitError::MissingRelinearizationKey);
    /// [`CircuitError::MissingRotation`](crate::CircuitError::MissingRotation) without the keys of
    /// [`Layout::required_rotations`].
    pub fn new(arithmetic: &'a A, keys: &'a A::Keys, layout: &'a Layout) -> Outcome<A, Self> {
        let got = 2 * arithmetic.row_length();
        if got != layout.degree() {
            return Err(StatisticsError::DegreeMismatch { expected: layout.degree(), got }.into());
        }
        check_keys(arithmetic, keys, !layout.products().is_empty(), layout.required_rotations())?;
        let packed = std::iter::repeat_with(|| None).take(layout.packed()).collect();
        let products = std::iter::repeat_with(|| None).take(layout.products().len()).collect();
        Ok(Self { arithmetic, keys, layout, packed, products, absorbed: 0 })
    }

    /// Adds the columns and products of one chunk to the sums so far; `step` is called for each product.
    ///
    /// # Errors
    /// [`StatisticsError::InputCount`]; [`StatisticsError::ChunkCount`] for one chunk too many;
    /// [`CircuitError::Scheme`](crate::CircuitError::Scheme) for ciphertexts of other keys or parameters.
    pub fn absorb(
        &mut self,
        chunk: &EncryptedChunk<A::Ciphertext>,
        step: &(dyn Fn() + Sync),
    ) -> Outcome<A, ()> {
        let (arithmetic, layout) = (self.arithmetic, self.layout);
        self.absorbed += 1;
        if self.absorbed > layout.chunks() {
            let (expected, got) = (layout.chunks(), self.absorbed);
            return Err(StatisticsError::ChunkCount { expected, got }.into());
        }
        check_count("packed", layout.packed(), chunk.packed.len())?;
        check_count("repeated", layout.repeated(), chunk.repeated.len())?;
        for (sum, input) in self.packed.iter_mut().zip(&chunk.packed) {
            *sum = Some(match sum.take() {
                Some(sum) => arithmetic.add(&sum, input)?,
                None => input.clone(),
            });
        }
        // An operand enters many products: make it ready once.
        let ready = |inputs: &[A::Ciphertext]| -> Outcome<A, Vec<A::Operand>> {
            inputs.par_iter().map(|input| arithmetic.operand(input)).collect()
        };
        let packed = if layout.products().is_empty() { Vec::new() } else { ready(&chunk.packed)? };
        let repeated = ready(&chunk.repeated)?;
        let of_column = |column: usize| repeated.get(layout.repeated_columns().binary_search(&column).ok()?);
        self.products.par_iter_mut().zip(layout.products()).try_for_each(|(sum, product)| {
            if let (Some(left), Some(right)) = (packed.get(product.block), of_column(product.column)) {
                arithmetic.add_product(sum, left, right)?;
            }
            step();
            Ok(())
        })
    }

    /// Sums the slots of every segment, and over all segments; `step` is called for each sum.
    ///
    /// # Errors
    /// [`StatisticsError::ChunkCount`] before all chunks are absorbed;
    /// [`CircuitError::Scheme`](crate::CircuitError::Scheme).
    pub fn finish(self, step: &(dyn Fn() + Sync)) -> Outcome<A, EncryptedSums<A::Ciphertext>> {
        let Self { arithmetic, keys, layout, packed, products, absorbed } = self;
        if absorbed != layout.chunks() {
            return Err(StatisticsError::ChunkCount { expected: layout.chunks(), got: absorbed }.into());
        }
        let sum = |term: A::Ciphertext| {
            let sum = sum_groups(arithmetic, keys, layout, &term)?;
            step();
            Ok(sum)
        };
        Ok(EncryptedSums {
            columns: packed.into_par_iter().flatten().map(sum).collect::<Outcome<A, _>>()?,
            products: products
                .into_par_iter()
                .flatten()
                .map(|products| sum(arithmetic.finish(products, keys)?))
                .collect::<Outcome<A, _>>()?,
        })
    }
}

/// Computes the sums of segments, then by further doubling those over the segments of a unit.
fn sum_groups<A: Arithmetic>(
    arithmetic: &A,
    keys: &A::Keys,
    layout: &Layout,
    term: &A::Ciphertext,
) -> Outcome<A, EncryptedSum<A::Ciphertext>> {
    let groups = sum_segments(arithmetic, term, layout.segment(), keys)?;
    let mut total = groups.clone();
    for distance in doubling_steps(layout.segment(), layout.unit()) {
        let rotated = arithmetic.rotate(&total, Rotation::Rows(distance as i64), keys)?;
        total = arithmetic.add(&total, &rotated)?;
    }
    Ok(EncryptedSum { groups, total })
}

fn check_count(what: &'static str, expected: usize, got: usize) -> Result<(), StatisticsError> {
    if got == expected { Ok(()) } else { Err(StatisticsError::InputCount { what, expected, got }) }
}
