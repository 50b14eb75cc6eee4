//! Sharing of work among threads. Every split is by data alone, so that results do not depend
//! on the number of threads, nor on the strategy.

use std::ops::Range;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sunzi_kernels::Conversion;

use crate::RingError;
use crate::error::{check_limbs, check_table};
use crate::scratch::Scratch;

/// Number of words of transforms from which handing limbs to other threads pays (a transform of 2^12 takes 4
/// µs).
const TRANSFORM_WORDS: usize = 1 << 13;
/// Number of words of element-wise work from which sharing among threads pays.
const ELEMENTWISE_WORDS: usize = 1 << 16;
/// Number of output words of conversions from which sharing among threads pays.
const CONVERSION_WORDS: usize = 1 << 14;

/// Factor on the least work that is shared, for a thread outside of the pool, which wakes a pool thread and sleeps
/// until that is done: 25 to 75 µs on virtual machines.
const COLD: usize = 16;

/// Number of coefficients that conversions handle together: the limbs of a block stay in the cache between
/// its passes.
pub const BLOCK: usize = 1024;
/// Number of coefficients whose transforms end together with the step that follows them: with the operands of
/// that step they fit the second-level cache.
pub(crate) const ENDED: usize = 4096;
/// Number of coefficients of a limb that element-wise work hands out together.
const PART: usize = 2048;

/// Number of target moduli that conversions handle together: they share loads, and all they touch should stay
/// in the cache.
pub const GROUP: usize = 4;

/// Strategies by which threads of rayon's current pool share work [AS19, 4]: the residues of a polynomial form a
/// table of limbs by coefficients.
///
/// Results of all strategies are equal bit for bit. Steps that only BFV has are always collapsed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Parallelism {
    /// Threads share the coefficients of one limb after the other [AS19, 4.1]; transforms, which mix coefficients,
    /// are not shared.
    CoefficientWise,
    /// Threads share whole limbs [AS19, 4.2], transforms among them; conversions by groups of target limbs.
    ModulusWise,
    /// Threads share both loops made one: limbs for transforms, limbs and blocks of coefficients for all else [AS19,
    /// 4.3].
    #[default]
    Collapsed,
}

/// Kinds of work on polynomials, which differ in the cost of a task relative to its size.
#[derive(Clone, Copy)]
pub enum Work {
    /// Transforms of whole limbs.
    Transform,
    /// Operations on limbs, word by word.
    Elementwise,
    /// Conversions of residues between moduli.
    Conversion,
}

impl Work {
    fn is_parallel(self, words: usize) -> bool {
        let threshold = match self {
            Self::Transform => TRANSFORM_WORDS,
            Self::Elementwise => ELEMENTWISE_WORDS,
            Self::Conversion => CONVERSION_WORDS,
        };
        let threshold = if rayon::current_thread_index().is_some() { threshold } else { COLD * threshold };
        words >= threshold && rayon::current_num_threads() > 1
    }
}

/// Runs `f` on a thread of rayon's current pool if `words`, about as many as it transforms, are worth it: what it then shares finds threads
/// awake, where every step of a thread outside of the pool would wake them anew. With one thread, or on one of the pool, `f` runs where it is.
///
/// ```
/// assert_eq!(sunzi_ring::on_pool(1 << 20, || 2 + 2), 4);
/// ```
pub fn on_pool<T: Send>(words: usize, f: impl FnOnce() -> T + Send) -> T {
    let outside = rayon::current_thread_index().is_none();
    if outside && Work::Transform.is_parallel(words) { rayon::scope(|_| f()) } else { f() }
}

/// Whether every thread of the pool gets about as many of `tasks` tasks.
fn divides_evenly(tasks: usize) -> bool {
    let threads = rayon::current_num_threads();
    tasks.is_multiple_of(threads) || tasks >= 4 * threads
}

impl Parallelism {
    /// Whether work on `words` words is shared limb by limb.
    pub(crate) fn shares_limbs(self, work: Work, words: usize) -> bool {
        self != Self::CoefficientWise && work.is_parallel(words)
    }

    /// Whether work on `words` words is shared coefficient by coefficient.
    pub(crate) fn shares_coefficients(self, work: Work, words: usize) -> bool {
        self != Self::ModulusWise && work.is_parallel(words)
    }

