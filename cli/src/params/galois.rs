//! `sunzi params --slots S --plain P`: the ring whose slots of GF(p^d) serve best.
//!
//! Security and depth ask for a degree; of all ring indices of that degree with enough slots the one with the cheapest transform is taken, and the
//! cheapest of all degrees.

use std::error::Error;
use std::fmt;

use serde::Serialize;
use sunzi::bfv::Parameters;
use sunzi::encoding::{IndexChoice, RingChoice};
use sunzi::math::{QuotientGroup, is_prime};
use sunzi::rlwe::Security;
use sunzi::rlwe::security::max_log2_modulus;

use crate::args::ParamsArgs;
use crate::columns::{empty_table, right_align};
use crate::error::CliError;

/// The choice of a ring for slots of GF(p^d), and what it was chosen from.
#[derive(Debug, Serialize)]
pub(super) struct Explanation {
    prime: u64,
    exponent: u32,
    slots_wanted: usize,
    depth: usize,
    security: String,
    chosen: Candidate,
    dimensions: Vec<Dimension>,
    /// The best candidate of each size of ring that is secure, the chosen one among them, and the next ones of its
    /// size.
    candidates: Vec<Candidate>,
    parameters: Parameters,
}

/// One ring index that was considered for the slots.
#[derive(Clone, Debug, Serialize)]
struct Candidate {
    ring_index: u64,
    factors: String,
    degree: usize,
    slots: usize,
    slot_degree: usize,
    /// Butterflies a coefficient of one transform in this ring.
    transform_cost: f64,
    /// Number of moduli of ciphertexts and keys.
    moduli: usize,
    log2_qp: f64,
    limit: Option<u32>,
    /// Butterflies of a transform of all moduli in this ring.
    cost: f64,
}

/// One dimension of the hypercube of slots.
#[derive(Debug, Serialize)]
struct Dimension {
    generator: u64,
    length: usize,
    good: bool,
}

impl Candidate {
    fn new(choice: &IndexChoice, parameters: &Parameters) -> Self {
        let power = |axis: &sunzi::math::Axis| match axis.exponent() {
            1 => axis.prime().to_string(),
            exponent => format!("{}^{exponent}", axis.prime()),
        };
        let factors: Vec<String> = choice.index.axes().iter().map(power).collect();
        let moduli = parameters.moduli().len() + parameters.special_moduli().len();
        Self {
            ring_index: choice.index.value(),
            factors: factors.join(" * "),
            degree: choice.index.degree(),
            slots: choice.slots,
            slot_degree: choice.slot_degree,
            transform_cost: choice.transform_cost,
            moduli,
            log2_qp: parameters.log2_key_modulus(),
            limit: max_log2_modulus(parameters.log2_degree(), parameters.security()),
            cost: choice.cost() * moduli as f64,
        }
    }
}

/// Returns the plaintext modulus t = p^r for a prime p and an exponent r.
fn plain(args: &ParamsArgs, prime: u64) -> Result<u64, CliError> {
    if !is_prime(prime) {
        return Err(CliError::input(format!(
            "--plain {prime}: expected a prime, such as 2, 3, 7, 17 or 127"
        )));
    }
    let modulus =
        prime.checked_pow(args.plain_exponent).filter(|&t| t < sunzi::encoding::PLAIN_MODULUS_LIMIT);
    modulus.ok_or_else(|| {
        CliError::input(format!("--plain-exponent {}: {prime}^{0} is not below 2^60", args.plain_exponent))
    })
}

/// Explains the choice of a ring for slots of GF(p^d), or says what to relax.
pub(super) fn explain(args: &ParamsArgs, prime: u64, security: Security) -> Result<Explanation, CliError> {
    let plain_modulus = plain(args, prime)?;
    let slots = args.slots.unwrap_or(1).try_into().unwrap_or(usize::MAX);
    let build = |index: u64| {
        Parameters::builder()
            .ring_index(index)
            .plain_modulus(plain_modulus)
            .depth(args.depth)
            .additions(args.additions)
            .rotations(args.rotations)
            .security(security)
            .build()
            .map_err(Box::<dyn Error>::from)
    };
    let moduli = |parameters: &Parameters| parameters.moduli().len() + parameters.special_moduli().len();
    let found = RingChoice::new(prime, slots, build, moduli).map_err(CliError::input)?;
    let candidate = |(choice, parameters): &(IndexChoice, Parameters)| Candidate::new(choice, parameters);
    let (chosen, parameters) = (candidate(&found.chosen), &found.chosen.1);
    let group = QuotientGroup::new(chosen.ring_index, prime).map_err(CliError::failure)?;
    let dimensions = group.dimensions().iter();
    Ok(Explanation {
        prime,
        exponent: args.plain_exponent,
        slots_wanted: slots,
        depth: args.depth,
        security: security.to_string(),
        chosen,
        dimensions: dimensions
            .map(|d| Dimension { generator: d.generator, length: d.length, good: d.good })
            .collect(),
        parameters: parameters.clone(),
        candidates: found.candidates.iter().map(candidate).collect(),
    })
}

impl Explanation {
    /// Parameters of the ring that was chosen.
    pub(super) fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    fn text(&self) -> String {
        let Self { chosen, .. } = self;
        let ring = match self.exponent {
            1 => format!("GF({}^{})", self.prime, chosen.slot_degree),
            r => format!("GR({}^{r}, {})", self.prime, chosen.slot_degree),
        };
        let dimension = |d: &Dimension| {
            let kind = if d.good { "good" } else { "bad" };
            format!("{} by X -> X^{} ({kind})", d.length, d.generator)
        };
        let dimensions: Vec<String> = self.dimensions.iter().map(dimension).collect();
        let dimensions = if dimensions.is_empty() { "none".to_owned() } else { dimensions.join(", ") };
        let limit = chosen.limit.map_or_else(|| "no limit".to_owned(), |limit| format!("{limit} allowed"));
        let mut table =
            empty_table(&["m", "factors", "n", "slots", "d", "butterflies", "moduli", "log2 QP", "cost"]);
        for one in &self.candidates {
            table.add_row(vec![
                one.ring_index.to_string(),
                one.factors.clone(),
                one.degree.to_string(),
                one.slots.to_string(),
                one.slot_degree.to_string(),
                format!("{:.1}", one.transform_cost),
                one.moduli.to_string(),
                format!("{:.0}", one.log2_qp),
                format!("{:.2}", one.cost / chosen.cost),
            ]);
        }
        right_align(&mut table, 2..9);
        format!(
            "ring         m = {} = {}, n = {}\n\
             slots        {} of {ring}, where {} are wanted\n\
             dimensions   {dimensions}; bad ones take two automorphisms and a mask\n\
             parameters   BFV, depth {}, log2 QP = {:.1} of {} moduli, security {} ({limit})\n\
             why          the cheapest transform of all moduli among rings with enough slots that are secure at this depth\n\n\
             {table}\n\n\
             butterflies of a transform are estimated for each coefficient, cost for all moduli, beside the chosen ring\n",
            chosen.ring_index,
            chosen.factors,
            chosen.degree,
            chosen.slots,
            self.slots_wanted,
            self.depth,
            chosen.log2_qp,
            chosen.moduli,
            self.security,
        )
    }
}

/// Writes the explanation as text for people.
impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}
