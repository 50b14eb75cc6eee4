//! Automorphisms X → X^k in both domains.

use std::collections::HashMap;
use std::sync::{Arc, RwLock};

use sunzi_kernels::{Automorphism, KernelError, Modulus, NttPlan, permute};
use sunzi_math::{Additive, RingIndex};
use zeroize::Zeroizing;

use crate::parallel::Work;
use crate::transform::Plan;
use crate::{Backend, Representation, Residues, RingError, WordRing};

/// Number of tables of automorphisms kept; those of further exponents are recomputed, so that no caller can
/// make a ring grow without end.
const CACHED_TABLES: usize = 256;

/// Index tables of automorphisms by (evaluation domain, exponent).
type Tables = HashMap<(bool, u64), Arc<[u32]>>;

/// Positions from which the values of a(X^k) come.
#[derive(Clone)]
pub(crate) enum ValueSources {
    /// Positions that are known block by block.
    Blocks(Automorphism),
    /// Positions that are listed one by one.
    Listed(Arc<[u32]>),
}

impl ValueSources {
    /// The positions of values for an exponent coprime to the index of the ring and below it.
    pub(crate) fn new(ring: &WordRing, tables: &AutomorphismTables, k: u64) -> Self {
        match ring.plans().first().map(|plan| &**plan) {
            Some(Plan::Negacyclic(plan)) if let Ok(blocks) = automorphism(plan, k) => Self::Blocks(blocks),
            _ => Self::Listed(tables.get(ring, k, true)),
        }
    }

    /// The position from which the value at a position comes.
    pub(crate) fn source(&self, position: usize) -> usize {
        match self {
            Self::Blocks(blocks) => blocks.source(position),
            Self::Listed(sources) => sources.get(position).map_or(0, |&source| source as usize),
        }
    }

    /// Computes the values at positions `from`, `from + 1` and so on of a(X^k), where `input` are those of a from
    /// position `start` on: all of them unless both ranges are aligned powers of two, 64 or more.
    pub(crate) fn apply(
        &self,
        out: &mut [u64],
        from: usize,
        input: &[u64],
        start: usize,
    ) -> Result<(), KernelError> {
        match self {
            Self::Blocks(blocks) => blocks.apply(out, from, input, start),
            Self::Listed(sources) => {
                let sources = sources.get(from..from.saturating_add(out.len())).unwrap_or_default();
                permute(out, input, sources)
            }
        }
    }
}

/// Makes the automorphism X → X^k of what a plan has transformed.
fn automorphism(plan: &NttPlan, k: u64) -> Result<Automorphism, KernelError> {
    let make = if plan.is_real() { Automorphism::real } else { Automorphism::new };
    make(plan.n(), k)
}

/// The index tables of a ring's automorphisms, made at first use.
#[derive(Default)]
pub(crate) struct AutomorphismTables(RwLock<Tables>);

impl AutomorphismTables {
    /// The index table of exponent k, coprime to m and below it.
    pub(crate) fn get(&self, ring: &WordRing, k: u64, evaluation: bool) -> Arc<[u32]> {
        if let Ok(tables) = self.0.read()
            && let Some(table) = tables.get(&(evaluation, k))
        {
            return Arc::clone(table);
        }
        let table: Arc<[u32]> =
            if evaluation { value_sources(ring, k) } else { coefficient_sources(ring.ring_index(), k) }
                .into();
        if let Ok(mut tables) = self.0.write()
            && tables.len() < CACHED_TABLES
        {
            tables.insert((evaluation, k), Arc::clone(&table));
        }
        table
    }
}

/// Entry that stands for no coefficient: the entry of the redundant array is 0.
const NOTHING: u32 = u32::MAX;

/// Returns the sources of coefficients: entry j of the redundant array of the image takes coefficient i, negated if
/// the low bit of entry j = 2i + sign says so.
fn coefficient_sources(index: &RingIndex, k: u64) -> Vec<u32> {
    let mut sources = vec![NOTHING; index.redundant_len()];
    for i in 0..index.degree() {
        let (position, negative) = index.redundant_position(index.exponent(i) * k % index.value());
        if let Some(source) = sources.get_mut(position) {
            *source = (2 * i + usize::from(negative)) as u32;
        }
    }
    sources
}

/// Returns the sources of values: the value of a(X^k) at ω^e is the value of a at ω^(ke).
fn value_sources(ring: &WordRing, k: u64) -> Vec<u32> {
    let m = ring.index();
    let exponents = ring.plans().first().map_or_else(Vec::new, |plan| plan.evaluation_exponents());
    let mut position_of = vec![0_u32; m as usize];
    for (position, &exponent) in (0..).zip(&exponents) {
        if let Some(entry) = position_of.get_mut(exponent as usize) {
            *entry = position;
        }
    }
    let source = |exponent: &u64| position_of.get((exponent * k % m) as usize).copied().unwrap_or(0);
    exponents.iter().map(source).collect()
}

/// Does [`Backend::automorphism`] in words.
pub(crate) fn apply(
    ring: &WordRing,
    a: &Residues,
    representation: Representation,
    k: u64,
) -> Result<Residues, RingError> {
    ring.check(a)?;
    let mut image = ring.arbitrary_residues();
    if representation == Representation::Values {
        let sources = ring.value_sources(k)?;
        ring.for_each_modulus(&mut image, |i, _, range, out| {
            Ok(sources.apply(out, range.start, a.own_limb(i)?, 0)?)
        })?;
    } else {
        let sources = ring.coefficient_sources(k)?;
        ring.parallelism().for_each_limb(Work::Elementwise, image.words_mut(), ring.degree(), |i, out| {
            apply_to_coefficients(ring.ring_index(), ring.basis().own(i)?, out, a.own_limb(i)?, &sources)
        })?;
    }
    Ok(image)
}

/// Computes the coefficients of a(X^k) modulo q; constant time in the coefficients.
fn apply_to_coefficients(
    index: &RingIndex,
    q: Modulus,
    out: &mut [u64],
    input: &[u64],
    sources: &[u32],
) -> Result<(), RingError> {
    let entry = |&source: &u32| {
        // An entry for no coefficient points past the end.
        let value = input.get((source >> 1) as usize).copied().unwrap_or(0);
        // Negation: −value = q − value unless value is 0, chosen by mask.
        let negated = q.value().wrapping_sub(value) & u64::from(value != 0).wrapping_neg();
        let sign = u64::from(source & 1).wrapping_neg();
        value ^ ((value ^ negated) & sign)
    };
    if sources.len() == out.len() {
        out.iter_mut().zip(sources).for_each(|(out, source)| *out = entry(source));
        return Ok(());
    }
    let mut entries = Zeroizing::new(sources.iter().map(entry).collect::<Vec<_>>());
    index.fold(&Words(q), &mut entries)?;
    out.copy_from_slice(entries.get(..out.len()).unwrap_or_default());
    Ok(())
}

/// Words reduced modulo q, which are negated and added in constant time.
struct Words(Modulus);

impl Additive for Words {
    type Element = u64;

    fn zero(&self) -> u64 {
        0
    }
    fn add_assign(&self, a: &mut u64, b: &u64) {
        *a = self.0.add(*a, *b);
    }
    fn sub_assign(&self, a: &mut u64, b: &u64) {
        *a = self.0.sub(*a, *b);
    }
}
