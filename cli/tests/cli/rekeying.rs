//! Tables and results brought from an old key to a new one: `sunzi rekey`.

use std::fs;

use crate::common::{Folder, json, stderr};

/// Largest number in a column: sums of products of the ends of a range are as large as they get.
const END: i64 = 1_000_000_007;

/// A folder with a table at the ends of its ranges, parameters of a program in a scheme, and keys of an old and a new owner.
fn folder(name: &str, program: &str, scheme: &str) -> Folder {
    let folder = Folder::new(name);
    let ends = [-END, END, -1, 0, 1];
    let rows: String =
        (0..60).map(|i| format!("{},{},{}\n", ends[i % 5], ends[i / 5 % 5], ["a", "b"][i % 2])).collect();
    fs::write(folder.path("t.csv"), format!("x,y,z\n{rows}")).unwrap();
    folder.fine("schema t.csv -o s.json");
    let plan = ["plan", program, "--schema", "s.json", "--scheme", scheme, "--no-time", "-o", "p.sz"];
    // Levels of BGV have no noise to spare unless a plan leaves room behind the computation.
    let room = ["--reencryptions", "1", "--statistical-bits", "1", "--queries", "1"];
    folder.fine_of(&[&plan[..], if scheme == "bgv" { &room } else { &[] }].concat());
    for owner in ["old", "new"] {
        keygen(&folder, owner, program);
    }
    rekeying(&folder, "old", "new");
    folder
}

fn keygen(folder: &Folder, owner: &str, program: &str) {
    folder.fine_of(&["keygen", "p.sz", "-d", owner, "--for", program, "--schema", "s.json", "-q"]);
}

/// Makes the folder with the key from one owner to another.
fn rekeying(folder: &Folder, from: &str, to: &str) {
    folder.fine(&format!("rekey key --keys {from}/secret --to {to}/secret -d {from}-{to}"));
}

fn eval(folder: &Folder, owner: &str, program: &str, [table, results]: [&str; 2]) {
    let keys = format!("{owner}/eval");
    folder.fine_of(&["eval", program, "--keys", &keys, table, "-o", results, "--force", "-q"]);
}

fn opened(folder: &Folder, owner: &str, results: &str) -> serde_json::Value {
    json(&folder.run(&format!("decrypt {results} --keys {owner}/secret --json -q")))["results"].clone()
}

#[test]
fn exact_tables_and_results_are_exact_under_the_new_key() {
    let program = "sum(x*y);x+y;sum(x) by z";
    for scheme in ["bfv", "bgv"] {
        let folder = folder(&format!("rekey-{scheme}"), program, scheme);
        // Clear columns take other operations, which parameters of BGV are made for.
        let clear = if scheme == "bfv" { " --clear z" } else { "" };
        for party in ["public", "secret"] {
            folder
                .fine(&format!("encrypt t.csv --keys old/{party} --schema s.json -o t.sz{clear} --force -q"));
            eval(&folder, "old", program, ["t.sz", "r.sz"]);
            let own = opened(&folder, "old", "r.sz");
            // Tables are computed on under the new key, and results are opened by it.
            folder.fine("rekey run t.sz --keys old-new -o t-new.sz --force -q");
            folder.fine("check t-new.sz --params p.sz");
            eval(&folder, "new", program, ["t-new.sz", "r-new.sz"]);
            assert_eq!(opened(&folder, "new", "r-new.sz"), own, "{scheme} {party}");
            let told = folder.fine("rekey run r.sz --keys old-new -o handed.sz --force -q");
            assert!(told.contains("ciphertexts for key"), "{told}");
            assert_eq!(opened(&folder, "new", "handed.sz"), own, "{scheme} {party}");
            folder.refused("decrypt handed.sz --keys old/secret", 3, &["handed.sz", "key"]);
        }
        // A lifetime of rotations: to and fro twenty times.
        let own = opened(&folder, "old", "r.sz");
        rekeying(&folder, "new", "old");
        let mut file = "r.sz".to_owned();
        for turn in 0..20 {
            let (keys, made) = (["old-new", "new-old"][turn % 2], format!("turn{turn}.sz"));
            folder.fine(&format!("rekey run {file} --keys {keys} -o {made} -q"));
            file = made;
        }
        assert_eq!(opened(&folder, "old", &file), own, "{scheme}");
    }
}

