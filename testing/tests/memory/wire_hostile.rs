//! Hostile files: typed errors or objects that every operation survives, and no more memory than the file's bytes allow.

use std::collections::BTreeMap;
use std::process::Stdio;

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sunzi_testing::Figure;
use sunzi_testing::process::{again, alone};
use sunzi_testing::wire::{Specimen, alloc, crafted, every_specimen, mutation};

use crate::parties::party_specimens;

use crate::MEMORY;

/// Environment variable that gives a process its share of the specimens: memory is counted for a whole process, so only processes run in parallel.
const SHARE: &str = "SUNZI_SHARE_OF_MUTANTS";
const SHARES: usize = 2;
const MILLION: f64 = 1e6;
/// Text before the counts that a process prints.
const COUNTS: &str = "refused, accepted, most bytes, for a file of, parts in a million of memory and time: ";

/// Tally of mutants.
#[derive(Debug, Default)]
struct Tally {
    refused: usize,
    accepted: usize,
    /// Most bytes allocated beyond those of a mutant's own ceiling, with its length and name.
    worst: Option<(usize, usize, String)>,
    /// Largest fraction of its allowed memory that a mutant took; the next field is that of its allowed time with all operations.
    fullest: f64,
    slowest: f64,
    slow: String,
}

impl Tally {
    fn record(&self) {
        let mutants = self.refused + self.accepted;
        Figure::new(10, "mutated files with a panic or more memory than allowed")
            .cases(mutants, 10_000_000)
            .none_wrong(0);
        Figure::new(11, "accepted mutants with a panic in an operation")
            .cases(self.accepted, self.accepted)
            .none_wrong(0);
        if let Some((bytes, from, _)) = &self.worst {
            Figure::new(10, format!("most bytes allocated for a file, of {from} bytes"))
                .stated(*bytes as f64);
        }
        Figure::new(21, "seconds for a mutated file with every operation, over 1 s + 1 s/MB")
            .cases(mutants, 1_000_000)
            .at_most(self.slowest, 1.0);
        Figure::new(22, "bytes allocated for a mutated file, over four times its length and 1 MiB")
            .cases(mutants, 1_000_000)
            .at_most(self.fullest, 1.0);
    }

    fn time(&mut self, seconds: f64, len: usize, name: &str) {
        let part = seconds / alloc::seconds(len);
        if part > self.slowest {
            (self.slowest, self.slow) = (part, format!("{name}: {seconds} s for {len} bytes"));
        }
    }
}

/// Makes the specimens of all kinds, those of several parties among them.
fn all_specimens() -> Vec<Specimen> {
    let mut all = every_specimen().unwrap();
    all.extend(party_specimens().unwrap());
    all
}

/// Reads `count` mutants of every specimen, with every operation on every `operated`th that is accepted.
fn run(specimens: &[Specimen], count: usize, operated: usize, seed: u64) -> Tally {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut tally = Tally::default();
    for specimen in specimens {
        // Makes the tables of the first use.
        specimen.run(&specimen.bytes).unwrap();
        for _ in 0..count {
            let bytes = mutation::mutant(specimen, &mut rng);
            let before = MEMORY.current_usage();
            MEMORY.reset_peak_usage();
            let start = alloc::clock();
            let read = specimen.rewritten(&bytes);
            let used = MEMORY.peak_usage().saturating_sub(before);
            let ceiling = alloc::ceiling(bytes.len());
            assert!(used <= ceiling, "{}: {used} bytes for {}", specimen.name, bytes.len());
            tally.fullest = tally.fullest.max(used as f64 / ceiling as f64);
            if tally.worst.as_ref().is_none_or(|&(worst, ..)| used > worst) {
                tally.worst = Some((used, bytes.len(), specimen.name.clone()));
            }
            if read.is_err() {
                tally.refused += 1;
            } else {
                if tally.accepted % operated == 0 {
                    specimen.run(&bytes).unwrap();
                }
                tally.accepted += 1;
            }
            tally.time(alloc::clock() - start, bytes.len(), &specimen.name);
        }
    }
    tally
}

#[test]
fn mutants_are_refused_or_harmless() {
    alone("wire_hostile::mutants_are_refused_or_harmless", || {
        let specimens = all_specimens();
        let tally = run(&specimens, 30, 1, 1);
        tally.record();
        assert!(tally.refused > 0 && tally.accepted > 0, "{tally:?}");
    });
}

/// Checks whole files of every kind with parts that cost more than their bytes.
#[test]
fn crafted_files_end_in_their_time_and_memory() {
    alone("wire_hostile::crafted_files_end_in_their_time_and_memory", || {
        craft(false);
    });
}

#[test]
#[ignore = "long: three minutes"]
fn all_crafted_files_end_in_their_time_and_memory() {
    alone("wire_hostile::all_crafted_files_end_in_their_time_and_memory", || {
        craft(true);
    });
}

