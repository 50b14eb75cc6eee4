//! Bootstrapping of CKKS: time, memory, and precision over random and adversarial messages.
//!
//! Bootstrapping keys of two libraries do not fit in memory together, so that the libraries are measured one after
//! the other; a transform that is timed beside every bootstrapping says how fast the machine was just then.

use std::f64::consts::{FRAC_1_SQRT_2, TAU};
use std::hint::black_box;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use num_complex::Complex64;
use serde::Serialize;
use sunzi_circuits::bootstrap::{Blueprint, BootstrapKeys, Bootstrapper, KeyKind, Set};
use sunzi_ckks::{Ciphertext, Context, Encoder};
use sunzi_kernels::{Modulus, NttPlan};
use sunzi_math::{DEFAULT_PRIME_BOUND, primes_below};
use sunzi_rlwe::{SecretKey, randomness, wire};

use crate::alternate::Ratio;
use crate::bench::{LabError, Options, Result, Series, check, on_threads};
use crate::subjects::precision::{Bits, bits, errors};

/// log2 of the degree of the reference transform, whose time tells how fast the machine is, and its calls per
/// timing.
const REFERENCE: (u32, usize) = (12, 200);

/// A kind of message for bootstrapping. All its slots are in the unit disc.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// A message whose slots have uniform real and imaginary parts.
    Random,
    /// A message of equal slots of absolute value 1: one or two coefficients hold all of it.
    AllMaximal,
    /// A message of slots of absolute value 1 with alternating signs.
    Alternating,
    /// A message with one slot of absolute value 1 and zeros elsewhere.
    Spike,
}

impl Message {
    /// Every kind of message.
    pub const ALL: [Self; 4] = [Self::Random, Self::AllMaximal, Self::Alternating, Self::Spike];

    /// The `number`-th message of this kind, of `slots` slots.
    pub fn slots(self, slots: usize, number: usize) -> Vec<Complex64> {
        let turn = Complex64::from_polar(1.0, TAU * (0.125 + 0.381_966 * number as f64));
        match self {
            Self::Random => {
                let words = check::residues(2 * slots, 1 << 32, 1000 + number as u64);
                let part = |word: u64| (word as f64 / f64::from(1_u32 << 31) - 1.0) * FRAC_1_SQRT_2;
                words.as_chunks::<2>().0.iter().map(|[re, im]| Complex64::new(part(*re), part(*im))).collect()
            }
            Self::AllMaximal => vec![turn; slots],
            Self::Alternating => (0..slots).map(|at| if at % 2 == 0 { turn } else { -turn }).collect(),
            Self::Spike => {
                let place = number.wrapping_mul(7919) % slots.max(1);
                (0..slots).map(|at| if at == place { turn } else { Complex64::ZERO }).collect()
            }
        }
    }
}

/// Precision of bootstrapping in bits, −log2 of the errors of slots, over all messages of one kind.
#[derive(Clone, Debug, Serialize)]
pub struct Precision {
    /// Kind of message whose precision is measured.
    pub message: Message,
    /// Number of messages that the precision is measured over.
    pub messages: usize,
    /// Precision in bits by the largest error of a slot.
    pub worst_bits: f64,
    /// Precision in bits by the mean error of the slots.
    pub mean_bits: f64,
    /// Precision in bits by the standard deviation of the errors of slots.
    pub deviation_bits: f64,
}

/// Sizes of a bootstrapping parameter set and its keys.
#[derive(Clone, Debug, Default, Serialize, serde::Deserialize)]
pub struct Facts {
    /// Seconds to make the bootstrapping keys and matrices.
    pub key_seconds: f64,
    /// Bytes of the bootstrapping keys in memory.
    pub key_bytes: usize,
    /// Bytes of the file of the bootstrapping keys, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_bytes: Option<u64>,
    /// Number of Galois keys among the bootstrapping keys.
    pub galois_keys: usize,
    /// log2 of the modulus of the bootstrapping keys.
    pub log_key_modulus: f64,
    /// log2 of the modulus left after bootstrapping, without the part that the next bootstrapping takes.
    pub log_left: f64,
    /// Levels left after bootstrapping, without the ones that the next bootstrapping takes.
    pub levels: usize,
}

