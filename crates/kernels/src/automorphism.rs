//! Automorphisms X → X^k of evaluated polynomials, 64 values at a time.
//!
//! Position 64·b + 8·v + l stands for ψ^(2j + 1) with j = M·ρ + β, where M = n/64, ρ = 8·rev(v) + rev(l) and β = rev(b) is below M. There a(X^k) has the
//! value of a at ψ^((2j + 1)·k), that of j·k + (k − 1)/2 = M·(ρ·k + τ) + β' for β·k + (k − 1)/2 = M·τ + β': a block comes from one block, and
//! within it ρ from ρ·k + τ modulo 64. In a real ring it stands for ψ^(4j + 1), and (k − 1)/4 takes the place of (k − 1)/2.

use crate::error::{KernelError, check_length};
use crate::isa::Isa;
use crate::permute::{BLOCK, Origin, REVERSED};
use crate::plan::check_transform_length;
use crate::select::active_isa;
use crate::twiddles::bit_reverse;
#[cfg(target_arch = "x86_64")]
use crate::x86_64::automorphism as vectors;

/// Automorphism X → X^k of polynomials that an [`NttPlan`](crate::NttPlan) has evaluated, whatever their modulus.
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
    /// Image (k − 1)/2 of j = 0, or (k − 1)/4 in a real ring.
    offset: usize,
}

impl Automorphism {
    /// Makes the automorphism X → X^k of polynomials of degree below `n`, a power of two from 2^6 to 2^17, for an odd `exponent` k, taken modulo 2n.
    ///
    /// # Errors
    /// [`KernelError::UnsupportedLength`]; [`KernelError::NotAnAutomorphism`].
    pub fn new(n: usize, exponent: u64) -> Result<Self, KernelError> {
        check_transform_length(n)?;
        if exponent.is_multiple_of(2) {
            return Err(KernelError::NotAnAutomorphism { exponent });
        }
        let exponent = (exponent % (2 * n as u64)) as usize;
        Ok(Self { n, exponent, offset: exponent / 2 })
    }

    /// Makes the automorphism X → X^k of elements of the [real](crate::NttPlan::real) ring of degree `n`, a power of two from 2^6 to 2^17, for an
    /// `exponent` k that is 1 modulo 4, taken modulo 4n.
    ///
    /// # Errors
    /// Every error of [`new`](Self::new).
    pub fn real(n: usize, exponent: u64) -> Result<Self, KernelError> {
        check_transform_length(n)?;
        if exponent % 4 != 1 {
            return Err(KernelError::NotAnAutomorphism { exponent });
        }
        let exponent = (exponent % (4 * n as u64)) as usize;
        Ok(Self { n, exponent, offset: exponent / 4 })
    }

    /// Returns the input position whose value goes to `position`. An aligned range of a power of two of positions, 64 or more, has such a range as source.
    #[must_use]
    #[inline]
    pub fn source(&self, position: usize) -> usize {
        let origin = self.origin(position / BLOCK);
        origin.block * BLOCK + self.place(origin.shift, position % BLOCK)
    }

    /// Returns the source block of block `block`, and its shift τ.
    #[inline]
    fn origin(&self, block: usize) -> Origin {
        let bits = (self.n / BLOCK).trailing_zeros();
        let image = bit_reverse(block, bits) * self.exponent + self.offset;
        let below = image & ((1 << bits) - 1);
        Origin { block: bit_reverse(below, bits), shift: image >> bits & (BLOCK - 1) }
    }

    /// Returns the place in the source block whose value goes to place 8·v + l of a block.
    #[inline]
    fn place(&self, shift: usize, place: usize) -> usize {
        let rho = (8 * reversed(place >> 3) + reversed(place)) * self.exponent + shift;
        8 * reversed(rho >> 3) + reversed(rho)
    }

    /// Writes the values of a(X^k) at positions `from`, `from + 1` and so on, where `input` holds values of a from position `start` on. All of `from`,
    /// `start` and both lengths are multiples of 64.
    ///
    /// # Errors
    /// [`KernelError::LengthMismatch`] for a position or length that is no such multiple; [`KernelError::IndexOutOfRange`] where a source lies
    /// outside the input, or for positions from n on: then some of `out` may have been written.
    pub fn apply(
        &self,
        out: &mut [u64],
        from: usize,
        input: &[u64],
        start: usize,
    ) -> Result<(), KernelError> {
        self.apply_on(active_isa().unwrap_or(Isa::Portable), out, from, input, start)
    }

    pub(crate) fn apply_on(
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
        let done = vectors::apply(isa, (self.exponent, |block| self.origin(block)), out, first, input, start);
        if done == out.len() {
            return Ok(());
        }
        let rows = self.rows();
        for (i, out) in out.iter_mut().enumerate().skip(done) {
            let Origin { block, shift } = self.origin(first + i);
            let input = block.checked_sub(start).and_then(|block| input.get(block));
            self.permute(out, input.ok_or_else(|| outside(block * BLOCK, len))?, shift, &rows);
        }
        Ok(())
    }

    /// Returns 8·rev(rev(v)·k + c modulo 8) for every c, and v from 0 to 7.
    fn rows(&self) -> [[u8; 8]; 8] {
        let row = |c: usize| std::array::from_fn(|v| 8 * reversed(reversed(v) * self.exponent + c) as u8);
        std::array::from_fn(row)
    }

    /// Permutes a block, given its shift τ. Of ρ·k + τ = 8·(rev(v)·k + c) + (rev(l)·k + τ modulo 8), only c = ⌊(rev(l)·k + τ)/8⌋ and the last term depend
    /// on l, and these do not depend on v: a column of words comes from one column.
    #[inline]
    fn permute(&self, out: &mut [u64; BLOCK], input: &[u64; BLOCK], shift: usize, rows: &[[u8; 8]; 8]) {
        for l in 0..8 {
            let rho = reversed(l) * self.exponent + shift;
            let (column, row) = (reversed(rho), rows.get(rho >> 3 & 7).unwrap_or(&[0; 8]));
            for (out, &row) in out.iter_mut().skip(l).step_by(8).zip(row) {
                *out = input.get((usize::from(row) + column) % BLOCK).copied().unwrap_or(0);
            }
        }
    }
}

/// Returns the last three bits of a number in reversed order.
#[inline]
fn reversed(bits: usize) -> usize {
    REVERSED.get(bits & 7).map_or(0, |&bits| usize::from(bits))
}

/// Stand-in for automorphisms without vectors: writes no block.
#[cfg(not(target_arch = "x86_64"))]
mod vectors {
    use crate::isa::Isa;
    use crate::permute::{BLOCK, Origin};

    pub(super) fn apply(
        _: Isa,
        _: (usize, impl Fn(usize) -> Origin),
        _: &mut [[u64; BLOCK]],
        _: usize,
        _: &[[u64; BLOCK]],
        _: usize,
    ) -> usize {
        0
    }
}
