//! Sizes and contents: what is said of files before and after they are made is what they have.

use std::fs;

use crate::common::{Folder, json};
use serde_json::Value;
use sunzi::rlwe::words::bytes;

/// Bytes of the files of evaluation keys in a folder.
fn on_disk(folder: &Folder, keys: &str) -> u64 {
    let len = |file: &str| fs::metadata(folder.path(&format!("{keys}/eval/{file}.sz"))).unwrap().len();
    len("relinearization") + len("galois")
}

/// The number of the plan is the number of `keygen` is the sum of the files, to the byte.
#[test]
fn plan_keygen_and_the_disk_say_the_same_bytes_of_keys() {
    let folder = Folder::new("sizes-keys");
    let rows: String = (0..3000).map(|i| format!("{},{},{}\n", i % 97, i % 89, i % 3)).collect();
    fs::write(folder.path("t.csv"), format!("x,y,g\n{rows}")).unwrap();
    folder.fine("schema --table t.csv --category g -o s.json");
    for (at, (program, options)) in [
        ("sum(x)", "--scheme bfv"),
        ("sum(x*y); mean(x) by g", "--scheme bgv"),
        ("sum(x^4)", "--scheme bgv"),
        ("sum(x^3*y)", "--scheme bfv"),
        ("mean(x); sum(sigmoid(x))", "--scheme ckks"),
        ("x + y", "--scheme ckks"),
        ("sum(x*y)", "--packing always"),
        ("sum(x*y)", "--scheme bfv --security 256"),
    ]
    .into_iter()
    .enumerate()
    {
        let (params, keys) = (format!("p{at}.sz"), format!("keys{at}"));
        let mut plan = vec!["plan", program, "--schema", "s.json", "--no-time", "-o", &params];
        plan.extend(options.split(' '));
        let planned = json(&folder.run_of(&[&plan[..], &["--json"]].concat()));
        fs::write(folder.path("plan.json"), planned.to_string()).unwrap();
        let made = json(&folder.run(&format!("keygen {params} -d {keys} --plan plan.json --json")));
        let told = on_disk(&folder, &keys);
        assert_eq!(
            (&planned["key_bytes"], &made["key_bytes"]),
            (&told.into(), &told.into()),
            "{program} {options}"
        );
        for file in made["files"].as_array().unwrap() {
            let name = file["file"].as_str().unwrap();
            let len = fs::metadata(folder.path(&format!("{keys}/{name}"))).unwrap().len();
            assert_eq!(file["bytes"], len, "{name}");
        }
        // People read the same number.
        let text = folder.fine_of(&[&plan[..], &["--force"]].concat());
        assert!(text.contains(&format!("keys         {} in files", bytes(told))), "{text}");
        let text = folder.fine(&format!("keygen {params} -d {keys}-text --plan plan.json -q"));
        assert!(text.contains(&format!(" and {} of keys for products and ", bytes(told))), "{text}");
        fs::remove_dir_all(folder.path(&keys)).unwrap();
        fs::remove_dir_all(folder.path(&format!("{keys}-text"))).unwrap();
    }
    // Keys that no plan asks for.
    for rotations in ["sums", "none", "1,2,-4,1"] {
        let made = json(&folder.run(&format!("keygen p0.sz -d {rotations} --rotations {rotations} --json")));
        assert_eq!(made["key_bytes"], on_disk(&folder, rotations), "{rotations}");
    }
}

fn inspected(folder: &Folder, file: &str) -> Value {
    let seen = json(&folder.run(&format!("inspect {file} --json")));
    let len = fs::metadata(folder.path(file)).unwrap().len();
    assert_eq!((&seen["bytes"], &seen["file_bytes"]), (&len.into(), &len.into()), "{file}");
    let text = folder.fine(&format!("inspect {file}"));
    assert!(text.contains(&format!("bytes        {len}")), "{text}");
    seen
}

#[test]
fn inspect_tells_parameters_truly() {
    let folder = Folder::new("sizes-parameters");
    for (options, object) in [
        ("--depth 1", "BFV parameters"),
        ("--plain-range 1000000000000", "BFV parameters of several plaintext moduli"),
        ("--scheme bgv", "BGV parameters"),
        ("--scheme ckks", "CKKS parameters"),
        ("--plain 2 --slots 100", "BFV parameters"),
    ] {
        folder.fine(&format!("params {options} -o p.sz --force"));
        let seen = inspected(&folder, "p.sz");
        assert_eq!((&seen["object"], &seen["objects"]), (&object.into(), &1.into()), "{options}");
        assert!(seen["security"].is_object() && seen["key"].is_null(), "{options}");
    }
}

