//! Schedule of a transform: how its levels are grouped into passes over memory.

/// Largest number of levels of a transform.
pub const MAX_LEVELS: usize = 17;
/// Number of words in a block of the tail, which runs the six levels nearest each other.
pub const TAIL: usize = 64;
/// Number of twiddle words of one tail block: 7 pairs and a gap, then 7 pairs of vectors.
pub(crate) const TAIL_TWIDDLES: usize = 128;
/// Largest number of words of a block that stays in the first-level cache while its passes run.
pub const CHUNK: usize = 1 << 11;

/// Range of the words that a pass receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Entry {
    /// Words that are inputs of a transform, below 2q.
    Enter,
    /// Words that an earlier pass wrote.
    Renormalise,
}

/// A pass of a transform over all words, which runs some levels.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// Number of levels of the pass, one to three.
    pub levels: usize,
    /// Number of words in a block: the distance between the two words of its first pairs is half of that.
    pub block: usize,
    pub(crate) entry: Entry,
}

impl Pass {
    /// Number of twiddle words of one block of the pass.
    pub(crate) fn twiddles(self) -> usize {
        2 * ((1 << self.levels) - 1)
    }
}

/// Passes of a transform of `n` words, outermost (widest) first, and the tail after them.
#[derive(Clone, Debug)]
pub struct Schedule {
    passes: Vec<Pass>,
    outer: usize,
    /// Number of words in a chunk, which runs its inner passes and its tail alone.
    pub chunk: usize,
}

impl Schedule {
    /// Makes the schedule of a transform of `n` words, a power of two from 64.
    pub fn new(n: usize) -> Self {
        let mut levels = (n / TAIL).trailing_zeros() as usize;
        let mut passes = Vec::new();
        let mut block = n;
        while levels > 0 {
            // Three levels fill the registers and keep the streams of a pass within the eight ways of a
            // first-level cache set; one alone would pay for its stores.
            let now = match levels {
                1 => 1,
                _ if levels.is_multiple_of(3) => 3,
                _ => 2,
            };
            let entry = if passes.is_empty() { Entry::Enter } else { Entry::Renormalise };
            passes.push(Pass { levels: now, block, entry });
            block >>= now;
            levels -= now;
        }
        let outer = passes.iter().take_while(|pass| pass.block > CHUNK).count();
        let chunk = passes.get(outer).map_or(block, |pass| pass.block);
        Self { passes, outer, chunk }
    }

    /// All passes of the transform before the tail.
    pub fn passes(&self) -> &[Pass] {
        &self.passes
    }

    /// Passes of the transform that run over all words.
    pub(crate) fn outer(&self) -> &[Pass] {
        self.passes.get(..self.outer).unwrap_or(&[])
    }

    /// Passes of the transform that run chunk by chunk.
    pub(crate) fn inner(&self) -> &[Pass] {
        self.passes.get(self.outer..).unwrap_or(&[])
    }
}
