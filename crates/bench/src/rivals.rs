//! Comparisons with other libraries, each in a process of its own, taking turns with ours.
//!
//! A scheme is compared at equal degree and equal log2 of everything the keys are modulo (q, and the special
//! moduli where a library has them), which is what security depends on. Each library gets the moduli it is
//! fastest with. tfhe-ntt, a library of transforms for Rust, stays in this process: a pipe would add nothing
//! but its own noise to turns of some microseconds.

mod bootstrapping;
mod chains;
mod process;
pub mod processor;
mod protocol;
mod serve;

use std::f64::consts::SQRT_2;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::process::Command;
use std::str::FromStr;
use std::time::Duration;

use sunzi_math::{log2_product, primes_with_bits};
use sunzi_rlwe::Security;
use sunzi_rlwe::security::max_log2_modulus;

pub use bootstrapping::bootstrapping;
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
use chains::{Chain, SCALE_BITS};
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
    /// Cheon, Kim, Kim and Song 2017.
    Ckks,
}

impl Scheme {
    const ALL: [Self; 3] = [Self::Bfv, Self::Bgv, Self::Ckks];

    /// Its name on command lines and in the protocol.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Bfv => "bfv",
            Self::Bgv => "bgv",
            Self::Ckks => "ckks",
        }
    }

    /// log2 of the degrees that it is compared at.
    fn degrees(self) -> RangeInclusive<u32> {
        match self {
            Self::Bfv | Self::Bgv => 13..=15,
            Self::Ckks => 14..=16,
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

/// Width of the prime that a rival's transforms are compared at, and log2 of the degrees.
const TRANSFORM_BITS: u32 = 60;
const TRANSFORM_DEGREES: RangeInclusive<u32> = 12..=16;
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

    /// Bar on ours / theirs.
    fn bar(self, scheme: Scheme, operation: &str) -> Option<f64> {
        match (self, operation) {
            (Self::Lattigo, "encrypt_public") if scheme == Scheme::Ckks => Some(0.25),
            (Self::Lattigo, "multiply_relinearize_rescale") => Some(0.25),
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
    let within = |range: RangeInclusive<u32>| {
        options.log_degrees(range.clone()).filter(|log_n| range.contains(log_n)).count()
    };
    let rows = rivals.iter().map(|Selection { library, .. }| {
        let schemes = schemes.iter().filter(|scheme| library.schemes().contains(scheme));
        let shapes: usize = schemes.map(|scheme| within(scheme.degrees())).sum();
        let transforms = if *library == Library::Lattigo { TRANSFORMS.len() } else { 0 };
        operations * shapes + transforms * within(TRANSFORM_DEGREES)
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
            for log_n in self.degrees(scheme.degrees()) {
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
    fn degrees(&self, range: RangeInclusive<u32>) -> Vec<u32> {
        self.options.log_degrees(range.clone()).filter(|log_n| range.contains(log_n)).collect()
    }

    fn scheme(
        &mut self,
        library: Library,
        scheme: Scheme,
        rival: &mut Rival,
        log_n: u32,
    ) -> Result<Vec<Row>, BenchError> {
        let n = 1_usize << log_n;
        let operands = Operands::new(scheme, n);
        let job = serve::prepare(preparation(scheme, Library::Sunzi, log_n, &operands)?)?;
        let theirs = preparation(scheme, library, log_n, &operands)?;
        let peer_log_q = log2_product(&theirs.q);
        let peer_log_key_modulus = peer_log_q + log2_product(&theirs.p);
        let offered = rival.prepare(theirs)?.operations;
        let both = |name: &&str| offered.iter().any(|other| other == name) && job.names().contains(name);
        let mut rows = Vec::new();
        for name in self.operations.clone().into_iter().filter(both) {
            self.begin(name, n);
            let expected = operands.expected(name);
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
                bar: library.bar(scheme, name),
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

/// What both sides compute with.
enum Operands {
    Words([Vec<u64>; 2]),
    Reals([Vec<f64>; 2]),
}

impl Operands {
    fn new(scheme: Scheme, n: usize) -> Self {
        let words = [1, 2].map(|seed| check::residues(n, PLAIN_MODULUS, seed));
        match scheme {
            Scheme::Bfv | Scheme::Bgv => Self::Words(words),
            // Both parts of at most 1/√2: slots of at most 1.
            Scheme::Ckks => Self::Reals(words.map(|words| {
                let part = |word: &u64| (*word as f64 / PLAIN_MODULUS as f64 - 0.5) * SQRT_2;
                words.iter().map(part).collect()
            })),
        }
    }

    fn values(&self) -> [Values; 2] {
        match self {
            Self::Words(words) => words.clone().map(Values::Words),
            Self::Reals(reals) => reals.clone().map(Values::Reals),
        }
    }

    fn expected(&self, name: &str) -> Values {
        match self {
            Self::Words([left, right]) => Values::Words(job::expected(name, left, right, PLAIN_MODULUS)),
            Self::Reals([left, right]) => Values::Reals(job::ckks::expected(name, left, right)),
        }
    }
}

/// What a library is asked to make ready.
fn preparation(
    scheme: Scheme,
    library: Library,
    log_n: u32,
    operands: &Operands,
) -> Result<Preparation, BenchError> {
    let n = 1_usize << log_n;
    let bits = f64::from(max_log2_modulus(log_n, Security::Bits128).unwrap_or_default());
    let (t, log_scale, chain) = match scheme {
        Scheme::Bfv | Scheme::Bgv => (PLAIN_MODULUS, 0, Chain::exact(library, n, bits)?),
        Scheme::Ckks => (0, SCALE_BITS, Chain::approximate(library, log_n)?),
    };
    let Chain { q, base, p } = chain;
    let [left, right] = operands.values();
    let scheme = scheme.name().to_owned();
    Ok(Preparation { scheme, n, t, log_scale, q, base, p, set: None, left, right })
}

#[cfg(test)]
mod tests {
    use super::*;

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
