//! Results that parties open together: what the file has, held against what this party agreed to.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;

use sunzi::parties::decryption::{Request, Subject};
use sunzi::parties::{Party, Roster};
use sunzi::program::contexts::{Agreed, Subject as Planned};
use sunzi::program::results::{Description, ResultsReader};
use sunzi::program::{Contexts, Plan};
use sunzi::rlwe::KeyId;
use sunzi::rlwe::wire::{WireError, open_regular};
use sunzi::rlwe::words::counted;
use sunzi_keystore::log::Opening as Logged;

use super::agreement::Agreement;
use super::home::Home;
use crate::audit;
use crate::error::{CliError, listed, quoted};
use crate::files::input::InputFile;
use crate::files::{named, refuse};
use crate::program;
use crate::program::stopped::Stopped;

/// Largest number of bytes of the names of results in a request.
const LONGEST_NAMES: usize = 1024;
/// Number of steps of a bit to which noise in requests is rounded.
const STEPS: f64 = 64.0;

/// Results of the agreed program, and the parties that open them.
pub(super) struct Opening<'a> {
    pub(super) home: &'a Home,
    pub(super) contexts: &'a Contexts,
    pub(super) agreed: Agreed,
    file: &'a Path,
    input: InputFile,
    key: KeyId,
    /// Roster by which results are opened.
    pub(super) roster: Arc<Roster>,
    /// Parties that make shares, this one among them, by ascending number.
    pub(super) members: Vec<Party>,
}

/// One ciphertext, with the request that all members make of it alike.
pub(super) struct Asked {
    pub(super) planned: Planned,
    pub(super) request: Request,
}

impl Asked {
    /// The ciphertext as parties know it.
    pub(super) fn subject(&self) -> Subject<'_> {
        let Planned { bytes, key, decryption, .. } = &self.planned;
        Subject { bytes, linear: decryption.linear(), key: *key }
    }
}

impl<'a> Opening<'a> {
    /// Opens a file of results, which must be those of the agreed program under the key of the parties.
    pub(super) fn new(
        (home, contexts): (&'a Home, &'a Contexts),
        (file, key): (&'a Path, KeyId),
        (roster, members): (Arc<Roster>, Vec<Party>),
    ) -> Result<Self, CliError> {
        let Agreement { plan, policy, .. } = &home.agreement;
        let input = InputFile::open(file)?;
        let reader = reader(contexts, (file, &input), key)?;
        let description = reader.description();
        if description.program != plan.program {
            return Err(CliError::mismatch(format!(
                "{} has the results of another program than the one that the parties agreed on: nothing is answered for it",
                named(file)
            )));
        }
        let plans = plans(plan, description).map_err(|error| error.in_place(&named(file)))?;
        let agreed = Agreed::new(plans, *policy).map_err(program::refuse)?;
        Ok(Self { home, contexts, agreed, file, input, key, roster, members })
    }

    /// Opens a reader of the results.
    pub(super) fn reader(&self) -> Result<ResultsReader<'a, BufReader<File>>, CliError> {
        reader(self.contexts, (self.file, &self.input), self.key)
    }

    /// Returns what the audit log says of the opening.
    pub(super) fn logged(&self) -> Result<Logged, CliError> {
        let Agreement { plan, policy, .. } = &self.home.agreement;
        let mut ciphertexts = 0;
        self.each(|_| {
            ciphertexts += 1;
            Ok(())
        })?;
        let logged = audit::opening("give shares of a decryption of", &self.input, Some(&plan.program))?;
        Ok(Logged { agreed: true, share: Some(audit::share(*policy, ciphertexts)), ..logged })
    }

    /// Returns the hash of the ciphertexts that are to be opened.
    pub(super) fn digest(&self) -> Result<[u8; 32], CliError> {
        self.reader()?.digest().map_err(|error| refuse(self.file, error))
    }

    /// Calls `each` with every ciphertext of the results.
    pub(super) fn each(&self, mut each: impl FnMut(Asked) -> Result<(), CliError>) -> Result<(), CliError> {
        let mut reader = self.reader()?;
        loop {
            let next = reader.next_subjects::<Stopped>(&self.agreed);
            let Some(subjects) = next.map_err(|stopped| stopped.of(self.file))? else { return Ok(()) };
            for planned in subjects {
                let request = self.request(&planned)?;
                each(Asked { planned, request })?;
            }
        }
    }

    /// Returns the request that every member makes of a ciphertext alike.
    fn request(&self, planned: &Planned) -> Result<Request, CliError> {
        let Planned { bytes, key, decryption, noise, .. } = planned;
        let subject = Subject { bytes, linear: decryption.linear(), key: *key };
        let agreement = &self.home.agreement;
        let request = Request::new(
            self.contexts.rlwe(),
            subject,
            rounded(noise.bits()),
            self.members.iter().copied(),
            agreement.fingerprint.0,
            names(agreement),
        );
        request.map_err(super::refuse)
    }
}

/// Returns a number of bits that is a little less, and the same on machines whose logarithms differ in their last digits: every member makes the same request. Shares hide the
/// noise that their party declares, which is not rounded.
fn rounded(bits: f64) -> f64 {
    bits.mul_add(STEPS, -0.5).floor() / STEPS
}

