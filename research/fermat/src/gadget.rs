//! Gadget D_RNS of `[TSKJ20, 2.4 and 4.3]`, and its digits cut in a radix [BEHZ16, B.1].

use std::sync::{Arc, OnceLock};

use sunzi_ring::storage::{check_length, check_radix, no_such_digit};
use sunzi_ring::{
    Backend, Content, DigitBound, Digits, Evaluation, Gadget, GadgetBackend, GadgetOptions, Opaque,
    PackedPoly, Poly, Ring, RingError,
};
use zeroize::Zeroize;

use crate::blocks::for_each_block;
use crate::combination::BLOCK;
use crate::product::{Lift, WordProducts};
use crate::residues::FermatResidues;
use crate::{Component, FermatRing, Workspace};

/// Largest number of digits of a gadget.
const MOST_DIGITS: usize = 4096;

/// Gadget of the digits |c·(q/q_i)^-1|_{q_i} of whole components, or each of these in a radix: all by shifts.
///
/// A whole-component digit has half the bits of q, and relinearisation by it adds noise of that size:
/// products of some depth want a radix, `radix_bits` of the options, which costs a key polynomial for every
/// 2^`radix_bits` of q. There are no special moduli.
///
/// A key for the gadget stores from its first use on its lift for products, which is up to three times as
/// long as its residues.
///
/// [`Gadget::tables`] returns the type `FermatGadget` for its additional methods.
#[derive(Clone, Debug)]
pub struct FermatGadget(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// Ring for which the gadget was made; the next field is that of its level.
    top: FermatRing,
    ring: FermatRing,
    /// Ring of the gadget's level as its users see it.
    handle: Ring,
    options: GadgetOptions,
    /// Component and first bit of every digit of the gadget.
    digits: Vec<(usize, usize)>,
    /// Tables for products of digits with residues, by component.
    products: Vec<OnceLock<WordProducts>>,
    /// Lifts of whole-component digits, by component: to as many primes as products modulo the largest take.
    lifts: Vec<OnceLock<Lift>>,
}

/// Digits of a polynomial by a gadget over 2^g − 1.
#[derive(Clone)]
enum FermatDigits {
    /// Digits that are residues modulo one component each.
    Whole(Vec<Vec<u64>>),
    /// Digits that are words below 2^radix_bits.
    Words(Vec<Vec<u64>>),
}

impl FermatDigits {
    fn all(&self) -> &[Vec<u64>] {
        let (Self::Whole(all) | Self::Words(all)) = self;
        all
    }
}

impl Content for FermatDigits {
    fn byte_len(&self) -> usize {
        self.all().iter().map(|digit| size_of_val(&**digit)).sum()
    }
}

impl Zeroize for FermatDigits {
    fn zeroize(&mut self) {
        let (Self::Whole(all) | Self::Words(all)) = self;
        all.zeroize();
    }
}

impl FermatGadget {
    pub(crate) fn new(ring: &FermatRing, options: &GadgetOptions) -> Result<Self, RingError> {
        options.radix_bits.map_or(Ok(()), check_radix)?;
        if options.dropped_limbs != 0 {
            return Err(RingError::out_of_range("dropped limbs", "0 modulo 2^g - 1", options.dropped_limbs));
        }
        if !options.special_moduli.is_empty() || options.digits.is_some() {
            let got = options.special_moduli.len();
            return Err(RingError::out_of_range(
                "special moduli",
                "0 modulo 2^g - 1, and no number of digits",
                got,
            ));
        }
        Self::with_level(ring, options, ring.level())
    }

    fn with_level(top: &FermatRing, options: &GadgetOptions, level: usize) -> Result<Self, RingError> {
        let ring = top.at_level(level)?;
        let digits: Vec<(usize, usize)> = digits(&ring, options);
        if digits.len() > MOST_DIGITS {
            return Err(RingError::out_of_range(
                "radix_bits",
                format_args!("at most {MOST_DIGITS} digits"),
                digits.len(),
            ));
        }
        let products = (0..level).map(|_| OnceLock::new()).collect();
        let lifts = (0..level).map(|_| OnceLock::new()).collect();
        let (top, handle, options) = (top.clone(), Ring::of(ring.clone()), options.clone());
        Ok(Self(Arc::new(Inner { top, ring, handle, options, digits, products, lifts })))
    }
}

