//! The subcommand `lab bench bootstrap`.

use clap::{Args, ValueEnum};
use lab::Result;
use lab::bench::Options;
use lab::bench::bootstrapping::{self, Figures, Slots};
#[cfg(feature = "peers")]
use lab::bench::rivals::{self, Selection};
use sunzi_circuits::bootstrap::eval_mod::ApproximationForm;
use sunzi_circuits::bootstrap::{Chain, Order, Set, SpecialModuli};
use sunzi_rlwe::words::counted;

use super::super::output;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// A rival to measure first, as lattigo=PROGRAM
    #[cfg(feature = "peers")]
    #[arg(long = "rival", value_name = "NAME=PROGRAM")]
    rivals: Vec<Selection>,
    /// Messages of every kind that precision is measured over
    #[arg(long, default_value_t = 1)]
    messages: usize,
    /// Bootstrappings of a random message in a row
    #[arg(long, default_value_t = 0, value_name = "K")]
    in_a_row: usize,
    /// Bootstrappings that are timed
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Threads of Sunzi's bootstrapping; rivals have one
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Measure only the rivals' bootstrapping
    #[arg(long)]
    only_rivals: bool,
    /// Our set of parameters; rivals have one of the same degree. quick is a look at n = 2^12, WITHOUT SECURITY
    #[arg(long, value_enum, default_value_t = Named::Default)]
    set: Named,
    /// Moduli that levels are made of, unless as the parameter set has it
    #[arg(long, value_enum)]
    chain: Option<Levels>,
    /// Digits of key switching, unless as the parameter set has it
    #[arg(long)]
    digits: Option<usize>,
    /// Levels left after bootstrapping, unless as the parameter set has it
    #[arg(long)]
    levels: Option<usize>,
    /// With SlotsToCoeffs first, on levels that are left more than the set has, so that as many are left between two bootstrappings
    #[arg(long)]
    slots_first: bool,
    /// Special moduli of the steps, unless as the parameter set has it
    #[arg(long, value_enum)]
    special: Option<Special>,
    /// Way back from the sparse secret, unless as the parameter set has it
    #[arg(long, value_enum)]
    back: Option<WayBack>,
    /// Levels of CoeffsToSlots, unless as the parameter set has it
    #[arg(long)]
    levels_to_slots: Option<usize>,
    /// log2 of the scale of CoeffsToSlots, unless as the parameter set has it
    #[arg(long, value_name = "BITS")]
    bits_to_slots: Option<u32>,
    /// log2 of the scale of EvalMod, unless as the parameter set has it
    #[arg(long, value_name = "BITS")]
    bits_eval_mod: Option<u32>,
    /// Degree of arcsin in EvalMod, 1 for none, unless as the parameter set has it
    #[arg(long, value_name = "DEGREE")]
    arcsine: Option<usize>,
    /// log2 of q_0 over the largest message, unless as the parameter set has it
    #[arg(long, value_name = "BITS")]
    bits_ratio: Option<f64>,
    /// log2 of q_0, unless as the parameter set has it
    #[arg(long, value_name = "BITS")]
    bits_first: Option<u32>,
    /// Only time: what is asked for and the parameter set as it is with complex messages, in turns
    #[arg(long)]
    turns: bool,
    /// Messages of what is asked for, in turns with complex ones
    #[arg(long, value_enum, default_value_t = Kind::Complex, requires = "turns")]
    kind: Kind,
    /// Print the bootstrapping figures as JSON
    #[arg(long)]
    json: bool,
}

/// Messages that `lab bench bootstrap` takes in turns.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Kind {
    /// Complex slots
    Complex,
    /// Real slots
    Real,
    /// Two messages of real slots in one bootstrapping
    Pair,
}

impl Kind {
    fn slots(self) -> Slots {
        match self {
            Self::Complex => Slots::Complex,
            Self::Real => Slots::Real,
            Self::Pair => Slots::RealPair,
        }
    }
}

