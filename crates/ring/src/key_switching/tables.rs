//! The RNS gadget: ξ_q and P_{RNS,q} of [BEHZ16, 4.5], its second radix [B.1] and its smaller keys [B.2]; GHS and hybrid
//! key switching with special moduli [KPZ21, B.2].

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use sunzi_kernels::{Buffer, Modulus};
use zeroize::Zeroizing;

use super::digits::Digit;
use super::inner_product::{self, InnerProducts};
use super::lift::Lift;
use super::limb_groups::limb_groups;
use super::{
    Addends, DigitBound, Digits, Gadget, GadgetBackend, KeyPart, KeyPoly, Multiplier, Pairs, RnsDigits,
    RnsMultiplier, Rotation, SwitchInput, mod_down, rotation_sums,
};
use crate::basis::tag_of;
use crate::division::{Division, Factor, Route};
use crate::error::{check_length, check_shape, check_table, entry, no_such_digit};
use crate::once::get_or_try_init;
use crate::opaque::Opaque;
use crate::parallel::{groups, on_pool};
use crate::scratch::Scratch;
use crate::words::gathered;
use crate::{Backend, Evaluation, GadgetOptions, Poly, Ring, RingError, Shape, WordRing};

/// The digits of an RNS basis and the limbs of keys made for them, at one level. Cheap to clone.
#[derive(Clone)]
pub struct RnsGadget {
    pub(super) top: Arc<Top>,
    pub(super) tables: Arc<Tables>,
}

/// What all levels share.
pub(super) struct Top {
    pub(super) ring: WordRing,
    /// R modulo P.
    special: Option<WordRing>,
    pub(super) options: GadgetOptions,
    pub(super) digits: RnsDigits,
    log2_special: f64,
    /// The tag of the limbs that keys for residue j keep.
    tags: Vec<u64>,
    /// Where the moduli of every level stand among those of the ring; none for a level that is not nested in it.
    limbs: Vec<Vec<usize>>,
    /// The tag of the key ring of every level.
    key_tags: Vec<u64>,
    levels: Vec<OnceLock<Arc<Tables>>>,
}

/// What a level has for itself.
pub(super) struct Tables {
    pub(super) ring: WordRing,
    pub(super) key_ring: WordRing,
    /// The key ring as its users see it.
    key_handle: Ring,
    /// One for every digit.
    pub(super) lifts: Vec<Lift>,
    /// Target moduli that are computed together: those of the ring, then the special ones.
    pub(super) groups: Vec<Range<usize>>,
    /// The division by P and the moduli above each level, made at first use.
    divisions: Vec<OnceLock<Division>>,
}

impl RnsGadget {
    /// One step of a key switch, on the threads that share it.
    fn on_pool<T: Send>(&self, step: impl FnOnce() -> T + Send) -> T {
        let Shape { degree, limbs } = self.tables.key_ring.shape();
        on_pool(degree * limbs * self.tables.lifts.len(), step)
    }

    pub(crate) fn new(ring: &WordRing, options: &GadgetOptions) -> Result<Self, RingError> {
        let values = ring.basis().values();
        let digits = RnsDigits::new(options, values)?;
        let kept = |source| -> Vec<u64> {
            let values = values.iter().enumerate();
            values.filter(|&(limb, _)| digits.limb(source, limb).is_some()).map(|(_, &q)| q).collect()
        };
        let tags = (0..values.len()).map(|source| tag_of(&kept(source))).collect();
        let moduli = &options.special_moduli;
        let special = if moduli.is_empty() {
            None
        } else {
            Some(WordRing::with_isa(ring.index(), moduli, ring.isa())?)
        };
        let log2_special = special.as_ref().map_or(0.0, |special| sunzi_math::log2(special.modulus()));
        let highest = ring.level();
        let limbs = (1..=highest).map(|level| ring.nested(level, highest).unwrap_or_default());
        let limbs: Vec<Vec<usize>> = limbs.collect();
        let key_tag = |limbs: &Vec<usize>| {
            let own = limbs.iter().map(|&limb| entry("modulus", values, limb)).chain(moduli.iter().map(Ok));
            Ok(tag_of(&own.map(|value| value.copied()).collect::<Result<Vec<_>, RingError>>()?))
        };
        let key_tags = limbs.iter().map(key_tag).collect::<Result<_, RingError>>()?;
        let levels = (1..=highest).map(|_| OnceLock::new()).collect();
        let (ring, options) = (ring.clone(), options.clone());
        let top =
            Arc::new(Top { ring, special, options, digits, log2_special, tags, limbs, key_tags, levels });
        Ok(Self { tables: top.at_level(highest)?, top })
    }

