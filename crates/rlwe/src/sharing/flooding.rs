//! Flooding noise, which hides the noise of a ciphertext.

use std::f64::consts::LN_2;

use num_bigint::{BigInt, BigUint};
use rand_core::CryptoRng;
use sunzi_ring::{Coefficient, Expansion, Poly, Ring, sampling};
use zeroize::Zeroizing;

use super::SharingPolicy;
use crate::noise::Tail;
use crate::{Log2, NoiseBound, NoiseTerm, RlweError};

/// Bits of improbability: −log2 of the probability that any coefficient leaves the bound of [`Flooding::bound_of`].
const TAIL_BITS: f64 = 128.0;
/// Factor c of the squared Hellinger distance c/(2W²) of the sum of three uniform integers from itself moved by one: at most 1.14052 + 0.9/W, where the limit is 1 for both ends of
/// the density and ¼·∫ 4u²/(¾ − u²) du from −½ to ½ for its middle.
const INFORMATION: f64 = 1.14053;
/// Part by which W is rounded up at most, and the bound of a sum is above 3W/2, since the middle of low digits is no integer.
const ROUNDING: f64 = 1e-9;
/// Number of low bits of flooding noise that are drawn at a time.
const CHUNK_BITS: u64 = 60;
/// Number of bits of W that are drawn first.
const HIGH_BITS: f64 = 60.0;
/// Bits of the largest noise that are left for rounding.
const SLACK: f64 = 1e-5;
/// Largest number of times that the largest noise is lowered, each time by more, since W is a whole number.
const ROUNDS: u32 = 16;

/// The noise that the key holder declares for ciphertexts whose results are shared: a bound on every coefficient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeclaredNoise(Log2);

impl DeclaredNoise {
    /// The noise bound of a ciphertext that the key holder computed: the declared program, run on encryptions made by
    /// the key holder. It holds except with probability 2^-128 (see [`NoiseBound`]).
    ///
    /// **Never** pass the noise bound of a ciphertext that came from somebody else: it is what its maker says.
    #[must_use]
    pub fn of_own_run(noise: &NoiseBound, ring: impl Into<Expansion>) -> Self {
        Self(noise.bound(ring))
    }

    /// The declared noise bound 2^`bits`, from the caller's own analysis.
    #[must_use]
    pub fn from_bits(bits: f64) -> Self {
        Self(Log2::from_bits(bits))
    }

    /// The logarithm log2 of the declared noise bound.
    #[must_use]
    pub fn bits(&self) -> f64 {
        self.0.bits()
    }

    /// Checks that the noise which the maker of a ciphertext claims is not larger than declared: more would be an
    /// honest mistake.
    ///
    /// # Errors
    /// [`RlweError::NoiseDeclaredTooLow`] where the claimed noise is larger.
    pub fn check(&self, claimed: &NoiseBound, ring: impl Into<Expansion>) -> Result<(), RlweError> {
        let (claimed, declared) = (claimed.bound(ring).bits(), self.bits());
        // A bound that is NaN claims nothing that could be relied on.
        if claimed > declared { Err(RlweError::NoiseDeclaredTooLow { declared, claimed }) } else { Ok(()) }
    }
}

/// Flooding noise E: in every coefficient the sum of three uniform integers from 0 to W − 1, less its middle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flooding {
    /// Number W = values·2^shift of values of each uniform integer.
    values: u64,
    shift: u64,
    degree: usize,
}

impl Flooding {
    /// Returns the flooding noise that hides noise of a declared size in n coefficients.
    ///
    /// # Errors
    /// [`RlweError::Sharing`] for noise that is NaN, or above 2^(2^20); [`RlweError::Ring`] for a ring above 2^24.
    pub fn new(policy: SharingPolicy, noise: DeclaredNoise, degree: usize) -> Result<Self, RlweError> {
        // The bound has 1 more, since a phase is an integer, up to a half away from the noise bound.
        let bits = (noise.0 + Log2::of(1.0)).bits();
        if bits.is_nan() || bits > f64::from(1 << 20) {
            let got = noise.bits().to_string();
            return Err(RlweError::Sharing {
                what: "log2 of the declared noise",
                expected: "at most 2^20".into(),
                got,
            });
        }
        let samples = degree.max(1) as f64 * policy.queries() as f64;
        let log2_values = bits + (INFORMATION * samples).log2() / 2.0 + f64::from(policy.statistical_bits());
        let shift = (log2_values - HIGH_BITS).max(0.0).floor();
        // Rounded up, and by one more: then the part 0.9/W of the distance is paid as well.
        let values = (log2_values - shift).exp2() * (1.0 + ROUNDING);
        Ok(Self { values: values.ceil() as u64 + 1, shift: shift as u64, degree })
    }

