//! Bootstrapping of CKKS with the set of `[AS19]` and with the default one.

use num_complex::Complex64;
use sunzi_circuits::bootstrap::{Blueprint, BootstrapKeys, Bootstrapper, Set};
use sunzi_ckks::{Ciphertext, Context, Encoder};
use sunzi_ring::Parallelism;
use sunzi_rlwe::words::counted;
use sunzi_rlwe::{SecretKey, Security, randomness};

use super::Options;
use super::subject::{STRATEGIES, message};
use crate::repro::{LabError, Progress, Result, on_threads, timed, upper_median};
use crate::subjects::precision::{Bits, bits, errors};
use crate::subjects::strategies::context;

/// Bits of precision below which a bootstrapping counts as wrong.
const LEAST_BITS: f64 = 6.0;

/// A setup of bootstrapping: a parameter set, a strategy and a number of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Setup {
    /// Whether the setup takes the set of `[AS19]`; else the default one.
    pub(super) paper: bool,
    pub(super) parallelism: Parallelism,
    pub(super) threads: usize,
}

/// Time and precision of the bootstrapping with one setup.
pub(super) struct Bootstrapped {
    pub(super) setup: Setup,
    pub(super) set: &'static str,
    pub(super) milliseconds: f64,
    pub(super) slots: usize,
    pub(super) levels_left: usize,
    /// Precision in bits by the mean error of a slot, −log2 of it.
    pub(super) mean_bits: f64,
    /// Precision in bits by the largest error of a slot, −log2 of it.
    pub(super) worst_bits: f64,
}

/// Precision of the bootstrapping with the set of `[AS19]` for slots up to 2^`log2_size`.
pub(super) struct OfSize {
    pub(super) log2_size: i32,
    pub(super) bits: Bits,
}

/// Bootstrappings to run: setups to time, and sizes of messages.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    pub(super) setups: Vec<Setup>,
    pub(super) sizes: Vec<i32>,
}

/// Times and precision of the bootstrappings of a [`Plan`].
#[derive(Default)]
pub(super) struct Outcome {
    pub(super) timed: Vec<Bootstrapped>,
    pub(super) sizes: Vec<OfSize>,
}

impl Plan {
    /// The setups that are compared: both sets on one thread, and the strategies on all threads.
    pub(super) fn new(options: &Options, timed: bool, sizes: bool) -> Self {
        let mut setups = Vec::new();
        for paper in [true, false].into_iter().filter(|_| timed) {
            let collapsed = Setup { paper, parallelism: Parallelism::Collapsed, threads: 1 };
            setups.push(collapsed);
            if options.threads < 2 {
                continue;
            }
            for (parallelism, _) in STRATEGIES {
                if parallelism == Parallelism::Collapsed || paper && !options.one_strategy {
                    setups.push(Setup { parallelism, threads: options.threads, ..collapsed });
                }
            }
        }
        Self { setups, sizes: if sizes { options.log2_sizes.clone() } else { Vec::new() } }
    }

    /// Number of steps that progress counts.
    pub(super) fn steps(&self) -> usize {
        self.setups.len() + self.sizes.len()
    }

    /// Bootstraps as planned, with one set after the other: the keys of two do not fit in memory.
    pub(super) fn run(&self, options: &Options, progress: &mut Progress<'_>) -> Result<Outcome> {
        let mut outcome = Outcome::default();
        for paper in [true, false] {
            let setups: Vec<Setup> =
                self.setups.iter().copied().filter(|setup| setup.paper == paper).collect();
            let sizes = if paper { &self.sizes[..] } else { &[] };
            if setups.is_empty() && sizes.is_empty() {
                continue;
            }
            let mut subject = Subject::new(options, paper, progress)?;
            for setup in setups {
                outcome.timed.push(subject.time(setup, options.bootstraps, progress)?);
            }
            for &log2_size in sizes {
                outcome.sizes.push(subject.precision(log2_size, options.threads, progress)?);
            }
        }
        Ok(outcome)
    }
}

/// The parameter set of `[AS19]` or the default one, at the degree of the tables.
pub(super) fn set(options: &Options, paper: bool) -> Set {
    let set = if paper { Set::akimoto_sakuma_insecure() } else { Set::default_128() };
    if options.table_log2_degree == set.log2_degree {
        return set;
    }
    let security = Security::InsecureForResearchOnly;
    Set { log2_degree: options.table_log2_degree, security, ..set }
}

/// Keys of one set, made once, and the matrices of one strategy.
struct Subject {
    set: Set,
    own: Context,
    secret: SecretKey,
    keys: BootstrapKeys,
    made: Option<(Parallelism, Bootstrapper)>,
}

