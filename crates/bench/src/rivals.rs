//! Comparisons with other libraries, each in a process of its own, taking turns with ours.
//!
//! A scheme is compared at equal degree and equal log2 of everything the keys are modulo (q, and the special
//! moduli where a library has them), which is what security depends on. Each library gets the moduli it is
//! fastest with. tfhe-ntt, a library of transforms for Rust, stays in this process: a pipe would add nothing
//! but its own noise to turns of some microseconds.

mod process;
pub mod processor;
mod protocol;
mod serve;

use std::path::PathBuf;
use std::process::Command;
use std::str::FromStr;
use std::time::Duration;

use sunzi_math::{DEFAULT_PRIME_BOUND, primes_below, primes_with_bits};
use sunzi_rlwe::Security;
use sunzi_rlwe::security::max_log2_modulus;

pub use process::RivalError;
pub use serve::serve;

use crate::alternate::{self, Contender};
use crate::check;
use crate::job::{self, COMPARED};
use crate::ntt;
use crate::operations::{PLAIN_MODULUS, Progress};
use crate::options::on_threads;
use crate::report::Row;
use crate::{BenchError, Options};
use process::Rival;
use protocol::Preparation;
pub(crate) use protocol::Values;

/// A scheme that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Brakerski 2012, Fan and Vercauteren 2012.
    Bfv,
    /// Brakerski, Gentry and Vaikuntanathan 2012.
    Bgv,
}

impl Scheme {
    const ALL: [Self; 2] = [Self::Bfv, Self::Bgv];

    /// Its name on command lines and in the protocol.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Bfv => "bfv",
            Self::Bgv => "bgv",
        }
    }
}

impl FromStr for Scheme {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.map(Self::name).join(", ");
        let found = Self::ALL.into_iter().find(|scheme| scheme.name() == text);
        found.ok_or_else(|| format!("expected one of {known}, got {text}"))
    }
}

/// log2 of the degrees of schemes.
const SCHEME_DEGREES: std::ops::RangeInclusive<u32> = 13..=15;
/// Width of the prime that a rival's transforms are compared at, and log2 of the degrees.
const TRANSFORM_BITS: u32 = 60;
const TRANSFORM_DEGREES: std::ops::RangeInclusive<u32> = 12..=16;
const TRANSFORMS: [ntt::Operation; 2] = [ntt::Operation::Forward, ntt::Operation::InverseNormalized];
/// Longest time for one request: keys at n = 2^15 take a slow library a minute.
const PATIENCE: Duration = Duration::from_secs(300);

/// A library to compare with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// fhe.rs, BFV in Rust.
    FheRs,
    /// Lattigo, BFV and transforms in Go.
    Lattigo,
    /// tfhe-ntt, transforms in Rust, within this process.
    TfheNtt,
    /// Another build of Sunzi.
    Sunzi,
}

impl Library {
    const ALL: [Self; 4] = [Self::FheRs, Self::Lattigo, Self::TfheNtt, Self::Sunzi];

    /// Its name on command lines.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::FheRs => "fhe-rs",
            Self::Lattigo => "lattigo",
            Self::TfheNtt => "tfhe-ntt",
            Self::Sunzi => "sunzi",
        }
    }

    /// The schemes that it speaks of.
    fn schemes(self) -> &'static [Scheme] {
        match self {
            Self::FheRs => &[Scheme::Bfv],
            Self::Lattigo | Self::Sunzi => &Scheme::ALL,
            Self::TfheNtt => &[],
        }
    }

    /// Moduli of ciphertexts and special moduli of `bits` bits together: as wide as it is fast with, and as many
    /// special ones as its key switching is fastest with.
    fn moduli(self, n: usize, bits: f64) -> Result<(Vec<u64>, Vec<u64>), BenchError> {
        let (width, hybrid) = match self {
            // Words of 64 bits, and no special modulus: the fewer the faster.
            Self::FheRs => (62.0, false),
            // Three or four digits.
            Self::Lattigo => (60.0, true),
            Self::TfheNtt | Self::Sunzi => ((DEFAULT_PRIME_BOUND as f64).log2(), true),
        };
        let mut q = chain(n, bits, width)?;
        let special = if hybrid { q.len().div_ceil(5) } else { 0 };
        let p = q.split_off(q.len() - special);
        Ok((q, p))
    }

    /// Bar on ours / theirs.
    fn bar(self, operation: &str) -> Option<f64> {
        match (self, operation) {
            (Self::FheRs, "multiply_relinearize") => Some(0.25),
            (Self::Lattigo, "multiply_relinearize" | "multiply_relinearize_switch" | "rotate") => Some(0.25),
            (Self::FheRs, "encrypt_public" | "decrypt" | "rotate") => Some(0.5),
            _ => None,
        }
    }
}

