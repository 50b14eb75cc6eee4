//! Digits, their transforms and the inner products with a key.

use std::ops::Range;

use sunzi_kernels::Modulus;
use zeroize::Zeroize;

use super::digits::Digit;
use super::lift::{Lift, LiftKind};
use super::tables::{Tables, Top};
use super::{GadgetBackend, KeyPoly, RnsGadget, SwitchInput};
use crate::error::{entry, part};
use crate::opaque::Content;
use crate::parallel::{Parallelism, Work, block_of, longest};
use crate::scratch::Scratch;
use crate::transform::Plan;
use crate::words::division::offset_less;
use crate::{Backend, Evaluation, PackedPoly, Poly, RingError, Shape};

/// Words of distance between two digits in scratch memory: without them, digits at a distance of a power of two would
/// compete for the same cache lines.
pub(super) const PAD: usize = 72;

/// The name of digits in errors, where there are too few.
const DIGITS: &str = "block of digits";

/// The digits of one polynomial, in evaluation form modulo every modulus of the key ring.
#[derive(Clone)]
pub struct RnsDecomposition {
    /// Residues, modulus after modulus, with all digits of each.
    words: Scratch,
    digits: usize,
    /// Tag of the key ring of the digits.
    tag: u64,
}

impl RnsDecomposition {
    /// Returns the digits without their last word: a fault that key switches must report.
    pub(crate) fn without_last_word(mut self) -> Self {
        self.words.truncate(self.words.len().saturating_sub(1));
        self
    }
}

impl Content for RnsDecomposition {
    fn byte_len(&self) -> usize {
        size_of_val(&*self.words)
    }
}

impl Zeroize for RnsDecomposition {
    fn zeroize(&mut self) {
        self.words.zeroize();
    }
}

/// Returns a limb of the polynomial that a key switch cuts into digits.
fn limb_of_input(input: SwitchInput<'_>, i: usize) -> Result<&[u64], RingError> {
    match input {
        SwitchInput::Values(a) => a.own_limb(i),
        SwitchInput::Coefficients(a) => a.own_limb(i),
        SwitchInput::Digits(_) => Err(RingError::MissingTable { table: "limb beside its digits", limb: i }),
    }
}

/// Digits and their factors in both halves of a key, modulo one modulus: ranges of the same coefficients.
#[derive(Default)]
pub(super) struct Terms<'a> {
    digits: Vec<&'a [u64]>,
    keys: [Vec<&'a [u8]>; 2],
}

impl<'a> Terms<'a> {
    /// Returns an empty list of terms that reuses the memory, for other digits.
    pub(super) fn clear(&mut self) {
        self.digits.clear();
        self.keys.iter_mut().for_each(Vec::clear);
    }

    /// Adds a term: a digit and its factors in both halves of a key.
    pub(super) fn push(&mut self, digit: &'a [u64], [first, second]: [&'a [u8]; 2]) {
        self.digits.push(digit);
        let [one, other] = &mut self.keys;
        one.push(first);
        other.push(second);
    }

    /// Computes the sums Σ d·(a, b) of digits d and key halves a and b.
    pub(super) fn sum(&self, modulus: &Modulus, outs: [&mut [u64]; 2]) -> Result<(), RingError> {
        let [a, b] = &self.keys;
        Ok(modulus.packed_inner_products(outs, &self.digits, [a, b])?)
    }
}

