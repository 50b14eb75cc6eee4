//! Sums of packed polynomials of keys, which stay packed while they are added.
//!
//! A residue below q takes whole bytes, and the bits that it leaves hold the sum of (2^(8·bytes) − 1)/(q − 1) residues: packed words are added as
//! one long integer, since no residue flows over into the next. Each word is added by halves, whose carries are paid once at the end.

use sunzi_kernels::Modulus;

use super::KeyPoly;
use crate::{Backend, Domain, Evaluation, RingError, WordRing};

/// Number of residues that are added together: memory is read in longer runs than other loops need, since it is read once.
const BLOCK: usize = 4096;
/// Words that a vector load may read behind the packed words of a block.
const READ: usize = 8;
const HALF: u32 = 32;
const MASK: u64 = u32::MAX as u64;

/// Buffers of one block.
struct Block {
    low: Vec<u64>,
    high: Vec<u64>,
    packed: Vec<u64>,
    unreduced: Vec<u64>,
    addend: Vec<u64>,
    sum: Vec<u64>,
    nothing: Vec<u64>,
}

impl KeyPoly {
    /// Returns the packed sum of polynomials of keys, which belong to the given ring; zero without any.
    pub(super) fn sum(parts: &[&Self], ring: &WordRing) -> Result<Self, RingError> {
        parts.iter().try_for_each(|part| ring.check_basis(part.shape(), part.tag()))?;
        let Some(first) = parts.first() else {
            return Self::new(&ring.zero(Evaluation::REPRESENTATION).into(), ring);
        };
        let mut sum = first.like();
        let mut block = Block::new(BLOCK.min(ring.degree()));
        for (i, modulus) in ring.basis().moduli().iter().enumerate() {
            for start in (0..ring.degree()).step_by(BLOCK) {
                let count = BLOCK.min(ring.degree() - start);
                block.add(parts, (i, start, count), modulus)?;
                sum.put(i, start, block.sum.get(..count).unwrap_or_default(), modulus)?;
            }
        }
        Ok(sum)
    }
}

impl Block {
    fn new(len: usize) -> Self {
        let [low, high, unreduced, addend, sum, nothing] = [(); 6].map(|()| vec![0; len]);
        Self { low, high, packed: vec![0; len + READ], unreduced, addend, sum, nothing }
    }

    /// Computes the sum of so many residues of all parts, from a place in a limb on.
    fn add(
        &mut self,
        parts: &[&KeyPoly],
        at: (usize, usize, usize),
        modulus: &Modulus,
    ) -> Result<(), RingError> {
        let bits = 8 * modulus.residue_bytes() as u32;
        let room = (u64::MAX >> (u64::BITS - bits)) / (modulus.value() - 1).max(1);
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        for (done, group) in parts.chunks(room).enumerate() {
            self.add_packed(group, at, modulus);
            let (_, _, count) = at;
            let [unreduced, addend, sum] = [&mut self.unreduced, &mut self.addend, &mut self.sum]
                .map(|words| words.get_mut(..count).unwrap_or_default());
            modulus.unpack_residues(unreduced, bytemuck::cast_slice(&self.packed))?;
            if done == 0 {
                modulus.reduce_into(sum, unreduced)?;
            } else {
                modulus.reduce_into(addend, unreduced)?;
                modulus.add_assign(sum, addend)?;
            }
        }
        Ok(())
    }

    /// Adds up packed words of as many parts as there is room for.
    fn add_packed(
        &mut self,
        parts: &[&KeyPoly],
        (i, start, count): (usize, usize, usize),
        modulus: &Modulus,
    ) {
        let len = (count * modulus.residue_bytes()).div_ceil(8);
        let [low, high] =
            [&mut self.low, &mut self.high].map(|words| words.get_mut(..len).unwrap_or_default());
        low.fill(0);
        high.fill(0);
        // Four parts at a time: the halves are loaded and stored once for all of them.
        for parts in parts.chunks(4) {
            let [first, second, third, fourth] = [0, 1, 2, 3].map(|at| {
                let words = parts.get(at).and_then(|part| part.words(i, start, count, modulus));
                words.unwrap_or(&self.nothing).iter()
            });
            let words = first.zip(second).zip(third.zip(fourth));
            for ((low, high), ((a, b), (c, d))) in low.iter_mut().zip(&mut *high).zip(words) {
                *low += (a & MASK) + (b & MASK) + (c & MASK) + (d & MASK);
                *high += (a >> HALF) + (b >> HALF) + (c >> HALF) + (d >> HALF);
            }
        }
        let mut carry = 0;
        for ((packed, low), high) in self.packed.iter_mut().zip(low).zip(high) {
            let low = *low + carry;
            let high = *high + (low >> HALF);
            *packed = low & MASK | high << HALF;
            carry = high >> HALF;
        }
    }
}