impl FermatGadget {
    /// Returns D_RNS(a): |a·(q/q_i)^-1|_{q_i} for every component, with the q of the highest level, whose keys serve all levels: n residues of its
    /// [length](Component::len) each.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`] for a polynomial of another ring.
    pub fn whole_digits(&self, a: &Poly<Evaluation>) -> Result<Vec<Vec<u64>>, RingError> {
        let ring = &self.0.ring;
        let a = ring.residues(a)?;
        let mut whole = Vec::with_capacity(ring.level());
        for ((component, part), cofactor) in ring.0.parts(&a.words).zip(self.0.top.cofactors()) {
            let (len, mut digit) = (component.len(), vec![0; part.len()]);
            for_each_block([(&mut *digit, len)].into_iter(), |workspace: &mut Workspace, block, out| {
                let own = part.get(block * BLOCK * len..).unwrap_or_default().chunks_exact(len);
                for (digit, x) in out.iter_mut().flat_map(|out| out.chunks_exact_mut(len)).zip(own) {
                    cofactor.apply(digit, x, workspace);
                }
                Ok(())
            })?;
            whole.push(digit);
        }
        Ok(whole)
    }
}

fn digits(ring: &FermatRing, options: &GadgetOptions) -> Vec<(usize, usize)> {
    let of = |(position, component): (usize, &Component)| {
        let bits = component.bits() + usize::from(component.is_fermat());
        let step = options.radix_bits.map_or(bits, |radix| radix as usize);
        (0..bits).step_by(step).map(move |bit| (position, bit))
    };
    ring.fermat_modulus().components().iter().enumerate().flat_map(of).collect()
}

impl Inner {
    /// Returns the tables for products of digits with residues modulo the component at a position.
    fn word_products(&self, position: usize) -> Result<&WordProducts, RingError> {
        let Some(radix) = self.options.radix_bits else { return self.ring.0.word_products(position) };
        let components = self.ring.fermat_modulus().components();
        let (Some(cell), Some(&component)) = (self.products.get(position), components.get(position)) else {
            return Err(RingError::NoSuchLevel { got: position + 1, highest: components.len() });
        };
        if let Some(tables) = cell.get() {
            return Ok(tables);
        }
        let sums = (self.ring.degree() * self.digits.len()).next_power_of_two().ilog2();
        let bits = component.bits() + (radix + sums) as usize;
        let tables = WordProducts::new(component, &self.ring.0.shared.plans, bits)?;
        Ok(cell.get_or_init(|| tables))
    }

    /// Returns the lift of whole digit i for all components at once.
    fn lift(&self, i: usize) -> Result<&Lift, RingError> {
        let components = self.ring.fermat_modulus().components();
        let (Some(cell), Some(&component)) = (self.lifts.get(i), components.get(i)) else {
            return Err(RingError::NoSuchLevel { got: i + 1, highest: components.len() });
        };
        if let Some(lift) = cell.get() {
            return Ok(lift);
        }
        let lift = Lift::new(component, self.word_products(components.len() - 1)?.plans().to_vec())?;
        Ok(cell.get_or_init(|| lift))
    }