    /// The strategy inside each of `tasks` tasks that limbs are divided into: no sharing where every thread has a
    /// task.
    pub(crate) fn inside(self, tasks: usize) -> Self {
        let enough = tasks >= rayon::current_num_threads();
        if self == Self::Collapsed && enough { Self::ModulusWise } else { self }
    }

    /// Maps items whose work counts as `words` words; the work on each item may be shared further.
    pub(crate) fn map<T: Sync, U: Send>(
        self,
        work: Work,
        words: usize,
        items: &[T],
        f: impl Fn(&T) -> Result<U, RingError> + Send + Sync,
    ) -> Result<Vec<U>, RingError> {
        if items.len() > 1 && self.shares_limbs(work, words) {
            items.par_iter().map(f).collect()
        } else {
            items.iter().map(f).collect()
        }
    }

    /// Runs `f` on items whose work counts as `words` words; the work on each item may be shared further.
    pub(crate) fn for_each<T: Send>(
        self,
        work: Work,
        words: usize,
        items: Vec<T>,
        f: impl Fn(T) -> Result<(), RingError> + Send + Sync,
    ) -> Result<(), RingError> {
        if items.len() > 1 && self.shares_limbs(work, words) {
            items.into_par_iter().try_for_each(f)
        } else {
            items.into_iter().try_for_each(f)
        }
    }

    /// Runs `f(i, limb i)` over limbs of n words: work that needs all coefficients of a limb at once.
    ///
    /// # Errors
    /// Every error of `f`.
    pub fn for_each_limb(
        self,
        work: Work,
        words: &mut [u64],
        n: usize,
        f: impl Fn(usize, &mut [u64]) -> Result<(), RingError> + Send + Sync,
    ) -> Result<(), RingError> {
        if words.len() > n && self.shares_limbs(work, words.len()) {
            words.par_chunks_exact_mut(n).enumerate().try_for_each(|(i, limb)| f(i, limb))
        } else {
            words.chunks_exact_mut(n).enumerate().try_for_each(|(i, limb)| f(i, limb))
        }
    }

    /// Runs `f(i, limb i of the first, limb i of the second)` over limbs of n words.
    ///
    /// # Errors
    /// Every error of `f`; [`RingError::MissingTable`] for lists of different lengths.
    pub fn for_each_limb_pair(
        self,
        work: Work,
        first: &mut [u64],
        second: &mut [u64],
        n: usize,
        f: impl Fn(usize, [&mut [u64]; 2]) -> Result<(), RingError> + Send + Sync,
    ) -> Result<(), RingError> {
        check_limbs("limb beside another", first.len() / n.max(1), n, second.len())?;
        if first.len() > n && self.shares_limbs(work, first.len()) {
            let pairs = first.par_chunks_exact_mut(n).zip(second.par_chunks_exact_mut(n));
            pairs.enumerate().try_for_each(|(i, (a, b))| f(i, [a, b]))
        } else {
            let mut pairs = first.chunks_exact_mut(n).zip(second.chunks_exact_mut(n));
            pairs.by_ref().enumerate().try_for_each(|(i, (a, b))| f(i, [a, b]))
        }
    }