/// A library and the program that speaks for it, written `name=program`, or `tfhe-ntt` alone.
#[derive(Clone, Debug)]
pub struct Selection {
    library: Library,
    program: PathBuf,
}

impl FromStr for Selection {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, program) = text.split_once('=').unwrap_or((text, ""));
        let Some(library) = Library::ALL.into_iter().find(|library| library.name() == name) else {
            let known = Library::ALL.map(Library::name).join(", ");
            return Err(format!("expected one of {known}, got {name}"));
        };
        if program.is_empty() != (library == Library::TfheNtt) {
            return Err(format!("expected {name}=PROGRAM, and no program for tfhe-ntt alone"));
        }
        Ok(Self { library, program: program.into() })
    }
}

/// What to compare: all of it where nothing is named.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// The schemes.
    pub schemes: Vec<Scheme>,
    /// The operations of every scheme.
    pub operations: Vec<String>,
}

/// Compares with every rival that was selected; `progress` hears of each operation before it begins.
///
/// # Errors
/// A degree out of range; an operation that is not compared; a rival that does not start, ends, is silent or talks nonsense; an operation of
/// ours that fails.
pub fn run(
    options: &Options,
    rivals: &[Selection],
    choice: &Choice,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<Vec<Row>, BenchError> {
    options.validate()?;
    let Choice { schemes, operations } = choice;
    if let Some(got) = operations.iter().find(|name| !COMPARED.contains(&name.as_str())) {
        return Err(BenchError::Operation { got: got.clone(), known: COMPARED.join(", ") });
    }
    let chosen = |name: &&str| operations.is_empty() || operations.iter().any(|other| other == name);
    let operations: Vec<&'static str> = COMPARED.into_iter().filter(chosen).collect();
    let schemes = if schemes.is_empty() { Scheme::ALL.to_vec() } else { schemes.clone() };
    on_threads(1, || {
        let total = total(options, rivals, &schemes, operations.len());
        let mut run = Comparison { options, schemes, operations, progress, done: 0, total };
        let mut rows = Vec::new();
        for selection in rivals {
            rows.extend(run.library(selection)?);
        }
        Ok(rows)
    })
}

/// How many rows there will be, at most.
fn total(options: &Options, rivals: &[Selection], schemes: &[Scheme], operations: usize) -> usize {
    let within = |range: std::ops::RangeInclusive<u32>| {
        options.log_degrees(range.clone()).filter(|log_n| range.contains(log_n)).count()
    };
    let rows = rivals.iter().map(|Selection { library, .. }| {
        let schemes = schemes.iter().filter(|scheme| library.schemes().contains(scheme)).count();
        let transforms = if *library == Library::Lattigo { TRANSFORMS.len() } else { 0 };
        operations * schemes * within(SCHEME_DEGREES) + transforms * within(TRANSFORM_DEGREES)
    });
    rows.sum()
}

/// A run over several rivals.
struct Comparison<'a> {
    options: &'a Options,
    schemes: Vec<Scheme>,
    operations: Vec<&'static str>,
    progress: &'a mut (dyn FnMut(Progress) + Send),
    done: usize,
    total: usize,
}

