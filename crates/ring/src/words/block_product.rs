//! Products of matrices over a subring: what an encrypted matrix times another comes to.
//!
//! Modulo q the subring of X^d splits into n/d values ζ, and a polynomial into residues modulo X^d − ζ, whose d
//! coefficients are those over the subring at ζ. The first log2 n/d levels of a transform lead there, and the values
//! at the d roots of X^d = ζ stand next to each other. So each ζ has a product of matrices of its own: coefficients
//! on the left, values on the right.

use std::ops::Range;

use rayon::prelude::*;
use sunzi_kernels::{IntegerMatrix, Modulus, STRIP};

use crate::backend::check_blocks;
use crate::error::entry;
use crate::scratch::Scratch;
use crate::{Backend, Evaluation, Poly, RingError, WordRing};

/// Polynomials of one list, with the places of the moduli of a level in each of them.
struct List<'a> {
    polys: &'a [&'a Poly<Evaluation>],
    places: Vec<Vec<usize>>,
}

/// Values of one modulus in a range of positions within a block, of the products of all left lists with a right one.
struct Strip<'a> {
    right: usize,
    range: Range<usize>,
    rows: Vec<&'a mut [u64]>,
}

/// Numbers that all steps of a product share.
struct Geometry {
    n: usize,
    size: usize,
    /// Number of left lists, and of right lists.
    lists: [usize; 2],
    /// Width of the strips into which threads cut a block.
    width: usize,
}

/// Does [`Backend::block_products`] in words: threads share blocks, and strips of values within them.
pub(crate) fn multiply(
    ring: &WordRing,
    size: usize,
    [left, right]: [&[Vec<&Poly<Evaluation>>]; 2],
    level: usize,
) -> Result<Vec<Vec<Poly<Evaluation>>>, RingError> {
    let n = ring.degree();
    check_blocks(ring.ring_index(), size, [left, right])?;
    let target = ring.at_level(level)?;
    let [left, right] = [lists(ring, left, level)?, lists(ring, right, level)?];
    let threads = rayon::current_num_threads();
    let width = size.div_ceil(threads.div_ceil(n / size)).next_multiple_of(STRIP).min(size);
    let geometry = Geometry { n, size, lists: [left.len(), right.len()], width };
    let (moduli, tag) = (target.basis().moduli(), target.basis().tag());
    let count = left.len() * right.len() * size;
    let mut results: Vec<Scratch> = (0..count).map(|_| Scratch::new(n * moduli.len())).collect();
    let mut strips = strips(&mut results, &geometry);
    let limbs = strips.chunks_mut(strips_of_block(&geometry) * n / size).enumerate();
    for (limb, strips) in limbs {
        let columns = coefficients(&target, limb, &left, &geometry)?;
        let modulus = entry("modulus", moduli, limb)?;
        let run = |(block, strips): (usize, &mut [Strip<'_>])| -> Result<(), RingError> {
            let matrix = matrix(modulus, &columns, block, &geometry)?;
            let multiply =
                |strip: &mut Strip<'_>| multiply_strip(&matrix, modulus, strip, &right, (limb, block * size));
            if threads > 1 {
                strips.par_iter_mut().try_for_each(multiply)
            } else {
                strips.iter_mut().try_for_each(multiply)
            }
        };
        let each = strips_of_block(&geometry);
        if threads > 1 {
            strips.par_chunks_mut(each).enumerate().try_for_each(run)?;
        } else {
            strips.chunks_mut(each).enumerate().try_for_each(run)?;
        }
    }
    drop(strips);
    let mut polys = results.into_iter().map(|words| Poly::new(words, n, tag));
    Ok((0..left.len() * right.len()).map(|_| polys.by_ref().take(size).collect()).collect())
}

fn lists<'a>(
    ring: &WordRing,
    lists: &'a [Vec<&'a Poly<Evaluation>>],
    level: usize,
) -> Result<Vec<List<'a>>, RingError> {
    let list = |polys: &'a Vec<&'a Poly<Evaluation>>| {
        let places = polys.iter().map(|poly| ring.nested(level, ring.level_of(poly)?));
        Ok(List { polys, places: places.collect::<Result<_, RingError>>()? })
    };
    lists.iter().map(list).collect()
}

/// Number of strips of a block: those of every right list.
fn strips_of_block(geometry: &Geometry) -> usize {
    let [_, rights] = geometry.lists;
    rights * geometry.size.div_ceil(geometry.width)
}

