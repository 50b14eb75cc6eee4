//! Estimates of the time of a run: counted operations times their measured times on this machine.

use std::time::Instant;

use sunzi_circuits::approximation::Reciprocal;
use sunzi_circuits::polynomial::{Method, Polynomial};
use sunzi_circuits::series::{Basis, Series};
use sunzi_circuits::{Arithmetic, EvaluationKeys, Rotation};
use sunzi_encoding::{BatchEncoder, Encoder as _};

use super::approximate::{Action, integral};
use super::curve::Curve;
use super::memory::drop_of;
use super::{Facts, Parameters, Plan, facts};
use crate::contexts::{Contexts, Encrypted, EncryptionKey, Parts, SecretKey};
use crate::graph::Node;
use crate::run::{Cells, only_summed};
use crate::{Column, NodeId, ProgramError};
use sunzi_rlwe::switch_cost::SwitchCost;
use sunzi_rlwe::{RelinearizationKey, randomness};

/// Number of measurements of an operation, of which the least counts.
const ROUNDS: usize = 2;
/// Time of a bootstrap over that of its counted transforms, since rescalings and tensor products are beside them: 1.62 to 1.65 on AMD from n = 2^11 to 2^13.
pub(super) const BOOTSTRAP: f64 = 1.6;
/// Transforms that a residue of an encoded matrix takes: encoding in doubles, reduction, and its own.
const MATRIX: f64 = 4.0;

/// Measured seconds of one operation on ciphertexts of all plaintext moduli, at the highest level.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Timing {
    /// Seconds of a product before it is relinearised.
    pub product: f64,
    /// Seconds of a relinearisation.
    pub relinearization: f64,
    /// Seconds of a product with a plaintext, or in CKKS with a constant, rescaled.
    pub plain_product: f64,
    /// Seconds of an addition.
    pub addition: f64,
    /// Seconds of a rotation of a sum.
    pub rotation: f64,
    /// Seconds to read a ciphertext from a file.
    pub read: f64,
    /// Seconds of a bootstrap: of its counted key switches, in measured relinearisations. 0 in plans without them.
    pub bootstrap: f64,
    /// Seconds before the first bootstrap, in which keys are read and matrices encoded.
    pub set_up: f64,
}

/// Numbers of operations of each kind in a run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Work {
    products: f64,
    pub(super) relinearizations: f64,
    plain_products: f64,
    additions: f64,
}

impl Work {
    /// Returns the operations of a polynomial of real numbers.
    fn series(series: &Series) -> Self {
        let cost = series.cost();
        Self {
            products: cost.products as f64,
            relinearizations: cost.relinearizations as f64,
            plain_products: if matches!(series.basis(), Basis::Chebyshev { .. }) { 1.0 } else { 0.0 },
            additions: series.coefficients().iter().filter(|&&c| c != 0.0).count() as f64,
        }
    }

    /// Returns the operations of a reciprocal of real numbers.
    fn reciprocal(own: &Reciprocal) -> Self {
        let cost = own.cost();
        Self {
            products: cost.products as f64,
            relinearizations: cost.relinearizations as f64,
            plain_products: 1.0,
            additions: 2.0 * cost.depth as f64,
        }
    }

    /// Returns the operations of a polynomial modulo t.
    fn polynomial(degree: usize) -> Self {
        let cost = Polynomial::<()>::constants(&vec![1; degree + 1]).plan(u64::MAX, Method::Automatic).cost();
        Self {
            products: cost.products as f64,
            relinearizations: cost.relinearizations as f64,
            plain_products: 0.0,
            additions: degree as f64,
        }
    }

    fn add(&mut self, other: Self, times: f64) {
        self.products += times * other.products;
        self.relinearizations += times * other.relinearizations;
        self.plain_products += times * other.plain_products;
        self.additions += times * other.additions;
    }
}

