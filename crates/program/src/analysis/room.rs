//! Noise room that parameters of BFV leave a program.
//!
//! The program is run with the evaluators of the scheme over polynomials without coefficients, with the largest plaintexts that there may be: the
//! bounds are those of any run, in the order in which it adds, multiplies and rotates.

use sunzi_bfv::{Ciphertext, Context, CrtParameters, Evaluator};
use sunzi_circuits::inner_product::required_rotations;
use sunzi_circuits::{Arithmetic as _, EvaluationKeys, Rotation};
use sunzi_encoding::Plaintext;
use sunzi_rlwe::{PublicKey, RlweError, galois};

use super::{Layout, dry};
use crate::run::exact::{Exact, Output, Value};
use crate::run::{Clear, encrypted_inputs, run};
use crate::{NodeId, Program, ProgramError};

/// Returns the fewest bits left in any output before decryption is refused; infinity where no output is encrypted.
pub(super) fn bits_left(
    program: &Program,
    parameters: &CrtParameters,
    layout: &Layout,
) -> Result<f64, ProgramError> {
    let scheme = |error: sunzi_bfv::BfvError| ProgramError::scheme(error);
    let context = dry::bfv(parameters)?;
    let (t, degree) = (context.plain_modulus(), context.degree());
    let (public, keys) = keys(program, &context, layout).map_err(ProgramError::scheme)?;
    let evaluator = Evaluator::new(&context);
    let plaintext = |value: u64| Plaintext::new(vec![value; degree], t).map_err(ProgramError::scheme);
    // One chunk is run; sums of several have as many times the noise.
    let chunk = Layout { rows: layout.span, chunks: 1, ..*layout };
    let backend = Exact::new(program, &chunk, &evaluator, &keys, |_: &[u64]| plaintext(t / 2));
    let (zero, encrypted, rng) = (plaintext(0)?, encrypted_inputs(program), &mut dry::randomness());
    let input = |id: NodeId, _| {
        if encrypted.contains(&id) {
            context.encrypt(&zero, &public, rng).map(Value::encrypted).map_err(scheme)
        } else {
            Ok(Value::Clear(Clear::Units(vec![0])))
        }
    };
    let mut least = f64::INFINITY;
    let column = |_, _, output: Output<Ciphertext>| {
        if let Output::Encrypted(column) = output {
            least = least.min(evaluator.bits_left(&column));
        }
        Ok(())
    };
    let totals = run(program, &chunk, &backend, input, column)?;
    for output in totals.into_values() {
        if let Output::Encrypted(total) = output {
            least = least.min(evaluator.bits_left(&total) - (layout.chunks.max(1) as f64).log2());
        }
    }
    Ok(least)
}

fn keys(
    program: &Program,
    context: &Context,
    layout: &Layout,
) -> Result<(PublicKey, EvaluationKeys), RlweError> {
    let index = context.rlwe().ring().index();
    let summed = !program.totals().is_empty();
    let rotations = if summed { required_rotations(layout.span, context.degree() / 2) } else { Vec::new() };
    let exponent = |rotation: Rotation| match rotation {
        Rotation::Rows(steps) => galois::rotation_exponent(index, steps),
        Rotation::Columns => galois::swap_exponent(index),
    };
    let exponents = rotations.into_iter().map(exponent).collect::<Result<Vec<u64>, _>>()?;
    dry::keys(context.rlwe(), exponents)
}
