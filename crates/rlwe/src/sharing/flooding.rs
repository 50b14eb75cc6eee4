//! Flooding noise, which hides the noise of a ciphertext.

use std::f64::consts::LN_2;

use num_bigint::BigInt;
use rand_core::CryptoRng;
use sunzi_ring::{Coefficient, Expansion, Poly, Ring, sampling};
use zeroize::Zeroizing;

use super::SharingPolicy;
use crate::{Log2, NoiseBound, RlweError};

/// Bits of improbability: −log2 of the probability that any coefficient leaves the bound of [`Flooding::bound`].
const TAIL_BITS: f64 = 128.0;
/// Largest number of bits by which the Gaussian X is wider than σ/B: with a cell of B/15 and less, σ is nearly what a
/// Gaussian alone would need.
const CELL_BITS: u32 = 4;
/// Number of bits of the uniform part U of flooding noise that are drawn at a time.
const CHUNK_BITS: u64 = 120;
/// Bits of the largest noise that are left for rounding.
const SLACK: f64 = 1e-5;
/// Largest number of times that the largest noise is lowered, each time by more, since cells are whole numbers.
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

/// Flooding noise E = g·X + U, which is added to one phase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flooding {
    /// Cell of flooding noise: g = cell·2^cell_shift.
    cell: u64,
    cell_shift: u64,
    /// Width of the Gaussian X of flooding noise: log2 of its deviation.
    log2_width: u32,
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
        let ratio = (degree.max(1) as f64 * policy.queries() as f64).sqrt()
            * f64::from(policy.statistical_bits() - 1).exp2();
        // The narrowest sum of both is taken: a wider X allows smaller cells, down to 1.
        let narrowest = ratio.log2().floor() as u32 + 1;
        let of_width = |width| Self::of_width(width, bits, ratio, degree);
        let narrower = |best: Self, width| {
            let next = of_width(width);
            if next.log2_deviation() < best.log2_deviation() { next } else { best }
        };
        Ok((narrowest + 1..=narrowest + CELL_BITS).fold(of_width(narrowest), narrower))
    }

    /// The flooding noise with the smallest cell g for X of width 2^k: g·(2^k − ratio) ≥ B·ratio, and a millionth for
    /// the logarithms.
    fn of_width(log2_width: u32, bits: f64, ratio: f64, degree: usize) -> Self {
        let log2_cell = bits + (ratio / (f64::from(log2_width).exp2() - ratio)).log2() + 1e-6;
        let cell_shift = (log2_cell - 50.0).max(0.0).floor();
        let cell = (log2_cell - cell_shift).exp2().floor() as u64 + 1;
        Self { cell, cell_shift: cell_shift as u64, log2_width, degree }
    }

    /// Returns log2 of the largest noise that flooding noise can hide, where the two are at most 2^`capacity`
    /// together.
    ///
    /// # Errors
    /// Every error of [`new`](Self::new).
    pub fn log2_largest_noise(policy: SharingPolicy, capacity: f64, degree: usize) -> Result<f64, RlweError> {
        // The probe is far above 1, where flooding noise is a fixed multiple of the hidden noise.
        const PROBE: f64 = 100.0;
        let gain = Log2::from_bits(
            Self::new(policy, DeclaredNoise::from_bits(PROBE), degree)?.bound().bits() - PROBE,
        );
        let mut noise = capacity - (gain + Log2::of(1.0)).bits() - SLACK;
        // Cells of few bits are rounded up by more than the slack. Without room for noise above 1 the multiple is meant.
        for round in 0..ROUNDS {
            let declared = DeclaredNoise::from_bits(noise);
            let together = Log2::from_bits(noise) + Self::new(policy, declared, degree)?.bound();
            if noise <= 0.0 || together.bits() <= capacity {
                break;
            }
            noise -= f64::from(1 << round) * (together.bits() - capacity + SLACK);
        }
        Ok(noise)
    }

    /// Returns log2 of the deviation of every coefficient of flooding noise, the sum of σ and a cell.
    #[must_use]
    pub fn log2_deviation(&self) -> f64 {
        self.log2_cell() + (f64::from(self.log2_width).exp2() + 1.0).log2()
    }

    /// Returns the bound that no coefficient of flooding noise exceeds except with probability 2^-128: a Gaussian
    /// exceeds x·σ with probability at most 2·exp(−x²/2).
    #[must_use]
    pub fn bound(&self) -> Log2 {
        let tail = (2.0 * LN_2 * (TAIL_BITS + 1.0 + (self.degree as f64).log2())).sqrt();
        Log2::from_bits(self.log2_deviation() + tail.log2())
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
        let x = sampling::discrete_gaussian(self.degree, self.log2_width, rng)?;
        let mut poly = Zeroizing::new(ring.from_signed_wide(&x)?);
        let mut residues = Zeroizing::new(vec![0; self.degree]);
        sampling::uniform_residues(&mut residues, self.cell, rng);
        append(ring, &mut poly, &self.cell.into(), residues.iter().map(|&residue| residue.into()))?;
        let mut left = self.cell_shift;
        while left > 0 {
            let bits = left.min(CHUNK_BITS);
            let digits = std::iter::repeat_with(|| uniform_bits(bits, rng)).take(self.degree);
            append(ring, &mut poly, &(BigInt::from(1) << bits), digits)?;
            left -= bits;
        }
        Ok(poly)
    }

    fn log2_cell(&self) -> f64 {
        (self.cell as f64).log2() + self.cell_shift as f64
    }
}

