//! Choice of scheme, parameters and layout of a packed plan, from its shape and its largest possible sum.

use num_bigint::BigUint;
use sunzi_bgv::{Budget, Operations};
use sunzi_circuits::statistics::{Layout, Shape, Tally};
use sunzi_rlwe::words::bytes;

use super::moments::Of;
use super::{Moments, Packed, Packing, Sizes, Work};
use crate::analysis::{
    self, Facts, Options, Parameters, Plan, Refusal, SchemeChoice, bgv_of, packed_bytes, plain_moduli,
};
use crate::graph::Node;
use crate::run::encrypted_inputs;
use crate::{NodeId, Program};

/// Ring degrees considered for packed tables, as log2 n: smaller ones leave no room for a product, larger ones cost
/// more.
const LOG2_DEGREES: std::ops::RangeInclusive<u32> = 12..=15;
/// Number of ciphertext moduli assumed where layouts are compared.
const TYPICAL_LIMBS: usize = 3;

/// Returns the packed plan of a program; `None` where the program cannot be packed, or columns apart cost less.
pub(crate) fn choose(
    program: &Program,
    known: &[Facts],
    options: &Options,
) -> Option<Result<Plan, Box<Refusal>>> {
    let packing = options.packing.as_ref().filter(|_| can_pack(options))?;
    let search = Search::new(program, known, options, packing)?;
    let degrees = options.log2_degree.map_or(LOG2_DEGREES, |log2_degree| log2_degree..=log2_degree);
    let layout = degrees.clone().find_map(|log2_degree| search.layout(log2_degree))?;
    let apart = by_columns(program, known, layout.degree());
    let asked = packing.by_label || packing.always || packing.segment.is_some();
    if !asked && layout.cost(TYPICAL_LIMBS) >= apart.butterflies(TYPICAL_LIMBS) {
        return None;
    }
    Some(search.plan(degrees))
}

/// Whether options allow a packed table: it is not cut, and its key holder alone sees results, since other slots hold sums of fewer rows.
fn can_pack(options: &Options) -> bool {
    let alone = options.sharing.is_none() && options.reencryptions.is_none() && options.parties == 1;
    alone && options.parts == 1
}

/// Returns the reason why a program has no packed plan.
pub(crate) fn refusal(program: &Program, options: &Options) -> Box<Refusal> {
    let reason = if !can_pack(options) {
        "packed tables are neither cut by a category nor are their results shared or handed on: other slots hold sums of fewer rows"
    } else {
        "packed tables give exact sums and sums of products of two encrypted columns, over all rows or by the labels of one \
         encrypted category without missing cells, and its groups fit one ciphertext"
    };
    let last = program.used().last().copied();
    let expression = last.map(|id| program.graph().describe(id, program.schema())).unwrap_or_default();
    Box::new(Refusal { reason: reason.to_owned(), expression })
}

/// Returns the packed plan of a program in given parameters.
pub(crate) fn within(
    program: &Program,
    parameters: &Parameters,
    packing: &Packing,
) -> Result<Plan, Box<Refusal>> {
    let known = analysis::facts(program);
    let options = Options { parties: parameters.parties(), ..Options::default() };
    if !can_pack(&options) {
        return Err(refusal(program, &options));
    }
    let log2_degree = parameters.degree().checked_ilog2().unwrap_or(0);
    let search = Search::new(program, &known, &options, packing);
    let found = search.and_then(|search| Some((search.layout(log2_degree)?, search)));
    let Some((layout, search)) = found else { return Err(refusal(program, &options)) };
    if let Err(reason) = search.fits(&layout, log2_degree, parameters) {
        return Err(Box::new(Refusal { reason, expression: "the largest sum".to_owned() }));
    }
    let choice = search.choice(&layout, parameters.clone());
    let reason = "these parameters were given".to_owned();
    packed_plan(program, choice.parameters, choice.packed, vec![reason])
}

/// Returns the cost of the totals where every column has ciphertexts of its own, and each total is rotated.
fn by_columns(program: &Program, known: &[Facts], degree: usize) -> Tally {
    let layout = analysis::Layout::new(program.schema().rows as usize, degree);
    let encrypted = |id: &NodeId| known.get(id.index()).is_some_and(|facts| facts.encrypted);
    let product = |id: &NodeId| match program.graph().node(*id) {
        Some(Node::Product(a, b)) => encrypted(a) && encrypted(b),
        _ => false,
    };
    Tally {
        degree,
        chunks: layout.chunks,
        inputs: encrypted_inputs(program).len(),
        products: program.used().iter().filter(|id| product(id)).count(),
        sums: program.totals().len(),
        rotations: layout.span.ilog2(),
    }
}

