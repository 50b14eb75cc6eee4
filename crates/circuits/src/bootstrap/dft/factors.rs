//! Factors of the embedding of slots as a product of sparse matrices.

use num_complex::Complex64;
use sunzi_ckks::encoder::Embedding;

use crate::linear_transform::{Diagonals, LinearTransformError};

/// Returns how many of the log2 s steps each of `budget` factors takes, longest blocks first: there diagonals d and d − s are one, so that a
/// factor of r steps has 2^r of them and not 2^(r+1) − 1.
pub(super) fn radices(slots: usize, budget: usize) -> Result<Vec<u32>, LinearTransformError> {
    let steps = slots.checked_ilog2().unwrap_or(0);
    let most = steps.max(1) as usize;
    if !(1..=most).contains(&budget) {
        return Err(LinearTransformError::Budget { slots, got: budget, most });
    }
    let (each, more) = (steps as usize / budget, steps as usize % budget);
    Ok((0..budget).map(|i| (each + usize::from(i < more)) as u32).collect())
}

/// Returns the step of [`Embedding::to_slots`] from blocks of h to blocks of 2h.
fn step_to_slots(embedding: &Embedding, size: usize, half: usize) -> Result<Diagonals, LinearTransformError> {
    let (roots, distance) = (embedding.roots(half), half as i64);
    let (ones, zeros) = (vec![Complex64::ONE; half], vec![Complex64::ZERO; half]);
    let negated: Vec<Complex64> = roots.iter().map(|root| -root).collect();
    let mut matrix = Diagonals::new(size)?;
    matrix.add(0, &[&*ones, &*negated].concat())?;
    matrix.add(distance, &[roots, &*zeros].concat())?;
    matrix.add(-distance, &[zeros, ones].concat())?;
    Ok(matrix)
}

/// Returns the step of [`Embedding::to_coefficients`] from blocks of 2h to blocks of h, with its half of 1/s.
fn step_to_coefficients(
    embedding: &Embedding,
    size: usize,
    half: usize,
) -> Result<Diagonals, LinearTransformError> {
    let (roots, distance) = (embedding.roots(half), half as i64);
    let (halves, zeros) = (vec![Complex64::from(0.5); half], vec![Complex64::ZERO; half]);
    let conjugates: Vec<Complex64> = roots.iter().map(|root| root.conj() * 0.5).collect();
    let negated: Vec<Complex64> = conjugates.iter().map(|root| -root).collect();
    let mut matrix = Diagonals::new(size)?;
    matrix.add(0, &[&*halves, &*negated].concat())?;
    matrix.add(distance, &[&*halves, &*zeros].concat())?;
    matrix.add(-distance, &[zeros, conjugates].concat())?;
    Ok(matrix)
}

/// Returns the product of steps of the embedding in the order in which they are applied.
fn product(
    size: usize,
    steps: impl Iterator<Item = Result<Diagonals, LinearTransformError>>,
) -> Result<Diagonals, LinearTransformError> {
    let mut identity = Diagonals::new(size)?;
    identity.add(0, &[Complex64::ONE])?;
    steps.into_iter().try_fold(identity, |product, step| step?.after(&product))
}

/// Returns factors, in the order in which they are applied, whose product is [`Embedding::to_coefficients`] without the final permutation: the numbers w_k
/// come in bit-reversed order.
pub(super) fn to_coefficients(
    embedding: &Embedding,
    radices: &[u32],
) -> Result<Vec<Diagonals>, LinearTransformError> {
    let slots = embedding.slots();
    let mut rest = slots;
    let factor = |&radix: &u32| {
        let halves = std::iter::successors(Some(rest / 2), |half| Some(half / 2)).take(radix as usize);
        let factor = product(slots, halves.map(|half| step_to_coefficients(embedding, slots, half)));
        rest >>= radix;
        factor
    };
    radices.iter().map(factor).collect()
}

/// Returns factors, in the order in which they are applied, whose product is [`Embedding::to_slots`] without the first permutation, for radices longest
/// blocks first. The first factor is of size `first_size` ≥ s: several transforms side by side.
pub(super) fn to_slots(
    embedding: &Embedding,
    radices: &[u32],
    first_size: usize,
) -> Result<Vec<Diagonals>, LinearTransformError> {
    let slots = embedding.slots();
    let (mut half, mut size) = (1, first_size);
    let factor = |&radix: &u32| {
        let halves = std::iter::successors(Some(half), |half| Some(half * 2)).take(radix as usize);
        let factor = product(size, halves.map(|half| step_to_slots(embedding, size, half)));
        (half, size) = (half << radix, slots);
        factor
    };
    radices.iter().rev().map(factor).collect()
}
