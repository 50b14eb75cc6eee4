//! Lifts, which compute the residues of a digit modulo any target.

use std::ops::Range;

use sunzi_kernels::{Conversion, Modulus, RoundedQuotient};
use sunzi_math::mod_inv;

use super::digits::{Digit, RnsDigits};
use crate::error::part;
use crate::transform::Scale;
use crate::{RingError, WordRing};

/// Lift of one digit, from the coefficients of its limbs to its residues modulo every target.
pub(super) struct Lift {
    /// Number of the lifted digit among all digits: of the first where they are merged.
    pub(super) digit: usize,
    /// Index of the first of the digit's moduli at the highest level.
    pub(super) source: usize,
    /// Range of the digit's limbs in the polynomial.
    pub(super) range: Range<usize>,
    /// Factors of the digit's limbs: folded into their inverse transforms, and for limbs that do not come from a
    /// transform.
    pub(super) scales: Vec<Scale>,
    pub(super) factors: Vec<u64>,
    pub(super) kind: LiftKind,
    /// Place of the digit's quotients among the rows of all digits: after the limbs.
    pub(super) quotient: usize,
}

pub(super) enum LiftKind {
    /// Lift of a residue or a part of it, from D_j + `offset` in [0, q_j + offset).
    Residue { digit: Digit, half: u64, rest: u64 },
    /// Lift of [c]_{Q_j}, centred, from y_i = |c·q_i/Q_j|_{q_i} and v = ⌊Σ y_i/q_i⌉: Σ y_i·(Q_j/q_i) − v·Q_j [HPS19],
    /// to the targets of each group that are not the digit's own.
    Remainder { rounding: RoundedQuotient, conversions: Vec<Conversion> },
}

impl Lift {
    /// The lift of a digit, the i-th of those that have limbs at this level.
    pub(super) fn new(
        i: usize,
        (number, digit, range): (usize, Digit, Range<usize>),
        digits: &RnsDigits,
        ring: &WordRing,
        key_ring: &WordRing,
        groups: &[Range<usize>],
    ) -> Result<Self, RingError> {
        let (quotient, source) = (ring.basis().len() + i, digit.source);
        let plans = part("transform", ring.plans(), range.clone(), range.start)?;
        let moduli: Vec<Modulus> = plans.iter().map(|plan| plan.modulus()).collect();
        if let [q] = moduli[..] {
            let (half, digit) = ((q.value() - 1) / 2, digit.of_one(source, q.value()));
            let rest = digits.offset(&digit) - half;
            let scales = plans.iter().map(|plan| plan.scale(1)).collect::<Result<_, _>>()?;
            let kind = LiftKind::Residue { digit, half, rest };
            return Ok(Self { digit: number, source, range, scales, factors: vec![1], kind, quotient });
        }
        let without = |q: &Modulus, i: usize| {
            let others = moduli.iter().enumerate().filter(|&(j, _)| j != i);
            others.fold(1, |product, (_, p)| q.mul(product, q.reduce(p.value())))
        };
        let factors = moduli.iter().enumerate().map(|(i, q)| mod_inv(without(q, i), q.value()));
        let factors: Vec<u64> = factors.collect::<Result<_, _>>()?;
        let scales = plans.iter().zip(&factors).map(|(plan, &c)| plan.scale(c)).collect::<Result<_, _>>()?;
        let rounding = RoundedQuotient::new(ring.isa(), &moduli)?;
        let rows: Vec<Modulus> = moduli.iter().copied().chain([rounding.range()]).collect();
        let conversion = |group: &Range<usize>| {
            let targets = group.clone().filter(|target| !range.contains(target));
            let targets: Vec<Modulus> =
                targets.map(|target| key_ring.basis().own(target)).collect::<Result<_, _>>()?;
            let entry = |i: usize, j: usize| {
                let Some(target) = targets.get(j) else { return 0 };
                if i < moduli.len() { without(target, i) } else { target.neg(without(target, i)) }
            };
            Ok(Conversion::new(&rows, &targets, entry)?)
        };
        let conversions = groups.iter().map(conversion).collect::<Result<_, RingError>>()?;
        let kind = LiftKind::Remainder { rounding, conversions };
        Ok(Self { digit: number, source, range, scales, factors, kind, quotient })
    }

    /// Whether the polynomial modulo q_j is the digit modulo q_j, as it stands.
    pub(super) fn is_own(&self, target: usize) -> bool {
        let whole = match &self.kind {
            LiftKind::Residue { digit, .. } => digit.is_whole(),
            LiftKind::Remainder { .. } => true,
        };
        whole && self.range.contains(&target)
    }
}
