//! Signs by composition: their errors hold everywhere, and no depth is wasted.

use std::f64::consts::PI;

use sunzi_circuits::approximation::{CompositeSign, minimax};
use sunzi_circuits::series::Parity;

/// Levels that one polynomial of a composition may take.
const STAGES: std::ops::RangeInclusive<usize> = 2..=5;

/// The zeros of T_count, taken to [low, high].
fn nodes(low: f64, high: f64, count: usize) -> impl Iterator<Item = f64> {
    let (centre, radius) = ((low + high) / 2.0, (high - low) / 2.0);
    (0..count).map(move |j| centre + radius * (PI * (2 * j + 1) as f64 / (2 * count) as f64).cos())
}

#[test]
fn the_error_holds_everywhere_outside_the_gap() {
    for (gap, error) in [
        (0.5, 1e-3),
        (0.125, 1e-6),
        (1.0 / 256.0, 1e-6),
        (2f64.powi(-12), 2f64.powi(-12)),
        (2f64.powi(-16), 2f64.powi(-16)),
    ] {
        let sign = CompositeSign::new(gap, error).unwrap();
        assert!(sign.error() <= error);
        for x in nodes(gap, 1.0, 20011).chain([gap, 1.0]) {
            for (x, sgn) in [(x, 1.0), (-x, -1.0)] {
                // The sweep has roundings of its own.
                assert!((sign.at(x) - sgn).abs() <= sign.error() + 1e-13, "{gap} at {x}");
            }
        }
        for x in nodes(-gap, gap, 10_001) {
            let value = sign.at(x);
            assert!(value.abs() <= 1.0 + sign.error() + 1e-13, "{gap} at {x}");
            assert!(value * x >= -1e-13, "{gap} at {x}");
        }
        for most in [1e-3, 0.1, 0.45] {
            let largest = sign.largest_below(most);
            let values = (0..=1000).map(|i| sign.at(largest * f64::from(i) / 1000.0));
            let worst = values.fold(0.0, f64::max);
            assert!(
                worst <= most + 1e-15 && worst > 0.7 * most && largest > gap / 32.0 * most,
                "{gap} {most}: {worst}"
            );
        }
    }
}

#[test]
fn no_shallower_than_compositions_of_equal_degrees() {
    for (alpha, expected) in [(4, 6), (8, 12), (12, 17), (16, 21)] {
        let bound = 2f64.powi(-alpha);
        let depth = CompositeSign::new(bound, bound).unwrap().depth();
        assert_eq!(depth, expected, "{alpha}");
        for stage in STAGES {
            let (mut a, mut levels, mut error) = (bound, 0, 1.0);
            while error > bound {
                error = minimax(|_| 1.0, a, 1.0, (1 << stage) - 1, Parity::Odd).unwrap().error;
                let reached = (1.0 - error) / (1.0 + error);
                // Stages too short to get anywhere from so small a value.
                if reached <= a {
                    levels = usize::MAX;
                    break;
                }
                (a, levels) = (reached, levels + stage);
            }
            assert!(depth <= levels, "{alpha}: {depth} levels, {levels} with stages of {stage}");
        }
    }
}

#[test]
fn bad_arguments() {
    assert!(CompositeSign::new(0.0, 1e-3).is_err());
    assert!(CompositeSign::new(1.0, 1e-3).is_err());
    assert!(CompositeSign::new(0.1, 0.0).is_err());
    assert!(CompositeSign::new(f64::NAN, 0.1).is_err());
}
