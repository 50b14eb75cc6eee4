//! Twiddles, powers of the root of unity, in the order in which the passes read them: one linear stream a pass.

use crate::buffer::Buffer;
use crate::constants::Constants;
use crate::schedule::{Pass, Schedule, TAIL, TAIL_TWIDDLES};

/// Twiddles of a transform and their quotients for one direction.
#[derive(Clone)]
pub(crate) struct Twiddles {
    pub(crate) n: usize,
    pub(crate) schedule: Schedule,
    /// Words of the twiddles of each pass, block by block and level by level: pairs (w, quotient).
    pub(crate) passes: Vec<Buffer>,
    /// Words of the twiddles of the tail, for each block: 7 pairs for the levels before the transposition and
    /// a gap of two words, then 7 pairs of vectors for the levels after it.
    pub(crate) tail: Buffer,
}

/// Returns `i` with its low `bits` bits reversed.
#[inline]
pub(crate) fn bit_reverse(i: usize, bits: u32) -> usize {
    if bits == 0 { 0 } else { i.reverse_bits() >> (usize::BITS - bits) }
}

impl Twiddles {
    /// Makes the twiddles of a transform: the level with `m` blocks multiplies in block `i` by
    /// root^bitrev(m+i), `root` of order 2n. With a root of order 4n it is the `half` of a transform of length 2n that
    /// comes after its first level: the level multiplies by root^bitrev(2m+i).
    pub(crate) fn new(
        c: &Constants,
        n: usize,
        root: u64,
        half: bool,
        factor: fn(u64, u64) -> [u64; 2],
    ) -> Self {
        let length = if half { 2 * n } else { n };
        let mut powers = vec![0; length];
        let mut power = 1;
        for i in 0..length {
            if let Some(slot) = powers.get_mut(bit_reverse(i, length.trailing_zeros())) {
                *slot = power;
            }
            power = c.mul(power, root);
        }
        let pair = |i: usize| {
            // The block count m is the highest bit of i = m + …, which is below n.
            let i = if half { i + (1 << i.ilog2()) } else { i };
            let w = powers.get(i).copied().unwrap_or(0);
            factor(w, c.q)
        };
        let schedule = Schedule::new(n);
        let passes = schedule.passes().iter().map(|pass| pass_stream(*pass, n, pair)).collect();
        Self { n, passes, tail: tail_stream(n, pair), schedule }
    }
}

fn pass_stream(pass: Pass, n: usize, pair: impl Fn(usize) -> [u64; 2]) -> Buffer {
    let blocks = n / pass.block;
    let mut words = Vec::with_capacity(blocks * pass.twiddles());
    for block in 0..blocks {
        for r in 0..pass.levels {
            for g in 0..1 << r {
                words.extend(pair((blocks << r) + (block << r) + g));
            }
        }
    }
    Buffer::from_slice(&words)
}

fn tail_stream(n: usize, pair: impl Fn(usize) -> [u64; 2]) -> Buffer {
    let blocks = n / TAIL;
    let mut words = Vec::with_capacity(blocks * TAIL_TWIDDLES);
    for block in 0..blocks {
        for r in 0..3 {
            for g in 0..1 << r {
                words.extend(pair((blocks << r) + (block << r) + g));
            }
        }
        words.extend([0, 0]);
        // After the transposition lane l of vector v is word 8·l + v of the block, so the level with 2^r
        // groups to every eight words uses in lane l the twiddle of group l·2^r + g.
        for r in 0..3 {
            for g in 0..1 << r {
                let lanes = |which: usize| {
                    (0..8usize)
                        .map(move |lane| ((8 * blocks + 8 * block + lane) << r) + g)
                        .map(move |i| (i, which))
                };
                words.extend(lanes(0).chain(lanes(1)).map(|(i, which)| {
                    let [w, quotient] = pair(i);
                    if which == 0 { w } else { quotient }
                }));
            }
        }
    }
    Buffer::from_slice(&words)
}
