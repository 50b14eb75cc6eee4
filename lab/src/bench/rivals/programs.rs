//! What the programs of rivals hold, read from their sources: none of them has to be built for it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::bench::job::parties::PARTY_STEPS;
use crate::bench::values::Name;

/// Programs of rivals that run circuits.
const CIRCUITS: [&str; 4] =
    ["fhe-rs/src/bfv.rs", "lattigo/scheme.go", "python/seal_rival.py", "python/openfhe_rival.py"];
/// Programs of rivals that have steps of several parties.
const PARTIES: [&str; 2] = ["lattigo/parties.go", "python/openfhe_parties.py"];
/// A program in Python, its bindings, and the objects of it whose members come from them.
const BINDINGS: [(&str, &str, &[&str]); 4] = [
    (
        "python/seal_rival.py",
        "native/seal.cpp",
        &["seal", "evaluator", "encoder", "encryptor", "decryptor", "generator", "parameters", "context"],
    ),
    (
        "python/openfhe_rival.py",
        "native/openfhe.cpp",
        &["openfhe", "context", "parameters", "pair", "CryptoContext"],
    ),
    ("python/helib_rival.py", "native/helib.cpp", &["helib", "keys"]),
    ("python/hexl_rival.py", "native/hexl.cpp", &["native_hexl"]),
];

fn source(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../peers").join(file);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The members of objects called `owners` that a program in Python names.
fn members<'a>(text: &'a str, owners: &[&str]) -> BTreeSet<&'a str> {
    let part_of_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut found = BTreeSet::new();
    for (dot, _) in text.match_indices('.') {
        let (before, after) = (&text[..dot], &text[dot + 1..]);
        let owner = before.rsplit(|letter| !part_of_word(letter)).next().unwrap_or_default();
        let member = after.split(|letter| !part_of_word(letter)).next().unwrap_or_default();
        if owners.contains(&owner) && !member.is_empty() {
            found.insert(member);
        }
    }
    found
}

#[test]
fn programs_that_run_circuits_know_every_step() {
    for file in CIRCUITS {
        let text = source(file);
        let lacking =
            Name::ALL.map(Name::word).into_iter().filter(|word| !text.contains(&format!("\"{word}\"")));
        assert_eq!(lacking.collect::<Vec<_>>(), [""; 0], "{file}");
    }
}

#[test]
fn programs_of_several_parties_offer_every_step_or_say_why_not() {
    for file in PARTIES {
        let text = source(file);
        let lacking = PARTY_STEPS.into_iter().filter(|name| !text.contains(&format!("\"{name}\"")));
        assert_eq!(lacking.collect::<Vec<_>>(), [""; 0], "{file}");
    }
}

#[test]
fn bindings_have_what_programs_in_python_ask_for() {
    for (program, bindings, owners) in BINDINGS {
        let (program_text, bindings_text) = (source(program), source(bindings));
        let asked = members(&program_text, owners);
        assert!(!asked.is_empty(), "{program}: {owners:?} are not in it any more");
        let lacking = asked.into_iter().filter(|name| !bindings_text.contains(&format!("\"{name}\"")));
        assert_eq!(lacking.collect::<Vec<_>>(), [""; 0], "{bindings} lacks what {program} asks for");
    }
}

#[test]
fn members_are_found_by_their_owners() {
    let text = "self.evaluator.sub(a.b, c)\nevaluator.negate(x)\nother.add(1.5)\nmyevaluator.none()";
    assert_eq!(members(text, &["evaluator"]).into_iter().collect::<Vec<_>>(), ["negate", "sub"]);
}
