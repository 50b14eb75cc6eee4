//! Sharing of results with others: the noise that a key holder may declare of a program, and the decryption under it.
//!
//! The declared bound is that of the program, which the key holder runs over polynomials without coefficients, never
//! what a file states.

use std::collections::BTreeMap;

use sunzi_circuits::EvaluationKeys;
use sunzi_ckks::precision::flooding_error;
use sunzi_ckks::{Ciphertext, Encoder, Evaluator};
use sunzi_rlwe::sharing::Flooding;
use sunzi_rlwe::{DeclaredNoise, PublicKey, SharingPolicy};

pub use sunzi_rlwe::{LedgerFile, SharingLedger};

use crate::analysis::{Action, Layout, Lowered, Parameters, dry, exp2};
pub use crate::contexts::Sharing;
use crate::contexts::rows_of_both;
use crate::run::ckks::{Ckks, Keys, Output, Value};
use crate::run::{Backend, Clear, Watched, encrypted_inputs, run};
use crate::{NodeId, Plan, ProgramError};

/// Context of CKKS over polynomials without coefficients.
type Hollow = sunzi_ckks::Context;

/// Number of bits declared beyond those found: real numbers of clear columns may round differently than the largest ones.
const SLACK: f64 = 0.1;

impl Plan {
    /// Returns the noise that the key holder may declare of each output node in CKKS, for any numbers and whoever
    /// encrypted them. Empty for exact schemes, where the parameters determine it.
    ///
    /// # Errors
    /// [`ProgramError::Scheme`] for invalid parameters.
    pub fn declared_noise(&self) -> Result<BTreeMap<NodeId, DeclaredNoise>, ProgramError> {
        let mut found: BTreeMap<NodeId, DeclaredNoise> = BTreeMap::new();
        self.rehearse(&self.layout, &|_, _, _| {}, |id, context, ciphertext| {
            raise(&mut found, id, declared(context, ciphertext));
            Ok(())
        })?;
        Ok(found)
    }

    /// Returns the [`declared_noise`](Self::declared_noise) of a program that was run by one of several plans: the largest of each output node.
    ///
    /// # Errors
    /// Every error of [`declared_noise`](Self::declared_noise).
    pub fn noise_of_all(plans: &[Self]) -> Result<BTreeMap<NodeId, DeclaredNoise>, ProgramError> {
        let mut noise = BTreeMap::new();
        for (id, declared) in
            plans.iter().map(Self::declared_noise).collect::<Result<Vec<_>, _>>()?.into_iter().flatten()
        {
            raise(&mut noise, id, declared);
        }
        Ok(noise)
    }

    /// Returns the fewest right bits of any encrypted result of CKKS after sharing, counted from the end of its
    /// range.
    pub(crate) fn shared_bits(&self, policy: SharingPolicy) -> Result<f64, ProgramError> {
        let totals = self.program.totals();
        let rows = (self.layout.rows.max(1) as f64).log2();
        let mut least = f64::INFINITY;
        self.rehearse(&self.layout, &|_, _, _| {}, |id, context, ciphertext| {
            let noise = declared(context, ciphertext);
            context.check_shareable(ciphertext, noise, policy).map_err(ProgramError::of_ckks)?;
            let flooding = Flooding::new(policy, noise, context.degree()).map_err(ProgramError::of_rlwe)?;
            let metadata = ciphertext.metadata();
            let parties = context.rlwe().parties();
            let added = flooding_error(&flooding, parties, metadata.slots, metadata.scale);
            let off = added.hypot(metadata.precision.deviation()).log2();
            least = least.min(if totals.contains(&id) { rows } else { 0.0 } - off);
            Ok(())
        })?;
        Ok(least)
    }

