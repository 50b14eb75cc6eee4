//! When and how work is shared among threads. Every split is by data alone, so that results do not depend
//! on the number of threads.

use rayon::prelude::*;

use crate::RingError;

/// Words of transforms from which handing limbs to other threads pays (a transform of 2^12 takes 4 µs).
const TRANSFORM_WORDS: usize = 1 << 13;
/// Words of element-wise work from which it pays.
const ELEMENTWISE_WORDS: usize = 1 << 16;
/// Output words of conversions from which it pays.
const CONVERSION_WORDS: usize = 1 << 14;

/// Coefficients handled together in conversions: the limbs of a block stay in the cache between its passes.
pub(crate) const BLOCK: usize = 1024;

/// Target moduli of conversions handled together: they share loads, and all they touch should stay in the cache.
pub(crate) const GROUP: usize = 4;

/// The cost of a task relative to its size.
#[derive(Clone, Copy)]
pub(crate) enum Work {
    Transform,
    Elementwise,
    Conversion,
}

impl Work {
    pub(crate) fn is_parallel(self, words: usize) -> bool {
        let threshold = match self {
            Self::Transform => TRANSFORM_WORDS,
            Self::Elementwise => ELEMENTWISE_WORDS,
            Self::Conversion => CONVERSION_WORDS,
        };
        words >= threshold && rayon::current_num_threads() > 1
    }
}

/// Runs `f(i, limb i)` over limbs of n words.
pub(crate) fn for_each_limb(
    work: Work,
    words: &mut [u64],
    n: usize,
    f: impl Fn(usize, &mut [u64]) -> Result<(), RingError> + Send + Sync,
) -> Result<(), RingError> {
    if words.len() > n && work.is_parallel(words.len()) {
        words.par_chunks_exact_mut(n).enumerate().try_for_each(|(i, limb)| f(i, limb))
    } else {
        words.chunks_exact_mut(n).enumerate().try_for_each(|(i, limb)| f(i, limb))
    }
}

/// Runs `f(i, limb i of the first, limb i of the second)` over limbs of n words.
pub(crate) fn for_each_limb_pair(
    work: Work,
    first: &mut [u64],
    second: &mut [u64],
    n: usize,
    f: impl Fn(usize, [&mut [u64]; 2]) -> Result<(), RingError> + Send + Sync,
) -> Result<(), RingError> {
    if first.len() > n && work.is_parallel(first.len()) {
        let pairs = first.par_chunks_exact_mut(n).zip(second.par_chunks_exact_mut(n));
        pairs.enumerate().try_for_each(|(i, (a, b))| f(i, [a, b]))
    } else {
        let mut pairs = first.chunks_exact_mut(n).zip(second.chunks_exact_mut(n));
        pairs.by_ref().enumerate().try_for_each(|(i, (a, b))| f(i, [a, b]))
    }
}

/// Runs `f(i, [limb i of every list])` over limbs of n words.
pub(crate) fn for_each_limb_of<const K: usize>(
    work: Work,
    words: [&mut [u64]; K],
    n: usize,
    f: impl Fn(usize, [&mut [u64]; K]) -> Result<(), RingError> + Send + Sync,
) -> Result<(), RingError> {
    let total: usize = words.iter().map(|words| words.len()).sum();
    let count = words.first().map_or(0, |words| words.len() / n);
    let mut lists = words.map(|words| words.chunks_exact_mut(n));
    let limbs: Vec<[&mut [u64]; K]> =
        (0..count).map(|_| lists.each_mut().map(|list| list.next().unwrap_or_default())).collect();
    if count > 1 && work.is_parallel(total) {
        limbs.into_par_iter().enumerate().try_for_each(|(i, limbs)| f(i, limbs))
    } else {
        limbs.into_iter().enumerate().try_for_each(|(i, limbs)| f(i, limbs))
    }
}

/// Runs `f(range of coefficients, that range of every output limb)` over blocks of coefficients.
pub(crate) fn for_each_block(
    output: &mut [u64],
    n: usize,
    f: impl Fn(std::ops::Range<usize>, &mut [&mut [u64]]) -> Result<(), RingError> + Send + Sync,
) -> Result<(), RingError> {
    let parallel = Work::Conversion.is_parallel(output.len());
    let mut blocks: Vec<Vec<&mut [u64]>> = (0..n.div_ceil(BLOCK)).map(|_| Vec::new()).collect();
    for limb in output.chunks_exact_mut(n) {
        for (block, part) in blocks.iter_mut().zip(limb.chunks_mut(BLOCK)) {
            block.push(part);
        }
    }
    let run = |(b, mut block): (usize, Vec<&mut [u64]>)| f(b * BLOCK..n.min((b + 1) * BLOCK), &mut block);
    if parallel {
        blocks.into_par_iter().enumerate().try_for_each(run)
    } else {
        blocks.into_iter().enumerate().try_for_each(run)
    }
}

/// The same range of coefficients of every limb.
pub(crate) fn block_of<'a>(
    limbs: impl Iterator<Item = &'a [u64]>,
    range: &std::ops::Range<usize>,
) -> Vec<&'a [u64]> {
    limbs.map(|limb| limb.get(range.clone()).unwrap_or_default()).collect()
}
