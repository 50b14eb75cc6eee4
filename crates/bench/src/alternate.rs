//! Fair timing on a machine whose clock drifts: contenders take turns within one process, in many
//! short rounds, and what is compared is the median of the ratios within a round.

use std::time::{Duration, Instant};

/// Fewest rounds that a published figure may rest on.
pub const ROUNDS: usize = 101;

/// Shortest time that one contender is given in a round, so that the clock's own cost vanishes.
const TURN: Duration = Duration::from_micros(150);
/// Longest run of calls within a turn.
const MOST_CALLS: u32 = 100_000;

/// Something to time.
pub type Contender<'a> = &'a mut dyn FnMut();

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

    /// Median time of a call in microseconds; NaN without rounds.
    #[must_use]
    pub fn median(&self) -> f64 {
        quantile(&self.micros, 0.5)
    }

    /// The same series with every time multiplied by `factor`.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        Self::from_micros(self.micros.iter().map(|time| time * factor).collect())
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
/// is alone), then as often as fills a turn. The one that begins changes from round to round.
pub fn alternate(rounds: usize, contenders: &mut [Contender<'_>]) -> Vec<Series> {
    let calls: Vec<u32> = contenders.iter_mut().map(|one| calls_a_turn(*one)).collect();
    let count = contenders.len().max(1);
    let mut times = vec![Vec::with_capacity(rounds); contenders.len()];
    for round in 0..rounds {
        let mut turns: Vec<_> = contenders.iter_mut().zip(&calls).zip(&mut times).collect();
        turns.rotate_left(round % count);
        for ((contender, calls), series) in turns {
            if count > 1 {
                contender();
            }
            series.push(turn(*contender, *calls).as_secs_f64() * 1e6 / f64::from(*calls));
        }
    }
    times.into_iter().map(Series::from_micros).collect()
}

/// Times one contender alone.
pub fn alone(rounds: usize, contender: Contender<'_>) -> Series {
    alternate(rounds, &mut [contender]).pop().unwrap_or_else(|| Series::from_micros(Vec::new()))
}

fn turn(contender: Contender<'_>, calls: u32) -> Duration {
    let begin = Instant::now();
    for _ in 0..calls {
        contender();
    }
    begin.elapsed()
}

/// How many calls fill a turn.
fn calls_a_turn(contender: Contender<'_>) -> u32 {
    contender();
    let mut calls = 1;
    loop {
        let taken = turn(contender, calls);
        if taken >= TURN || calls >= MOST_CALLS {
            return calls;
        }
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
        let mut short = || work(2_000);
        let mut long = || work(8_000);
        let series = alternate(9, &mut [&mut short, &mut long]);
        let ratio = series[1].over(&series[0]).median;
        assert!((2.0..8.0).contains(&ratio), "{ratio}");
    }
}
