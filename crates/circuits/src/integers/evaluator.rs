//! Evaluator of encrypted integers: the keys and tables behind all operations, and digits as numbers.

use num_complex::Complex64;
use sunzi_ckks::{Ciphertext, Evaluator};

use super::integer::Digit;
use super::kind::BASE;
use super::{Conditions, IntegerError, IntegerWork, Integers};
use crate::bootstrap::functional::{FunctionalBootstrapper, InterpolationOrder, Table};
use crate::bootstrap::{BootstrapError, BootstrapKeys};

/// Rule for results that their kind does not hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overflow {
    /// Results are taken modulo 2^bits.
    #[default]
    Wrap,
    /// Operations whose results may be outside of the kind, by the public bounds of their operands, are refused before any work.
    Refuse,
}

/// A digit as a number: d/8.
pub(super) const UNIT: f64 = 2.0 / BASE as f64;
/// Digits may grow up to this before carries are taken, so that roundings of SlotsToCoeffs, which grow with them, stay small.
pub(super) const MOST_REACH: i64 = 1 << 12;
/// Noise of the number d/8 up to which first order interpolation leaves less than other noise of results.
pub(super) const FIRST_ORDER_NOISE: f64 = 1.0 / (1 << 14) as f64;
/// Size of digits up to which that is so with the roundings of SlotsToCoeffs, which grow with digits.
const FIRST_ORDER_REACH: i64 = 1 << 8;

/// Evaluator of encrypted integers, with the keys of its look-ups.
///
/// The bootstrapper must be that of [`Set::for_integers`](crate::bootstrap::Set::for_integers) or of another set with levels for tables of 16
/// values of third order and two levels above the lowest.
#[derive(Clone, Copy)]
pub struct IntegerEvaluator<'a> {
    pub(super) bootstrapper: &'a FunctionalBootstrapper,
    pub(super) keys: &'a BootstrapKeys,
    pub(super) overflow: Overflow,
    progress: Option<&'a (dyn Fn() + Sync)>,
    work: Option<&'a IntegerWork>,
}

impl<'a> IntegerEvaluator<'a> {
    /// Makes an evaluator that wraps results.
    ///
    /// # Errors
    /// [`IntegerError::Operand`] for a set with too few levels.
    pub fn new(
        bootstrapper: &'a FunctionalBootstrapper,
        keys: &'a BootstrapKeys,
    ) -> Result<Self, IntegerError> {
        let set = bootstrapper.blueprint().set();
        let tables = set.tables.map_or(0, |range| range.levels);
        let (least, lowest) = (InterpolationOrder::Third.depth(BASE as usize), set.lowest_level() + 2);
        for (what, got, least) in
            [("levels of tables", tables, least), ("residual levels", set.residual.levels, lowest)]
        {
            if got < least {
                let expected = format!("at least {least}, as Set::for_integers has");
                return Err(IntegerError::Operand { what, got: got as i128, expected });
            }
        }
        Ok(Self { bootstrapper, keys, overflow: Overflow::Wrap, progress: None, work: None })
    }

    /// Returns the evaluator with another rule for results that their kind does not hold.
    #[must_use]
    pub fn with_overflow(self, overflow: Overflow) -> Self {
        Self { overflow, ..self }
    }

    /// Returns the evaluator with a function that is called after every look-up, each of some seconds.
    #[must_use]
    pub fn with_progress(self, progress: &'a (dyn Fn() + Sync)) -> Self {
        Self { progress: Some(progress), ..self }
    }

    /// Returns the evaluator with counts of what it does.
    #[must_use]
    pub fn with_work(self, work: &'a IntegerWork) -> Self {
        Self { work: Some(work), ..self }
    }

    /// Counts a key switch outside of look-ups.
    pub(super) fn switched(&self) {
        if let Some(work) = self.work {
            work.key_switch();
        }
    }

    /// Counts a product of a digit with a clear one.
    pub(super) fn multiplied_plain(&self) {
        if let Some(work) = self.work {
            work.plain_product();
        }
    }

    /// Largest number of integers of a batch: two for each slot.
    #[must_use]
    pub fn capacity(&self) -> usize {
        2 * self.evaluator().context().max_slots()
    }