    /// Runs a program in CKKS over polynomials without coefficients, with the largest numbers that there may be. `seen` is shown the values of
    /// all nodes, and `meet` the outputs.
    pub(crate) fn rehearse(
        &self,
        layout: &Layout,
        seen: &dyn Fn(NodeId, &Hollow, &Ciphertext),
        mut meet: impl FnMut(NodeId, &Hollow, &Ciphertext) -> Result<(), ProgramError>,
    ) -> Result<(), ProgramError> {
        let (Parameters::Ckks(own), Some(lowered)) = (&self.parameters, &self.lowered) else {
            return Ok(());
        };
        let context = dry::ckks(own)?;
        let scheme = |error: sunzi_ckks::CkksError| ProgramError::scheme(error);
        let (public, keys) = self.dry_keys(&context)?;
        let encoder = Encoder::new(&context, self.layout.span).map_err(scheme)?;
        let evaluator = Evaluator::new(&context);
        let (Some(relinearization), Some(galois)) = (&keys.relinearization, &keys.galois) else {
            return Ok(());
        };
        let keys = Keys { relinearization, galois };
        let largest = Largest { lowered, own: Ckks::new(self, &evaluator, &encoder, keys)? };
        let seen = |id, value: &Value| {
            if let Value::Encrypted(ciphertext) = value {
                seen(id, &context, ciphertext);
            }
        };
        let backend = Watched { own: &largest, seen: &seen };
        let add = |a: &Ciphertext, b: &Ciphertext| rows_of_both(&evaluator, a, b).map_err(scheme);
        let (zero, encrypted) = (encoder.encode_real(&[]).map_err(scheme)?, encrypted_inputs(&self.program));
        let rng = &mut dry::randomness();
        let input = |id, _| {
            if !encrypted.contains(&id) {
                return largest.largest(id);
            }
            let fresh = || context.encrypt(&zero, &public, rng).map_err(scheme);
            let value = dry::rows_of_all(own.secrets().parties(), fresh, add).map(Value::Encrypted)?;
            seen(id, &value);
            Ok(value)
        };
        let mut failed = Ok(());
        let mut take = |id: NodeId, output: Output| {
            if let (Output::Encrypted(ciphertext), Ok(())) = (output, &failed) {
                failed = meet(id, &context, &ciphertext);
            }
        };
        let column = |id, _, output| {
            take(id, output);
            Ok(())
        };
        let totals = run(&self.program, layout, &backend, input, column)?;
        totals.into_iter().for_each(|(id, output)| take(id, output));
        failed
    }

    fn dry_keys(&self, context: &Hollow) -> Result<(PublicKey, EvaluationKeys), ProgramError> {
        let index = context.rlwe().ring().index();
        let exponent = |rotation: &sunzi_circuits::Rotation| match *rotation {
            sunzi_circuits::Rotation::Rows(steps) => sunzi_ckks::rotation::rotation_exponent(steps, index),
            sunzi_circuits::Rotation::Columns => sunzi_ckks::rotation::conjugation_exponent(index),
        };
        dry::keys(context.rlwe(), self.rotations.iter().map(exponent)).map_err(ProgramError::scheme)
    }
}

/// Raises the noise that is declared of a node to one that was found.
fn raise(noise: &mut BTreeMap<NodeId, DeclaredNoise>, id: NodeId, found: DeclaredNoise) {
    let own = noise.entry(id).or_insert(found);
    if own.bits() < found.bits() {
        *own = found;
    }
}

/// Returns the noise that may be declared, from the noise bound of a ciphertext of the key holder's own run.
fn declared(context: &Hollow, ciphertext: &Ciphertext) -> DeclaredNoise {
    let own = DeclaredNoise::of_own_run(ciphertext.noise(), context.ring().expansion());
    DeclaredNoise::from_bits(own.bits() + SLACK)
}

/// CKKS arithmetic whose clear numbers are the largest that there may be.
struct Largest<'a> {
    lowered: &'a Lowered,
    own: Ckks<'a>,
}

impl Largest<'_> {
    fn largest(&self, id: NodeId) -> Result<Value, ProgramError> {
        let missing = || ProgramError::Invalid("a node is not in the plan".to_owned());
        let step = self.lowered.step(id).ok_or_else(missing)?;
        Ok(Value::Clear(id, Clear::Reals(vec![exp2(step.exponent)])))
    }
}

impl Backend for Largest<'_> {
    type Value = Value;
    type Total = Output;
    type Output = Output;

    fn compute(&self, id: NodeId, operands: &[&Self::Value]) -> Result<Self::Value, ProgramError> {
        match self.lowered.step(id).map(|step| &step.action) {
            Some(Action::Clear) => self.largest(id),
            _ => self.own.compute(id, operands),
        }
    }

    fn accumulate(&self, total: &mut Option<Self::Total>, value: &Self::Value) -> Result<(), ProgramError> {
        self.own.accumulate(total, value)
    }

    fn accumulate_product(
        &self,
        total: &mut Option<Self::Total>,
        a: &Self::Value,
        b: &Self::Value,
    ) -> Result<bool, ProgramError> {
        self.own.accumulate_product(total, a, b)
    }

    fn finish(&self, id: NodeId, total: Self::Total) -> Result<Self::Output, ProgramError> {
        self.own.finish(id, total)
    }

    fn column(&self, value: &Self::Value) -> Result<Self::Output, ProgramError> {
        self.own.column(value)
    }
}
