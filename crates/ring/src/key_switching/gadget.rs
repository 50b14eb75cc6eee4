//! The RNS gadget: ξ_q and P_{RNS,q} of [BEHZ16, 4.5], its second radix [B.1] and its smaller keys [B.2]; GHS and hybrid
//! key switching with special moduli [KPZ21, B.2].

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use sunzi_kernels::Buffer;
use zeroize::Zeroizing;

use super::digits::Digit;
use super::inner_product::{self, InnerProducts};
use super::lift::Lift;
use super::{
    Addends, DigitBound, Digits, Gadget, GadgetBackend, KeyPoly, Multiplier, Pairs, RnsGadget, RnsMultiplier,
    Rotation, SwitchInput, Turn, mod_down, rotation_sums, turns,
};
use crate::error::{check_table, entry, no_such_digit};
use crate::opaque::Opaque;
use crate::parallel::{Work, on_pool};
use crate::scratch::Scratch;
use crate::words::gathered;
use crate::{
    Backend, Coefficient, Domain, Evaluation, GadgetOptions, PackedPoly, Poly, Ring, RingError, Shape,
    WordRing,
};

impl RnsGadget {
    /// Runs one step of a key switch on the threads that share it.
    fn on_pool<T: Send>(&self, step: impl FnOnce() -> T + Send) -> T {
        let Shape { degree, limbs } = self.tables.key_ring.shape();
        on_pool(degree * limbs * self.tables.lifts.len(), step)
    }

    /// The ring of the i-th polynomials of a key-switching key.
    fn ring_of_part(&self, i: usize) -> Result<WordRing, RingError> {
        let (digit, dropped) = (self.digit(i)?, self.top.options.dropped_limbs);
        if dropped == 0 { Ok(self.tables.key_ring.clone()) } else { self.top.ring_of_digit(digit) }
    }

    fn lift(&self, i: usize) -> Result<&Lift, RingError> {
        self.tables.lifts.get(i).ok_or_else(|| no_such_digit(self.digit_count(), i))
    }

    /// The digit at the highest level from which digit i of this level comes.
    fn digit(&self, i: usize) -> Result<&Digit, RingError> {
        let missing = || no_such_digit(self.digit_count(), i);
        self.top.digits.digits().get(self.lift(i)?.digit).ok_or_else(missing)
    }

