//! Checkers of memory and threads over the tests: those that the toolchain and the machine offer; absent ones
//! are named.

use std::path::Path;
use std::process::{Command, Stdio};

use super::{Outcome, record};
use crate::{step, tree};

const TARGET: &str = "x86_64-unknown-linux-gnu";

/// A checker of memory or threads, and the tests it watches.
struct Checker {
    row: u8,
    name: &'static str,
    /// Command that shows whether the checker is there.
    probe: &'static [&'static str],
    variables: &'static [(&'static str, &'static str)],
    /// Arguments of cargo that run the tests under the checker.
    line: &'static str,
    /// Whether the watched tests contain an error, which shows that the checker finds errors.
    finds: bool,
}

/// The checkers of memory and threads. Sanitizers are options of the compiler that a stable one only takes
/// with this variable; `--target` keeps them from build scripts. Valgrind knows no AVX-512: what runs there
/// are the AVX2 and the portable tables.
const CHECKERS: [Checker; 7] = [
    Checker {
        row: 14,
        name: "valgrind (memcheck) with secrets marked",
        probe: &["valgrind", "--version"],
        variables: &[("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER", VALGRIND)],
        line: POISONED,
        finds: false,
    },
    Checker {
        row: 14,
        name: "valgrind (memcheck) with secrets marked, and a branch on one",
        probe: &["valgrind", "--version"],
        variables: &[("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER", VALGRIND), ("SUNZI_LEAK", "1")],
        line: POISONED,
        finds: true,
    },
    Checker {
        row: 16,
        name: "valgrind (memcheck), AVX2 table",
        probe: &["valgrind", "--version"],
        variables: &[("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER", VALGRIND)],
        line: "test -p sunzi-kernels -p sunzi-rlwe --lib --test kernels",
        finds: false,
    },
    Checker {
        row: 16,
        name: "valgrind (memcheck), portable table",
        probe: &["valgrind", "--version"],
        variables: &[("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER", VALGRIND), ("SUNZI_ISA", "portable")],
        line: "test -p sunzi-kernels -p sunzi-rlwe --lib --test kernels",
        finds: false,
    },
    Checker {
        row: 16,
        name: "address sanitizer",
        probe: &["cargo", "--version"],
        variables: &[("RUSTC_BOOTSTRAP", "1"), ("RUSTFLAGS", "-Zsanitizer=address")],
        line: "test --target x86_64-unknown-linux-gnu -p sunzi-kernels -p sunzi-ring --tests",
        finds: false,
    },
    Checker {
        row: 16,
        // Locks of a standard library that is not built with the sanitizer are invisible to it: every one of them would look like a race.
        name: "thread sanitizer with the standard library",
        probe: &["sh", "-c", "test -d \"$(rustc --print sysroot)/lib/rustlib/src/rust/library\""],
        variables: &[
            ("RUSTC_BOOTSTRAP", "1"),
            ("RUSTFLAGS", "-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer"),
        ],
        line: "test -Zbuild-std --target x86_64-unknown-linux-gnu -p sunzi-ring --test ring threads",
        finds: false,
    },
    Checker {
        row: 16,
        name: "Miri",
        probe: &["cargo", "miri", "--version"],
        variables: &[("SUNZI_ISA", "portable")],
        line: "miri test -p sunzi-kernels --test kernels portable",
        finds: false,
    },
];

const POISONED: &str = "test --release -p sunzi-testing --features memcheck --test testing poisoned::";
const VALGRIND: &str = "valgrind -q --error-exitcode=99 --leak-check=no";

/// Runs the checkers of memory and threads of a row one after the other.
pub(super) fn run(root: &Path, file: &Path, row: u8) -> Vec<Outcome> {
    CHECKERS.iter().filter(|checker| checker.row == row).map(|checker| checker.run(root, file)).collect()
}

impl Checker {
    fn run(&self, root: &Path, file: &Path) -> Outcome {
        let row = self.row;
        let variables: Vec<String> =
            self.variables.iter().map(|(name, value)| format!("{name}=\"{value}\"")).collect();
        let command = format!("{} cargo {}", variables.join(" "), self.line);
        let recorded = if self.is_there() {
            step::announce(&command);
            self.watch(root, file).and_then(|(tests, clean)| {
                let expected =
                    if self.finds { "without errors, which it should have" } else { "with errors" };
                let what = format!("runs {expected}, {}", self.name);
                record(file, row, &what, u64::from(clean == self.finds), tests, tests)
            })
        } else {
            let what = format!("tests under {}, which this machine does not offer", self.name);
            record(file, row, &what, 0, 1, 1)
        };
        Outcome { row, error: recorded.err() }
    }

    fn is_there(&self) -> bool {
        let Some((program, arguments)) = self.probe.split_first() else { return true };
        let status =
            Command::new(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status();
        cfg!(all(target_arch = "x86_64", target_os = "linux")) && status.is_ok_and(|status| status.success())
    }

    /// Returns the number of tests that ran under the checker, and whether it found nothing.
    fn watch(&self, root: &Path, file: &Path) -> Result<(u64, bool), String> {
        // Builds for a sanitizer must not mix with others.
        let folder =
            if self.line.contains(TARGET) { self.name.replace(' ', "-") } else { "checkers".to_owned() };
        let output = Command::new(step::cargo())
            .args(self.line.split_whitespace())
            .envs(self.variables.iter().copied())
            .env("CARGO_TARGET_DIR", file.with_file_name(folder))
            .env_remove(tree::FIGURES)
            .current_dir(root)
            .stderr(Stdio::inherit())
            .output()
            .map_err(|error| format!("cannot start cargo: {error}"))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let passed =
            |line: &str| line.strip_prefix("test result: ")?.split_whitespace().nth(1)?.parse::<u64>().ok();
        let tests = text.lines().filter_map(passed).sum();
        if tests == 0 {
            Err(format!("no test ran under {}", self.name))
        } else {
            Ok((tests, output.status.success()))
        }
    }
}