impl Comparison<'_> {
    fn library(&mut self, selection: &Selection) -> Result<Vec<Row>, BenchError> {
        let library = selection.library;
        if library == Library::TfheNtt {
            return ntt::run(&Options { peers: true, ..self.options.clone() });
        }
        let mut command = Command::new(&selection.program);
        if library == Library::Sunzi {
            command.arg("serve");
        }
        let mut rival = Rival::start(library.name(), command, PATIENCE)?;
        let mut rows = Vec::new();
        for scheme in self.schemes.clone().iter().filter(|scheme| library.schemes().contains(scheme)) {
            for log_n in self.degrees(SCHEME_DEGREES) {
                rows.extend(self.scheme(library, *scheme, &mut rival, log_n)?);
            }
        }
        if library == Library::Lattigo {
            for log_n in self.degrees(TRANSFORM_DEGREES) {
                rows.extend(self.transforms(&mut rival, log_n)?);
            }
        }
        Ok(rows)
    }

    /// The degrees asked for that are among these, or all of these.
    fn degrees(&self, range: std::ops::RangeInclusive<u32>) -> Vec<u32> {
        self.options.log_degrees(range.clone()).filter(|log_n| range.contains(log_n)).collect()
    }

    fn scheme(
        &mut self,
        library: Library,
        scheme: Scheme,
        rival: &mut Rival,
        log_n: u32,
    ) -> Result<Vec<Row>, BenchError> {
        let (n, t) = (1_usize << log_n, PLAIN_MODULUS);
        let bits = f64::from(max_log2_modulus(log_n, Security::Bits128).unwrap_or_default());
        let [left, right] = [1, 2].map(|seed| check::residues(n, t, seed));
        let asked = |library: Library| {
            let (q, p) = library.moduli(n, bits)?;
            let [left, right] = [&left, &right].map(|words| Values::Words(words.clone()));
            let scheme = scheme.name().to_owned();
            Ok::<_, BenchError>(Preparation { scheme, n, t, q, p, left, right, ..Preparation::default() })
        };
        let job = serve::prepare(asked(Library::Sunzi)?)?;
        let theirs = asked(library)?;
        let peer_log_q = log2_product(&theirs.q);
        let peer_log_key_modulus = peer_log_q + log2_product(&theirs.p);
        let offered = rival.prepare(theirs)?;
        let both = |name: &&str| offered.iter().any(|other| other == name) && job.names().contains(name);
        let mut rows = Vec::new();
        for name in self.operations.clone().into_iter().filter(both) {
            self.begin(name, n);
            let expected = Values::Words(job::expected(name, &left, &right, t));
            let correct = job.outcome(name)?.agree(&expected) && rival.verify(name)?.agree(&expected);
            let mut ours = job.contender(name)?;
            let row = self.compare(name, &mut ours, rival)?;
            let row = Row {
                name: format!("{} {name}", scheme.name()),
                n,
                log_q: job.log_q(),
                log_key_modulus: Some(job.log_key_modulus()),
                peer_log_q: Some(peer_log_q),
                peer_log_key_modulus: Some(peer_log_key_modulus),
                bar: library.bar(name),
                correct,
                ..row
            };
            rows.push(row.judged());
        }
        Ok(rows)
    }

    fn transforms(&mut self, rival: &mut Rival, log_n: u32) -> Result<Vec<Row>, BenchError> {
        let n = 1_usize << log_n;
        let ours = ntt::Ours::new(n)?;
        let primes = primes_with_bits(TRANSFORM_BITS, 2 * n as u64, 1)?;
        let modulus = primes.first().copied().unwrap_or_default();
        let (left, right) = (check::residues(n, modulus, 1), check::sparse_residues(n, modulus, 2));
        let product = Values::Words(check::schoolbook(&left, &right, modulus));
        let [left, right] = [left, right].map(Values::Words);
        let scheme = "ntt".to_owned();
        rival.prepare(Preparation { scheme, n, q: primes, left, right, ..Preparation::default() })?;
        let holds = ours.holds();
        let mut rows = Vec::new();
        for operation in TRANSFORMS {
            let name = operation.name();
            self.begin(name, n);
            let correct = holds && rival.verify(name)?.agree(&product);
            let mut data = ours.operand();
            let mut turn = || Ok(ours.apply(operation, &mut data)?);
            let row = self.compare(name, &mut turn, rival)?;
            let (log_q, peer_log_q) = ((ours.q() as f64).log2(), Some((modulus as f64).log2()));
            rows.push(Row { n, log_q, peer_log_q, correct, ..row });
        }
        Ok(rows)
    }

    /// The times of one operation.
    fn compare(&self, name: &str, ours: &mut dyn Contender, rival: &mut Rival) -> Result<Row, BenchError> {
        let rounds = self.options.rounds;
        let peer_features = Some(rival.features().to_owned());
        let series = alternate::alternate(rounds, &mut [ours, &mut rival.contender(name)])?;
        let [ours, theirs] = series.as_slice() else {
            return Err(BenchError::TooFewRounds { got: 0, least: 1 });
        };
        let isa = Some(sunzi_kernels::active_isa()?.to_string());
        let row = Row { name: name.to_owned(), isa, peer_features, rounds, ..Row::default() };
        Ok(row.against(ours, rival.title(), theirs))
    }

    fn begin(&mut self, name: &'static str, n: usize) {
        (self.progress)(Progress { name, n, done: self.done, total: self.total });
        self.done += 1;
    }
}

