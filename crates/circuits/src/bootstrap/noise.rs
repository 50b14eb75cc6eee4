//! Noise bound of a bootstrapped ciphertext.
//!
//! The noise v of the result is the difference between its coefficients and those of the message that went in. It is a sum of
//!
//! | part | bound |
//! |---|---|
//! | noise of the input, through the slope of EvalMod | its bound, times the largest slope |
//! | EvalMod against x mod 1, [`EvalMod::worst_error`](super::EvalMod::worst_error) | maximum norm over all integers to K and all x mod 1 that message and noise reach |
//! | roundings and key switches of ModRaise, of both transforms and of EvalMod | deviations and peaks, as for all noise ([`sunzi_rlwe::noise`]) |
//! | roundings of the diagonals of both transforms | the norm of a matrix of independent roundings, for slots that an adversary may have chosen to fit them |
//!
//! **What is random.** A bound holds except with probability 2^-128 for noise, 2^-64 for every value of what follows, and that an integer leaves the range of EvalMod
//! ([`failure`](super::failure)), under this model:
//!
//! * coefficients of what ModRaise leaves, (m + q_0·I)/q_0, are independent, and each I is the nearest integer to a sum of h uniform variables less m/q_0, whatever the message is;
//! * errors of roundings and of key switches are independent of each other and of the numbers that they meet, and as likely in every direction: a transform, unitary
//!   but for a factor, keeps their energy;
//! * roundings of diagonals to integers are independent and uniform;
//! * where a round of refinement corrects a bootstrapped message, no slot is wrong by more than eight of the deviations that its
//!   [`Precision`](sunzi_ckks::Precision) estimates and the largest error of EvalMod in one coefficient.
//!
//! The maximum norm of the error of EvalMod is a proof, roundings of doubles included, and independent of this model: where all of a message lies in
//! one coefficient, as if all slots are equal, the bound is all but reached. A message of slots of at most M has coefficients with Σ m_k² ≤ M², so that
//! an error that grows as fast as m² adds up over them to no more than in the one.

use sunzi_ckks::precision::slot_error;
use sunzi_ckks::{Ciphertext, CkksError, Context};
use sunzi_rlwe::noise::Tail;
use sunzi_rlwe::sharing::Flooding;
use sunzi_rlwe::{DeclaredNoise, Log2, NoiseBound, NoiseTerm, SharingPolicy};

use super::set::Order;
use super::{Blueprint, BootstrapError};

/// Largest x mod 1 with noise: beyond it messages are not distinguished from their neighbours.
pub(super) const MOST: f64 = 0.25;
/// Factor of sums: independent variables with P(|X| > t·σ) ≤ 2·exp(−t²/2) and means far below σ have E e^(λX) ≤ e^(5.6·λ²σ²), from
/// e^x ≤ x + e^(x²) for small λ and λX ≤ 2λ²σ² + X²/8σ² for large ones. So Σ w_k·X_k with Σ w_k² = 1, however few w_k count, exceeds this factor
/// times √L·σ with probability below 2^-64, as L is above 100.
const SUM: f64 = 3.2;
/// Exponent of rare events: −ln of their probability 2^-64.
const RARE: f64 = 64.0 * std::f64::consts::LN_2;

/// Returns a bound that no slot with this noise at this scale exceeds.
pub(crate) fn largest_slot(context: &Context, noise: &NoiseBound, scale: f64) -> f64 {
    noise.peak.bits().exp2() * context.degree() as f64 / 2.0 / scale
}

impl Blueprint {
    /// Returns the noise to declare when results of a computation are shared that keep at least `bits` after the binary point: that of `own`, which the key holder
    /// computed and bootstrapped on encryptions of their own.
    ///
    /// # Errors
    /// [`BootstrapError::SharingRoom`] with the number of missing bits where the hiding noise leaves fewer; [`BootstrapError::Ckks`] where it exceeds the modulus.
    pub fn declared_noise(
        &self,
        own: &Ciphertext,
        policy: SharingPolicy,
        bits: f64,
    ) -> Result<DeclaredNoise, BootstrapError> {
        let declared = DeclaredNoise::of_own_run(own.noise(), self.context.ring().expansion());
        let degree = self.context.degree();
        let hiding = Flooding::new(policy, declared, degree).map_err(CkksError::from)?;
        let metadata = own.metadata();
        let added = slot_error(hiding.log2_deviation().exp2(), metadata.slots, metadata.scale);
        let left = metadata.precision.plus_error(added).bits();
        if left < bits || left.is_nan() {
            return Err(BootstrapError::SharingRoom { policy, left, bits_short: bits - left });
        }
        self.context.check_shareable(own, declared, policy)?;
        Ok(declared)
    }

    /// Returns a bound that no slot with this noise at this scale exceeds.
    pub(super) fn largest_slot(&self, noise: &NoiseBound, scale: f64) -> f64 {
        largest_slot(&self.context, noise, scale)
    }

    /// Returns a bound on x mod 1: of slots as large as the magnitude and `beside` together, with the noise of the message and of the raised ciphertext.
    pub(super) fn reach(&self, a: &Ciphertext, beside: f64, lowered: &Ciphertext) -> f64 {
        let [from, low] = [a, lowered].map(|of| of.metadata().scale);
        let own = a.metadata().precision.magnitude() + beside;
        let whole = own + self.largest_slot(a.noise(), from) + self.largest_slot(lowered.noise(), low);
        whole * low / self.scales.first
    }

    /// Returns a bound on EvalMod's error in one coefficient, near any integer that occurs with probability 2^-64, for slots of at most `bound`.
    pub(super) fn largest_error(&self, bound: f64) -> f64 {
        let ratio = self.scales.raised / self.scales.first;
        self.eval_mod.worst_error((bound * ratio).min(1.0)).likely / ratio
    }