/// Figures of the bootstrapping of one library: times, sizes and precision.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// Name of the library that bootstraps.
    pub library: String,
    /// Name of the bootstrapping parameter set.
    pub set: String,
    /// Ring degree n of the bootstrapping; all n/2 slots are used.
    pub n: usize,
    /// Threads that the bootstrapping uses.
    pub threads: usize,
    /// Median time of one bootstrapping in seconds.
    pub seconds: f64,
    /// Median time of one bootstrapping in units of the reference transform timed beside it; two libraries
    /// are compared by it.
    pub in_transforms: f64,
    /// Time of one bootstrapping in milliseconds for each slot.
    pub milliseconds_per_slot: f64,
    /// Number of bootstrappings that were timed.
    pub rounds: usize,
    /// Sizes of the bootstrapping parameter set and its keys.
    #[serde(flatten)]
    pub facts: Facts,
    /// Largest resident memory of the process that bootstraps, in bytes.
    pub peak_memory_bytes: Option<u64>,
    /// Precision of the bootstrapping for each kind of message.
    pub precision: Vec<Precision>,
    /// Precision of a random message after many bootstrappings in a row.
    pub in_a_row: Option<Precision>,
}

/// One library that bootstraps, as the benchmark calls it.
pub(crate) trait Side {
    /// Encrypts another message at the lowest level, in place of the one before.
    fn replace(&mut self, message: &[Complex64]) -> Result<()>;
    /// Bootstraps the message once and returns the time that it took.
    fn time(&mut self) -> Result<Duration>;
    /// Bootstraps the message and returns its decrypted slots.
    fn outcome(&mut self) -> Result<Vec<Complex64>>;
}

/// Measures times and precision of one library's bootstrapping.
pub(crate) fn measure(
    side: &mut dyn Side,
    slots: usize,
    messages: usize,
    rounds: usize,
) -> Result<(Series, Series, Vec<Precision>)> {
    let mut precision = Vec::new();
    for kind in Message::ALL {
        let mut all = Vec::new();
        for number in 0..messages.max(1) {
            let message = kind.slots(slots, number);
            side.replace(&message)?;
            all.extend(errors(&side.outcome()?, &message)?);
        }
        precision.push(judged(kind, messages.max(1), &all));
    }
    let reference = Reference::new()?;
    let (mut times, mut references) = (Vec::new(), Vec::new());
    for _ in 0..rounds.max(1) {
        let before = reference.micros()?;
        times.push(side.time()?.as_secs_f64() * 1e6);
        references.push(f64::midpoint(before, reference.micros()?));
    }
    Ok((Series::from_micros(times), Series::from_micros(references), precision))
}

fn judged(message: Message, messages: usize, errors: &[f64]) -> Precision {
    let Bits { worst: worst_bits, mean: mean_bits, deviation: deviation_bits } = bits(errors);
    Precision { message, messages, worst_bits, mean_bits, deviation_bits }
}

/// The reference transform, whose time tells how fast the machine is.
struct Reference {
    plan: NttPlan,
    words: Vec<u64>,
}

impl Reference {
    fn new() -> Result<Self> {
        let n = 1_usize << REFERENCE.0;
        let prime = primes_below(DEFAULT_PRIME_BOUND, 2 * n as u64, 1)?.first().copied().unwrap_or_default();
        let plan = NttPlan::new(Modulus::new(prime)?, n)?;
        Ok(Self { words: check::residues(n, prime, 5), plan })
    }

    /// Time of one reference transform in microseconds.
    fn micros(&self) -> Result<f64> {
        let mut words = self.words.clone();
        let begin = Instant::now();
        for _ in 0..REFERENCE.1 {
            self.plan.forward(black_box(&mut words))?;
        }
        Ok(begin.elapsed().as_secs_f64() * 1e6 / REFERENCE.1 as f64)
    }
}

/// Figures of Sunzi's bootstrapping on the threads of the options: `messages` of every kind, and a random one
/// bootstrapped `chain` times in a row.
///
/// # Errors
/// An error of bootstrapping; threads that do not start.
pub fn run(options: &Options, set: &Set, messages: usize, chain: usize) -> Result<Figures> {
    on_threads(options.threads, || {
        let mut ours = Ours::new(set)?;
        let slots = ours.encoder.slots();
        let (times, references, precision) = measure(&mut ours, slots, messages, options.rounds)?;
        let facts = ours.facts.clone();
        let in_a_row = match chain {
            0 => None,
            count => Some(ours.in_a_row(&Message::Random.slots(slots, 0), count)?),
        };
        Ok(Figures {
            in_a_row,
            library: format!("Sunzi {}", env!("CARGO_PKG_VERSION")),
            set: set.name.to_owned(),
            n: 2 * slots,
            threads: options.threads,
            rounds: options.rounds.max(1),
            facts,
            peak_memory_bytes: peak_memory("self"),
            ..Figures::timed(&times, &references, slots, precision)
        })
    })
}

