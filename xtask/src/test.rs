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

/// Runs the tests of the workspace, and the examples of its documents.
pub(crate) fn run(arguments: &Arguments) -> Result<String, String> {
    let (task, steps) = match (arguments.long, arguments.portable) {
        (true, _) => (
            "xtask test --long",
            vec![
                Step::cargo(
                    "long tests",
                    "test --workspace --exclude sunzi-python --features lab/peers --tests -- --ignored",
                ),
                Step::check("paths", paths::check, "cargo xtask paths"),
            ],
        ),
        // Command lines and documents meet no table that the tests of the libraries do not meet.
        (false, true) => (
            "xtask test --portable",
            vec![Step::cargo_with(
                "tests, portable table",
                &[(ISA, "portable")],
                "test --workspace --exclude sunzi-python --features lab/peers --tests --no-fail-fast",
            )],
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
            "test --workspace --exclude sunzi-python --features lab/peers --tests --no-fail-fast",
        ),
        Step::cargo("doc tests", "test --workspace --exclude sunzi-python --features lab/peers --doc"),
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
            "clippy --workspace --all-targets --features lab/peers -- -D warnings",
        ),
        Step::cargo_with(
            "docs",
            &[("RUSTDOCFLAGS", "-D warnings")],
            "doc --workspace --exclude sunzi-python --features sunzi/parquet --no-deps --lib",
        ),
    ];
    step::run_all("xtask check", &steps)
}
