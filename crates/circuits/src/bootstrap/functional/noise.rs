//! Noise of the results of tables.
//!
//! A result differs from the value of its table by a sum of three:
//!
//! | part | bound |
//! |---|---|
//! | noise of the input, of SlotsToCoeffs, ModRaise and CoeffsToSlots: they move m/p | the kernel's, for every table and every noise ([`InterpolationOrder::error`](super::InterpolationOrder::error)) |
//! | the series of E, and the roundings of its products | tracked as for all polynomials of ciphertexts, times the largest slope of the polynomial at the points of the table |
//! | roundings and key switches of the polynomial | tracked, from E without noise |
//!
//! The model is that of bootstrapping. A message whose noise may pass the middle between two messages is refused by name.

use sunzi_ckks::Ciphertext;
use sunzi_rlwe::Log2;

use super::Table;
use super::bootstrapper::FunctionalBootstrapper;
use crate::bootstrap::BootstrapError;

impl FunctionalBootstrapper {
    /// Returns a bound on the noise of the numbers in the slots of a ciphertext, real and imaginary parts each.
    #[must_use]
    pub fn noise(&self, a: &Ciphertext) -> f64 {
        self.blueprint().largest_slot(a.noise(), a.metadata().scale)
    }

    /// Returns a bound on the noise of the numbers 2m/p when they are slots again, for both parts; slots were this many times as large as SlotsToCoeffs
    /// was told.
    pub(super) fn moved(
        &self,
        a: &Ciphertext,
        (lowered, beyond): (&Ciphertext, f64),
        part: &Ciphertext,
    ) -> f64 {
        let blueprint = self.blueprint();
        let ratio = 2.0 * lowered.metadata().scale / blueprint.scales.first;
        (self.noise(a) + beyond * self.noise(lowered)) * ratio
            + 2.0 * blueprint.eval_mod.width() * self.noise(part)
    }

    /// Refuses noise that a table does not distinguish from another message.
    pub(super) fn check(&self, table: &Table, noise: f64) -> Result<(), BootstrapError> {
        let limit = 1.0 / table.values().len() as f64;
        if noise < limit {
            return Ok(());
        }
        Err(BootstrapError::MessageNoise { modulus: table.values().len(), got: noise, limit })
    }

    /// Adds to the noise of a ciphertext an error of its numbers, real and imaginary parts each at most this.
    pub(crate) fn with_slot_error(&self, mut a: Ciphertext, error: f64) -> Ciphertext {
        let scale = Log2::of(a.metadata().scale);
        a.set_noise(a.noise().plus(self.blueprint().error_of_slots(error).scaled(scale)));
        a
    }

    /// Adds to the noise of a result the error of its table, for inputs that are off by at most `noise` and E by at most `power`.
    pub(super) fn with_table_error(
        &self,
        result: Ciphertext,
        table: &Table,
        [noise, power]: [f64; 2],
    ) -> Ciphertext {
        let error = table.error(noise) + table.error_of_power(noise, power + self.exponential_error);
        self.with_slot_error(result, error)
    }
}
