//! Tests of programs on tables of several parties: each encrypts rows of its own, all of them or a quorum open the results.

mod hospitals;
mod refused;

use std::collections::BTreeMap;

use chacha20::ChaCha20Rng;
use chacha20::rand_core::SeedableRng;
use sunzi_program::analysis::{Options, Plan, SchemeChoice};
use sunzi_program::contexts::{Agreed, ChunkPart, Codec, Contexts, Encrypted, EncryptionKey};
use sunzi_program::results::{Description, ResultsDigest, ResultsReader, ResultsWriter};
use sunzi_program::run::{Answer, Cells, Input, MISSING_LABEL, MISSING_UNIT, Table, evaluate};
use sunzi_program::schema::CELLS;
use sunzi_program::{Column, Kind, NodeId, Program, ProgramError, Schema};
use sunzi_rlwe::joint::DecryptionShare;
use sunzi_rlwe::security::accepting_insecure;
use sunzi_rlwe::{PublicKey, SecretKey, SharingPolicy};

use self::hospitals::Hospitals;
use crate::common::{Draw, schema, table};
use crate::encrypted::{Columns, Failed, compare_opened, options, rows_of, taken};

const SCHEMES: [SchemeChoice; 3] = [SchemeChoice::Bfv, SchemeChoice::Bgv, SchemeChoice::Ckks];

fn policy() -> SharingPolicy {
    SharingPolicy::new(10, 64).unwrap()
}

fn of_parties(scheme: SchemeChoice, parties: u32) -> Options {
    Options { parties, precision: 10, sharing: Some(policy()), ..options(scheme, 10) }
}

/// Cuts rows into as many ranges as parties, of which some may be empty.
fn cut(draw: &mut Draw, rows: usize, parties: u32) -> Vec<std::ops::Range<usize>> {
    let mut ends: Vec<usize> = (1..parties).map(|_| draw.below(rows as u64 + 1) as usize).collect();
    ends.extend([0, rows]);
    ends.sort_unstable();
    ends.windows(2).map(|pair| pair[0]..pair[1]).collect()
}

/// Encrypts one input of a chunk as all parties together: each its own rows.
fn encrypted(
    codec: &Codec,
    (table, parts): (&Table, &[std::ops::Range<usize>]),
    (column, label): (usize, Option<usize>),
    chunk: usize,
    (public, rng): (&PublicKey, &mut ChaCha20Rng),
) -> Encrypted {
    let schema = table.schema();
    let mut sum: Option<Encrypted> = None;
    for part in parts {
        let (place, rows) = ChunkPart::of(codec.layout(), chunk, part);
        let cells = rows_of_any(table, rows).remove(column);
        let key = EncryptionKey::Public(public);
        let own = codec.encrypt_part((&schema.columns[column], label), &cells, place, key, rng).unwrap();
        sum = Some(match sum {
            None => own,
            Some(sum) => codec.contexts().add_rows(&sum, &own).unwrap(),
        });
    }
    sum.unwrap()
}

/// Returns the cells of some rows, which may be none.
fn rows_of_any(table: &Table, rows: std::ops::Range<usize>) -> Vec<Cells> {
    let count = table.schema().columns.len();
    if rows.is_empty() {
        let none = |at| match table.cells(at).unwrap() {
            Cells::Units(_) => Cells::Units(Vec::new()),
            Cells::Reals(_) => Cells::Reals(Vec::new()),
            Cells::Labels(_) => Cells::Labels(Vec::new()),
            Cells::Unknown => Cells::Unknown,
        };
        return (0..count).map(none).collect();
    }
    let own = rows_of(table, rows);
    (0..count).map(|at| own.cells(at).unwrap().clone()).collect()
}

type Inputs = BTreeMap<(NodeId, usize), Input>;