    /// Returns log2 of the largest noise that each of several parties can hide, where it is at most 2^`capacity` together with the flooding
    /// noise of all.
    ///
    /// # Errors
    /// Every error of [`new`](Self::new).
    pub fn log2_largest_noise(
        policy: SharingPolicy,
        capacity: f64,
        degree: usize,
        parties: u32,
    ) -> Result<f64, RlweError> {
        // The probe is far above 1, where flooding noise is a fixed multiple of the hidden noise.
        const PROBE: f64 = 100.0;
        let gain = Log2::from_bits(
            Self::new(policy, DeclaredNoise::from_bits(PROBE), degree)?.bound_of(parties).bits() - PROBE,
        );
        let mut noise = capacity - (gain + Log2::of(1.0)).bits() - SLACK;
        // Cells of few bits are rounded up by more than the slack. Without room for noise above 1 the multiple is meant.
        for round in 0..ROUNDS {
            let declared = DeclaredNoise::from_bits(noise);
            let together = Log2::from_bits(noise) + Self::new(policy, declared, degree)?.bound_of(parties);
            if noise <= 0.0 || together.bits() <= capacity {
                break;
            }
            noise -= f64::from(1 << round) * (together.bits() - capacity + SLACK);
        }
        Ok(noise)
    }

    /// Returns log2 of the deviation of every coefficient of flooding noise: less than W/2 by a part of W^-2.
    #[must_use]
    pub fn log2_deviation(&self) -> f64 {
        self.log2_values() - 1.0
    }

    /// Returns the number W of values of each of the three uniform integers.
    #[must_use]
    pub fn values(&self) -> BigUint {
        BigUint::from(self.values) << self.shift
    }

    /// Returns the bound on the sum of the flooding noise of several parties, that of one in every coefficient: it holds always up to 3W/2 a party, and
    /// from about 22 parties on a smaller one except with probability 2^-128. Uniform numbers exceed x deviations of their sum with probability at most 2·exp(−x²/2).
    #[must_use]
    pub fn bound_of(&self, parties: u32) -> Log2 {
        let tail = (2.0 * LN_2 * (TAIL_BITS + 1.0 + (self.degree as f64).log2())).sqrt();
        let parties = f64::from(parties);
        let deviations = (3.0 * parties).min(tail * parties.sqrt());
        Log2::from_bits(self.log2_deviation() + (deviations * (1.0 + ROUNDING)).log2())
    }

    /// Returns the noise that the flooding noise of several parties adds to a ciphertext, with [`bound_of`](Self::bound_of) for the worst case.
    #[must_use]
    pub fn noise_of(&self, parties: u32, ring: impl Into<Expansion>) -> NoiseTerm {
        let deviation = Log2::from_bits(self.log2_deviation() + f64::from(parties).log2() / 2.0);
        NoiseTerm { worst: self.bound_of(parties), deviation, peak: deviation * Tail::new(ring).sum_peak() }
    }

    /// Draws the flooding noise E, which is secret: erased when dropped.
    ///
    /// # Errors
    /// [`RlweError::Ring`] for a ring of another degree.
    pub fn sample(
        &self,
        ring: &Ring,
        rng: &mut dyn CryptoRng,
    ) -> Result<Zeroizing<Poly<Coefficient>>, RlweError> {
        let mut poly = Zeroizing::new(self.drawn(ring, self.values, rng)?);
        let mut left = self.shift;
        while left > 0 {
            let bits = left.min(CHUNK_BITS);
            ring.mul_integer_assign(&mut poly, &(BigInt::from(1) << bits))?;
            ring.add_assign(&mut poly, &*Zeroizing::new(self.drawn(ring, 1 << bits, rng)?))?;
            left -= bits;
        }
        Ok(poly)
    }

    /// Draws sums of three uniform integers of so many values.
    fn drawn(
        &self,
        ring: &Ring,
        values: u64,
        rng: &mut dyn CryptoRng,
    ) -> Result<Poly<Coefficient>, RlweError> {
        Ok(ring.from_signed(&sampling::uniform_sums(self.degree, values, rng)?)?)
    }