    pub(super) fn evaluator(&self) -> &'a Evaluator {
        self.bootstrapper.evaluator()
    }

    /// Lowest level at which look-ups take ciphertexts.
    pub(super) fn lowest_level(&self) -> usize {
        self.bootstrapper.blueprint().set().lowest_level()
    }

    /// Bound on the noise of the numbers d/8.
    pub(super) fn noise(&self, digit: &Digit) -> f64 {
        self.bootstrapper.noise(&digit.ciphertext)
    }

    /// Bound on the noise of all digits of a batch, as a share of the distance from one digit to the next: at 1/2 decryption and look-ups refuse it.
    #[must_use]
    pub fn largest_noise(&self, a: &Integers) -> f64 {
        a.digits.iter().map(|digit| self.noise(digit) / UNIT).fold(0.0, f64::max)
    }

    /// Returns tables of the residues of digits modulo 16, by one bootstrapping: for each digit v the integers f(v mod 16).
    pub(super) fn look_up(
        &self,
        digit: &Digit,
        count: usize,
        functions: &[&dyn Fn(i64) -> i64],
    ) -> Result<Vec<Digit>, IntegerError> {
        let order = if self.noise(digit) < FIRST_ORDER_NOISE && digit.reach() < FIRST_ORDER_REACH {
            InterpolationOrder::First
        } else {
            InterpolationOrder::Third
        };
        let parts: Vec<_> = functions.iter().map(|f| Centred::new(*f)).collect();
        let tables: Vec<Table> =
            parts.iter().map(|part| part.table(order)).collect::<Result<_, BootstrapError>>()?;
        let tables: Vec<&Table> = tables.iter().collect();
        // The second half of a batch is in imaginary parts.
        let only_real = 2 * count <= self.capacity();
        let results = if only_real {
            self.bootstrapper.apply_real(&digit.ciphertext, &tables, self.keys)?
        } else {
            self.bootstrapper.apply(&digit.ciphertext, &tables, self.keys)?
        };
        if let Some(work) = self.work {
            work.look_up(tables.len());
        }
        if let Some(progress) = self.progress {
            progress();
        }
        let digits = results.into_iter().zip(&parts).map(|(ciphertext, part)| {
            self.raised(Digit { ciphertext, range: part.centred_range() }, part.offset)
        });
        digits.collect()
    }

    /// Returns so many tables of the residues of digits modulo 16, by one bootstrapping.
    pub(super) fn look_up_each<const N: usize>(
        &self,
        digit: &Digit,
        count: usize,
        functions: [&dyn Fn(i64) -> i64; N],
    ) -> Result<[Digit; N], IntegerError> {
        let digits = self.look_up(digit, count, &functions)?;
        digits.try_into().map_err(|digits: Vec<Digit>| IntegerError::results(N, digits.len()))
    }

    /// Returns one table of the residues of digits modulo 16, by one bootstrapping.
    pub(super) fn look_up_one(
        &self,
        digit: &Digit,
        count: usize,
        function: impl Fn(i64) -> i64,
    ) -> Result<Digit, IntegerError> {
        let [result] = self.look_up_each(digit, count, [&function])?;
        Ok(result)
    }

    /// Returns the sum of digits.
    pub(super) fn plus(&self, a: &Digit, b: &Digit) -> Result<Digit, IntegerError> {
        let range = [a.range[0] + b.range[0], a.range[1] + b.range[1]];
        self.declared(self.evaluator().add(&a.ciphertext, &b.ciphertext)?, range)
    }

    /// Returns the difference of digits.
    pub(super) fn minus(&self, a: &Digit, b: &Digit) -> Result<Digit, IntegerError> {
        let range = [a.range[0] - b.range[1], a.range[1] - b.range[0]];
        self.declared(self.evaluator().sub(&a.ciphertext, &b.ciphertext)?, range)
    }

    /// Returns the differences of the digits of two batches, the least first.
    pub(super) fn differences(&self, a: &Integers, b: &Integers) -> Result<Vec<Digit>, IntegerError> {
        a.digits.iter().zip(&b.digits).map(|(a, b)| self.minus(a, b)).collect()
    }

    /// Returns digits times an integer.
    pub(super) fn times(&self, a: &Digit, factor: i64) -> Result<Digit, IntegerError> {
        let ends = a.range.map(|end| end * factor);
        let range = [ends[0].min(ends[1]), ends[0].max(ends[1])];
        self.declared(self.evaluator().multiply_integer(&a.ciphertext, factor)?, range)
    }

    /// Returns digits plus an integer, in real and imaginary parts.
    pub(super) fn raised(&self, mut a: Digit, constant: i64) -> Result<Digit, IntegerError> {
        let range = a.range.map(|end| end + constant);
        if constant != 0 {
            let number = constant as f64 * UNIT;
            self.evaluator().add_constant_assign(&mut a.ciphertext, Complex64::new(number, number))?;
        }
        self.declared(a.ciphertext, range)
    }

    /// Returns a digit with the bound on its slots that follows from its range.
    pub(super) fn declared(&self, ciphertext: Ciphertext, range: [i64; 2]) -> Result<Digit, IntegerError> {
        let digit = Digit { ciphertext, range };
        let magnitude = 2.0_f64.sqrt() * UNIT * digit.reach().max(1) as f64;
        Ok(Digit { ciphertext: self.evaluator().with_magnitude(&digit.ciphertext, magnitude)?, range })
    }

    /// Returns a digit whose range is known to be narrower than its terms tell.
    pub(super) fn within(&self, digit: Digit, range: [i64; 2]) -> Result<Digit, IntegerError> {
        self.declared(digit.ciphertext, range)
    }

    /// Returns the bounds of a result, and whether they are the kind's by the rule for overflow.
    pub(super) fn bounded(
        &self,
        operation: &'static str,
        a: &Integers,
        bounds: Option<[i128; 2]>,
    ) -> Result<([i128; 2], bool), IntegerError> {
        match bounds {
            Some(bounds) if a.kind.holds(bounds) => Ok((bounds, true)),
            _ if self.overflow == Overflow::Wrap => Ok((a.kind.range(), false)),
            _ => {
                let [low, high] = bounds.unwrap_or([i128::MIN, i128::MAX]);
                Err(IntegerError::Overflow { operation, low, high, kind: a.kind })
            }
        }
    }
}

