//! Conversion of residues to residues through one big integer for each coefficient.

use sunzi_kernels::Modulus;
use sunzi_ring::storage::{block_of, check_limbs};
use sunzi_ring::{Basis, Parallelism, RingError};

use super::groups::{Group, for_each_coefficient, group};
use super::lift::{Lift, half};
use super::remainders::Remainders;
use super::rounding::{Ratio, Rounding};

/// Arithmetic of the big integers in multi-precision conversions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Arithmetic {
    /// Sunzi's own arithmetic on words of sixty bits.
    #[default]
    Words,
    /// The same with a division by q for every rounding, as [BEHZ16, 5.2] says of what it measures.
    Division,
    /// Arithmetic of big integers by GMP.
    #[cfg(feature = "gmp")]
    Gmp,
}

/// Tables of the conversion x ↦ x or x ↦ ⌊t·x/q⌉, a half rounding up, from residues modulo a source to residues modulo a target, for
/// x centred modulo the source.
#[derive(Clone, Debug)]
pub(super) struct Conversion {
    groups: Vec<Group>,
    steps: Steps,
    /// Numbers of moduli of the conversion's source and target.
    source: usize,
    target: usize,
}

#[derive(Clone, Debug)]
enum Steps {
    Words {
        lift: Lift,
        rounding: Option<Rounding>,
        remainders: Remainders,
    },
    #[cfg(feature = "gmp")]
    Gmp(super::gmp::Steps),
}

impl Conversion {
    pub(super) fn new(
        arithmetic: Arithmetic,
        source: &Basis,
        ratio: Option<Ratio<'_>>,
        target: &[Modulus],
    ) -> Result<Self, RingError> {
        let groups = group(source.moduli())?;
        let steps = match arithmetic {
            Arithmetic::Words | Arithmetic::Division => {
                let lift = Lift::new(source, &groups);
                let half = half(source.product());
                let rounding = |ratio| Rounding::new(ratio, &half, lift.length());
                let rounding = ratio.map(rounding).map(|rounding| match arithmetic {
                    Arithmetic::Division => rounding.by_division(),
                    _ => rounding,
                });
                let remainders = match &rounding {
                    Some(rounding) => Remainders::new(target, rounding.length(), rounding.shift())?,
                    None => Remainders::new(target, lift.length(), &half)?,
                };
                Steps::Words { lift, rounding, remainders }
            }
            #[cfg(feature = "gmp")]
            Arithmetic::Gmp => Steps::Gmp(super::gmp::Steps::new(source, &groups, ratio, target)?),
        };
        Ok(Self { groups, steps, source: source.len(), target: target.len() })
    }

    /// Converts limbs of n residues y_i = |x·(q/q_i)^-1|_{q_i} to limbs of n residues of the result.
    pub(super) fn apply(&self, words: &[u64], output: &mut [u64], n: usize) -> Result<(), RingError> {
        check_limbs("row of residues", self.source, n, words.len())?;
        check_limbs("row of residues of a result", self.target, n, output.len())?;
        Parallelism::Collapsed.for_each_block(output, n, |range, output| {
            let rows = block_of(words.chunks_exact(n), &range);
            self.apply_to_block(&rows, output, range.len());
            Ok(())
        })
    }

    fn apply_to_block(&self, rows: &[&[u64]], output: &mut [&mut [u64]], length: usize) {
        match &self.steps {
            Steps::Words { lift, rounding, remainders } => {
                // A zero on either side, as rounding needs.
                let mut integer = vec![0; lift.length() + 2];
                let mut pairs = Vec::new();
                let mut rounded = vec![0; rounding.as_ref().map_or(0, Rounding::length)];
                for_each_coefficient(&self.groups, rows, length, |i, residues| {
                    let Some(lifted) = integer.get_mut(1..=lift.length()) else { return };
                    lift.apply(residues, lifted);
                    if let Some(rounding) = rounding {
                        rounding.apply(&integer, &mut pairs, &mut rounded);
                        remainders.apply(&rounded, output, i);
                    } else {
                        remainders.apply(lifted, output, i);
                    }
                });
            }
            #[cfg(feature = "gmp")]
            Steps::Gmp(steps) => {
                let mut buffers = steps.buffers();
                for_each_coefficient(&self.groups, rows, length, |i, residues| {
                    steps.apply(residues, &mut buffers, output, i);
                });
            }
        }
    }
}
