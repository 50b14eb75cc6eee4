//! `cargo xtask test`: everything that must hold before a change lands.

use crate::step::{self, Step};
use crate::{layers, limits, python, reliability, shipped, supply, tree};

/// Runs all checks and tests; with `long`, also the tests marked `#[ignore = "long: ..."]`.
pub(crate) fn run(long: bool) -> Result<String, String> {
    let mut steps = steps();
    if long {
        steps.push(Step::cargo(
            "long tests",
            "test --workspace --exclude sunzi-python --features bench/peers --lib --bins --tests -- --ignored",
        ));
    }
    reliability::begin(&reliability::figures_file(&tree::root()))?;
    let task = if long { "xtask test --long" } else { "xtask test" };
    step::run_all(task, &steps)
}

fn steps() -> Vec<Step> {
    // With rivals and the same selection of packages throughout, so that nothing is built twice; that all builds without rivals
    // too is the first of the two clippy steps.
    vec![
        Step::cargo("format", "fmt --all --check"),
        Step::check("layers", layers::check, "cargo xtask layers"),
        Step::check("limits", limits::check, "cargo xtask limits"),
        Step::check("shipped", shipped::check, "cargo xtask shipped"),
        Step::check("supply", supply::check, "cargo xtask supply"),
        Step::cargo("clippy", "clippy --workspace --all-targets -- -D warnings"),
        Step::cargo(
            "clippy with peers",
            "clippy --workspace --all-targets --features bench/peers -- -D warnings",
        ),
        Step::cargo(
            "tests",
            "test --workspace --exclude sunzi-python --features bench/peers --lib --bins --tests --examples --no-fail-fast",
        ),
        // The portable table must pass where the first run picked a faster one.
        Step::cargo_with(
            "tests, portable table",
            &[("SUNZI_ISA", "portable")],
            "test --workspace --exclude sunzi-python --features bench/peers --lib --test * --no-fail-fast",
        ),
        Step::cargo("doc tests", "test --workspace --exclude sunzi-python --features bench/peers --doc"),
        Step::cargo_with(
            "docs",
            &[("RUSTDOCFLAGS", "-D warnings")],
            "doc --workspace --exclude sunzi-python --no-deps --lib",
        ),
        Step::check("Python", python::check, "cargo xtask python"),
        Step::check("reliability", reliability::check, "cargo xtask reliability"),
    ]
}
