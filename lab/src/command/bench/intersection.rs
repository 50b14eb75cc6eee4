//! The subcommand `lab bench intersection`.

use clap::Args;
use lab::Result;
use lab::bench::intersection::{self, Intersection, Request};

use super::super::output;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Items of the set
    #[arg(long, default_value_t = 1 << 20)]
    items: usize,
    /// Bytes of a label
    #[arg(long, default_value_t = 16)]
    label_bytes: usize,
    /// Items of the client, half of which are in the set
    #[arg(long, default_value_t = 5000)]
    asked: usize,
    /// Times that all of them are asked for
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Threads of an answer
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

/// Times set intersections, and prints the figures; returns whether all labels came back, and no other.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    let &Arguments { items, label_bytes, asked, rounds, threads, json } = arguments;
    let found = intersection::run(Request { items, label_bytes, asked, rounds, threads })?;
    if json {
        output::print_json(&found)?;
    } else {
        print(&found)?;
    }
    Ok(found.correct)
}

fn print(found: &Intersection) -> Result<()> {
    let Intersection { items, label_bytes, asked, queries, ciphertexts: [sent, answers], n, threads, .. } =
        found;
    let right = if found.correct { "all right" } else { "some WRONG" };
    output::print(&format!(
        "{items} items with labels of {label_bytes} bytes, {asked} asked for in {queries} queries, n = {n}, {threads} threads, {} rounds, {right}\n\
         answer {:.3} s (least {:.3} s), prepared in {:.1} s, {} MiB\n\
         {} KiB up in {sent} ciphertexts a query, {} KiB down in {answers}, {} KiB of keys once",
        found.rounds,
        found.answer_s,
        found.least_s,
        found.preparation_s,
        found.prepared_bytes >> 20,
        found.upload_bytes >> 10,
        found.download_bytes >> 10,
        found.key_bytes >> 10,
    ))
}
