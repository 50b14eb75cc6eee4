//! Products of a matrix of integers with a list of polynomials: one product of matrices for each modulus.

use std::ops::Range;

use rayon::prelude::*;
use sunzi_kernels::{IntegerMatrix, STRIP};

use crate::backend::check_columns;
use crate::error::entry;
use crate::scratch::Scratch;
use crate::{Backend, Residues, RingError, WordRing};

/// Residues of one modulus in a range of positions, of every row of the result.
struct Strip<'a> {
    limb: usize,
    range: Range<usize>,
    rows: Vec<&'a mut [u64]>,
}

/// Does [`Backend::matrix_product`] in words: threads share strips of coefficients of every modulus.
pub(crate) fn multiply(
    ring: &WordRing,
    matrix: &IntegerMatrix,
    polys: &[&Residues],
    level: usize,
) -> Result<Vec<Residues>, RingError> {
    check_columns(matrix, polys.len())?;
    let target = ring.at_level(level)?;
    let places = polys.iter().map(|poly| ring.nested(level, ring.level_of(poly)?));
    let places: Vec<Vec<usize>> = places.collect::<Result<_, RingError>>()?;
    let moduli = target.basis().moduli();
    let (n, tag) = (ring.degree(), target.basis().tag());
    let mut results: Vec<Scratch> = (0..matrix.rows()).map(|_| Scratch::new(n * moduli.len())).collect();
    let run = |strip: &mut Strip<'_>| -> Result<(), RingError> {
        let parts = polys.iter().zip(&places);
        let parts = parts.map(|(poly, places)| poly.part_at(places, strip.limb, strip.range.clone()));
        let parts: Vec<&[u64]> = parts.collect::<Result<_, _>>()?;
        Ok(matrix.multiply(entry("modulus", moduli, strip.limb)?, &mut strip.rows, &parts)?)
    };
    let threads = rayon::current_num_threads();
    let mut strips = strips(&mut results, n, moduli.len(), threads);
    if threads > 1 {
        strips.par_iter_mut().try_for_each(run)?;
    } else {
        strips.iter_mut().try_for_each(run)?;
    }
    drop(strips);
    Ok(results.into_iter().map(|words| Residues::new(words, n, tag)).collect())
}

/// Cuts all results into strips: one for each modulus and thread, of whole strips of the kernel.
fn strips(results: &mut [Scratch], n: usize, limbs: usize, threads: usize) -> Vec<Strip<'_>> {
    let width = n.div_ceil(threads).next_multiple_of(STRIP).min(n).max(1);
    let each = n.div_ceil(width);
    let mut strips: Vec<Strip<'_>> = (0..limbs * each)
        .map(|at| {
            let start = at % each * width;
            Strip {
                limb: at / each,
                range: start..n.min(start + width),
                rows: Vec::with_capacity(results.len()),
            }
        })
        .collect();
    for result in results {
        let parts = result.chunks_mut(n.max(1)).flat_map(|limb| limb.chunks_mut(width));
        strips.iter_mut().zip(parts).for_each(|(strip, part)| strip.rows.push(part));
    }
    strips
}
