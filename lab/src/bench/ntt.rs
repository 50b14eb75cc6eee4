//! Negacyclic transforms: Sunzi's with its default primes, the rival's with its 50-bit primes.
//!
//! Both libraries do equal work: `forward`; `inverse`, which leaves the factor n in; and
//! `inverse_normalized`, which takes it out (Sunzi folds 1/n into the last stage, the rival multiplies in a
//! second pass). The moduli differ, so each library is checked by itself.

use std::cell::Cell;

use sunzi_kernels::{Buffer, InverseScale, KernelError, Modulus, NttPlan};
use sunzi_math::{DEFAULT_PRIME_BOUND, primes_below, primes_with_bits};

use crate::bench::bound;
use crate::bench::peer::{self, Peer};
use crate::bench::{LabError, Options, Result, Row, Series, check, side_by_side};

/// log2 of the smallest and the largest degree of the timed transforms unless others are asked for.
pub const LOG_DEGREES: std::ops::RangeInclusive<u32> = 12..=16;
/// Bar on the time of Sunzi's transform / the rival's.
const RATIO_BAR: f64 = 0.55;
/// Bar on the time of Sunzi's transform / its instruction bound, and the largest log2 n it is set for:
/// beyond, the caches decide.
const BOUND_BAR: f64 = 1.0 / 0.75;
const BOUND_BAR_UP_TO: u32 = 14;

/// A timed direction of the transform, and whether the factor n is left in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Forward,
    Inverse,
    InverseNormalized,
}

impl Operation {
    const ALL: [Self; 3] = [Self::Forward, Self::Inverse, Self::InverseNormalized];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Inverse => "inverse",
            Self::InverseNormalized => "inverse_normalized",
        }
    }
}

/// Times the transforms of every degree asked for.
///
/// # Errors
/// Rivals asked for but not built in; a degree that has no transform.
pub fn run(options: &Options) -> Result<Vec<Row>> {
    options.rows(LOG_DEGREES, |log_n| degree(log_n, options))
}

fn degree(log_n: u32, options: &Options) -> Result<Vec<Row>> {
    let ours = Ours::new(1 << log_n)?;
    let rival = options.peers.then(|| Rival::new(1 << log_n)).transpose()?;
    let correct = ours.holds() && rival.as_ref().is_none_or(Rival::holds);
    let mut rows = Vec::new();
    for operation in Operation::ALL {
        let mut row = time(log_n, operation, &ours, rival.as_ref(), options.rounds)?;
        row.correct = correct;
        rows.push(row.judged());
    }
    Ok(rows)
}

/// Times one row of transforms: Sunzi's, the rival's and the pace loops take turns.
fn time(log_n: u32, operation: Operation, ours: &Ours, rival: Option<&Rival>, rounds: usize) -> Result<Row> {
    let n = 1usize << log_n;
    let mut data = ours.operand();
    let mut rival_data = Buffer::from_slice(&check::residues(n, rival.map_or(2, |rival| rival.q), 4));
    let mut our_turn = || ours.apply(operation, &mut data);
    let mut rival_turn = || Ok::<_, LabError>(rival.map(|rival| rival.apply(operation, &mut rival_data)));
    let (mut multiply_adds, mut additions) = (bound::multiply_adds, bound::additions);
    let [our_time, rival_time, multiply_adds, additions] =
        side_by_side(rounds, [&mut our_turn, &mut rival_turn, &mut multiply_adds, &mut additions])?;
    let bar = (log_n <= BOUND_BAR_UP_TO).then_some(BOUND_BAR);
    let forward = operation == Operation::Forward;
    let row = Row {
        name: operation.name().to_owned(),
        n,
        log_q: (ours.q() as f64).log2(),
        ours_us: our_time.median(),
        isa: Some(ours.plan.modulus().isa().to_string()),
        bound: bound::bound(&ours.plan, forward, &our_time, &multiply_adds, &additions, bar),
        rounds,
        ..Row::default()
    };
    Ok(match rival {
        Some(rival) => compare(row, &our_time, &rival_time, rival),
        None => row,
    })
}

