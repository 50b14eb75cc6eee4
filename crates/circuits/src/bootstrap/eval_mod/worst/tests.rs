use chacha20::ChaCha20Rng;
use chacha20::rand_core::{Rng, SeedableRng};

use super::super::{EvalModParameters, ratio};
use super::*;
use crate::bootstrap::Set;

/// Bound of the rounding error of values in the clear, computed with doubles.
const ROUNDING: f64 = 1.0 / (1_u64 << 42) as f64;

/// Returns the errors that a sweep of x mod 1, in fractions of the largest, finds around an integer.
fn swept(made: &EvalMod, centre: f64, largest: f64, shares: &[f64]) -> WorstError {
    let (at, step) = (made.at(centre), largest.min(ratio(made.parameters.ratio_bits)) / 32.0);
    let apart = |step: f64| made.at(centre + step) - made.at(centre - step);
    let slope = (8.0 * apart(step) - apart(2.0 * step)) / (12.0 * step);
    // The formula divides 18 values by 12 steps.
    let off = 2.0 * ROUNDING / step;
    let mut found = WorstError {
        largest: at.abs() - ROUNDING,
        likely: 0.0,
        at_integers: at.abs() - ROUNDING,
        of_slopes: (slope - 1.0).abs() - off,
        distortion: 0.0,
        slope: slope.abs() - off,
    };
    for share in shares {
        let rest = share * largest;
        let value = made.at(centre + rest);
        found.largest = found.largest.max((value - rest).abs() - ROUNDING);
        let beyond = (value - at - slope * rest).abs() - 64.0 * ROUNDING;
        found.distortion = found.distortion.max(beyond / (share * share));
        // The mean of slopes in between.
        let mean = (value - made.at(centre + rest * 31.0 / 32.0)) * 32.0 / rest;
        found.slope = found.slope.max(mean.abs() - off);
    }
    found
}

/// Returns the errors that sweeps around all integers find, in the order of the fields, rare integers divided by their rarity.
fn seen(made: &EvalMod, largest: f64, random: &mut ChaCha20Rng) -> [f64; 5] {
    let range = made.parameters.range as i64;
    let mut seen = [0.0_f64; 5];
    for integer in -range..=range {
        let draw = |_| 0.2 + 0.8 * f64::from(random.next_u32()) / f64::from(u32::MAX);
        let mut shares: Vec<f64> = (0..200).map(draw).flat_map(|share| [share, -share]).collect();
        shares.extend([-1.0, 1.0]);
        let found = swept(made, integer as f64, largest, &shares);
        let rarity = rarity(made.parameters.weight, integer.abs() as f64 - 0.5 - largest);
        let share = if rarity > RAREST { 0.0 } else { 1.0 / rarity };
        let all = [
            found.largest,
            found.at_integers * share,
            found.of_slopes * share,
            found.distortion,
            found.slope,
        ];
        seen.iter_mut().zip(all).for_each(|(seen, found)| *seen = seen.max(found));
    }
    seen
}

fn cosine(degree: usize, arcsine: usize, doublings: usize) -> EvalModParameters {
    let form = ApproximationForm::Cosine { degree, arcsine };
    EvalModParameters { form, doublings, range: 15, ratio_bits: 8.0, weight: 32 }
}

/// Checks that no point of a sweep exceeds the proved bound, and that half of it is found where doubles can show it.
#[test]
fn what_is_proved_of_errors_is_true_and_tight() {
    let mut random = ChaCha20Rng::seed_from_u64(27);
    let others = [cosine(30, 7, 3), cosine(22, 3, 4), cosine(62, 7, 3)];
    let shipped = Set::shipped().map(|set| set.eval_mod);
    for parameters in shipped.into_iter().chain(others) {
        let made = EvalMod::new(parameters).unwrap();
        let own = ratio(parameters.ratio_bits);
        for largest in [own, 0.3 * own, own / 64.0, 0.2] {
            let WorstError { largest: most, at_integers, of_slopes, distortion, slope, .. } =
                made.worst_error(largest);
            let proved = [most, at_integers, of_slopes, distortion, slope];
            let seen = seen(&made, largest, &mut random);
            let case = format!("{parameters:?}, {largest:e}: {seen:?} of {proved:?}");
            assert!(seen.iter().zip(proved).all(|(seen, proved)| *seen <= proved), "{case}");
            // Differences of doubles are too inexact for slopes.
            let shown = |(at, (seen, proved)): (usize, (&f64, f64))| at == 2 || *seen > 0.5 * proved;
            if largest == own && shipped.contains(&parameters) {
                assert!(seen.iter().zip(proved).enumerate().all(shown), "{case}");
            }
        }
    }
}

/// Checks that a wider interval has no smaller bounds, and that nothing is proved beyond a fraction.
#[test]
fn bounds_grow_with_the_interval() {
    let made = EvalMod::new(Set::default_128().eval_mod).unwrap();
    let figures =
        [0.0, 1e-30, 1e-6, 1e-3, 0.01, 0.1, 0.25, 0.5, 1.0].map(|largest| made.worst_error(largest));
    for pair in figures.windows(2) {
        let [less, more] = pair else { panic!() };
        assert!(less.largest <= more.largest && less.distortion <= more.distortion, "{less:?} {more:?}");
        assert!(less.slope <= more.slope * (1.0 + 1e-9) && less.largest > 0.0, "{less:?} {more:?}");
    }
    assert!(figures[8].largest.is_finite());
    for none in [1.01, f64::INFINITY, f64::NAN] {
        assert_eq!(made.worst_error(none).largest, f64::INFINITY);
    }
}

/// Checks that the rarity of integers is never overstated: exact tails, and random sums.
#[test]
fn rarities_are_below_exact_tails() {
    use crate::bootstrap::failure::log2_failure;
    use sunzi_rlwe::SecretDistribution::FixedWeight;
    for weight in [2, 8, 32, 64] {
        for integer in 1..=weight / 2 {
            let exact = log2_failure(FixedWeight(weight), 1024, 1, integer - 1, 0.01);
            let t = rarity(weight, integer as f64 - 0.5 - 0.01);
            let stated = 1.0 - t * t / 2.0 / LN_2;
            assert!(stated >= exact - 1e-4, "{weight} {integer}: 2^{stated} for 2^{exact}");
            assert!(stated <= exact + 8.0 || exact > -60.0, "{weight} {integer}: 2^{stated} for 2^{exact}");
        }
    }
    assert_eq!(rarity(32, 16.1), f64::INFINITY);
}
