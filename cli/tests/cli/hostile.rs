//! Small files that ask for much memory: every command refuses what the machine has not before any work, and says what it makes where it has.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::{Folder, json, stderr, stdout};
use sunzi::bfv::{CrtParameters, Parameters};
use sunzi::math::primes_with_bits;
use sunzi::rlwe::Security;
use sunzi::rlwe::wire::{NoContext, store};

const FLAG: &str = "--insecure-for-research-only";

/// A ring of degree 2^17 with 256 moduli of 61 bits: 2.3 KB that take gigabytes.
fn largest() -> Parameters {
    Parameters::new(17, primes_with_bits(61, 1 << 18, 256).unwrap(), 257, Security::InsecureForResearchOnly)
}

/// Runs a command whose address space has so many bytes.
fn within(folder: &Folder, bytes: u64, arguments: &str) -> std::process::Output {
    let line = format!("ulimit -v {}; exec {} {arguments}", bytes >> 10, env!("CARGO_BIN_EXE_sunzi"));
    let mut shell = Command::new("sh");
    // Each thread takes address space of its own, so there is one.
    shell.env("RAYON_NUM_THREADS", "1").env("MALLOC_ARENA_MAX", "1");
    shell.args(["-c", &line]).current_dir(folder.path("")).env_remove("SUNZI_ISA").output().unwrap()
}

#[test]
fn parameters_that_the_machine_cannot_hold_are_refused_before_any_work() {
    let folder = Folder::new("hostile-parameters");
    let largest = largest();
    let plain = (257..).filter(|&t| sunzi::math::is_prime(t)).take(256).collect();
    let several = CrtParameters::new(17, largest.moduli().to_vec(), plain, Security::InsecureForResearchOnly);
    fs::create_dir(folder.path("keys")).unwrap();
    fs::write(folder.path("t.csv"), "x\n1\n").unwrap();
    fs::write(folder.path("s.json"), folder.fine("schema --table t.csv")).unwrap();
    for name in ["one", "several"] {
        let file = folder.path("keys/parameters.sz");
        let _ = fs::remove_file(&file);
        let stored = if name == "one" {
            store(&NoContext, &largest, &file)
        } else {
            store(&NoContext, &several, &file)
        };
        stored.unwrap();
        assert!(fs::metadata(&file).unwrap().len() < 5000);
        for command in [
            "check keys/parameters.sz --params keys/parameters.sz",
            "inspect keys/parameters.sz",
            "keygen keys/parameters.sz -d made",
            "plan sum(x) --schema s.json --params keys/parameters.sz",
            "encrypt --table t.csv --schema s.json --keys keys -o t.sz",
            "decrypt t.csv --keys keys",
            "eval sum(x) --keys keys t.csv -o r.sz",
        ] {
            let line = format!("{} {FLAG}", command.replace('(', "\\(").replace(')', "\\)"));
            // Other programs run as well: the best of three times counts.
            let timed = |_| {
                let start = Instant::now();
                let output = within(&folder, 1 << 30, &line);
                (start.elapsed(), output)
            };
            let (took, output) = (0..3).map(timed).min_by_key(|(took, _)| *took).unwrap();
            let error = stderr(&output);
            println!("{name}, {command}: {took:?}, {}", error.trim());
            assert_eq!(output.status.code(), Some(2), "{command}: {error}");
            assert!(error.contains("of memory, ") && error.contains("GiB"), "{command}: {error}");
            assert!(took < Duration::from_secs(1), "{command}: {took:?}");
        }
        assert!(!folder.path("made").exists());
    }
}

/// Waits for a command; its seconds and most bytes in memory.
fn watched(mut child: Child) -> (f64, u64) {
    let (start, mut most) = (Instant::now(), 0);
    while child.try_wait().unwrap().is_none() {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kibibytes = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
        most = most.max(kibibytes.unwrap_or(0) << 10);
        sleep(Duration::from_millis(5));
    }
    (start.elapsed().as_secs_f64(), most)
}

#[test]
#[ignore = "long: tables of 2.5 GB, where the machine has them"]
fn the_largest_parameters_take_what_is_said() {
    let folder = Folder::new("hostile-largest");
    store(&NoContext, &largest(), folder.path("p.sz")).unwrap();
    for command in ["check p.sz --params p.sz", "keygen p.sz -d made --rotations none", "inspect p.sz"] {
        let mut run = Command::new(env!("CARGO_BIN_EXE_sunzi"));
        run.args(command.split(' ')).arg(FLAG).current_dir(folder.path(""));
        let output = folder.run(&format!("{command} {FLAG}"));
        let (seconds, most) = watched(run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
        println!("{command}: {seconds:.2} s, {most} bytes, {}", stderr(&output).trim());
        assert!(most < 4 << 30);
    }
}

/// A plan says of this machine what keygen and eval then do.
#[test]
fn runs_that_the_machine_cannot_hold_are_named_and_refused() {
    let folder = Folder::new("hostile-plan");
    folder.fine("params --depth 8 --plain-range 10000000 -o p.sz");
    let rows: String = (0..9000).map(|i| format!("{},{}\n", i % 5, i % 7)).collect();
    fs::write(folder.path("t.csv"), format!("x,y\n{rows}")).unwrap();
    folder.fine("schema --table t.csv -o s.json");
    let plan = "plan sum(x*y) --schema s.json --params p.sz --no-time";
    let planned = json(&folder.run(&format!("{plan} --json")));
    let memory = planned["memory_bytes"].as_u64().unwrap();
    let less = memory / 4 * 3;
    assert_eq!(planned["fits"], true);
    assert!(planned["needed_bytes"].as_u64() > Some(memory));
    assert!(!folder.fine(plan).contains("too large"));
    let quoted = |command: &str| command.replace('(', "\\(").replace(')', "\\)").replace('*', "\\*");
    let told = within(&folder, less, &quoted(plan));
    assert!(stdout(&told).contains("too large"), "{}{}", stdout(&told), stderr(&told));
    let told = json(&within(&folder, less, &quoted(&format!("{plan} --json"))));
    assert_eq!(told["fits"], false);
    assert!(told["available_bytes"].as_u64() < Some(memory));

    folder.fine("keygen p.sz -d keys --for sum(x*y) --schema s.json -q");
    folder.fine("encrypt --table t.csv --schema s.json --keys keys/public -o t.sz -q");
    for (command, made) in [
        ("keygen p.sz -d more --for sum(x*y) --schema s.json -q", "more"),
        ("keygen p.sz -d more -q", "more"),
        ("eval sum(x*y) --keys keys/eval t.sz -o r.sz -q", "r.sz"),
    ] {
        let output = within(&folder, less, &quoted(command));
        assert_eq!(output.status.code(), Some(2), "{command}: {}", stderr(&output));
        assert!(stderr(&output).contains("of memory, "), "{command}: {}", stderr(&output));
        assert!(!folder.path(made).exists(), "{command}");
    }
}