    /// Returns the residues of a key of this level or a higher one.
    fn key<'a>(&self, key: [&'a [PackedPoly]; 2]) -> Result<[Vec<&'a FermatResidues>; 2], RingError> {
        let [length, other] = key.map(<[_]>::len);
        check_length("polynomials of a key half", length, other)?;
        // A key of a higher level has as many polynomials as that level has digits.
        let mut expected = self.digits.len();
        let mut part = |part: &'a PackedPoly| {
            let part = part.0.get::<Poly<Evaluation>>()?;
            let level = self.top.level_of(part)?;
            if level < self.ring.level() {
                return Err(RingError::NoSuchLevel { got: self.ring.level(), highest: level });
            }
            if level > self.ring.level() {
                expected = digits(&self.top.at_level(level)?, &self.options).len();
            }
            part.content()
        };
        let [first, second] = key.map(|half| half.iter().map(&mut part).collect::<Result<Vec<_>, _>>());
        let halves = [first?, second?];
        check_length("polynomials of a key half", expected, length)?;
        Ok(halves)
    }

    /// Multiplies digits with a key by transforms: every digit is lifted once to the primes of the largest
    /// component, of which smaller ones use the first; only a whole digit above a component is reduced modulo
    /// it and lifted again.
    fn by_transforms(
        &self,
        digits: &FermatDigits,
        [first, second]: [&[&FermatResidues]; 2],
    ) -> Result<[FermatResidues; 2], RingError> {
        let ring = &self.ring;
        let most = self.word_products(ring.level() - 1)?;
        let lift = |(i, digit): (usize, &Vec<u64>)| match digits {
            FermatDigits::Whole(_) => self.lift(i)?.apply(digit),
            FermatDigits::Words(_) => most.lift().apply_words(digit),
        };
        let lifted = digits.all().iter().enumerate().map(lift).collect::<Result<Vec<_>, _>>()?;
        let mut results = [ring.empty(), ring.empty()];
        for (position, component, range) in ring.ranges() {
            let products = self.word_products(position)?;
            let larger = match digits {
                FermatDigits::Whole(digits) => digits.get(position + 1..).unwrap_or_default(),
                FermatDigits::Words(_) => &[],
            };
            let from = ring.fermat_modulus().components().iter().skip(position + 1);
            let own = larger.iter().zip(from);
            let own = own.map(|(digit, &from)| products.lift().apply(&reduced(component, from, digit)));
            let own = own.collect::<Result<Vec<_>, _>>()?;
            let shared = lifted.iter().take(lifted.len() - own.len());
            let lifts: Vec<&[u64]> = shared.chain(&own).map(|lift| lift.as_slice()).collect();
            let lifted = |half: &[&FermatResidues]| {
                let parts = half.iter().take(lifts.len()).map(|part| {
                    let residues = part.words.get(range.clone()).unwrap_or_default();
                    part.words.lifted(position, products.lift().len(), || products.lift().apply(residues))
                });
                parts.collect::<Result<Vec<_>, _>>()
            };
            let halves = [lifted(first)?, lifted(second)?];
            let [first, second] =
                halves.each_ref().map(|half| half.iter().map(|lift| lift.as_slice()).collect::<Vec<_>>());
            let sums = products.sum_pair(&lifts, [&first, &second])?;
            for (sum, result) in sums.into_iter().zip(&mut results) {
                products.recover(sum, result.words.get_mut(range.clone()).unwrap_or_default())?;
            }
        }
        Ok(results)
    }

    /// Multiplies whole-component digits with a key by products of the ring, whatever these are.
    fn by_products(
        &self,
        digits: &[Vec<u64>],
        key: [&[&FermatResidues]; 2],
    ) -> Result<[FermatResidues; 2], RingError> {
        let ring = &self.ring;
        let spread = |(digit, (_, component, _)): (&Vec<u64>, _)| ring.spread(component, digit);
        let digits: Vec<FermatResidues> = digits.iter().zip(ring.ranges()).map(spread).collect();
        let count = digits.len();
        let keys = key.iter().flat_map(|half| half.iter().take(count));
        let keys: Vec<FermatResidues> = keys.map(|part| ring.first_residues(part)).collect();
        let factors: Vec<&FermatResidues> = digits.iter().chain(&keys).collect();
        let [first, second] =
            [1, 2].map(|half| -> Vec<(usize, usize)> { (0..count).map(|i| (i, half * count + i)).collect() });
        ring.sums_of_products(&factors, [&first, &second])
    }
}

/// Reduces residues modulo a larger component to those modulo a smaller one.
fn reduced(to: Component, from: Component, residues: &[u64]) -> Vec<u64> {
    let mut all = vec![0; residues.len() / from.len() * to.len()];
    for (out, x) in all.chunks_exact_mut(to.len()).zip(residues.chunks_exact(from.len())) {
        to.reduce(out, x);
    }
    all
}

/// Returns a digit: `bits` bits of an integer from the bit `at` on.
fn cut(words: &[u64], at: usize, bits: u32) -> u64 {
    let word = |i: usize| u128::from(words.get(at / 64 + i).copied().unwrap_or(0));
    ((word(0) | word(1) << 64) >> (at % 64)) as u64 & ((1 << bits) - 1)
}

impl GadgetBackend for FermatGadget {
    fn options(&self) -> &GadgetOptions {
        &self.0.options
    }

    fn key_ring(&self) -> &Ring {
        &self.0.handle
    }

    fn level(&self) -> usize {
        self.0.ring.level()
    }

    fn at_level(&self, level: usize) -> Result<Gadget, RingError> {
        Self::with_level(&self.0.top, &self.0.options, level).map(Gadget::new)
    }

    fn log2_special(&self) -> f64 {
        0.0
    }