impl Timing {
    /// Measures operations with temporary keys: takes as long as some products and the generation of two keys.
    ///
    /// # Errors
    /// [`ProgramError::Scheme`] for invalid parameters.
    pub fn measure(plan: &Plan) -> Result<Self, ProgramError> {
        let contexts = Contexts::new(&plan.parameters)?;
        if let Parts::Integers(own) = contexts.parts() {
            return of_product(own.context());
        }
        let mut rng = randomness::from_os().map_err(ProgramError::scheme)?;
        let secret = SecretKey::generate(contexts.rlwe(), &mut rng).map_err(ProgramError::scheme)?;
        let (rotation, limbs) = (Rotation::Rows(1), plan.rotation_limbs);
        let mut keys =
            contexts.evaluation_keys(&secret, &[rotation], limbs, &mut rng).map_err(ProgramError::scheme)?;
        if keys.relinearization.is_none() {
            // Plans with bootstraps have it among the keys of these.
            let key = RelinearizationKey::generate(contexts.rlwe(), &secret, &mut rng);
            keys.relinearization = Some(key.map_err(ProgramError::scheme)?);
        }
        let codec = contexts.codec(&plan.layout)?;
        let (column, cells) = (Column::integer("x", 0, 1), Cells::Units(vec![1]));
        let chunk = codec.encrypt(&column, None, &cells, EncryptionKey::Secret(&secret), &mut rng)?;
        let bytes = contexts.to_bytes(&chunk).map_err(ProgramError::scheme)?;
        let read = least(|| contexts.from_bytes(&bytes, None).map_err(ProgramError::scheme))?;
        let count = plan.parameters.plain_moduli().len().max(1) as f64;
        let one = match (contexts.parts(), &chunk) {
            (Parts::Bfv(own), Encrypted::Bfv(parts)) => match (own.first(), parts.first()) {
                (Some(context), Some(x)) => exact(&sunzi_bfv::Evaluator::new(context), x, &keys),
                _ => Ok(Self::default()),
            },
            (Parts::Bgv(own), Encrypted::Bgv(parts)) => match (own.first(), parts.first()) {
                (Some(context), Some(x)) => exact(&sunzi_bgv::Evaluator::new(context), x, &keys),
                _ => Ok(Self::default()),
            },
            (Parts::Ckks(context), Encrypted::Ckks(x)) => real(context, x, &keys, plan),
            _ => Ok(Self::default()),
        }?;
        let [bootstrap, set_up] = bootstrapped(plan, one.relinearization, read)?;
        Ok(Self {
            product: count * one.product,
            relinearization: count * one.relinearization,
            plain_product: count * one.plain_product,
            addition: count * one.addition,
            rotation: count * one.rotation,
            read,
            bootstrap,
            set_up,
        })
    }

    /// Returns the estimated seconds of a run of the plan, its encrypted columns read from files.
    #[must_use]
    pub fn seconds(&self, plan: &Plan) -> f64 {
        if let Some(look_ups) = &plan.look_ups {
            return look_ups.seconds(self.product);
        }
        let plan = &*plan.computed();
        let known = facts(&plan.program);
        let encrypted = |id: &NodeId| known.get(id.index()).is_some_and(|facts| facts.encrypted);
        let summed = if plan.lowered.is_some() { Default::default() } else { only_summed(&plan.program) };
        let mut chunk = Work::default();
        for id in plan.program.used().into_iter().filter(encrypted) {
            chunk.add(work(plan, &known, id, summed.contains(&id)), share(plan, &known, id));
        }
        let totals: Vec<NodeId> = plan.program.totals().into_iter().filter(encrypted).collect();
        chunk.additions += totals.len() as f64;
        let mut all = Work::default();
        all.add(chunk, plan.layout.chunks as f64);
        all.relinearizations += totals.iter().filter(|id| summed.contains(id)).count() as f64;
        let rotations = (totals.len() * plan.rotations.len()) as f64;
        let moduli = plan.parameters.plain_moduli().len().max(1) as f64;
        all.relinearizations *= plan.merging.as_ref().map_or(1.0, |merging| merging.share);
        all.products * self.product
            + all.relinearizations * self.relinearization
            + all.plain_products * self.plain_product
            + all.additions * self.addition
            + rotations * self.rotation
            + plan.inputs as f64 / moduli * self.read
            + plan.bootstraps.map_or(0, |own| own.count) as f64 * self.bootstrap
            + self.set_up
    }
}