fn compare(row: Row, ours: &Series, rival_time: &Series, rival: &Rival) -> Row {
    let peer_log_q = (rival.q as f64).log2();
    let row = Row { peer_log_q: Some(peer_log_q), bar: Some(RATIO_BAR), ..row };
    let row = row.against(ours, peer::NAME.to_owned(), rival_time);
    Row { ratio_per_bit: row.ratio.map(|ratio| ratio * peer_log_q / row.log_q), ..row }
}

/// Sunzi's transform and its tables.
pub(crate) struct Ours {
    plan: NttPlan,
    /// Scale n · 1/n = 1 for the inverse: the unnormalised inverse, at the cost of the normalised one.
    unnormalized: InverseScale,
}

impl Ours {
    pub(crate) fn new(n: usize) -> Result<Self> {
        let primes = primes_below(DEFAULT_PRIME_BOUND, 2 * n as u64, 1)?;
        let modulus = Modulus::new(primes.first().copied().unwrap_or_default())?;
        let plan = NttPlan::new(modulus, n)?;
        let unnormalized = plan.scale(n as u64)?;
        Ok(Self { plan, unnormalized })
    }

    pub(crate) fn q(&self) -> u64 {
        self.plan.modulus().value()
    }

    /// A polynomial that the timed transform takes.
    pub(crate) fn operand(&self) -> Buffer {
        Buffer::from_slice(&check::residues(self.plan.n(), self.q(), 3))
    }

    pub(crate) fn apply(&self, operation: Operation, words: &mut [u64]) -> Result<(), KernelError> {
        match operation {
            Operation::Forward => self.plan.forward(words),
            Operation::Inverse => self.plan.inverse_scaled(words, &self.unnormalized),
            Operation::InverseNormalized => self.plan.inverse(words),
        }
    }

    pub(crate) fn holds(&self) -> bool {
        let failed = Cell::new(false);
        let with = |operation| {
            let failed = &failed;
            move |words: &mut [u64]| {
                if self.apply(operation, words).is_err() {
                    failed.set(true);
                }
            }
        };
        let n = self.plan.n();
        let forward = with(Operation::Forward);
        let unnormalized = with(Operation::Inverse);
        let normalized = with(Operation::InverseNormalized);
        check::transforms_hold(n, self.q(), n as u64, &forward, &unnormalized)
            && check::transforms_hold(n, self.q(), 1, &forward, &normalized)
            && !failed.get()
    }
}

struct Rival {
    plan: Peer,
    n: usize,
    q: u64,
}

impl Rival {
    fn new(n: usize) -> Result<Self> {
        let primes = primes_with_bits(peer::BITS, 2 * n as u64, 1)?;
        let q = primes.first().copied().unwrap_or_default();
        let plan = Peer::new(n, q)?;
        Ok(Self { plan, n, q })
    }

    fn apply(&self, operation: Operation, words: &mut [u64]) {
        match operation {
            Operation::Forward => self.plan.forward(words),
            Operation::Inverse => self.plan.inverse(words),
            Operation::InverseNormalized => {
                self.plan.inverse(words);
                self.plan.normalize(words);
            }
        }
    }

    fn holds(&self) -> bool {
        let forward = |words: &mut [u64]| self.plan.forward(words);
        let inverse = |words: &mut [u64]| self.plan.inverse(words);
        let normalized = |words: &mut [u64]| self.apply(Operation::InverseNormalized, words);
        check::transforms_hold(self.n, self.q, self.n as u64, &forward, &inverse)
            && check::transforms_hold(self.n, self.q, 1, &forward, &normalized)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_direction_is_timed_and_right() {
        let options =
            Options { peers: cfg!(feature = "peers"), rounds: 3, log_n: vec![10, 14], ..Options::default() };
        let rows = run(&options).unwrap();
        assert_eq!(rows.len(), 6);
        for row in &rows {
            assert!(row.correct && row.ours_us > 0.0, "{row:?}");
            assert_eq!(row.ratio.is_some(), options.peers, "{row:?}");
        }
    }

    #[cfg(not(feature = "peers"))]
    #[test]
    fn rivals_that_are_not_built_in_are_an_error() {
        let options = Options { peers: true, ..Options::default() };
        let error = run(&options).unwrap_err();
        assert!(error.to_string().contains("--features peers"), "{error}");
    }
}
