//! Tables of RNS key switching: those that all levels share, and those of each level, made at first use.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use sunzi_kernels::Modulus;

use super::digits::Digit;
use super::lift::Lift;
use super::merging::Merging;
use super::{DigitBound, KeyPoly, RnsDigits};
use crate::basis::tag_of;
use crate::error::{check_length, check_shape, entry};
use crate::once::get_or_try_init;
use crate::parallel::{Parallelism, groups, limb_groups};
use crate::words::division::{Division, DivisionPath, Factor};
use crate::{Backend, GadgetOptions, Ring, RingError, Shape, WordRing};

/// The digits of an RNS basis and the limbs of keys made for them, at one level. Cheap to clone.
#[derive(Clone)]
pub struct RnsGadget {
    pub(super) top: Arc<Top>,
    pub(super) tables: Arc<Tables>,
}

/// Tables of key switching that all levels share.
pub(super) struct Top {
    /// Ring of the gadget as its users see it.
    pub(super) handle: Ring,
    pub(super) ring: WordRing,
    /// Ring R modulo the product P of the special moduli.
    pub(super) special: Option<WordRing>,
    pub(super) options: GadgetOptions,
    pub(super) digits: RnsDigits,
    pub(super) log2_special: f64,
    /// Tags of the limbs that keys for residue j have, for every j.
    pub(super) tags: Vec<u64>,
    /// Places of every level's moduli among those of the ring; empty for a level that is not nested in it.
    limbs: Vec<Vec<usize>>,
    /// Tags of the key rings of all levels.
    key_tags: Vec<u64>,
    levels: Vec<OnceLock<Arc<Tables>>>,
}

/// Tables of key switching at one level.
pub(super) struct Tables {
    pub(super) ring: WordRing,
    pub(super) key_ring: WordRing,
    /// Key ring of the level as its users see it.
    pub(super) key_handle: Ring,
    /// Merging of the digits, if they are merged.
    pub(super) merging: Option<Merging>,
    /// Bounds on the digits of the level.
    pub(super) bounds: Vec<DigitBound>,
    /// Lifts of all digits of the level.
    pub(super) lifts: Vec<Lift>,
    /// Groups of target moduli that are computed together: those of the ring, then the special ones.
    pub(super) groups: Vec<Range<usize>>,
    /// Divisions by P and the moduli above each level, made at first use.
    divisions: Vec<OnceLock<Division>>,
    /// Tables of merged digits where those cost less, made at first use.
    merged: OnceLock<Option<Arc<Tables>>>,
}

impl RnsGadget {
    pub(crate) fn new(handle: &Ring, options: &GadgetOptions) -> Result<Self, RingError> {
        let (ring, handle) = (handle.words()?, handle.clone());
        let values = ring.basis().values();
        let digits = RnsDigits::new(options, values)?;
        let own = |source| -> Vec<u64> {
            let values = values.iter().enumerate();
            values.filter(|&(limb, _)| digits.limb(source, limb).is_some()).map(|(_, &q)| q).collect()
        };
        let tags = (0..values.len()).map(|source| tag_of(&own(source))).collect();
        let moduli = &options.special_moduli;
        let special = if moduli.is_empty() {
            None
        } else {
            Some(WordRing::with_isa(ring.ring_index(), moduli, ring.isa())?)
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
        let top = Arc::new(Top {
            handle,
            ring,
            special,
            options,
            digits,
            log2_special,
            tags,
            limbs,
            key_tags,
            levels,
        });
        Ok(Self { tables: top.at_level(highest)?, top })
    }

    /// Returns the key ring with this tag, of this level or of one that it is nested in, and the places of its limbs
    /// in the key ring of this level.
    pub(super) fn key_places(&self, tag: u64, shape: Shape) -> Result<(Vec<usize>, WordRing), RingError> {
        let own = &self.tables.key_ring;
        if tag == own.basis().tag() {
            return Ok(((0..own.basis().len()).collect(), own.clone()));
        }
        let mismatch = RingError::ShapeMismatch { expected: own.shape(), got: shape };
        let from = self.top.level_of_key(tag).ok_or(mismatch)?;
        let tables = self.top.at_level(from)?;
        let mut places = self.top.ring.nested(self.tables.ring.level(), from)?;
        places.extend(tables.ring.basis().len()..tables.key_ring.basis().len());
        Ok((places, tables.key_ring.clone()))
    }
}

impl Top {
    pub(super) fn at_level(&self, level: usize) -> Result<Arc<Tables>, RingError> {
        let missing = RingError::NoSuchLevel { got: level, highest: self.levels.len() };
        let cell = self.levels.get(level.wrapping_sub(1)).ok_or(missing)?;
        if self.limbs(level).is_empty() {
            return Err(RingError::NotNested { level, within: self.levels.len() });
        }
        get_or_try_init(cell, || Tables::new(self, level).map(Arc::new)).cloned()
    }

