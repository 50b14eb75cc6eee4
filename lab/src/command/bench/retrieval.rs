//! The subcommand `lab bench retrieval`.

use clap::Args;
use lab::Result;
use lab::bench::retrieval::{self, Request, Retrieval};

use super::super::output;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Entries of the database
    #[arg(long, default_value_t = 1 << 20)]
    entries: u64,
    /// Bytes of an entry
    #[arg(long, default_value_t = 256)]
    entry_bytes: usize,
    /// Answers that are timed
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Queries that are answered together
    #[arg(long, default_value_t = 1)]
    together: usize,
    /// Threads of an answer
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

/// Times private retrievals, and prints the figures; returns whether all entries came back.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    let &Arguments { entries, entry_bytes, rounds, together, threads, json } = arguments;
    let found = retrieval::run(Request { entries, entry_bytes, rounds, together, threads })?;
    if json {
        output::print_json(&found)?;
    } else {
        print(&found)?;
    }
    Ok(found.correct)
}

fn print(found: &Retrieval) -> Result<()> {
    let Retrieval {
        entries, entry_bytes, n, log_q, threads, rounds, together, sides: [rows, columns], ..
    } = found;
    let processor = found.processor_s.map_or(String::new(), |time| format!(", {time:.3} s of the processor"));
    let right = if found.correct { "all right" } else { "some WRONG" };
    output::print(&format!(
        "{entries} entries of {entry_bytes} bytes, {rows} x {columns} plaintexts, n = {n}, moduli of {log_q:.0} and {:.0} bits, {threads} threads, {rounds} times {together} queries, {right}\n\
         answer {:.3} s (least {:.3} s{processor}), prepared in {:.1} s; query {:.4} s, read in {:.4} s\n\
         {} KiB up, {} KiB down, {} KiB of keys once",
        found.log_key_modulus,
        found.answer_s,
        found.least_s,
        found.preparation_s,
        found.query_s,
        found.read_s,
        found.upload_bytes >> 10,
        found.download_bytes >> 10,
        found.key_bytes >> 10,
    ))
}
