//! A modulus switch followed by the centred lift of its result: what prepares operands of [KPZ21, Alg. 2 and 3].

use std::ops::Range;

use sunzi_kernels::Modulus;

use super::exact_extension::ExactExtension;
use super::rounded_division::RoundedDivision;
use crate::error::{check_limbs, check_table};
use crate::options::ModulusSwitching;
use crate::parallel::{Parallelism, block_of};
use crate::{Basis, RingError};

/// From the residues of a to those of c = ⌊(b/q)·a⌉, an integer in [−b/2, b/2], modulo a basis of product b and modulo
/// others.
pub(crate) struct SwitchedLift {
    /// From what is divided by to w_j = |c·(b/b_j)^-1|_{b_j}, but for a residue of a itself.
    division: RoundedDivision,
    /// b/b_j mod b_j.
    own: Vec<(Modulus, u64)>,
    lift: ExactExtension,
}

impl SwitchedLift {
    /// Divides by the product of `dividing`; lifts from `own` to `others`.
    pub(crate) fn new(
        dividing: &Basis,
        own: &Basis,
        others: &[Modulus],
        switching: ModulusSwitching,
    ) -> Result<Self, RingError> {
        let factors = own.moduli().iter().copied().zip(own.quotient_inverses().iter().copied());
        let targets: Vec<(Modulus, u64)> = factors.collect();
        let quotient = |&(modulus, inverse): &(Modulus, u64)| {
            Ok((modulus, sunzi_math::mod_inv(inverse, modulus.value())?))
        };
        Ok(Self {
            division: RoundedDivision::new(dividing, &targets, switching)?,
            own: targets.iter().map(quotient).collect::<Result<_, RingError>>()?,
            lift: ExactExtension::new(own, others)?,
        })
    }

    /// `digits`: limbs |a′·(d/d_i)^-1|_{d_i} over the basis that is divided by, for its product d and the multiple
    /// a′ of a it wants; `kept`: |a·d^-1·(b/b_j)^-1|_{b_j}, or nothing where that is zero. Into the limbs `own` of the
    /// output and all others in their order.
    pub(crate) fn apply(
        &self,
        digits: &mut [u64],
        kept: &[u64],
        output: &mut [u64],
        own: Range<usize>,
        n: usize,
    ) -> Result<(), RingError> {
        if !kept.is_empty() {
            check_limbs("limb that is kept", own.len(), n, kept.len())?;
        }
        check_table("modulus of a lift", own.len(), self.own.len())?;
        self.division.prepare(digits, n)?;
        let digits = &*digits;
        Parallelism::Collapsed.for_each_block(output, n, |range, output| {
            let (before, rest) = output.split_at_mut(own.start);
            let (inside, after) = rest.split_at_mut(own.len());
            self.division.apply(&block_of(digits.chunks_exact(n), &range), inside)?;
            for ((limb, kept), (modulus, _)) in inside.iter_mut().zip(kept.chunks_exact(n)).zip(&self.own) {
                modulus.add_assign(limb, kept.get(range.clone()).unwrap_or_default())?;
            }
            let rows: Vec<&[u64]> = inside.iter().map(|limb| &**limb).collect();
            let mut others: Vec<&mut [u64]> =
                before.iter_mut().chain(after.iter_mut()).map(|limb| &mut **limb).collect();
            self.lift.apply(&rows, &mut others)?;
            for (limb, &(modulus, factor)) in inside.iter_mut().zip(&self.own) {
                modulus.mul_scalar_assign(limb, factor)?;
            }
            Ok(())
        })
    }
}
