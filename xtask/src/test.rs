//! `cargo xtask test`: everything that must hold before a change lands.

use std::path::Path;

use crate::step::{self, Step};
use crate::{layers, limits};

/// Runs all checks and tests; with `long`, also the tests marked `#[ignore = "long: ..."]`.
pub(crate) fn run(long: bool) -> Result<String, String> {
    let mut steps = steps();
    if long {
        steps.push(Step::cargo("long tests", "test --workspace --lib --bins --tests -- --ignored"));
    }
    let task = if long { "xtask test --long" } else { "xtask test" };
    step::run_all(task, &steps)
}

fn steps() -> Vec<Step> {
    vec![
        Step::cargo("format", "fmt --all --check"),
        Step::check("layers", layers::check, "cargo xtask layers"),
        Step::check("limits", limits::check, "cargo xtask limits"),
        Step::cargo("clippy", "clippy --workspace --all-targets -- -D warnings"),
        Step::cargo("clippy with peers", "clippy -p bench --all-targets --features peers -- -D warnings"),
        Step::check("lock file", locked, "cargo metadata --locked --format-version 1"),
        Step::cargo("tests", "test --workspace --lib --bins --tests --examples"),
        // The portable table must pass the same suites where the first run picked a faster one.
        Step::cargo_with(
            "tests, portable table",
            &[("SUNZI_ISA", "portable")],
            "test -p sunzi-kernels -p sunzi-ring -p sunzi-bfv --lib --tests",
        ),
        Step::cargo("tests with peers", "test -p bench --features peers --lib --bins --tests"),
        Step::cargo("doc tests", "test --workspace --doc"),
        Step::cargo_with("docs", &[("RUSTDOCFLAGS", "-D warnings")], "doc --workspace --no-deps --lib"),
    ]
}

/// The lock file belongs to the manifests: a build on another machine resolves the same versions.
fn locked(root: &Path) -> Result<String, String> {
    layers::metadata(root, &["--locked"]).map(|_| String::new())
}
