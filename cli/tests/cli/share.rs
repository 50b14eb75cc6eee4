//! Results that are given away: `sunzi decrypt --share`, and the ledger that counts them.

use std::fs;

use crate::common::{Folder, json, stderr, stdout};
use sunzi::rlwe::sharing::SharingLedger;
use sunzi::rlwe::wire::{NoContext, load};

const ROWS: i64 = 40;

/// A table of two columns, its schema, and keys for parameters that were made by these arguments.
fn prepared(name: &str, params: &[&str]) -> Folder {
    let folder = Folder::new(name);
    let table: String = (0..ROWS).map(|i| format!("{},{}\n", i % 7, i % 5)).collect();
    fs::write(folder.path("t.csv"), format!("x,y\n{table}")).unwrap();
    folder.fine("schema --table t.csv -o s.json");
    folder.fine_of(params);
    folder.fine("keygen job.params -d keys -q");
    folder.fine("encrypt --keys keys/public --table t.csv --schema s.json -o t.sz -q");
    folder
}

fn eval(folder: &Folder, program: &str, out: &str) {
    folder.fine_of(&["eval", program, "--keys", "keys/eval", "t.sz", "-o", out, "-q"]);
}

fn used(folder: &Folder) -> u64 {
    let ledger: SharingLedger = load(&NoContext, folder.path("keys/secret/sharing.sz")).unwrap();
    ledger.used()
}

fn sum(of: impl Fn(i64) -> i64) -> i64 {
    (0..ROWS).map(of).sum()
}