fn log2_product(moduli: &[u64]) -> f64 {
    moduli.iter().map(|modulus| (*modulus as f64).log2()).sum()
}

/// The fewest distinct primes ≡ 1 (mod 2n) of at most `width` bits whose product is just below 2^`bits`,
/// all of about one size.
fn chain(n: usize, bits: f64, width: f64) -> Result<Vec<u64>, BenchError> {
    let mut primes: Vec<u64> = Vec::new();
    let mut left = bits;
    for missing in (1..=(bits / width).ceil() as usize).rev() {
        let bound = (left / missing as f64).min(width).exp2() as u64;
        let candidates = primes_below(bound, 2 * n as u64, primes.len() + 1)?;
        let fresh = candidates.into_iter().find(|candidate| !primes.contains(candidate)).unwrap_or_default();
        left -= (fresh as f64).log2();
        primes.push(fresh);
    }
    Ok(primes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_fill_the_bits_they_are_given() {
        let shapes =
            [(13, 214.0, 62.0, 4), (13, 214.0, 47.8, 5), (14, 430.0, 62.0, 7), (15, 868.0, 62.0, 14)];
        for (log_n, bits, width, count) in shapes {
            let primes = chain(1 << log_n, bits, width).unwrap();
            assert_eq!(primes.len(), count);
            let total: f64 = primes.iter().map(|prime| (*prime as f64).log2()).sum();
            assert!(bits - 1e-3 < total && total <= bits, "{total}");
            assert!(primes.iter().all(|prime| *prime < 1 << 62 && prime % (2 << log_n) == 1));
            assert!((1..count).all(|at| !primes[..at].contains(&primes[at])));
        }
    }

    #[test]
    fn selections_are_read() {
        let one: Selection = "fhe-rs=some/where".parse().unwrap();
        assert_eq!((one.library, one.program), (Library::FheRs, PathBuf::from("some/where")));
        assert!("tfhe-ntt".parse::<Selection>().is_ok());
        for wrong in ["fhe-rs", "fhe-rs=", "tfhe-ntt=x", "seal=x", ""] {
            assert!(wrong.parse::<Selection>().is_err(), "{wrong}");
        }
    }
}