/// Cuts all results into strips: limb by limb, block by block, right list by right list.
fn strips<'a>(results: &'a mut [Scratch], geometry: &Geometry) -> Vec<Strip<'a>> {
    let &Geometry { n, size, lists: [lefts, rights], width } = geometry;
    let (cuts, each) = (size.div_ceil(width), strips_of_block(geometry));
    let limbs = results.first().map_or(0, |result| result.len() / n);
    let strip = |at: usize| {
        let start = at % cuts * width;
        let rows = Vec::with_capacity(lefts * size);
        Strip { right: at % each / cuts, range: start..size.min(start + width), rows }
    };
    let mut strips: Vec<Strip<'a>> = (0..limbs * (n / size) * each).map(strip).collect();
    for (i, result) in results.iter_mut().enumerate() {
        let first = i / size % rights * cuts;
        for (block, words) in result.chunks_exact_mut(size).enumerate() {
            let ours = strips.iter_mut().skip(block * each + first);
            ours.zip(words.chunks_mut(width)).for_each(|(strip, part)| strip.rows.push(part));
        }
    }
    strips
}

/// Coefficients over the subring of all polynomials of the left lists modulo one modulus: polynomial after polynomial,
/// block after block, list after list.
fn coefficients(
    ring: &WordRing,
    limb: usize,
    left: &[List<'_>],
    &Geometry { n, size, .. }: &Geometry,
) -> Result<Scratch, RingError> {
    let count = left.first().map_or(0, |list| list.polys.len());
    let mut all = Scratch::new(count * left.len() * n);
    let plan = ring.plan(limb)?;
    let cut = |(k, out): (usize, &mut [u64])| -> Result<(), RingError> {
        let mut words = vec![0; n];
        for (at, list) in left.iter().enumerate() {
            let (poly, places) = (entry("polynomial", list.polys, k)?, entry("places", &list.places, k)?);
            words.copy_from_slice(poly.part_at(places, limb, 0..n)?);
            plan.inverse(&mut words)?;
            split(&plan.modulus(), plan.root(), &mut words, size)?;
            let blocks = out.chunks_exact_mut(size).skip(at).step_by(left.len());
            blocks.zip(words.chunks_exact(size)).for_each(|(to, from)| to.copy_from_slice(from));
        }
        Ok(())
    };
    let each = (left.len() * n).max(1);
    if rayon::current_num_threads() > 1 {
        all.par_chunks_exact_mut(each).enumerate().try_for_each(cut)?;
    } else {
        all.chunks_exact_mut(each).enumerate().try_for_each(cut)?;
    }
    Ok(all)
}

/// Reduces a polynomial modulo X^size − ζ for every ζ, in the order of the values: the first levels of a transform.
fn split(modulus: &Modulus, psi: u64, words: &mut [u64], size: usize) -> Result<(), RingError> {
    let mut length = words.len();
    while length > size {
        let (half, count) = (length / 2, words.len() / length);
        for (b, block) in words.chunks_exact_mut(length).enumerate() {
            // Block b is a residue modulo X^length − ψ^(length·(2·bitrev(b) + 1)).
            let reversed =
                if count > 1 { b.reverse_bits() >> (usize::BITS - count.trailing_zeros()) } else { 0 };
            let (low, high) = block.split_at_mut_checked(half).unwrap_or_default();
            modulus.mul_scalar_assign(high, modulus.pow(psi, (half * (2 * reversed + 1)) as u64))?;
            modulus.sum_difference_assign(low, high)?;
        }
        length = half;
    }
    Ok(())
}

/// The left matrix of a block: the coefficients of all lists, one list below the other.
fn matrix(
    modulus: &Modulus,
    columns: &[u64],
    block: usize,
    &Geometry { n, size, lists: [lefts, _], .. }: &Geometry,
) -> Result<IntegerMatrix, RingError> {
    let (height, each) = (lefts * size, lefts * n);
    let column = |words: &'_ [u64]| -> Range<usize> {
        let start = (block * height).min(words.len());
        start..(start + height).min(words.len())
    };
    let columns: Vec<&[u64]> =
        columns.chunks_exact(each).map(|words| words.get(column(words)).unwrap_or_default()).collect();
    Ok(IntegerMatrix::of_residues(modulus, &columns)?)
}

fn multiply_strip(
    matrix: &IntegerMatrix,
    modulus: &Modulus,
    strip: &mut Strip<'_>,
    right: &[List<'_>],
    (limb, start): (usize, usize),
) -> Result<(), RingError> {
    let list = entry("list of polynomials", right, strip.right)?;
    let range = start + strip.range.start..start + strip.range.end;
    let parts = list.polys.iter().zip(&list.places);
    let parts: Vec<&[u64]> =
        parts.map(|(poly, places)| poly.part_at(places, limb, range.clone())).collect::<Result<_, _>>()?;
    Ok(matrix.multiply(modulus, &mut strip.rows, &parts)?)
}
