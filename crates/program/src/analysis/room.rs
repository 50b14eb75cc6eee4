//! Noise room that parameters of exact schemes leave a program.
//!
//! The program is run with the evaluators of the scheme over polynomials without coefficients, with the largest plaintexts that there may be: the
//! bounds are those of any run, in the order in which it adds, multiplies and rotates. Polynomials of tables differ by the plaintext modulus, so that
//! programs with tables are run for each of them.

use sunzi_bfv::CrtParameters;
use sunzi_circuits::inner_product::required_rotations;
use sunzi_circuits::{Arithmetic, EvaluationKeys, Rotation};
use sunzi_encoding::Plaintext;
use sunzi_rlwe::{PublicKey, RlweContext, RlweError, galois};

use super::{Layout, dry, facts};
use crate::run::exact::{Exact, Output, Value};
use crate::run::{Clear, encrypted_inputs, run};
use crate::{Node, NodeId, Program, ProgramError};

/// Returns the fewest bits left in any output of BFV before decryption is refused; infinity where no output is encrypted.
pub(super) fn bits_left(
    program: &Program,
    parameters: &CrtParameters,
    layout: &Layout,
) -> Result<f64, ProgramError> {
    let mut least = f64::INFINITY;
    let tried = tried(program, parameters.plain_moduli());
    for own in parameters.parts().iter().filter(|own| tried.contains(&own.plain_modulus())) {
        let context = dry::bfv_of(own)?;
        let (public, keys) = keys(program, context.rlwe(), layout).map_err(ProgramError::scheme)?;
        let (evaluator, rng) = (sunzi_bfv::Evaluator::new(&context), &mut dry::randomness());
        let fresh = |zero: &Plaintext| context.encrypt(zero, &public, rng).map_err(ProgramError::scheme);
        least = least.min(least_of(program, (&evaluator, &keys), context.degree(), layout, fresh)?);
    }
    Ok(least)
}

/// Checks that BGV computes a program's tables at the levels and with the operations that its parameters declare.
///
/// # Errors
/// What a run would be refused with.
pub(super) fn declared(
    program: &Program,
    parameters: &sunzi_bgv::Parameters,
    plain_moduli: &[u64],
    layout: &Layout,
) -> Result<(), ProgramError> {
    if !has_tables(program) {
        return Ok(());
    }
    for &t in plain_moduli {
        let context = dry::bgv(parameters, &[t])?;
        let (public, keys) = keys(program, context.rlwe(), layout).map_err(ProgramError::scheme)?;
        let (evaluator, rng) = (sunzi_bgv::Evaluator::new(&context), &mut dry::randomness());
        let fresh = |zero: &Plaintext| context.encrypt(zero, &public, rng).map_err(ProgramError::scheme);
        let left = least_of(program, (&evaluator, &keys), context.degree(), layout, fresh)?;
        if left < 0.0 {
            return Err(ProgramError::Invalid(format!("{:.0} bits of noise are missing", -left)));
        }
    }
    Ok(())
}

/// Whether an encrypted table is looked up.
pub(super) fn has_tables(program: &Program) -> bool {
    let table = |id: &NodeId| matches!(program.graph().node(*id), Some(Node::LookUp { .. }));
    program.used().iter().any(table)
}

/// Returns the plaintext moduli to try: the largest has the most noise, unless polynomials differ.
fn tried(program: &Program, plain_moduli: &[u64]) -> Vec<u64> {
    if has_tables(program) {
        plain_moduli.to_vec()
    } else {
        plain_moduli.iter().copied().max().into_iter().collect()
    }
}

/// Runs a program without coefficients, and returns the fewest bits left in any output.
fn least_of<A: Arithmetic<Plaintext = Plaintext>>(
    program: &Program,
    (arithmetic, keys): (&A, &A::Keys),
    degree: usize,
    layout: &Layout,
    mut fresh: impl FnMut(&Plaintext) -> Result<A::Ciphertext, ProgramError>,
) -> Result<f64, ProgramError> {
    let t = arithmetic.plain_modulus();
    let plaintext = |value: u64| Plaintext::new(vec![value; degree], t).map_err(ProgramError::scheme);
    // One chunk is run; sums of several have as many times the noise.
    let chunk = Layout { rows: layout.span, chunks: 1, ..*layout };
    let backend = Exact::new(program, &chunk, arithmetic, keys, |_: &[u64]| plaintext(t / 2));
    let (zero, encrypted, known) = (plaintext(0)?, encrypted_inputs(program), facts(program));
    let input = |id: NodeId, _| {
        if encrypted.contains(&id) {
            fresh(&zero).map(Value::encrypted)
        } else {
            Ok(Value::Clear(Clear::padded(&known, id)))
        }
    };
    let mut least = f64::INFINITY;
    let column = |_, _, output: Output<A::Ciphertext>| {
        if let Output::Encrypted(column) = output {
            least = least.min(arithmetic.bits_left(&column));
        }
        Ok(())
    };
    let totals = run(program, &chunk, &backend, input, column)?;
    for output in totals.into_values() {
        if let Output::Encrypted(total) = output {
            least = least.min(arithmetic.bits_left(&total) - (layout.chunks.max(1) as f64).log2());
        }
    }
    Ok(least)
}

fn keys(
    program: &Program,
    context: &RlweContext,
    layout: &Layout,
) -> Result<(PublicKey, EvaluationKeys), RlweError> {
    let index = context.ring().index();
    let summed = !program.totals().is_empty();
    let rotations =
        if summed { required_rotations(layout.span, context.ring().degree() / 2) } else { Vec::new() };
    let exponent = |rotation: Rotation| match rotation {
        Rotation::Rows(steps) => galois::rotation_exponent(index, steps),
        Rotation::Columns => galois::swap_exponent(index),
    };
    let exponents = rotations.into_iter().map(exponent).collect::<Result<Vec<u64>, _>>()?;
    dry::keys(context, exponents)
}