/// Moduli that the levels of a bootstrapping set are made of.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Levels {
    /// Levels that are the first moduli of one list
    Prefixes,
    /// Levels that are sets of moduli
    Sets,
}

/// Special moduli of the steps of a bootstrapping set.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Special {
    /// The special moduli of the context serve all steps
    Shared,
    /// Each step has special moduli of its own
    Own,
}

/// Ways back from the sparse secret of a bootstrapping set.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum WayBack {
    /// A key switch with all digits, and one level of CoeffsToSlots more
    Switch,
    /// One-digit keys of the first matrix of CoeffsToSlots, and one level fewer
    Matrix,
}

/// Bootstrapping parameter sets of `lab bench bootstrap`, by name.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Named {
    Default,
    Fast,
    N15,
    Precise,
    Paper,
    Quick,
}

impl Named {
    fn set(self) -> Set {
        match self {
            Self::Default => Set::default_128(),
            Self::Fast => Set::fast_128(),
            Self::N15 => Set::n15_128(),
            Self::Precise => Set::high_precision_128(),
            Self::Paper => Set::akimoto_sakuma_insecure(),
            Self::Quick => Set::insecure_for_tests(12),
        }
    }
}

/// Measures the bootstrapping of one library after the other, and prints the figures.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    let Arguments { messages, rounds, threads, .. } = *arguments;
    let options = Options { rounds, threads, ..Options::default() };
    let set = changed(arguments);
    if arguments.turns {
        let own = arguments.set.set();
        let (ratio, [ours, before]) =
            bootstrapping::turns(&options, [(&set, arguments.kind.slots()), (&own, Slots::Complex)])?;
        let what = label(arguments, set.name);
        output::print(&format!(
            "{what}: {ours:.3} s, as it is {before:.3} s, ratio {:.3} ± {:.3}",
            ratio.median, ratio.spread
        ))?;
        return Ok(true);
    }
    let mut sides: Vec<Figures> = Vec::new();
    #[cfg(feature = "peers")]
    for rival in &arguments.rivals {
        sides.push(rivals::bootstrapping(&options, rival, set.log2_degree, messages)?);
    }
    if !arguments.only_rivals {
        let figures = bootstrapping::run(&options, &set, messages, arguments.in_a_row)?;
        sides.push(Figures { set: label(arguments, &figures.set), ..figures });
    }
    if arguments.json {
        output::print_pretty(&sides)?;
        return Ok(true);
    }
    for side in &sides {
        output::print(&text(side))?;
    }
    Ok(true)
}

/// Returns the set that is asked for, with what it shall have instead of its own.
fn changed(arguments: &Arguments) -> Set {
    let mut set = arguments.set.set();
    match arguments.chain {
        Some(Levels::Prefixes) => set.chain = Chain::Prefixes,
        Some(Levels::Sets) => set.chain = Chain::Sets,
        None => {}
    }
    set = match arguments.back {
        Some(WayBack::Switch) => set.with_key_switch_back(),
        Some(WayBack::Matrix) => set.with_first_matrix_back(),
        None => set,
    };
    set.special = match arguments.special {
        Some(Special::Shared) => SpecialModuli::Shared,
        Some(Special::Own) => SpecialModuli::EachStep,
        None => set.special,
    };
    set.digits = arguments.digits.unwrap_or(set.digits);
    set.residual.levels = arguments.levels.unwrap_or(set.residual.levels);
    set.coeffs_to_slots.levels = arguments.levels_to_slots.unwrap_or(set.coeffs_to_slots.levels);
    set.coeffs_to_slots.scale_bits = arguments.bits_to_slots.unwrap_or(set.coeffs_to_slots.scale_bits);
    set.eval_mod_bits = arguments.bits_eval_mod.unwrap_or(set.eval_mod_bits);
    if let ApproximationForm::Cosine { arcsine, .. } = &mut set.eval_mod.form {
        *arcsine = arguments.arcsine.unwrap_or(*arcsine);
    }
    set.eval_mod.ratio_bits = arguments.bits_ratio.unwrap_or(set.eval_mod.ratio_bits);
    set.first_bits = arguments.bits_first.unwrap_or(set.first_bits);
    if arguments.slots_first && set.order == Order::Last {
        set.order = Order::First;
        set.residual.levels += set.slots_to_coeffs.levels;
    }
    set
}