/// Opens a reader of results, which must be under the key of the parties.
fn reader<'a>(
    contexts: &'a Contexts,
    (name, input): (&Path, &InputFile),
    key: KeyId,
) -> Result<ResultsReader<'a, BufReader<File>>, CliError> {
    let refused = |error| refuse(name, error);
    let file = open_regular(input.path()).map_err(refused)?;
    let reader = ResultsReader::open(contexts, BufReader::with_capacity(1 << 20, file)).map_err(refused)?;
    let got = reader.key();
    if got == key {
        return Ok(reader);
    }
    Err(refused(WireError::Key { expected: Some(key), got: Some(got) }))
}

/// Returns the plans that the agreed program may have been run by: its rows as they were planned, and as the file has them.
fn plans(plan: &Plan, description: &Description) -> Result<Vec<Plan>, CliError> {
    let (most, own) = (plan.layout, description.layout);
    if own == most || plan.packed().is_some() {
        return Ok(vec![plan.clone()]);
    }
    if own.chunks > most.chunks {
        let (most, own) = (most.chunks, own.chunks);
        return Err(CliError::mismatch(format!(
            "the tables had {own} chunks, at most {most} were agreed on"
        )));
    }
    let own =
        Plan::for_layout(&plan.program, &plan.parameters, own, plan.precision).map_err(program::refuse)?;
    Ok(vec![plan.clone(), own])
}

/// Names of the results for people who read a request.
fn names(agreement: &Agreement) -> String {
    let outputs = agreement.plan.program.outputs();
    let names: Vec<&str> = outputs.iter().map(|output| output.name.as_str()).collect();
    let mut names = names.join("; ");
    let end = (0..=LONGEST_NAMES.min(names.len())).rev().find(|&end| names.is_char_boundary(end));
    names.truncate(end.unwrap_or(0));
    names
}

/// Returns the parties that open a result: this one and those that are named, or all.
pub(super) fn members(roster: &Roster, me: Party, others: &[String]) -> Result<Vec<Party>, CliError> {
    let (threshold, names) = (roster.threshold(), all_names(roster));
    let mut members = vec![me];
    for name in others {
        let party = roster.named(name).map_err(|_| {
            let name = quoted(name);
            CliError::input(format!("--with: the session has no party {name}: its parties are {names}"))
        })?;
        if members.contains(&party) {
            let name = quoted(name);
            return Err(CliError::input(format!("--with: {name} is this party itself, or named twice")));
        }
        members.push(party);
    }
    if others.is_empty() && threshold == roster.len() {
        return Ok(roster.parties().collect());
    }
    if members.len() != threshold {
        let others = counted(threshold - 1, "other party", "other parties");
        let own = quoted(roster.name(me));
        return Err(CliError::input(format!(
            "results are opened by {threshold} of {names}: beside {own} name {others} by --with"
        )));
    }
    members.sort_unstable();
    Ok(members)
}

fn all_names(roster: &Roster) -> String {
    let names: Vec<&str> = roster.parties().map(|party| roster.name(party)).collect();
    listed(&names, 16)
}

/// Fails unless the parameters of an agreement have room for the noise that hides what is opened.
pub(super) fn check_room(agreement: &Agreement) -> Result<(), CliError> {
    Agreed::new(vec![agreement.plan.clone()], agreement.policy).map(drop).map_err(program::refuse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_the_same_where_logarithms_differ_a_little() {
        for bits in [0.0, 1.0, 20.0, 53.25, 100.0 / 3.0, -3.5] {
            let near = [bits, bits * (1.0 + 1e-14) + 1e-14, bits * (1.0 - 1e-14) - 1e-14];
            assert!(near.iter().all(|near| rounded(*near) == rounded(bits)), "{bits}");
            assert!(rounded(bits) < bits && rounded(bits) > bits - 0.03, "{bits}");
        }
    }

    #[test]
    fn members_are_as_many_as_open_a_result() {
        let roster = Roster::new(["north", "south", "west"]).unwrap();
        let me = roster.named("north").unwrap();
        let of = |roster: &Roster, others: &[&str]| {
            let others: Vec<String> = others.iter().map(|&name| name.to_owned()).collect();
            members(roster, me, &others)
                .map(|members| members.iter().map(|party| party.number()).collect::<Vec<_>>())
        };
        assert_eq!(of(&roster, &[]).unwrap(), vec![1, 2, 3]);
        assert_eq!(of(&roster, &["west", "south"]).unwrap(), vec![1, 2, 3]);
        let two = roster.clone().with_threshold(2).unwrap();
        assert_eq!(of(&two, &["west"]).unwrap(), vec![1, 3]);
        for (roster, others, word) in [
            (&roster, &["south"][..], "opened by 3 of north, south, west"),
            (&two, &[], "name 1 other party by --with"),
            (&two, &["west", "south"], "opened by 2"),
            (&two, &["east"], "no party \"east\""),
            (&two, &["north"], "this party itself"),
        ] {
            let error = of(roster, others).unwrap_err();
            assert!(error.exit_code() == 2 && error.to_string().contains(word), "{error}");
        }
    }
}