    /// Runs `f(i, range of coefficients, that range of limb i of every list)`: element-wise work.
    pub(crate) fn for_each_part<const K: usize>(
        self,
        words: [&mut [u64]; K],
        n: usize,
        f: impl Fn(usize, Range<usize>, [&mut [u64]; K]) -> Result<(), RingError> + Send + Sync,
    ) -> Result<(), RingError> {
        let total: usize = words.iter().map(|words| words.len()).sum();
        let shared = Work::Elementwise.is_parallel(total);
        let n = n.max(1);
        let limbs = words.first().map_or(0, |words| words.len() / n);
        for list in &words {
            check_limbs("limb beside another", limbs, n, list.len())?;
        }
        let part = match self {
            Self::CoefficientWise if shared => n.min(PART),
            // A longer part reads memory faster: whole limbs where no thread is left without one.
            Self::Collapsed if shared && !divides_evenly(limbs) => n.min(4 * PART),
            _ => n,
        };
        // The last part of a limb may be shorter.
        let each = n.div_ceil(part);
        let count = limbs * each;
        let mut lists = words.map(|words| words.chunks_mut(n).flat_map(|limb| limb.chunks_mut(part)));
        let parts: Vec<[&mut [u64]; K]> =
            (0..count).map(|_| lists.each_mut().map(|list| list.next().unwrap_or_default())).collect();
        let run = |(at, parts): (usize, [&mut [u64]; K])| {
            let (i, start) = (at / each, at % each * part);
            f(i, start..n.min(start + part), parts)
        };
        if !shared {
            return parts.into_iter().enumerate().try_for_each(run);
        }
        if self != Self::CoefficientWise {
            return parts.into_par_iter().enumerate().try_for_each(run);
        }
        // Limbs follow one after the other.
        let mut parts = parts.into_iter().enumerate();
        let mut limb: Vec<_> = parts.by_ref().take(each).collect();
        while !limb.is_empty() {
            limb.into_par_iter().try_for_each(run)?;
            limb = parts.by_ref().take(each).collect();
        }
        Ok(())
    }

    /// Runs `f(range of coefficients, that range of every output limb)` over blocks of coefficients.
    ///
    /// # Errors
    /// Every error of `f`.
    pub fn for_each_block(
        self,
        output: &mut [u64],
        n: usize,
        f: impl Fn(Range<usize>, &mut [&mut [u64]]) -> Result<(), RingError> + Send + Sync,
    ) -> Result<(), RingError> {
        self.for_each_block_of(output.chunks_exact_mut(n).collect(), n, f)
    }

    /// Runs `f(range of coefficients, that range of every output limb)` over blocks of coefficients, for limbs that
    /// stand anywhere.
    pub(crate) fn for_each_block_of(
        self,
        limbs: Vec<&mut [u64]>,
        n: usize,
        f: impl Fn(Range<usize>, &mut [&mut [u64]]) -> Result<(), RingError> + Send + Sync,
    ) -> Result<(), RingError> {
        let parallel = self.shares_coefficients(Work::Conversion, n * limbs.len());
        let run = |(b, mut block): (usize, Vec<&mut [u64]>)| f(b * BLOCK..n.min((b + 1) * BLOCK), &mut block);
        let blocks = into_blocks(limbs, n);
        if parallel {
            blocks.into_par_iter().enumerate().try_for_each(run)
        } else {
            blocks.into_iter().enumerate().try_for_each(run)
        }
    }

    /// Runs a conversion of rows that are as long as every output.
    pub(crate) fn convert(
        self,
        conversion: &Conversion,
        rows: &[&[u64]],
        mut outputs: Vec<&mut [u64]>,
    ) -> Result<(), RingError> {
        let n = outputs.first().map_or(0, |out| out.len());
        if !self.shares_coefficients(Work::Conversion, n * outputs.len()) {
            return Ok(conversion.apply(rows, &mut outputs)?);
        }
        self.for_each_block_of(outputs, n, |range, outputs| {
            Ok(conversion.apply(&block_of(rows.iter().copied(), &range), outputs)?)
        })
    }
}

/// Divides limbs into groups of at most [`GROUP`] and of nearly equal size, an even number of them where there are
/// several limbs: two threads finish together.
pub fn groups(limbs: Range<usize>) -> Vec<Range<usize>> {
    let all = limbs.len();
    let count = all.div_ceil(GROUP).next_multiple_of(2).min(all);
    (0..count).map(|g| limbs.start + g * all / count..limbs.start + (g + 1) * all / count).collect()
}

/// Limbs of a result that are computed together, as a group.
pub(crate) struct LimbGroup {
    /// Index of the group of targets that the limbs belong to; `None` for limbs without a target.
    pub(crate) group: Option<usize>,
    /// Places of the limbs among the targets.
    pub(crate) targets: Vec<usize>,
    /// Places of the limbs in the result.
    pub(crate) outs: Range<usize>,
}

/// Limbs of both halves of a result that are computed together.
pub(crate) struct GroupOutputs<'a> {
    pub(crate) limbs: LimbGroup,
    pub(crate) outs: Vec<[&'a mut [u64]; 2]>,
    /// Strategy by which work inside the group is shared.
    pub(crate) inside: Parallelism,
}