/// Returns the operations of a node in one chunk.
pub(super) fn work(plan: &Plan, known: &[Facts], id: NodeId, summed: bool) -> Work {
    let encrypted = |id: &NodeId| known.get(id.index()).is_some_and(|facts| facts.encrypted);
    let step = plan.lowered.as_ref().and_then(|lowered| lowered.step(id));
    match (plan.program.graph().node(id), step.map(|step| &step.action)) {
        (_, Some(Action::Curve { curve: Curve::Series(series), .. })) => Work::series(series),
        (_, Some(Action::Curve { curve: Curve::Reciprocal(own), .. })) => Work::reciprocal(own),
        (_, Some(Action::Sign { sign, .. })) => {
            let mut all = Work::default();
            sign.stages().iter().for_each(|stage| all.add(Work::series(stage), 1.0));
            all
        }
        (Some(Node::Linear { terms, .. }), action) => {
            let rescaled = matches!(action, Some(Action::Linear { factors, .. }) if !integral(factors));
            let plain_products = if rescaled { 1.0 } else { 0.0 };
            Work { additions: 2.0 * terms.len() as f64, plain_products, ..Work::default() }
        }
        (Some(Node::Product(a, b)), _) if encrypted(a) && encrypted(b) => {
            Work { products: 1.0, relinearizations: if summed { 0.0 } else { 1.0 }, ..Work::default() }
        }
        (Some(Node::Product(..)), _) => Work { plain_products: 1.0, ..Work::default() },
        (Some(Node::Polynomial { coefficients, .. }), _) => {
            Work::polynomial(coefficients.len().saturating_sub(1))
        }
        (Some(Node::LookUp { values, .. }), None) => Work::polynomial(values.len().saturating_sub(1)),
        _ => Work::default(),
    }
}

/// Returns the time of a node's operations relative to the highest level: on average over the levels from the
/// operands' level down.
fn share(plan: &Plan, known: &[Facts], id: NodeId) -> f64 {
    let operands = plan.program.graph().node(id).map(Node::operands).unwrap_or_default();
    let (options, moduli) = (plan.parameters.key_switching(), plan.parameters.moduli());
    let drop = |id: &NodeId| drop_of(known, plan.lowered.as_ref(), *id);
    let limbs = |drop: usize| plan.parameters.limbs_below(drop).len();
    let cost = |limbs: usize| {
        let n = plan.parameters.degree();
        SwitchCost::new(options, moduli, limbs.max(1), n).map_or(1.0, |cost| cost.in_transforms(n))
    };
    let top = cost(limbs(0));
    let from = operands.iter().map(drop).max().unwrap_or(0);
    0.5 * (cost(limbs(from)) + cost(limbs(drop(&id).saturating_sub(1).max(from)))) / top
}

/// Returns the least seconds of a few measurements.
fn least<T>(mut work: impl FnMut() -> Result<T, ProgramError>) -> Result<f64, ProgramError> {
    let mut seconds = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        drop(work()?);
        seconds = seconds.min(start.elapsed().as_secs_f64());
    }
    Ok(seconds)
}

fn exact<A>(arithmetic: &A, x: &A::Ciphertext, keys: &A::Keys) -> Result<Timing, ProgramError>
where
    A: Arithmetic<Plaintext = sunzi_encoding::Plaintext>,
{
    let addition = least(|| arithmetic.add(x, x).map_err(ProgramError::scheme)).unwrap_or(0.0);
    let product = || {
        let (a, b, mut sum) = (arithmetic.operand(x), arithmetic.operand(x), None);
        let (a, b) = (a.map_err(ProgramError::scheme)?, b.map_err(ProgramError::scheme)?);
        arithmetic.add_product(&mut sum, &a, &b).map_err(ProgramError::scheme)
    };
    // An operation that the parameters do not allow is in no program for them.
    let product = least(product).unwrap_or(0.0);
    let both = least(|| arithmetic.multiply(x, x, keys).map_err(ProgramError::scheme)).unwrap_or(product);
    let relinearization = (both - product).max(0.0);
    let (degree, t) = (2 * arithmetic.row_length(), arithmetic.plain_modulus());
    let encoder = BatchEncoder::new(degree, t).map_err(ProgramError::scheme)?;
    let plain = || {
        let plaintext = encoder.encode(&[2]).map_err(ProgramError::scheme)?;
        arithmetic.multiply_plain(x, &plaintext).map_err(ProgramError::scheme)
    };
    let plain_product = least(plain).unwrap_or(0.0);
    let rotate = || arithmetic.rotate(x, Rotation::Rows(1), keys).map_err(ProgramError::scheme);
    // BGV may allow rotations after products alone.
    let rotation = least(rotate).unwrap_or(relinearization);
    Ok(Timing { product, relinearization, plain_product, addition, rotation, ..Timing::default() })
}

