//! First matrix of CoeffsToSlots, applied by one-digit keys while the modulus is raised: it takes no level, and no key switch comes before it.

use sunzi_ckks::encoder::Embedding;
use sunzi_ckks::precision::slot_error;
use sunzi_ckks::rotation::rotation_exponent;
use sunzi_ckks::{Ciphertext, CkksError, Context, Metadata};
use sunzi_ring::Evaluation;
use sunzi_rlwe::{Log2, NoiseBound, RaisingMap, RaisingTables, RaisingTerm};

use super::BootstrapError;
use crate::linear_transform::{Diagonals, Slots, UnitaryProduct};

/// log2 of the deviation of the noise that keys may add to a coefficient, far below that of the rounding after a division.
const LOG2_NOISE: f64 = 0.0;

/// Returns the bits of special moduli that make the noise of keys small, for q_0 of `first_bits` and this many products of coefficients. Errors of a deviation
/// below 4 meet coefficients of up to half of q_0; roundings of diagonals meet ones of about as much.
pub(super) fn special_bits(first_bits: f64, terms: f64) -> f64 {
    first_bits + terms.log2() / 2.0 + 1.0 - LOG2_NOISE
}

/// First matrix of CoeffsToSlots with its scales and moduli.
#[derive(Clone, Debug)]
pub(super) struct FirstMatrix {
    matrix: Diagonals,
    /// Scales of ciphertexts before and after the matrix.
    scales: [f64; 2],
    product: UnitaryProduct,
    /// Level of the results in the chain of moduli.
    level: usize,
    /// Level at which the part without a secret is computed.
    body_level: usize,
    special_moduli: Vec<u64>,
    /// Number of polynomials of the sparse secret.
    rank: usize,
    table_bytes: usize,
}

impl FirstMatrix {
    /// Chooses the moduli of the matrix: the fewest special moduli of the context that make the noise of its keys small.
    pub(super) fn new(
        context: &Context,
        matrix: Diagonals,
        scales: [f64; 2],
        rank: usize,
    ) -> Result<Self, BootstrapError> {
        let rlwe = context.rlwe();
        let terms = (rank * matrix.count() * context.degree()) as f64;
        let needed = special_bits(context.log2_modulus_at(0)?, terms);
        let mut special_moduli = Vec::new();
        for &modulus in &rlwe.gadget().options().special_moduli {
            if sunzi_math::log2_product(&special_moduli) < needed {
                special_moduli.push(modulus);
            }
        }
        let special = sunzi_math::log2_product(&special_moduli);
        if special < needed {
            return Err(BootstrapError::Set {
                what: "bits of the special moduli",
                got: format!("{special:.1}"),
                expected: format!("{needed:.1} at least, for a matrix applied while the modulus is raised"),
            });
        }
        let divisor: f64 = special_moduli.iter().map(|&p| p as f64).product();
        let gain = scales[1] / scales[0];
        let product = UnitaryProduct::new(context, &matrix, divisor * gain);
        // No coefficient of a diagonal's polynomial is above √2 times its largest entry, and a bit is to spare.
        let growth = 2.0 * product.diagonal_sum() * gain * context.degree() as f64;
        let needed = context.log2_modulus_at(0)? + growth.log2() + 1.0;
        let mut body = 0;
        while context.log2_modulus_at(body)? < needed {
            body += 1;
        }
        let (level, body_level) = (context.limbs(context.depth())?, context.limbs(body)?);
        let limbs = rlwe.ring_at(body_level)?.zero::<Evaluation>().shape().limbs + special_moduli.len();
        let table_bytes = matrix.count() * context.degree() * limbs * size_of::<u64>();
        Ok(Self { matrix, scales, product, level, body_level, special_moduli, rank, table_bytes })
    }

    /// The map Σ m_i·σ_i of the matrix, a term for each diagonal.
    pub(super) fn map(&self, context: &Context) -> Result<RaisingMap, BootstrapError> {
        let scale = self.product.scale();
        let term = |(step, values): (usize, &[_])| {
            let exponent = rotation_exponent(step as i64, context.ring().index());
            let ring = context.ring().ring_index();
            let factor = Embedding::new(values.len()).and_then(|slots| slots.encode_in(ring, values, scale));
            let factor = factor.map_err(CkksError::from)?.to_vec();
            Ok(RaisingTerm { exponent, factor })
        };
        let terms = self.matrix.iter().map(term).collect::<Result<_, BootstrapError>>()?;
        Ok(RaisingMap { level: self.level, special_moduli: self.special_moduli.clone(), terms })
    }

    /// Makes the tables of the map.
    pub(super) fn tables(&self, context: &Context) -> Result<RaisingTables, BootstrapError> {
        let levels = [context.limbs(0)?, self.body_level];
        Ok(RaisingTables::new(context.rlwe(), levels, &self.map(context)?)?)
    }

    /// Number of bytes of the tables.
    pub(super) fn table_bytes(&self) -> usize {
        self.table_bytes
    }

    /// Number of bytes of the keys of the map.
    pub(super) fn key_bytes(&self, context: &Context) -> Result<usize, BootstrapError> {
        let key = RaisingMap::bytes_of_key(context.rlwe(), self.level, &self.special_moduli)?;
        Ok(self.rank * self.matrix.count() * key)
    }

    /// Sets scale, precision and noise of a product, whose noise is that of before the map; slots have this root mean square.
    pub(super) fn finish(
        &self,
        context: &Context,
        tables: &RaisingTables,
        mut a: Ciphertext,
        length: f64,
    ) -> Ciphertext {
        let [from, to] = self.scales;
        let added = tables.added_noise(self.rank);
        let of = a.metadata().precision;
        let precision = of
            .scaled(self.product.row_length())
            .with_magnitude(length * self.product.row_length())
            .plus_error(slot_error(added.deviation.bits().exp2(), context.max_slots(), to))
            .plus_error(self.product.rounding_error(length));
        let slots = Slots { length, chosen: false };
        let special = sunzi_math::log2_product(&self.special_moduli);
        let product = self.product.noise(context, a.noise(), from, slots);
        let noise = product.scaled(Log2::from_bits(-special)).plus(added);
        let noise = NoiseBound::dependent(noise, a.noise().secret_degree);
        let metadata = Metadata { scale: to, precision, ..a.metadata().clone() };
        a.set_metadata(metadata);
        a.set_noise(noise);
        a
    }
}
