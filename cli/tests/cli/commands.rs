//! Tests of help, version, `params` and `bench`.

use std::fs;

use crate::common::{Folder, assert_refused, json, stderr, stdout, sunzi_with};

#[test]
fn runs_of_one_name_do_not_share_a_folder() {
    let runs: Vec<_> = (0..4)
        .map(|_| std::thread::spawn(|| sunzi_with("shared-name", &[("a", b"")], &["--version"])))
        .collect();
    for run in runs {
        assert_eq!(run.join().unwrap().status.code(), Some(0));
    }
}

#[test]
fn help_names_every_option() {
    let help = stdout(&sunzi_with("help", &[], &["demo", "--help"]));
    for option in [
        "--input",
        "--columns",
        "--group-by",
        "--word",
        "--decimals",
        "--threads",
        "--json",
        "--job",
        "Exit codes",
        "SUNZI_ISA",
    ] {
        assert!(help.contains(option), "{option} is missing:\n{help}");
    }
    let help = stdout(&sunzi_with("help", &[], &["--help"]));
    for command in ["demo", "params", "bench"] {
        assert!(help.contains(command), "{command} is missing:\n{help}");
    }
    let version = stdout(&sunzi_with("help", &[], &["--version"]));
    assert_eq!(version.trim(), format!("sunzi {}", env!("CARGO_PKG_VERSION")));
}

#[test]
fn params_explains_its_choice() {
    let text = stdout(&sunzi_with("params", &[], &["params", "--depth", "3", "--plain-bits", "17"]));
    for part in ["ring degree n", "log2 q", "65537", "refused", "chosen", "bits left", "128-bit"] {
        assert!(text.contains(part), "{part} is missing:\n{text}");
    }
    let report =
        json(&sunzi_with("params", &[], &["params", "--plain-range", "1000000000000000000000", "--json"]));
    assert!(report["chosen"]["parameters"]["plain_moduli"].as_array().unwrap().len() > 1);
    assert!(report["candidates"].as_array().unwrap().len() > 3);
}

#[test]
fn params_picks_a_ring_for_slots_of_small_fields() {
    let wanted = ["params", "--slots", "1000", "--plain", "2"];
    let text = stdout(&sunzi_with("params-slots", &[], &wanted));
    for part in ["m = ", "GF(2^", "good", "butterflies", "128-bit", "why"] {
        assert!(text.contains(part), "{part} is missing:\n{text}");
    }
    let report = json(&sunzi_with("params-slots", &[], &[&wanted[..], &["--json"]].concat()));
    let chosen = &report["chosen"];
    let [slots, degree, n] = ["slots", "slot_degree", "degree"].map(|key| chosen[key].as_u64().unwrap());
    assert!(slots >= 1000 && slots * degree == n);
    let lengths = report["dimensions"].as_array().unwrap().iter().map(|d| d["length"].as_u64().unwrap());
    assert_eq!(lengths.product::<u64>(), slots);
    assert!(chosen["log2_qp"].as_f64().unwrap() <= chosen["limit"].as_f64().unwrap());
    let cost = |one: &serde_json::Value| one["cost"].as_f64().unwrap();
    assert!(report["candidates"].as_array().unwrap().iter().all(|one| cost(one) >= cost(chosen)));
    // Deeper circuits take larger rings.
    let deep = json(&sunzi_with("params-slots", &[], &[&wanted[..], &["--depth", "12", "--json"]].concat()));
    assert!(deep["chosen"]["degree"].as_u64().unwrap() >= n);
    for (refused, word) in [
        (vec!["params", "--plain", "4"], "prime"),
        (vec!["params", "--plain", "3", "--plain-exponent", "40"], "2^60"),
        (vec!["params", "--plain", "2", "--slots", "1000000"], "1000000"),
        (vec!["params", "--plain-exponent", "2"], "--plain <P>"),
        (
            vec!["params", "--plain", "2", "--scheme", "bgv"],
            "--plain asks for slots of GF(p^d), which are in BFV alone",
        ),
        (vec!["params", "--plain", "2", "--scheme", "ckks"], "leave --plain away"),
    ] {
        assert_refused(&sunzi_with("params-slots", &[], &refused), &[word]);
    }
}