    /// Where the limbs of the key ring stand in that key ring of this level, or of one that it is nested in, which has this tag; and that ring.
    pub(super) fn key_places(&self, tag: u64, shape: Shape) -> Result<(Vec<usize>, WordRing), RingError> {
        let own = &self.tables.key_ring;
        if tag == own.basis().tag() {
            return Ok(((0..own.basis().len()).collect(), own.clone()));
        }
        let mismatch = RingError::ShapeMismatch { expected: own.shape(), got: shape };
        let from = self.top.level_of_key(tag).ok_or(mismatch)?;
        let tables = self.top.at_level(from)?;
        let mut places = self.top.ring.nested(self.level(), from)?;
        places.extend(tables.ring.basis().len()..tables.key_ring.basis().len());
        Ok((places, tables.key_ring.clone()))
    }

    /// The ring that the i-th polynomials of a key are of.
    fn ring_of_part(&self, i: usize) -> Result<WordRing, RingError> {
        let (digit, dropped) = (self.digit(i)?, self.top.options.dropped_limbs);
        if dropped == 0 { Ok(self.tables.key_ring.clone()) } else { self.top.kept(digit) }
    }

    fn lift(&self, i: usize) -> Result<&Lift, RingError> {
        self.tables.lifts.get(i).ok_or_else(|| no_such_digit(self.digit_count(), i))
    }

    /// What digit i of this level is at the highest one.
    fn digit(&self, i: usize) -> Result<&Digit, RingError> {
        let missing = || no_such_digit(self.digit_count(), i);
        self.top.digits.digits().get(self.lift(i)?.digit).ok_or_else(missing)
    }

    /// q_I·a in the limbs where that is not zero.
    fn times_dropped(&self, a: &Poly<Evaluation>, digit: &Digit) -> Result<Poly<Evaluation>, RingError> {
        let Shape { degree, limbs } = a.shape();
        let top = &*self.top;
        let tag = *entry("tag of a digit", &top.tags, digit.source)?;
        check_table("modulus", limbs, self.tables.ring.basis().len())?;
        let mut part = Poly::new(Scratch::zeroed(degree * (limbs - top.options.dropped_limbs)), degree, tag);
        let kept = (0..).zip(self.tables.ring.basis().moduli()).zip(a.limbs());
        let kept = kept.filter(|&((limb, _), _)| top.digits.limb(digit.source, limb).is_some());
        for (out, ((_, modulus), limb)) in part.words_mut().chunks_exact_mut(degree).zip(kept) {
            out.copy_from_slice(limb);
            let product = |product, q| modulus.mul(product, modulus.reduce(q));
            modulus.mul_scalar_assign(out, top.digits.dropped(digit.source).fold(1, product))?;
        }
        Ok(part)
    }
}

impl Top {
    fn at_level(&self, level: usize) -> Result<Arc<Tables>, RingError> {
        let missing = RingError::NoSuchLevel { got: level, highest: self.levels.len() };
        let cell = self.levels.get(level.wrapping_sub(1)).ok_or(missing)?;
        if self.limbs(level).is_empty() {
            return Err(RingError::NotNested { level, within: self.levels.len() });
        }
        get_or_try_init(cell, || Tables::new(self, level).map(Arc::new)).cloned()
    }

