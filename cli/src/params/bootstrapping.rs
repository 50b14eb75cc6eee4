//! `sunzi params --bootstrapping`: the sets that CKKS bootstraps with.

use serde::Serialize;
use sunzi::circuits::bootstrap::{Bits, BootstrapError, BootstrapParameters, RealBlueprint, Set, Summary};
use sunzi::ckks;
use sunzi::rlwe::SecretDistribution;
use sunzi::rlwe::words::bytes;

use crate::args::ParamsArgs;
use crate::error::CliError;
use crate::files::stored::Stored;
use crate::files::target::{Content, Target};
use crate::output;

/// A set of bootstrapping parameters in figures.
#[derive(Debug, Serialize)]
struct Row {
    name: String,
    /// Ring degree n of the set: messages fill n/2 slots.
    degree: usize,
    slots: usize,
    security: String,
    secret: SecretDistribution,
    /// Hamming weight of the secret that is there for ModRaise alone, and the polynomials that share it.
    raised_under: Option<Sparse>,
    log2_qp: f64,
    log2_failure: f64,
    levels_left: usize,
    /// The lowest level that the next bootstrapping can begin at.
    lowest_level: usize,
    bits_left: f64,
    rounds: usize,
    /// Precision of bootstrapping that was measured with the set, if any was.
    precision: Option<Precision>,
    key_bytes: usize,
    matrix_bytes: usize,
}

#[derive(Debug, Serialize)]
struct Sparse {
    weight: usize,
    polynomials: usize,
}

/// Precision of slots as −log2 of their errors, by messages.
#[derive(Debug, Serialize)]
struct Precision {
    random: Figures,
    any: Figures,
    fifty_in_a_row: Option<Figures>,
}

#[derive(Debug, Serialize)]
struct Figures {
    mean_bits: f64,
    worst_bits: f64,
}

impl From<Bits> for Figures {
    fn from(bits: Bits) -> Self {
        Self { mean_bits: bits.mean, worst_bits: bits.worst }
    }
}

impl From<Summary> for Row {
    fn from(of: Summary) -> Self {
        let precision = of.statement.map(|of| Precision {
            random: of.random.into(),
            any: of.adversarial.into(),
            fifty_in_a_row: of.fifty.map(Figures::from),
        });
        let capsule = of.set.encapsulation;
        Self {
            name: of.set.to_string(),
            degree: 1 << of.set.log2_degree,
            slots: of.slots,
            security: of.set.security.to_string(),
            secret: of.set.secret,
            raised_under: capsule.map(|of| Sparse { weight: of.weight, polynomials: of.rank }),
            log2_qp: of.log2_key_modulus,
            log2_failure: of.log2_failure,
            levels_left: of.levels_left,
            lowest_level: of.set.lowest_level(),
            bits_left: of.bits_left,
            rounds: of.set.rounds,
            precision,
            key_bytes: of.key_bytes,
            matrix_bytes: of.diagonal_bytes,
        }
    }
}

/// The real ring whose ciphertexts a set bootstraps.
#[derive(Debug, Serialize)]
struct RealRing {
    degree: usize,
    slots: usize,
    log2_qp: f64,
    /// Bytes of all keys of bootstraps, those between both rings among them.
    key_bytes: usize,
}

impl RealRing {
    fn new(set: &Set) -> Result<Self, BootstrapError> {
        let context = ckks::Context::new(&set.real_parameters()?)?;
        let slots = set.slots.unwrap_or(context.max_slots());
        let key_bytes = RealBlueprint::new(&context, set, slots)?.key_bytes()?;
        let log2_qp = context.rlwe().log2_key_modulus();
        Ok(Self { degree: context.degree(), slots, log2_qp, key_bytes })
    }
}

/// A set in figures, with the real ring where that was asked for.
#[derive(Debug, Serialize)]
struct Shown {
    #[serde(flatten)]
    row: Row,
    #[serde(skip_serializing_if = "Option::is_none")]
    real_ring: Option<RealRing>,
    #[serde(skip)]
    text: String,
}

impl Shown {
    fn new(set: &Set, real: bool) -> Result<Self, BootstrapError> {
        let summary = Summary::new(set)?;
        let real_ring = real.then(|| RealRing::new(set)).transpose()?;
        let mut text = summary.to_string();
        if let Some(RealRing { degree, slots, log2_qp, key_bytes }) = &real_ring {
            let keys = bytes(*key_bytes as u64);
            text.push_str(&format!(
                "\n  messages of           the real ring of degree {degree}, {slots} real slots, log2 QP = {log2_qp:.1}; all keys {keys}"
            ));
        }
        Ok(Self { row: summary.into(), real_ring, text })
    }
}

/// Prints the set of this name, or all shipped sets: one JSON object or an array, or one text after the other as each is ready. Keeps the
/// parameters of a set where that is asked for.
pub(super) fn run(args: &ParamsArgs, name: Option<&str>) -> Result<(), CliError> {
    if let Some(name) = name {
        return one(args, name);
    }
    if args.output.is_some() {
        return Err(CliError::input("--output keeps the parameters of one set: give --bootstrapping a set"));
    }
    let shown = |set: &Set| Shown::new(set, args.real_slots).map_err(CliError::failure);
    if args.json {
        let rows: Result<Vec<Shown>, CliError> = Set::shipped().iter().map(shown).collect();
        return output::print_json(&rows?);
    }
    Set::shipped().iter().try_for_each(|set| output::print(&shown(set)?.text))
}

fn one(args: &ParamsArgs, name: &str) -> Result<(), CliError> {
    // Plans call the parameters of a real ring so.
    let (of_set, is_real) =
        name.strip_suffix("-real").map_or((name, args.real_slots), |of_set| (of_set, true));
    let set = named(of_set)?;
    let target = |path| Target::new(path, &args.force, Content::Binary, args.json);
    let target = args.output.as_deref().map(target).transpose()?;
    // What cannot be kept is refused before any table is made.
    let kept = target.map(|target| Ok::<_, CliError>((target, parameters(&set, is_real)?))).transpose()?;
    let shown = Shown::new(&set, is_real).map_err(CliError::input)?;
    let Some((target, parameters)) = kept else {
        return output::report(args.json, &shown, |shown| shown.text.clone());
    };
    target.write(|file| parameters.write(file)).map_err(|error| target.refuse(error))?;
    target.report(args.json, &shown, |shown| shown.text.clone())
}

/// Returns the parameters of a set as files have them.
fn parameters(set: &Set, is_real: bool) -> Result<Stored, CliError> {
    let few = || {
        let all = Set { slots: None, ..set.clone() };
        CliError::input(format!("--output: parameters in files are for messages of all slots: take {all}"))
    };
    let whole = BootstrapParameters::named(&set.to_string()).ok_or_else(few)?;
    let parameters = if is_real { whole.with_real_slots().map_err(CliError::input)? } else { whole };
    Ok(Stored::Bootstrapped(parameters))
}

fn named(name: &str) -> Result<Set, CliError> {
    let names = Set::shipped().map(|set| set.name).join(", ");
    let unknown = format!(
        "--bootstrapping: there is no set {name:?}: take one of {names}, with the number of levels left behind it where that shall be another, and -s16 for messages of 16 slots"
    );
    Set::named(name).ok_or_else(|| CliError::input(unknown))
}
