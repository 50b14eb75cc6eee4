//! Digits for key switching: ξ_q and P_{RNS,q} of `[BEHMSZ17, 2.3]`, and remainders by products of moduli with special moduli [KPZ21, B.2.3].

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use num_bigint::{BigInt, BigUint};

use super::UnivariateRing;
use super::poly::{Form, UnivariatePoly};
use super::switching::scaled;
use crate::error::{check_length, check_level, no_such_digit, part};
use crate::gadget::group_moduli;
use crate::integers::residue_of;
use crate::once::get_or_try_init;
use crate::parallel::{Parallelism, Work, block_of};
use crate::rns::ExactExtension;
use crate::{Coefficient, DigitBound, Evaluation, Gadget, GadgetOptions, PolyRing, RingError};

/// Centred remainders of what is kept by products of moduli: one each without special moduli.
///
/// Keys carry M so that the products with digits, reduced by [`Reduction::Montgomery`](super::Reduction::Montgomery), have it once and errors do not grow: an
/// encryption of zero times M, beside the secret `[BEHMSZ17, 4.1]`; with [`Reduction::Mixed`](super::Reduction::Mixed) all of it times M [4.4].
#[derive(Clone, Debug)]
pub struct UnivariateGadget {
    top: Arc<Top>,
    tables: Arc<Tables>,
}

#[derive(Debug)]
struct Top {
    ring: UnivariateRing,
    special: Option<UnivariateRing>,
    options: GadgetOptions,
    ranges: Vec<Range<usize>>,
    levels: Vec<OnceLock<Arc<Tables>>>,
}

struct Tables {
    ring: UnivariateRing,
    key_ring: UnivariateRing,
    lifts: Vec<Lift>,
}

/// One digit: the ring of its moduli, and the way to all of the key ring.
struct Lift {
    range: Range<usize>,
    own: UnivariateRing,
    extension: ExactExtension,
}

/// The digits of a polynomial, transformed modulo every modulus of the key ring.
pub type UnivariateDigits = Vec<UnivariatePoly<Evaluation>>;

impl std::fmt::Debug for Tables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tables").field("ring", &self.ring).field("digits", &self.lifts.len()).finish()
    }
}

impl UnivariateGadget {
    pub(super) fn new(ring: &UnivariateRing, options: &GadgetOptions) -> Result<Self, RingError> {
        if options.radix_bits.is_some() || options.dropped_limbs > 0 {
            let expected = "neither a radix nor dropped limbs: digits of this ring are whole residues";
            let got = format_args!("{options}");
            return Err(RingError::out_of_range("gadget of a univariate ring", expected, got));
        }
        let moduli: Vec<BigUint> = ring.basis().values().iter().map(|&q| q.into()).collect();
        let (special, ranges) = if options.special_moduli.is_empty() {
            if let Some(digits) = options.digits {
                let expected = "special moduli beside a number of digits";
                return Err(RingError::out_of_range("digits", expected, digits));
            }
            (None, (0..moduli.len()).map(|i| i..i + 1).collect())
        } else {
            let special = ring.with_moduli(&options.special_moduli)?;
            let ranges = group_moduli(&moduli, special.modulus(), options.digits)?;
            (Some(special), ranges)
        };
        let levels = moduli.iter().map(|_| OnceLock::new()).collect();
        let (ring, options) = (ring.clone(), options.clone());
        let top = Arc::new(Top { ring, special, options, ranges, levels });
        Ok(Self { tables: top.at_level(moduli.len())?, top })
    }

    fn element(&self, i: usize) -> Result<&Lift, RingError> {
        self.tables.lifts.get(i).ok_or_else(|| no_such_digit(self.tables.lifts.len(), i))
    }

    /// The digits of the coefficients that are kept.
    fn digits(&self, a: &UnivariatePoly<Coefficient>) -> Result<UnivariateDigits, RingError> {
        let Tables { ring, key_ring, lifts } = &*self.tables;
        ring.check(a)?;
        let n = ring.degree();
        let digit = |lift: &Lift| {
            let words = lift.range.start * n..lift.range.end * n;
            let words = part("limb of a polynomial", a.words(), words, lift.range.start)?;
            let rows = scaled(
                &lift.own,
                &lift.own.poly_of(words, Form::Reduced),
                lift.own.basis().quotient_inverses(),
            )?;
            let mut digit = key_ring.arbitrary::<Coefficient>();
            Parallelism::default().for_each_block(digit.words_mut(), n, |range, output| {
                lift.extension.apply(&block_of(rows.chunks_exact(n), &range), output)
            })?;
            key_ring.raw_values(&digit)
        };
        lifts.iter().map(digit).collect()
    }

