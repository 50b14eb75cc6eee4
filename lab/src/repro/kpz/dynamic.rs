//! BGV by dynamic noise beside BGV with declared levels, the comparison that `[KPZ21, section 6]` leaves open.
//!
//! Both take the smallest parameters that compute a chain of squarings. In the loud chain one value is multiplied by
//! 2^14, as a sum of so many terms would be: declared levels make room for it at each of them, dynamic switching has
//! bits to spare in all.

use std::time::Instant;

use rand_core::CryptoRng;
use sunzi_bgv::{BgvError, Context, Evaluator, Parameters, ParametersBuilder};
use sunzi_rlwe::randomness;

use super::clear::Clear;
use crate::repro::{Keys, LabError, NOT_PRINTED, Progress, Result, Row, Table, upper_median};

/// Chains: plaintext modulus t, squarings in a row, and whether a value is loud; modulo 2 no factor is.
const CHAINS: [(u64, usize, bool); 6] = [
    (2, 4, false),
    (2, 10, false),
    (65_537, 4, false),
    (65_537, 8, false),
    (65_537, 4, true),
    (65_537, 8, true),
];
/// The factor of the loud value, a multiplication after the other.
const FACTORS: [i64; 2] = [128, 128];
/// Bits to spare that dynamic switching is tried with, the fewest first.
const MARGINS: [u32; 12] = [1, 4, 8, 12, 16, 20, 24, 28, 32, 40, 50, 60];
/// Number of rounds in which both take their turns.
const ROUNDS: usize = 5;

/// Number of steps that progress counts for the comparison.
pub(super) fn steps() -> usize {
    CHAINS.len()
}

/// A chain of squarings.
#[derive(Clone, Copy)]
struct Chain {
    plain_modulus: u64,
    depth: usize,
    loud: bool,
}

/// Parameters with everything that a chain takes.
struct Party {
    parameters: Parameters,
    evaluator: Evaluator,
    keys: Keys,
    clear: Clear,
}

/// The table of both switchings for every chain.
pub(super) fn table(progress: &mut Progress<'_>) -> Result<Table> {
    let mut rows = Vec::new();
    for (plain_modulus, depth, loud) in CHAINS {
        progress.begin(format!("dynamic: t = {plain_modulus}, {depth} squarings"));
        rows.extend(Chain { plain_modulus, depth, loud }.compare()?);
    }
    let title = format!(
        "a chain of squarings by declared levels and by dynamic noise, {ROUNDS} rounds in turns; loud: one value times 2^14"
    );
    Ok(Table::new("Dynamic noise", title, rows))
}

impl Chain {
    fn builder(self) -> ParametersBuilder {
        let builder = Parameters::builder().depth(self.depth).plain_modulus(self.plain_modulus);
        builder.batching(self.plain_modulus > 2)
    }

    fn compare(self) -> Result<[Row; 2]> {
        let mut rng = randomness::from_os()?;
        let terms: i64 = if self.loud { FACTORS.iter().product() } else { 1 };
        let declared = self.builder().additions_per_level(terms.unsigned_abs() - 1).build()?;
        let parties = [Party::new(declared, &mut rng)?, self.dynamic(&mut rng)?];
        let mut times = [Vec::new(), Vec::new()];
        let mut left = [0.0; 2];
        for _ in 0..ROUNDS {
            for ((party, times), left) in parties.iter().zip(&mut times).zip(&mut left) {
                let (seconds, bits) = self.run(party, &mut rng)?;
                times.push(seconds * 1e3);
                *left = bits;
            }
        }
        let [declared, dynamic] = times.map(upper_median);
        let row = |party: &Party, name: &'static str, time: f64, left: f64| {
            let parameters = &party.parameters;
            Row::default()
                .key("t", self.plain_modulus)
                .key("depth", self.depth)
                .key("chain", if self.loud { "loud" } else { "even" })
                .key("switching", name)
                .ours("n", parameters.degree() as u64)
                .ours("log2_Q", (parameters.log2_modulus(), 1))
                .ours("log2_QP", (parameters.log2_key_modulus(), 1))
                .ours("moduli", parameters.moduli().len() as u64)
                .ours("ms", (time, 2))
                .ours("over_declared", (time / declared, 2))
                .ours("bits_left", (left, 1))
                .because(Some(NOT_PRINTED))
        };
        let [first, second] = &parties;
        Ok([row(first, "declared", declared, left[0]), row(second, "dynamic", dynamic, left[1])])
    }

    /// The party with the fewest bits to spare that the chain takes by dynamic switching.
    fn dynamic(self, rng: &mut dyn CryptoRng) -> Result<Party> {
        for margin in MARGINS {
            let parameters = self.builder().dynamic_switching(true).margin(margin).build()?;
            let party = Party::new(parameters, rng)?;
            match self.run(&party, rng) {
                Err(LabError::Below(error)) if is_exhausted(&*error) => {}
                result => return result.map(|_| party),
            }
        }
        Err(LabError::Failed(format!("none of {MARGINS:?} bits to spare are enough for a chain")))
    }

    /// Computes the chain and checks its result; returns seconds and the bits that are left.
    fn run(self, party: &Party, rng: &mut dyn CryptoRng) -> Result<(f64, f64)> {
        let Party { evaluator, keys, clear, .. } = party;
        let context = evaluator.context();
        let mut message = clear.random(rng)?;
        let mut value = context.encrypt(&message, &keys.public, rng)?;
        let mut seconds = 0.0;
        for step in 0..self.depth {
            let begin = Instant::now();
            value = evaluator.square(&value, &keys.relinearization)?;
            if self.loud && step == 0 {
                for factor in FACTORS {
                    value = evaluator.multiply_scalar(&value, factor)?;
                }
            }
            seconds += begin.elapsed().as_secs_f64();
            message = clear.product(&message, &message)?;
            if self.loud && step == 0 {
                let zero = clear.constant(0)?;
                message =
                    FACTORS.iter().try_fold(message, |message, &f| clear.add_multiple(&zero, f, &message))?;
            }
        }
        let right = context.decrypt(&value, &keys.secret)? == message;
        LabError::unless(right, "chain of squarings", "BGV", context.degree())?;
        Ok((seconds, context.bits_left(&value)?))
    }
}

impl Party {
    fn new(parameters: Parameters, rng: &mut dyn CryptoRng) -> Result<Self> {
        let context = Context::new(&parameters)?;
        Ok(Self {
            keys: Keys::generate(context.rlwe(), rng)?,
            clear: Clear::new(context.degree(), context.plain_modulus())?,
            evaluator: Evaluator::new(&context),
            parameters,
        })
    }
}

/// Whether noise bounds refused a result.
fn is_exhausted(error: &(dyn std::error::Error + 'static)) -> bool {
    matches!(error.downcast_ref(), Some(BgvError::BudgetExceeded { .. }))
}
