//! Bootstrapping of a rival library, by one of its own parameter sets.

use std::process::Command;
use std::time::Duration;

use num_complex::Complex64;

use super::process::Rival;
use super::protocol::Preparation;
use super::{Library, Memory, Selection};
use crate::alternate::Contender;
use crate::bench::bootstrapping::{Facts, Figures, Message, Side, measure, peak_memory};
use crate::bench::job::expected::{complex, parts};
use crate::bench::options::Options;
use crate::bench::values::Values;
use crate::bench::{CHANGE, LabError, Result};

/// Longest time for one request to a rival: bootstrapping keys take a busy machine minutes.
const PATIENCE: Duration = Duration::from_secs(1800);
/// Lattigo's bootstrapping sets that are compared with, and log2 of their degrees.
const LATTIGO: &[(&str, u32)] = &[("N16QP1546H192H32", 16), ("N15QP768H192H32", 15)];
/// Bits that log2 QP may differ from the whole number in the name of a set.
const NAME_TOLERANCE: f64 = 0.5;
/// OpenFHE's bootstrapping set that is compared with, and log2 of its degree. The other order of
/// `peers/python/openfhe_rival.py` takes longer and keeps fewer bits.
const OPENFHE: &[(&str, u32)] = &[("encapsulated, SlotsToCoeffs first, budget 3 + 3, 6 levels", 16)];

/// Figures of a rival's bootstrapping on one thread, with `messages` of every kind. The program ends before
/// this returns: its memory is free again.
///
/// # Errors
/// A library without bootstrapping; no set of the degree; a rival that does not start, ends, is silent or
/// breaks the protocol.
pub fn bootstrapping(
    options: &Options,
    selection: &Selection,
    log_n: u32,
    messages: usize,
) -> Result<Figures> {
    let sets = match selection.library {
        Library::Lattigo => LATTIGO,
        Library::OpenFhe | Library::OpenFheHexl => OPENFHE,
        _ => return Err(LabError::request("only Lattigo and OpenFHE bootstrap among the rivals")),
    };
    let Some((set, _)) = sets.iter().find(|(_, degree)| *degree == log_n) else {
        return Err(LabError::degree(log_n, &(15..=16), CHANGE));
    };
    let (n, slots) = (1_usize << log_n, 1_usize << (log_n - 1));
    let Ok(program) = &selection.program else {
        return Err(LabError::request("a rival without a program does not bootstrap"));
    };
    let mut command = Command::new(program);
    // Without it, page faults take much of the time; Lattigo sets its collector itself.
    if selection.library != Library::Lattigo {
        Memory::Kept.apply(&mut command);
    }
    let mut rival = Rival::start(selection.library.name(), command, PATIENCE)?;
    let prepared = rival.prepare(Preparation {
        scheme: "bootstrapping".to_owned(),
        n,
        set: Some((*set).to_owned()),
        left: reals(&Message::Random.slots(slots, 0)),
        ..Preparation::default()
    })?;
    let facts = prepared.facts.unwrap_or_default();
    hold_name(set, &facts)?;
    let mut theirs = Theirs { rival };
    let (times, references, precision) = measure(&mut theirs, slots, messages, options.rounds)?;
    Ok(Figures {
        library: theirs.rival.title(),
        set: (*set).to_owned(),
        n,
        rounds: options.rounds.max(1),
        facts,
        peak_memory_bytes: peak_memory(&theirs.rival.process().to_string()),
        ..Figures::timed(&times, &references, slots, precision)
    })
}

/// Checks that a set of Lattigo has the log2 QP that its name states.
fn hold_name(set: &str, facts: &Facts) -> Result<()> {
    let got = facts.log_key_modulus;
    match stated(set) {
        Some((_, bits)) if (got - f64::from(bits)).abs() > NAME_TOLERANCE => Err(LabError::Failed(format!(
            "{set}: expected keys modulo {bits} bits, as the set's name says, got {got:.1}: its parameters in \
             peers/lattigo/bootstrapping.go are others"
        ))),
        _ => Ok(()),
    }
}

/// log2 n and log2 QP that the name of a set of Lattigo states, as `N15QP768H192H32` does.
fn stated(set: &str) -> Option<(u32, u32)> {
    let (log_n, rest) = set.strip_prefix('N')?.split_once("QP")?;
    let (bits, _) = rest.split_once('H')?;
    Some((log_n.parse().ok()?, bits.parse().ok()?))
}

struct Theirs {
    rival: Rival,
}

impl Side for Theirs {
    fn replace(&mut self, message: &[Complex64]) -> Result<()> {
        Ok(self.rival.replace(reals(message))?)
    }

    fn time(&mut self) -> Result<Duration> {
        self.rival.contender("bootstrap").turn(1, false)
    }

    fn outcome(&mut self) -> Result<Vec<Complex64>> {
        Ok(complex(&self.rival.verify("bootstrap")?.reals()))
    }
}

fn reals(slots: &[Complex64]) -> Values {
    Values::Reals(parts(slots))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_sets_state_degree_and_modulus() {
        for (set, log_n) in LATTIGO {
            let (stated_log_n, bits) = stated(set).unwrap();
            assert_eq!(stated_log_n, *log_n, "{set}");
            let facts = |log_key_modulus| Facts { log_key_modulus, ..Facts::default() };
            hold_name(set, &facts(f64::from(bits) - 0.012)).unwrap();
            let error = hold_name(set, &facts(f64::from(bits) + 81.0)).unwrap_err().to_string();
            assert!(error.contains(set) && error.contains(&bits.to_string()), "{error}");
        }
        assert_eq!(stated("N15QP768H192H32"), Some((15, 768)));
        for (set, _) in OPENFHE {
            assert_eq!(stated(set), None);
            hold_name(set, &Facts::default()).unwrap();
        }
    }
}