/// All digits modulo one target.
pub(super) enum TargetDigits<'a> {
    /// Digits in evaluation form.
    Ended(&'a [u64]),
    /// Digits after the outer levels of their transforms, and where these have ended in evaluation form.
    Begun(&'a mut [u64]),
}

/// Inner products ⟨digits, key⟩ of digits and a key, modulo one group of targets after the other.
pub(super) struct InnerProducts<'a> {
    top: &'a Top,
    tables: &'a Tables,
    input: SwitchInput<'a>,
    /// Digits of the input of the key switch, where they are computed already.
    digits: Option<&'a RnsDecomposition>,
    /// Rows of every limb of the input, then the quotient of every digit that has one.
    rows: Scratch,
    key: [Vec<&'a KeyPoly>; 2],
    /// For every digit present, the number of its polynomial in the key.
    key_digits: Vec<usize>,
    /// Places of the key ring's limbs in the key, before limbs are dropped.
    key_limbs: Vec<usize>,
}

/// Returns the digits of the polynomial a: target moduli outermost, so that all digits reuse their twiddles.
pub(super) fn decompose(gadget: &RnsGadget, a: &Poly<Evaluation>) -> Result<RnsDecomposition, RingError> {
    let tables = &*gadget.tables;
    tables.ring.check(a)?;
    let products = InnerProducts::new(
        gadget,
        SwitchInput::Values(a),
        [Vec::new(), Vec::new()],
        gadget.top.ring.level(),
    )?;
    let n = tables.ring.degree();
    let one = tables.lifts.len() * (n + PAD);
    let mut words = Scratch::new(tables.key_ring.basis().len() * one);
    let mut rest = &mut *words;
    let mut parts = Vec::new();
    for (g, group) in tables.groups.iter().enumerate() {
        let missing = RingError::MissingTable { table: "room for the digits", limb: group.start };
        let split = std::mem::take(&mut rest).split_at_mut_checked(group.len() * one);
        let (part, others) = split.ok_or(missing)?;
        parts.push((g, group.clone(), part));
        rest = others;
    }
    let inside = tables.ring.parallelism().inside(parts.len());
    let fill = |(g, group, part): (usize, Range<usize>, &mut [u64])| -> Result<(), RingError> {
        products.convert_group(g, part, inside)?;
        for (target, part) in group.zip(part.chunks_exact_mut(one)) {
            products.lift(target, part)?;
            products.transform(target, part, 0..n, false)?;
            let digits = part.chunks_exact_mut(n + PAD).zip(&tables.lifts);
            for (out, _) in digits.filter(|(_, lift)| lift.is_own(target)) {
                out.iter_mut().zip(a.own_limb(target)?).for_each(|(to, from)| *to = *from);
            }
        }
        Ok(())
    };
    tables.ring.parallelism().for_each(Work::Transform, one, parts, fill)?;
    Ok(RnsDecomposition { words, digits: tables.lifts.len(), tag: tables.key_ring.basis().tag() })
}

impl<'a> InnerProducts<'a> {
    /// Checks digits and key, and computes the rows from which the lifts of digits start.
    pub(super) fn with_key(
        gadget: &'a RnsGadget,
        input: SwitchInput<'a>,
        key: [&'a [PackedPoly]; 2],
    ) -> Result<Self, RingError> {
        let polynomials =
            |half: &'a [PackedPoly]| half.iter().map(|part| part.0.get()).collect::<Result<_, RingError>>();
        let [first, second] = key.map(polynomials);
        let key: [Vec<&KeyPoly>; 2] = [first?, second?];
        let (top, tables) = (&*gadget.top, &*gadget.tables);
        match input {
            SwitchInput::Values(a) => tables.ring.check(a)?,
            SwitchInput::Coefficients(a) => tables.ring.check(a)?,
            SwitchInput::Digits(digits) => {
                let (digits, basis) = (digits.0.get::<RnsDecomposition>()?, tables.key_ring.basis());
                if digits.tag != basis.tag() || digits.digits != tables.lifts.len() {
                    let shape = Shape { degree: tables.ring.degree(), limbs: basis.len() };
                    return Err(RingError::OtherModulus { shape });
                }
            }
        }
        let key_level = top.key_level(&key)?;
        // Keys for merged digits have a polynomial for each.
        let of_key = top.at_level(key_level)?;
        let lifts = if tables.merging.is_some() { &tables.lifts } else { &of_key.lifts };
        top.check_key(&key, key_level, lifts)?;
        Self::new(gadget, input, key, key_level)
    }

    fn new(
        gadget: &'a RnsGadget,
        input: SwitchInput<'a>,
        key: [Vec<&'a KeyPoly>; 2],
        key_level: usize,
    ) -> Result<Self, RingError> {
        let (top, tables) = (&*gadget.top, &*gadget.tables);
        let (digits, rows) = match input {
            SwitchInput::Digits(digits) => (Some(digits.0.get()?), Scratch::new(0)),
            _ => (None, rows(tables, input)?),
        };
        let mut key_limbs = top.ring.nested(gadget.level(), key_level)?;
        let of_key = top.limbs(key_level);
        for &limb in tables.further() {
            let missing = |_| RingError::MissingTable { table: "further modulus of a key", limb };
            key_limbs.push(of_key.binary_search(&limb).map_err(missing)?);
        }
        key_limbs.extend((of_key.len()..).take(top.options.special_moduli.len()));
        let of_key: Vec<usize> = top.digits.present(of_key).map(|(digit, _, _)| digit).collect();
        let place = |lift: &Lift| {
            let missing = |_| RingError::MissingTable { table: "polynomial of a key", limb: lift.source };
            of_key.binary_search(&lift.digit).map_err(missing)
        };
        let key_digits = match &tables.merging {
            Some(merging) => (0..merging.blocks.len()).collect(),
            None => tables.lifts.iter().map(place).collect::<Result<_, _>>()?,
        };
        Ok(Self { top, tables, input, digits, rows, key, key_digits, key_limbs })
    }

    /// The number of scratch words that digits of a group of targets need.
    pub(super) fn scratch_words(&self) -> usize {
        if self.digits.is_some() {
            return 0;
        }
        longest(&self.tables.groups) * self.tables.lifts.len() * (self.tables.ring.degree() + PAD)
    }

    /// Begins digits that are not computed already modulo the targets of a group, in coefficient form.
    pub(super) fn begin_group(
        &self,
        g: usize,
        slots: &mut [u64],
        inside: Parallelism,
    ) -> Result<(), RingError> {
        if self.digits.is_some() { Ok(()) } else { self.convert_group(g, slots, inside) }
    }

    /// Begins the transforms of digits modulo a target of a group.
    pub(super) fn begin<'b>(
        &'b self,
        g: usize,
        target: usize,
        scratch: &'b mut [u64],
    ) -> Result<TargetDigits<'b>, RingError> {
        let one = self.tables.lifts.len() * (self.tables.ring.degree() + PAD);
        if let Some(digits) = self.digits {
            let all = part(DIGITS, &digits.words, target * one..(target + 1) * one, target)?;
            return Ok(TargetDigits::Ended(all));
        }
        let group = entry("group of targets", &self.tables.groups, g)?;
        let place = group.clone().position(|own| own == target);
        let slots = place.and_then(|place| scratch.get_mut(place * one..(place + 1) * one));
        let slots = slots.ok_or(RingError::MissingTable { table: DIGITS, limb: target })?;
        self.lift(target, slots)?;
        Ok(TargetDigits::Begun(slots))
    }

    /// Ends the transforms of digits in a range of whole chunks. The keys for a part of a limb come from memory
    /// meanwhile.
    pub(super) fn end(
        &self,
        target: usize,
        digits: &mut TargetDigits<'_>,
        range: &Range<usize>,
    ) -> Result<(), RingError> {
        match digits {
            TargetDigits::Ended(_) => Ok(()),
            TargetDigits::Begun(slots) => {
                let prefetches = range.len() < self.tables.ring.degree();
                self.transform(target, slots, range.clone(), prefetches)
            }
        }
    }

    /// Computes the inner products of a range of digits, whose transforms have ended there, and both halves of the key.
    pub(super) fn sum(
        &self,
        target: usize,
        digits: &TargetDigits<'_>,
        range: &Range<usize>,
        outs: [&mut [u64]; 2],
    ) -> Result<(), RingError> {
        let slots: &[u64] = match digits {
            TargetDigits::Ended(slots) => slots,
            TargetDigits::Begun(slots) => slots,
        };
        let mut terms = Terms::default();
        self.add_terms(target, slots, range, &mut terms)?;
        terms.sum(&self.tables.key_ring.basis().own(target)?, outs)
    }

    /// Adds, for a target and a range of coefficients, the terms of digits that are computed already and whose keys
    /// are not zero there.
    pub(super) fn add_digit_terms<'b>(
        &'b self,
        target: usize,
        range: &Range<usize>,
        terms: &mut Terms<'b>,
    ) -> Result<(), RingError> {
        let one = self.tables.lifts.len() * (self.tables.ring.degree() + PAD);
        let digits = self.digits.ok_or(RingError::MissingTable { table: DIGITS, limb: target })?;
        let slots = part(DIGITS, &digits.words, target * one..(target + 1) * one, target)?;
        self.add_terms(target, slots, range, terms)
    }

    /// Adds, for a target and a range of coefficients, the terms of digits whose keys are not zero there.
    fn add_terms<'b>(
        &'b self,
        target: usize,
        slots: &'b [u64],
        range: &Range<usize>,
        terms: &mut Terms<'b>,
    ) -> Result<(), RingError> {
        let (tables, n) = (self.tables, self.tables.ring.degree());
        let digits = tables.lifts.iter().zip(slots.chunks_exact(n + PAD)).zip(&self.key_digits);
        for ((lift, slot), &digit) in digits {
            let Some(keys) = self.keys(lift, digit, target, range.start)? else { continue };
            let own = match self.input {
                SwitchInput::Values(a) if lift.is_own(target) => a.own_limb(target)?,
                _ => slot,
            };
            terms.push(part(DIGITS, own, range.clone(), target)?, keys);
        }
        Ok(())
    }

    /// The place of a limb of the key ring in keys for a digit; `None` if they are zero there.
    fn key_limb(&self, lift: &Lift, target: usize) -> Result<Option<usize>, RingError> {
        let limb = *entry("limb of a key", &self.key_limbs, target)?;
        // Only keys of the highest level lack limbs.
        let drops = self.top.options.dropped_limbs > 0;
        Ok(if drops { self.top.digits.limb(lift.source, limb) } else { Some(limb) })
    }

    /// Row i from which lifts start: of a limb, or the quotient of a digit after them. Limbs are padded.
    fn row(&self, i: usize) -> &[u64] {
        let (n, limbs) = (self.tables.ring.degree(), self.tables.ring.basis().len());
        let start = i * n + i.min(limbs) * PAD;
        self.rows.get(start..start + n).unwrap_or_default()
    }

    /// Computes every digit that is a remainder by several moduli, modulo the targets of a group that are not its
    /// own, in coefficient form.
    fn convert_group(&self, g: usize, slots: &mut [u64], inside: Parallelism) -> Result<(), RingError> {
        let (tables, n) = (self.tables, self.tables.ring.degree());
        let group = entry("group of targets", &tables.groups, g)?;
        for (j, lift) in tables.lifts.iter().enumerate() {
            let LiftKind::Remainder { conversions, .. } = &lift.kind else { continue };
            let slots = slots.chunks_exact_mut(tables.lifts.len() * (n + PAD));
            let slots = group.clone().zip(slots).filter(|(target, _)| !lift.is_own(*target));
            let slot = j * (n + PAD)..j * (n + PAD) + n;
            let outs: Vec<&mut [u64]> = slots.filter_map(|(_, slots)| slots.get_mut(slot.clone())).collect();
            if outs.is_empty() {
                continue;
            }
            let conversion = entry("conversion of a digit", conversions, g)?;
            let rows = lift.range.clone().chain([lift.quotient]).map(|i| self.row(i));
            inside.convert(conversion, &rows.collect::<Vec<_>>(), outs)?;
        }
        Ok(())
    }

    /// Computes every digit modulo a target, up to the outer levels of its transform, except those that stand in the
    /// input: one target after the other, so that its twiddles and then its digits stay in the cache.
    fn lift(&self, target: usize, slots: &mut [u64]) -> Result<(), RingError> {
        let (tables, n) = (self.tables, self.tables.ring.degree());
        let plan = tables.key_ring.plan(target)?;
        for (lift, slot) in tables.lifts.iter().zip(slots.chunks_exact_mut(n + PAD)) {
            if self.key_limb(lift, target)?.is_none() {
                continue;
            }
            let Some(out) = slot.get_mut(..n) else { continue };
            match (lift.is_own(target), self.input, &lift.kind) {
                (true, SwitchInput::Values(_), _) => {}
                (true, input, _) => {
                    plan.forward_outer_from(out, limb_of_input(input, target)?, 0)?;
                }
                (false, _, LiftKind::Residue { digit, .. }) => {
                    lift_residue(out, self.row(lift.range.start), digit, plan)?;
                }
                (false, _, LiftKind::Remainder { .. }) => plan.forward_outer(out)?,
            }
        }
        Ok(())
    }

    /// Does the inner levels of the transforms in a range of whole chunks; meanwhile the range of their keys is
    /// prefetched, if `prefetches`.
    fn transform(
        &self,
        target: usize,
        slots: &mut [u64],
        range: Range<usize>,
        prefetches: bool,
    ) -> Result<(), RingError> {
        let (tables, n) = (self.tables, self.tables.ring.degree());
        let plan = tables.key_ring.plan(target)?;
        let bytes = if prefetches { range.len() * plan.modulus().residue_bytes() } else { 0 };
        let digits = tables.lifts.iter().zip(&self.key_digits).zip(slots.chunks_exact_mut(n + PAD));
        for ((lift, &digit), slot) in digits {
            let is_there = lift.is_own(target) && matches!(self.input, SwitchInput::Values(_));
            if self.key_limb(lift, target)?.is_none() || is_there {
                continue;
            }
            // A missing key is fine: digits are made without a key, too, and then nothing is prefetched.
            let keys = if prefetches { self.keys(lift, digit, target, range.start)? } else { None };
            let keys = keys.unwrap_or_default();
            let later = keys.map(|key| key.get(..bytes).unwrap_or_default().into());
            plan.forward_inner(range.start, slot.get_mut(range.clone()).unwrap_or_default(), later)?;
        }
        Ok(())
    }

    /// Returns the residues of both halves of a key for a digit modulo a target, from a coefficient on; `None` if
    /// they are zero there.
    fn keys(
        &self,
        lift: &Lift,
        digit: usize,
        target: usize,
        start: usize,
    ) -> Result<Option<[&'a [u8]; 2]>, RingError> {
        let Some(limb) = self.key_limb(lift, target)? else { return Ok(None) };
        let modulus = self.tables.key_ring.basis().own(target)?;
        let missing = RingError::MissingTable { table: "limb of a key", limb: target };
        let bytes = |half: &Vec<&'a KeyPoly>| half.get(digit)?.from(limb, start, &modulus);
        let [first, second] = self.key.each_ref().map(bytes);
        first.zip(second).map(|(first, second)| Some([first, second])).ok_or(missing)
    }
}