    /// The polynomial of a key that this gadget's level needs.
    fn part_of_key<'a>(
        &self,
        part: &'a UnivariatePoly<Evaluation>,
    ) -> Result<std::borrow::Cow<'a, UnivariatePoly<Evaluation>>, RingError> {
        if self.tables.key_ring.check(part).is_ok() {
            return Ok(std::borrow::Cow::Borrowed(part));
        }
        self.restrict_key(part).map(std::borrow::Cow::Owned)
    }
}

impl Top {
    fn at_level(&self, level: usize) -> Result<Arc<Tables>, RingError> {
        let missing = RingError::NoSuchLevel { got: level, highest: self.levels.len() };
        let cell = self.levels.get(level.wrapping_sub(1)).ok_or(missing)?;
        get_or_try_init(cell, || Tables::new(self, level).map(Arc::new)).cloned()
    }
}

impl Tables {
    fn new(top: &Top, level: usize) -> Result<Self, RingError> {
        let ring = top.ring.at_level(level)?;
        let key_ring =
            top.special.as_ref().map_or_else(|| Ok(ring.clone()), |special| ring.concat(special))?;
        let ranges = top.ranges.iter().filter(|range| range.start < level);
        let lift = |range: &Range<usize>| {
            let range = range.start..level.min(range.end);
            let own = ring.sub_ring(range.clone())?;
            let extension = ExactExtension::new(own.basis(), key_ring.basis().moduli())?;
            Ok(Lift { range, own, extension })
        };
        let lifts = ranges.map(lift).collect::<Result<_, RingError>>()?;
        Ok(Self { ring, key_ring, lifts })
    }
}

impl Gadget<UnivariateRing> for UnivariateGadget {
    type Digits = UnivariateDigits;
    type KeyPart = UnivariatePoly<Evaluation>;
    type Multiplier = UnivariatePoly<Evaluation>;

    fn options(&self) -> &GadgetOptions {
        &self.top.options
    }

    fn key_ring(&self) -> &UnivariateRing {
        &self.tables.key_ring
    }

    fn level(&self) -> usize {
        self.tables.ring.level()
    }

    fn at_level(&self, level: usize) -> Result<Self, RingError> {
        Ok(Self { top: Arc::clone(&self.top), tables: self.top.at_level(level)? })
    }

    fn log2_special(&self) -> f64 {
        self.top.special.as_ref().map_or(0.0, |special| sunzi_math::log2(special.modulus()))
    }

    fn restrict_key(&self, a: &UnivariatePoly<Evaluation>) -> Result<UnivariatePoly<Evaluation>, RingError> {
        let key_ring = &self.tables.key_ring;
        if a.tag() == key_ring.tag() {
            key_ring.check(a)?;
            return Ok(a.clone());
        }
        let special = key_ring.level() - self.level();
        let from = a.shape().limbs.saturating_sub(special);
        check_level(self.level(), from)?;
        self.top.at_level(from)?.key_ring.check(a)?;
        let mut restricted = key_ring.arbitrary::<Evaluation>();
        restricted.set_form(a.form());
        let (level, stride) = (self.level(), key_ring.stride::<Evaluation>());
        for (i, limb) in restricted.words_mut().chunks_exact_mut(stride).enumerate() {
            limb.copy_from_slice(a.limb(if i < level { i } else { i - level + from }));
        }
        Ok(restricted)
    }

    fn multiplier(&self, a: UnivariatePoly<Evaluation>) -> Result<UnivariatePoly<Evaluation>, RingError> {
        self.restrict_key(&a)
    }

