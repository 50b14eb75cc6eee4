//! Operands of BFV products, extended to the ring of products once for several products, and the level of a product.

use std::sync::{Arc, OnceLock};

use sunzi_ring::{Evaluation, Poly, Side};
use sunzi_rlwe::{Log2, NoiseBound};

use super::Evaluator;
use crate::noise::{LevelModel, ProductModel};
use crate::{BfvError, Ciphertext};

/// The two parts of a BFV operand in the ring of products of a level, extended for one side of a product.
pub(super) type Extension = [Poly<Evaluation>; 2];

/// A ciphertext that stores its extensions to the ring of products: this costly first half of a product is done once
/// for all products on the same side and at the same level.
#[derive(Clone)]
pub struct Extended {
    pub(super) ciphertext: Ciphertext,
    /// Extensions of the operand for the left and the right side, by level, the lowest first.
    extensions: Arc<[Vec<OnceLock<Extension>>; 2]>,
}

impl Extended {
    /// The ciphertext that was made an extended operand.
    #[must_use]
    pub fn ciphertext(&self) -> &Ciphertext {
        &self.ciphertext
    }

    fn cell(&self, side: Side, level: usize) -> Option<&OnceLock<Extension>> {
        let [left, right] = &*self.extensions;
        let extensions = if side == Side::Left { left } else { right };
        extensions.get(level.checked_sub(1)?)
    }

    /// Whether an extended operand stores its extension for a side and level of products.
    pub(super) fn is_ready(&self, side: Side, level: usize) -> bool {
        self.cell(side, level).is_some_and(|cell| cell.get().is_some())
    }
}

impl Evaluator {
    /// Makes a ciphertext an operand of several products, which extend it when they first need to.
    ///
    /// # Errors
    /// [`sunzi_rlwe::RlweError::WrongPartCount`] for a ciphertext that is not relinearised;
    /// [`BfvError::PlainModulusMismatch`].
    pub fn extend(&self, a: &Ciphertext) -> Result<Extended, BfvError> {
        self.context().check(a)?;
        a.two_parts("multiplication")?;
        let cells = || (0..self.context().rlwe().level()).map(|_| OnceLock::new()).collect();
        Ok(Extended { ciphertext: a.clone(), extensions: Arc::new([cells(), cells()]) })
    }

    /// The extension of an operand for a side and level of products, computed where it is not stored yet.
    pub(super) fn extension<'a>(
        &self,
        a: &'a Extended,
        side: Side,
        level: usize,
    ) -> Result<&'a Extension, BfvError> {
        // Operands look the same from both sides if products treat them alike.
        let side = if self.has_sides() { side } else { Side::Left };
        let missing = BfvError::LevelMissing { got: level, highest: self.context().rlwe().level() };
        let cell = a.cell(side, level).ok_or(missing)?;
        match cell.get() {
            Some(extension) => Ok(extension),
            None => {
                // Threads that meet here extend the operand each, and one result is kept. A thread that waited for
                // the first could wait for ever: the first shares its work with a pool and takes other work
                // meanwhile, perhaps this again.
                let extension = self.extended(&a.ciphertext, side, level)?;
                Ok(cell.get_or_init(|| extension))
            }
        }
    }

    /// Extends the two parts of a ciphertext for a side and level of products.
    pub(super) fn extended(&self, a: &Ciphertext, side: Side, level: usize) -> Result<Extension, BfvError> {
        self.context().check(a)?;
        let [c0, c1] = a.two_parts("multiplication")?;
        let scaler = self.context().scaler();
        Ok([scaler.extend(c0, side, level)?, scaler.extend(c1, side, level)?])
    }

    /// The level of a product a·b: the fewest moduli with which it is computed without adding much to its noise
    /// `[KPZ21, eq. (12)]`. All moduli unless [`Multiplication::HpsOverQLeveled`](sunzi_ring::Multiplication) is
    /// chosen.
    #[must_use]
    pub fn product_level(&self, a: &Ciphertext, b: &Ciphertext) -> usize {
        self.level_for(a.noise(), b.noise())
    }

    /// Does [`product_level`](Self::product_level) for two operands known by their noise bounds.
    ///
    /// A product at a level gets the rounding of the modulus switches, of scaling and of the key switch, all times
    /// q/q_1⋯q_ℓ. This must stay 2^cushion below what the noise of the operands becomes: the noise of a product grows
    /// with the sum of both, so that the larger one decides, not each as eq. (12) has it. The bounds hold whatever
    /// level is chosen; but they are above the true noise, and the cushion makes up for that. Appendix D of the paper
    /// multiplies the worst-case bound by the cushion C where the condition needs the smaller estimate: it must
    /// divide.
    pub(super) fn level_for(&self, a: &NoiseBound, b: &NoiseBound) -> usize {
        let levels = self.context().scaler().levels();
        let top = *levels.end();
        if *levels.start() == top {
            return top;
        }
        let growth = ProductModel::level_growth(self.context().algorithms().cushion_bits).bits();
        let least = self.level_model(top).product.tensor(a, b);
        let enough = |&level: &usize| {
            let LevelModel { product, relinearization } = self.level_model(level);
            let noise = product.product(a, b).plus(relinearization);
            let grown = |noise: Log2, least: Log2| noise.bits() - least.bits() <= growth;
            grown(noise.deviation, least.deviation)
                && grown(noise.peak, least.peak)
                && grown(noise.worst, least.worst)
        };
        levels.clone().find(enough).unwrap_or(top)
    }

    /// The noise model of products at a level. A level that the ring lacks fails where it is used.
    pub(super) fn level_model(&self, level: usize) -> LevelModel {
        self.context().level_model(level)
    }

    /// Whether products extend left and right operands differently.
    pub(super) fn has_sides(&self) -> bool {
        self.context().scaler().bounds().switching.is_some()
    }
}