/// The number of targets of the longest group.
pub(crate) fn longest(groups: &[Range<usize>]) -> usize {
    groups.iter().map(Range::len).max().unwrap_or(0)
}

/// Returns the limbs of a result by groups; `places` are their places among targets, if any.
pub(crate) fn limb_groups(groups: &[Range<usize>], places: &[Option<usize>]) -> Vec<LimbGroup> {
    let (longest, mut all) = (longest(groups), Vec::<LimbGroup>::new());
    for (out, &place) in places.iter().enumerate() {
        let group = place.and_then(|place| groups.iter().position(|group| group.contains(&place)));
        match all.last_mut() {
            Some(last) if last.group == group && last.outs.len() < longest => {
                last.targets.extend(place);
                last.outs.end = out + 1;
            }
            _ => all.push(LimbGroup { group, targets: place.into_iter().collect(), outs: out..out + 1 }),
        }
    }
    all
}

/// Returns the limbs of two halves of a result by groups of targets; the halves hold only limbs and the rows after
/// them.
pub(crate) fn group_outputs<'a>(
    (n, parallelism): (usize, Parallelism),
    groups: &[Range<usize>],
    places: &[Option<usize>],
    halves: [&'a mut [u64]; 2],
) -> Result<Vec<GroupOutputs<'a>>, RingError> {
    let [first, second] = halves;
    for half in [&*first, &*second] {
        check_table("limb of a half", places.len(), places.len().min(half.len() / n))?;
    }
    let mut limbs = first.chunks_exact_mut(n).zip(second.chunks_exact_mut(n)).map(|(a, b)| [a, b]);
    let groups = limb_groups(groups, places);
    let inside = parallelism.inside(groups.len());
    let outputs = |group: LimbGroup| GroupOutputs {
        outs: limbs.by_ref().take(group.outs.len()).collect(),
        limbs: group,
        inside,
    };
    Ok(groups.into_iter().map(outputs).collect())
}

/// Runs `f` over groups of targets, shared among threads, with scratch memory of `words` for each.
pub(crate) fn for_each_group(
    parallelism: Parallelism,
    groups: Vec<GroupOutputs<'_>>,
    words: usize,
    f: impl Fn(&mut Scratch, GroupOutputs<'_>) -> Result<(), RingError> + Send + Sync,
) -> Result<(), RingError> {
    let outputs = groups.iter().flat_map(|group| group.outs.iter().flatten()).map(|out| out.len()).sum();
    with_scratch(parallelism.shares_limbs(Work::Transform, outputs), groups, words, f)
}

/// Runs `f` over items, shared among threads if `shared`, with scratch memory of `words` for each thread.
pub(crate) fn with_scratch<T: Send>(
    shared: bool,
    items: Vec<T>,
    words: usize,
    f: impl Fn(&mut Scratch, T) -> Result<(), RingError> + Send + Sync,
) -> Result<(), RingError> {
    if items.len() > 1 && shared {
        items.into_par_iter().try_for_each_init(|| Scratch::new(words), f)
    } else {
        let mut scratch = Scratch::new(words);
        items.into_iter().try_for_each(|item| f(&mut scratch, item))
    }
}

/// Cuts all limbs into equal blocks, and lists for each block its part of every limb.
pub(crate) fn into_blocks(limbs: Vec<&mut [u64]>, n: usize) -> Vec<Vec<&mut [u64]>> {
    let mut blocks: Vec<Vec<&mut [u64]>> = (0..n.div_ceil(BLOCK)).map(|_| Vec::new()).collect();
    for limb in limbs {
        for (block, part) in blocks.iter_mut().zip(limb.chunks_mut(BLOCK)) {
            block.push(part);
        }
    }
    blocks
}

/// Returns one range of coefficients of every limb.
pub fn block_of<'a>(limbs: impl Iterator<Item = &'a [u64]>, range: &Range<usize>) -> Vec<&'a [u64]> {
    limbs.map(|limb| limb.get(range.clone()).unwrap_or_default()).collect()
}
