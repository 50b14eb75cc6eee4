//! The subcommand `lab bench matrices`.

use clap::{Args, ValueEnum};
use lab::Result;
use lab::bench::matrices::{self, Product, Request};
use lab::bench::matrix_batches;
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
    /// Time the same work by rotations too: by diagonals from one of its vectors, or by the operations of encrypted products
    #[arg(long)]
    rotations: bool,
    /// Multiply encrypted matrices by encrypted ones, as many at once as there is room for
    #[arg(long, conflicts_with = "packing")]
    encrypted: bool,
    /// Take about 2·√size Galois keys for encrypted products
    #[arg(long, requires = "encrypted")]
    few_keys: bool,
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
    let &Arguments { size, packing, rounds, threads, rotations, encrypted, few_keys, json } = arguments;
    if encrypted {
        let request = matrix_batches::Request { size, rounds, threads, few_keys, rotations };
        let product = matrix_batches::run(request)?;
        if json {
            output::print_json(&product)?
        } else {
            print_batch(&product)?
        }
        return Ok(product.correct);
    }
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

fn print_batch(product: &matrix_batches::Product) -> Result<()> {
    let matrix_batches::Product { size, count, n, log_q, log_qp, kernel, threads, rounds, .. } = product;
    let processor =
        product.processor_s.map_or(String::new(), |time| format!(" ({time:.3} s of the processor)"));
    let rotations = product.by_rotations_s.map_or(String::new(), |time| {
        format!("\n{time:.3} s by rotations on blocks of 64 x 64, from the times of their operations")
    });
    output::print(&format!(
        "{count} of {size} x {size} encrypted by encrypted, n = {n}, modulus of {log_q:.1} bits, keys of {log_qp:.1}, 128 bits of security, {kernel}, {threads} threads, {rounds} rounds\n\
         product {:.3} s{processor}; rows to columns {:.3} s before it, where factors come so, {:.1} bits right\n\
         {:.1} bits of the product right; {} MiB of keys, {} MiB of ciphertexts a factor{rotations}",
        product.product_s,
        product.conversion_s,
        product.converted_bits,
        product.right_bits,
        product.key_bytes >> 20,
        product.encrypted_bytes >> 20,
    ))
}