/// Slots of the messages that a benchmark bootstraps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Slots {
    /// Messages of complex slots.
    #[default]
    Complex,
    /// Messages of real slots.
    Real,
    /// Two messages of real slots in one bootstrapping.
    RealPair,
}

/// Times of two sets on one machine in turns, each with messages of its kind: the ratio of the first to the second, and the seconds of both.
///
/// # Errors
/// An error of bootstrapping; threads that do not start.
pub fn turns(options: &Options, sets: [(&Set, Slots); 2]) -> Result<(Ratio, [f64; 2])> {
    on_threads(options.threads, || {
        let [(one, of_one), (other, of_other)] = sets;
        let mut sides = [Ours::new(one)?.with_messages(of_one), Ours::new(other)?.with_messages(of_other)];
        for side in &mut sides {
            let slots = side.encoder.slots();
            side.replace(&Message::Random.slots(slots, 0))?;
            side.time()?;
        }
        let mut micros = [Vec::new(), Vec::new()];
        for round in 0..options.rounds.max(1) {
            let mut turn: Vec<_> = sides.iter_mut().zip(&mut micros).collect();
            turn.rotate_left(round % 2);
            for (side, micros) in turn {
                micros.push(side.time()?.as_secs_f64() * 1e6);
            }
        }
        let [first, second] = micros.map(Series::from_micros);
        Ok((first.over(&second), [first.median() / 1e6, second.median() / 1e6]))
    })
}

impl Figures {
    /// The figures that follow from times and precision; the other fields are left empty.
    pub(crate) fn timed(
        times: &Series,
        references: &Series,
        slots: usize,
        precision: Vec<Precision>,
    ) -> Self {
        let seconds = times.median() / 1e6;
        Self {
            library: String::new(),
            set: String::new(),
            n: 0,
            threads: 1,
            seconds,
            in_transforms: times.over(references).median,
            milliseconds_per_slot: seconds * 1e3 / slots as f64,
            rounds: 0,
            facts: Facts::default(),
            peak_memory_bytes: None,
            precision,
            in_a_row: None,
        }
    }
}

/// The peak resident size of a process in bytes, on systems with `/proc`.
pub(crate) fn peak_memory(process: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes << 10)
}

/// A writer that counts the bytes written and keeps none.
struct Count(u64);

impl Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Ours {
    kind: Slots,
    context: Context,
    secret: SecretKey,
    encoder: Encoder,
    keys: BootstrapKeys,
    bootstrapper: Bootstrapper,
    rng: Box<dyn rand_core::CryptoRng>,
    /// The level at which ciphertexts are bootstrapped: the lowest, or the lowest of a pair.
    exhausted_level: usize,
    exhausted: Option<Ciphertext>,
    facts: Facts,
}

impl Ours {
    fn new(set: &Set) -> Result<Self> {
        let context = Context::new(&set.parameters()?)?;
        let mut rng: Box<dyn rand_core::CryptoRng> = Box::new(randomness::from_os()?);
        let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
        let encoder = Encoder::new(&context, context.max_slots())?;
        let begin = Instant::now();
        let blueprint = Blueprint::new(&context, set, encoder.slots())?;
        let keys = BootstrapKeys::generate(&blueprint, &secret, &mut rng, |_, _| {})?;
        let bootstrapper = Bootstrapper::new(&blueprint, |_, _| {})?;
        let key_seconds = begin.elapsed().as_secs_f64();
        // What the next one takes is not left for anything else.
        let (left, exhausted_level) = (blueprint.levels_left(), set.lowest_level());
        let taken = context.log2_modulus_at(exhausted_level)? - context.log2_modulus_at(0)?;
        let mut file = Count(0);
        wire::write(context.rlwe(), &keys, &mut file)?;
        let facts = Facts {
            file_bytes: Some(file.0),
            key_seconds,
            key_bytes: keys.byte_len(),
            galois_keys: blueprint
                .keys()?
                .iter()
                .filter(|key| matches!(key.kind, KeyKind::Automorphism(_)))
                .count(),
            log_key_modulus: blueprint.log2_key_modulus(),
            log_left: context.log2_modulus_at(left)? - taken,
            levels: left - exhausted_level,
        };
        Ok(Self {
            kind: Slots::Complex,
            context,
            secret,
            encoder,
            keys,
            bootstrapper,
            rng,
            exhausted_level,
            exhausted: None,
            facts,
        })
    }