    fn multiplied(a: &UnivariatePoly<Evaluation>) -> Cow<'_, UnivariatePoly<Evaluation>> {
        Cow::Borrowed(a)
    }

    fn digit_count(&self) -> usize {
        self.tables.lifts.len()
    }

    fn digit_bounds(&self) -> Vec<DigitBound> {
        let bound = |lift: &Lift| DigitBound {
            log2_bound: sunzi_math::log2(lift.own.modulus()) - 1.0 + 1e-9,
            log2_mean: f64::NEG_INFINITY,
        };
        self.tables.lifts.iter().map(bound).collect()
    }

    fn key_part(
        &self,
        zero: [UnivariatePoly<Evaluation>; 2],
        source: &UnivariatePoly<Evaluation>,
        i: usize,
    ) -> Result<[UnivariatePoly<Evaluation>; 2], RingError> {
        let Tables { ring, key_ring, .. } = &*self.tables;
        let lift = self.element(i)?;
        let reduction = ring.reduction();
        let [mut b, mut a] = zero;
        let factor = if reduction.divides_exactly() {
            let integers = ring.montgomery_factor()?;
            Some(key_ring.to_evaluation(key_ring.from_signed(&integers.factor)?)?)
        } else {
            None
        };
        // P·s′ modulo the moduli of the digit, 0 modulo the others.
        let mut multiple = key_ring.reduced(source)?;
        let special = BigInt::from(key_ring.modulus() / ring.modulus());
        key_ring.for_each_limb(Work::Elementwise, &mut multiple, |j, reducer, limb| {
            let own =
                if lift.range.contains(&j) { residue_of(&special, reducer.modulus().value()) } else { 0 };
            Ok(reducer.modulus().mul_scalar_assign(limb, own)?)
        })?;
        if !reduction.keeps_factor() {
            key_ring.add_assign(&mut b, &multiple)?;
        }
        if let Some(factor) = &factor {
            key_ring.mul_assign(&mut b, factor)?;
            key_ring.mul_assign(&mut a, factor)?;
        }
        if reduction.keeps_factor() {
            key_ring.add_assign(&mut b, &multiple)?;
        }
        Ok([key_ring.reduced(&b)?, key_ring.reduced(&a)?])
    }

    fn keep(
        &self,
        part: UnivariatePoly<Evaluation>,
        _: usize,
    ) -> Result<UnivariatePoly<Evaluation>, RingError> {
        Ok(part)
    }

    fn kept(
        &self,
        part: &UnivariatePoly<Evaluation>,
        _: usize,
    ) -> Result<UnivariatePoly<Evaluation>, RingError> {
        Ok(part.clone())
    }

    fn kept_bytes(part: &UnivariatePoly<Evaluation>) -> usize {
        UnivariateRing::byte_len(part)
    }

    fn decompose(&self, a: &UnivariatePoly<Evaluation>) -> Result<UnivariateDigits, RingError> {
        self.digits(&self.tables.ring.raw_coefficients(a)?)
    }

    /// Sums of unreduced products.
    fn product(
        &self,
        digits: &UnivariateDigits,
        key: [&[UnivariatePoly<Evaluation>]; 2],
    ) -> Result<[UnivariatePoly<Evaluation>; 2], RingError> {
        let key_ring = &self.tables.key_ring;
        check_length("digits", self.digit_count(), digits.len())?;
        digits.iter().try_for_each(|digit| key_ring.check(digit))?;
        let form =
            if key_ring.reduction() == super::Reduction::Mixed { Form::KeyProduct } else { Form::Product };
        let half = |parts: &[UnivariatePoly<Evaluation>]| {
            check_length("polynomials of a key half", self.digit_count().max(parts.len()), parts.len())?;
            let parts = parts.iter().take(digits.len()).map(|part| self.part_of_key(part));
            let parts = parts.collect::<Result<Vec<_>, _>>()?;
            let mut sum = key_ring.arbitrary::<Evaluation>();
            key_ring.for_each_limb(Work::Elementwise, &mut sum, |j, reducer, limb| {
                let digits: Vec<&[u64]> = digits.iter().map(|digit| digit.limb(j)).collect();
                let parts: Vec<&[u64]> = parts.iter().map(|part| part.limb(j)).collect();
                Ok(reducer.modulus().inner_product(limb, &digits, &parts)?)
            })?;
            sum.set_form(form);
            Ok::<_, RingError>(sum)
        };
        let [first, second] = key;
        check_length("polynomials of a key half", first.len(), second.len())?;
        Ok([half(first)?, half(second)?])
    }

    fn switch_coefficients(
        &self,
        parts: [UnivariatePoly<Coefficient>; 3],
        key: [&[UnivariatePoly<Evaluation>]; 2],
    ) -> Result<[UnivariatePoly<Evaluation>; 2], RingError> {
        let [c0, c1, c] = parts;
        let (ring, digits) = (&self.tables.ring, self.digits(&c)?);
        let [c0, c1] = [ring.raw_values(&c0)?, ring.raw_values(&c1)?];
        self.switch_digits(&digits, [Some(&c0), Some(&c1)], key, self.level(), 1)
    }
}