    /// The ring of the limbs that keys for a digit keep.
    fn kept(&self, digit: &Digit) -> Result<WordRing, RingError> {
        let plans = self.ring.plans().iter().enumerate();
        let kept = plans.filter(|&(limb, _)| self.digits.limb(digit.source, limb).is_some());
        self.ring.of_plans(kept.map(|(_, plan)| Arc::clone(plan)).collect())
    }

    /// P·ω^z modulo a modulus of the digit: g there.
    fn element(&self, digit: &Digit, modulus: &Modulus) -> u64 {
        modulus.mul(self.special_mod(modulus), modulus.reduce(1 << digit.shift))
    }

    /// P modulo another modulus.
    pub(super) fn special_mod(&self, modulus: &Modulus) -> u64 {
        let moduli = self.options.special_moduli.iter();
        moduli.fold(1, |product, &p| modulus.mul(product, modulus.reduce(p)))
    }

    /// The level of a key and how its polynomials lie, from the first of them.
    pub(super) fn key_level(&self, key: &[Vec<&KeyPoly>; 2]) -> Result<usize, RingError> {
        let highest = self.levels.len();
        let Some(part) = key.iter().find_map(|half| half.first()) else {
            // No digit is there without a key for it.
            return Ok(highest);
        };
        if self.options.dropped_limbs > 0 {
            let expected = Shape { degree: self.ring.degree(), limbs: self.digits.key_limbs() };
            check_shape(expected, part.shape())?;
            return Ok(highest);
        }
        match self.level_of_key(part.tag()) {
            Some(level) => Ok(level),
            None => Err(RingError::OtherModulus { shape: part.shape() }),
        }
    }

    /// The level whose key ring has this tag.
    fn level_of_key(&self, tag: u64) -> Option<usize> {
        Some(self.key_tags.iter().rposition(|&own| own == tag)? + 1)
    }

    /// Where the moduli of a level stand among those of the ring.
    pub(super) fn limbs(&self, level: usize) -> &[usize] {
        level.checked_sub(1).and_then(|below| self.limbs.get(below)).map_or(&[], |limbs| limbs)
    }

    /// Fails unless the parts can be a key of this level.
    pub(super) fn check_key(&self, key: &[Vec<&KeyPoly>; 2], level: usize) -> Result<(), RingError> {
        let tables = self.at_level(level)?;
        let limbs = tables.key_ring.basis().len() - self.options.dropped_limbs;
        let shape = Shape { degree: self.ring.degree(), limbs };
        for half in key {
            check_length("polynomials of a key half", tables.lifts.len(), half.len())?;
            for (part, lift) in half.iter().zip(&tables.lifts) {
                check_shape(shape, part.shape())?;
                let kept = self.tags.get(lift.source).copied();
                let tag =
                    if self.options.dropped_limbs > 0 { kept } else { Some(tables.key_ring.basis().tag()) };
                if tag != Some(part.tag()) {
                    return Err(RingError::OtherModulus { shape });
                }
            }
        }
        Ok(())
    }
}

impl Tables {
    fn new(top: &Top, level: usize) -> Result<Self, RingError> {
        let ring = top.ring.at_level(level)?;
        let key_ring = match &top.special {
            Some(special) => ring.concat(special)?,
            None => ring.clone(),
        };
        let (own, all) = (ring.basis().len(), key_ring.basis().len());
        let groups: Vec<Range<usize>> = groups(0..own).into_iter().chain(groups(own..all)).collect();
        let digits = top.digits.present(top.limbs(level)).enumerate();
        let lift = |(i, digit)| Lift::new(i, digit, &top.digits, &ring, &key_ring, &groups);
        let lifts = digits.map(lift).collect::<Result<_, _>>()?;
        let divisions = (0..level).map(|_| OnceLock::new()).collect();
        let key_handle = Ring::from(key_ring.clone());
        Ok(Self { ring, key_ring, key_handle, lifts, groups, divisions })
    }

