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

/// The bootstrapping setups that are compared: both sets on one thread, and the strategies on all threads.
pub(super) fn plan(options: &Options, strategies: bool) -> Vec<Setup> {
    let mut setups = Vec::new();
    for paper in [true, false] {
        let collapsed = Setup { paper, parallelism: Parallelism::Collapsed, threads: 1 };
        setups.push(collapsed);
        if !strategies || options.threads < 2 {
            continue;
        }
        for (parallelism, _) in STRATEGIES {
            if parallelism == Parallelism::Collapsed || paper && !options.one_strategy {
                setups.push(Setup { parallelism, threads: options.threads, ..collapsed });
            }
        }
    }
    setups
}

/// Bootstraps with every setup, one set after the other: the keys of two do not fit in memory.
pub(super) fn compute(
    options: &Options,
    strategies: bool,
    progress: &mut Progress<'_>,
) -> Result<Vec<Bootstrapped>> {
    let plan = plan(options, strategies);
    let mut all = Vec::new();
    for paper in [true, false] {
        let mut set = if paper { Set::akimoto_sakuma_insecure() } else { Set::default_128() };
        if options.table_log2_degree != set.log2_degree {
            let security = Security::InsecureForResearchOnly;
            set = Set { log2_degree: options.table_log2_degree, security, ..set };
        }
        let setups: Vec<Setup> = plan.iter().copied().filter(|setup| setup.paper == paper).collect();
        all.extend(of_set(&set, &setups, options.bootstraps, progress)?);
    }
    Ok(all)
}

/// Bootstraps with the setups of one set, whose keys are made once; matrices are made for every strategy.
fn of_set(
    set: &Set,
    setups: &[Setup],
    rounds: usize,
    progress: &mut Progress<'_>,
) -> Result<Vec<Bootstrapped>> {
    let parameters = set.parameters()?;
    let own = context(&parameters, Parallelism::Collapsed)?;
    let slots = own.max_slots();
    let mut rng = randomness::from_os()?;
    let secret = SecretKey::generate(own.rlwe(), &mut rng)?;
    let blueprint = Blueprint::new(&own, set, slots)?;
    progress.say(format!("keys of {}", set.name));
    let keys = BootstrapKeys::generate(&blueprint, &secret, &mut rng, |_, _| {})?;
    let values = message(slots, 0.77);
    let plaintext = Encoder::new(&own, slots)?.encode_at(&values, 0, own.scale(0)?)?;
    let exhausted = own.encrypt_secret(&plaintext, &secret, &mut rng)?;
    let mut made: Option<(Parallelism, Bootstrapper)> = None;
    let mut all = Vec::new();
    for &setup in setups {
        progress.begin(format!(
            "bootstrapping, {}, {}",
            set.name,
            counted(setup.threads, "thread", "threads")
        ));
        let bootstrapper = match made.take() {
            Some((parallelism, bootstrapper)) if parallelism == setup.parallelism => bootstrapper,
            other => {
                drop(other);
                let blueprint = Blueprint::new(&context(&parameters, setup.parallelism)?, set, slots)?;
                Bootstrapper::new(&blueprint, |_, _| {})?
            }
        };
        let mut times = Vec::new();
        let mut result = None;
        for _ in 0..rounds.max(1) {
            let (taken, fresh) =
                on_threads(setup.threads, || Ok(timed(|| bootstrapper.bootstrap(&exhausted, &keys))?))?;
            times.push(taken.as_secs_f64() * 1e3);
            result = Some(fresh);
        }
        if let Some(fresh) = result {
            all.push(judge(setup, set, &own, &secret, &values, &fresh, times)?);
        }
        made = Some((setup.parallelism, bootstrapper));
    }
    Ok(all)
}

fn judge(
    setup: Setup,
    set: &Set,
    context: &Context,
    secret: &SecretKey,
    values: &[Complex64],
    fresh: &Ciphertext,
    times: Vec<f64>,
) -> Result<Bootstrapped> {
    let opened = Encoder::new(context, values.len())?.decode(&context.decrypt(fresh, secret)?)?;
    let Bits { mean: mean_bits, worst: worst_bits, .. } = bits(&errors(&opened, values)?);
    // Not if it is no number.
    let right = mean_bits >= LEAST_BITS;
    LabError::unless(right, "bootstrapping", set.name, context.degree())?;
    Ok(Bootstrapped {
        setup,
        set: set.name,
        milliseconds: upper_median(times),
        slots: values.len(),
        levels_left: fresh.metadata().level,
        mean_bits,
        worst_bits,
    })
}
