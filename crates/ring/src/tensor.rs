//! Products of pairs of polynomials, point by point: of two ciphertexts of two parts, and sums of many with factors.

use sunzi_kernels::Modulus;

use crate::error::check_level;
use crate::parallel::{BLOCK, Parallelism, block_of};
use crate::{Evaluation, Poly, PolyRing, Ring, RingError};

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
