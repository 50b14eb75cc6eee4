//! Tables of several parties through files: planned, encrypted row by row by each, computed together.

use std::collections::BTreeMap;
use std::fs;
use std::io::BufReader;
use std::ops::ControlFlow;
use std::thread;
use std::time::Duration;

use sunzi::parties::driver::{Driver, channels};
use sunzi::parties::keys::{JointKeys, KeyPlan, KeySetup};
use sunzi::parties::{MemoryStore, Roster};
use sunzi::program::contexts::{Agreed, Contexts, GALOIS, PARAMETERS, PUBLIC, RELINEARIZATION};
use sunzi::program::results::ResultsReader;
use sunzi::program::run::Estimate;
use sunzi::program::{NodeId, Opened, Plan, ProgramError};
use sunzi::rlwe::wire::{WireError, store};
use sunzi::rlwe::{SecretKey, SharingPolicy, randomness};

use crate::common::{Folder, json};

const ROWS: i64 = 30;
/// Rows of each party.
const PARTS: [[i64; 2]; 3] = [[0, 7], [7, 19], [19, ROWS]];
const PROGRAM: &str = "sum(x*y); mean(x) by g; x+y";

fn csv(rows: [i64; 2]) -> String {
    let row = |i: i64| format!("{},{},{}\n", i % 7, i % 5 + 3, if i % 3 == 0 { "a" } else { "b" });
    format!("x,y,g\n{}", (rows[0]..rows[1]).map(row).collect::<String>())
}

/// Parts of a table, a plan and parameters for three parties, and keys that they make together.
fn prepared(name: &str, scheme: &str, more: &[&str]) -> (Folder, Plan, Vec<SecretKey>) {
    let folder = Folder::new(name);
    fs::write(folder.path("t.csv"), csv([0, ROWS])).unwrap();
    for (at, rows) in PARTS.into_iter().enumerate() {
        fs::write(folder.path(&format!("{at}.csv")), csv(rows)).unwrap();
    }
    folder.fine("schema --table t.csv -o s.json");
    let mut arguments = vec!["plan", PROGRAM, "--schema", "s.json", "--scheme", scheme, "--parties", "3"];
    arguments.extend(["--share", "60", "-o", "job.params", "--json"]);
    arguments.extend(more);
    let text = folder.fine_of(&arguments);
    fs::write(folder.path("job.plan"), &text).unwrap();
    let plan: Plan = serde_json::from_str(&text).unwrap();
    let secrets = make_keys(&folder, &plan);
    (folder, plan, secrets)
}

