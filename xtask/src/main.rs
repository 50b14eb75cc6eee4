//! Developer tasks of Sunzi: `cargo xtask test`, `cargo xtask check`, `cargo xtask layers`, `cargo xtask limits`, `cargo xtask python`,
//! `cargo xtask typescript`, `cargo xtask book`, `cargo xtask circles`, `cargo xtask budgets`, `cargo xtask paths`, `cargo xtask faults`, `cargo xtask reliability`,
//! `cargo xtask peers`, and for a release `cargo xtask package`, `cargo xtask wheels`, `cargo xtask archive`.
//!
//! Exit codes of `cargo xtask`: 0 everything held, 1 a check failed, 2 the command line was wrong.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a terminal program: printing is its output")]

mod archive;
mod book;
mod budgets;
mod circles;
mod examples;
mod faults;
mod layers;
mod limits;
mod links;
mod package;
mod paths;
mod peers;
mod python;
mod reliability;
mod shipped;
mod step;
mod supply;
mod test;
mod tree;
mod typescript;
mod wheels;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Developer tasks of Sunzi")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Run every test, and the examples of the documentation
    Test(test::Arguments),
    /// Check format, lints, layers, circles, limits, features, licences and the build of the documentation
    Check,
    /// Check that every crate imports only from the layers below its own
    Layers,
    /// Check that files import one another in no circle, but for those that xtask/circles.txt allows
    Circles,
    /// Build the command line from nothing, and check the processor time that each of our crates takes to compile
    ///
    /// The task takes three minutes of processor time to build all crates, so that it is no part of `check`.
    Budgets(budgets::Arguments),
    /// Record which files a product, a bootstrapping and the demonstration go through, and compare with docs/paths.md
    ///
    /// The task records paths in a build of its own, so that it is no part of `check`, which sees that the
    /// files on that page exist; `test --long` has it as a step.
    Paths(paths::Arguments),
    /// Try faults on the tests that must catch them, in a copy of the tree: hours for all of them
    Faults(faults::Arguments),
    /// Check file lengths, where `unsafe` stands, ignored tests, and paths named in the documents
    Limits,
    /// Check that what users build measures nothing by the secret key and counts nothing
    Shipped,
    /// Check licences, sources and checksums of what others wrote, without network; cargo deny besides where it is installed
    Supply(supply::Arguments),
    /// Build the book as HTML below the target directory, by mdBook, and check its links
    Book(book::Arguments),
    /// Build the Python package into a fresh virtual environment and test it there
    Python,
    /// Build Sunzi in WebAssembly and the npm package, and test them in Node (needs Node, npm and the network)
    Typescript,
    /// Package every crate as it would be published, and compile each from its package alone
    Package(package::Arguments),
    /// Build wheels of the Python package for Linux and its source distribution, and try them (needs Python and the network)
    Wheels(wheels::Arguments),
    /// Build the command line and pack it with completions and the manual
    Archive(archive::Arguments),
    /// Measure the figures of security and reliability, and print them beside their bars
    Reliability(reliability::Arguments),
    /// Build other libraries and compare with them, taking turns (Lattigo needs Go)
    Peers(peers::Arguments),
}

fn main() -> ExitCode {
    if let Some(code) = budgets::around_the_compiler() {
        return code;
    }
    let outcome = match Arguments::parse().task {
        Task::Test(arguments) => test::run(&arguments),
        Task::Check => test::check(),
        Task::Layers => layers::run(),
        Task::Circles => circles::check(&tree::root()).map(|summary| format!("circles: {summary}")),
        Task::Budgets(arguments) => budgets::run(&arguments),
        Task::Paths(arguments) => paths::run(&arguments),
        Task::Faults(arguments) => faults::run(&arguments),
        Task::Limits => limits::run(),
        Task::Shipped => shipped::check(&tree::root()).map(|summary| format!("shipped: {summary}")),
        Task::Supply(arguments) => supply::run(&arguments),
        Task::Book(arguments) => book::run(&arguments),
        Task::Python => python::check(&tree::root()).map(|summary| format!("python: {summary}")),
        Task::Typescript => typescript::check(&tree::root()).map(|summary| format!("typescript: {summary}")),
        Task::Package(arguments) => package::run(&arguments),
        Task::Wheels(arguments) => wheels::run(&arguments),
        Task::Archive(arguments) => archive::run(&arguments),
        Task::Reliability(arguments) => reliability::run(&arguments),
        Task::Peers(arguments) => peers::run(&arguments),
    };
    match outcome {
        Ok(summary) => {
            if !summary.is_empty() {
                println!("{summary}");
            }
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