    /// The tables of merged digits at the level of these tables, where those cost less.
    pub(super) fn merged(&self, tables: &Tables) -> Result<Option<Arc<Tables>>, RingError> {
        let merged = get_or_try_init(&tables.merged, || {
            let merging = self.digits.merging(self.limbs(tables.ring.level()));
            merging.map(|merging| tables.merge(self, merging).map(Arc::new)).transpose()
        });
        merged.cloned()
    }

    /// The ring of the limbs that keys for a digit have.
    pub(super) fn ring_of_digit(&self, digit: &Digit) -> Result<WordRing, RingError> {
        let plans = self.ring.plans().iter().enumerate();
        let own = plans.filter(|&(limb, _)| self.digits.limb(digit.source, limb).is_some());
        self.ring.of_plans(own.map(|(_, plan)| Arc::clone(plan)).collect())
    }

    /// Returns the level of a key, judged by its first polynomial.
    pub(super) fn key_level(&self, key: &[Vec<&KeyPoly>; 2]) -> Result<usize, RingError> {
        let highest = self.levels.len();
        let Some(part) = key.iter().find_map(|half| half.first()) else {
            // An empty key counts as one of the highest level: it lacks a polynomial for every digit.
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

    /// The places of a level's moduli among those of the ring.
    pub(super) fn limbs(&self, level: usize) -> &[usize] {
        level.checked_sub(1).and_then(|below| self.limbs.get(below)).map_or(&[], |limbs| limbs)
    }

    /// Checks that the polynomials can be a key of this level for the given digits.
    pub(super) fn check_key(
        &self,
        key: &[Vec<&KeyPoly>; 2],
        level: usize,
        lifts: &[Lift],
    ) -> Result<(), RingError> {
        let tables = self.at_level(level)?;
        let limbs = tables.key_ring.basis().len() - self.options.dropped_limbs;
        let shape = Shape { degree: self.ring.degree(), limbs };
        for half in key {
            check_length("polynomials of a key half", lifts.len(), half.len())?;
            for (part, lift) in half.iter().zip(lifts) {
                check_shape(shape, part.shape())?;
                let of_digit = self.tags.get(lift.source).copied();
                let of_ring = Some(tables.key_ring.basis().tag());
                let tag = if self.options.dropped_limbs > 0 { of_digit } else { of_ring };
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
        let digits: Vec<_> = top.digits.present(top.limbs(level)).collect();
        let digits = digits.into_iter().map(|(number, digit, range)| (number, *digit, range)).collect();
        Self::of_digits(top, top.ring.at_level(level)?, None, digits)
    }

    /// The tables of merged digits at the level of these tables.
    fn merge(&self, top: &Top, merging: Merging) -> Result<Self, RingError> {
        let present: Vec<_> = top.digits.present(top.limbs(self.ring.level())).collect();
        let digit = |block: &Range<usize>| {
            let mut own = present.iter().filter(|(number, ..)| block.contains(number));
            let (_, first, places) = own.next()?;
            let (last, end) =
                own.next_back().map_or((first, places.end), |(_, last, places)| (last, places.end));
            Some((block.start, first.with(last), places.start..end))
        };
        let digits = merging.blocks.iter().filter_map(digit).collect();
        Self::of_digits(top, self.ring.clone(), Some(merging), digits)
    }

    fn of_digits(
        top: &Top,
        ring: WordRing,
        merging: Option<Merging>,
        digits: Vec<(usize, Digit, Range<usize>)>,
    ) -> Result<Self, RingError> {
        let further = merging.iter().flat_map(|merging| &merging.further);
        let further = further.map(|&limb| entry("transform", top.ring.plans(), limb).cloned());
        let mut special = further.collect::<Result<Vec<_>, _>>()?;
        special.extend(top.special.iter().flat_map(|special| special.plans()).cloned());
        let key_ring = if special.is_empty() { ring.clone() } else { ring.concat(&ring.of_plans(special)?)? };
        let (own, all) = (ring.basis().len(), key_ring.basis().len());
        let groups: Vec<Range<usize>> = groups(0..own).into_iter().chain(groups(own..all)).collect();
        let lift = |(i, digit)| Lift::new(i, digit, &top.digits, &ring, &key_ring, &groups);
        let lifts = digits.into_iter().enumerate().map(lift).collect::<Result<_, _>>()?;
        let divisions = (0..ring.level()).map(|_| OnceLock::new()).collect();
        let key_handle = top.handle.with_storage(key_ring.clone());
        let bounds = match &merging {
            Some(merging) => top.digits.merged_bounds(top.limbs(ring.level()), &merging.blocks),
            None => top.digits.bounds_of(top.limbs(ring.level())),
        };
        let merged = OnceLock::new();
        Ok(Self { ring, key_ring, key_handle, merging, bounds, lifts, groups, divisions, merged })
    }

    /// The size log2 of the special moduli, P or P·E.
    pub(super) fn log2_special(&self, top: &Top) -> f64 {
        top.log2_special + sunzi_math::log2_product(&top.digits.moduli_of(self.further()))
    }

    /// The indices of the dropped moduli that serve as special moduli.
    pub(super) fn further(&self) -> &[usize] {
        self.merging.as_ref().map_or(&[], |merging| &merging.further)
    }

    /// The element g of the gadget modulo a modulus of the digit: P·ω^z.
    pub(super) fn element(&self, digit: &Digit, modulus: &Modulus) -> u64 {
        modulus.mul(self.special_mod(modulus), modulus.reduce(1 << digit.shift))
    }

    /// The product of the special moduli, P or P·E, reduced modulo another modulus.
    pub(super) fn special_mod(&self, modulus: &Modulus) -> u64 {
        let special = self.key_ring.basis().values().iter().skip(self.ring.basis().len());
        special.fold(1, |product, &p| modulus.mul(product, modulus.reduce(p)))
    }

    /// The length of a limb in words, and the way work on limbs is shared.
    pub(super) fn shared(&self) -> (usize, Parallelism) {
        (self.ring.degree(), self.ring.parallelism())
    }

    /// The places of a result that has all limbs of the key ring.
    pub(super) fn all_places(&self) -> Vec<Option<usize>> {
        (0..self.key_ring.basis().len()).map(Some).collect()
    }

    /// The division that leads from the key ring to a level.
    pub(super) fn division(&self, level: usize) -> Result<&Division, RingError> {
        let missing = RingError::NoSuchLevel { got: level, highest: self.divisions.len() };
        get_or_try_init(self.divisions.get(level.wrapping_sub(1)).ok_or(missing)?, || {
            let (ladder, highest) = (self.key_ring.ladder(), self.key_ring.level());
            let path = DivisionPath::new(ladder.limbs(level), ladder.limbs(highest));
            let groups =
                limb_groups(&self.groups, path.places()).into_iter().map(|group| group.outs).collect();
            let (source, targets) = (self.key_ring.plans(), ladder.plans(level));
            let (isa, parallelism) = (self.ring.isa(), self.ring.parallelism());
            // The factor: conversions include P^-1 at no cost; without a conversion, a single product at the end
            // costs least.
            let factor = if path.divisor().len() > 1 { Factor::Inverse } else { Factor::One };
            Division::new(source, &targets, path, groups, isa, factor, parallelism)
        })
    }
}
