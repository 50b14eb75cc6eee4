//! Gadget of digits for key switching: ξ_q and P_{RNS,q} of `[BEHMSZ17, 2.3]`, and remainders by products of moduli with special moduli [KPZ21, B.2.3].

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use num_bigint::{BigInt, BigUint};

use sunzi_ring::storage::{
    ExactExtension, Work, block_of, check_length, check_level, get_or_try_init, group_moduli, no_such_digit,
    part, residue_of,
};
use sunzi_ring::{
    Backend, Coefficient, Content, DigitBound, Digits, Evaluation, Gadget, GadgetBackend, GadgetOptions,
    Opaque, PackedPoly, Parallelism, Poly, Representation, Ring, RingError,
};
use zeroize::Zeroize;

use crate::form::ReducedForm;
use crate::switching::scaled;
use crate::{Reduction, UnivariateRing};

/// Gadget of centred remainders of stored coefficients by products of moduli: one each without special moduli.
///
/// Keys for the gadget carry M so that the products with digits, reduced by
/// [`Reduction::Montgomery`](crate::Reduction::Montgomery), have one factor M and errors do not grow: an
/// encryption of zero times M, beside the secret `[BEHMSZ17, 4.1]`; with
/// [`Reduction::Mixed`](crate::Reduction::Mixed) all of it times M `[BEHMSZ17, 4.4]`.
#[derive(Debug)]
pub(crate) struct UnivariateGadget {
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
    /// Key ring of the gadget as its users see it.
    shared: Ring,
    lifts: Vec<Lift>,
}

/// Lift of one digit: the ring of its moduli, and the conversion to the whole key ring.
struct Lift {
    range: Range<usize>,
    own: UnivariateRing,
    extension: ExactExtension,
}

/// Digits of a polynomial, transformed modulo every modulus of the key ring.
#[derive(Clone)]
struct TransformedDigits(Vec<Poly<Evaluation>>);

impl Content for TransformedDigits {
    fn byte_len(&self) -> usize {
        self.0.iter().map(|digit| digit.byte_len()).sum()
    }
}

impl Zeroize for TransformedDigits {
    fn zeroize(&mut self) {
        self.0.iter_mut().for_each(Zeroize::zeroize);
    }
}

impl std::fmt::Debug for Tables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tables").field("ring", &self.ring).field("digits", &self.lifts.len()).finish()
    }
}

impl UnivariateGadget {
    pub(crate) fn new(ring: &UnivariateRing, options: &GadgetOptions) -> Result<Self, RingError> {
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

    /// Returns the polynomial of a key that this gadget's level needs.
    fn part_of_key<'a>(&self, part: &'a PackedPoly) -> Result<Cow<'a, Poly<Evaluation>>, RingError> {
        let part: &Poly<Evaluation> = part.0.get()?;
        if self.tables.key_ring.check_as(part, Representation::Values).is_ok() {
            return Ok(Cow::Borrowed(part));
        }
        self.restrict_key(part).map(Cow::Owned)
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
        Ok(Self { ring, shared: Ring::of(key_ring.clone()), key_ring, lifts })
    }
}

impl GadgetBackend for UnivariateGadget {
    fn options(&self) -> &GadgetOptions {
        &self.top.options
    }

    fn key_ring(&self) -> &Ring {
        &self.tables.shared
    }

    fn level(&self) -> usize {
        self.tables.ring.level()
    }

    fn at_level(&self, level: usize) -> Result<Gadget, RingError> {
        Ok(Gadget::new(Self { top: Arc::clone(&self.top), tables: self.top.at_level(level)? }))
    }

    fn log2_special(&self) -> f64 {
        self.top.special.as_ref().map_or(0.0, |special| sunzi_math::log2(special.modulus()))
    }

