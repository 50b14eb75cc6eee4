//! Comparisons of Sunzi with other libraries, each in a process of its own as Sunzi is, taking turns.
//!
//! A scheme is compared at equal degree and equal log2 of everything the keys are modulo (q, and the special
//! moduli where a library has them), which is what security depends on. Each library gets the moduli it is
//! fastest with. tfhe-ntt, a library of transforms for Rust, stays in this process: a pipe would add nothing
//! but its own noise to turns of some microseconds.

mod bootstrapping;
mod chains;
pub mod circuits;
mod library;
mod operands;
mod process;
pub mod processor;
#[cfg(test)]
mod programs;
mod protocol;
mod serve;
mod widths;

use std::cell::RefCell;
use std::ops::RangeInclusive;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use sunzi_math::primes_with_bits;

pub use bootstrapping::bootstrapping;
pub use library::{Absence, Library, Memory, Scheme, Selection};
pub use process::RivalError;
pub use serve::serve;

use crate::alternate::{Contender, Turns};
use crate::bench::job::bfv::Bfv;
use crate::bench::job::bgv::Bgv;
use crate::bench::job::ckks::Ckks;
use crate::bench::job::parties::PARTY_STEPS;
use crate::bench::job::{COMPARED, Scheme as _, many};
use crate::bench::operations::Progress;
use crate::bench::report::About;
use crate::bench::stream::Addition;
use crate::bench::values::Values;
use crate::bench::{LabError, Options, Result, Row, Series, Stream, check, ntt, on_threads};
use chains::security_bits;
use library::{DEGREES, TRANSFORM_DEGREES};
use operands::{Operands, preparation};
use process::Rival;
use protocol::{Preparation, Prepared};

const TRANSFORMS: [ntt::Operation; 2] = [ntt::Operation::Forward, ntt::Operation::InverseNormalized];
/// Longest time for one request to a rival: keys at n = 2^16 take a slow library minutes.
const PATIENCE: Duration = Duration::from_secs(900);
/// Fewest rounds of a comparison, however long they take.
const LEAST_ROUNDS: usize = 3;

/// Selection of comparisons to make: all of them where nothing is named.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// Schemes to compare with rivals.
    pub schemes: Vec<Scheme>,
    /// Operations to compare with rivals in every scheme.
    pub operations: Vec<String>,
    /// Allocator settings of the rivals to compare.
    pub memory: Vec<Memory>,
    /// Seconds after which no new round of an operation is begun.
    pub seconds: Option<f64>,
    /// Most bits of a ciphertext modulus of the rivals, where they are not to have the width they are fastest with.
    pub width: Option<u32>,
    /// Most bits of log2 QP, where not all that the security table has room for are to be used.
    pub bits: Option<u32>,
}

/// Compares Sunzi, which `program` serves, with every rival that was selected; `progress` is called before
/// each operation. A rival that cannot, and an operation that one of both libraries does not have, is a row
/// that says so.
///
/// # Errors
/// A degree out of range; an operation that is not compared; an operation of Sunzi that fails.
pub fn run(
    program: &Path,
    options: &Options,
    rivals: &[Selection],
    choice: &Choice,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<Vec<Row>> {
    options.validate()?;
    let Choice { schemes, operations, .. } = choice;
    let known = [&COMPARED[..], &PARTY_STEPS].concat();
    if let Some(got) = operations.iter().find(|name| !known.contains(&name.as_str())) {
        let known = known.join(", ");
        return Err(LabError::Usage(format!(
            "expected operations among {known}, got {got}: change --operations"
        )));
    }
    let chosen = |name: &&str| operations.is_empty() || operations.iter().any(|other| other == name);
    let operations: Vec<&'static str> = known.into_iter().filter(chosen).collect();
    let schemes = if schemes.is_empty() { Scheme::ALL.to_vec() } else { schemes.clone() };
    on_threads(1, || {
        let mut run =
            Comparison { program, options, choice, schemes, operations, progress, done: 0, total: 0 };
        run.total = rivals.iter().map(|rival| run.rows(rival.library)).sum();
        let mut rows = Vec::new();
        for selection in rivals {
            rows.extend(run.selection(selection)?);
        }
        Ok(rows)
    })
}

/// A comparison run over several rivals.
struct Comparison<'a> {
    /// Program that serves Sunzi. In the process of the harness it would find its caches full of the rivals'
    /// answers.
    program: &'a Path,
    options: &'a Options,
    choice: &'a Choice,
    schemes: Vec<Scheme>,
    operations: Vec<&'static str>,
    progress: &'a mut (dyn FnMut(Progress) + Send),
    done: usize,
    total: usize,
}

