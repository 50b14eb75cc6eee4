//! Packed run in one process, with the steps of owner, server and key holder; one plaintext modulus after the other.

use std::collections::BTreeMap;

use rayon::prelude::*;
use sunzi_circuits::EvaluationKeys;
use sunzi_rlwe::randomness;

use super::Packer;
use super::read::Reader;
use super::server::{Phase, sums};
use crate::contexts::{Contexts, Encrypted, EncryptionKey, PublicKey, SecretKey};
use crate::run::Table;
use crate::{NodeId, Number, Plan, ProgramError};

/// Keys of a packed run, which serve every plaintext modulus.
pub struct Keys {
    /// Secret key, which stays with the owner.
    pub secret: SecretKey,
    /// Public key, which encrypts the table.
    pub public: PublicKey,
    /// Evaluation keys, which the server receives.
    pub evaluation: EvaluationKeys,
}

impl Keys {
    /// Generates all keys that a plan requires.
    ///
    /// # Errors
    /// [`ProgramError::Scheme`] for contexts of other parameters than those of the plan.
    pub fn generate(plan: &Plan, contexts: &Contexts) -> Result<Self, ProgramError> {
        let (rlwe, scheme) = (contexts.rlwe(), |error: sunzi_rlwe::RlweError| ProgramError::scheme(error));
        let mut rng = randomness::from_os().map_err(ProgramError::scheme)?;
        let secret = SecretKey::generate(rlwe, &mut rng).map_err(scheme)?;
        let public = PublicKey::generate(rlwe, &secret, &mut rng).map_err(scheme)?;
        let (rotations, limbs) = (&plan.rotations, plan.rotation_limbs);
        let evaluation = contexts.evaluation_keys(&secret, rotations, limbs, &mut rng).map_err(scheme)?;
        Ok(Self { secret, public, evaluation })
    }
}

/// Decrypted totals of a packed run.
#[derive(Clone, Debug)]
pub struct Totals {
    /// Totals over all rows, by node.
    pub all: BTreeMap<NodeId, Number>,
    /// Totals over the rows of each label of the grouping category, in the order of its labels; over all rows where
    /// no category groups them.
    pub by_label: Vec<BTreeMap<NodeId, Number>>,
    /// Number of bits left in the worst result before decryption would be refused.
    pub bits_left: f64,
}

/// Runs a packed plan on a table in the clear: encrypts, computes and decrypts. `begin` is called for every phase,
/// `done` after each step.
///
/// # Errors
/// [`ProgramError::Mismatch`] for a plan that packs nothing, and for a table of another program or without cells; [`ProgramError::Scheme`].
pub fn run(
    plan: &Plan,
    contexts: &Contexts,
    keys: &Keys,
    table: &Table,
    begin: &mut dyn FnMut(Phase),
    done: &(dyn Fn() + Sync),
) -> Result<Totals, ProgramError> {
    let packed = plan.require_packed()?;
    begin(Phase::Encrypting);
    let codec = contexts.codec(&plan.layout)?;
    let packer = Packer::new(plan, &codec, table)?;
    let (mut results, mut bits_left) = (Vec::new(), f64::INFINITY);
    // The sums of all plaintext moduli together would take as many times the memory.
    for part in 0..plan.parameters.plain_moduli().len() {
        let parts = part..part + 1;
        let public = EncryptionKey::Public(&keys.public);
        let read = |chunk| {
            let inputs: Vec<_> = packed.layout.inputs().collect();
            let encrypt = |&input| packer.encrypt_parts(parts.clone(), (chunk, input), public);
            inputs.par_iter().map(encrypt).collect()
        };
        let own = sums(plan, contexts, (parts.clone(), &keys.evaluation), read, begin, done)?;
        bits_left = bits_left.min(own.bits_left);
        join(&mut results, own.results);
        begin(Phase::Encrypting);
    }
    begin(Phase::Decrypting);
    let open = |result: &Encrypted| Ok(packed.heads(&codec.decrypt(result, &keys.secret)?));
    let heads = results.par_iter().map(open).collect::<Result<Vec<_>, ProgramError>>()?;
    let reader = Reader::new(packed, &codec, plan.program.schema().rows, &heads)?;
    let by_label = (0..packed.moments.groups).map(|label| reader.totals(Some(label)));
    let by_label = by_label.collect::<Result<_, _>>()?;
    Ok(Totals { all: reader.totals(None)?, by_label, bits_left })
}

/// Appends the ciphertexts of further plaintext moduli to each result.
fn join(results: &mut Vec<Encrypted>, more: Vec<Encrypted>) {
    if results.is_empty() {
        *results = more;
        return;
    }
    for (own, more) in results.iter_mut().zip(more) {
        match (own, more) {
            (Encrypted::Bfv(own), Encrypted::Bfv(more)) => own.extend(more),
            (Encrypted::Bgv(own), Encrypted::Bgv(more)) => own.extend(more),
            // One context has one scheme.
            _ => {}
        }
    }
}
