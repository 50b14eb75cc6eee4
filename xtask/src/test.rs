//! Tasks `cargo xtask test`, every test, and `cargo xtask check`, all that can be checked without running tests.

use clap::Args;

use crate::step::{self, Step};
use crate::{circles, layers, limits, paths, reliability, shipped, supply, tree};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Run the tests marked `#[ignore = "long: ..."]` instead of the others
    #[arg(long)]
    long: bool,
    /// Run the tests on the portable kernel table, which must pass where another one was picked
    #[arg(long)]
    portable: bool,
}

/// Environment variable that picks a table of kernels.
const ISA: &str = "SUNZI_ISA";

/// Arguments of the run on the portable table: packages and features are those of the ordinary run, so that nothing is built twice. Command
/// lines and documents meet no table that the tests of the libraries do not meet, and memory is that of every table.
const PORTABLE: &str = "test --workspace --exclude sunzi-python --features lab/peers,sunzi-cli/shared --no-fail-fast --lib --test bfv --test bgv --test big \
     --test circuits --test ckks --test fermat --test kernels --test keystore --test oprf --test parties --test program --test ring --test rlwe --test service --test table --test testing \
     --test univariate";

/// Runs the tests of the workspace, and the examples of its documents.
pub(crate) fn run(arguments: &Arguments) -> Result<String, String> {
    let (task, steps) = match (arguments.long, arguments.portable) {
        (true, _) => (
            "xtask test --long",
            vec![
                Step::cargo(
                    "long tests",
                    "test --workspace --exclude sunzi-python --features lab/peers,sunzi-cli/shared --tests -- --ignored",
                ),
                Step::check("paths", paths::check, "cargo xtask paths"),
            ],
        ),
        (false, true) => (
            "xtask test --portable",
            vec![Step::cargo_with("tests, portable table", &[(ISA, "portable")], PORTABLE)],
        ),
        (false, false) => ("xtask test", tests()),
    };
    if !arguments.portable {
        reliability::begin(&tree::figures_file(&tree::root()))?;
    }
    step::run_all(task, &steps)
}

/// Returns the ordinary tests: one selection of packages and features throughout, so that nothing is built twice.
fn tests() -> Vec<Step> {
    vec![
        Step::cargo(
            "tests",
            "test --workspace --exclude sunzi-python --features lab/peers,sunzi-cli/shared --tests --no-fail-fast",
        ),
        Step::cargo(
            "doc tests",
            "test --workspace --exclude sunzi-python --features lab/peers,sunzi-cli/shared --doc",
        ),
    ]
}

/// Checks format, order of layers, circles, limits, features, licences, lints and documentation.
pub(crate) fn check() -> Result<String, String> {
    let steps = [
        Step::cargo("format", "fmt --all --check"),
        Step::check("layers", layers::check, "cargo xtask layers"),
        Step::check("circles", circles::check, "cargo xtask circles"),
        Step::check("limits", limits::check, "cargo xtask limits"),
        Step::check("shipped", shipped::check, "cargo xtask shipped"),
        Step::check("supply", supply::check, "cargo xtask supply"),
        // Users build fewer features than are tested.
        Step::cargo("clippy", "clippy --workspace --all-targets -- -D warnings"),
        Step::cargo(
            "clippy with all features of tests",
            "clippy --workspace --all-targets --features lab/peers,sunzi-cli/shared -- -D warnings",
        ),
        Step::cargo_with(
            "docs",
            &[("RUSTDOCFLAGS", "-D warnings")],
            "doc --workspace --exclude sunzi-python --features sunzi/parquet,sunzi/net --no-deps --lib",
        ),
    ];
    step::run_all("xtask check", &steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_portable_table_meets_the_tests_of_every_library() {
        let root = tree::root();
        let mut found = 0;
        for above in ["crates", "research"].map(|folder| root.join(folder)) {
            for krate in above.read_dir().unwrap().map(|entry| entry.unwrap().path()) {
                let name = krate.file_name().unwrap().to_str().unwrap().to_owned();
                if krate.join("tests").join(&name).join("main.rs").is_file() {
                    assert!(
                        PORTABLE.contains(&format!("--test {name}")),
                        "{name} is not tried on the portable table"
                    );
                    found += 1;
                }
            }
        }
        assert!(found >= 12, "{found}");
    }
}