impl Comparison<'_> {
    /// Number of rows that the comparison with a library has, at most.
    fn rows(&self, library: Library) -> usize {
        let operations = |scheme| self.operations.iter().filter(|name| exists(scheme, name)).count();
        let schemes = self.schemes(library).into_iter().map(operations).sum::<usize>();
        let schemes = schemes * self.degrees(DEGREES).len();
        let transforms = library.transforms().map_or(0, |_| TRANSFORMS.len());
        (schemes + transforms * self.degrees(TRANSFORM_DEGREES).len()) * self.memory(library).len()
    }

    fn schemes(&self, library: Library) -> Vec<Scheme> {
        self.schemes.iter().copied().filter(|scheme| library.schemes().contains(scheme)).collect()
    }

    fn memory(&self, library: Library) -> Vec<Memory> {
        let chosen = |memory: &&Memory| self.choice.memory.is_empty() || self.choice.memory.contains(memory);
        let found: Vec<Memory> = library.memory().iter().filter(chosen).copied().collect();
        if found.is_empty() { vec![Memory::Stock] } else { found }
    }

    /// log2 of the degrees asked for that are in `range`, or else all of `range`.
    fn degrees(&self, range: RangeInclusive<u32>) -> Vec<u32> {
        self.options.log_degrees(range.clone()).filter(|log_n| range.contains(log_n)).collect()
    }

    fn selection(&mut self, selection: &Selection) -> Result<Vec<Row>> {
        let library = selection.library;
        let program = match &selection.program {
            _ if library == Library::TfheNtt => {
                return ntt::run(&Options { peers: true, ..self.options.clone() });
            }
            Ok(program) => program,
            Err(reason) => return Ok(vec![failed(library, "all", 0, reason.clone())]),
        };
        let mut rows = Vec::new();
        for memory in self.memory(library) {
            for scheme in self.schemes(library) {
                for log_n in self.degrees(DEGREES) {
                    rows.extend(self.scheme((library, program, memory), scheme, log_n)?);
                }
            }
            if let Some(bits) = library.transforms() {
                for log_n in self.degrees(TRANSFORM_DEGREES) {
                    let made = start(library, program, memory);
                    let made = made.and_then(|mut rival| self.transforms(&mut rival, bits, log_n));
                    rows.extend(theirs(made, || failed(library, "transforms", 1 << log_n, String::new()))?);
                }
            }
        }
        Ok(rows)
    }

    /// Compares all operations of one scheme at one degree, with a process of the rival of its own.
    fn scheme(
        &mut self,
        (library, program, memory): (Library, &Path, Memory),
        scheme: Scheme,
        log_n: u32,
    ) -> Result<Vec<Row>> {
        let operands = Operands::new(scheme, log_n);
        let mut ours = start(Library::Sunzi, self.program, Memory::Stock)?;
        let bits = self.choice.bits;
        let our_share = preparation(scheme, Library::Sunzi, log_n, (None, bits), &operands)?;
        let asked = preparation(scheme, library, log_n, (self.choice.width, bits), &operands)?;
        let moduli = [&our_share, &asked].map(|share| widths::said(&share.q, &share.p));
        let chains = [&our_share, &asked].map(Preparation::log_sizes);
        let about = ours.prepare(our_share)?.about;
        // Equal flooding noise, and shares of decryptions at a modulus of equal size.
        let asked = Preparation { flooding_bits: about.flooding_bits, open_bits: about.open_bits, ..asked };
        let whole = || failed(library, scheme.name(), 1 << log_n, String::new());
        let made = start(library, program, memory).and_then(|mut rival| {
            let prepared = rival.prepare(asked)?;
            Ok((rival, prepared))
        });
        let (rival, prepared) = match made {
            Ok(made) => made,
            Err(error) => return theirs(Err(error), whole),
        };
        let row = Row {
            n: 1 << log_n,
            memory: (library.memory().len() > 1).then(|| memory.name().to_owned()),
            peer: Some(rival.title()),
            peer_features: Some(rival.features().to_owned()),
            isa: Some(sunzi_kernels::active_isa()?.to_string()),
            ..Row::default()
        };
        let row = match with_moduli(library, row, [about, prepared.about.clone()], moduli, chains) {
            Ok(row) => row,
            Err(reason) => return Ok(vec![Row { failed: Some(reason), ..whole() }]),
        };
        let ours = RefCell::new(ours);
        let mut pair = Pair { library, scheme, log_n, ours, rival, prepared, operands, row };
        let mut rows = Vec::new();
        for name in self.operations.clone().into_iter().filter(|name| exists(scheme, name)) {
            self.begin(name, 1 << log_n);
            rows.push(pair.compare(name, self.options.rounds, self.choice.seconds)?);
        }
        Ok(rows)
    }

    fn transforms(&mut self, rival: &mut Rival, bits: u32, log_n: u32) -> Result<Vec<Row>> {
        let n = 1_usize << log_n;
        let ours = ntt::Ours::new(n)?;
        let primes = primes_with_bits(bits, 2 * n as u64, 1)?;
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
            let mut data = ours.operand();
            let mut turn = || ours.apply(operation, &mut data);
            let rounds = Rounds { most: self.options.rounds, seconds: self.choice.seconds };
            let (series, correct) = rounds.take(&mut turn, rival, name, None, &mut |rival| {
                Ok(holds && rival.verify(name)?.agree(&product))
            })?;
            let (log_q, peer_log_q) = ((ours.q() as f64).log2(), Some((modulus as f64).log2()));
            let isa = Some(sunzi_kernels::active_isa()?.to_string());
            let peer_features = Some(rival.features().to_owned());
            let row = Row {
                name: name.to_owned(),
                n,
                log_q,
                peer_log_q,
                correct,
                isa,
                peer_features,
                ..Row::default()
            };
            rows.push(timed(row, &series, rival.title()));
        }
        Ok(rows)
    }

    fn begin(&mut self, name: &'static str, n: usize) {
        (self.progress)(Progress { name, n, done: self.done, total: self.total });
        self.done += 1;
    }
}