    pub(super) fn longest_group(&self) -> usize {
        self.groups.iter().map(Range::len).max().unwrap_or(0)
    }

    /// The division that leads from the key ring to a level.
    pub(super) fn division(&self, level: usize) -> Result<&Division, RingError> {
        let missing = RingError::NoSuchLevel { got: level, highest: self.divisions.len() };
        get_or_try_init(self.divisions.get(level.wrapping_sub(1)).ok_or(missing)?, || {
            let (ladder, highest) = (self.key_ring.ladder(), self.key_ring.level());
            let route = Route::new(ladder.limbs(level), ladder.limbs(highest));
            let groups = limb_groups(self, route.kept()).into_iter().map(|group| group.outs).collect();
            let (source, targets) = (self.key_ring.plans(), ladder.plans(level));
            let (isa, parallelism) = (self.ring.isa(), self.ring.parallelism());
            // Conversions take P^-1 along for nothing; without one, a single product at the end is least.
            let factor = if route.divisor().len() > 1 { Factor::Inverse } else { Factor::One };
            Division::new(source, &targets, route, groups, isa, factor, parallelism)
        })
    }
}

impl GadgetBackend for RnsGadget {
    fn options(&self) -> &GadgetOptions {
        &self.top.options
    }

    fn key_ring(&self) -> &Ring {
        &self.tables.key_handle
    }

    fn level(&self) -> usize {
        self.tables.ring.level()
    }

    fn at_level(&self, level: usize) -> Result<Gadget, RingError> {
        Ok(Gadget::new(Self { top: Arc::clone(&self.top), tables: self.top.at_level(level)? }))
    }

    fn log2_special(&self) -> f64 {
        self.top.log2_special
    }

    fn restrict_key(&self, a: &Poly<Evaluation>) -> Result<Poly<Evaluation>, RingError> {
        let key_ring = &self.tables.key_ring;
        if a.tag() == key_ring.basis().tag() {
            key_ring.check(a)?;
            return Ok(a.clone());
        }
        let (places, source) = self.key_places(a.tag(), a.shape())?;
        source.check(a)?;
        Ok(Poly::new(gathered(a, &places)?, key_ring.degree(), key_ring.basis().tag()))
    }

    fn multiplier(&self, a: Poly<Evaluation>) -> Result<Multiplier, RingError> {
        // What multiplies may be secret.
        let a = Zeroizing::new(a);
        self.tables.key_ring.check(&a)?;
        Ok(Multiplier(Opaque::new(RnsMultiplier::new(&a))))
    }

    fn multiplied(&self, a: &Multiplier) -> Result<Poly<Evaluation>, RingError> {
        self.restrict_key(&a.0.get::<RnsMultiplier>()?.poly())
    }

    fn expected_multiplier_bytes(&self, gap: usize) -> usize {
        RnsMultiplier::expected_bytes(self.tables.key_ring.shape(), gap)
    }