    /// Bootstraps messages of another kind, at the lowest level that they may have.
    fn with_messages(mut self, kind: Slots) -> Self {
        let least = usize::from(kind == Slots::RealPair);
        (self.kind, self.exhausted_level) = (kind, self.exhausted_level.max(least));
        self
    }

    fn exhausted(&self) -> Result<&Ciphertext> {
        self.exhausted.as_ref().ok_or_else(|| LabError::request("nothing is encrypted yet"))
    }

    fn bootstrap(&self) -> Result<Ciphertext> {
        self.refreshed(self.exhausted()?)
    }

    fn refreshed(&self, exhausted: &Ciphertext) -> Result<Ciphertext> {
        let rounds = self.bootstrapper.blueprint().set().rounds;
        Ok(self.bootstrapper.bootstrap_refined(exhausted, rounds, &self.keys)?)
    }

    /// The slots after `count` bootstrappings in a row, each of the result before it brought to the lowest level.
    fn in_a_row(&mut self, message: &[Complex64], count: usize) -> Result<Precision> {
        self.replace(message)?;
        for _ in 1..count {
            let fresh = self.bootstrapper.evaluator().level_to(&self.bootstrap()?, self.exhausted_level)?;
            self.exhausted = Some(fresh);
        }
        Ok(judged(Message::Random, 1, &errors(&self.outcome()?, message)?))
    }
}

impl Side for Ours {
    fn replace(&mut self, message: &[Complex64]) -> Result<()> {
        let level = self.exhausted_level;
        let plaintext = self.encoder.encode_at(message, level, self.context.scale(level)?)?;
        self.exhausted = Some(self.context.encrypt_secret(&plaintext, &self.secret, &mut self.rng)?);
        Ok(())
    }

    fn time(&mut self) -> Result<Duration> {
        let exhausted = self.exhausted()?;
        let begin = Instant::now();
        match self.kind {
            Slots::Complex => drop(black_box(self.refreshed(exhausted)?)),
            Slots::Real => drop(black_box(self.bootstrapper.bootstrap_real(exhausted, &self.keys)?)),
            Slots::RealPair => {
                drop(black_box(self.bootstrapper.bootstrap_real_pair([exhausted; 2], &self.keys)?));
            }
        }
        Ok(begin.elapsed())
    }

    fn outcome(&mut self) -> Result<Vec<Complex64>> {
        Ok(self.encoder.decode(&self.context.decrypt(&self.bootstrap()?, &self.secret)?)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_in_the_unit_disc_and_what_they_are_called() {
        for kind in Message::ALL {
            let slots = kind.slots(64, 3);
            assert_eq!(slots.len(), 64);
            assert!(slots.iter().all(|slot| slot.norm() < 1.0 + 1e-12), "{kind:?}");
            assert_ne!(slots, kind.slots(64, 4));
        }
        assert_eq!(Message::Spike.slots(64, 1).iter().filter(|slot| slot.norm() > 0.5).count(), 1);
    }

    #[test]
    fn messages_of_every_kind_take_turns() {
        let set = Set::insecure_for_tests(10);
        let options = Options { rounds: 1, ..Options::default() };
        for kind in [Slots::Complex, Slots::Real, Slots::RealPair] {
            let (ratio, seconds) = turns(&options, [(&set, kind), (&set, Slots::Complex)]).unwrap();
            assert!(ratio.median > 0.1 && ratio.median < 10.0, "{kind:?}: {ratio:?}");
            assert!(seconds.iter().all(|&seconds| seconds > 0.0), "{kind:?}: {seconds:?}");
        }
    }

    #[test]
    fn a_small_set_is_measured() {
        let set = Set::insecure_for_tests(10);
        let options = Options { rounds: 1, ..Options::default() };
        let figures = run(&options, &set, 1, 3).unwrap();
        assert_eq!((figures.n, figures.precision.len()), (1 << 10, 4));
        for one in &figures.precision {
            assert!(
                one.mean_bits > 12.0 && one.worst_bits > 10.0 && one.worst_bits <= one.mean_bits,
                "{one:?}"
            );
        }
        let (once, thrice) = (&figures.precision[0], figures.in_a_row.as_ref().unwrap());
        assert!(thrice.mean_bits < once.mean_bits && thrice.mean_bits > once.mean_bits - 2.0, "{figures:?}");
        assert!(figures.seconds > 0.0 && figures.in_transforms > 100.0, "{figures:?}");
    }
}
