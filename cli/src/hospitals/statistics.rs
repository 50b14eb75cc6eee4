//! Exact sums over the rows of all hospitals, in BFV: counts, sums, and sums of products of columns.

use num_bigint::BigUint;
use sunzi::bfv::{BatchEncoder, BfvError, Ciphertext, Context, Encoder, Evaluator, Parameters, Plaintext};
use sunzi::circuits::CircuitError;
use sunzi::circuits::statistics::{EncryptedChunk, Layout, Server, Shape};
use sunzi::parties::keys::KeyPlan;
use sunzi::rlwe::wire;
use sunzi::rlwe::{DeclaredNoise, PublicKey, Security, SharingPolicy, randomness};

use super::joint::{Joint, Openers, at_once, make};
use super::parts::{Parts, QUORUM};
use super::report::{Keys, Ring, Sizes};
use super::{Run, STATISTICAL_BITS};
use crate::encrypted::timed;
use crate::error::CliError;
use crate::job::Job;
use crate::progress::Progress;
use crate::sums::{Sums, pairs};

/// log2 of the largest segment: rows beyond are in further chunks.
const LOG2_SEGMENT: u32 = 12;
/// log2 of the degree of the small ring of `--quick`.
const QUICK_DEGREE: u32 = 12;

/// Parameters, layout and policy of the sums: all that hospitals and server agree on.
struct Agreed {
    context: Context,
    parameters: Parameters,
    layout: Layout,
    policy: SharingPolicy,
}

impl Agreed {
    fn new(job: &Job, quick: bool) -> Result<Self, CliError> {
        // How many results there are follows from the ring, which has room for the noise that hides so many.
        let mut results = job.columns.len() + 1;
        loop {
            let agreed = Self::for_results(job, results, quick)?;
            let needed = agreed.layout.packed() + agreed.layout.products().len();
            if needed <= results {
                return Ok(agreed);
            }
            results = needed;
        }
    }

    fn for_results(job: &Job, results: usize, quick: bool) -> Result<Self, CliError> {
        let policy = SharingPolicy::new(STATISTICAL_BITS, results as u64).map_err(CliError::failure)?;
        let shape = Shape { columns: job.columns.len(), groups: 1, longest_group: job.rows };
        let longest = job.rows.next_power_of_two().ilog2().min(LOG2_SEGMENT);
        let chunks = job.rows.div_ceil(1 << longest).next_power_of_two().ilog2();
        let request = Parameters::builder()
            .parties(3)
            .depth(1)
            .plain_range(BigUint::from(job.bound()))
            .slots(2 << longest)
            .rotations(longest)
            .additions(2 + chunks)
            .plain_products(1)
            .sharing(policy);
        let request = match quick {
            false => request,
            true => request.log2_degree(QUICK_DEGREE).security(Security::InsecureForResearchOnly),
        };
        let parameters = request.build().map_err(CliError::failure)?;
        let context = Context::new(&parameters).map_err(CliError::failure)?;
        let segment = (1 << longest).min(context.degree() / 2);
        let layout = Layout::new(shape, context.degree(), segment).map_err(CliError::failure)?;
        Ok(Self { context, parameters, layout, policy })
    }

    /// The keys that the server needs.
    fn plan(&self) -> Result<KeyPlan, CliError> {
        let (rlwe, level) = (self.context.rlwe(), self.context.rlwe().level());
        let rotations = self.layout.required_rotations();
        let exponents = rotations.iter().map(|rotation| rotation.exponent(rlwe.ring().index()));
        let exponents = exponents.collect::<Result<Vec<_>, _>>().map_err(CliError::failure)?;
        let keys = exponents.into_iter().map(|exponent| (exponent, level));
        KeyPlan::new(rlwe, Some(level), keys).map_err(CliError::failure)
    }

    fn encoder(&self) -> Result<BatchEncoder, BfvError> {
        Ok(BatchEncoder::new(self.context.degree(), self.context.plain_modulus())?)
    }

    /// A hospital encrypts its rows: all inputs of all chunks, with zeros where the rows of others are.
    fn encrypt(
        &self,
        job: &Job,
        rows: &std::ops::Range<usize>,
        public: &PublicKey,
    ) -> Result<Vec<Vec<Ciphertext>>, BfvError> {
        let (encoder, mut rng) = (self.encoder()?, randomness::from_os()?);
        let cell = |column: usize, _: usize, row: usize| {
            let values = job.columns.get(column).filter(|_| rows.contains(&row))?;
            // Sums of squares are below 2^58.
            values.values.get(row).and_then(|&value| i64::try_from(value).ok())
        };
        let mut chunk = |chunk: usize| {
            let inputs = self.layout.inputs().map(|input| {
                let slots = self.layout.place(input, chunk, 1_i64, cell);
                self.context.encrypt(&encoder.encode_signed(&slots)?, public, &mut rng)
            });
            inputs.collect::<Result<Vec<_>, BfvError>>()
        };
        (0..self.layout.chunks()).map(&mut chunk).collect()
    }