    fn restrict_key(&self, a: &Poly<Evaluation>) -> Result<Poly<Evaluation>, RingError> {
        let key_ring = &self.tables.key_ring;
        if a.tag() == key_ring.tag() {
            key_ring.check_as(a, Representation::Values)?;
            return Ok(a.clone());
        }
        let special = key_ring.level() - self.level();
        let from = a.shape().limbs.saturating_sub(special);
        check_level(self.level(), from)?;
        self.top.at_level(from)?.key_ring.check_as(a, Representation::Values)?;
        let mut restricted = key_ring.arbitrary::<Evaluation>();
        ReducedForm::of(a).mark(&mut restricted);
        let (level, stride) = (self.level(), a.stride());
        for (i, limb) in restricted.words_mut().chunks_exact_mut(stride).enumerate() {
            limb.copy_from_slice(a.own_limb(if i < level { i } else { i - level + from })?);
        }
        Ok(restricted)
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
        zero: [Poly<Evaluation>; 2],
        source: &Poly<Evaluation>,
        i: usize,
    ) -> Result<[Poly<Evaluation>; 2], RingError> {
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

    fn pack_part(&self, part: Poly<Evaluation>, i: usize) -> Result<PackedPoly, RingError> {
        self.element(i)?;
        self.tables.key_ring.check_as(&part, Representation::Values)?;
        Ok(PackedPoly::new(part))
    }

    fn decompose(&self, a: &Poly<Evaluation>) -> Result<Digits, RingError> {
        self.decompose_coefficients(&self.tables.ring.raw_coefficients(a)?)
    }

    /// Returns the gadget's digits of a polynomial's stored coefficients.
    fn decompose_coefficients(&self, a: &Poly<Coefficient>) -> Result<Digits, RingError> {
        let Tables { ring, key_ring, lifts, .. } = &*self.tables;
        ring.check_as(a, Representation::Coefficients)?;
        let n = ring.degree();
        let digit = |lift: &Lift| {
            let words = lift.range.start * n..lift.range.end * n;
            let words = part("limb of a polynomial", a.words(), words, lift.range.start)?;
            let rows = scaled(
                &lift.own,
                &lift.own.poly_of(words, ReducedForm::Reduced),
                lift.own.basis().quotient_inverses(),
            )?;
            let mut digit = key_ring.arbitrary::<Coefficient>();
            Parallelism::default().for_each_block(digit.words_mut(), n, |range, output| {
                lift.extension.apply(&block_of(rows.chunks_exact(n), &range), output)
            })?;
            key_ring.raw_values(&digit)
        };
        let digits = lifts.iter().map(digit).collect::<Result<_, _>>()?;
        Ok(Digits(Opaque::new(TransformedDigits(digits))))
    }

    /// Returns the products of digits with both halves of a key, not reduced modulo Φ_m.
    fn product(&self, digits: &Digits, key: [&[PackedPoly]; 2]) -> Result<[Poly<Evaluation>; 2], RingError> {
        let (key_ring, TransformedDigits(digits)) = (&self.tables.key_ring, digits.0.get()?);
        check_length("digits", self.digit_count(), digits.len())?;
        digits.iter().try_for_each(|digit| key_ring.check_as(digit, Representation::Values))?;
        let form = if key_ring.reduction() == Reduction::Mixed {
            ReducedForm::KeyProduct
        } else {
            ReducedForm::Product
        };
        let half = |parts: &[PackedPoly]| {
            check_length("polynomials of a key half", self.digit_count().max(parts.len()), parts.len())?;
            let parts = parts.iter().take(digits.len()).map(|part| self.part_of_key(part));
            let parts = parts.collect::<Result<Vec<_>, _>>()?;
            let mut sum = key_ring.arbitrary::<Evaluation>();
            key_ring.for_each_limb(Work::Elementwise, &mut sum, |j, reducer, limb| {
                let digits = digits.iter().map(|digit| digit.own_limb(j)).collect::<Result<Vec<_>, _>>()?;
                let parts = parts.iter().map(|part| part.own_limb(j)).collect::<Result<Vec<_>, _>>()?;
                Ok(reducer.modulus().inner_product(limb, &digits, &parts)?)
            })?;
            form.mark(&mut sum);
            Ok::<_, RingError>(sum)
        };
        let [first, second] = key;
        check_length("polynomials of a key half", first.len(), second.len())?;
        Ok([half(first)?, half(second)?])
    }
}