/// A table of 0 and 1 fits slots of GF(2^d), but tables are of numbers: what is refused says what takes elements.
#[test]
fn parameters_of_field_elements_are_for_no_table() {
    let folder = Folder::new("params-elements");
    fs::write(folder.path("bits.csv"), "a,b\n0,1\n1,1\n1,0\n").unwrap();
    for line in [
        "params --slots 100 --plain 2 --depth 1 -o p.sz",
        "keygen p.sz -d keys",
        "schema --table bits.csv -o s.json",
    ] {
        folder.fine(line);
    }
    for line in [
        "encrypt --keys keys/public --table bits.csv -o t.sz",
        "plan sum(a*b) --schema s.json --params p.sz --no-time",
        "keygen p.sz -d more --for sum(a*b) --schema s.json",
    ] {
        folder.refused(line, 4, &["slots", "in the ring of index 3855", "sunzi plan", "Context.for_field"]);
    }
}

/// What `auto` chose is named: in text, and in JSON with the reason.
#[test]
fn params_names_the_scheme_that_it_chose() {
    let run = |more: &str| {
        let line = format!("params {more}");
        sunzi_with("params-scheme", &[], &line.split_whitespace().collect::<Vec<_>>())
    };
    for (options, scheme, why) in [
        ("--scheme auto --depth 1", "BFV", "an encrypted vector takes 128.0 KiB of memory, in BGV "),
        ("--scheme auto --depth 6 --plain-range 100000000000000", "BFV", " of memory, in BGV "),
        ("--scheme auto --precision 20", "CKKS", "--precision"),
        ("--scheme auto --plain 2 --slots 100", "BFV", "--plain"),
        ("--scheme bgv", "BGV", ""),
        ("--scheme bfv", "BFV", ""),
        ("--scheme ckks", "CKKS", ""),
    ] {
        let text = stdout(&run(options));
        let first = text.lines().next().unwrap();
        assert!(first.starts_with(&format!("scheme: {scheme}")) && first.contains(why), "{options}: {first}");
        let report = json(&run(&format!("{options} --json")));
        assert_eq!(report["scheme"], scheme, "{options}");
        match report["scheme_reason"].as_str() {
            Some(reason) => assert!(!why.is_empty() && reason.contains(why), "{options}: {reason}"),
            None => assert_eq!(why, "", "{options}"),
        }
    }
}

/// Parameters modulo 2^g − 1 are chosen, kept, and serve for keys.
#[test]
fn params_makes_moduli_of_fermat_factors() {
    let folder = Folder::new("params-fermat");
    let report = json(&folder.run("params --fermat --depth 3 --json -o p.sz"));
    assert_eq!((&report["degree"], &report["modulus_bits"]), (&(1 << 14).into(), &256.into()), "{report}");
    assert_eq!(report["plain_modulus"], 786_433);
    let told = json(&folder.run("inspect p.sz --json"));
    assert_eq!(told["object"], "BFV parameters modulo 2^g - 1", "{told}");
    let keys = folder.run("keygen p.sz -d keys --rotations none");
    assert_eq!(keys.status.code(), Some(0), "{}", stderr(&keys));
    let text = stdout(&folder.run("params --fermat --scheme auto"));
    assert!(text.contains("--fermat asks for moduli 2^g - 1") && text.contains("q = 2^"), "{text}");
    for (line, words) in [
        ("params --fermat --scheme bgv", ["--fermat asks for", "BFV alone"]),
        ("params --fermat --depth 1000", ["depth", "expected"]),
        ("params --fermat --plain-bits 17", ["--fermat", "--plain-bits"]),
    ] {
        assert_refused(&folder.run(line), &words);
    }
}

/// Options that mean nothing for a scheme are refused by name, where they were ignored.
#[test]
fn params_refuses_options_of_other_schemes() {
    let refused = |line: &str, words: &[&str]| {
        assert_refused(&sunzi_with("params-options", &[], &line.split(' ').collect::<Vec<_>>()), words);
    };
    for scheme in ["", " --scheme bfv", " --scheme bgv"] {
        refused(
            &format!("params --precision 20{scheme}"),
            &["--precision is for CKKS", "--scheme ckks or auto"],
        );
    }
    for (option, name) in [
        ("--plain-bits 17", "--plain-bits"),
        ("--plain-range 100", "--plain-range"),
        ("--additions 3", "--additions"),
        ("--rotations 3", "--rotations"),
        ("--no-batching", "--no-batching"),
    ] {
        refused(&format!("params --scheme ckks {option}"), &[name, "CKKS has real numbers"]);
    }
    for scheme in ["", " --scheme bgv", " --scheme auto"] {
        refused(&format!("params --real-slots{scheme}"), &["--real-slots is for CKKS", "--scheme ckks"]);
    }
}