    /// Returns the number of bits by which to enlarge the error of a message: about as many as are estimated, and such that the bound of the correction,
    /// which is as noisy as `sum`, is least. Enlarged, slots reach `reach`·2^bits, but `bound` at least.
    pub(super) fn bits_to_enlarge(&self, sum: &Ciphertext, [bound, reach]: [f64; 2], estimated: f64) -> f64 {
        let ring = self.context.ring().expansion();
        let (ratio, own) = (self.scales.raised / self.scales.first, sum.noise().bound(ring));
        let cost = |bits: &f64| {
            let largest = bound.max(reach * bits.exp2()) * ratio;
            if largest.is_nan() || largest > MOST {
                return f64::INFINITY;
            }
            let term = self.approximation(largest).0.scaled(Log2::of(sum.metadata().scale / ratio));
            (NoiseBound::dependent(term, 0).bound(ring) + own).bits() - bits
        };
        // The estimate comes first: no other number of bits is taken unless it is better.
        let near = [0.0, 1.0, -1.0, -2.0].map(|more| (estimated + more).clamp(0.0, 62.0));
        near.into_iter().min_by(|a, b| cost(a).total_cmp(&cost(b))).unwrap_or(estimated)
    }

    /// Returns the root mean square of slots of (m + q_0·I)/q_0: the root of a sum of n squares, which exceeds this with probability 2^-64.
    pub(super) fn raised_length(&self) -> f64 {
        let (n, weight) = (self.context.degree() as f64, self.set.eval_mod.weight as f64 + 1.0);
        let spread = n + 2.0 * (n * RARE).sqrt() + 2.0 * RARE;
        (spread * weight / 12.0).sqrt()
    }

    /// Returns the noise of a result: `own`, the noise of the steps on a message without noise, plus the noise of the input and the error of EvalMod.
    ///
    /// The argument `largest` bounds x mod 1, and `lowered` is the ciphertext that was raised.
    pub(super) fn whole_noise(
        &self,
        a: &Ciphertext,
        largest: f64,
        lowered: &Ciphertext,
        result: &Ciphertext,
    ) -> Result<NoiseBound, CkksError> {
        let (given, own) = (a.noise(), result.noise());
        let [from, low, to] = [a, lowered, result].map(|of| of.metadata().scale);
        if largest.is_nan() || largest > MOST {
            return self.within_modulus(result, &NoiseBound::dependent(NoiseTerm::unbounded(), 0));
        }
        let (term, slope) = self.approximation(largest);
        let carried = given.scaled(Log2::of(to / from * slope));
        let noise = carried.sum(own).plus(term.scaled(Log2::of(self.scales.first / low * to)));
        self.within_modulus(result, &noise)
    }

    /// Limits the bounds of noise to those of any number modulo Q.
    pub(super) fn within_modulus(
        &self,
        result: &Ciphertext,
        noise: &NoiseBound,
    ) -> Result<NoiseBound, CkksError> {
        let most = Log2::from_bits(self.context.log2_modulus_at(result.metadata().level)?);
        let [worst, deviation] = [noise.worst, noise.deviation].map(|bound| bound.min(most));
        let term = NoiseTerm { worst, deviation, peak: noise.peak.min(most * 2.0) };
        Ok(NoiseBound::dependent(term, noise.secret_degree))
    }

    /// Returns the error that EvalMod adds to x mod 1 of a message of at most `largest`, and the factor by which noise grows.
    fn approximation(&self, largest: f64) -> (NoiseTerm, f64) {
        let (error, n) = (self.eval_mod.worst_error(largest), self.context.degree() as f64);
        let tail = Tail::new(self.context.ring().expansion());
        let [coefficient, deviation, slot] = match self.set.order {
            Order::Last => {
                let gaussian = tail.sum_peak() / 2.0 * n.sqrt();
                // Their mean accumulates at the roots next to 1, where Σ ζ^k reaches 2n/π.
                let mean = self.eval_mod.typical_error() * 2.0 * n / std::f64::consts::PI;
                // Where all coefficients count alike λ is small, and a factor of 2 suffices.
                let integers = mean + error.at_integers * 2.0 * gaussian * n.sqrt();
                let slopes = error.of_slopes * largest * (2.0 + SUM * gaussian);
                let spread = 2.0 * error.at_integers + (slopes + error.distortion) / n.sqrt();
                [error.largest, spread, integers + slopes + error.distortion]
            }
            Order::First => return (self.error_of_slots(error.largest), error.slope),
        };
        (self.noise_term(coefficient, deviation, slot), error.slope)
    }

    /// Returns the noise of an error of slots, of at most `largest` in their real and in their imaginary parts each, at scale 1.
    pub(crate) fn error_of_slots(&self, largest: f64) -> NoiseTerm {
        let slot = largest * 2.0_f64.sqrt();
        self.noise_term(slot, slot / (self.context.degree() as f64).sqrt(), slot)
    }

    /// Returns the noise of an error with these bounds on coefficients, on their deviation, and on slots.
    fn noise_term(&self, coefficient: f64, deviation: f64, slot: f64) -> NoiseTerm {
        let tail = Tail::new(self.context.ring().expansion());
        NoiseTerm {
            worst: Log2::of(coefficient),
            deviation: Log2::of((coefficient / tail.factor()).max(deviation)),
            peak: Log2::of(slot * 2.0 / self.context.degree() as f64),
        }
    }
}

/// Declares the ciphertext's content as its message: without noise.
pub(crate) fn exact(a: &Ciphertext) -> Ciphertext {
    let mut exact = a.clone();
    exact.set_noise(NoiseBound::none());
    exact
}