#[test]
fn real_results_stay_within_their_stated_error() {
    let program = "mean(x); x*y; std(y)";
    let folder = folder("rekey-ckks", program, "ckks");
    folder.fine("encrypt t.csv --keys old/public --schema s.json -o t.sz -q");
    eval(&folder, "old", program, ["t.sz", "r.sz"]);
    folder.fine("rekey run r.sz --keys old-new -o handed.sz -q");
    folder.fine("rekey run t.sz --keys old-new -o t-new.sz -q");
    eval(&folder, "new", program, ["t-new.sz", "r-new.sz"]);
    let clear: Vec<[f64; 2]> = fs::read_to_string(folder.path("t.csv"))
        .unwrap()
        .lines()
        .skip(1)
        .map(|line| {
            let mut cells = line.split(',').map(|cell| cell.parse().unwrap_or(0.0));
            [cells.next().unwrap(), cells.next().unwrap()]
        })
        .collect();
    for results in ["handed.sz", "r-new.sz"] {
        let opened = opened(&folder, "new", results);
        let within = |told: &serde_json::Value, truth: f64| {
            let number = |name: &str| told[name].as_f64().unwrap_or_else(|| panic!("{name} of {told}"));
            assert!((number("value") - truth).abs() <= number("error"), "{results}: {told}, not {truth}");
        };
        let mean = clear.iter().map(|[x, _]| x).sum::<f64>() / clear.len() as f64;
        within(&opened[0]["number"], mean);
        let rows = opened[1]["rows"].as_array().unwrap();
        assert_eq!(rows.len(), clear.len());
        rows.iter().zip(&clear).for_each(|(row, [x, y])| within(row, x * y));
    }
}

#[test]
fn wide_and_packed_tables_are_rekeyed() {
    let folder = folder("rekey-tables", "sum(x*x*x)", "bfv");
    folder.fine("encrypt t.csv --keys old/secret --schema s.json -o t.sz -q");
    eval(&folder, "old", "sum(x*x*x)", ["t.sz", "r.sz"]);
    let own = opened(&folder, "old", "r.sz");
    folder.fine("rekey run t.sz --keys old-new -o t-new.sz -q");
    eval(&folder, "new", "sum(x*x*x)", ["t-new.sz", "r-new.sz"]);
    assert_eq!(opened(&folder, "new", "r-new.sz"), own);
    // A packed table.
    let packed = Folder::new("rekey-packed");
    fs::copy(folder.path("t.csv"), packed.path("t.csv")).unwrap();
    let plan = packed.fine("plan mean(x);var(y);corr(x,y) t.csv --packing always --no-time -o p.sz --json");
    fs::write(packed.path("plan.json"), plan).unwrap();
    for owner in ["old", "new"] {
        packed.fine(&format!("keygen p.sz -d {owner} --plan plan.json -q"));
    }
    rekeying(&packed, "old", "new");
    packed.fine("encrypt t.csv --keys old/public --plan plan.json -o t.sz -q");
    packed.fine("rekey run t.sz --keys old-new -o t-new.sz -q");
    for (owner, table, results) in [("old", "t.sz", "r.sz"), ("new", "t-new.sz", "r-new.sz")] {
        eval(&packed, owner, "mean(x);var(y);corr(x,y)", [table, results]);
    }
    assert_eq!(opened(&packed, "new", "r-new.sz"), opened(&packed, "old", "r.sz"));
    packed.fine("rekey run r.sz --keys old-new -o handed.sz -q");
    assert_eq!(opened(&packed, "new", "handed.sz"), opened(&packed, "old", "r.sz"));
}