    /// Returns the product q_I·a with the dropped moduli in the limbs where it is not zero.
    fn times_dropped(&self, a: &Poly<Evaluation>, digit: &Digit) -> Result<Poly<Evaluation>, RingError> {
        let Shape { degree, limbs } = a.shape();
        let top = &*self.top;
        let tag = *entry("tag of a digit", &top.tags, digit.source)?;
        check_table("modulus", limbs, self.tables.ring.basis().len())?;
        let mut part = Poly::new(Scratch::zeroed(degree * (limbs - top.options.dropped_limbs)), degree, tag);
        let own = (0..).zip(self.tables.ring.basis().moduli()).zip(a.limbs());
        let own = own.filter(|&((limb, _), _)| top.digits.limb(digit.source, limb).is_some());
        for (out, ((_, modulus), limb)) in part.words_mut().chunks_exact_mut(degree).zip(own) {
            out.copy_from_slice(limb);
            let product = |product, q| modulus.mul(product, modulus.reduce(q));
            modulus.mul_scalar_assign(out, top.digits.dropped(digit.source).fold(1, product))?;
        }
        Ok(part)
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
        self.tables.log2_special(&self.top)
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
        // The product is erased, since the factor may be secret.
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

    fn sum_of_turns(
        &self,
        turns: &[Turn<'_>],
        key: [&[PackedPoly]; 2],
    ) -> Result<[Poly<Evaluation>; 2], RingError> {
        self.on_pool(|| turns::sum_of_turns(self, turns, key))
    }

    fn digit_count(&self) -> usize {
        self.tables.lifts.len()
    }

    fn digit_bounds(&self) -> Vec<DigitBound> {
        self.tables.bounds.clone()
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
            // The product is secret: a multiple of the source secret.
            let mut multiple = Zeroizing::new(Buffer::from_slice(secret));
            modulus.mul_scalar_assign(&mut multiple, self.tables.element(digit, &modulus))?;
            modulus.add_assign(out, &multiple)?;
        }
        Ok([b, a])
    }

    fn part_ring(&self, i: usize) -> Result<Ring, RingError> {
        Ok(self.top.handle.with_storage(self.ring_of_part(i)?))
    }

    fn uniform_part(&self, a: Poly<Evaluation>, i: usize) -> Result<Poly<Evaluation>, RingError> {
        let digit = self.digit(i)?;
        self.tables.key_ring.check(&a)?;
        if self.top.options.dropped_limbs == 0 { Ok(a) } else { self.times_dropped(&a, digit) }
    }

    fn pack_part(&self, part: Poly<Evaluation>, i: usize) -> Result<PackedPoly, RingError> {
        self.ring_of_part(i)?.packed(&part)
    }

    fn unpack_part(&self, part: &PackedPoly, i: usize) -> Result<Poly<Evaluation>, RingError> {
        self.ring_of_part(i)?.unpacked(part)
    }

    fn unpacked_sum(&self, parts: &[&PackedPoly], i: usize) -> Result<Poly<Evaluation>, RingError> {
        self.ring_of_part(i)?.sum_packed(parts, None)
    }

    fn sum_parts(&self, parts: &[&PackedPoly], i: usize) -> Result<PackedPoly, RingError> {
        let parts = parts.iter().map(|part| part.0.get()).collect::<Result<Vec<_>, _>>()?;
        Ok(PackedPoly::new(KeyPoly::sum(&parts, &self.ring_of_part(i)?)?))
    }

    fn key_bytes(&self) -> Result<usize, RingError> {
        let parts = (0..self.digit_count()).map(|i| Ok(KeyPoly::len(&self.ring_of_part(i)?)));
        Ok(2 * parts.sum::<Result<usize, RingError>>()?)
    }

    fn merged(&self, to: usize) -> Result<Option<Gadget>, RingError> {
        let ends = self.top.limbs(to);
        let tables = self.top.merged(&self.tables)?;
        let tables = tables.filter(|tables| tables.further().iter().all(|limb| !ends.contains(limb)));
        Ok(tables.map(|tables| Gadget::new(Self { top: Arc::clone(&self.top), tables })))
    }

    fn key_digits(&self) -> Vec<Range<usize>> {
        match &self.tables.merging {
            Some(merging) => merging.blocks.clone(),
            None => self.tables.lifts.iter().map(|lift| lift.digit..lift.digit + 1).collect(),
        }
    }

    fn decompose(&self, a: &Poly<Evaluation>) -> Result<Digits, RingError> {
        let digits = self.on_pool(|| match &self.tables.merging {
            Some(_) => inner_product::decompose(self, &times_further(self, a)?),
            None => inner_product::decompose(self, a),
        })?;
        Ok(Digits(Opaque::new(digits)))
    }

    fn product(&self, digits: &Digits, key: [&[PackedPoly]; 2]) -> Result<[Poly<Evaluation>; 2], RingError> {
        self.switch_extended(SwitchInput::Digits(digits), None, key, 1)
    }

    fn switch(
        &self,
        input: SwitchInput<'_>,
        added: Addends<'_>,
        key: [&[PackedPoly]; 2],
        level: usize,
        exponent: u64,
    ) -> Result<[Poly<Evaluation>; 2], RingError> {
        match added {
            Addends::Values(added) => added.iter().flatten().try_for_each(|a| self.tables.ring.check(a))?,
            Addends::Coefficients(added) => added.iter().try_for_each(|a| self.tables.ring.check(a))?,
        }
        self.on_pool(|| {
            let scaled = Scaled::new(self, input)?;
            let products = InnerProducts::with_key(self, scaled.input(), key)?;
            mod_down::switch(self, &products, added, level, exponent)
        })
    }

    fn switch_extended(
        &self,
        input: SwitchInput<'_>,
        added: Option<&Poly<Evaluation>>,
        key: [&[PackedPoly]; 2],
        exponent: u64,
    ) -> Result<[Poly<Evaluation>; 2], RingError> {
        self.on_pool(|| {
            let products = InnerProducts::with_key(self, input, key)?;
            mod_down::switch_extended(self, &products, added, exponent)
        })
    }
}

/// Input of a key switch, times the further special moduli where digits are merged.
enum Scaled<'a> {
    Unchanged(SwitchInput<'a>),
    Values(Poly<Evaluation>),
    Coefficients(Poly<Coefficient>),
}

impl<'a> Scaled<'a> {
    fn new(gadget: &RnsGadget, input: SwitchInput<'a>) -> Result<Self, RingError> {
        Ok(match input {
            _ if gadget.tables.merging.is_none() => Self::Unchanged(input),
            SwitchInput::Values(a) => Self::Values(times_further(gadget, a)?),
            SwitchInput::Coefficients(a) => Self::Coefficients(times_further(gadget, a)?),
            SwitchInput::Digits(_) => Self::Unchanged(input),
        })
    }

    fn input(&self) -> SwitchInput<'_> {
        match self {
            Self::Unchanged(input) => *input,
            Self::Values(a) => SwitchInput::Values(a),
            Self::Coefficients(a) => SwitchInput::Coefficients(a),
        }
    }
}

/// Returns the product E·a with the further special moduli.
fn times_further<D: Domain>(gadget: &RnsGadget, a: &Poly<D>) -> Result<Poly<D>, RingError> {
    let (ring, further) = (&gadget.tables.ring, gadget.top.digits.moduli_of(gadget.tables.further()));
    ring.check(a)?;
    let (mut scaled, words) = (a.clone(), a.words().len());
    let limbs = scaled.words_mut().chunks_exact_mut(ring.degree());
    let limbs: Vec<_> = ring.basis().moduli().iter().zip(limbs).collect();
    ring.parallelism().for_each(Work::Elementwise, words, limbs, |(modulus, limb)| {
        let product = |product, &e: &u64| modulus.mul(product, modulus.reduce(e));
        Ok::<_, RingError>(modulus.mul_scalar_assign(limb, further.iter().fold(1, product))?)
    })?;
    Ok(scaled)
}

impl fmt::Debug for RnsGadget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("RnsGadget");
        text.field("ring", &self.tables.ring).field("options", &self.top.options).finish()
    }
}
