//! The product of two ciphertexts of two parts, point by point.

use crate::parallel::{BLOCK, Work, for_each_limb_of};
use crate::{Evaluation, Poly, PolyRing, Ring, RingError};

/// (a_0 + a_1·Y)(b_0 + b_1·Y): one pass over the operands, a block at a time.
pub(crate) fn tensor(
    ring: &Ring,
    [a0, a1]: [&Poly<Evaluation>; 2],
    [b0, b1]: [&Poly<Evaluation>; 2],
) -> Result<[Poly<Evaluation>; 3], RingError> {
    [a0, a1, b0, b1].iter().try_for_each(|a| ring.check(a))?;
    let mut product = [ring.arbitrary(), ring.arbitrary(), ring.arbitrary()];
    let words = product.each_mut().map(Poly::words_mut);
    for_each_limb_of(Work::Elementwise, words, ring.degree(), |i, [c0, c1, c2]| {
        let Some(modulus) = ring.basis().moduli().get(i) else { return Ok(()) };
        let operands = [a0, a1, b0, b1].map(|poly| poly.limb(i).unwrap_or_default());
        let blocks = c0.chunks_mut(BLOCK).zip(c1.chunks_mut(BLOCK)).zip(c2.chunks_mut(BLOCK));
        for (block, ((c0, c1), c2)) in blocks.enumerate() {
            let start = block * BLOCK;
            let range = start..start + c0.len();
            let [a0, a1, b0, b1] = operands.map(|limb| limb.get(range.clone()).unwrap_or_default());
            modulus.inner_product(c0, &[a0], &[b0])?;
            modulus.inner_product(c1, &[a0, a1], &[b1, b0])?;
            modulus.inner_product(c2, &[a1], &[b1])?;
        }
        Ok(())
    })?;
    Ok(product)
}