/// Real slots are as many as the ring degree, and their parameters come back from their file.
#[test]
fn params_makes_real_slots() {
    let of = |option: &str| {
        let line = format!("params --scheme ckks --depth 2 --precision 20{option} --json");
        stdout(&sunzi_with("params-real", &[], &line.split(' ').collect::<Vec<_>>()))
    };
    let (complex, real) = (of(""), of(" --real-slots"));
    assert!(real.contains("\"real_slots\":true") && !complex.contains("real_slots"), "{real}");
    let line = "params --scheme auto --depth 2 --precision 20 --real-slots";
    let text = stdout(&sunzi_with("params-real", &[], &line.split(' ').collect::<Vec<_>>()));
    assert!(text.contains("real slots"), "{text}");
}

#[test]
fn params_lists_the_sets_of_bootstrapping() {
    let text = stdout(&sunzi_with("params", &[], &["params", "--bootstrapping"]));
    for part in [
        "n16-128",
        "n16-128-fast",
        "n15-128",
        "n16-128-precise",
        "as19",
        "the next takes 3 of the levels",
        "worst slot",
        "failure",
        "GiB",
        "INSECURE",
    ] {
        assert!(text.contains(part), "{part} is missing:\n{text}");
    }
    let sets = json(&sunzi_with("params", &[], &["params", "--bootstrapping", "--json"]));
    let sets = sets.as_array().unwrap();
    assert_eq!(sets.len(), 5);
    for set in sets {
        let degree = set["degree"].as_u64().unwrap();
        assert_eq!(set["slots"].as_u64(), Some(degree / 2), "{set}");
        assert!(text.contains(set["name"].as_str().unwrap()), "{set}");
        assert!(set["log2_failure"].as_f64().unwrap() <= -128.0, "{set}");
        let key_bytes = set["key_bytes"].as_u64().unwrap();
        // Keys of rings of half the degree take less.
        let least = if degree < 1 << 16 { 1 << 30 } else { 1 << 31 };
        assert!(
            set["levels_left"].as_u64().unwrap() >= 2 && key_bytes > least && key_bytes < 3 * least,
            "{set}"
        );
        let [random, any] = [&set["precision"]["random"], &set["precision"]["any"]];
        assert!(random["mean_bits"].as_f64() >= any["mean_bits"].as_f64(), "{set}");
        let secure = set["security"].as_str().unwrap().starts_with("128");
        assert_eq!(set["raised_under"].is_object(), secure, "{set}");
    }
    assert_eq!((&sets[0]["lowest_level"], &sets[1]["lowest_level"]), (&0.into(), &3.into()));
    assert_eq!(sets[0]["precision"]["fifty_in_a_row"]["mean_bits"], 20.5);
    assert_refused(
        &sunzi_with("params", &[], &["params", "--bootstrapping", "--depth", "3"]),
        &["--depth", "--bootstrapping"],
    );
}

#[test]
fn params_shows_one_set_of_bootstrapping_for_few_slots() {
    let shown = |name: &str| json(&sunzi_with("params", &[], &["params", "--bootstrapping", name, "--json"]));
    let few = shown("n15-128-1-s16");
    assert_eq!((&few["name"], &few["levels_left"]), (&"n15-128-1-s16".into(), &1.into()));
    assert_eq!((&few["degree"], &few["slots"]), (&(1 << 15).into(), &16.into()));
    assert!(few["key_bytes"].as_u64().unwrap() < 1 << 30, "{few}");
    assert_refused(
        &sunzi_with("params", &[], &["params", "--bootstrapping", "n15-128-s"]),
        &["n15-128-s", "-s16 for messages of 16 slots"],
    );
}

