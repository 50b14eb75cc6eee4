//! Memory of a run besides its keys: stored values, and the work of the largest operation. Counted in rows,
//! polynomials modulo one prime.
//!
//! Values are stored for all plaintext moduli, and computed for one after the other.

use std::collections::{BTreeMap, BTreeSet};

use sunzi_ring::RnsDigits;

use super::approximate::{Action, Lowered, integral};
use super::{Facts, Parameters};
use crate::graph::Node;
use crate::run::{Holdings, only_summed, peak};
use crate::{NodeId, Program};

/// Number of target moduli of a key switch that a thread computes together.
const GROUP: usize = 4;

/// Returns the bytes that a run of a program takes besides keys.
pub(super) fn bytes(
    program: &Program,
    known: &[Facts],
    parameters: &Parameters,
    lowered: Option<&Lowered>,
) -> u64 {
    let options = parameters.key_switching();
    let digits = RnsDigits::new(options, parameters.moduli());
    let all: Vec<usize> = (0..parameters.moduli().len()).collect();
    let mut rows = Rows {
        program,
        known,
        parameters,
        lowered,
        summed: if lowered.is_some() { BTreeSet::new() } else { only_summed(program) },
        factors: BTreeMap::new(),
        digits: digits.map_or(1, |digits| digits.limbs_of(&all).len()),
        special: options.special_moduli.len(),
        threads: std::thread::available_parallelism().map_or(1, usize::from),
    };
    for &product in &rows.summed {
        let pair = rows.operands(product);
        for &factor in &pair.iter().copied().collect::<BTreeSet<_>>() {
            let square = pair.iter().all(|&other| other == factor);
            let (count, squared) = rows.factors.entry(factor).or_default();
            (*count, *squared) = (*count + 1, *squared || square);
        }
    }
    let rows = peak(program, &rows);
    // A quarter more: freed memory is reused only for lengths between half of its own and its own.
    8 * parameters.degree() as u64 * (rows + rows / 4)
}

/// Returns the bytes of a packed run besides keys: ciphertexts of a chunk and all sums for every plaintext modulus,
/// operands for one after the other.
pub(crate) fn packed_bytes(layout: &sunzi_circuits::statistics::Layout, parameters: &Parameters) -> u64 {
    let (all, moduli) = (parameters.moduli().len(), parameters.plain_moduli().len());
    let (operand, sum) = match parameters {
        Parameters::Bfv(_) => (2 * all + 4 * (2 * all + 1), 3 * (2 * all + 1)),
        _ => (4 * all, 3 * all),
    };
    let inputs = (layout.packed() + layout.repeated()) * (operand + 2 * all * moduli);
    let sums = layout.packed() * 2 * all + layout.products().len() * (sum + 4 * all);
    let rows = (inputs + sums * moduli) as u64;
    8 * parameters.degree() as u64 * (rows + rows / 4)
}

/// Returns the number of levels of a node below fresh ciphertexts.
pub(super) fn drop_of(known: &[Facts], lowered: Option<&Lowered>, id: NodeId) -> usize {
    match lowered {
        Some(lowered) => lowered.step(id).map_or(0, |step| step.drop),
        None => known.get(id.index()).map_or(0, |facts| facts.depth),
    }
}

struct Rows<'a> {
    program: &'a Program,
    known: &'a [Facts],
    parameters: &'a Parameters,
    lowered: Option<&'a Lowered>,
    /// Products that are summed before they are relinearised.
    summed: BTreeSet<NodeId>,
    /// Number of summed products of each factor, and whether one of them is its square.
    factors: BTreeMap<NodeId, (usize, bool)>,
    digits: usize,
    special: usize,
    threads: usize,
}

impl Rows<'_> {
    fn encrypted(&self, id: NodeId) -> bool {
        self.known.get(id.index()).is_some_and(|facts| facts.encrypted)
    }

    /// Returns the number of plaintext moduli of a run.
    fn parts(&self) -> usize {
        self.parameters.plain_moduli().len().max(1)
    }

    fn all(&self) -> usize {
        self.parameters.moduli().len()
    }

    fn drop(&self, id: NodeId) -> usize {
        drop_of(self.known, self.lowered, id)
    }

    /// Returns the number of moduli of a node's value: fresh BGV ciphertexts have more than those of the highest
    /// level.
    fn limbs(&self, id: NodeId) -> usize {
        match self.drop(id) {
            0 => self.all(),
            drop => self.parameters.limbs_below(drop).len(),
        }
    }

    fn operands(&self, id: NodeId) -> Vec<NodeId> {
        let operands = self.program.graph().node(id).map(Node::operands).unwrap_or_default();
        operands.into_iter().filter(|&id| self.encrypted(id)).collect()
    }

    /// Returns the number of moduli to which the operands of a node are brought.
    fn common(&self, id: NodeId) -> usize {
        let drop = self.operands(id).into_iter().map(|id| self.drop(id)).max();
        self.parameters.limbs_below(drop.unwrap_or(0)).len()
    }

    /// Returns the number of moduli in which BFV multiplies: twice those of a ciphertext, and one more where the
    /// second ones are shorter.
    fn wide(&self) -> usize {
        2 * self.all() + 1
    }

    /// Returns the rows of a key switch besides its result: the input in coefficient form with its source, two
    /// remainders, and the buffers of threads.
    fn switch(&self, limbs: usize, target: usize) -> usize {
        let tasks = (limbs + self.special).div_ceil(GROUP) + 1;
        let each = GROUP * (self.digits + 3);
        limbs
            + self.digits
            + 2 * (self.special + limbs.saturating_sub(target) + 1)
            + self.threads.min(tasks) * each
    }

    /// Returns the rows of a product and its relinearisation for one plaintext modulus, besides operands and result.
    fn product(&self, limbs: usize, target: usize) -> usize {
        match self.parameters {
            // Both operands extended and three parts; scaled ones take memory of another length.
            Parameters::Bfv(_) => 7 * self.wide() + 6 * limbs + self.switch(limbs, limbs),
            // Both operands brought to the level, three parts, and a copy with changed metadata.
            _ => 4 * limbs + 3 * limbs + 2 * target + self.switch(limbs, target),
        }
    }
}