#[test]
fn a_ledger_beside_the_key_counts_exact_results() {
    let params = "params --depth 4 --plain-bits 20 --rotations 12 -o job.params";
    let folder = prepared("share-bfv", &params.split(' ').collect::<Vec<_>>());
    eval(&folder, "sum(x*y)", "one.sz");
    eval(&folder, "sum(x);sum(y)", "two.sz");
    let dot = format!("sum(x*y): {}\n", sum(|i| (i % 7) * (i % 5)));
    let share = "decrypt --keys keys/secret --share 4 --statistical-bits 40";
    let output = folder.run(&format!("{share} one.sz"));
    assert_eq!((stdout(&output), output.status.code()), (dot.clone(), Some(0)), "{}", stderr(&output));
    assert!(stderr(&output).contains("1 of the 4"), "{}", stderr(&output));
    // Every command is a process of its own: what was counted is in the file.
    assert_eq!(used(&folder), 1);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(folder.path("keys/secret/sharing.sz")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let early = fs::read(folder.path("keys/secret/sharing.sz")).unwrap();
    assert_eq!(folder.fine(&format!("{share} two.sz --csv -q")).lines().count(), 3);
    assert_eq!(used(&folder), 3);
    // Results that take more than is left are not begun.
    folder.refused(&format!("{share} two.sz"), 4, &["take 2", "1 of the 4", "sunzi keygen"]);
    assert_eq!(used(&folder), 3);
    // A promise that was made once stays.
    folder.refused("decrypt --keys keys/secret --share 5 one.sz", 2, &["--share 4", "does not change"]);
    // Results of another program are refused, those of the agreed one shared.
    let agreed = |program: &str| format!("{share} one.sz --for {program} --schema s.json");
    folder.refused(&agreed("sum(x)"), 3, &["not the results"]);
    assert_eq!(folder.fine(&agreed("sum(x*y)")), dot);
    folder.refused(&format!("{share} one.sz"), 4, &["0 of the 4", "sunzi keygen"]);
    // Without --share nothing is counted.
    assert_eq!(folder.fine("decrypt --keys keys/secret one.sz"), dot);
    assert_eq!(used(&folder), 4);

    // A ledger of another key is refused, and one that is damaged.
    folder.fine("keygen job.params -d others -q --rotations none");
    fs::copy(folder.path("keys/secret/sharing.sz"), folder.path("others/secret/sharing.sz")).unwrap();
    folder.fine("encrypt --keys others/public --table t.csv --schema s.json -o t.sz --force -q");
    folder.fine("eval x+y --keys others/eval t.sz -o others.sz -q");
    let others = "decrypt --keys others/secret others.sz --share 4 --statistical-bits 40";
    folder.refused(others, 3, &["belongs to key"]);
    fs::write(folder.path("others/secret/sharing.sz"), &early[..early.len() - 1]).unwrap();
    folder.refused(others, 5, &["sharing.sz"]);
    folder.refused("decrypt --keys keys/secret one.sz --share 0", 2, &["1 to 4294967296"]);
    folder.refused("decrypt --keys keys/secret one.sz --statistical-bits 20", 2, &["--share"]);
}

#[test]
fn parameters_without_room_say_what_has_some() {
    let params = ["plan", "x+y", "--table", "t.csv", "--scheme", "bfv", "--no-time", "-o", "job.params"];
    let folder = prepared("share-tight", &params);
    eval(&folder, "x+y", "out.sz");
    let share = "decrypt --keys keys/secret out.sz --share 4294967296 --statistical-bits 80";
    folder.refused(share, 4, &["sunzi plan --share"]);
    // Nothing is promised for the key yet.
    assert!(load::<SharingLedger, _>(&NoContext, folder.path("keys/secret/sharing.sz")).is_err());
}

/// The ledger is made with the key: where it is missing, results may have been shared.
#[test]
fn a_missing_ledger_is_never_a_new_one() {
    let params = "params --depth 1 --plain-bits 20 --rotations 12 -o job.params";
    let folder = prepared("share-missing", &params.split(' ').collect::<Vec<_>>());
    eval(&folder, "x+y", "one.sz");
    let share = "decrypt --keys keys/secret --share 2 --statistical-bits 10 one.sz";
    let (ledger, kept) = (folder.path("keys/secret/sharing.sz"), folder.path("kept.sz"));
    let missing = || folder.refused(share, 6, &["sharing.sz", "is missing", "put it back", "sunzi keygen"]);
    fs::rename(&ledger, &kept).unwrap();
    missing();
    assert!(!ledger.exists());
    fs::rename(&kept, &ledger).unwrap();
    folder.fine(share);
    fs::rename(&ledger, &kept).unwrap();
    missing();
    // Removing the lock beside the ledger does not help either.
    let _ = fs::remove_file(folder.path("keys/secret/sharing.sz.lock"));
    missing();
    fs::rename(&kept, &ledger).unwrap();
    folder.fine(share);
    folder.refused(share, 4, &["0 of the 2"]);
    // Without --share the ledger is not asked for.
    fs::remove_file(&ledger).unwrap();
    folder.fine("decrypt --keys keys/secret one.sz -q");
}

/// Ten processes share at once: no more is shared than the ledger allows, and each that shared is counted.
#[test]
fn processes_share_one_ledger() {
    let params = "params --depth 1 --plain-bits 20 --rotations 12 -o job.params";
    let folder = prepared("share-together", &params.split(' ').collect::<Vec<_>>());
    eval(&folder, "x+y", "one.sz");
    let share = "decrypt --keys keys/secret --share 4 --statistical-bits 10 one.sz";
    let shared = std::thread::scope(|scope| {
        let one = || scope.spawn(|| folder.run(share).status.code());
        let processes: Vec<_> = (0..10).map(|_| one()).collect();
        let codes: Vec<_> = processes.into_iter().map(|process| process.join().unwrap()).collect();
        assert!(codes.iter().all(|code| [Some(0), Some(4)].contains(code)), "{codes:?}");
        codes.iter().filter(|code| **code == Some(0)).count()
    });
    assert_eq!((shared, used(&folder)), (4, 4));
}

/// What a plan left room for is shared at the end of its depth, in every scheme.
#[test]
fn plans_leave_room_for_sharing() {
    for scheme in ["bfv", "bgv", "ckks"] {
        let plan =
            ["plan", "sum(x*y);x+y", "--table", "t.csv", "--scheme", scheme, "--no-time", "-o", "job.params"];
        let room = ["--share", "8", "--statistical-bits", "8", "--precision", "10"];
        // Exact schemes have no precision.
        let room = if scheme == "ckks" { &room[..] } else { &room[..4] };
        let folder = prepared(&format!("share-plan-{scheme}"), &[&plan[..], room].concat());
        let planned = folder.fine_of(&[&plan[..7], room].concat());
        assert!(planned.contains("8 shared results at 2^-8"), "{planned}");
        eval(&folder, "sum(x*y);x+y", "out.sz");
        let share = "decrypt --keys keys/secret out.sz --for sum(x*y);x+y --schema s.json --share 8 --statistical-bits 8 --json";
        let results = json(&folder.run(share))["results"].clone();
        let near = |value: &serde_json::Value, expected: i64, allowed: f64| {
            let (got, error) = (value["value"].as_f64().unwrap(), value["error"].as_f64().unwrap_or(0.0));
            assert!((got - expected as f64).abs() <= error, "{scheme}: {got} ± {error}, expected {expected}");
            assert!(error <= if scheme == "ckks" { allowed } else { 0.0 }, "{scheme}: {error}");
        };
        // Six deviations of 10 bits of the ranges: 40 rows up to 32, and 16.
        near(&results[0]["number"], sum(|i| (i % 7) * (i % 5)), 6.0 * 40.0 * 32.0 / 1024.0);
        for (row, i) in results[1]["rows"].as_array().unwrap().iter().zip(0..) {
            near(row, i % 7 + i % 5, 6.0 * 16.0 / 1024.0);
        }
    }
    // Results that cannot be shared so well are refused before anything runs.
    let folder = Folder::new("share-plan-refused");
    fs::write(folder.path("t.csv"), "x\n1\n2\n").unwrap();
    folder.refused(
        "plan sum(x) --table t.csv --scheme ckks --share 8 --statistical-bits 80",
        4,
        &["statistical bits"],
    );
    folder.refused("params --depth 2 --share 0", 2, &["1 to 4294967296"]);
    let explained = folder.fine("params --depth 2 --share 100 --statistical-bits 30");
    assert!(explained.contains("room for sharing"), "{explained}");
}

#[test]
fn real_results_are_shared_within_their_stated_error() {
    let params =
        ["plan", "mean(x);x*y", "--table", "t.csv", "--scheme", "ckks", "--precision", "30", "--no-time"];
    let folder = prepared("share-ckks", &[&params[..], &["-o", "job.params"]].concat());
    eval(&folder, "mean(x);x*y", "out.sz");
    // Plain numbers are for the key holder, which is said once.
    let plain = folder.run("decrypt --keys keys/secret out.sz");
    assert!(stderr(&plain).contains("depend on the secret key"), "{}", stderr(&plain));
    let quiet = folder.run("decrypt --keys keys/secret out.sz -q");
    assert_eq!((stderr(&quiet), stdout(&quiet)), (String::new(), stdout(&plain)));
    let share = "decrypt --keys keys/secret out.sz --share 8 --statistical-bits 8";
    folder.refused(share, 2, &["--for PROGRAM --schema FILE"]);
    let agreed = format!("{share} --for mean(x);x*y --schema s.json");
    // What sunzi eval was not told to compute is another computation: its noise may be larger than what is declared.
    folder.refused(&format!("{share} --for mean(y);x*y --schema s.json"), 3, &["not the results"]);
    let shared = json(&folder.run(&format!("{agreed} --json")))["results"].clone();
    let plain = json(&folder.run("decrypt --keys keys/secret out.sz --json -q"))["results"].clone();
    assert_eq!(used(&folder), 2);
    let mut off = Vec::new();
    let mut near = |value: &serde_json::Value, expected: f64| {
        let (got, error) = (value["value"].as_f64().unwrap(), value["error"].as_f64().unwrap());
        assert!((got - expected).abs() <= error, "{got} ± {error}, expected {expected}");
        assert!(error < 0.5, "{error}");
        off.push((error, (got - expected).abs()));
        error
    };
    let mean = near(&shared[0]["number"], sum(|i| i % 7) as f64 / ROWS as f64);
    assert!(mean > 4.0 * plain[0]["number"]["error"].as_f64().unwrap(), "{mean}: noise was added");
    for (row, i) in shared[1]["rows"].as_array().unwrap().iter().zip(0..) {
        near(row, ((i % 7) * (i % 5)) as f64);
    }
    // The stated error is what was added, not some bound far from it.
    assert!(off.iter().any(|(error, by)| by * 20.0 > *error), "{off:?}");
    for _ in 0..3 {
        folder.fine(&agreed);
    }
    folder.refused(&agreed, 4, &["take 2", "0 of the 8", "sunzi keygen"]);
}

#[test]
fn help_says_for_whom_results_are() {
    let folder = Folder::new("share-help");
    for text in [folder.fine("decrypt --help"), folder.fine("manual decrypt")] {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("whoever made or chose the ciphertexts"), "{text}");
        assert!(text.contains("share"), "{text}");
    }
}