#[test]
fn params_keeps_a_set_of_bootstrapping_for_a_real_ring() {
    let folder = Folder::new("params-real-set");
    let line = "params --bootstrapping n15-128 --real-slots";
    let shown = json(&folder.run(&format!("{line} --json")));
    let real = &shown["real_ring"];
    assert_eq!((real["degree"].as_u64(), real["slots"].as_u64()), (Some(1 << 14), Some(1 << 14)), "{shown}");
    assert!(real["key_bytes"].as_u64() > shown["key_bytes"].as_u64(), "{shown}");
    assert!(folder.fine(&format!("{line} -o p.sz")).contains("real ring of degree 16384"));
    let kept = folder.fine("inspect p.sz");
    assert!(kept.contains("n = 16384"), "{kept}");
    folder.refused(&format!("{line} -o p.sz"), 2, &["is there already"]);
    folder.fine("params --bootstrapping n15-128-real -o q.sz");
    assert_eq!(std::fs::read(folder.path("p.sz")).unwrap(), std::fs::read(folder.path("q.sz")).unwrap());
    folder.refused("params --bootstrapping n15-128-s16 -o r.sz", 2, &["all slots", "n15-128"]);
    folder.refused("params --bootstrapping --real-slots -o r.sz", 2, &["one set"]);
    folder.refused("params --bootstrapping no-real -o r.sz", 2, &["there is no set \"no\""]);
}

#[test]
fn params_shows_one_set_of_bootstrapping_with_fewer_levels() {
    let shown = |name: &str| json(&sunzi_with("params", &[], &["params", "--bootstrapping", name, "--json"]));
    let (whole, fewer) = (shown("n15-128"), shown("n15-128-1"));
    assert_eq!((&whole["name"], &fewer["name"]), (&"n15-128".into(), &"n15-128-1".into()));
    assert_eq!((&whole["levels_left"], &fewer["levels_left"]), (&2.into(), &1.into()));
    assert_eq!(whole["precision"], fewer["precision"]);
    assert!(fewer["key_bytes"].as_u64() < whole["key_bytes"].as_u64(), "{fewer}");
    for (name, parts) in [
        ("n17", ["n17", "n16-128-fast"]),
        ("n16-128-fast-2", ["levels left", "at least 3"]),
        ("n16-128-200", ["128-bit security", "1746"]),
    ] {
        assert_refused(&sunzi_with("params", &[], &["params", "--bootstrapping", name]), &parts);
    }
}

#[test]
fn bench_times_the_operations_of_each_scheme() {
    let rows = json(&sunzi_with("bench", &[], &["bench", "--log-n", "12", "--rounds", "3", "--json"]));
    let rows = rows.as_array().unwrap();
    let names: Vec<_> = rows.iter().map(|row| (row["scheme"].as_str(), row["operation"].as_str())).collect();
    let expected = ["BFV", "BGV", "CKKS"].map(|scheme| {
        ["encrypt", "decrypt", "add", "multiply", "rotate"].map(|operation| (Some(scheme), Some(operation)))
    });
    assert_eq!(names, expected.concat());
    for row in rows {
        assert!(row["n"] == 4096 && row["correct"] == true, "{row}");
        assert!(
            row["median_us"].as_f64().unwrap() > 0.0 && row["spread_us"].as_f64().unwrap() >= 0.0,
            "{row}"
        );
    }
    let text = stdout(&sunzi_with("benchtext", &[], &["bench", "bgv", "--log-n", "13,12", "--rounds", "1"]));
    for part in ["median µs", "BGV", "8192", "4096", "multiply", "yes"] {
        assert!(text.contains(part), "{part} is missing:\n{text}");
    }
    assert!(!text.contains("BFV") && !text.contains("NO"), "{text}");
    let help = stdout(&sunzi_with("benchhelp", &[], &["bench", "--help"]));
    assert!(help.contains("cargo lab bench"), "{help}");
    for (refused, word) in [
        (["bench", "bfv", "--log-n", "3"], "log2 n between 12 and 15, got 3"),
        (["bench", "bfv", "--log-n", "12,16"], "got 16"),
        (["bench", "ckks", "--rounds", "0"], "--rounds"),
        (["bench", "keyswitch", "--rounds", "1"], "'keyswitch'"),
    ] {
        assert_refused(&sunzi_with("benchrefused", &[], &refused), &[word]);
    }
    assert_refused(&sunzi_with("norepro", &[], &["repro", "behz"]), &["'repro'", "sunzi --help"]);
}