/// Returns an upper bound on the magnitude of every moment.
fn largest(program: &Program, known: &[Facts], moments: &Moments) -> BigUint {
    let column = |x: &usize| {
        let facts = moments.columns.get(*x).and_then(|id| known.get(id.index()));
        BigUint::from(facts.and_then(|facts| facts.exact).map_or(0, |exact| exact.magnitude()))
    };
    let of = |of: &Of| match of {
        Of::One => BigUint::from(1_u32),
        Of::Column(x) => column(x),
        Of::Product(x, y) => column(x) * column(y),
    };
    let all = moments.totals.values().flat_map(|(_, terms)| terms.keys()).map(|(_, moment)| of(moment));
    all.max().unwrap_or_default().max(1_u32.into()) * program.schema().rows
}

/// Parameters of one scheme with the packing of the table in them.
struct Choice {
    parameters: Parameters,
    packed: Packed,
}

impl Choice {
    fn butterflies(&self) -> f64 {
        self.packed.work.butterflies
    }
}

/// Choice of the least work in one scheme, among the rings considered so far.
struct Best {
    chosen: Option<Choice>,
    /// Whether the search ends: a larger ring cost more than a smaller one, or the scheme is not wanted.
    rising: bool,
}

impl Best {
    fn of(wanted: bool) -> Self {
        Self { chosen: None, rising: !wanted }
    }

    /// Considers the candidates in the next larger ring: the cheapest one is chosen if it costs less than all before.
    fn meet(&mut self, candidates: Vec<Choice>) {
        let least = candidates.into_iter().min_by(|a, b| a.butterflies().total_cmp(&b.butterflies()));
        let Some(least) = least else { return };
        if self.chosen.as_ref().is_none_or(|chosen| least.butterflies() < chosen.butterflies()) {
            self.chosen = Some(least);
        } else {
            self.rising = true;
        }
    }
}

struct Search<'a> {
    program: &'a Program,
    moments: Moments,
    shape: Shape,
    bound: BigUint,
    options: &'a Options,
    packing: &'a Packing,
}

impl<'a> Search<'a> {
    /// Prepares the search for a packed plan; `None` for a program that cannot be packed.
    fn new(
        program: &'a Program,
        known: &[Facts],
        options: &'a Options,
        packing: &'a Packing,
    ) -> Option<Self> {
        let moments = Moments::of(program, known)?;
        let longest_group =
            packing.longest_group.unwrap_or(u64::MAX).clamp(1, program.schema().rows) as usize;
        let shape = Shape { columns: moments.columns.len(), groups: moments.groups, longest_group };
        let bound = packing.largest.map_or_else(|| largest(program, known, &moments), BigUint::from);
        Some(Self { program, moments, shape, bound, options, packing })
    }

    fn layout(&self, log2_degree: u32) -> Option<Layout> {
        let (shape, degree, pairs) = (self.shape, 1 << log2_degree, self.moments.pairs());
        match self.packing.segment {
            Some(segment) => Layout::for_pairs(shape, degree, segment, &pairs).ok(),
            None => Layout::cheapest_for(shape, degree, TYPICAL_LIMBS, &pairs).ok(),
        }
    }

    /// Checks that parameters hold every sum; otherwise returns why not.
    fn fits(&self, layout: &Layout, log2_degree: u32, parameters: &Parameters) -> Result<(), String> {
        let range: BigUint = parameters.plain_moduli().iter().product();
        if &self.bound * 2_u32 >= range {
            return Err(format!(
                "sums may reach ±{}, the plaintext moduli hold up to 2^{}: make parameters for this program",
                self.bound,
                range.bits().saturating_sub(2)
            ));
        }
        let depth = Self::depth(layout);
        let left = match parameters {
            Parameters::Bfv(own) => {
                self.bfv(layout, log2_degree).bits_left(own).map_err(|error| error.to_string())? >= 0.0
            }
            Parameters::Bgv { parameters: own, .. } => {
                let (sums, levels) = (Self::operations(layout), own.depth());
                let covers = |level: usize| own.budget().at(level, levels).covers(&sums);
                let after = levels.checked_sub(depth);
                after.is_some_and(|after| covers(levels) && (depth == 0 || covers(after)))
            }
            Parameters::Ckks(_) | Parameters::Bootstrapped(_) | Parameters::Integers(_) => {
                return Err("packed tables are for BFV and BGV".to_owned());
            }
        };
        let short = || "the parameters leave too little noise: make parameters for this program".to_owned();
        if left { Ok(()) } else { Err(short()) }
    }

