//! Parameters follow from the computation: say what it does, read why they were chosen.
//!
//! `cargo run --release -p sunzi --example 02_choosing_parameters`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;

use sunzi::prelude::*;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // The computation: the sum of 1000 products of two numbers of at most 100.
    //
    // `plain_range` is for the largest result, sums included: the library cannot see how large
    // the numbers grow, and a result beyond the range would wrap round without notice.
    let builder = Parameters::builder()
        .depth(1) // products in a row: x·y has depth 1, (x·y)·z has depth 2
        .additions(10) // log2 of how many ciphertexts are summed: 2^10 ≥ 1000
        .plain_range(1_000_u32 * 100 * 100)
        .slots(1_000); // at least so many numbers in one ciphertext

    // Every candidate, and what speaks for or against it. More depth or wider numbers take a larger
    // ciphertext modulus q; security then takes a larger ring n, and that makes everything slower.
    let explanation = builder.explain()?;
    println!("{explanation}\n");

    // `build` takes one plaintext modulus. For integers too wide for one, the explanation may show
    // several: `build_crt` takes those (example 04).
    let parameters = builder.build()?;
    if parameters.plain_modulus() < 2 * 10_000_000 + 1 {
        return Err("the plaintext modulus does not hold -10^7 to 10^7".into());
    }
    if explanation.chosen.map(|choice| choice.parameters) != Some(parameters.into()) {
        return Err("the explanation is of other parameters".into());
    }

    // What cannot be had is refused with the nearest requests that can.
    match Parameters::builder().depth(12).plain_bits(40).log2_degree(13).build() {
        Err(BfvError::NothingFits(advice)) => println!("depth 12 in a ring of 2^13 is refused:\n{advice}\n"),
        Err(other) => return Err(other.into()),
        Ok(_) => return Err("depth 12 cannot fit in a ring of 2^13".into()),
    }

    // Numbers from elsewhere (a file, a paper) are plain data, checked before use. These moduli
    // are secure in a ring of twice the degree; here they would make the secret key too easy to find.
    let large = Parameters::builder().depth(4).plain_bits(17).build()?;
    let moduli = large.moduli().to_vec();
    let weak = Parameters::new(large.log2_degree() - 1, moduli, large.plain_modulus(), Security::Bits128);
    match Context::new(&weak) {
        Err(error @ BfvError::Rlwe(RlweError::Insecure { .. })) => println!("too weak: {error}"),
        Err(other) => return Err(other.into()),
        Ok(_) => return Err("insecure parameters were accepted".into()),
    }
    Ok(())
}