/// The row with the moduli of both sides, Sunzi's first: those that were asked for, unless a library says others.
///
/// # Errors
/// Moduli whose sizes may not be compared.
fn with_moduli(
    library: Library,
    row: Row,
    [mut about, mut peer_about]: [About; 2],
    [our_moduli, moduli]: [String; 2],
    [our_chain, chain]: [[f64; 2]; 2],
) -> Result<Row, String> {
    let sizes = |about: &About, [log_q, log_qp]: [f64; 2]| {
        [about.log_q.unwrap_or(log_q), about.log_key_modulus.unwrap_or(log_qp)]
    };
    let (our_sizes, peer_sizes) = (sizes(&about, our_chain), sizes(&peer_about, chain));
    let log_n = row.n.max(1).ilog2();
    let unequal = widths::unequal(library, our_sizes, peer_sizes)?;
    peer_about.moduli.get_or_insert(moduli);
    about.moduli.get_or_insert(our_moduli);
    about.security_bits = Some(security_bits(log_n, our_sizes[1]));
    peer_about.security_bits = Some(security_bits(log_n, peer_sizes[1]));
    Ok(Row {
        log_q: our_sizes[0],
        log_key_modulus: Some(our_sizes[1]),
        peer_log_q: Some(peer_sizes[0]),
        peer_log_key_modulus: Some(peer_sizes[1]),
        about: Some(about),
        peer_about: Some(peer_about),
        unequal,
        ..row
    })
}

/// Sunzi and a rival, both ready for one scheme.
struct Pair {
    library: Library,
    scheme: Scheme,
    log_n: u32,
    ours: RefCell<Rival>,
    rival: Rival,
    prepared: Prepared,
    operands: Operands,
    /// The fields that all rows of this pair share.
    row: Row,
}

impl Pair {
    fn compare(&mut self, name: &'static str, rounds: usize, seconds: Option<f64>) -> Result<Row> {
        let differs = self.prepared.differs.get(name).cloned();
        let row = Row { name: format!("{} {name}", self.scheme.name()), differs, ..self.row.clone() };
        let reason = match self.missing(name) {
            Some(reason) => reason,
            None => match answered(self.time(name, &Rounds { most: rounds, seconds }))? {
                Ok((series, correct)) => {
                    let row = Row { bar: self.library.bar(name), correct, ..row };
                    return Ok(timed(row, &series, self.rival.title()).judged());
                }
                Err(reason) => reason,
            },
        };
        Ok(Row { failed: Some(reason), ..row })
    }

    /// Reason why the named operation cannot be compared, if there is one.
    fn missing(&self, name: &str) -> Option<String> {
        let least = if self.scheme == Scheme::Bfv { 14 } else { 15 };
        if name == many::PRODUCT_TREE && self.log_n < least {
            return Some(format!("depth {} does not fit log2 Q", many::TREE_DEPTH));
        }
        if self.prepared.operations.iter().any(|other| other == name) {
            return None;
        }
        let reason = self.prepared.not_offered.get(name).map(|reason| format!(": {reason}"));
        Some(format!("not offered{}", reason.unwrap_or_default()))
    }