/// Refuses operands of different kinds or numbers of integers.
pub(super) fn check_alike(operation: &'static str, a: &Integers, b: &Integers) -> Result<(), IntegerError> {
    if a.kind == b.kind && a.count == b.count {
        return Ok(());
    }
    let of = |a: &Integers| format!("{} integers {}", a.count, a.kind);
    let advice = "give two batches of one kind and length";
    Err(IntegerError::Mismatch { operation, left: of(a), right: of(b), advice })
}

/// Refuses conditions for another number of integers.
pub(super) fn check_count(
    operation: &'static str,
    condition: &Conditions,
    count: usize,
) -> Result<(), IntegerError> {
    if condition.count == count {
        return Ok(());
    }
    Err(IntegerError::Mismatch {
        operation,
        left: format!("{} conditions", condition.count),
        right: format!("{count}"),
        advice: "give one condition for each",
    })
}

/// Values of a table, moved so that they lie around 0: numbers of tables are from −1 to 1.
struct Centred {
    values: Vec<i64>,
    offset: i64,
}

impl Centred {
    fn new(f: &dyn Fn(i64) -> i64) -> Self {
        let values: Vec<i64> = (0..BASE).map(f).collect();
        let [low, high] = ends(&values);
        Self { values, offset: (low + high + 1).div_euclid(2) }
    }

    fn centred_range(&self) -> [i64; 2] {
        ends(&self.values).map(|end| end - self.offset)
    }

    fn table(&self, order: InterpolationOrder) -> Result<Table, BootstrapError> {
        let number = |value: &i64| (value - self.offset) as f64 * UNIT;
        Table::new(self.values.iter().map(number).collect(), order)
    }
}

fn ends(values: &[i64]) -> [i64; 2] {
    let least = values.iter().copied().min().unwrap_or(0);
    [least, values.iter().copied().max().unwrap_or(0)]
}