    /// Returns the plan of the cheapest scheme, parameters and layout that hold every sum.
    fn plan(&self, degrees: std::ops::RangeInclusive<u32>) -> Result<Plan, Box<Refusal>> {
        let asked = self.options.scheme;
        let mut bfv = Best::of(asked != Some(SchemeChoice::Bgv));
        let mut bgv = Best::of(asked != Some(SchemeChoice::Bfv));
        for log2_degree in degrees {
            if bfv.rising && bgv.rising {
                break;
            }
            let Some(layout) = self.layout(log2_degree) else { continue };
            let Ok(explanation) = self.bfv(&layout, log2_degree).explain() else { continue };
            if !bgv.rising {
                let plain = plain_moduli(&explanation);
                let found = plain.into_iter().filter_map(|plain| self.bgv(&layout, log2_degree, plain));
                bgv.meet(found.map(|parameters| self.choice(&layout, parameters)).collect());
            }
            if !bfv.rising {
                let found = explanation.chosen.map(|choice| Parameters::Bfv(choice.parameters));
                bfv.meet(found.map(|parameters| self.choice(&layout, parameters)).into_iter().collect());
            }
        }
        let (choice, reason) = match (bfv.chosen, bgv.chosen) {
            (Some(bfv), Some(bgv)) => faster(bfv, bgv),
            (Some(only), None) | (None, Some(only)) => {
                let reason = format!("only {} has secure parameters for these sums", only.parameters.name());
                (only, reason)
            }
            (None, None) => {
                let reason = format!(
                    "no secure parameters hold sums up to ±{}: use fewer decimals, columns or groups",
                    self.bound
                );
                return Err(Box::new(Refusal { reason, expression: "the largest sum".to_owned() }));
            }
        };
        let reason = asked.map_or(reason, |_| format!("{} was asked for", choice.parameters.name()));
        packed_plan(self.program, choice.parameters, choice.packed, vec![reason])
    }

    fn choice(&self, layout: &Layout, parameters: Parameters) -> Choice {
        let (sizes, moments) = (Sizes::of(layout, &parameters), self.moments.clone());
        let work = Work::of(layout, &parameters, sizes.travelling());
        let (layout, packing) = (layout.clone(), self.packing.clone());
        Choice { packed: Packed { layout, packing, moments, work, sizes }, parameters }
    }

    fn depth(layout: &Layout) -> usize {
        usize::from(!layout.products().is_empty())
    }

    fn bfv(&self, layout: &Layout, log2_degree: u32) -> sunzi_bfv::ParametersBuilder {
        sunzi_bfv::Parameters::builder()
            .depth(Self::depth(layout))
            .plain_range(self.bound.clone())
            .additions(layout.chunks().next_power_of_two().ilog2())
            .rotations(layout.rotations())
            .security(self.options.security)
            .log2_degree(log2_degree)
    }

    /// Returns the numbers of operations of a sum over the slots of a unit and over all chunks.
    fn operations(layout: &Layout) -> Operations {
        // Doubling over a unit of slots makes as many terms, all but one of which have been rotated.
        // Columns are summed as they come, and so are products.
        let (unit, chunks) = (layout.unit() as u64, layout.chunks() as u64);
        let additions = unit.saturating_mul(chunks).saturating_sub(1);
        Operations { additions, rotations: unit.saturating_sub(1), plain_products: 0 }
    }

    /// Returns BGV parameters for these plaintext moduli, if there are any.
    fn bgv(&self, layout: &Layout, log2_degree: u32, plain: Vec<u64>) -> Option<Parameters> {
        let sums = Self::operations(layout);
        let builder = sunzi_bgv::Parameters::builder()
            .depth(Self::depth(layout))
            .budget(Budget { fresh: sums, per_level: sums, ..Budget::default() })
            .security(self.options.security)
            .log2_degree(log2_degree);
        bgv_of(builder, plain)
    }
}

/// Returns the choice with less predicted work, and the reason.
fn faster(bfv: Choice, bgv: Choice) -> (Choice, String) {
    let (chosen, other) = if bgv.butterflies() < bfv.butterflies() { (bgv, bfv) } else { (bfv, bgv) };
    let [(name, n, work), (than, m, more)] =
        [&chosen, &other].map(|c| (c.parameters.name(), c.parameters.degree(), c.packed.work));
    let reason = format!(
        "{name} is predicted to take {:.2} of the time of {than}: {:.0} transforms at n = {n} against {:.0} at \
         n = {m}; {} of keys and ciphertexts against {}",
        work.butterflies / more.butterflies,
        work.transforms,
        more.transforms,
        bytes(work.bytes),
        bytes(more.bytes),
    );
    (chosen, reason)
}

/// Makes the plan of a program whose table is packed.
fn packed_plan(
    program: &Program,
    parameters: Parameters,
    packed: Packed,
    reasons: Vec<String>,
) -> Result<Plan, Box<Refusal>> {
    let own = packed.layout();
    let rows = program.schema().rows as usize;
    let rotations = own.required_rotations();
    let limbs: Vec<usize> = (0..parameters.moduli().len()).collect();
    let key_memory = parameters.key_memory(&limbs, rotations.len());
    let layout = analysis::Layout { rows, span: own.unit(), chunks: own.chunks() };
    let key_bytes = parameters.key_bytes(parameters.ring_level(), rotations.len())?;
    Ok(Plan {
        depth: usize::from(!own.products().is_empty()),
        key_bytes,
        memory_bytes: key_memory + packed_bytes(own, &parameters),
        inputs: packed.sizes().input_ciphertexts,
        rotations,
        rotation_limbs: parameters.ring_level(),
        packed: Some(packed),
        ..Plan::bare(program, parameters, layout, reasons)
    })
}
