//! Sums of polynomials: every word of them is read once, and a block of the sum is reduced once for as many terms as a word holds.

use sunzi_kernels::Modulus;

use crate::parallel::BLOCK;
use crate::{Backend, Representation, Residues, RingError, WordRing};

/// Does [`Backend::sum`] in words.
pub(super) fn sum(
    ring: &WordRing,
    representation: Representation,
    polys: &[&Residues],
) -> Result<Residues, RingError> {
    polys.iter().try_for_each(|poly| ring.check(poly))?;
    if polys.is_empty() {
        return Ok(ring.zero(representation));
    }
    let mut sum = ring.arbitrary_residues();
    ring.for_each_modulus(&mut sum, |i, modulus, range, part| {
        let (mut words, room) = ([0; BLOCK], room(&modulus));
        for (at, sum) in part.chunks_mut(BLOCK).enumerate() {
            let start = range.start + at * BLOCK;
            let block = start..start + sum.len();
            let words = words.get_mut(..sum.len()).unwrap_or_default();
            for (done, group) in polys.chunks(room).enumerate() {
                match done {
                    0 => words.fill(0),
                    _ => words.copy_from_slice(sum),
                }
                let terms = group.iter().map(|poly| poly.part(i, block.clone()));
                add_words(words, &terms.collect::<Result<Vec<_>, _>>()?);
                modulus.reduce_into(sum, words)?;
            }
        }
        Ok(())
    })?;
    Ok(sum)
}

/// The number of residues that a word holds the sum of, beside one more.
fn room(modulus: &Modulus) -> usize {
    let terms = u64::MAX / (modulus.value() - 1).max(1);
    usize::try_from(terms).unwrap_or(usize::MAX).saturating_sub(1).max(1)
}

/// Adds words of terms of equal lengths, four terms at a time: the sum is loaded and stored once for all of them.
fn add_words(sum: &mut [u64], terms: &[&[u64]]) {
    let fours = terms.chunks_exact(4);
    for &term in fours.remainder() {
        sum.iter_mut().zip(term).for_each(|(sum, a)| *sum += a);
    }
    for four in fours {
        let &[a, b, c, d] = four else { continue };
        let terms = a.iter().zip(b).zip(c.iter().zip(d));
        sum.iter_mut().zip(terms).for_each(|(sum, ((a, b), (c, d)))| *sum += a + b + c + d);
    }
}
