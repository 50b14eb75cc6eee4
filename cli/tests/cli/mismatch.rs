//! Type by parameters by level by key: whatever does not belong together is told from damage and from bad input, by code and words.

use std::fs;

use crate::common::Folder;

const PROGRAM: &str = "sum(x*y)";

/// A table, and for each name parameters, keys, the encrypted table and results.
fn folder() -> Folder {
    let folder = Folder::new("mismatch");
    let table: String = (0..50).map(|i| format!("{},{}\n", i % 7, i % 5)).collect();
    fs::write(folder.path("t.csv"), format!("x,y\n{table}")).unwrap();
    folder.fine("schema --table t.csv -o s.json");
    for (name, scheme) in [("bfv", "bfv"), ("bgv", "bgv"), ("ckks", "ckks")] {
        folder.fine(&format!("plan {PROGRAM} --schema s.json --scheme {scheme} -o {name}.params --no-time"));
        make(&folder, name, name);
    }
    // The same parameters and another key; another ring.
    make(&folder, "bfv", "twin");
    folder.fine("plan sum(x*y*x*y) --schema s.json --scheme bfv -o deep.params --no-time");
    make(&folder, "deep", "deep");
    folder
}

fn make(folder: &Folder, params: &str, name: &str) {
    folder.fine(&format!("keygen {params}.params -d {name} --for {PROGRAM} --schema s.json --quiet"));
    folder.fine(&format!("encrypt --keys {name}/public --table t.csv --schema s.json -o {name}.sz --quiet"));
    folder.fine(&format!("eval {PROGRAM} --keys {name}/eval {name}.sz -o {name}.out --quiet"));
    folder.fine(&format!(
        "encrypt --keys {name}/public --table t.csv --schema s.json -o {name}.parquet --quiet"
    ));
}

const OWNERS: [&str; 5] = ["bfv", "bgv", "ckks", "twin", "deep"];

#[test]
fn what_does_not_belong_together_has_its_code() {
    let folder = folder();
    let eval = |keys: &str, table: &str| format!("eval {PROGRAM} --keys {keys} {table} -o new.sz");
    for owner in OWNERS {
        // Other types: every other object in the place of a table, of results, of keys.
        for file in ["secret/secret.sz", "public/public.sz", "eval/relinearization.sz", "eval/galois.sz"] {
            folder.refused(&eval(&format!("{owner}/eval"), &format!("{owner}/{file}")), 3, &["expected"]);
            folder.refused(&format!("decrypt --keys {owner}/secret {owner}/{file}"), 3, &["expected"]);
        }
        folder.refused(&eval(&format!("{owner}/eval"), &format!("{owner}.out")), 3, &["expected", "table"]);
        for table in ["sz", "parquet"] {
            let code = if table == "sz" { 3 } else { 5 };
            folder.refused(&format!("decrypt --keys {owner}/secret {owner}.{table}"), code, &[]);
        }
        for other in OWNERS.iter().filter(|other| **other != owner) {
            // Other parameters and keys: tables and results of one owner with all that another has.
            for table in ["sz", "parquet"] {
                folder.refused(&eval(&format!("{other}/eval"), &format!("{owner}.{table}")), 3, &[]);
            }
            folder.refused(&format!("decrypt --keys {other}/secret {owner}.out"), 3, &[]);
            let twins = ["bfv", "twin"];
            if !(twins.contains(&owner) && twins.contains(other)) {
                let params = if *other == "twin" { "bfv" } else { other };
                for file in [
                    format!("{owner}.sz"),
                    format!("{owner}.parquet"),
                    format!("{owner}.out"),
                    format!("{owner}/eval/galois.sz"),
                ] {
                    folder.refused(&format!("check {file} --params {params}.params"), 3, &[]);
                }
            }
        }
        // Other levels: more products in a row than there are levels.
        let deep = format!("eval sum(x^9) --keys {owner}/eval {owner}.sz -o new.sz");
        folder.refused(&deep, 4, &["cannot be computed"]);
    }
    assert!(!folder.path("new.sz").exists());
    // A secret where a public object belongs, and the other way round.
    for (folder_of, from, to, command) in [
        (
            "public",
            "bfv/secret/secret.sz",
            "public.sz",
            "encrypt --keys wrong --table t.csv --schema s.json -o new.sz",
        ),
        ("secret", "bfv/public/public.sz", "secret.sz", "decrypt --keys wrong bfv.out"),
        ("eval", "bfv/eval/galois.sz", "relinearization.sz", "eval sum(x*y) --keys wrong bfv.sz -o new.sz"),
    ] {
        let _ = fs::remove_dir_all(folder.path("wrong"));
        fs::create_dir(folder.path("wrong")).unwrap();
        for entry in fs::read_dir(folder.path("bfv").join(folder_of)).unwrap() {
            let entry = entry.unwrap();
            fs::copy(entry.path(), folder.path("wrong").join(entry.file_name())).unwrap();
        }
        fs::copy(folder.path(from), folder.path("wrong").join(to)).unwrap();
        folder.refused(command, 3, &["expected"]);
    }
}
