//! The subcommand `lab bench nearest`.

use clap::Args;
use lab::Result;
use lab::bench::nearest::{self, Nearest, Request};

use super::super::output;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Vectors of the database
    #[arg(long, default_value_t = 1 << 18)]
    vectors: usize,
    /// Coordinates of a vector, of 8 bits each
    #[arg(long, default_value_t = 128)]
    dimensions: usize,
    /// Answers that are timed
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Threads of an answer
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

/// Times nearest neighbours, and prints the figures; returns whether all scores were right.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    let &Arguments { vectors, dimensions, rounds, threads, json } = arguments;
    let found = nearest::run(Request { vectors, dimensions, rounds, threads })?;
    if json {
        output::print_json(&found)?;
    } else {
        print(&found)?;
    }
    Ok(found.correct)
}

fn print(found: &Nearest) -> Result<()> {
    let Nearest { vectors, dimensions, n, threads, rounds, .. } = found;
    let right = if found.correct { "all right" } else { "some WRONG" };
    output::print(&format!(
        "{vectors} vectors of {dimensions} coordinates, n = {n}, modulus of {:.0} bits, {threads} threads, {rounds} rounds, {right}\n\
         answer {:.3} s (least {:.3} s), prepared in {:.1} s, {} MiB\n\
         {} KiB up, {} KiB down",
        found.log_key_modulus,
        found.answer_s,
        found.least_s,
        found.preparation_s,
        found.prepared_bytes >> 20,
        found.upload_bytes >> 10,
        found.download_bytes >> 10,
    ))
}
