//! Fair timing on a machine whose clock drifts: contenders take turns, in many short rounds, and what is
//! compared is the median of the ratios within a round.
//!
//! There are two kinds of contenders: calls that are repeated as often as fills a turn ([`alternate`]), and calls that
//! say themselves how long the part to be timed took and check their result outside of it ([`alternate_timed`]).

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::{LabError, Result};

/// Fewest rounds that a published figure may rest on.
pub const ROUNDS: usize = 101;

/// Shortest time that one contender is given in a round, so that the clock's own cost vanishes.
const TURN: Duration = Duration::from_micros(150);
/// Most calls of a contender within one turn.
const MOST_CALLS: u32 = 100_000;

/// Limit on the time of one call of every contender together, below which a round begins with an untimed call
/// of each: longer calls do not notice whether their data is still in the caches.
const WARM_UP: Duration = Duration::from_millis(100);

/// Timed calls shorter than this are made twice in a row and the second counts: the first brings data to the caches.
const SHORT: Duration = Duration::from_millis(20);

/// A contender to time: a closure of this process, or a program that times itself.
pub trait Contender {
    /// Makes `calls` calls of the contender in a row, after an untimed one if `warm`; returns the time of the
    /// `calls`.
    ///
    /// # Errors
    /// An error of the contender's calls.
    fn turn(&mut self, calls: u32, warm: bool) -> Result<Duration>;

    /// Number of calls of the contender that fill a turn, and the time of one call.
    ///
    /// # Errors
    /// An error of the contender's calls.
    fn fill(&mut self) -> Result<(u32, Duration)> {
        let mut calls = 1;
        // The first call of all may have to fetch and build what later ones find.
        let mut warm = true;
        loop {
            let taken = self.turn(calls, warm)?;
            if taken >= TURN || calls >= MOST_CALLS {
                return Ok((calls, taken / calls));
            }
            warm = false;
            let missing = TURN.as_secs_f64() / taken.as_secs_f64().max(1e-9);
            // Rounded up and never more than eightfold at once: a first measurement may be off.
            let factor = missing.ceil().clamp(2.0, 8.0);
            calls = (f64::from(calls) * factor).min(f64::from(MOST_CALLS)) as u32;
        }
    }
}

impl<F: FnMut() -> Result<T, E>, T, E> Contender for F
where
    LabError: From<E>,
{
    fn turn(&mut self, calls: u32, warm: bool) -> Result<Duration> {
        if warm {
            black_box(self()?);
        }
        let begin = Instant::now();
        for _ in 0..calls {
            black_box(self()?);
        }
        Ok(begin.elapsed())
    }
}

/// A call that returns the time of its part to be timed, and checks its result outside that part.
pub type Timed<'a> = Box<dyn FnMut() -> Result<Duration> + 'a>;

/// A timed call as a contender: called once a turn, or twice where that is short.
struct Once<'a, 'b>(&'a mut Timed<'b>);

impl Contender for Once<'_, '_> {
    fn turn(&mut self, _calls: u32, _warm: bool) -> Result<Duration> {
        match (self.0)()? {
            time if time < SHORT => (self.0)(),
            time => Ok(time),
        }
    }

    /// Takes one call a turn, without trying how long it is. There is no untimed call of all contenders: a
    /// short timed call is made twice.
    fn fill(&mut self) -> Result<(u32, Duration)> {
        Ok((1, WARM_UP))
    }
}

/// Limits on the number of rounds of a timing, and on their time.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Time after which no new round begins, unless there are fewer rounds than `least`.
    pub time: Duration,
    /// Fewest rounds in which contenders take turns.
    pub least: usize,
    /// Most rounds in which contenders take turns.
    pub most: usize,
}

impl From<usize> for Budget {
    /// A budget of exactly `rounds` rounds, however long they take.
    fn from(rounds: usize) -> Self {
        Self { time: Duration::MAX, least: rounds, most: rounds }
    }
}

