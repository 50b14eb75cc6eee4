//! Random circuits of BFV in Sunzi and in another library, compared with clear numbers.

use serde::Serialize;
use sunzi_math::{add_mod, mul_mod};
use sunzi_ring::sampling::SeededRng;

use super::library::{Scheme, Selection};
use super::operands::{Operands, preparation};
use super::process::Rival;
use super::{Library, RivalError, answered, serve, start};
use crate::bench::rivals::Memory;
use crate::bench::values::{Name, Step, Values};
use crate::bench::{HOISTED, LabError, Result, on_threads};

/// log2 of the degree of random circuits: the least at which the modulus of the security table leaves room
/// for depth.
const LOG_N: u32 = 13;
/// Largest multiplicative depth of a random circuit.
const DEPTH: u32 = 2;
const STEPS: usize = 7;
/// Number of random circuits for one set of keys and operands.
const BATCH: usize = 50;

/// Report on the random circuits run with one rival.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Name of the rival library.
    pub rival: String,
    /// Number of random circuits that were run.
    pub circuits: usize,
    /// Number of random circuits that Sunzi decrypted to a wrong value.
    pub ours_wrong: usize,
    /// Number of random circuits that the rival decrypted to a wrong value.
    pub theirs_wrong: usize,
    /// Reason why fewer circuits were run than asked for, if so.
    pub failed: Option<String>,
}

/// Runs random circuits with every rival; `progress` is called with the number done.
///
/// # Errors
/// An operation of Sunzi that fails. A failure of a rival is said in its report.
pub fn run(
    rivals: &[Selection],
    circuits: usize,
    progress: &mut (dyn FnMut(usize, usize) + Send),
) -> Result<Vec<Report>> {
    let total = rivals.len() * circuits;
    let compare = |(at, rival): (usize, &Selection)| {
        let name = rival.library.name().to_owned();
        let mut report = Report { rival: name, circuits: 0, ours_wrong: 0, theirs_wrong: 0, failed: None };
        match &rival.program {
            Ok(_) if !rival.library.schemes().contains(&Scheme::Bfv) => {
                report.failed = Some("it has no BFV, which circuits are of".to_owned());
            }
            Err(reason) => report.failed = Some(reason.clone()),
            Ok(program) => {
                let made = start(rival.library, program, Memory::Stock);
                let ran = made.and_then(|mut rival_process| {
                    report.rival = rival_process.title();
                    batches(&mut report, rival.library, &mut rival_process, circuits, &mut |done| {
                        progress(at * circuits + done, total);
                    })
                });
                report.failed = answered(ran)?.err();
            }
        }
        Ok(report)
    };
    on_threads(1, || rivals.iter().enumerate().map(compare).collect())
}

fn batches(
    report: &mut Report,
    library: Library,
    rival: &mut Rival,
    circuits: usize,
    progress: &mut dyn FnMut(usize),
) -> Result<()> {
    let mut rng = SeededRng::derive(&[3; 32], library.name(), 0);
    let operands = Operands::new(Scheme::Bfv, LOG_N);
    let Operands::Words([left, right], t) = &operands else {
        return Err(LabError::request("circuits are of whole numbers"));
    };
    while report.circuits < circuits {
        // New keys on both sides.
        let ours = serve::prepare(preparation(Scheme::Bfv, Library::Sunzi, LOG_N, (None, None), &operands)?)?;
        rival.prepare(preparation(Scheme::Bfv, library, LOG_N, (None, None), &operands)?)?;
        if report.circuits == 0 {
            try_steps(library, rival)?;
        }
        for _ in 0..BATCH.min(circuits - report.circuits) {
            let (steps, last) = random(&mut rng, left, right, *t);
            let expected = Values::Words(last);
            report.ours_wrong += usize::from(!ours.circuit(&steps)?.agree(&expected));
            report.theirs_wrong += usize::from(!rival.circuit(&steps)?.agree(&expected));
            report.circuits += 1;
            progress(report.circuits);
        }
    }
    Ok(())
}

/// Asks the rival for every step that circuits are made of, the shortest and the longest rotation too. A step
/// that it lacks would else show in the middle of a run, or not at all in a short one.
fn try_steps(library: Library, rival: &mut Rival) -> Result<(), RivalError> {
    let steps = Name::ALL.into_iter().flat_map(|name| match name {
        Name::Rotate => [HOISTED.start(), HOISTED.end()].map(|&turn| (name, turn as usize)).to_vec(),
        name => vec![(name, 1)],
    });
    let mut gaps = Vec::new();
    for (name, right) in steps {
        match rival.circuit(&[Step { name, left: 0, right }]) {
            Err(RivalError::Refused { message, .. }) => gaps.push(format!("{} ({message})", name.word())),
            done => drop(done?),
        }
    }
    if gaps.is_empty() {
        return Ok(());
    }
    Err(RivalError::Gaps { rival: library.name().to_owned(), gaps })
}

