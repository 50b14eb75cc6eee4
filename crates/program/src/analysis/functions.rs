//! Polynomials of functions of rows: on which interval, which of them, and what they ask of parameters.

use sunzi_circuits::approximation::{Reciprocal, approximate_stored, is_within_reach};

use super::Facts;
use super::curve::Curve;
use super::facts::image;
use super::parameters::MOST_PRECISION;
use crate::Function;

/// Part of the distance from a pole that errors of an operand may take.
const POLE_SHARE: f64 = 1.0 / 32.0;
/// Number of bits that the largest error of a ciphertext is above its deviation.
const ERROR_BITS: f64 = 3.0;
/// Largest number of levels of a reciprocal in the words of a refusal.
const DEEPEST: usize = 16;
/// Largest log2 of a ratio of ends in the words of a refusal, in quarters.
const WIDEST: i32 = 160;
/// Number of bits that scales of up to 60 bits leave of operands, in the words of a refusal.
const STEEPEST: f64 = 45.0;
/// Factor by which an end in a refusal is above one that works, so that rounding its digits does no harm.
const ABOVE: f64 = 1.01;

/// Key of the polynomial of a function: function, precision, and numbers as bits.
pub(super) type Key = (&'static str, u32, [u64; 6]);

/// Polynomial in stored numbers that approximates a function.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(super) curve: Curve,
    /// Bound on the error of the approximating polynomial.
    pub(super) error: f64,
    /// Allowed error of the polynomial's operand.
    pub(super) allowed: f64,
    /// Number of bits that parameters must leave.
    pub(super) bits: u32,
}

/// Function of a number that is stored divided by a power of two, as its value is.
pub(super) struct Wanted<'a> {
    pub(super) function: Function,
    pub(super) of: &'a Facts,
    /// Power of two that the operand is divided by.
    pub(super) from: f64,
    /// Power of two that the value is multiplied by.
    pub(super) to: f64,
    /// Bound on the error of the operand that polynomials before it cause.
    pub(super) error: f64,
    /// Number of bits of stored numbers that must be right.
    pub(super) precision: u32,
    /// Largest allowed error of the stored operand.
    pub(super) slack: f64,
}

impl Wanted<'_> {
    pub(super) fn key(&self) -> Key {
        let numbers = [self.of.low, self.of.high, self.from, self.to, self.error, self.slack];
        (self.function.name(), self.precision, numbers.map(f64::to_bits))
    }

    /// Returns the polynomial of the function in stored numbers. Its interval covers whatever the operand may be, with its errors, and ends
    /// before the pole: a stated interval does not narrow what columns may hold.
    pub(super) fn find(&self) -> Result<Found, String> {
        let Self { function, of, from, to, .. } = *self;
        let mut allowed = self.slack;
        if function.has_pole() {
            allowed = allowed.min(of.low.abs().min(of.high.abs()) / from * POLE_SHARE);
        }
        let margin = allowed * from + self.error;
        let (low, high) = (of.low - margin, of.high + margin);
        if !function.is_smooth(low, high) {
            return Err(format!(
                "its operand lies between {:.3e} and {:.3e} and is off by up to {:.1e}, which may cross 0: ask for more precision, or \
                 declare ranges that stay farther from 0",
                of.low, of.high, self.error
            ));
        }
        let fitted = self.fit([low, high]);
        let bits = |curve: &Curve| self.bits(curve, function.slope(low, high) * from * to, allowed);
        let found =
            fitted.and_then(|(curve, error)| Ok(Found { bits: bits(&curve)?, curve, error, allowed }));
        found.map_err(|reason| {
            let (low, high, name) = (of.low, of.high, function.name());
            format!("{name} from {low:.3e} to {high:.3e}: {reason}; {}", remedy(function, of, self.precision))
        })
    }

    /// Approximates to·f(from·s) on an interval of from·s, with a bound on the error.
    fn fit(&self, [low, high]: [f64; 2]) -> Result<(Curve, f64), String> {
        let Self { function, from, to, .. } = *self;
        let error = (-f64::from(self.precision)).exp2();
        let words = |error: sunzi_circuits::series::SeriesError| error.to_string();
        if function == Function::Inverse {
            let own = Reciprocal::new(to / from, low / from, high / from, error).map_err(words)?;
            let error = own.error() / to;
            return Ok((Curve::Reciprocal(own), error));
        }
        let found =
            approximate_stored(function.known(), [low, high], [from, to], error / to).map_err(words)?;
        Ok((Curve::Series(found.series), found.error / to))
    }

    /// Returns the number of bits that parameters must leave so that a function of this slope leaves the precision, and its operand is within
    /// what is allowed.
    ///
    /// Parameters of a precision have errors that double at every level down to it.
    fn bits(&self, curve: &Curve, slope: f64, allowed: f64) -> Result<u32, String> {
        let bits = (before(self.precision, slope, allowed) - curve.depth() as f64).ceil().max(0.0) as u32;
        if bits > MOST_PRECISION {
            return Err(format!(
                "errors of its operand count {slope:.0} times, and {bits} bits are more than the {MOST_PRECISION} there are"
            ));
        }
        Ok(bits)
    }
}

