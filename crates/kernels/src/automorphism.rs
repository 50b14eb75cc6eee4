//! X → X^k on evaluated polynomials, 64 values at a time.
//!
//! Position 64·b + 8·v + l stands for ψ^e with e = 2M·ρ + β, where M = n/64, ρ = 8·rev(v) + rev(l) and β = 2·rev(b) + 1 is below 2M. There a(X^k) has the
//! value of a at e·k = 2M·(ρ·k + τ) + β', for β·k = 2M·τ + β': a block comes from one block, and within it ρ from ρ·k + τ modulo 64.

use crate::error::{KernelError, check_length};
use crate::isa::{Isa, active_isa};
use crate::plan::check_transform_length;
use crate::twiddles::bit_reverse;
#[cfg(target_arch = "x86_64")]
use crate::x86_64::automorphism as vectors;

/// Words of a block.
pub(crate) const BLOCK: usize = 64;
/// Three bits in reverse.
pub(crate) const REVERSED: [u8; 8] = [0, 4, 2, 6, 1, 5, 3, 7];

/// The automorphism X → X^k of polynomials that an [`NttPlan`](crate::NttPlan) has evaluated, whatever their modulus.
///
/// ```
/// use sunzi_kernels::{Automorphism, Modulus, NttPlan};
/// let plan = NttPlan::new(Modulus::new(12_289)?, 64)?;
/// let (mut a, mut expected) = ([0; 64], [0; 64]);
/// (a[1], expected[5]) = (7, 7); // 7·x and 7·x^5
/// plan.forward(&mut a)?;
/// plan.forward(&mut expected)?;
/// let mut image = [0; 64];
/// Automorphism::new(64, 5)?.apply(&mut image, 0, &a, 0)?;
/// assert_eq!(image, expected);
/// # Ok::<(), sunzi_kernels::KernelError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Automorphism {
    n: usize,
    exponent: usize,
}

/// Where a block comes from.
#[derive(Clone, Copy)]
pub(crate) struct Origin {
    /// The number of the other block.
    pub(crate) block: usize,
    /// τ modulo 64.
    pub(crate) shift: usize,
}

impl Automorphism {
    /// X → X^k for polynomials of degree below `n`, a power of two from 2^6 to 2^17, and an odd `exponent` k, which counts modulo 2n.
    ///
    /// # Errors
    /// [`KernelError::UnsupportedLength`]; [`KernelError::NotAnAutomorphism`].
    pub fn new(n: usize, exponent: u64) -> Result<Self, KernelError> {
        check_transform_length(n)?;
        if exponent.is_multiple_of(2) {
            return Err(KernelError::NotAnAutomorphism { exponent });
        }
        Ok(Self { n, exponent: (exponent % (2 * n as u64)) as usize })
    }

    /// k modulo 2n.
    pub(crate) fn exponent(&self) -> usize {
        self.exponent
    }

    /// Where position `position` has its value from. Aligned ranges of a power of two of positions, 64 or more, have theirs from such a range.
    #[must_use]
    pub fn source(&self, position: usize) -> usize {
        let origin = self.origin(position / BLOCK);
        origin.block * BLOCK + self.place(origin.shift, position % BLOCK)
    }

    /// The block that block `block` comes from, and its τ.
    #[inline]
    pub(crate) fn origin(&self, block: usize) -> Origin {
        let bits = (self.n / BLOCK).trailing_zeros();
        let product = (2 * bit_reverse(block, bits) + 1) * self.exponent;
        let period = bits + 1;
        let below = product & ((1 << period) - 1);
        Origin { block: bit_reverse(below >> 1, bits), shift: product >> period & (BLOCK - 1) }
    }

    /// Where place 8·v + l of a block has its value from.
    #[inline]
    fn place(&self, shift: usize, place: usize) -> usize {
        let reversed = |bits: usize| REVERSED.get(bits & 7).map_or(0, |&bits| usize::from(bits));
        let rho = (8 * reversed(place >> 3) + reversed(place)) * self.exponent + shift;
        8 * reversed(rho >> 3) + reversed(rho)
    }

    /// The values at positions `from`, `from + 1` and so on of a(X^k), where `input` are those of a from position `start` on. All of `from`,
    /// `start` and both lengths are multiples of 64.
    ///
    /// # Errors
    /// [`KernelError::LengthMismatch`] for one that is not; [`KernelError::IndexOutOfRange`] where a value comes from outside of the input, or for positions
    /// from n on: then some of `out` may have been written.
    pub fn apply(
        &self,
        out: &mut [u64],
        from: usize,
        input: &[u64],
        start: usize,
    ) -> Result<(), KernelError> {
        self.apply_on(active_isa().unwrap_or(Isa::Portable), out, from, input, start)
    }