    fn time(&mut self, name: &str, rounds: &Rounds) -> Result<(Vec<Series>, bool)> {
        let expected = self.operands.expected(name);
        let bytes = self.row.about.as_ref().and_then(|about| about.ciphertext_bytes).unwrap_or_default();
        let (mut addition, stream);
        let mut loops: Box<dyn FnMut() -> Result<()>>;
        let memory: Option<&mut dyn Contender> = match name {
            "add" => {
                addition = Addition::new(bytes);
                loops = Box::new(move || addition.add());
                Some(&mut loops)
            }
            "decrypt" => {
                stream = Stream::new(bytes);
                loops = Box::new(move || stream.read());
                Some(&mut loops)
            }
            _ => None,
        };
        let mut ours = Ours { rival: &self.ours, name };
        let mut check = |rival: &mut Rival| {
            let right = self.ours.borrow_mut().verify(name)?.agree(&expected);
            Ok(right && rival.verify(name)?.agree(&expected))
        };
        // Both sides make what the operation needs before anything is timed.
        let correct = check(&mut self.rival)?;
        let (series, always) = rounds.take(&mut ours, &mut self.rival, name, memory, &mut check)?;
        Ok((series, correct && always))
    }
}

/// An operation of Sunzi, whose result is asked for between rounds.
struct Ours<'a> {
    rival: &'a RefCell<Rival>,
    name: &'a str,
}

impl Contender for Ours<'_> {
    fn turn(&mut self, calls: u32, warm: bool) -> Result<Duration> {
        self.rival.borrow_mut().contender(self.name).turn(calls, warm)
    }
}

/// Limits on the number of rounds of a comparison.
struct Rounds {
    most: usize,
    seconds: Option<f64>,
}

impl Rounds {
    /// Times of Sunzi, the rival and a loop over memory by turns, and whether `check` held after every round.
    fn take(
        &self,
        ours: &mut dyn Contender,
        rival: &mut Rival,
        name: &str,
        mut memory: Option<&mut dyn Contender>,
        check: &mut dyn FnMut(&mut Rival) -> Result<bool>,
    ) -> Result<(Vec<Series>, bool)> {
        let begin = Instant::now();
        let mut turns: Option<Turns> = None;
        let mut correct = true;
        for round in 0..self.most {
            let enough = self.seconds.is_some_and(|seconds| begin.elapsed().as_secs_f64() > seconds);
            if enough && round >= LEAST_ROUNDS {
                break;
            }
            let mut theirs = rival.contender(name);
            let mut contenders: Vec<&mut dyn Contender> = vec![&mut *ours, &mut theirs];
            if let Some(memory) = &mut memory {
                contenders.push(&mut **memory);
            }
            let turns = match &mut turns {
                Some(turns) => turns,
                none => none.insert(Turns::new(&mut contenders)?),
            };
            turns.round(&mut contenders)?;
            drop(contenders);
            drop(theirs);
            correct &= check(rival)?;
        }
        let turns = turns.ok_or_else(LabError::no_rounds)?;
        Ok((turns.series(), correct))
    }
}

/// The row with times, and with the share of the memory bandwidth where a loop over memory was timed too.
fn timed(row: Row, series: &[Series], peer: String) -> Row {
    let [ours, theirs, memory @ ..] = series else { return row };
    let bandwidth = memory.first().map(|memory| memory.over(ours).median);
    Row { bandwidth, rounds: ours.len(), ..row.against(ours, peer, theirs) }
}

/// Whether a scheme has the named operation.
fn exists(scheme: Scheme, name: &str) -> bool {
    let lacks = match scheme {
        Scheme::Bfv => Bfv::LACKS,
        Scheme::Bgv => Bgv::LACKS,
        Scheme::Ckks => Ckks::LACKS,
        Scheme::Parties => return PARTY_STEPS.contains(&name),
    };
    !lacks.contains(&name) && COMPARED.contains(&name)
}

fn start(library: Library, program: &Path, memory: Memory) -> Result<Rival> {
    let mut command = Command::new(program);
    if library == Library::Sunzi {
        command.arg("serve");
    }
    memory.apply(&mut command);
    Ok(Rival::start(library.name(), command, PATIENCE)?)
}

/// A row of a comparison without times, with the reason.
fn failed(library: Library, name: &str, n: usize, reason: String) -> Row {
    let peer = Some(library.name().to_owned());
    Row { name: name.to_owned(), n, peer, failed: Some(reason), ..Row::default() }
}

/// Rows of a comparison: a failure of the rival becomes a row, one of Sunzi is an error.
fn theirs(made: Result<Vec<Row>>, row: impl Fn() -> Row) -> Result<Vec<Row>> {
    Ok(answered(made)?.unwrap_or_else(|reason| vec![Row { failed: Some(reason), ..row() }]))
}

/// The answer of a rival, or how the rival failed; other errors stay errors.
fn answered<T>(made: Result<T>) -> Result<Result<T, String>> {
    match made {
        Err(error) if error.below::<RivalError>().is_some() => Ok(Err(error.to_string())),
        made => Ok(Ok(made?)),
    }
}
