//! Programs in CKKS with bootstraps through the command line, on a small insecure set: within the stated errors.

use std::fs;

use sunzi::circuits::bootstrap::BootstrapParameters;
use sunzi::rlwe::wire::{NoContext, store};

use crate::common::{Folder, json};

const FLAG: &str = "--insecure-for-research-only";
const ROWS: u32 = 40;

fn cell(row: u32) -> f64 {
    f64::from(row * 37 % 101) / 50.0 - 1.0
}

#[test]
fn deep_programs_are_planned_run_and_decrypted() {
    let whole = BootstrapParameters::insecure(9).unwrap();
    planned_run_and_decrypted("deep", &whole);
    // Plans that raise to nine levels of twelve store these.
    planned_run_and_decrypted("deep-lower", &whole.with_levels_left(9).unwrap());
    planned_run_and_decrypted("deep-real", &whole.with_real_slots().unwrap());
}

fn planned_run_and_decrypted(name: &str, parameters: &BootstrapParameters) {
    let folder = Folder::new(name);
    let lines: String = (0..ROWS).map(|row| format!("{:.2}\n", cell(row))).collect();
    fs::write(folder.path("t.csv"), format!("x\n{lines}")).unwrap();
    store(&NoContext, parameters, folder.path("job.sz")).unwrap();
    folder.fine("schema --table t.csv -o s.json");
    let program = "mean(tanh(2*tanh(2*tanh(2*x))));count(tanh(tanh(x))>0.3)";
    folder.fine(&format!("keygen job.sz --directory keys --for {program} --schema s.json -q {FLAG}"));
    folder.fine(&format!("encrypt --table t.csv --schema s.json --keys keys/public -o t.sz -q {FLAG}"));
    let planned = json(&folder.run(&format!("plan {program} --table t.sz --params job.sz --json {FLAG}")));
    assert_eq!(planned["scheme"].as_str(), Some("CKKS with bootstrapping"), "{planned}");
    assert!(planned.to_string().contains(parameters.name()), "{planned}");
    assert!(planned["bootstraps"]["count"].as_u64() > Some(2), "{planned}");
    assert!(planned["seconds"].as_f64() > Some(0.0), "{planned}");
    let plan = format!("plan {program} --table t.sz --params job.sz {FLAG}");
    assert!(folder.fine(&plan).contains("time         about "));
    assert!(!folder.fine(&format!("{plan} --no-time")).contains("time         about "));
    folder.fine(&format!("eval {program} --keys keys/eval t.sz -o r.sz -q {FLAG}"));
    let told = json(&folder.run(&format!("decrypt r.sz --keys keys/secret -q --json {FLAG}")));
    let near = |at: usize, expected: f64, most: f64| {
        let result = &told["results"][at];
        let number = |name: &str| result["number"][name].as_f64().unwrap_or_else(|| panic!("{told}"));
        let (value, error) = (number("value"), number("error"));
        assert!((value - expected).abs() <= error && error < most, "{expected}: {told}");
    };
    let deep = |x: f64| (2.0 * (2.0 * (2.0 * x).tanh()).tanh()).tanh();
    near(0, (0..ROWS).map(cell).map(deep).sum::<f64>() / f64::from(ROWS), 0.01);
    let above = (0..ROWS).filter(|&row| cell(row).tanh().tanh() > 0.3).count();
    near(1, above as f64, 3.0);
    let products = parameters.is_real().then_some("keys/eval/relinearization.sz");
    let files =
        ["t.sz", "r.sz", "keys/eval/bootstrapping.sz", "keys/eval/galois.sz", "keys/secret/secret.sz"];
    for file in files.into_iter().chain(products) {
        folder.fine(&format!("check {file} --params job.sz {FLAG}"));
    }
    assert!(folder.fine(&format!("inspect job.sz {FLAG}")).contains("parameters of CKKS with bootstrapping"));
    // Keys of another folder.
    folder.fine(&format!("keygen job.sz --directory others -q {FLAG}"));
    folder.refused(&format!("eval {program} --keys others/eval t.sz -o q.sz -q {FLAG}"), 3, &["key"]);
}

