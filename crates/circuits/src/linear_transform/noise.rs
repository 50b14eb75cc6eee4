//! Noise of a product with a factor of a Fourier transform, whose rows and columns have one length: its effect on the energy of noise is known
//! exactly, where sums over diagonals only bound it.

use sunzi_ckks::{CkksError, Context};
use sunzi_rlwe::noise::Tail;
use sunzi_rlwe::{Log2, NoiseBound, NoiseTerm, galois};

use super::{Diagonals, LinearTransform, LinearTransformError, Norms};

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

/// Product with a factor of a Fourier transform, whose rows and columns have one length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnitaryProduct {
    norms: Norms,
    /// Number of diagonals of the factor.
    products: usize,
    /// Factor by which encoded entries exceed the entries of the factor.
    scale: f64,
    /// Whether vectors fill all slots.
    is_full: bool,
}

impl UnitaryProduct {
    /// Describes the product with a matrix whose entries are encoded at a scale.
    pub(crate) fn new(context: &Context, matrix: &Diagonals, scale: f64) -> Self {
        let is_full = matrix.size() == context.max_slots();
        Self { norms: Norms::new(matrix), products: matrix.count(), scale, is_full }
    }

    /// Factor by which encoded entries exceed the entries of the factor.
    pub(crate) fn scale(&self) -> f64 {
        self.scale
    }

    /// Largest root of the sum of squares in a row of the factor.
    pub(crate) fn row_length(&self) -> f64 {
        self.norms.row_length
    }

    /// Sum over all diagonals of the largest absolute value in each.
    pub(crate) fn diagonal_sum(&self) -> f64 {
        self.norms.diagonals
    }

    /// Returns √E|e|² in a slot of a product because diagonals are rounded, for slots of this magnitude.
    pub(crate) fn rounding_error(&self, magnitude: f64) -> f64 {
        magnitude * (self.products as f64).sqrt() * self.norms.rounding / self.scale
    }

    /// Returns the noise of a product before it is divided, for a ciphertext with this noise and scale: what it carries on, and the roundings of
    /// the diagonals.
    pub(crate) fn noise(&self, context: &Context, noise: &NoiseBound, scale: f64, slots: Slots) -> NoiseTerm {
        let (n, norms) = (context.degree() as f64, self.norms);
        let tail = Tail::new(context.ring().expansion());
        // Where vectors repeat, noise does not, and meets the diagonals of its neighbours.
        let length = if self.is_full { norms.row_length } else { norms.row_sum };
        let both = noise.scaled(Log2::of(length * self.scale));
        let mixed = both.deviation * tail.product_peak();
        let carried = NoiseTerm { worst: both.worst, deviation: both.deviation, peak: both.peak.max(mixed) };
        // Slots of the roundings' products: all of their energy in one coefficient or one slot, if an adversary chose it so.
        let own = OPERATOR * (self.products as f64).sqrt() * norms.rounding * slots.length * scale;
        let [coefficient, slot] = match slots.chosen {
            true => [tail.factor(), (n / 2.0).sqrt()],
            false => [n.sqrt(), tail.sum_peak() * n.sqrt() / 2.0],
        };
        let rounding = NoiseTerm {
            worst: Log2::of(own * n.sqrt()),
            deviation: Log2::of(own / coefficient.min(n.sqrt())),
            peak: Log2::of(own * slot * 2.0 / n),
        };
        carried.plus(rounding)
    }
}

impl LinearTransform {
    /// The product with this matrix, as one with a factor of a Fourier transform.
    fn unitary(&self, context: &Context) -> UnitaryProduct {
        let is_full = self.plan.size() == context.max_slots();
        UnitaryProduct { norms: self.norms, products: self.plan.products(), scale: self.scale, is_full }
    }

    /// Returns the noise of a product, for a ciphertext of this noise and scale.
    pub(crate) fn unitary_noise(
        &self,
        context: &Context,
        noise: &NoiseBound,
        scale: f64,
        slots: Slots,
    ) -> Result<NoiseBound, LinearTransformError> {
        let level = self.plan.level();
        let switch =
            galois::added_noise_at(context.rlwe(), context.limbs(level)?).map_err(CkksError::from)?;
        let product = self.unitary(context).noise(context, &noise.plus(switch), scale, slots);
        let giants = switch.scaled(Log2::of(self.plan.giants().count() as f64));
        let ratio = context.log2_modulus_at(level - 1)? - context.log2_modulus_at(level)?;
        let sum = product.plus(giants).scaled(Log2::from_bits(ratio));
        let down = context.rlwe().noise_model().mod_switch(2);
        Ok(NoiseBound::dependent(sum.plus(down), noise.secret_degree))
    }
}
