//! Products of pairs of polynomials, point by point: of two ciphertexts of two parts, and sums of many with factors.

use rayon::prelude::*;
use sunzi_kernels::Modulus;

use crate::error::check_level;
use crate::parallel::{BLOCK, Parallelism, Work, block_of};
use crate::{Evaluation, Factors, Poly, PolyRing, Ring, RingError};

/// Products that are summed before the next list has its turn: their blocks stay in the second-level cache for it.
const TOGETHER: usize = 8;

/// t·(a_0 + a_1·Y)(b_0 + b_1·Y) modulo Q_l: one pass over the operands, a block at a time.
pub(crate) fn tensor(
    ring: &Ring,
    [a0, a1]: [&Poly<Evaluation>; 2],
    [b0, b1]: [&Poly<Evaluation>; 2],
    t: u64,
    level: usize,
) -> Result<[Poly<Evaluation>; 3], RingError> {
    [a0, a1, b0, b1].iter().try_for_each(|a| check_level(level, ring.level_of(a)?))?;
    let target = ring.at_level(level)?;
    let mut product = [target.arbitrary(), target.arbitrary(), target.arbitrary()];
    let words = product.each_mut().map(Poly::words_mut);
    ring.parallelism().for_each_part(words, ring.degree(), |i, part, [c0, c1, c2]| {
        let Some(modulus) = ring.basis().moduli().get(i) else { return Ok(()) };
        let operands = [a0, a1, b0, b1].map(|poly| poly.limb(i).unwrap_or_default());
        let blocks = c0.chunks_mut(BLOCK).zip(c1.chunks_mut(BLOCK)).zip(c2.chunks_mut(BLOCK));
        for (block, ((c0, c1), c2)) in blocks.enumerate() {
            let start = part.start + block * BLOCK;
            let range = start..start + c0.len();
            let [a0, a1, b0, b1] = operands.map(|limb| limb.get(range.clone()).unwrap_or_default());
            c0.copy_from_slice(a0);
            c2.copy_from_slice(a1);
            if t != 1 {
                modulus.mul_scalar_assign(c0, t % modulus.value())?;
                modulus.mul_scalar_assign(c2, t % modulus.value())?;
            }
            modulus.inner_product(c1, &[c0, c2], &[b1, b0])?;
            modulus.mul_assign(c0, b0)?;
            modulus.mul_assign(c2, b1)?;
        }
        Ok(())
    })?;
    Ok(product)
}