/// Returns all that a run reads.
fn inputs(plan: &Plan, codec: &Codec, table: &Table, draw: &mut Draw, hospitals: &mut Hospitals) -> Inputs {
    let parts = cut(draw, plan.layout.rows, hospitals.parties);
    let mut all = Inputs::new();
    for id in plan.program.used() {
        let node = plan.program.graph().node(id).unwrap();
        let Some(column) = node.column() else { continue };
        for chunk in 0..plan.layout.chunks {
            let input = if plan.program.schema().columns[column].encrypted {
                let key = (&hospitals.keys.public, &mut hospitals.rng);
                Input::Encrypted(encrypted(codec, (table, &parts), (column, node.label()), chunk, key))
            } else {
                let start = chunk * plan.layout.span;
                let rows = start..start + plan.layout.rows_of(chunk);
                Input::Clear(rows_of_any(table, rows).remove(column))
            };
            all.insert((id, chunk), input);
        }
    }
    all
}

/// Runs a plan, and gives each answer in the order of a file.
fn run(plan: &Plan, codec: &Codec, hospitals: &Hospitals, all: &Inputs, put: &mut dyn FnMut(&Answer)) {
    let input = |id, chunk| Ok(all[&(id, chunk)].clone());
    let column = |_, _, answer: Answer| {
        put(&answer);
        Ok(())
    };
    let totals = evaluate(plan, codec, &hospitals.evaluation(), input, column);
    let totals = totals.unwrap_or_else(|error| panic!("{error}\n{plan}"));
    totals.values().for_each(put);
}

fn file(plan: &Plan, codec: &Codec, hospitals: &Hospitals, all: &Inputs) -> Vec<u8> {
    let mut file = Vec::new();
    let description = Description::of(plan).unwrap();
    let key = hospitals.keys.public.id();
    let mut writer = ResultsWriter::new(codec.contexts(), key, description, &mut file).unwrap();
    run(plan, codec, hospitals, all, &mut |answer| writer.put(answer).unwrap());
    file
}

/// Opens a file by shares, and compares what is opened with the reference.
fn check(plan: &Plan, table: &Table, hospitals: &mut Hospitals, file: &[u8]) {
    let contexts = Contexts::new(&plan.parameters).unwrap();
    let codec = contexts.codec(&plan.layout).unwrap();
    let agreed = Agreed::new([plan.clone()], policy()).unwrap();
    let (quorum, shares) = hospitals.shares(&contexts, file, &agreed);
    let mut columns = Columns::default();
    let mut reader = ResultsReader::open(&contexts, file).unwrap();
    let own = |place: u64| Ok(shares[place as usize].clone());
    let totals = reader.open_shares(&codec, &agreed, quorum.as_ref(), own, taken(&mut columns));
    compare_opened(plan, table, &totals.unwrap(), &columns);

    // One share less opens nothing.
    let mut reader = ResultsReader::open(&contexts, file).unwrap();
    let fewer = |place: u64| Ok(shares[place as usize][1..].to_vec());
    if let Some(first) = shares.first().filter(|first| !first.is_empty()) {
        assert_eq!(first.len(), hospitals.threshold());
        let nothing = |_, _, _| Ok::<(), String>(());
        let error = reader.open_shares::<Text>(&codec, &agreed, quorum.as_ref(), fewer, |a, b, c| {
            nothing(a, b, c).map_err(Text)
        });
        let Text(error) = error.unwrap_err();
        assert!(error.contains("shares"), "{error}");
    }
}

/// Text of an error.
#[derive(Debug)]
struct Text(String);