impl Holdings for Rows<'_> {
    fn value(&self, id: NodeId) -> u64 {
        if !self.encrypted(id) {
            return 0;
        }
        let (factors, square) = self.factors.get(&id).copied().unwrap_or_default();
        // A node that was once a factor of sums is kept in their form too: in BFV from one side or from both.
        let beside = match (self.parameters, factors) {
            (_, 0) => 0,
            (Parameters::Bfv(_), 1) if !square => 2 * self.all() + 2 * self.wide(),
            (Parameters::Bfv(_), _) => 2 * self.all() + 4 * self.wide(),
            _ => 2 * self.limbs(id),
        };
        (self.parts() * (2 * self.limbs(id) + beside)) as u64
    }

    fn total(&self, id: NodeId) -> u64 {
        if !self.encrypted(id) {
            return 0;
        }
        let rows = match (self.summed.contains(&id), self.parameters) {
            (true, Parameters::Bfv(_)) => 3 * self.wide(),
            (true, _) => 3 * self.common(id),
            (false, _) => 2 * self.limbs(id),
        };
        (self.parts() * rows) as u64
    }

    fn step(&self, id: NodeId) -> u64 {
        if !self.encrypted(id) {
            return 0;
        }
        let (common, own) = (self.common(id), self.limbs(id));
        let step = self.lowered.and_then(|lowered| lowered.step(id));
        let rows = match (self.program.graph().node(id), step.map(|step| &step.action)) {
            (_, Some(Action::Curve { curve, .. })) => 2 * common * curve.held() + self.product(common, own),
            (_, Some(Action::Sign { sign, .. })) => {
                let most = sign.stages().iter().map(|stage| stage.cost().relinearizations).max();
                2 * common * (most.unwrap_or(0) + 2) + self.product(common, own)
            }
            (Some(Node::Linear { .. }), Some(Action::Linear { factors, .. })) if !integral(factors) => {
                4 * common + own
            }
            (Some(Node::Linear { .. }), _) => 4 * own,
            (Some(Node::Product(..)), _) if self.summed.contains(&id) => match self.parameters {
                Parameters::Bfv(_) => self.wide(),
                _ => 3 * common,
            },
            (Some(Node::Product(..)), _) => self.product(common, own),
            (Some(Node::Polynomial { coefficients, .. }), _) => {
                2 * common * coefficients.len() + self.product(common, own)
            }
            (Some(Node::LookUp { values, .. }), _) => {
                // Each relinearised product is a power or a sum that is kept, as is its form as a factor.
                let held = super::cost_of(values.len()).relinearizations + 2;
                let factor = match self.parameters {
                    Parameters::Bfv(_) => 2 * self.all() + 4 * self.wide(),
                    _ => 2 * common,
                };
                (2 * common + factor) * held + self.product(common, own)
            }
            // The ciphertext read from a file, and the sum.
            _ => 2 * own,
        };
        rows as u64
    }

    fn finish(&self, id: NodeId) -> u64 {
        if !self.encrypted(id) {
            return 0;
        }
        let limbs = match self.lowered {
            Some(lowered) => {
                let depth = match self.parameters {
                    Parameters::Ckks(parameters) => parameters.depth(),
                    Parameters::Bootstrapped(own) => own.set().levels_left(),
                    _ => 0,
                };
                self.parameters.limbs_below(depth.saturating_sub(lowered.sum_level)).len()
            }
            None => self.limbs(id),
        };
        let rotated = 6 * limbs + self.switch(limbs, limbs);
        let finished = if self.summed.contains(&id) {
            let common = self.common(id);
            6 * common + self.switch(common, common)
        } else {
            0
        };
        rotated.max(finished) as u64
    }
}