/// A random circuit: steps that depend on each other, at most two products deep, and their last value. No
/// value is zero in every slot: it could be a ciphertext without randomness, which SEAL refuses to make.
fn random(rng: &mut impl rand_core::Rng, left: &[u64], right: &[u64], t: u64) -> (Vec<Step>, Vec<u64>) {
    let mut steps = Vec::with_capacity(STEPS);
    let (mut values, mut depths) = (vec![left.to_vec(), right.to_vec()], vec![0; 2]);
    let mut below = |bound: usize| rng.next_u64() as usize % bound.max(1);
    while steps.len() < STEPS {
        let (left, right) = (below(depths.len()), below(depths.len()));
        let depth = |at: usize| depths.get(at).copied().unwrap_or(0);
        let (name, right, depth) = match below(8) {
            0 | 1 => (Name::Add, right, depth(left).max(depth(right))),
            2 => (Name::Subtract, right, depth(left).max(depth(right))),
            3 => (Name::Negate, 0, depth(left)),
            4 | 5 => (Name::Rotate, 1 + below(*HOISTED.end() as usize), depth(left)),
            _ => (Name::Multiply, right, depth(left).max(depth(right)) + 1),
        };
        let step = Step { name, left, right };
        let value = clear(step, &values, t);
        if depth <= DEPTH && value.iter().any(|&slot| slot != 0) {
            steps.push(step);
            values.push(value);
            depths.push(depth);
        }
    }
    (steps, values.pop().unwrap_or_default())
}

/// A circuit's step on clear slots, modulo t in two rows.
fn clear(step: Step, values: &[Vec<u64>], t: u64) -> Vec<u64> {
    let value = |at: usize| values.get(at).map_or(&[][..], Vec::as_slice);
    let with = |f: &dyn Fn(u64, u64) -> u64| -> Vec<u64> {
        value(step.left).iter().zip(value(step.right)).map(|(&x, &y)| f(x, y)).collect()
    };
    match step.name {
        Name::Add => with(&|x, y| add_mod(x, y, t)),
        Name::Subtract => with(&|x, y| add_mod(x, t - y, t)),
        Name::Multiply => with(&|x, y| mul_mod(x, y, t)),
        Name::Negate => value(step.left).iter().map(|&x| add_mod(0, t - x, t)).collect(),
        Name::Rotate => {
            let mut rotated = value(step.left).to_vec();
            let row = (rotated.len() / 2).max(1);
            rotated.chunks_mut(row).for_each(|row| row.rotate_left(step.right % row.len().max(1)));
            rotated
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circuits_on_clear_slots_follow_their_steps() {
        let step = |name, left, right| Step { name, left, right };
        let steps = [
            step(Name::Add, 0, 1),
            step(Name::Multiply, 2, 2),
            step(Name::Rotate, 3, 1),
            step(Name::Subtract, 4, 0),
            step(Name::Negate, 5, 0),
        ];
        // (x + y)², turned by one in both rows, less x, negated, modulo 97.
        let expected = [(2, 1), (1, 2), (4, 3), (3, 4)].map(|(sum, x): (u64, u64)| {
            let square = (10 * sum + sum) * (10 * sum + sum) % 97;
            (97 + x - square) % 97
        });
        let mut values = vec![vec![1, 2, 3, 4], vec![10, 20, 30, 40]];
        for step in steps {
            values.push(clear(step, &values, 97));
        }
        assert_eq!(values.last().map(Vec::as_slice), Some(&expected[..]));
    }

    #[cfg(unix)]
    #[test]
    fn steps_that_a_rival_lacks_are_found_before_any_circuit() {
        let script = |lacking: &[&str]| {
            let refusals: String = lacking
                .iter()
                .map(|name| format!(r#"*'"{name}"'*) printf '{{"id": %s, "error": "no {name}"}}\n' $id;; "#))
                .collect();
            let program = format!(
                r#"id=0; while read -r line; do id=$((id + 1)); case "$line" in
                *'"hello"'*) echo '{{"id": 1, "protocol": 1, "library": "Fake", "version": "1", "features": ""}}';;
                {refusals}
                *) printf '{{"id": %s, "values": [1]}}\n' $id;; esac; done"#
            );
            let mut command = std::process::Command::new("sh");
            command.args(["-c", &program]);
            Rival::start("fake", command, std::time::Duration::from_secs(30)).unwrap()
        };
        try_steps(Library::Seal, &mut script(&[])).unwrap();
        for name in Name::ALL {
            let error = try_steps(Library::Seal, &mut script(&[name.word()])).unwrap_err().to_string();
            assert!(error.contains(&format!("{0} (no {0})", name.word())), "{error}");
        }
        let error = try_steps(Library::Seal, &mut script(&["subtract", "negate"])).unwrap_err().to_string();
        assert!(
            error.contains("subtract") && error.contains("negate") && !error.contains("rotate"),
            "{error}"
        );
    }

    #[test]
    fn random_circuits_multiply_and_turn_within_their_depth() {
        let mut rng = SeededRng::derive(&[1; 32], "circuits", 0);
        let all: Vec<Step> =
            (0..100).flat_map(|_| random(&mut rng, &[1, 2, 3, 4], &[4, 3, 1, 2], 97).0).collect();
        for name in [Name::Add, Name::Subtract, Name::Negate, Name::Multiply, Name::Rotate] {
            assert!(all.iter().filter(|step| step.name == name).count() > 20, "{name:?}");
        }
        let turns = all.iter().filter(|step| step.name == Name::Rotate);
        assert!(turns.clone().all(|step| (1..=16).contains(&step.right)));
    }
}
