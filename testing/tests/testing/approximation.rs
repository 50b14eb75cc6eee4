//! Proved errors of approximations: no point of the interval, however it is chosen, has a larger one.

use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive};
use sunzi_circuits::approximation::{
    Function, ProvedApproximation, Smoothness, Target, approximate_function, approximate_smooth, minimax,
    proved_error,
};
use sunzi_circuits::series::{Basis, Parity, Series, SeriesError};

/// Returns points of an interval: both ends and their neighbours, the nodes where a polynomial of the degree has its extrema, an even sweep, and 0.
fn points(low: f64, high: f64, degree: usize) -> Vec<f64> {
    let mut points = vec![low, high, low.next_up(), high.next_down(), 0.0];
    for count in [degree + 1, degree + 2, 64 * (degree + 2) + 1] {
        let angle = |j: usize| std::f64::consts::PI * j as f64 / count as f64;
        let at = |j: usize| (low + high) / 2.0 + (high - low) / 2.0 * angle(j).cos();
        points.extend((0..=count).map(at));
    }
    points.extend((0..=20_011).map(|i| low + (high - low) * f64::from(i) / 20_011.0));
    points.retain(|x| (low..=high).contains(x));
    points
}

/// Returns the largest error at these points.
fn shown(f: impl Fn(f64) -> f64, series: &Series, low: f64, high: f64) -> f64 {
    let error = |x: f64| (f(x) - series.at(x)).abs();
    points(low, high, series.degree()).into_iter().map(error).fold(0.0, f64::max)
}

const CASES: [(Function, f64, f64); 24] = [
    (Function::Exp, -1.0, 1.0),
    (Function::Exp, -20.0, 3.0),
    (Function::Exp, 5.0, 5.001),
    (Function::Sigmoid, -4.0, 4.0),
    (Function::Sigmoid, -60.0, 60.0),
    (Function::Sigmoid, 10.0, 20.0),
    (Function::Tanh, -2.0, 2.0),
    (Function::Tanh, -0.01, 30.0),
    (Function::Ln, 0.5, 2.0),
    (Function::Ln, 0.01, 1.0),
    (Function::Ln, 1000.0, 1001.0),
    (Function::Inverse, 0.5, 2.0),
    (Function::Inverse, 0.02, 1.0),
    (Function::Inverse, -8.0, -0.5),
    (Function::SquareRoot, 0.0, 1.0),
    (Function::SquareRoot, 1e-9, 4.0),
    (Function::SquareRoot, 0.25, 100.0),
    (Function::InverseSquareRoot, 0.25, 4.0),
    (Function::InverseSquareRoot, 100.0, 400.0),
    (Function::Sine, -3.0, 3.0),
    (Function::Sine, 0.0, 40.0),
    (Function::Cosine, -3.0, 3.0),
    (Function::Cosine, 1.0, 1.5),
    (Function::Cosine, -0.001, 0.002),
];

#[test]
fn no_point_shows_more_than_the_proved_error() {
    for (function, low, high) in CASES {
        let scale = function.at(low).abs().max(function.at(high).abs()).max(1.0);
        for degree in [0, 1, 2, 3, 5, 8, 13, 31, 60] {
            let ProvedApproximation { series, error } =
                approximate_function(function, low, high, Target::Degree(degree)).unwrap();
            let worst = shown(|x| function.at(x), &series, low, high);
            let name = format!("{function:?} on [{low}, {high}] to degree {degree}");
            // The sweep has roundings of its own.
            assert!(worst <= error + 1e-15 * scale, "{name}: {worst:e} of {error:e}");
            // The bound is tight: half of it occurs, down to roundings.
            let loose = if function == Function::SquareRoot { 2.0 } else { 1.05 };
            assert!(error <= loose * worst + 3e-13 * scale, "{name}: {worst:e} of {error:e}");
        }
    }
}

#[test]
fn errors_that_are_asked_for_hold_everywhere() {
    for (function, low, high) in CASES {
        for wanted in [0.1, 1e-3, 1e-6, 1e-9] {
            let found = match approximate_function(function, low, high, Target::Error(wanted)) {
                Ok(found) => found,
                Err(SeriesError::NotReached { .. }) if low < 0.02 && wanted < 1e-2 => continue,
                Err(error) => panic!("{function:?} on [{low}, {high}] to {wanted:e}: {error}"),
            };
            let worst = shown(|x| function.at(x), &found.series, low, high);
            assert!(found.error <= wanted && worst <= found.error + 1e-15 * function.at(high).abs().max(1.0));
            let (from, to) = (4.0, 0.25);
            let rescaled = found.rescaled(from, to).unwrap();
            let worst = shown(|s| to * function.at(from * s), &rescaled.series, low / from, high / from);
            assert!(
                worst <= rescaled.error + 1e-15 * function.at(high).abs().max(1.0)
                    && rescaled.error == found.error * to
            );
        }
    }
}

