//! A matrix times an encrypted vector: a small neural layer, or any linear map, without seeing the vector.
//!
//! `cargo run --release -p sunzi --example 08_matrix_vector`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::time::Instant;

use sunzi::circuits::matrix_vector::{Matrix, multiply, pack, required_rotations};
use sunzi::circuits::{Arithmetic, EvaluationKeys};
use sunzi::prelude::*;

const ROWS: usize = 16;
const COLUMNS: usize = 100;

/// The server's matrix, signed numbers modulo t.
fn weight(row: usize, column: usize) -> i64 {
    (row as i64 * 7 + column as i64 * 3) % 21 - 10
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // No product of ciphertexts; but a product with plaintexts costs about as much noise as one, and here it comes
    // after rotations, which the builder expects at the end: that takes the bits of another product.
    let context = Context::new(&Parameters::builder().depth(2).rotations(5).plain_bits(20).build()?)?;
    let t = context.plain_modulus();
    let evaluator = Evaluator::new(&context);
    let encoder = BatchEncoder::new(context.degree(), t)?;

    // Each distance of a rotation needs a key. Multiplying by 16 rows takes 16 diagonals, but by baby steps and
    // giant steps few distances, and those of the baby steps share most of their work.
    let mut rng = randomness::from_os()?;
    let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
    let public = PublicKey::generate(context.rlwe(), &secret, &mut rng)?;
    let rotations = required_rotations(&evaluator, ROWS, COLUMNS)?;
    println!("a {ROWS} x {COLUMNS} matrix needs {} rotations", rotations.len());
    let keys = EvaluationKeys::generate(context.rlwe(), &secret, rotations, &mut rng)?;

    // The client's vectors: one for each row of slots, padded and repeated so that rotations wrap around.
    let first: Vec<u64> = (0..COLUMNS as u64).map(|i| i * i % 50).collect();
    let second: Vec<u64> = (0..COLUMNS as u64).map(|i| 99 - i).collect();
    let slots = pack(COLUMNS, evaluator.row_length(), &first, &second);
    let vector = context.encrypt(&encoder.encode(&slots)?, &public, &mut rng)?;

    // The server makes its matrix ready once and multiplies as often as it likes.
    let residue = |i: usize, j: usize| weight(i, j).rem_euclid(t as i64) as u64;
    let start = Instant::now();
    let matrix = Matrix::encode(&evaluator, ROWS, COLUMNS, residue, |slots| encoder.encode(slots))?;
    println!("making the matrix ready: {:.0} ms", start.elapsed().as_secs_f64() * 1000.0);
    let start = Instant::now();
    let product = multiply(&evaluator, &matrix, &vector, &keys)?;
    let time = start.elapsed().as_secs_f64() * 1000.0;
    println!("both products: {time:.0} ms, {:.1} bits left", context.bits_left(&product));

    let opened = encoder.decode_signed(&context.decrypt(&product, &secret)?)?;
    for (half, vector) in opened.chunks(evaluator.row_length()).zip([&first, &second]) {
        let entry = |row: usize| -> i64 {
            vector.iter().enumerate().map(|(column, &x)| weight(row, column) * x as i64).sum()
        };
        let expected: Vec<i64> = (0..ROWS).map(entry).collect();
        if !half.starts_with(&expected) {
            return Err("the decrypted product is wrong".into());
        }
        println!("product: {:?} ...", expected.get(..4).unwrap_or_default());
    }
    Ok(())
}