    fn log2_values(&self) -> f64 {
        (self.values as f64).log2() + self.shift as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said to be the largest noise can be hidden, also where cells are small, and not much more.
    #[test]
    fn the_largest_noise_can_be_hidden() {
        for (statistical_bits, queries) in [(1, 1), (8, 8), (40, 4), (30, 100), (80, 1 << 32)] {
            let policy = SharingPolicy::new(statistical_bits, queries).unwrap();
            for degree in [1 << 10, 1 << 12, 1 << 15] {
                let room = policy.room(degree);
                for tenth in 1..600 {
                    let capacity = room + f64::from(tenth) / 10.0;
                    let noise = Flooding::log2_largest_noise(policy, capacity, degree, 1).unwrap();
                    let together = |noise: f64| {
                        let own = DeclaredNoise::from_bits(noise);
                        (Log2::from_bits(noise) + Flooding::new(policy, own, degree).unwrap().bound_of(1))
                            .bits()
                    };
                    let context =
                        format!("2^-{statistical_bits}, {queries}, n = {degree}, {capacity}: {noise}");
                    assert!(noise <= 0.0 || together(noise) <= capacity, "{context}");
                    assert!(noise < 8.0 || noise > capacity - room - 0.5, "{context}");
                    assert!(noise < 24.0 || together(noise + 0.02) > capacity, "{context}");
                }
            }
        }
    }

    /// Probabilities of sums of three uniform integers of so many values.
    fn probabilities(values: usize) -> Vec<f64> {
        let part = 1.0 / values as f64;
        let summed = |terms: Vec<f64>| -> Vec<f64> {
            let mut window = 0.0;
            let next = |x: usize| {
                window += terms.get(x).copied().unwrap_or_default();
                window -= x.checked_sub(values).and_then(|x| terms.get(x)).copied().unwrap_or_default();
                window.max(0.0)
            };
            (0..terms.len() + values - 1).map(next).collect()
        };
        let ways = summed(summed(vec![1.0; values]));
        ways.into_iter().map(|ways| ways * part * part * part).collect()
    }

    /// The squared Hellinger distance of a sum from itself moved by one is at most what widths follow from, at every width.
    #[test]
    fn a_shift_by_one_has_the_stated_distance() {
        for values in (1..200).chain([1 << 10, 1 << 14, 1 << 18]) {
            let roots: Vec<f64> = probabilities(values).into_iter().map(f64::sqrt).collect();
            let inner: f64 = roots.iter().zip(roots.iter().skip(1)).map(|(a, b)| (a - b).powi(2)).sum();
            let ends = 2.0 * roots.first().unwrap().powi(2);
            let factor = (inner + ends) * (values as f64).powi(2);
            let stated = INFORMATION + 0.9 / values as f64;
            assert!(factor <= stated && factor > INFORMATION - 1e-4, "{values}: {factor}, {stated}");
        }
    }

    /// The statistical distance of flooding noise E and E + v, summed over all values, is at most as asked, for |v| ≤
    /// B.
    #[test]
    fn one_result_stays_within_its_statistical_distance() {
        for (statistical_bits, bound) in [(1, 1.0), (2, 7.0), (4, 40.0), (5, 100.0)] {
            let policy = SharingPolicy::new(statistical_bits, 1).unwrap();
            let Flooding { values, shift, .. } =
                Flooding::new(policy, DeclaredNoise::from_bits(f64::log2(bound)), 1).unwrap();
            assert_eq!(shift, 0);
            let probabilities = probabilities(values as usize);
            let probability = |x: i64| {
                usize::try_from(x).ok().and_then(|x| probabilities.get(x)).copied().unwrap_or_default()
            };
            let distance = |v: i64| {
                let support = -v.abs()..probabilities.len() as i64 + v.abs();
                support.map(|x| (probability(x) - probability(x - v)).abs()).sum::<f64>() / 2.0
            };
            let allowed = f64::from(statistical_bits).exp2().recip();
            for v in [1, bound as i64 / 2, bound as i64, -(bound as i64)] {
                assert!(distance(v) <= allowed, "{statistical_bits} bits, {v} of {bound}: {}", distance(v));
            }
            // The distance is not smaller than needed, either: twice the noise would be visible.
            assert!(distance(4 * bound as i64 + 4) > allowed / 4.0);
        }
    }

    /// Noise is within its bound, with its deviation, whether W fits a word or not.
    #[test]
    fn noise_has_its_deviation_and_keeps_its_bound() {
        let n = 1_u64 << 12;
        let primes = sunzi_math::primes_below(1 << 47, 2 * n, 6).unwrap();
        let ring = Ring::new(2 * n, &primes).unwrap();
        let mut rng = crate::randomness::from_os().unwrap();
        for bits in [0.0, 9.5, 30.0, 60.0, 130.0] {
            let policy = SharingPolicy::new(20, 4).unwrap();
            let flooding = Flooding::new(policy, DeclaredNoise::from_bits(bits), n as usize).unwrap();
            let drawn = ring.to_integers(&flooding.sample(&ring, &mut rng).unwrap()).unwrap();
            let unit = flooding.log2_deviation().exp2();
            let scaled = drawn.iter().map(|x| num_traits::ToPrimitive::to_f64(x).unwrap() / unit);
            let (mean, square) = scaled.fold((0.0, 0.0), |(sum, square), x| {
                assert!(x.abs() <= flooding.bound_of(1).bits().exp2() / unit);
                (sum + x, square + x * x)
            });
            let n = n as f64;
            assert!(
                (mean / n).abs() < 6.0 / n.sqrt() && (square / n - 1.0).abs() < 6.0 * 1.3 / n.sqrt(),
                "{bits}"
            );
        }
    }
}