impl Budget {
    /// Whether another round begins after `rounds` rounds since `begin`.
    pub(crate) fn lasts(&self, rounds: usize, begin: Instant) -> bool {
        rounds < self.most && (rounds < self.least || begin.elapsed() < self.time)
    }
}

/// A series of times: the time of one call in each round, in microseconds.
#[derive(Clone, Debug)]
pub struct Series {
    micros: Vec<f64>,
}

/// A ratio of two series: the median over rounds and the distance between the quartiles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// Median over rounds of the first series' time divided by the second's.
    pub median: f64,
    /// Distance between the quartiles over rounds of the first series' time divided by the second's.
    pub spread: f64,
}

impl Series {
    /// A series of given times in microseconds, one for each round.
    pub fn from_micros(micros: Vec<f64>) -> Self {
        Self { micros }
    }

    /// Number of rounds of the series of times.
    pub fn len(&self) -> usize {
        self.micros.len()
    }

    /// Whether the series has no round.
    pub fn is_empty(&self) -> bool {
        self.micros.is_empty()
    }

    /// Median time of a call of the series in microseconds; NaN without rounds.
    pub fn median(&self) -> f64 {
        quantile(&self.micros, 0.5)
    }

    /// Shortest time of a call of the series in microseconds; NaN without rounds.
    pub fn least(&self) -> f64 {
        quantile(&self.micros, 0.0)
    }

    /// Distance between the quartiles of the times in microseconds; NaN without rounds.
    pub fn spread(&self) -> f64 {
        quantile(&self.micros, 0.75) - quantile(&self.micros, 0.25)
    }

    /// Median time of a call of the series in milliseconds; NaN without rounds.
    pub fn median_ms(&self) -> f64 {
        self.median() * 1e-3
    }

    /// Distance between the quartiles of the times in milliseconds; NaN without rounds.
    pub fn spread_ms(&self) -> f64 {
        self.spread() * 1e-3
    }

    /// The series of times with every time multiplied by `factor`.
    pub fn scaled(&self, factor: f64) -> Self {
        Self::from_micros(self.micros.iter().map(|time| time * factor).collect())
    }

    /// The series of sums, round by round, of the times of two series.
    pub fn plus(&self, other: &Self) -> Self {
        Self::from_micros(self.micros.iter().zip(&other.micros).map(|(a, b)| a + b).collect())
    }

    /// The series of the larger of two series' times, round by round.
    pub fn max(&self, other: &Self) -> Self {
        let pairs = self.micros.iter().zip(&other.micros);
        Self::from_micros(pairs.map(|(a, b)| a.max(*b)).collect())
    }

    /// Ratio of this series to another one that was taken in the same rounds.
    pub fn over(&self, other: &Self) -> Ratio {
        let ratios: Vec<f64> = self.micros.iter().zip(&other.micros).map(|(a, b)| a / b).collect();
        Ratio { median: quantile(&ratios, 0.5), spread: quantile(&ratios, 0.75) - quantile(&ratios, 0.25) }
    }

    /// How many times as fast as `other` this series is: the median over rounds of `other`'s time divided by this one's.
    pub fn speed_up_over(&self, other: &Self) -> f64 {
        other.over(self).median
    }
}

/// Lets the contenders take turns until the budget is used, a number of rounds or of seconds, and returns one series for each, in order.
///
/// Within a round every contender is called once untimed (its data returns to the caches; not if it
/// is alone or slow), then as often as fills a turn. The one that begins changes from round to round.
///
/// # Errors
/// The first error of any contender's calls.
pub fn alternate(budget: impl Into<Budget>, contenders: &mut [&mut dyn Contender]) -> Result<Vec<Series>> {
    let (budget, begin) = (budget.into(), Instant::now());
    let mut turns = Turns::new(contenders)?;
    while budget.lasts(turns.rounds, begin) {
        turns.round(contenders)?;
    }
    Ok(turns.series())
}