/// Returns p at a double, exactly, as a fraction of a power of two: its coefficients are doubles, and the basis is that of [−1, 1].
fn exactly(series: &Series, x: f64) -> (BigInt, u32) {
    assert_eq!(series.basis(), Basis::Chebyshev { low: -1.0, high: 1.0 });
    // Every double here is a multiple of 2^-BITS.
    const BITS: u32 = 200;
    let fixed = |x: f64| BigInt::from((x * 2_f64.powi(120)) as i128) << 80_u32;
    let exact = |x: f64| {
        let whole = fixed(x);
        assert_eq!(
            whole.to_f64().unwrap_or(f64::NAN) / 2_f64.powi(BITS as i32),
            x,
            "a double with bits below 2^-120"
        );
        whole
    };
    // Clenshaw's rule with 200 bits after the point, cut off after each product: wrong by less than 2^-150.
    let u = exact(x);
    let (mut first, mut second) = (BigInt::ZERO, BigInt::ZERO);
    for &c in series.coefficients().iter().skip(1).rev() {
        let next: BigInt = ((&u * &first) >> (BITS - 1)) - &second + exact(c);
        (first, second) = (next, first);
    }
    let free = exact(series.coefficients().first().copied().unwrap_or(0.0));
    (((&u * &first) >> BITS) - second + free, BITS)
}

/// Returns e^x in as many bits, by its series.
fn exponential(x: f64, bits: u32) -> BigInt {
    let x = BigInt::from((x * 2_f64.powi(100)) as i128) << (bits - 100);
    let one = BigInt::from(1) << bits;
    let (mut sum, mut term) = (one.clone(), one);
    for k in 1..80 {
        term = ((&term * &x) >> bits) / k;
        sum += &term;
    }
    sum
}

#[test]
fn bounds_near_the_roundings_of_doubles_hold_against_two_hundred_bits() {
    for degree in [8, 11, 13, 15, 20] {
        let found = approximate_function(Function::Exp, -1.0, 1.0, Target::Degree(degree)).unwrap();
        let mut worst = 0.0_f64;
        for x in (0..=2000).map(|i| f64::from(i - 1000) / 1024.0 * 1.024).chain([-1.0, 1.0]) {
            // A number with few bits, which both computations have exactly.
            let x = (x.clamp(-1.0, 1.0) * 2_f64.powi(40)).round() / 2_f64.powi(40);
            let (p, bits) = exactly(&found.series, x);
            let apart = (exponential(x, bits) - p).abs().to_f64().unwrap() / 2_f64.powi(bits as i32);
            worst = worst.max(apart);
        }
        assert!(worst <= found.error, "degree {degree}: {worst:e} of {:e}", found.error);
    }
}

#[test]
fn minimax_polynomials_are_proved_too() {
    for (degree, parity, low) in [(4, Parity::Mixed, -1.0), (9, Parity::Mixed, -1.0), (7, Parity::Odd, 0.0)] {
        let function = if parity == Parity::Odd { Function::Sine } else { Function::Exp };
        let found = minimax(|x| function.at(x), low, 1.0, degree, parity).unwrap();
        let error = proved_error(function, &found.series, low, 1.0).unwrap();
        let worst = shown(|x| function.at(x), &found.series, low, 1.0);
        assert!(worst <= error + 1e-15 && error <= 1.01 * worst + 1e-13, "{degree}: {worst:e} of {error:e}");
    }
    let power = Series::power(vec![1.0, 1.0]).unwrap();
    assert!(matches!(proved_error(Function::Exp, &power, -1.0, 1.0), Err(SeriesError::Interval { .. })));
    let narrow = Series::chebyshev(-1.0, 1.0, vec![1.0, 1.0]).unwrap();
    assert!(matches!(proved_error(Function::Exp, &narrow, -1.0, 2.0), Err(SeriesError::Interval { .. })));
}

/// Checks a function that looks constant at every point of a grid: its error there is invisible.
#[test]
fn what_hides_between_the_points_of_a_grid_is_bounded_by_what_is_declared() {
    // A bump of height 1/200 and width 1/100.
    let bump = |x: f64| (0.005 - (x - 0.123_456).abs()).max(0.0);
    let found = approximate_smooth(bump, Smoothness::Lipschitz(1.0), -1.0, 1.0, Target::Degree(8)).unwrap();
    let worst = shown(bump, &found.series, -1.0, 1.0);
    assert!(worst > 0.004 && worst <= found.error, "{worst:e} of {:e}", found.error);
    let wave = |x: f64| (3.0 * x).sin();
    for (smoothness, wanted) in
        [(Smoothness::Lipschitz(3.0), 1e-2), (Smoothness::SecondDerivative(9.0), 1e-6)]
    {
        let found = approximate_smooth(wave, smoothness, -1.0, 2.0, Target::Error(wanted)).unwrap();
        assert!(shown(wave, &found.series, -1.0, 2.0) <= found.error && found.error <= wanted);
    }
    for bound in [-1.0, f64::NAN, f64::INFINITY] {
        let refused = approximate_smooth(wave, Smoothness::Lipschitz(bound), 0.0, 1.0, Target::Degree(3));
        assert!(matches!(refused, Err(SeriesError::OutOfRange { .. })));
    }
}

#[test]
fn intervals_outside_of_a_domain_are_refused() {
    for (function, low, high) in [
        (Function::Ln, 0.0, 1.0),
        (Function::Ln, -1.0, 1.0),
        (Function::Inverse, -1.0, 1.0),
        (Function::Inverse, -1.0, 0.0),
        (Function::SquareRoot, -1e-9, 1.0),
        (Function::InverseSquareRoot, 0.0, 1.0),
        (Function::Exp, 0.0, 1000.0),
        (Function::Exp, 1.0, 1.0),
        (Function::Exp, f64::NAN, 1.0),
    ] {
        assert!(approximate_function(function, low, high, Target::Degree(3)).is_err(), "{function:?}");
    }
}