#[test]
fn other_keys_and_files_are_refused_by_name() {
    let folder = folder("rekey-refused", "sum(x)", "bfv");
    folder.fine("encrypt t.csv --keys old/public --schema s.json -o t.sz -q");
    eval(&folder, "old", "sum(x)", ["t.sz", "r.sz"]);
    let run = |file: &str| format!("rekey run {file} --keys old-new -o out.sz");
    for file in ["t.sz", "r.sz"] {
        folder.fine(&format!("rekey run {file} --keys old-new -o new-{file} -q"));
        folder.refused(&run(&format!("new-{file}")), 3, &["key"]);
        let whole = fs::read(folder.path(file)).unwrap();
        let mut damaged = whole.clone();
        let at = damaged.len() - 100;
        damaged[at] ^= 1;
        for (name, bytes) in [("flipped.sz", &damaged[..]), ("short.sz", &whole[..whole.len() - 1])] {
            fs::write(folder.path(name), bytes).unwrap();
            folder.refused(&run(name), 5, &[name]);
        }
    }
    folder.refused(&run("old/public/public.sz"), 3, &["a public key", "only encrypted tables and results"]);
    folder.refused(&run("t.csv"), 5, &["no file of Sunzi"]);
    folder.fine("encrypt t.csv --keys old/public --schema s.json -o t.parquet -q");
    folder.refused(&run("t.parquet"), 3, &["a table in Parquet"]);
    folder.refused("rekey run t.sz --keys old/eval -o out.sz", 6, &["not the folder of a rekeying key"]);
    assert!(!folder.path("out.sz").exists());
    let key = "rekey key --keys old/secret -d other";
    folder.refused(&format!("{key} --to old/secret"), 3, &["old/secret", "make a new one"]);
    folder.refused(&format!("{key} --to new"), 2, &["give \"new/secret\""]);
    folder.refused("rekey key --keys old/secret --to new/secret -d old-new", 2, &["never overwritten"]);
    folder.fine("params --depth 1 -o q.sz");
    folder.fine("keygen q.sz -d dora -q --rotations none");
    folder.refused(&format!("{key} --to dora/secret"), 3, &["dora/secret"]);
    assert!(!folder.path("other").exists());
    // What enables another key is in the log of the old one, and passphrases may be two.
    let told = folder.fine("keys log old/secret");
    assert!(told.contains("make a rekeying key to"), "{told}");
    for (owner, word) in [("old", "one passphrase of twelve"), ("new", "another one of twelve")] {
        fs::write(folder.path(owner.to_owned().as_str()).with_extension("word"), word).unwrap();
        folder.fine(&format!("passphrase set {owner}/secret --new-passphrase-file {owner}.word"));
    }
    let open = "--to new/secret --passphrase-file old.word";
    folder.refused(&format!("{key} {open}"), 2, &["--to-passphrase-file"]);
    folder.fine(&format!("{key} {open} --to-passphrase-file new.word"));
    // Both keys are known by their kinds, and a rekeying key is no secret.
    let inspected = json(&folder.run("inspect old-new/rekeying.sz --json"));
    assert_eq!(
        (inspected["object"].as_str(), inspected["secret"].as_bool()),
        (Some("a rekeying key"), Some(false))
    );
    folder.fine("check old-new/rekeying.sz --params p.sz");
    let other = folder.run("check old-new/rekeying.sz --params q.sz");
    assert_eq!(other.status.code(), Some(3), "{}", stderr(&other));
}

/// A plan of BGV without room computes on fresh tables alone: a rekeyed one is refused by its noise, never opened wrong, and results are rekeyed all the same.
#[test]
fn tables_without_room_are_refused_by_their_noise() {
    let (folder, program) = (folder("rekey-room", "sum(x*y);x+y", "bfv"), "sum(x*y);x+y");
    folder.fine(&format!("plan {program} --schema s.json --scheme bgv --no-time -o p.sz --force"));
    for owner in ["tight", "next"] {
        keygen(&folder, owner, program);
    }
    rekeying(&folder, "tight", "next");
    folder.fine("encrypt t.csv --keys tight/public --schema s.json -o t.sz -q");
    folder.fine("rekey run t.sz --keys tight-next -o t-new.sz -q");
    let eval_new = format!("eval {program} --keys next/eval t-new.sz -o r-new.sz -q");
    folder.refused(&eval_new, 1, &["t-new.sz", "bits more noise than decrypts"]);
    eval(&folder, "tight", program, ["t.sz", "r.sz"]);
    folder.fine("rekey run r.sz --keys tight-next -o handed.sz -q");
    assert_eq!(opened(&folder, "next", "handed.sz"), opened(&folder, "tight", "r.sz"));
}