impl<E: std::error::Error> From<E> for Text {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

/// Plans random programs, runs them on rows of all parties and opens them by shares; returns how many ran.
fn random_programs(scheme: SchemeChoice, rounds: usize) -> usize {
    let mut ran = 0;
    for (parties, threshold) in [(2, None), (3, None), (5, None), (3, Some(2))] {
        let mut draw = Draw(scheme as u64 + 37 * u64::from(parties));
        for round in 0..rounds {
            let schema = schema(1 + draw.below(3 << 10));
            let text = format!("{}; {}", draw.statement(), draw.statement());
            let Ok(program) = Program::parse(&text, &schema) else { continue };
            let plan = match Plan::new(&program, &of_parties(scheme, parties)) {
                Ok(plan) => plan,
                Err(ProgramError::Refused(refusal)) => {
                    assert!(!refusal.reason.is_empty(), "{text}");
                    continue;
                }
                Err(error) => panic!("{text}: {error}"),
            };
            let json = serde_json::to_string(&plan).unwrap();
            let again: Plan = accepting_insecure(|| serde_json::from_str(&json)).unwrap();
            assert_eq!((again.parameters.parties(), &again.parameters), (parties, &plan.parameters));
            let contexts = Contexts::new(&plan.parameters).unwrap();
            let mut hospitals = Hospitals::new(&contexts, &plan, threshold, round as u8);
            let codec = contexts.codec(&plan.layout).unwrap();
            let table = table(&schema, &mut draw);
            let all = inputs(&plan, &codec, &table, &mut draw, &mut hospitals);
            let file = file(&plan, &codec, &hospitals, &all);
            check(&plan, &table, &mut hospitals, &file);
            ran += 1;
        }
    }
    ran
}

#[test]
fn random_programs_of_parties_in_bfv() {
    let ran = random_programs(SchemeChoice::Bfv, 2);
    assert!(ran >= 4, "{ran}");
}

#[test]
fn random_programs_of_parties_in_bgv() {
    let ran = random_programs(SchemeChoice::Bgv, 2);
    assert!(ran >= 4, "{ran}");
}

#[test]
fn random_programs_of_parties_in_ckks() {
    let ran = random_programs(SchemeChoice::Ckks, 2);
    assert!(ran >= 4, "{ran}");
}

#[test]
#[ignore = "long: a thousand programs"]
fn many_random_programs_of_parties() {
    let ran: usize = SCHEMES.iter().map(|&scheme| random_programs(scheme, 100)).sum();
    assert!(ran >= 600, "{ran}");
}

fn example(scheme: SchemeChoice, parties: u32, rows: u64, text: &str) -> (Plan, Contexts, Table) {
    let program = Program::parse(text, &schema(rows)).unwrap();
    let plan = Plan::new(&program, &of_parties(scheme, parties)).unwrap();
    let contexts = Contexts::new(&plan.parameters).unwrap();
    let table = table(program.schema(), &mut Draw(3));
    (plan, contexts, table)
}

/// A run of one's own gives the hash of a file that was made from the same tables by any number of threads, and no other.
#[test]
fn recomputed_results_are_the_same() {
    for scheme in SCHEMES {
        let text = "mean(x * y) by region; sum(z^2); x + y * z; sum(c)";
        let (plan, contexts, table) = example(scheme, 2, 1500, text);
        let codec = contexts.codec(&plan.layout).unwrap();
        let mut hospitals = Hospitals::new(&contexts, &plan, None, 1);
        let all = inputs(&plan, &codec, &table, &mut Draw(1), &mut hospitals);
        let with = |threads, all: &Inputs| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| file(&plan, &codec, &hospitals, all))
        };
        let (one, two) = (with(1, &all), with(2, &all));
        assert!(one == two, "{scheme:?}: bytes depend on the number of threads");

        let digest = |file: &[u8]| ResultsReader::open(&contexts, file).unwrap().digest().unwrap();
        let description = Description::of(&plan).unwrap();
        let key = hospitals.keys.public.id();
        let mut own = ResultsDigest::new(&contexts, key, &description).unwrap();
        run(&plan, &codec, &hospitals, &all, &mut |answer| own.put(answer).unwrap());
        assert_eq!(digest(&one), own.finish());

        // Other ciphertexts of the same rows are other results.
        let others = inputs(&plan, &codec, &table, &mut Draw(1), &mut hospitals);
        let other = file(&plan, &codec, &hospitals, &others);
        assert_ne!(digest(&one), digest(&other));
        // So is an answer left out, and one that is twice there.
        let mut short = ResultsDigest::new(&contexts, key, &description).unwrap();
        let mut long = ResultsDigest::new(&contexts, key, &description).unwrap();
        let mut first = true;
        run(&plan, &codec, &hospitals, &all, &mut |answer| {
            if std::mem::take(&mut first) {
                long.put(answer).unwrap();
            } else {
                short.put(answer).unwrap();
            }
            long.put(answer).unwrap();
        });
        let (short, long) = (short.finish(), long.finish());
        assert!(short != digest(&one) && long != digest(&one) && short != long);
    }
}

