//! Noise of a product with a factor of a Fourier transform, whose rows and columns have one length: its effect on the energy of noise is known
//! exactly, where sums over diagonals only bound it.

use sunzi_ckks::{CkksError, Context};
use sunzi_rlwe::noise::Tail;
use sunzi_rlwe::{Log2, NoiseBound, NoiseTerm, galois};

use super::{LinearTransform, LinearTransformError};

/// Size of the vector that is multiplied.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slots {
    /// Root mean square of the vector's slots.
    pub(crate) length: f64,
    /// Whether an adversary may have chosen the slots with knowledge of the diagonals' roundings.
    pub(crate) chosen: bool,
}

/// Factor of the operator norm: the largest ‖E·z‖₂/‖z‖₂ for a matrix of k diagonals of independent entries is about 2·√k times their deviation.
const OPERATOR: f64 = 3.0;

impl LinearTransform {
    /// Returns the noise of a product, for a ciphertext of this noise and scale.
    pub(crate) fn unitary_noise(
        &self,
        context: &Context,
        noise: &NoiseBound,
        scale: f64,
        slots: Slots,
    ) -> Result<NoiseBound, LinearTransformError> {
        let (level, n, norms) = (self.plan.level(), context.degree() as f64, self.norms);
        let tail = Tail::new(context.ring().expansion());
        let switch =
            galois::added_noise_at(context.rlwe(), context.limbs(level)?).map_err(CkksError::from)?;
        // Where vectors repeat, noise does not, and meets the diagonals of its neighbours.
        let length = if self.plan.size() == context.max_slots() { norms.row_length } else { norms.row_sum };
        let both = noise.plus(switch).scaled(Log2::of(length * self.scale));
        let mixed = both.deviation * tail.product_peak();
        let carried = NoiseTerm { worst: both.worst, deviation: both.deviation, peak: both.peak.max(mixed) };
        // Slots of the roundings' products: all of their energy in one coefficient or one slot, if an adversary chose it so.
        let own = OPERATOR * (self.plan.products() as f64).sqrt() * norms.rounding * slots.length * scale;
        let [coefficient, slot] = match slots.chosen {
            true => [tail.factor(), (n / 2.0).sqrt()],
            false => [n.sqrt(), tail.sum_peak() * n.sqrt() / 2.0],
        };
        let rounding = NoiseTerm {
            worst: Log2::of(own * n.sqrt()),
            deviation: Log2::of(own / coefficient.min(n.sqrt())),
            peak: Log2::of(own * slot * 2.0 / n),
        };
        let giants = switch.scaled(Log2::of(self.plan.giants().count() as f64));
        let ratio = context.log2_modulus_at(level - 1)? - context.log2_modulus_at(level)?;
        let sum = carried.plus(rounding).plus(giants).scaled(Log2::from_bits(ratio));
        let down = context.rlwe().noise_model().mod_switch(2);
        Ok(NoiseBound::dependent(sum.plus(down), noise.secret_degree))
    }
}
