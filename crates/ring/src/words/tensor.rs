//! Products of pairs of polynomials, point by point: of two ciphertexts of two parts, and sums of many with factors.

use crate::parallel::{BLOCK, Work};
use crate::{Backend, Evaluation, Factors, Poly, RingError, WordRing};

/// Number of products that are summed before the next list has its turn: their blocks stay in the second-level cache
/// for it.
const TOGETHER: usize = 8;

/// Returns the tensor product t·(a_0 + a_1·Y)(b_0 + b_1·Y) modulo Q_l, in one pass over the operands.
pub(crate) fn tensor<'a>(
    ring: &WordRing,
    a: [&'a Poly<Evaluation>; 2],
    b: [&'a Poly<Evaluation>; 2],
    t: u64,
    level: usize,
) -> Result<[Poly<Evaluation>; 3], RingError> {
    let ([a0, a1], [b0, b1]) = (operands(ring, &a, level)?, operands(ring, &b, level)?);
    let target = ring.at_level(level)?;
    let mut product = [target.arbitrary(), target.arbitrary(), target.arbitrary()];
    let words = product.each_mut().map(|poly| poly.words_mut());
    ring.parallelism().for_each_part(words, ring.degree(), |i, part, [c0, c1, c2]| {
        let modulus = target.basis().own(i)?;
        let of = |(poly, places): &Operand<'a>| poly.part_at(places, i, part.clone());
        let (a, b) = ([of(&a0)?, of(&a1)?], [of(&b0)?, of(&b1)?]);
        Ok(modulus.tensor([c0, c1, c2], a, b, t % modulus.value())?)
    })?;
    Ok(product)
}

/// Does [`Backend::inner_products`] block by block, some terms of every list in turn, so that terms which lists share
/// are read from memory once.
pub(crate) fn inner_products(
    ring: &WordRing,
    lists: &[Factors<'_>],
    level: usize,
) -> Result<Vec<Poly<Evaluation>>, RingError> {
    let lists = lists.iter().map(|list| list.iter().map(|pair| operands(ring, pair, level)).collect());
    let lists: Vec<Vec<[Operand<'_>; 2]>> = lists.collect::<Result<_, RingError>>()?;
    let (n, target) = (ring.degree(), ring.at_level(level)?);
    let mut sums: Vec<_> = lists.iter().map(|_| target.arbitrary()).collect();
    // The limbs with equal number of all sums are written together.
    let count = target.shape().limbs;
    let mut limbs: Vec<Vec<&mut [u64]>> = (0..count).map(|_| Vec::with_capacity(lists.len())).collect();
    for sum in &mut sums {
        limbs.iter_mut().zip(sum.words_mut().chunks_exact_mut(n)).for_each(|(list, limb)| list.push(limb));
    }
    let run = |(i, limbs): (usize, Vec<&mut [u64]>)| limb_of_inner_products(&target, i, &lists, limbs);
    let words = count * n * lists.iter().map(Vec::len).sum::<usize>();
    ring.parallelism().for_each(Work::Elementwise, words, limbs.into_iter().enumerate().collect(), run)?;
    Ok(sums)
}

/// A polynomial of a level from that of the sums on, and the places of their limbs in it.
type Operand<'a> = (&'a Poly<Evaluation>, Vec<usize>);

fn operands<'a>(
    ring: &WordRing,
    &[a, b]: &[&'a Poly<Evaluation>; 2],
    level: usize,
) -> Result<[Operand<'a>; 2], RingError> {
    let operand =
        |poly: &'a Poly<Evaluation>| Ok::<_, RingError>((poly, ring.nested(level, ring.level_of(poly)?)?));
    Ok([operand(a)?, operand(b)?])
}

/// Computes limb `i` of all sums.
fn limb_of_inner_products(
    ring: &WordRing,
    i: usize,
    lists: &[Vec<[Operand<'_>; 2]>],
    sums: Vec<&mut [u64]>,
) -> Result<(), RingError> {
    let modulus = ring.basis().own(i)?;
    let rounds = lists.iter().map(|list| list.len().div_ceil(TOGETHER)).max().unwrap_or(0);
    ring.parallelism().for_each_block_of(sums, ring.degree(), |range, sums| {
        let mut space = [0; BLOCK];
        let space = space.get_mut(..range.len()).unwrap_or_default();
        sums.iter_mut().zip(lists).filter(|(_, list)| list.is_empty()).for_each(|(sum, _)| sum.fill(0));
        for round in 0..rounds {
            for (list, sum) in lists.iter().zip(sums.iter_mut()) {
                let share = list.len().div_ceil(rounds).max(1);
                let Some(terms) = list.chunks(share).nth(round) else { continue };
                let (mut a, mut b) = (Vec::with_capacity(terms.len()), Vec::with_capacity(terms.len()));
                for [(first, of_first), (second, of_second)] in terms {
                    a.push(first.part_at(of_first, i, range.clone())?);
                    b.push(second.part_at(of_second, i, range.clone())?);
                }
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