/// Name of the set, with what was asked for instead of the set's own.
fn label(arguments: &Arguments, name: &str) -> String {
    let Arguments { chain, digits, levels, slots_first, back, .. } = arguments;
    let Arguments { levels_to_slots, bits_to_slots, bits_eval_mod, special, .. } = arguments;
    let Arguments { arcsine, bits_ratio, bits_first, kind, .. } = arguments;
    let messages = match kind {
        Kind::Complex => None,
        Kind::Real => Some("real messages"),
        Kind::Pair => Some("real messages in pairs"),
    };
    let changes = [
        chain.map(|chain| format!("by {chain:?}").to_lowercase()),
        digits.map(|digits| format!("{digits} digits")),
        levels.map(|levels| format!("{levels} levels")),
        slots_first.then(|| "SlotsToCoeffs first".to_owned()),
        special.map(|special| format!("special moduli {special:?}").to_lowercase()),
        back.map(|back| format!("back by {back:?}").to_lowercase()),
        levels_to_slots.map(|levels| format!("{levels} levels of CoeffsToSlots")),
        bits_to_slots.map(|bits| format!("CoeffsToSlots at {bits} bits")),
        bits_eval_mod.map(|bits| format!("EvalMod at {bits} bits")),
        arcsine.map(|degree| format!("arcsin of degree {degree}")),
        bits_ratio.map(|bits| format!("a ratio of {bits} bits")),
        bits_first.map(|bits| format!("q_0 of {bits} bits")),
        messages.map(str::to_owned),
    ];
    let changes: Vec<String> = changes.into_iter().flatten().collect();
    if changes.is_empty() { name.to_owned() } else { format!("{name} but {}", changes.join(", ")) }
}

fn text(side: &Figures) -> String {
    let Figures { facts, .. } = side;
    let gib = |bytes: usize| bytes as f64 / f64::from(1 << 30);
    let memory = side.peak_memory_bytes.map_or(0.0, |bytes| gib(bytes as usize));
    let file = facts
        .file_bytes
        .map_or_else(String::new, |bytes| format!(", in a file {:.2} GB", bytes as f64 / 1e9));
    let mut text = format!(
        "{}, {}, n = {}, {}, log2 QP {:.0}\n  {:.2} s ({:.0} transforms, {:.3} ms a slot, {} rounds), {} levels and \
         {:.0} bits left\n  keys {:.2} GiB{file}, {} of rotations, made in {:.1} s; {memory:.1} GiB of memory at most\n",
        side.library,
        side.set,
        side.n,
        counted(side.threads, "thread", "threads"),
        facts.log_key_modulus,
        side.seconds,
        side.in_transforms,
        side.milliseconds_per_slot,
        side.rounds,
        facts.levels,
        facts.log_left,
        gib(facts.key_bytes),
        facts.galois_keys,
        facts.key_seconds
    );
    for one in &side.precision {
        let line = format!(
            "  {:?}: mean {:.1}, deviation {:.1}, worst slot {:.1} bits over {}\n",
            one.message,
            one.mean_bits,
            one.deviation_bits,
            one.worst_bits,
            counted(one.messages, "message", "messages")
        );
        text.push_str(&line);
    }
    if let Some(last) = &side.in_a_row {
        let [mean, worst] = [last.mean_bits, last.worst_bits];
        text.push_str(&format!(
            "  a random message after the last in a row: mean {mean:.1}, worst slot {worst:.1} bits\n"
        ));
    }
    text
}