    fn apply_on(
        &self,
        isa: Isa,
        out: &mut [u64],
        from: usize,
        input: &[u64],
        start: usize,
    ) -> Result<(), KernelError> {
        for length in [out.len(), from, input.len(), start] {
            check_length(length / BLOCK * BLOCK, length)?;
        }
        let outside = |index: usize, len| {
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            KernelError::IndexOutOfRange { index, len }
        };
        if from.saturating_add(out.len()) > self.n {
            return Err(outside(from.saturating_add(out.len()) - 1, self.n));
        }
        let len = start.saturating_add(input.len());
        let (out, input) = (out.as_chunks_mut().0, input.as_chunks().0);
        let (first, start) = (from / BLOCK, start / BLOCK);
        let done = vectors::apply(isa, self, out, first, input, start);
        for (i, out) in out.iter_mut().enumerate().skip(done) {
            let Origin { block, shift } = self.origin(first + i);
            let input = block.checked_sub(start).and_then(|block| input.get(block));
            let input = input.ok_or_else(|| outside(block * BLOCK, len))?;
            for (place, out) in out.iter_mut().enumerate() {
                *out = input.get(self.place(shift, place)).copied().unwrap_or(0);
            }
        }
        Ok(())
    }
}

/// Nothing is done by vectors here.
#[cfg(not(target_arch = "x86_64"))]
mod vectors {
    use super::{Automorphism, BLOCK};
    use crate::isa::Isa;

    pub(super) fn apply(
        _: Isa,
        _: &Automorphism,
        _: &mut [[u64; BLOCK]],
        _: usize,
        _: &[[u64; BLOCK]],
        _: usize,
    ) -> usize {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::evaluation_exponent;

    /// Every position of every exponent of small rings, and ends of large ones, on every instruction set.
    #[test]
    fn values_come_from_where_their_exponents_say() {
        for n in [64_usize, 128, 256, 1 << 12, 1 << 17] {
            let mut position_of = vec![0; 2 * n];
            (0..n).for_each(|position| position_of[evaluation_exponent(n, position)] = position);
            let input: Vec<u64> = (0..n as u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
            let all = 1..2 * n as u64;
            let ends = [1, 3, 5, 25, 2 * n as u64 - 1, n as u64 + 1, n as u64 - 1];
            let exponents: Vec<u64> = if n < 256 { all.step_by(2).collect() } else { ends.to_vec() };
            for k in exponents {
                let turn = Automorphism::new(n, k).unwrap();
                let source = |position| position_of[evaluation_exponent(n, position) * k as usize % (2 * n)];
                let expected: Vec<u64> = (0..n).map(|position| input[source(position)]).collect();
                assert!((0..n).all(|position| turn.source(position) == source(position)), "{n}, {k}");
                for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
                    let mut out = vec![0; n];
                    turn.apply_on(isa, &mut out, 0, &input, 0).unwrap();
                    assert_eq!(out, expected, "{n}, {k}, {isa}");
                }
            }
        }
    }

    #[test]
    fn parts_come_from_parts() {
        let n = 1 << 12;
        let input: Vec<u64> = (0..n as u64).collect();
        let turn = Automorphism::new(n, 5 + 2 * n as u64).unwrap();
        assert_eq!(turn, Automorphism::new(n, 5).unwrap());
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            let mut whole = vec![0; n];
            turn.apply_on(isa, &mut whole, 0, &input, 0).unwrap();
            for (from, len) in [(0, 64), (1024, 1024), (3072, 512)] {
                let start = turn.source(from) / len * len;
                let mut part = vec![0; len];
                turn.apply_on(isa, &mut part, from, &input[start..start + len], start).unwrap();
                assert_eq!(part, whole[from..from + len]);
            }
        }
    }

    #[test]
    fn refuses_what_it_cannot_reach() {
        assert_eq!(Automorphism::new(96, 5).err(), Some(KernelError::UnsupportedLength { n: 96 }));
        assert_eq!(Automorphism::new(64, 6).err(), Some(KernelError::NotAnAutomorphism { exponent: 6 }));
        let turn = Automorphism::new(256, 5).unwrap();
        let input = [0; 256];
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            let refused = |out: usize, from, input: &[u64], start| {
                turn.apply_on(isa, &mut vec![0; out], from, input, start).is_err()
            };
            assert!(refused(63, 0, &input, 0) && refused(64, 8, &input, 0) && refused(64, 0, &input[1..], 0));
            assert!(refused(64, 256, &input, 0) && refused(64, usize::MAX / 64 * 64, &input, 0));
            assert!(refused(256, 0, &input[..128], 0) && refused(256, 0, &input[64..], 64));
            assert!(refused(256, 0, &input, 64) && refused(64, 0, &[], 0));
            assert!(!refused(0, 256, &[], 0) && !refused(256, 0, &input, 0));
        }
    }
}
