//! Noise room that parameters of exact schemes leave a program.
//!
//! The program is run with the evaluators of the scheme over polynomials without coefficients, with the largest plaintexts that there may be: the
//! bounds are those of any run, in the order in which it adds, multiplies and rotates. Tables are polynomials with all coefficients, as large as
//! there may be, and are not found: that takes as many products as a table has entries, squared.

use sunzi_bfv::CrtParameters;
use sunzi_circuits::inner_product::required_rotations;
use sunzi_circuits::{Arithmetic, EvaluationKeys, Rotation};
use sunzi_encoding::Plaintext;
use sunzi_rlwe::reencryption::added_noise_at;
use sunzi_rlwe::{DeclaredNoise, PublicKey, Reencryptions, RlweContext, RlweError, galois};

use super::{Layout, dry, facts};
use crate::run::exact::{Exact, Output, Value};
use crate::run::{Clear, encrypted_inputs, run};
use crate::{NodeId, Program, ProgramError};

/// Returns the fewest bits left in any output of BFV before decryption is refused, behind the re-encryptions that follow; infinity where no output is encrypted.
pub(super) fn bits_left(
    program: &Program,
    parameters: &CrtParameters,
    layout: &Layout,
    reencryptions: Option<Reencryptions>,
) -> Result<f64, ProgramError> {
    check_entries(program, parameters.plain_moduli())?;
    let context = dry::bfv(parameters)?;
    let (public, keys) = keys(program, context.rlwe(), layout).map_err(ProgramError::scheme)?;
    let (evaluator, rng) = (sunzi_bfv::Evaluator::new(&context), &mut dry::randomness());
    let fresh = |zero: &Plaintext| context.encrypt(zero, &public, rng).map_err(ProgramError::scheme);
    let left = least_of(program, (&evaluator, &keys), context.rlwe(), layout, fresh)?;
    let Some(hops) = reencryptions.filter(|_| left.is_finite()) else { return Ok(left) };
    let (rlwe, capacity) = (context.rlwe(), context.log2_noise_capacity());
    let added = added_noise_at(rlwe, rlwe.level()).map_err(ProgramError::scheme)?;
    let noise = DeclaredNoise::from_bits(capacity - left);
    let last = hops.declared_after(noise, added, rlwe.ring().expansion()).map_err(ProgramError::scheme)?;
    Ok(capacity - last.bits())
}

/// Checks that BGV computes a program's tables at the levels and with the operations that its parameters declare.
///
/// # Errors
/// The refusal of a run.
pub(super) fn declared(
    program: &Program,
    parameters: &sunzi_bgv::Parameters,
    plain_moduli: &[u64],
    layout: &Layout,
) -> Result<(), ProgramError> {
    if !has_tables(program) {
        return Ok(());
    }
    check_entries(program, plain_moduli)?;
    let context = dry::bgv(parameters, plain_moduli)?;
    let (public, keys) = keys(program, context.rlwe(), layout).map_err(ProgramError::scheme)?;
    let (evaluator, rng) = (sunzi_bgv::Evaluator::new(&context), &mut dry::randomness());
    let fresh = |zero: &Plaintext| context.encrypt(zero, &public, rng).map_err(ProgramError::scheme);
    let left = least_of(program, (&evaluator, &keys), context.rlwe(), layout, fresh)?;
    if left < 0.0 {
        return Err(ProgramError::Invalid(format!("{:.0} bits of noise are missing", -left)));
    }
    Ok(())
}

/// Whether an encrypted table is looked up.
pub(super) fn has_tables(program: &Program) -> bool {
    most_entries(program).is_some()
}

/// Returns the number of entries of the longest table; `None` for a program without tables.
fn most_entries(program: &Program) -> Option<usize> {
    program.used().into_iter().filter_map(|id| program.graph().node(id)?.entries()).max()
}

/// Checks that tables have polynomials modulo all plaintext moduli.
fn check_entries(program: &Program, plain_moduli: &[u64]) -> Result<(), ProgramError> {
    let (most, least) = (most_entries(program).unwrap_or(0), plain_moduli.iter().copied().min());
    match least.filter(|&t| most as u64 > t) {
        Some(t) => {
            let expected = format!("at least {most}, the number of a table's entries");
            Err(ProgramError::mismatch("the plaintext modulus", expected, t))
        }
        None => Ok(()),
    }
}

/// Runs a program without coefficients, and returns the fewest bits left in any output.
fn least_of<A: Arithmetic<Plaintext = Plaintext>>(
    program: &Program,
    (arithmetic, keys): (&A, &A::Keys),
    context: &RlweContext,
    layout: &Layout,
    mut fresh: impl FnMut(&Plaintext) -> Result<A::Ciphertext, ProgramError>,
) -> Result<f64, ProgramError> {
    let (t, degree, parties) = (arithmetic.plain_modulus(), context.ring().degree(), context.parties());
    let plaintext = |value: u64| Plaintext::new(vec![value; degree], t).map_err(ProgramError::scheme);
    // One chunk is run; sums of several have as many times the noise.
    let chunk = Layout { rows: layout.span, chunks: 1, ..*layout };
    let backend = Exact::new(program, &chunk, arithmetic, keys, |_: &[u64]| plaintext(t / 2));
    let backend = backend.counting((t / 2) as i64);
    let (zero, encrypted, known) = (plaintext(0)?, encrypted_inputs(program), facts(program));
    let add = |a: &_, b: &_| arithmetic.add(a, b).map_err(ProgramError::scheme);
    let input = |id: NodeId, _| {
        if encrypted.contains(&id) {
            dry::rows_of_all(parties, || fresh(&zero), add).map(Value::encrypted)
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