fn real(
    context: &sunzi_ckks::Context,
    x: &sunzi_ckks::Ciphertext,
    keys: &EvaluationKeys,
    plan: &Plan,
) -> Result<Timing, ProgramError> {
    let evaluator = sunzi_ckks::Evaluator::new(context);
    let (Some(relinearization), Some(galois)) = (&keys.relinearization, &keys.galois) else {
        return Ok(Timing::default());
    };
    let scheme = |error: sunzi_ckks::CkksError| ProgramError::scheme(error);
    let addition = least(|| evaluator.add(x, x).map_err(scheme))?;
    // Without a level there are no products.
    let both = least(|| evaluator.multiply(x, x, relinearization).map_err(scheme)).unwrap_or(0.0);
    let level = plan.lowered.as_ref().map_or(0, |lowered| lowered.sum_level);
    let low = evaluator.drop_to(x, level).map_err(scheme)?;
    let rotation = least(|| evaluator.rotate(&low, 1, galois).map_err(scheme)).unwrap_or(0.0);
    Ok(Timing {
        product: 0.3 * both,
        relinearization: 0.7 * both,
        plain_product: 0.3 * both,
        addition,
        rotation,
        ..Timing::default()
    })
}

/// Returns the seconds of a bootstrap and of what comes before the first, for those of a relinearisation at the highest level of the plan and of reading a
/// fresh ciphertext.
fn bootstrapped(plan: &Plan, relinearization: f64, read: f64) -> Result<[f64; 2], ProgramError> {
    let (Parameters::Bootstrapped(own), Some(bootstraps)) = (&plan.parameters, &plan.bootstraps) else {
        return Ok([0.0; 2]);
    };
    let [n, whole] = [own.ckks(), own.whole()].map(sunzi_ckks::Parameters::degree);
    let (options, moduli) = (plan.parameters.key_switching(), plan.parameters.moduli());
    let limbs = plan.parameters.limbs_below(0);
    let switch = SwitchCost::of_limbs(options, moduli, &limbs, n).map_err(ProgramError::scheme)?;
    // Transforms of a real ring are of half of the length, and take a fold more.
    let longer = transform(whole) / transform(n);
    let one = longer * relinearization / switch.in_transforms(n);
    let transforms = own.counted_transforms().map_err(ProgramError::scheme)?;
    let residues = bootstraps.matrix_bytes as f64 / (8 * whole) as f64;
    let keys = read * bootstraps.key_bytes as f64 / plan.ciphertext_bytes.max(1) as f64;
    Ok([BOOTSTRAP * transforms * one, MATRIX * residues * one + keys])
}

/// Returns the butterflies of a transform.
pub(super) fn transform(n: usize) -> f64 {
    n as f64 / 2.0 * (n as f64).log2()
}

/// Measures a product at the highest level with a temporary key, in which look-ups are counted: their own keys take a minute.
fn of_product(context: &sunzi_ckks::Context) -> Result<Timing, ProgramError> {
    let mut rng = randomness::from_os().map_err(ProgramError::scheme)?;
    let secret = SecretKey::generate(context.rlwe(), &mut rng).map_err(ProgramError::scheme)?;
    let key =
        RelinearizationKey::generate(context.rlwe(), &secret, &mut rng).map_err(ProgramError::scheme)?;
    let encoder = sunzi_ckks::Encoder::new(context, context.max_slots()).map_err(ProgramError::scheme)?;
    let plaintext = encoder.encode_real(&[0.5]).map_err(ProgramError::scheme)?;
    let x = context.encrypt_secret(&plaintext, &secret, &mut rng).map_err(ProgramError::scheme)?;
    let evaluator = sunzi_ckks::Evaluator::new(context);
    let product = least(|| evaluator.multiply(&x, &x, &key).map_err(ProgramError::scheme))?;
    Ok(Timing { product, ..Timing::default() })
}