    fn sums_of_rotations(
        &self,
        ciphertext: [&Poly<Evaluation>; 2],
        rotations: &[Rotation<'_>],
        lists: &[Vec<(usize, &Multiplier)>],
    ) -> Result<Pairs, RingError> {
        self.on_pool(|| rotation_sums::sums_of_rotations(self, ciphertext, rotations, lists))
    }

    fn digit_count(&self) -> usize {
        self.tables.lifts.len()
    }

    fn digit_bounds(&self) -> Vec<DigitBound> {
        self.top.digits.bounds_of(self.top.limbs(self.level()))
    }

    fn key_part(
        &self,
        zero: [Poly<Evaluation>; 2],
        source: &Poly<Evaluation>,
        i: usize,
    ) -> Result<[Poly<Evaluation>; 2], RingError> {
        let (top, key_ring) = (&*self.top, &self.tables.key_ring);
        zero.iter().chain([source]).try_for_each(|a| key_ring.check(a))?;
        let (lift, digit, mut zero) = (self.lift(i)?, self.digit(i)?, zero);
        if top.options.dropped_limbs > 0 {
            if self.level() < top.ring.level() {
                let expected =
                    format_args!("{}, that of the ring, for keys with dropped limbs", top.ring.level());
                return Err(RingError::out_of_range("level of a key", expected, self.level()));
            }
            let [b, a] = zero;
            zero = [self.times_dropped(&b, digit)?, self.times_dropped(&a, digit)?];
        }
        let [mut b, a] = zero;
        for limb in lift.range.clone() {
            let at = top.digits.limb(digit.source, limb).unwrap_or(limb);
            let (modulus, secret) = (key_ring.basis().own(limb)?, source.own_limb(limb)?);
            let out = b.words_mut().chunks_exact_mut(key_ring.degree()).nth(at);
            let out = out.ok_or(RingError::MissingTable { table: "limb of a key", limb: at })?;
            // A multiple of the source secret.
            let mut multiple = Zeroizing::new(Buffer::from_slice(secret));
            modulus.mul_scalar_assign(&mut multiple, top.element(digit, &modulus))?;
            modulus.add_assign(out, &multiple)?;
        }
        Ok([b, a])
    }

    fn part_ring(&self, i: usize) -> Result<Ring, RingError> {
        self.ring_of_part(i).map(Ring::from)
    }

    fn uniform_part(&self, a: Poly<Evaluation>, i: usize) -> Result<Poly<Evaluation>, RingError> {
        let digit = self.digit(i)?;
        self.tables.key_ring.check(&a)?;
        if self.top.options.dropped_limbs == 0 { Ok(a) } else { self.times_dropped(&a, digit) }
    }

    fn pack_part(&self, part: Poly<Evaluation>, i: usize) -> Result<KeyPart, RingError> {
        Ok(KeyPart(Opaque::new(KeyPoly::new(&part, &self.ring_of_part(i)?)?)))
    }

    fn unpack_part(&self, part: &KeyPart, i: usize) -> Result<Poly<Evaluation>, RingError> {
        part.0.get::<KeyPoly>()?.poly(&self.ring_of_part(i)?)
    }

    fn key_bytes(&self) -> Result<usize, RingError> {
        let parts = (0..self.digit_count()).map(|i| Ok(KeyPoly::len(&self.ring_of_part(i)?)));
        Ok(2 * parts.sum::<Result<usize, RingError>>()?)
    }

    fn decompose(&self, a: &Poly<Evaluation>) -> Result<Digits, RingError> {
        Ok(Digits(Opaque::new(self.on_pool(|| inner_product::decompose(self, a))?)))
    }

    fn product(&self, digits: &Digits, key: [&[KeyPart]; 2]) -> Result<[Poly<Evaluation>; 2], RingError> {
        inner_product::product(self, digits, key)
    }

    fn switch(
        &self,
        input: SwitchInput<'_>,
        added: Addends<'_>,
        key: [&[KeyPart]; 2],
        level: usize,
        exponent: u64,
    ) -> Result<[Poly<Evaluation>; 2], RingError> {
        match added {
            Addends::Values(added) => added.iter().flatten().try_for_each(|a| self.tables.ring.check(a))?,
            Addends::Coefficients(added) => added.iter().try_for_each(|a| self.tables.ring.check(a))?,
        }
        self.on_pool(|| {
            let products = InnerProducts::with_key(self, input, key)?;
            mod_down::switch(self, &products, added, level, exponent)
        })
    }

    fn switch_extended(
        &self,
        input: SwitchInput<'_>,
        added: Option<&Poly<Evaluation>>,
        key: [&[KeyPart]; 2],
        exponent: u64,
    ) -> Result<[Poly<Evaluation>; 2], RingError> {
        self.on_pool(|| {
            let products = InnerProducts::with_key(self, input, key)?;
            mod_down::switch_extended(self, &products, added, exponent)
        })
    }
}

impl fmt::Debug for RnsGadget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("RnsGadget");
        text.field("ring", &self.tables.ring).field("options", &self.top.options).finish()
    }
}