/// Checks that keys and tables of a real ring and of the whole one are told apart, and that damaged and missing files are named.
#[test]
fn files_of_a_real_ring_are_told_apart() {
    let folder = Folder::new("deep-real-files");
    let whole = BootstrapParameters::insecure(9).unwrap();
    store(&NoContext, &whole, folder.path("whole.sz")).unwrap();
    store(&NoContext, &whole.with_real_slots().unwrap(), folder.path("real.sz")).unwrap();
    let lines: String = (0..ROWS).map(|row| format!("{:.2}\n", cell(row))).collect();
    fs::write(folder.path("t.csv"), format!("x\n{lines}")).unwrap();
    folder.fine("schema --table t.csv -o s.json");
    let program = "mean(tanh(2*tanh(2*tanh(2*x))))";
    for kind in ["whole", "real"] {
        folder
            .fine(&format!("keygen {kind}.sz --directory {kind} --for {program} --schema s.json -q {FLAG}"));
        folder.fine(&format!(
            "encrypt --table t.csv --schema s.json --keys {kind}/public -o {kind}-t.sz -q {FLAG}"
        ));
    }
    folder.fine("params --scheme ckks --depth 1 --precision 20 -o ckks.sz");
    let check = |file: &str, kind: &str| format!("check {file} --params {kind}.sz {FLAG}");
    folder.refused(&check("real/eval/bootstrapping.sz", "whole"), 3, &["real"]);
    folder.refused(&check("whole/eval/bootstrapping.sz", "real"), 3, &["other"]);
    folder.refused(&check("real/eval/bootstrapping.sz", "ckks"), 3, &["--bootstrapping SET --real-slots"]);
    folder.refused(&check("real-t.sz", "whole"), 3, &["other"]);
    folder.refused(&check("whole/secret/secret.sz", "real"), 3, &["other"]);
    let eval = |table: &str| format!("eval {program} --keys real/eval {table} -o r.sz -q {FLAG}");
    folder.refused(&eval("whole-t.sz"), 3, &[]);
    let [keys, products] =
        ["bootstrapping", "relinearization"].map(|name| folder.path(&format!("real/eval/{name}.sz")));
    let whole_keys = fs::read(&keys).unwrap();
    let mut damaged = whole_keys.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    // A key of the whole ring alone, a file that ends early or goes on, and one with a wrong bit.
    let other = fs::read(folder.path("whole/eval/bootstrapping.sz")).unwrap();
    let more = [&whole_keys[..], &[0]].concat();
    for (bytes, code) in [
        (&other[..], 3),
        (&whole_keys[..middle], 5),
        (&whole_keys[..7], 5),
        (&more[..], 5),
        (&damaged[..], 5),
    ] {
        fs::write(&keys, bytes).unwrap();
        folder.refused(&eval("real-t.sz"), code, &[]);
        folder.refused(&check("real/eval/bootstrapping.sz", "real"), code, &[]);
    }
    fs::remove_file(&keys).unwrap();
    folder.refused(&eval("real-t.sz"), 6, &["eval"]);
    fs::write(&keys, &whole_keys).unwrap();
    // The key of products is of this secret, and there.
    folder.fine(&format!("keygen real.sz --directory others -q {FLAG}"));
    let own = fs::read(&products).unwrap();
    fs::copy(folder.path("others/eval/relinearization.sz"), &products).unwrap();
    folder.refused(&eval("real-t.sz"), 3, &["key"]);
    fs::remove_file(&products).unwrap();
    folder.refused(&eval("real-t.sz"), 6, &["eval"]);
    fs::write(&products, own).unwrap();
    folder.fine(&eval("real-t.sz"));
}
