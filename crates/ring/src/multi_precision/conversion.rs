//! Residues to residues through one big integer for each coefficient.

use num_bigint::BigUint;
use sunzi_kernels::Modulus;

use super::lift::{Lift, TILE, half};
use super::remainders::Remainders;
use super::rounding::Rounding;
use crate::parallel::{block_of, for_each_block};
use crate::{Basis, RingError};

/// Tables of x ↦ x or x ↦ ⌊t·x/q⌉ from residues modulo a source to residues modulo a target.
#[derive(Clone, Debug)]
pub(super) struct Conversion {
    lift: Lift,
    rounding: Option<Rounding>,
    remainders: Remainders,
}

impl Conversion {
    /// x, centred modulo the source.
    pub(super) fn exact(source: &Basis, target: &[Modulus]) -> Result<Self, RingError> {
        let lift = Lift::new(source)?;
        let remainders = Remainders::new(target, lift.length(), &half(source.product()))?;
        Ok(Self { lift, rounding: None, remainders })
    }

    /// ⌊t·x/q⌉ for x centred modulo the source and q > 2t, a half rounding up.
    pub(super) fn scaled(source: &Basis, t: u64, q: &BigUint, target: &[Modulus]) -> Result<Self, RingError> {
        let lift = Lift::new(source)?;
        let rounding = Rounding::new(t, q, &half(source.product()), lift.length());
        let remainders = Remainders::new(target, rounding.length(), rounding.shift())?;
        Ok(Self { lift, rounding: Some(rounding), remainders })
    }

    /// Converts limbs of n residues y_i = |x·(q/q_i)^-1|_{q_i} to limbs of n residues of the result.
    pub(super) fn apply(&self, words: &[u64], output: &mut [u64], n: usize) -> Result<(), RingError> {
        for_each_block(output, n, |range, output| {
            let rows = block_of(words.chunks_exact(n), &range);
            self.apply_to_block(&rows, output, range.len());
            Ok(())
        })
    }

    fn apply_to_block(&self, rows: &[&[u64]], output: &mut [&mut [u64]], length: usize) {
        let mut tile = vec![0; TILE * self.lift.residues()];
        // A zero on either side, as rounding needs.
        let mut integer = vec![0; self.lift.length() + 2];
        let mut rounded = vec![0; self.rounding.as_ref().map_or(0, Rounding::length)];
        for at in (0..length).step_by(TILE) {
            self.lift.gather(rows, at, &mut tile);
            for (i, residues) in (at..length).zip(tile.chunks_exact(self.lift.residues())) {
                let Some(lifted) = integer.get_mut(1..=self.lift.length()) else { continue };
                self.lift.apply(residues, lifted);
                if let Some(rounding) = &self.rounding {
                    rounding.apply(&integer, &mut rounded);
                    self.remainders.apply(&rounded, output, i);
                } else {
                    self.remainders.apply(lifted, output, i);
                }
            }
        }
    }
}