    /// The server adds up the inputs of all hospitals, and computes. Of every sum it leaves what was agreed: other slots hold sums of a few rows.
    fn compute(
        &self,
        joint: &Joint,
        inputs: &[Vec<Vec<Ciphertext>>],
    ) -> Result<Vec<Ciphertext>, CircuitError<BfvError>> {
        let evaluator = Evaluator::new(&self.context);
        let mut server = Server::new(&evaluator, &joint.keys, &self.layout)?;
        for chunk in 0..self.layout.chunks() {
            let mut all: Vec<Ciphertext> = Vec::new();
            for chunk in inputs.iter().filter_map(|chunks| chunks.get(chunk)) {
                all = match all.is_empty() {
                    true => chunk.clone(),
                    false => {
                        let pairs = all.iter().zip(chunk);
                        pairs.map(|(sum, own)| evaluator.add(sum, own)).collect::<Result<_, _>>()?
                    }
                };
            }
            let repeated = all.split_off(self.layout.packed().min(all.len()));
            server.absorb(&EncryptedChunk { packed: all, repeated }, &|| ())?;
        }
        let sums = server.finish(&|| ())?;
        let masked = sums.columns.iter().enumerate().chain(
            sums.products.iter().zip(self.layout.products()).map(|(sum, product)| (product.block, sum)),
        );
        let masked = masked.map(|(block, sum)| Ok(evaluator.multiply_plain(&sum.total, &self.mask(block)?)?));
        masked.collect()
    }

    /// Ones in the slots that hold the sums of a block's columns, zeros elsewhere.
    fn mask(&self, block: usize) -> Result<Plaintext, BfvError> {
        let mut slots = vec![0; self.layout.degree()];
        for column in (0..=self.layout.ones()).filter(|&column| self.layout.block(column) == block) {
            slots.iter_mut().skip(self.layout.slot(column, 0)).take(1).for_each(|slot| *slot = 1);
        }
        Ok(self.encoder()?.encode(&slots)?)
    }

    /// Reads the sums from opened results.
    fn sums(&self, opened: &[Vec<i64>]) -> Result<Sums<i128>, CliError> {
        let (layout, columns) = (&self.layout, self.layout.shape().columns);
        let at = |result: usize, column: usize| {
            let slot = opened.get(result).and_then(|slots| slots.get(layout.slot(column, 0)));
            slot.map(|&sum| i128::from(sum)).ok_or_else(|| CliError::failure("a sum is missing"))
        };
        let product = |(x, y)| {
            let (index, column) = layout.pair(x, y);
            at(layout.packed() + index, column)
        };
        Ok(Sums {
            count: at(layout.block(layout.ones()), layout.ones())?,
            sums: (0..columns).map(|column| at(layout.block(column), column)).collect::<Result<_, _>>()?,
            products: pairs(columns).map(product).collect::<Result<_, _>>()?,
        })
    }
}

/// Runs the exact sums: keys, encryption, the server's work, and the results that two hospitals open.
pub(super) fn run(
    job: &Job,
    parts: &Parts,
    quick: bool,
    progress: &Progress,
) -> Result<Run<Sums<i128>>, CliError> {
    let mut times = super::report::Times::default();
    progress.say("choosing parameters");
    let agreed = timed(&mut times.parameters, || Agreed::new(job, quick))?;
    let (context, policy) = (&agreed.context, agreed.policy);
    let joint = make(context.rlwe(), agreed.plan()?, policy, progress)?;
    [times.keys, times.dealing] = joint.seconds;
    progress.say("encrypting rows");
    let inputs = timed(&mut times.encrypt, || {
        at_once(&parts.rows, |rows| agreed.encrypt(job, rows, &joint.public).map_err(CliError::failure))
    })?;
    let bytes = |ciphertext: &Ciphertext| wire::to_bytes(context, ciphertext).map(|bytes| bytes.len());
    let sent: Vec<_> = inputs.iter().map(|chunks| chunks.iter().flatten().count()).collect();
    let one = inputs.iter().flatten().flatten().next().map_or(Ok(0), bytes).map_err(CliError::failure)?;
    progress.say("server: sums");
    let results = timed(&mut times.server, || agreed.compute(&joint, &inputs)).map_err(CliError::failure)?;
    let keys = Keys::of(context.rlwe(), &joint)?;
    let mut openers = Openers::new(context.rlwe(), joint.roster, joint.members)?;
    progress.begin(results.len());
    progress.say("opening the sums");
    // Parameters bound the noise with which a result is opened: no file says how much it is.
    let largest = context.log2_largest_shareable_noise(policy).map_err(CliError::failure)?;
    let declared = QUORUM.map(|_| DeclaredNoise::from_bits(largest));
    let mut opened = Vec::new();
    timed(&mut times.open, || -> Result<(), CliError> {
        let encoder = agreed.encoder().map_err(CliError::failure)?;
        for result in &results {
            let plaintext = openers.open(context, result, declared, "count, sums and sums of products")?;
            opened.push(encoder.decode_signed(&plaintext).map_err(CliError::failure)?);
            progress.step();
        }
        Ok(())
    })?;
    let parameters = &agreed.parameters;
    let ring = Ring {
        scheme: "BFV",
        degree: parameters.degree(),
        moduli: parameters.moduli().len(),
        log2_qp: parameters.log2_key_modulus(),
        security: parameters.security().to_string(),
        plain_modulus: Some(parameters.plain_modulus()),
        scale_bits: None,
        levels: None,
    };
    let sizes = Sizes { ciphertexts: sent, ciphertext_bytes: one as u64, results: results.len(), keys };
    let counted = openers.counted();
    Ok(Run { result: agreed.sums(&opened)?, times, ring, sizes, counted, policy })
}