/// Number of bits of a stored operand that must be right before a function of this slope, whose operand may be off by `allowed`.
fn before(precision: u32, slope: f64, allowed: f64) -> f64 {
    (f64::from(precision) + slope.log2()).max(ERROR_BITS - allowed.log2())
}

/// Refuses a function of numbers that may reach its pole, with what to declare. In the clear an interval beside it may bound it.
pub(super) fn defined(function: Function, of: &Facts, facts: &Facts, precision: u32) -> Result<(), String> {
    let bounded = facts.low.is_finite() && facts.high.is_finite();
    if function.is_smooth(of.low, of.high) || !facts.encrypted && bounded {
        return Ok(());
    }
    let side = if function == Function::Inverse { "on one side of 0" } else { "above 0" };
    Err(format!(
        "by the ranges of its columns its operand lies between {:.4} and {:.4}, and {} needs it {side}: {}, since an interval beside the \
         function does not make them so",
        of.low,
        of.high,
        function.name(),
        remedy(function, of, precision)
    ))
}

/// Returns what to declare so that a function of these numbers can be computed.
fn remedy(function: Function, of: &Facts, precision: u32) -> String {
    let far = of.low.abs().max(of.high.abs());
    // The widest ratio 2^(k/4) that works, where 2^((k + 1)/4) does not.
    let end = |quarters: i32| far * (-f64::from(quarters) / 4.0).exp2();
    let (mut works, mut fails) = (0, WIDEST);
    while function.has_pole() && far > 0.0 && fails - works > 1 {
        let middle = i32::midpoint(works, fails);
        if reaches(function, end(middle), far, precision) { works = middle } else { fails = middle }
    }
    let least = end(works) * ABOVE;
    match works {
        0 => "declare narrower ranges of columns".to_owned(),
        _ if of.high <= 0.0 && function == Function::Inverse => {
            format!("declare ranges of columns that keep it at most {:.2e}", -least)
        }
        _ => format!("declare ranges of columns that keep it at least {least:.2e}"),
    }
}

/// Whether a function can be computed from `near` to `far`, as far as polynomials and errors of ciphertexts tell.
fn reaches(function: Function, near: f64, far: f64, precision: u32) -> bool {
    let error = (-f64::from(precision)).exp2();
    let (low, high) = image(function, near, far);
    let largest = low.abs().max(high.abs());
    let bits = before(precision, function.slope(near, far) * far / largest, near / far * POLE_SHARE);
    let near = near * (1.0 - 2.0 * POLE_SHARE);
    let within = match function {
        Function::Inverse => {
            Reciprocal::new(near / far, near / far, 1.0, error / 2.0).is_ok_and(|own| own.depth() <= DEEPEST)
        }
        _ => is_within_reach(function.known(), near, far, largest * error),
    };
    within && bits <= STEEPEST
}