    fn restrict_key(&self, a: &Poly<Evaluation>) -> Result<Poly<Evaluation>, RingError> {
        self.0.top.restrict(a, self.level()).map(Poly::from)
    }

    fn digit_count(&self) -> usize {
        self.0.digits.len()
    }

    /// Bounds of the gadget's digits, which are not centred: their mean is half their bound.
    fn digit_bounds(&self) -> Vec<DigitBound> {
        let components = self.0.ring.fermat_modulus().components();
        let bound = |&(position, at): &(usize, usize)| {
            let left = components.get(position).map_or(0, |c| c.bits() + usize::from(c.is_fermat())) - at;
            // A whole residue is at most 2^h; so is the lowest bit of 2^h + 1 alone above a radix.
            let whole = components.get(position).map_or(0, |c| c.bits());
            let bits = self.0.options.radix_bits.map_or(whole, |radix| left.min(radix as usize)) as f64;
            DigitBound { log2_bound: bits, log2_mean: bits - 1.0 }
        };
        self.0.digits.iter().map(bound).collect()
    }

    /// Returns the gadget element g_i = q/q_i times a power of the radix modulo q_i, and 0 modulo all others.
    fn key_part(
        &self,
        [mut b, a]: [Poly<Evaluation>; 2],
        source: &Poly<Evaluation>,
        i: usize,
    ) -> Result<[Poly<Evaluation>; 2], RingError> {
        let Some(&(position, at)) = self.0.digits.get(i) else {
            return Err(no_such_digit(self.digit_count(), i));
        };
        let ring = &self.0.ring;
        ring.check(&a)?;
        let (sum, source) = (ring.residues_mut(&mut b)?, ring.residues(source)?);
        // q/q_i = ∓2^twos, where −1 = 2^h.
        let twos = self.0.top.fermat_modulus().twos(position) as usize;
        let parts = ring.0.parts_mut(&mut sum.words).zip(ring.0.parts(&source.words));
        for ((component, b), (_, source)) in parts.skip(position).take(1) {
            let sign = if component.is_fermat() { component.bits() } else { 0 };
            let mut multiple = vec![0; component.len()];
            for (b, s) in b.chunks_exact_mut(component.len()).zip(source.chunks_exact(component.len())) {
                component.mul_power_of_two(&mut multiple, s, sign + twos + at);
                component.add_assign(b, &multiple);
            }
        }
        Ok([b, a])
    }

    fn decompose(&self, a: &Poly<Evaluation>) -> Result<Digits, RingError> {
        let (inner, ring) = (&*self.0, &self.0.ring);
        let whole = self.whole_digits(a)?;
        let Some(radix) = inner.options.radix_bits else {
            return Ok(Digits(Opaque::new(FermatDigits::Whole(whole))));
        };
        let of = |&(position, at): &(usize, usize)| -> Vec<u64> {
            let components = ring.fermat_modulus().components();
            let Some((digit, component)) = whole.get(position).zip(components.get(position)) else {
                return Vec::new();
            };
            digit.chunks_exact(component.len()).map(|digit| cut(digit, at, radix)).collect()
        };
        Ok(Digits(Opaque::new(FermatDigits::Words(inner.digits.iter().map(of).collect()))))
    }

    fn product(&self, digits: &Digits, key: [&[PackedPoly]; 2]) -> Result<[Poly<Evaluation>; 2], RingError> {
        let inner = &*self.0;
        let [first, second] = &inner.key(key)?;
        let digits: &FermatDigits = digits.0.get()?;
        check_length("digits", self.digit_count(), digits.all().len())?;
        let sums = match (digits, inner.options.radix_bits) {
            (FermatDigits::Whole(digits), None) if !inner.ring.lifts_keys() => {
                inner.by_products(digits, [first, second])
            }
            (FermatDigits::Whole(_), None) | (FermatDigits::Words(_), Some(_)) => {
                inner.by_transforms(digits, [first, second])
            }
            _ => Err(RingError::out_of_range("digits", "those of this gadget", "digits of another form")),
        };
        Ok(sums?.map(|sum| inner.ring.wrap(sum)))
    }
}

impl FermatRing {
    /// Returns the polynomial whose coefficients are the residues modulo one component.
    fn spread(&self, component: Component, part: &[u64]) -> FermatResidues {
        let mut poly = self.empty();
        for (target, residues) in self.0.parts_mut(&mut poly.words) {
            residues.copy_from_slice(&reduced(target, component, part));
        }
        poly
    }
}
