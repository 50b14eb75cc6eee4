//! Computation of a server on a packed table: ciphertexts of columns to encrypted sums.

use std::ops::Range;

use sunzi_circuits::statistics::{EncryptedChunk, EncryptedSum, Layout, Server};
use sunzi_circuits::{Arithmetic, CircuitError, EvaluationKeys};

use super::{Packed, not_ckks};
use crate::contexts::{Contexts, Conversions, Encrypted, Parts};
use crate::{Plan, ProgramError};

/// Phase of a packed run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Phase in which the owner packs and encrypts a chunk.
    Encrypting,
    /// Phase in which the server multiplies columns.
    Products,
    /// Phase in which the server sums over slots.
    Sums,
    /// Phase in which the key holder decrypts.
    Decrypting,
}

/// Encrypted sums of a packed plan, which the server sends to the key holder.
pub struct EncryptedTotals {
    /// Encrypted sums in the order of a file of results.
    pub results: Vec<Encrypted>,
    /// Number of bits left in the worst sum before decryption would be refused, according to noise bounds.
    pub bits_left: f64,
}

/// Runs a packed plan with the keys it requires. `input` gives all inputs of a chunk, in the order of
/// [`Layout::inputs`](sunzi_circuits::statistics::Layout::inputs); chunks come in order. `done` is called after each
/// of [`Packed::steps`].
///
/// # Errors
/// [`ProgramError::Mismatch`] for a plan that packs nothing, for contexts that are not those of the plan, and for inputs of another kind;
/// [`ProgramError::Scheme`]; what `input` fails with.
pub fn evaluate(
    plan: &Plan,
    contexts: &Contexts,
    keys: &EvaluationKeys,
    input: impl FnMut(usize) -> Result<Vec<Encrypted>, ProgramError>,
    done: &(dyn Fn() + Sync),
) -> Result<EncryptedTotals, ProgramError> {
    let moduli = plan.parameters.plain_moduli().len();
    sums(plan, contexts, (0..moduli, keys), input, &mut |_| {}, done)
}

/// Runs a packed plan for some of its plaintext moduli.
pub(super) fn sums(
    plan: &Plan,
    contexts: &Contexts,
    (parts, keys): (Range<usize>, &EvaluationKeys),
    input: impl FnMut(usize) -> Result<Vec<Encrypted>, ProgramError>,
    begin: &mut dyn FnMut(Phase),
    done: &(dyn Fn() + Sync),
) -> Result<EncryptedTotals, ProgramError> {
    let packed = plan.require_packed()?;
    if contexts.parameters() != &plan.parameters {
        return Err(ProgramError::mismatch("the contexts", "those of the plan", "others"));
    }
    match contexts.parts() {
        Parts::Bfv(contexts) => {
            let own = |input| if let Encrypted::Bfv(parts) = input { Some(parts) } else { None };
            let evaluators = evaluators(contexts, parts, sunzi_bfv::Evaluator::new);
            run(packed, (&evaluators, keys), (own, Encrypted::Bfv), input, begin, done)
        }
        Parts::Bgv(contexts) => {
            let own = |input| if let Encrypted::Bgv(parts) = input { Some(parts) } else { None };
            let evaluators = evaluators(contexts, parts, sunzi_bgv::Evaluator::new);
            run(packed, (&evaluators, keys), (own, Encrypted::Bgv), input, begin, done)
        }
        Parts::Ckks(_) | Parts::Integers(_) => Err(not_ckks()),
    }
}

/// Makes an evaluator for each of the contexts.
fn evaluators<C, E>(contexts: &[C], parts: Range<usize>, evaluator: impl Fn(&C) -> E) -> Vec<E> {
    contexts.get(parts).unwrap_or_default().iter().map(evaluator).collect()
}

/// Returns the ciphertexts of each input: one of the right scheme for each of `count` plaintext moduli.
fn parts_of<C>(
    inputs: Vec<Encrypted>,
    count: usize,
    own: impl Fn(Encrypted) -> Option<Vec<C>>,
) -> Result<Vec<Vec<C>>, ProgramError> {
    let others = || ProgramError::mismatch("an input", "ciphertexts of the plan", "others");
    let each = inputs.into_iter().map(|input| own(input).filter(|parts| parts.len() == count));
    each.map(|parts| parts.ok_or_else(others)).collect()
}

/// Runs one server for each plaintext modulus; `parts` and `join` convert an input to ciphertexts, and ciphertexts to
/// a result.
fn run<A: Arithmetic>(
    packed: &Packed,
    (evaluators, keys): (&[A], &A::Keys),
    (parts, join): Conversions<A::Ciphertext>,
    mut input: impl FnMut(usize) -> Result<Vec<Encrypted>, ProgramError>,
    begin: &mut dyn FnMut(Phase),
    done: &(dyn Fn() + Sync),
) -> Result<EncryptedTotals, ProgramError> {
    let layout = &packed.layout;
    let server = |arithmetic| Server::new(arithmetic, keys, layout).map_err(scheme);
    let mut servers = evaluators.iter().map(server).collect::<Result<Vec<_>, _>>()?;
    for chunk in 0..layout.chunks() {
        begin(Phase::Encrypting);
        let inputs = parts_of(input(chunk)?, evaluators.len(), parts)?;
        begin(Phase::Products);
        for (server, inputs) in servers.iter_mut().zip(by_modulus(inputs, layout, evaluators.len())) {
            server.absorb(&inputs, done).map_err(scheme)?;
        }
    }
    begin(Phase::Sums);
    let mut results: Vec<Vec<A::Ciphertext>> = Vec::new();
    for server in servers {
        let sums = server.finish(done).map_err(scheme)?;
        let own = sums.columns.into_iter().chain(sums.products).flat_map(|sum| wanted(packed, sum));
        for (at, ciphertext) in own.enumerate() {
            match results.get_mut(at) {
                Some(result) => result.push(ciphertext),
                None => results.push(vec![ciphertext]),
            }
        }
    }
    let left = results.iter().flat_map(|result| evaluators.iter().zip(result));
    let bits_left = left.map(|(own, part)| own.bits_left(part)).fold(f64::INFINITY, f64::min);
    Ok(EncryptedTotals { results: results.into_iter().map(join).collect(), bits_left })
}

/// Returns the ciphertexts of a chunk for each plaintext modulus.
fn by_modulus<C>(inputs: Vec<Vec<C>>, layout: &Layout, moduli: usize) -> Vec<EncryptedChunk<C>> {
    let none = || EncryptedChunk { packed: Vec::new(), repeated: Vec::new() };
    let mut chunks: Vec<EncryptedChunk<C>> = std::iter::repeat_with(none).take(moduli).collect();
    for (at, parts) in inputs.into_iter().enumerate() {
        for (chunk, part) in chunks.iter_mut().zip(parts) {
            let own = if at < layout.packed() { &mut chunk.packed } else { &mut chunk.repeated };
            own.push(part);
        }
    }
    chunks
}

/// Returns the ciphertexts of a sum that the key holder needs.
fn wanted<C>(packed: &Packed, sum: EncryptedSum<C>) -> impl Iterator<Item = C> {
    let (groups, total) = packed.wanted();
    groups.then_some(sum.groups).into_iter().chain(total.then_some(sum.total))
}

fn scheme<E: std::error::Error + Send + Sync + 'static>(error: CircuitError<E>) -> ProgramError {
    ProgramError::scheme(error)
}