fn craft(thorough: bool) {
    let (mut tally, mut kinds) = (Tally::default(), BTreeMap::<String, [usize; 3]>::new());
    let (mut worst_json, mut accepted, mut known) = (0.0_f64, 0, String::new());
    let specimens = all_specimens();
    crafted(&specimens, thorough, |specimen, file| {
        if known != specimen.name {
            // Makes the tables of the first use.
            specimen.run(&specimen.bytes).unwrap();
            known.clone_from(&specimen.name);
        }
        let len = file.bytes.len();
        let before = MEMORY.current_usage();
        MEMORY.reset_peak_usage();
        let start = alloc::clock();
        let read = specimen.rewritten(&file.bytes).is_ok();
        let used = MEMORY.peak_usage().saturating_sub(before);
        // Operations take most of the time: of small files only some run them.
        accepted += usize::from(read);
        if read && (thorough || len > 1 << 18 || accepted % 16 == 0) {
            let _ = specimen.run(&file.bytes);
        }
        let took = alloc::clock() - start;
        if took > 0.1 || used > 4 << 20 {
            let times = used as f64 / len as f64;
            println!("{}: {len} bytes, read {read}, {took:.3} s, {used} bytes = {times:.1}", file.name);
        }
        tally.time(took, len, &file.name);
        let part =
            used as f64 / (if file.json { alloc::crafted_ceiling(len) } else { alloc::ceiling(len) }) as f64;
        let most = if file.json { &mut worst_json } else { &mut tally.fullest };
        if part > *most {
            *most = part;
            println!("{}: {used} bytes for {len} are {part:.3} of what is allowed", file.name);
        }
        let [count, whole, json] = kinds.entry(specimen.kind.to_string()).or_default();
        (*count, *whole, *json) = (*count + 1, *whole + usize::from(read), *json + usize::from(file.json));
    })
    .unwrap();
    println!("crafted files, accepted, of JSON: {kinds:#?}; slowest {}", tally.slow);
    for specimen in &specimens {
        let [count, ..] = kinds.get(&specimen.kind.to_string()).copied().unwrap_or_default();
        assert!(count >= 9, "{count} crafted files of {}", specimen.kind);
    }
    let tables = kinds.iter().filter(|(kind, _)| kind.contains("table"));
    assert_eq!(tables.filter(|(_, [_, accepted, _])| *accepted >= 4).count(), 6, "{kinds:?}");
    let all: usize = kinds.values().map(|[count, ..]| count).sum();
    let json: usize = kinds.values().map(|[_, _, json]| json).sum();
    Figure::new(21, "seconds for a crafted file with every operation, over 1 s + 1 s/MB")
        .cases(all, 40_000)
        .at_most(tally.slowest, 1.0);
    Figure::new(22, "bytes allocated for a crafted file, over four times its length and 1 MiB")
        .cases(all - json, 40_000)
        .at_most(tally.fullest, 1.0);
    Figure::new(22, "bytes allocated for a crafted file of JSON, over 24 times its length and 1 MiB")
        .cases(json, 1000)
        .at_most(worst_json, 1.0);
}

/// Adds the tallies of all shares, each in a process of its own.
#[test]
#[ignore = "long: a million mutants"]
fn a_million_mutants_are_refused_or_harmless() {
    let start = |share: usize| {
        let mut test = again("wire_hostile::share_of_a_million_mutants").unwrap();
        test.env(SHARE, share.to_string()).stdout(Stdio::piped()).spawn().unwrap()
    };
    let shares: Vec<_> = (0..SHARES).map(start).collect();
    let mut all = Tally::default();
    for share in shares {
        let output = share.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{text}");
        let counts = text.lines().find_map(|line| line.strip_prefix(COUNTS)).unwrap();
        let counts: Vec<usize> = counts.split_whitespace().map(|count| count.parse().unwrap()).collect();
        let [refused, accepted, bytes, from, memory, time] = counts[..] else { panic!("{text}") };
        all.refused += refused;
        all.accepted += accepted;
        all.worst = all.worst.max(Some((bytes, from, String::new())));
        all.fullest = all.fullest.max(memory as f64 / MILLION);
        all.slowest = all.slowest.max(time as f64 / MILLION);
    }
    all.record();
    assert!(all.refused + all.accepted >= 1_000_000);
}

#[test]
#[ignore = "long: a part of the test above, which starts it and names the part"]
fn share_of_a_million_mutants() {
    let Some(share) = std::env::var(SHARE).ok().and_then(|share| share.parse().ok()) else { return };
    let specimens = all_specimens();
    let count = 1_000_000_usize.div_ceil(specimens.len());
    let own: Vec<Specimen> = specimens.into_iter().skip(share).step_by(SHARES).collect();
    let tally = run(&own, count, 1, 2 + share as u64);
    println!("{tally:?}");
    let (bytes, from, _) = tally.worst.unwrap();
    let millionths = |part: f64| (part * MILLION).ceil() as u64;
    let (memory, time) = (millionths(tally.fullest), millionths(tally.slowest));
    println!("\n{COUNTS}{} {} {bytes} {from} {memory} {time}", tally.refused, tally.accepted);
}