impl Subject {
    fn new(options: &Options, paper: bool, progress: &mut Progress<'_>) -> Result<Self> {
        let set = set(options, paper);
        let own = context(&set.parameters()?, Parallelism::Collapsed)?;
        let mut rng = randomness::from_os()?;
        let secret = SecretKey::generate(own.rlwe(), &mut rng)?;
        let blueprint = Blueprint::new(&own, &set, own.max_slots())?;
        progress.say(format!("keys of {}", set.name));
        let keys = BootstrapKeys::generate(&blueprint, &secret, &mut rng, |_, _| {})?;
        Ok(Self { set, own, secret, keys, made: None })
    }

    /// A message of slots up to 2^`log2_size`, and its encryption without a level left.
    fn exhausted(&self, log2_size: i32) -> Result<(Vec<Complex64>, Ciphertext)> {
        let (own, slots) = (&self.own, self.own.max_slots());
        let size = f64::from(log2_size).exp2();
        let values: Vec<Complex64> = message(slots, 0.77).into_iter().map(|value| value * size).collect();
        let plaintext = Encoder::new(own, slots)?.encode_at(&values, 0, own.scale(0)?)?;
        let exhausted = own.encrypt_secret(&plaintext, &self.secret, &mut randomness::from_os()?)?;
        Ok((values, exhausted))
    }

    /// The bootstrapping by a strategy, whose matrices are encoded unless it is the last one again.
    fn bootstrapper(&mut self, parallelism: Parallelism) -> Result<&Bootstrapper> {
        let made = match self.made.take() {
            Some((other, bootstrapper)) if other == parallelism => bootstrapper,
            other => {
                drop(other);
                let context = context(&self.set.parameters()?, parallelism)?;
                let blueprint = Blueprint::new(&context, &self.set, self.own.max_slots())?;
                Bootstrapper::new(&blueprint, |_, _| {})?
            }
        };
        Ok(&self.made.insert((parallelism, made)).1)
    }

    fn time(&mut self, setup: Setup, rounds: usize, progress: &mut Progress<'_>) -> Result<Bootstrapped> {
        let threads = counted(setup.threads, "thread", "threads");
        progress.begin(format!("bootstrapping, {}, {threads}", self.set.name));
        let (values, exhausted) = self.exhausted(0)?;
        self.bootstrapper(setup.parallelism)?;
        let mut times = Vec::new();
        let mut bits = Vec::new();
        let mut levels_left = 0;
        for _ in 0..rounds.max(1) {
            let (taken, fresh) = self.bootstrap(&exhausted, setup.threads)?;
            times.push(taken);
            bits.push(self.bits(&values, &fresh)?);
            levels_left = fresh.metadata().level;
        }
        let Bits { mean: mean_bits, worst: worst_bits, .. } = bits.pop().ok_or_else(LabError::no_rounds)?;
        Ok(Bootstrapped {
            setup,
            set: self.set.name,
            milliseconds: upper_median(times),
            slots: values.len(),
            levels_left,
            mean_bits,
            worst_bits,
        })
    }

    /// Milliseconds of a bootstrapping with the matrices that were made last, and its result.
    fn bootstrap(&self, exhausted: &Ciphertext, threads: usize) -> Result<(f64, Ciphertext)> {
        let missing = || LabError::request("a bootstrapping without matrices");
        let (_, bootstrapper) = self.made.as_ref().ok_or_else(missing)?;
        let (taken, fresh) =
            on_threads(threads, || Ok(timed(|| bootstrapper.bootstrap(exhausted, &self.keys))?))?;
        Ok((taken.as_secs_f64() * 1e3, fresh))
    }

    /// Precision of the bootstrapping of a message of slots up to 2^`log2_size`.
    fn precision(&mut self, log2_size: i32, threads: usize, progress: &mut Progress<'_>) -> Result<OfSize> {
        progress.begin(format!("bootstrapping, {}, slots up to 2^{log2_size}", self.set.name));
        let (values, exhausted) = self.exhausted(log2_size)?;
        self.bootstrapper(Parallelism::Collapsed)?;
        let (_, fresh) = self.bootstrap(&exhausted, threads.max(1))?;
        Ok(OfSize { log2_size, bits: self.bits(&values, &fresh)? })
    }

    /// Precision of a bootstrapped ciphertext, which must be right.
    fn bits(&self, values: &[Complex64], fresh: &Ciphertext) -> Result<Bits> {
        let opened =
            Encoder::new(&self.own, values.len())?.decode(&self.own.decrypt(fresh, &self.secret)?)?;
        let bits = bits(&errors(&opened, values)?);
        // Not if it is no number.
        let right = bits.mean >= LEAST_BITS;
        LabError::unless(right, "bootstrapping", self.set.name, self.own.degree())?;
        Ok(bits)
    }
}
