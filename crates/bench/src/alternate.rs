//! Fair timing on a machine whose clock drifts: contenders take turns, in many short rounds, and what is
//! compared is the median of the ratios within a round.

use std::time::{Duration, Instant};

use crate::BenchError;

/// Fewest rounds that a published figure may rest on.
pub const ROUNDS: usize = 101;

/// Shortest time that one contender is given in a round, so that the clock's own cost vanishes.
const TURN: Duration = Duration::from_micros(150);
/// Longest run of calls within a turn.
const MOST_CALLS: u32 = 100_000;

/// Rounds are begun with an untimed call of everybody only while all together take less than this: what
/// is longer does not notice whether its data is still in the caches.
const WARM_UP: Duration = Duration::from_millis(100);

/// Something to time: a closure of this process, or a program that times itself.
pub trait Contender {
    /// Makes `calls` calls in a row, after an untimed one if `warm`; returns how long the `calls` took.
    ///
    /// # Errors
    /// Whatever the calls fail with.
    fn turn(&mut self, calls: u32, warm: bool) -> Result<Duration, BenchError>;
}

impl<F: FnMut() -> Result<(), BenchError>> Contender for F {
    fn turn(&mut self, calls: u32, warm: bool) -> Result<Duration, BenchError> {
        if warm {
            self()?;
        }
        let begin = Instant::now();
        for _ in 0..calls {
            self()?;
        }
        Ok(begin.elapsed())
    }
}

/// The time of one call in each round, in microseconds.
#[derive(Clone, Debug)]
pub struct Series {
    micros: Vec<f64>,
}

/// A ratio of two series: the median over rounds and the distance between the quartiles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// Median over rounds of first / second.
    pub median: f64,
    /// Third quartile minus first quartile of the same ratios.
    pub spread: f64,
}

impl Series {
    /// A series of given times in microseconds, one for each round.
    #[must_use]
    pub fn from_micros(micros: Vec<f64>) -> Self {
        Self { micros }
    }

    /// Rounds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.micros.len()
    }

    /// Whether there was no round.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.micros.is_empty()
    }

    /// Median time of a call in microseconds; NaN without rounds.
    #[must_use]
    pub fn median(&self) -> f64 {
        quantile(&self.micros, 0.5)
    }

    /// Distance between the quartiles in microseconds; NaN without rounds.
    #[must_use]
    pub fn spread(&self) -> f64 {
        quantile(&self.micros, 0.75) - quantile(&self.micros, 0.25)
    }

    /// The same series with every time multiplied by `factor`.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        Self::from_micros(self.micros.iter().map(|time| time * factor).collect())
    }

    /// Round by round the sum of two times.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self::from_micros(self.micros.iter().zip(&other.micros).map(|(a, b)| a + b).collect())
    }

    /// Round by round the larger of two times.
    #[must_use]
    pub fn max(&self, other: &Self) -> Self {
        let pairs = self.micros.iter().zip(&other.micros);
        Self::from_micros(pairs.map(|(a, b)| a.max(*b)).collect())
    }

    /// Ratio of this series to another of the same rounds.
    #[must_use]
    pub fn over(&self, other: &Self) -> Ratio {
        let ratios: Vec<f64> = self.micros.iter().zip(&other.micros).map(|(a, b)| a / b).collect();
        Ratio { median: quantile(&ratios, 0.5), spread: quantile(&ratios, 0.75) - quantile(&ratios, 0.25) }
    }
}

/// Lets the contenders take turns for `rounds` rounds and returns one series for each, in order.
///
/// Within a round every contender is called once untimed (its data returns to the caches; not if it
/// is alone or slow), then as often as fills a turn. The one that begins changes from round to round.
///
/// # Errors
/// The first error of any contender.
pub fn alternate(rounds: usize, contenders: &mut [&mut dyn Contender]) -> Result<Vec<Series>, BenchError> {
    let mut turns = Turns::new(contenders)?;
    for _ in 0..rounds {
        turns.round(contenders)?;
    }
    Ok(turns.series())
}

/// Rounds of the same contenders, one at a time.
pub(crate) struct Turns {
    calls: Vec<u32>,
    warm: bool,
    rounds: usize,
    times: Vec<Vec<f64>>,
}

impl Turns {
    /// Finds out how many calls fill a turn of each.
    ///
    /// # Errors
    /// The first error of any contender.
    pub(crate) fn new(contenders: &mut [&mut dyn Contender]) -> Result<Self, BenchError> {
        let mut calls = Vec::with_capacity(contenders.len());
        let mut together = Duration::ZERO;
        for contender in contenders.iter_mut() {
            let (count, each) = calls_a_turn(*contender)?;
            calls.push(count);
            together += each;
        }
        let warm = contenders.len() > 1 && together < WARM_UP;
        Ok(Self { calls, warm, rounds: 0, times: vec![Vec::new(); contenders.len()] })
    }

    /// One more round of the same contenders in the same order.
    ///
    /// # Errors
    /// The first error of any contender.
    pub(crate) fn round(&mut self, contenders: &mut [&mut dyn Contender]) -> Result<(), BenchError> {
        let mut turns: Vec<_> = contenders.iter_mut().zip(&self.calls).zip(&mut self.times).collect();
        let first = self.rounds % turns.len().max(1);
        turns.rotate_left(first);
        for ((contender, calls), series) in turns {
            series.push(contender.turn(*calls, self.warm)?.as_secs_f64() * 1e6 / f64::from(*calls));
        }
        self.rounds += 1;
        Ok(())
    }

    /// One series for each contender, in order.
    pub(crate) fn series(self) -> Vec<Series> {
        self.times.into_iter().map(Series::from_micros).collect()
    }
}

/// Lets calls of one kind take turns.
///
/// # Errors
/// The first error of any call.
pub(crate) fn take_turns(
    rounds: usize,
    calls: &mut [impl FnMut() -> Result<(), BenchError>],
) -> Result<Vec<Series>, BenchError> {
    let mut contenders: Vec<&mut dyn Contender> = Vec::new();
    for call in calls {
        contenders.push(call);
    }
    alternate(rounds, &mut contenders)
}

/// Times one contender alone.
///
/// # Errors
/// The contender's.
pub fn alone(rounds: usize, contender: &mut dyn Contender) -> Result<Series, BenchError> {
    let series = alternate(rounds, &mut [contender])?.pop();
    Ok(series.unwrap_or_else(|| Series::from_micros(Vec::new())))
}

/// How many calls fill a turn, and how long one takes.
fn calls_a_turn(contender: &mut dyn Contender) -> Result<(u32, Duration), BenchError> {
    let mut calls = 1;
    // The first call of all may have to fetch and build what later ones find.
    let mut warm = true;
    loop {
        let taken = contender.turn(calls, warm)?;
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

/// The value below which this share of the sorted values lies, by linear interpolation.
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
            std::hint::black_box(sum);
        };
        let mut short = || -> Result<(), BenchError> {
            work(2_000);
            Ok(())
        };
        let mut long = || -> Result<(), BenchError> {
            work(8_000);
            Ok(())
        };
        let series = alternate(9, &mut [&mut short, &mut long]).unwrap();
        let ratio = series[1].over(&series[0]).median;
        assert!((2.0..8.0).contains(&ratio), "{ratio}");
    }

    #[test]
    fn an_error_of_a_contender_ends_the_rounds() {
        let mut left = 5;
        let mut breaks = || match left {
            0 => Err(BenchError::TooFewRounds { got: 0, least: 1 }),
            _ => {
                left -= 1;
                Ok(())
            }
        };
        assert!(alone(9, &mut breaks).is_err());
    }
}
