//! Bootstrapping of messages of real slots: half of EvalMod for one message, or one bootstrapping for two.

use sunzi_ckks::{Ciphertext, Metadata};

use super::bootstrapper::{Bootstrapper, Remainder, with_scale};
use super::dft::Packing;
use super::set::Order;
use super::{BootstrapError, BootstrapKeys};
use crate::linear_transform::LinearTransformError;

impl Bootstrapper {
    /// Bootstraps a message of real slots as [`bootstrap`](Self::bootstrap) does. Where SlotsToCoeffs comes first, EvalMod runs once instead of twice, and
    /// imaginary parts of slots are dropped; elsewhere they are kept.
    ///
    /// # Errors
    /// Every error of [`bootstrap`](Self::bootstrap).
    pub fn bootstrap_real(&self, a: &Ciphertext, keys: &BootstrapKeys) -> Result<Ciphertext, BootstrapError> {
        let only_real = self.blueprint.set.order == Order::First;
        self.on_pool(|| self.all_steps(a, 0.0, only_real, keys))
    }

    /// Bootstraps two messages a and b of real slots as one, a + i·b, in the time of one bootstrapping. What slots have of imaginary parts, noise included,
    /// comes back in the other message.
    ///
    /// Where SlotsToCoeffs comes first, precision is that of one message. Elsewhere a conjugation is added, and (a + i·b)/2 is
    /// bootstrapped: messages have at least one level, and precision is one bit below that of one message.
    ///
    /// # Errors
    /// [`BootstrapError::LevelTooLow`] for a message without a level; every error of [`bootstrap`](Self::bootstrap).
    pub fn bootstrap_real_pair(
        &self,
        pair: [&Ciphertext; 2],
        keys: &BootstrapKeys,
    ) -> Result<[Ciphertext; 2], BootstrapError> {
        let [a, b] = pair;
        let magnitudes = pair.map(|of| of.metadata().precision.magnitude());
        let whole = self.evaluator.add(a, &self.evaluator.multiply_by_i(b)?)?;
        let [mut real, mut imaginary] = match self.blueprint.set.order {
            Order::First => self.on_pool(|| self.parts_of_slots(&whole, magnitudes, keys))?,
            Order::Last => self.on_pool(|| self.halves(&whole, magnitudes, keys))?,
        };
        for (result, message) in [(&mut real, a), (&mut imaginary, b)] {
            let (own, of) = (result.metadata().clone(), message.metadata());
            let precision = own.precision.with_magnitude(of.precision.magnitude());
            result.set_metadata(Metadata { slots: of.slots, precision, ..own });
        }
        Ok([real, imaginary])
    }

    /// Bootstraps a + i·b where coefficients are slots: both messages are the parts of which EvalMod takes the remainders.
    fn parts_of_slots(
        &self,
        whole: &Ciphertext,
        [a, b]: [f64; 2],
        keys: &BootstrapKeys,
    ) -> Result<[Ciphertext; 2], BootstrapError> {
        // Bounds are those of each part, and lengths those of both together.
        let whole = self.evaluator.with_magnitude(whole, a.max(b))?;
        let Remainder { parts, lowered, reach } = self.remainder(&whole, [a.hypot(b), 0.0], false, keys)?;
        let missing = LinearTransformError::Parts { packing: Packing::Full, got: 1 };
        let imaginary = parts.imaginary.ok_or(missing)?;
        Ok([
            self.declared(&whole, reach, &lowered, parts.real)?,
            self.declared(&whole, reach, &lowered, imaginary)?,
        ])
    }

    /// Bootstraps (a + i·b)/2 and adds and subtracts the conjugate.
    fn halves(
        &self,
        whole: &Ciphertext,
        [a, b]: [f64; 2],
        keys: &BootstrapKeys,
    ) -> Result<[Ciphertext; 2], BootstrapError> {
        let got = whole.metadata().level;
        if got == 0 {
            return Err(BootstrapError::LevelTooLow {
                what: "the bootstrapping of a pair",
                expected: 1,
                got,
            });
        }
        let evaluator = &self.evaluator;
        let scale = 2.0 * whole.metadata().scale;
        let half = with_scale(evaluator.with_magnitude(whole, a.hypot(b))?, scale);
        let half = self.bootstrap(&half, keys)?;
        let conjugate = self.evaluators.coeffs_to_slots.conjugate(&half, keys.rotations())?;
        let imaginary = evaluator.multiply_by_i(&evaluator.sub(&conjugate, &half)?)?;
        Ok([evaluator.add(&half, &conjugate)?, imaginary])
    }
}