/// Returns a table with padding that is not 0, and with missing cells.
fn with_missing_cells(rows: usize) -> Table {
    let columns = vec![
        Column::integer("a", 29, 77),
        Column::integer("b", -9, -2).with_missing(),
        Column::category("g", &["u", "v"]).with_missing(),
    ];
    let schema = Schema::new(rows as u64, columns).unwrap();
    let a = |row: usize| 29 + row as i64 % 49;
    let b = |row: usize| if row.is_multiple_of(5) { MISSING_UNIT } else { -2 - row as i64 % 8 };
    let g = |row: usize| if row.is_multiple_of(7) { MISSING_LABEL } else { row as u32 % 2 };
    let cells = vec![
        Cells::Units((0..rows).map(a).collect()),
        Cells::Units((0..rows).map(b).collect()),
        Cells::Labels((0..rows).map(g).collect()),
    ];
    Table::new(&schema, cells).unwrap()
}

/// The sum of parts is what one owner encrypts, slot by slot, padding, indicators and missing cells included.
#[test]
fn parts_add_up_to_the_table() {
    let rows = 1100;
    let table = with_missing_cells(rows);
    let schema = table.schema();
    for scheme in SCHEMES {
        let program = Program::parse("sum(a); sum(b); count(g == \"u\")", schema).unwrap();
        let plan = Plan::new(&program, &of_parties(scheme, 3)).unwrap();
        let contexts = Contexts::new(&plan.parameters).unwrap();
        let codec = contexts.codec(&contexts.layout(rows as u64)).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(2);
        let secret = SecretKey::generate(contexts.rlwe(), &mut rng).unwrap();
        let public = PublicKey::generate(contexts.rlwe(), &secret, &mut rng).unwrap();
        let last = codec.layout().chunks - 1;
        assert_eq!(ChunkPart::of(codec.layout(), last, &(0..rows)).0, ChunkPart::WHOLE);
        // The second part has no row of the last chunk, and the third the end of the first.
        let parts = [0..3, 3..500, 500..rows];
        for (at, column) in schema.columns.iter().enumerate() {
            let labels = match &column.kind {
                Kind::Category { labels } => (0..labels.len()).map(Some).collect(),
                _ if column.missing => vec![None, Some(CELLS)],
                _ => vec![None],
            };
            for label in labels {
                for chunk in 0..codec.layout().chunks {
                    let mut slots = |parts: &[std::ops::Range<usize>]| {
                        let key = (&public, &mut rng);
                        let sum = encrypted(&codec, (&table, parts), (at, label), chunk, key);
                        let slots = codec.decrypt(&sum, &secret).unwrap();
                        codec.cells(column, label, &slots, codec.layout().span).unwrap()
                    };
                    let (sum, whole) = (slots(&parts), slots(std::slice::from_ref(&(0..rows))));
                    match (sum, whole) {
                        (Cells::Reals(sum), Cells::Reals(whole)) => {
                            let off = sum.iter().zip(&whole).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                            assert!(off < 0.01, "{scheme:?} {} {label:?} {chunk}: {off}", column.name);
                        }
                        (sum, whole) => {
                            assert_eq!(sum, whole, "{scheme:?} {} {label:?} {chunk}", column.name)
                        }
                    }
                }
            }
        }
    }
}

/// Requests, answers and ledgers of the protocol open what is opened by shares alone.
#[test]
fn answers_to_requests_open_results() {
    for scheme in SCHEMES {
        let (plan, contexts, table) = example(scheme, 3, 900, "mean(x); sum(x * y) by region; x + y");
        let codec = contexts.codec(&plan.layout).unwrap();
        let mut hospitals = Hospitals::new(&contexts, &plan, None, 4);
        let all = inputs(&plan, &codec, &table, &mut Draw(2), &mut hospitals);
        let file = file(&plan, &codec, &hospitals, &all);
        let agreed = Agreed::new([plan.clone()], policy()).unwrap();
        let shares: Vec<Vec<DecryptionShare>> = hospitals.answers(&contexts, &file, &agreed);
        let mut columns = Columns::default();
        let mut reader = ResultsReader::open(&contexts, file.as_slice()).unwrap();
        let own = |place: u64| Ok(shares[place as usize].clone());
        let totals = reader.open_shares::<Failed>(&codec, &agreed, None, own, taken(&mut columns)).unwrap();
        compare_opened(&plan, &table, &totals, &columns);
    }
}