fn make_keys(folder: &Folder, plan: &Plan) -> Vec<SecretKey> {
    let contexts = Contexts::load(&folder.path("job.params")).unwrap();
    let rlwe = contexts.rlwe();
    let roster = Roster::new(["north", "south", "west"]).unwrap();
    let levels = contexts.joint_key_levels(plan).unwrap();
    let keys = KeyPlan::new(rlwe, levels.relinearization, levels.galois).unwrap();
    let setup = KeySetup::new(rlwe.clone(), roster.clone(), keys, [1; 32]).unwrap();
    let made: Vec<JointKeys> = thread::scope(|scope| {
        let begin = |(me, mut link): (_, channels::Link)| {
            let setup = &setup;
            scope.spawn(move || {
                let mut rng = randomness::from_os().unwrap();
                let round = setup.begin(me, MemoryStore::default(), &mut rng).unwrap();
                let mut quietly = |_| ControlFlow::Continue(());
                let mut driver = Driver::new(&mut link, Duration::from_secs(300), &mut quietly);
                driver.generate_keys(round, &mut rng).unwrap()
            })
        };
        let running: Vec<_> = roster.parties().zip(channels::links(&roster)).map(begin).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for party in ["public", "eval"] {
        fs::create_dir(folder.path(party)).unwrap();
        plan.parameters.store(&folder.path(party).join(PARAMETERS)).unwrap();
    }
    let (first, eval) = (&made[0], folder.path("eval"));
    store(rlwe, &first.public, folder.path("public").join(PUBLIC)).unwrap();
    store(rlwe, first.relinearization.as_ref().unwrap(), eval.join(RELINEARIZATION)).unwrap();
    store(rlwe, &first.galois, eval.join(GALOIS)).unwrap();
    made.into_iter().map(|keys| keys.secret).collect()
}

fn encrypt(folder: &Folder, more: &str) {
    for (at, [first, end]) in PARTS.into_iter().enumerate() {
        let made =
            json(&folder.run(&format!(
                "encrypt {at}.csv --keys public {more} --rows {first}..{end} -o {at}.sz --json"
            )));
        assert_eq!((&made["rows"], &made["part"]), (&(end - first).into(), &serde_json::json!([first, end])));
        folder.fine(&format!("check {at}.sz --params job.params"));
        folder.fine(&format!("inspect {at}.sz"));
    }
}

/// Error of a file of results.
#[derive(Debug)]
struct Failed;

impl From<WireError> for Failed {
    fn from(error: WireError) -> Self {
        panic!("{error}")
    }
}

impl From<ProgramError> for Failed {
    fn from(error: ProgramError) -> Self {
        panic!("{error}")
    }
}

/// Opens a file of results by the shares of all parties: numbers and groups, and the first column.
fn opened(folder: &Folder, file: &str, plan: &Plan, secrets: &[SecretKey]) -> (Vec<f64>, Vec<f64>) {
    let contexts = Contexts::load(&folder.path("job.params")).unwrap();
    let open = || {
        let file = fs::File::open(folder.path(file)).unwrap();
        ResultsReader::open(&contexts, BufReader::new(file)).unwrap()
    };
    let bits = if plan.parameters.plain_moduli().is_empty() { 10 } else { 40 };
    let agreed = Agreed::new([plan.clone()], SharingPolicy::new(bits, 60).unwrap()).unwrap();
    let (mut reader, mut shares) = (open(), Vec::new());
    let mut rng = randomness::from_os().unwrap();
    while let Some(subjects) = reader.next_subjects::<Failed>(&agreed).unwrap() {
        for subject in subjects {
            let own =
                secrets.iter().map(|own| subject.decryption.share(contexts.rlwe(), own, &mut rng).unwrap());
            shares.push(own.collect::<Vec<_>>());
        }
    }
    let codec = contexts.codec(&plan.layout).unwrap();
    let mut columns = Vec::new();
    let column = |_, _, cells: Vec<Estimate>| {
        columns.extend(cells.iter().map(|cell| cell.number.to_f64()));
        Ok(())
    };
    let own = |place: u64| Ok(shares[place as usize].clone());
    let totals: BTreeMap<NodeId, Estimate> =
        open().open_shares::<Failed>(&codec, &agreed, None, own, column).unwrap();
    let mut numbers = Vec::new();
    for (_, opened) in plan.program.finish(|id| totals.get(&id).cloned()) {
        match opened {
            Opened::Number(number) => numbers.push(number.unwrap().number.to_f64()),
            Opened::Groups(groups) => {
                numbers.extend(groups.into_iter().map(|(_, number)| number.unwrap().number.to_f64()));
            }
            Opened::Column(_) => {}
        }
    }
    (numbers, columns)
}

fn expected() -> (Vec<f64>, Vec<f64>) {
    let (x, y) = (|i: i64| (i % 7) as f64, |i: i64| (i % 5 + 3) as f64);
    let mean = |own: fn(i64) -> bool| {
        let rows: Vec<i64> = (0..ROWS).filter(|&i| own(i)).collect();
        rows.iter().map(|&i| x(i)).sum::<f64>() / rows.len() as f64
    };
    let dot = (0..ROWS).map(|i| x(i) * y(i)).sum();
    (vec![dot, mean(|i| i % 3 == 0), mean(|i| i % 3 != 0)], (0..ROWS).map(|i| x(i) + y(i)).collect())
}

fn near(got: &[f64], expected: &[f64], error: f64) {
    assert_eq!(got.len(), expected.len());
    assert!(got.iter().zip(expected).all(|(a, b)| (a - b).abs() <= error), "{got:?}, expected {expected:?}");
}

#[test]
fn rows_of_all_are_computed_together() {
    // CKKS has room for fewer bits of distance.
    let few = ["--statistical-bits", "10"];
    for (scheme, more, error) in [("bfv", &few[..0], 1e-9), ("ckks", &few[..], 0.05)] {
        let (folder, plan, secrets) = prepared(&format!("parts-{scheme}"), scheme, more);
        encrypt(&folder, "--schema s.json");
        let eval = |tables: &str, out: &str| {
            let tables: Vec<&str> = tables.split(' ').collect();
            let mut arguments = vec!["eval", PROGRAM, "--keys", "eval"];
            arguments.extend(tables);
            arguments.extend(["-o", out, "-q"]);
            folder.run_of(&arguments)
        };
        let output = eval("1.sz 0.sz 2.sz", "out.sz");
        assert_eq!(output.status.code(), Some(0), "{}", crate::common::stderr(&output));
        let (numbers, columns) = opened(&folder, "out.sz", &plan, &secrets);
        near(&numbers, &expected().0, error);
        near(&columns, &expected().1, error);
        // The order of the parts does not matter, and the same run gives the same bytes.
        assert_eq!(eval("0.sz 1.sz 2.sz", "again.sz").status.code(), Some(0));
        assert!(fs::read(folder.path("out.sz")).unwrap() == fs::read(folder.path("again.sz")).unwrap());

        let run = "eval sum(x) --keys eval -o o.sz";
        folder.refused(&format!("{run} 0.sz 2.sz"), 2, &["rows", "7..19 in none"]);
        folder.refused(&format!("{run} 1.sz"), 2, &["rows", "0..7 in none"]);
        folder.refused(&format!("{run} 0.sz 1.sz 1.sz"), 2, &["7..19 in \"1.sz\" and in \"1.sz\""]);
        folder.refused(&format!("{run} 0.sz 1.sz 2.sz 2.sz"), 2, &["at most 3"]);
    }
}

#[test]
fn rows_that_are_not_those_of_the_table_are_refused() {
    let (folder, _, _) = prepared("parts-refused", "bfv", &[]);
    let run = |rows: &str, more: &str| format!("encrypt 0.csv --keys public --rows {rows} -o o.sz{more}");
    folder.refused(&run("0..8", " --schema s.json"), 2, &["--rows 0..8 has 8 rows", "the table 7 rows"]);
    folder.refused(&run("24..31", " --schema s.json"), 2, &["beyond the 30 rows"]);
    folder.refused(&run("0..7", ""), 2, &["--schema or --plan"]);
    folder.refused(&run("7..0", " --schema s.json"), 2, &["100..250"]);
    folder.refused("encrypt 0.csv --keys public --rows 0..7 --schema s.json -o o.parquet", 2, &["Parquet"]);
    // Parameters of one holder take no parts.
    folder.fine("params --depth 1 --plain-bits 20 --rotations 12 -o one.params");
    folder.fine("keygen one.params -d keys -q");
    let one = "encrypt 0.csv --keys keys/public --rows 0..7 --schema s.json -o o.sz";
    folder.refused(one, 4, &["--rows is for several parties", "sunzi plan --parties"]);
    // Several parties need room for their shares, and cannot make keys of look-ups.
    let plan = "plan sum(x) --schema s.json --no-time --parties 3";
    let output = folder.run(plan);
    assert_eq!(output.status.code(), Some(2), "{}", crate::common::stderr(&output));
    folder.refused(&format!("{plan} --share 5 --scheme integers"), 4, &["3 parties cannot make together"]);
    folder.refused(
        &format!("{plan} --share 5 --packing always"),
        4,
        &["other slots hold sums of fewer rows"],
    );
    folder.refused("plan median(x) --schema s.json --no-time --parties 2 --share 5", 4, &["2 parties"]);
}