/// Lets timed calls take turns until the budget is used: each is made once a round, or twice if it takes less than 20 ms, and then the
/// second call counts.
///
/// # Errors
/// The first error of a timed call.
pub fn alternate_timed(budget: Budget, calls: &mut [Timed<'_>]) -> Result<Vec<Series>> {
    take_turns(budget, &mut calls.iter_mut().map(Once).collect::<Vec<_>>())
}

/// Calls `work` and returns the time of the call and its result.
pub(crate) fn timed<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<(Duration, T), E> {
    let begin = Instant::now();
    let result = work()?;
    Ok((begin.elapsed(), result))
}

/// Turns of the same contenders, a round at a time.
pub(crate) struct Turns {
    calls: Vec<u32>,
    warm: bool,
    rounds: usize,
    times: Vec<Vec<f64>>,
}

impl Turns {
    /// Finds out how many calls of each contender fill a turn.
    ///
    /// # Errors
    /// The first error of any contender's calls.
    pub(crate) fn new(contenders: &mut [&mut dyn Contender]) -> Result<Self> {
        let mut calls = Vec::with_capacity(contenders.len());
        let mut together = Duration::ZERO;
        for contender in contenders.iter_mut() {
            let (count, each) = contender.fill()?;
            calls.push(count);
            together += each;
        }
        let warm = contenders.len() > 1 && together < WARM_UP;
        Ok(Self { calls, warm, rounds: 0, times: vec![Vec::new(); contenders.len()] })
    }

    /// Times one more round of the same contenders in the same order.
    ///
    /// # Errors
    /// The first error of any contender's calls.
    pub(crate) fn round(&mut self, contenders: &mut [&mut dyn Contender]) -> Result<()> {
        let mut turns: Vec<_> = contenders.iter_mut().zip(&self.calls).zip(&mut self.times).collect();
        let first = self.rounds % turns.len().max(1);
        turns.rotate_left(first);
        for ((contender, calls), series) in turns {
            series.push(contender.turn(*calls, self.warm)?.as_secs_f64() * 1e6 / f64::from(*calls));
        }
        self.rounds += 1;
        Ok(())
    }

    /// One series of times for each contender, in order.
    pub(crate) fn series(self) -> Vec<Series> {
        self.times.into_iter().map(Series::from_micros).collect()
    }
}

/// Lets N contenders take turns, and returns one series of times for each.
///
/// # Errors
/// The first error of any contender's calls.
pub(crate) fn side_by_side<const N: usize>(
    rounds: usize,
    mut contenders: [&mut dyn Contender; N],
) -> Result<[Series; N]> {
    alternate(rounds, &mut contenders)?.try_into().map_err(|_| LabError::no_rounds())
}

/// Lets contenders of one type take turns, and returns one series of times for each.
///
/// # Errors
/// The first error of any contender's calls.
pub(crate) fn take_turns(
    budget: impl Into<Budget>,
    contenders: &mut [impl Contender],
) -> Result<Vec<Series>> {
    let mut all: Vec<&mut dyn Contender> = Vec::new();
    for contender in contenders {
        all.push(contender);
    }
    alternate(budget, &mut all)
}

/// Times one contender alone, without others that take turns with it.
///
/// # Errors
/// An error of the contender's calls.
pub fn alone(rounds: usize, contender: &mut dyn Contender) -> Result<Series> {
    let [series] = side_by_side(rounds, [contender])?;
    Ok(series)
}

/// The median of a list of values, the upper one of two; NaN without values.
pub(crate) fn upper_median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The value below which the share `share` of the sorted values lies, by linear interpolation.
fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else {
        return f64::NAN;
    };
    let position = share * last as f64;
    let below = sorted.get(position.floor() as usize);
    let above = sorted.get(position.ceil() as usize);
    match (below, above) {
        (Some(below), Some(above)) => below + (above - below) * position.fract(),
        _ => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate() {
        let values = [4.0, 1.0, 3.0, 2.0];
        assert_eq!(quantile(&values, 0.5), 2.5);
        assert_eq!(quantile(&values, 0.0), 1.0);
        assert_eq!(quantile(&values, 1.0), 4.0);
        assert!(quantile(&[], 0.5).is_nan());
    }

    #[test]
    fn ratios_are_taken_within_a_round() {
        // Both slow down threefold in the last round; their ratio does not move.
        let ours = Series::from_micros(vec![1.0, 1.0, 3.0]);
        let peer = Series::from_micros(vec![2.0, 2.0, 6.0]);
        let ratio = ours.over(&peer);
        assert_eq!(ratio, Ratio { median: 0.5, spread: 0.0 });
        assert_eq!(ours.max(&peer.scaled(0.25)).median(), 1.0);
    }

    #[test]
    fn a_slower_contender_measures_slower() {
        let work = |count: u64| {
            let mut sum = 1u64;
            for i in 0..count {
                sum = std::hint::black_box(sum.wrapping_mul(i | 1));
            }
            std::hint::black_box(sum)
        };
        let mut short = || Ok::<_, LabError>(work(2_000));
        let mut long = || Ok::<_, LabError>(work(8_000));
        let series = alternate(9, &mut [&mut short, &mut long]).unwrap();
        let ratio = series[1].over(&series[0]).median;
        assert!((2.0..8.0).contains(&ratio), "{ratio}");
    }

    #[test]
    fn an_error_of_a_contender_ends_the_rounds() {
        let mut left = 5;
        let mut breaks = || match left {
            0 => Err(LabError::no_rounds()),
            _ => {
                left -= 1;
                Ok(())
            }
        };
        assert!(alone(9, &mut breaks).is_err());
    }

    fn budget(time: u64, least: usize, most: usize) -> Budget {
        Budget { time: Duration::from_millis(time), least, most }
    }

    #[test]
    fn medians_interpolate_and_ratios_are_taken_within_a_round() {
        let times = Series::from_micros(vec![4.0, 1.0, 3.0, 2.0]);
        assert_eq!((times.median(), times.spread(), times.len()), (2.5, 1.5, 4));
        assert_eq!((times.median_ms(), times.spread_ms()), (2.5e-3, 1.5e-3));
        // Both slow down threefold in the last round; their ratio does not move.
        let slower = Series::from_micros(vec![2.0, 2.0, 6.0]);
        assert_eq!(Series::from_micros(vec![1.0, 1.0, 3.0]).speed_up_over(&slower), 2.0);
        assert!(Series::from_micros(Vec::new()).median().is_nan());
    }

    #[test]
    fn rounds_stop_at_the_budget_but_not_below_the_least() {
        let mut calls = 0;
        let mut slow: [Timed<'_>; 1] = [Box::new(|| {
            calls += 1;
            Ok(Duration::from_secs(1))
        })];
        assert_eq!(alternate_timed(budget(0, 2, 9), &mut slow).unwrap()[0].len(), 2);
        assert_eq!(alternate_timed(budget(60_000, 0, 5), &mut slow).unwrap()[0].len(), 5);
        drop(slow);
        assert_eq!(calls, 7, "long calls are made once a round");
    }

    #[test]
    fn the_beginner_changes_and_short_calls_are_repeated() {
        let order = std::cell::RefCell::new(String::new());
        let named = |name: char| -> Timed<'_> {
            let order = &order;
            Box::new(move || {
                order.borrow_mut().push(name);
                Ok(Duration::ZERO)
            })
        };
        alternate_timed(budget(0, 2, 2), &mut [named('a'), named('b')]).unwrap();
        assert_eq!(*order.borrow(), "aabbbbaa");
    }

    #[test]
    fn an_error_ends_the_rounds() {
        let mut failing: [Timed<'_>; 1] = [Box::new(|| Err(LabError::Failed("none".to_owned())))];
        assert!(alternate_timed(budget(0, 1, 1), &mut failing).is_err());
    }
}
