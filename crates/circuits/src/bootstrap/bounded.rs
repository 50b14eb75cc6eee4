//! Bootstrapping with a bound, in the maximum norm, on what it adds to every slot.

use sunzi_ckks::{Ciphertext, Metadata};
use sunzi_rlwe::Log2;

use super::bootstrapper::Bootstrapper;
use super::noise::exact;
use super::set::Order;
use super::{BootstrapError, BootstrapKeys};

/// Bootstrapped ciphertext, and a bound on how far its slots are from those of the ciphertext before.
#[derive(Clone)]
pub struct Bounded {
    /// Bootstrapped ciphertext. Its deviation is that of the ciphertext before: what bootstrapping adds is in the bound alone.
    pub ciphertext: Ciphertext,
    /// Bound on what bootstrapping adds to a slot, under the model of `noise.rs`.
    pub added: f64,
}

impl Bootstrapper {
    /// Bootstraps a message of real slots in the rounds that its set is meant for. The right slots are at most the magnitude, and what the ciphertext holds is off by
    /// at most `beside`, noise and all other errors together. Where SlotsToCoeffs comes first imaginary parts of slots are dropped, and so is half of the work.
    ///
    /// # Errors
    /// Every error of [`bootstrap`](Self::bootstrap) and of [`bootstrap_refined`](Self::bootstrap_refined).
    pub fn bootstrap_bounded(
        &self,
        a: &Ciphertext,
        beside: f64,
        keys: &BootstrapKeys,
    ) -> Result<Bounded, BootstrapError> {
        let (blueprint, of) = (self.blueprint(), a.metadata());
        // All that the ciphertext holds is the message here, its errors among them: they neither grow nor shrink.
        let (rounds, whole) = (blueprint.set.rounds, exact(a));
        let only_real = blueprint.set.order == Order::First;
        let mut ciphertext = if rounds > 1 {
            self.refined(&whole, rounds, (beside, only_real), keys)?
        } else {
            self.bootstrapped(&whole, beside, only_real, keys)?
        };
        let own = ciphertext.metadata();
        let (scale, added) = (own.scale, blueprint.largest_slot(ciphertext.noise(), own.scale));
        let precision = own.precision.with_deviation(of.precision.deviation());
        let metadata = Metadata { precision, ..own.clone() };
        ciphertext.set_metadata(metadata);
        let carried = a.noise().scaled(Log2::of(scale / of.scale));
        let noise = blueprint.within_modulus(&ciphertext, &ciphertext.noise().sum(&carried))?;
        ciphertext.set_noise(noise);
        Ok(Bounded { ciphertext, added })
    }
}
