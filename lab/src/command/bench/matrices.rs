//! The subcommand `lab bench matrices`.

use clap::{Args, ValueEnum};
use lab::Result;
use lab::bench::matrices::{self, Product, Request};
use sunzi_circuits::matrix_product::Packing;

use super::super::output;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Rows and columns of both matrices
    #[arg(long, default_value_t = 4096)]
    size: usize,
    /// Places of the numbers of a row in its ciphertexts
    #[arg(long, value_enum, default_value_t = Places::Slots)]
    packing: Places,
    /// Products that are timed
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Threads of a product
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Time the same work by diagonals and rotations too, from one of its vectors
    #[arg(long)]
    rotations: bool,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

/// Places of the numbers of a row, by name.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Places {
    /// Two numbers a slot
    Slots,
    /// One number a coefficient
    Coefficients,
}

/// Times products of matrices, and prints the figures; returns whether the result is right.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    let &Arguments { size, packing, rounds, threads, rotations, json } = arguments;
    let packing = match packing {
        Places::Slots => Packing::Slots,
        Places::Coefficients => Packing::Coefficients,
    };
    let product = matrices::run(Request { size, packing, rounds, threads, rotations })?;
    if json {
        output::print_json(&product)?
    } else {
        print(&product)?
    }
    Ok(product.correct)
}

fn print(product: &Product) -> Result<()> {
    let Product { size, packing, n, log_q, kernel, threads, rounds, .. } = product;
    let met = match product.met {
        Some(true) => ", bars of 5 s and 10 s met",
        Some(false) => ", bars of 5 s and 10 s MISSED",
        None => "",
    };
    let rotations = product.by_rotations_s;
    let rotations = rotations
        .map_or(String::new(), |time| format!("\n{time:.1} s by rotations, from one of their vectors"));
    let processor =
        product.processor_s.map_or(String::new(), |time| format!(", {time:.3} s of the processor"));
    output::print(&format!(
        "{size} x {size} plain by encrypted in {packing}, n = {n}, modulus of {log_q:.1} bits, 128 bits of security, {kernel}, {threads} threads, {rounds} rounds\n\
         product {:.3} s (least {:.3} s{processor}), prepared in {:.3} s{met}\n\
         {:.1} bits right in the worst of {} numbers; {} MiB of ciphertexts each way, {} MiB of the plain matrix{rotations}",
        product.product_s,
        product.least_s,
        product.preparation_s,
        product.right_bits,
        product.checked,
        product.encrypted_bytes >> 20,
        product.plain_bytes >> 20,
    ))
}