/// Every kind of file is told by its own bytes and contents.
#[test]
fn inspect_tells_every_kind_of_file_truly() {
    let folder = Folder::new("sizes-inspect");
    let rows: String = (0..6000).map(|i| format!("{},{},{}\n", i % 97, i % 89, i % 3)).collect();
    fs::write(folder.path("t.csv"), format!("x,y,g\n{rows}")).unwrap();
    folder.fine("schema --table t.csv --category g -o s.json");
    let program = "sum(x * y); x + y; mean(x) by g";
    for scheme in ["bfv", "bgv", "ckks"] {
        let run = |line: &[&str]| folder.fine_of(line);
        run(&[
            "plan",
            program,
            "--schema",
            "s.json",
            "--scheme",
            scheme,
            "--no-time",
            "-o",
            "p.sz",
            "--force",
        ]);
        let keys = format!("keys-{scheme}");
        run(&["keygen", "p.sz", "-d", &keys, "--for", program, "--schema", "s.json", "-q"]);
        folder
            .fine(&format!("encrypt --keys {keys}/public --table t.csv --schema s.json -o t.sz --force -q"));
        run(&["eval", program, "--keys", &format!("{keys}/eval"), "t.sz", "-o", "r.sz", "--force", "-q"]);
        let key = inspected(&folder, &format!("{keys}/secret/secret.sz"))["key"].clone();
        for (file, object) in [
            ("secret/secret.sz", "a SECRET key"),
            ("secret/sharing.sz", "a sharing ledger"),
            ("public/public.sz", "a public key"),
            ("eval/relinearization.sz", "a relinearisation key"),
            ("eval/galois.sz", "Galois keys"),
        ] {
            let seen = inspected(&folder, &format!("{keys}/{file}"));
            assert_eq!((&seen["object"], &seen["key"]), (&object.into(), &key), "{scheme} {file}");
            assert_eq!(seen["secret"], file.starts_with("secret/"), "{scheme} {file}");
        }
        let rotations = inspected(&folder, &format!("{keys}/eval/galois.sz"))["count"].as_u64().unwrap();
        let text = folder.fine(&format!("check {keys}/eval/galois.sz --params p.sz"));
        assert!(text.contains(&format!("Galois keys, {rotations} in")), "{text}");
        let seen = inspected(&folder, "t.sz");
        assert_eq!((&seen["schema"]["rows"], &seen["key"]), (&6000.into(), &key));
        let name = scheme.to_uppercase();
        assert_eq!(seen["object"], format!("a table encrypted in {name}"));
        // Results are many objects: a description, and what was computed.
        let seen = inspected(&folder, "r.sz");
        assert_eq!((&seen["object"], &seen["key"]), (&"results of a program".into(), &key));
        assert!(seen["objects"].as_u64().unwrap() > 5, "{seen}");
        assert_eq!(seen["results"], serde_json::json!(["sum(x * y)", "x + y", "mean(x) by g"]));
        assert_eq!(seen["schema"]["rows"], 6000);
    }
}

/// A ledger tells what was shared, and Parquet and packed tables what they are.
#[test]
fn inspect_tells_ledgers_and_packed_tables_truly() {
    let folder = Folder::new("sizes-ledger");
    fs::write(folder.path("t.csv"), "x,g\n1,a\n2,b\n3,a\n").unwrap();
    folder.fine("schema --table t.csv -o s.json");
    folder.fine("plan sum(x) --schema s.json --scheme bfv --share 4 --no-time -o p.sz");
    folder.fine("keygen p.sz -d keys --for sum(x) --schema s.json -q");
    folder.fine("encrypt --keys keys/public --table t.csv --schema s.json -o t.sz -q");
    folder.fine("encrypt --keys keys/public --table t.csv --schema s.json -o t.parquet -q");
    folder.fine("eval sum(x) --keys keys/eval t.sz -o r.sz -q");
    assert!(inspected(&folder, "keys/secret/sharing.sz")["sharing"].is_null());
    folder.fine("decrypt --keys keys/secret r.sz --share 4 -q");
    let sharing = &inspected(&folder, "keys/secret/sharing.sz")["sharing"];
    assert_eq!(*sharing, serde_json::json!({ "used": 1, "queries": 4, "statistical_bits": 40 }));
    assert!(folder.fine("inspect keys/secret/sharing.sz").contains("shared       1 of 4 results"));
    let seen = inspected(&folder, "t.parquet");
    assert_eq!((&seen["object"], &seen["schema"]["rows"]), (&"a table encrypted in BFV".into(), &3.into()));
    let plan = folder.fine("plan sum(x*x) --schema s.json --packing always --longest-group 3 -o q.sz --json");
    fs::write(folder.path("plan.json"), plan).unwrap();
    folder.fine("keygen q.sz -d packed --plan plan.json -q");
    folder.fine("encrypt --keys packed/public --table t.csv --plan plan.json -o u.sz -q");
    let object = inspected(&folder, "u.sz")["object"].clone();
    assert!(object.as_str().unwrap().starts_with("a packed table encrypted in B"), "{object}");
}