/// Computes the rows from which lifts start: the rows of every limb, then the quotient of every digit that has one.
fn rows(tables: &Tables, input: SwitchInput<'_>) -> Result<Scratch, RingError> {
    let n = tables.ring.degree();
    let remainders = tables.lifts.iter().any(|lift| matches!(lift.kind, LiftKind::Remainder { .. }));
    let quotients = if remainders { tables.lifts.len() } else { 0 };
    let limbs = tables.ring.basis().len();
    let mut rows = Scratch::new(limbs * (n + PAD) + quotients * n);
    let (residues, quotients) = rows.split_at_mut_checked(limbs * (n + PAD)).unwrap_or_default();
    let spaces: Vec<(usize, &mut [u64])> =
        residues.chunks_exact_mut(n + PAD).filter_map(|row| row.get_mut(..n)).enumerate().collect();
    tables.ring.parallelism().for_each(Work::Transform, limbs * n, spaces, |(i, row)| {
        let lift = tables.lifts.iter().find(|lift| lift.range.contains(&i));
        let lift = lift.ok_or(RingError::MissingTable { table: "digit", limb: i })?;
        let (plan, limb) = (tables.ring.plan(i)?, limb_of_input(input, i)?);
        let (modulus, own) = (plan.modulus(), i - lift.range.start);
        if let SwitchInput::Values(_) = input {
            plan.inverse_scaled_into(row, limb, entry("factor of a digit's transform", &lift.scales, own)?)?;
        } else {
            row.copy_from_slice(limb);
            let factor = *entry("factor of a digit", &lift.factors, own)?;
            if factor != 1 {
                modulus.mul_scalar_assign(row, factor)?;
            }
        }
        if let LiftKind::Residue { half, rest, .. } = lift.kind {
            modulus.shift_assign(row, half, rest)?;
        }
        Ok(())
    })?;
    let residues = &*residues;
    tables.ring.parallelism().for_each_part([quotients], n, |i, part, [out]| {
        let Lift { range, kind, .. } = entry("digit", &tables.lifts, i)?;
        // A residue has no quotient.
        let LiftKind::Remainder { rounding, .. } = kind else { return Ok(()) };
        let rows = residues.chunks_exact(n + PAD).skip(range.start).take(range.len());
        Ok(rounding.apply(&block_of(rows, &part), out)?)
    })?;
    Ok(rows)
}

/// Computes one digit of residues modulo the target of a plan, up to the outer levels of its transform.
fn lift_residue(lifted: &mut [u64], residues: &[u64], digit: &Digit, plan: &Plan) -> Result<(), RingError> {
    let target = plan.modulus();
    let Digit { shift, mask, bias, .. } = *digit;
    let (offset, reduces) = offset_less(bias, &target);
    if !reduces && digit.is_whole() {
        return Ok(plan.forward_outer_from(lifted, residues, offset)?);
    }
    target.lift_into(lifted, residues, (shift, mask), offset, reduces)?;
    Ok(plan.forward_outer(lifted)?)
}