/// A factor and the pair that it multiplies, modulo one number.
pub(crate) type Term<'a> = (&'a [u64], [&'a [u64]; 2]);

/// Σ f·(a, b) over the terms modulo one number, block by block: that of all streams stays in the cache.
pub(crate) fn sum_of_terms(
    parallelism: Parallelism,
    modulus: &Modulus,
    terms: &[Term<'_>],
    [first, second]: [&mut [u64]; 2],
) -> Result<(), RingError> {
    let n = first.len();
    parallelism.for_each_block_of(vec![first, second], n, |range, outs| {
        let [first, second] = outs else { return Ok(()) };
        let factors = block_of(terms.iter().map(|(factor, _)| *factor), &range);
        let [a, b] = [0, 1].map(|half| {
            let parts = terms.iter().filter_map(|(_, pair)| pair.get(half).copied());
            block_of(parts, &range)
        });
        Ok(modulus.inner_product_pair([first, second], &factors, [&a, &b])?)
    })
}

/// [`PolyRing::sum_of_tensors`] by [`PolyRing::inner_products`].
pub(crate) fn sum_of_tensors<R: PolyRing>(
    ring: &R,
    pairs: &[[[&R::Poly<Evaluation>; 2]; 2]],
    t: u64,
    level: usize,
) -> Result<[R::Poly<Evaluation>; 3], RingError> {
    if let [[a, b]] = pairs {
        return ring.tensor_at(*a, *b, t, level);
    }
    let first = pairs.iter().map(|[[a0, _], [b0, _]]| [*a0, *b0]).collect();
    let last = pairs.iter().map(|[[_, a1], [_, b1]]| [*a1, *b1]).collect();
    let crossed = pairs.iter().flat_map(|[[a0, a1], [b0, b1]]| [[*a0, *b1], [*a1, *b0]]).collect();
    let mut sums = ring.inner_products(&[first, crossed, last], level)?;
    if t != 1 {
        let ring = ring.at_level(level)?;
        sums.iter_mut().try_for_each(|sum| ring.mul_integer_assign(sum, &t.into()))?;
    }
    let (expected, got) = (3, sums.len());
    sums.try_into().map_err(|_| RingError::LengthMismatch { what: "sums", expected, got })
}

/// [`PolyRing::inner_products`]: block by block, some terms of every list in turn, so that what lists share is read from memory once.
pub(crate) fn inner_products(
    ring: &Ring,
    lists: &[Factors<'_, Ring>],
    level: usize,
) -> Result<Vec<Poly<Evaluation>>, RingError> {
    for poly in lists.iter().flatten().flatten() {
        check_level(level, ring.level_of(poly)?)?;
    }
    let (n, target) = (ring.degree(), ring.at_level(level)?);
    let mut sums: Vec<_> = lists.iter().map(|_| target.arbitrary()).collect();
    // The same limb of all sums together.
    let mut limbs: Vec<Vec<&mut [u64]>> = (0..level).map(|_| Vec::with_capacity(lists.len())).collect();
    for sum in &mut sums {
        limbs.iter_mut().zip(sum.words_mut().chunks_exact_mut(n)).for_each(|(list, limb)| list.push(limb));
    }
    let run = |(i, limbs): (usize, Vec<&mut [u64]>)| limb_of_inner_products(ring, i, lists, limbs);
    let words = level * n * lists.iter().map(Vec::len).sum::<usize>();
    if ring.parallelism().shares_limbs(Work::Elementwise, words) {
        limbs.into_par_iter().enumerate().try_for_each(run)?;
    } else {
        limbs.into_iter().enumerate().try_for_each(run)?;
    }
    Ok(sums)
}

/// Limb `i` of all sums.
fn limb_of_inner_products(
    ring: &Ring,
    i: usize,
    lists: &[Factors<'_, Ring>],
    sums: Vec<&mut [u64]>,
) -> Result<(), RingError> {
    let Some(modulus) = ring.basis().moduli().get(i) else { return Ok(()) };
    let rounds = lists.iter().map(|list| list.len().div_ceil(TOGETHER)).max().unwrap_or(0);
    ring.parallelism().for_each_block_of(sums, ring.degree(), |range, sums| {
        let mut space = [0; BLOCK];
        let space = space.get_mut(..range.len()).unwrap_or_default();
        sums.iter_mut().zip(lists).filter(|(_, list)| list.is_empty()).for_each(|(sum, _)| sum.fill(0));
        for round in 0..rounds {
            for (list, sum) in lists.iter().zip(sums.iter_mut()) {
                let share = list.len().div_ceil(rounds).max(1);
                let Some(terms) = list.chunks(share).nth(round) else { continue };
                let [a, b] = [0, 1].map(|side| -> Vec<&[u64]> {
                    let factors = terms.iter().filter_map(|pair| pair.get(side));
                    factors.map(|poly| poly.part(i, range.clone())).collect()
                });
                if round == 0 {
                    modulus.inner_product(sum, &a, &b)?;
                } else {
                    modulus.inner_product(space, &a, &b)?;
                    modulus.add_assign(sum, space)?;
                }
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use sunzi_math::primes_below;

    use super::*;
    use crate::sampling::SeededRng;

    #[test]
    fn inner_products_are_sums_of_products() {
        let mut rng = SeededRng::derive(&[5; 32], "inner products", 0);
        for log2_degree in [6, 11] {
            let step = 2 << log2_degree;
            let ring = Ring::new(step, &primes_below(1 << 48, step, 3).unwrap()).unwrap();
            // Every residue the largest, and any residues, of the highest level and of the one below.
            let ones = vec![-1; 1 << log2_degree];
            let largest = ring.from_signed(&ones).unwrap().relabel();
            let mut polys = vec![largest.clone()];
            polys.extend((0..4).map(|i| {
                ring.restrict(&if i == 3 { largest.clone() } else { ring.uniform(&mut rng) }, 3 - i % 2)
                    .unwrap()
            }));
            let pair = |i: usize| [&polys[i * i % 5], &polys[3 * i % 5]];
            for lengths in [&[][..], &[0], &[1], &[0, 3], &[16, 17], &[100, 1, 200, 0, 33]] {
                let lists: Vec<Factors<'_, Ring>> =
                    lengths.iter().map(|length| (0..*length).map(|i| pair(i + length)).collect()).collect();
                for level in [2, 1] {
                    let sums = ring.inner_products(&lists, level).unwrap();
                    assert_eq!(sums.len(), lists.len());
                    let low = ring.at_level(level).unwrap();
                    for (sum, list) in sums.iter().zip(&lists) {
                        let mut expected = low.zero();
                        for pair in list {
                            let [a, b] = pair.map(|poly| ring.restrict(poly, level).unwrap());
                            low.mul_add_assign(&mut expected, &a, &b).unwrap();
                        }
                        assert_eq!(sum.words(), expected.words(), "{lengths:?} at {level}");
                    }
                }
            }
            let low = ring.restrict(&largest, 1).unwrap();
            assert!(ring.inner_products(&[vec![[&largest, &low]]], 2).is_err());
        }
    }
}
