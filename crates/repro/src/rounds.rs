//! Alternating rounds under a budget of time: on a machine whose clock drifts only neighbours in time compare.

use std::time::{Duration, Instant};

use crate::ReproError;

/// Does something once and says how long the part to be timed took; checks the result outside that part.
pub type Contender<'a> = Box<dyn FnMut() -> Result<Duration, ReproError> + 'a>;

/// Calls shorter than this are made twice in a row and the second is timed: the first brings data to the caches.
const SHORT: Duration = Duration::from_millis(20);

/// How long to go on.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// No new round begins after this time, unless there are too few.
    pub time: Duration,
    /// Fewest rounds.
    pub least: usize,
    /// Most rounds.
    pub most: usize,
}

/// Milliseconds of one contender, round by round.
#[derive(Clone, Debug)]
pub struct Times(Vec<f64>);

impl Times {
    /// Median.
    #[must_use]
    pub fn median(&self) -> f64 {
        quantile(&self.0, 0.5)
    }

    /// Third quartile minus first quartile.
    #[must_use]
    pub fn spread(&self) -> f64 {
        quantile(&self.0, 0.75) - quantile(&self.0, 0.25)
    }

    /// Median over rounds of `other`'s time divided by this one's.
    #[must_use]
    pub fn speed_up_over(&self, other: &Self) -> f64 {
        let ratios: Vec<f64> = other.0.iter().zip(&self.0).map(|(other, own)| other / own).collect();
        quantile(&ratios, 0.5)
    }

    /// Rounds that the figures stand on.
    #[must_use]
    pub fn rounds(&self) -> usize {
        self.0.len()
    }
}

/// Lets the contenders take turns until the budget is used; the one that begins changes from round to round.
///
/// # Errors
/// The first error of a contender.
pub fn alternate(budget: Budget, contenders: &mut [Contender<'_>]) -> Result<Vec<Times>, ReproError> {
    let begin = Instant::now();
    let mut times = vec![Vec::new(); contenders.len()];
    for round in 0..budget.most {
        if round >= budget.least && begin.elapsed() >= budget.time {
            break;
        }
        let mut turns: Vec<_> = contenders.iter_mut().zip(&mut times).collect();
        let first = round % turns.len().max(1);
        turns.rotate_left(first);
        for (contender, times) in turns {
            let mut time = contender()?;
            if time < SHORT {
                time = contender()?;
            }
            times.push(time.as_secs_f64() * 1e3);
        }
    }
    Ok(times.into_iter().map(Times).collect())
}

/// The value below which this share of the values lies, by linear interpolation; NaN without values.
fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let position = share * sorted.len().saturating_sub(1) as f64;
    match (sorted.get(position.floor() as usize), sorted.get(position.ceil() as usize)) {
        (Some(below), Some(above)) => below + (above - below) * position.fract(),
        _ => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(time: u64, least: usize, most: usize) -> Budget {
        Budget { time: Duration::from_millis(time), least, most }
    }

    #[test]
    fn medians_interpolate_and_ratios_are_taken_within_a_round() {
        let times = Times(vec![4.0, 1.0, 3.0, 2.0]);
        assert_eq!((times.median(), times.spread(), times.rounds()), (2.5, 1.5, 4));
        // Both slow down threefold in the last round; their ratio does not move.
        let slower = Times(vec![2.0, 2.0, 6.0]);
        assert_eq!(Times(vec![1.0, 1.0, 3.0]).speed_up_over(&slower), 2.0);
        assert!(Times(Vec::new()).median().is_nan());
    }

    #[test]
    fn rounds_stop_at_the_budget_but_not_below_the_least() {
        let mut calls = 0;
        let mut slow: [Contender<'_>; 1] = [Box::new(|| {
            calls += 1;
            Ok(Duration::from_secs(1))
        })];
        assert_eq!(alternate(budget(0, 2, 9), &mut slow).unwrap()[0].rounds(), 2);
        assert_eq!(alternate(budget(60_000, 0, 5), &mut slow).unwrap()[0].rounds(), 5);
        drop(slow);
        assert_eq!(calls, 7, "long calls are made once a round");
    }

    #[test]
    fn the_beginner_changes_and_short_calls_are_repeated() {
        let order = std::cell::RefCell::new(String::new());
        let named = |name: char| -> Contender<'_> {
            let order = &order;
            Box::new(move || {
                order.borrow_mut().push(name);
                Ok(Duration::ZERO)
            })
        };
        alternate(budget(0, 2, 2), &mut [named('a'), named('b')]).unwrap();
        assert_eq!(*order.borrow(), "aabbbbaa");
    }

    #[test]
    fn an_error_ends_the_rounds() {
        let mut failing: [Contender<'_>; 1] =
            [Box::new(|| Err(ReproError::Plot { figure: "none", reason: String::new() }))];
        assert!(alternate(budget(0, 1, 1), &mut failing).is_err());
    }
}