/// Appends digits to the coefficients of a polynomial: poly ← poly·radix + digits.
fn append(
    ring: &Ring,
    poly: &mut Poly<Coefficient>,
    radix: &BigInt,
    digits: impl Iterator<Item = i128>,
) -> Result<(), RlweError> {
    let mut list = Zeroizing::new(Vec::with_capacity(ring.degree()));
    list.extend(digits);
    let digits = Zeroizing::new(ring.from_signed_wide(&list)?);
    ring.mul_integer_assign(poly, radix)?;
    Ok(ring.add_assign(poly, &digits)?)
}

fn uniform_bits(bits: u64, rng: &mut dyn CryptoRng) -> i128 {
    let wide = u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64());
    (wide & ((1 << bits) - 1)) as i128
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
                    let noise = Flooding::log2_largest_noise(policy, capacity, degree).unwrap();
                    let together = |noise: f64| {
                        let own = DeclaredNoise::from_bits(noise);
                        (Log2::from_bits(noise) + Flooding::new(policy, own, degree).unwrap().bound()).bits()
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

    /// The statistical distance of flooding noise E and E + v, summed over all values, is at most as asked, for |v| ≤
    /// B.
    #[test]
    fn one_result_stays_within_its_statistical_distance() {
        for (statistical_bits, bound) in [(1, 1.0), (2, 7.0), (4, 40.0), (5, 100.0)] {
            let policy = SharingPolicy::new(statistical_bits, 1).unwrap();
            let Flooding { cell, cell_shift, log2_width, .. } =
                Flooding::new(policy, DeclaredNoise::from_bits(f64::log2(bound)), 1).unwrap();
            assert_eq!(cell_shift, 0);
            let sigma = f64::from(log2_width).exp2();
            let density = |x: i64| (-((x * x) as f64) / (2.0 * sigma * sigma)).exp();
            let reach = 12 << log2_width;
            let total: f64 = (-reach..=reach).map(density).sum();
            let probability = |e: i64| density(e.div_euclid(cell as i64)) / total / cell as f64;
            let distance = |v: i64| {
                let support = -reach * cell as i64..=(reach + 1) * cell as i64;
                support.map(|e| (probability(e) - probability(e - v)).abs()).sum::<f64>() / 2.0
            };
            let allowed = f64::from(statistical_bits).exp2().recip();
            for v in [1, bound as i64 / 2, bound as i64, -(bound as i64)] {
                assert!(distance(v) <= allowed, "{statistical_bits} bits, {v} of {bound}: {}", distance(v));
            }
            // The distance is not smaller than needed, either: twice the noise would be visible.
            assert!(distance(4 * bound as i64 + 4) > allowed / 4.0);
        }
    }
}
