//! D_RNS of `[TSKJ20, 2.4 and 4.3]`, and its digits cut in a radix [BEHZ16, B.1].

use std::sync::{Arc, OnceLock};

use sunzi_ring::{DigitBound, Evaluation, Gadget, GadgetOptions, PolyRing, RingError};

use crate::error::{check_length, out_of_range};
use crate::product::WordProducts;
use crate::{Component, FermatPoly, FermatRing, Workspace};

/// The most digits.
const MOST_DIGITS: usize = 4096;

/// Digits |c·(q/q_i)^-1|_{q_i} of whole components, or each of these in a radix: all by shifts.
///
/// A whole digit has half the bits of q, and relinearisation by it adds noise of that size: products of some depth want a radix,
/// `radix_bits` of the options, which costs a key polynomial for every 2^`radix_bits` of q. There are no special moduli.
#[derive(Clone, Debug)]
pub struct FermatGadget(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// The ring it was made for, and that of its level.
    top: FermatRing,
    ring: FermatRing,
    options: GadgetOptions,
    /// Component and first bit of every digit.
    digits: Vec<(usize, usize)>,
    /// For products of words with residues, by component.
    products: Vec<OnceLock<WordProducts>>,
}

/// The digits of a polynomial.
#[derive(Clone)]
pub struct FermatDigits(Form);

#[derive(Clone)]
enum Form {
    /// Modulo every component.
    Whole(Vec<FermatPoly<Evaluation>>),
    /// Below 2^radix_bits.
    Words(Vec<Vec<u64>>),
}

impl FermatGadget {
    pub(crate) fn new(ring: &FermatRing, options: &GadgetOptions) -> Result<Self, RingError> {
        if let Some(bits) = options.radix_bits.filter(|bits| !(1..=61).contains(bits)) {
            return Err(out_of_range("radix_bits", "1 to 61", bits));
        }
        if options.dropped_limbs != 0 {
            return Err(out_of_range("dropped limbs", "0 modulo 2^g - 1", options.dropped_limbs));
        }
        if !options.special_moduli.is_empty() || options.digits.is_some() {
            let got = options.special_moduli.len();
            return Err(out_of_range("special moduli", "0 modulo 2^g - 1, and no number of digits", got));
        }
        Self::with_level(ring, options, ring.level())
    }

    fn with_level(top: &FermatRing, options: &GadgetOptions, level: usize) -> Result<Self, RingError> {
        let ring = top.at_level(level)?;
        let digits: Vec<(usize, usize)> = digits(&ring, options);
        if digits.len() > MOST_DIGITS {
            return Err(out_of_range(
                "radix_bits",
                format_args!("at most {MOST_DIGITS} digits"),
                digits.len(),
            ));
        }
        let products = (0..level).map(|_| OnceLock::new()).collect();
        Ok(Self(Arc::new(Inner { top: top.clone(), ring, options: options.clone(), digits, products })))
    }
}

impl FermatGadget {
    /// D_RNS(a): |a·(q/q_i)^-1|_{q_i} for every component, with the q of the highest level, whose keys serve all: n residues of its [length](Component::len) each.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`].
    pub fn whole_digits(&self, a: &FermatPoly<Evaluation>) -> Result<Vec<Vec<u64>>, RingError> {
        let ring = &self.0.ring;
        ring.check(a)?;
        let mut workspace = Workspace::default();
        let mut whole = Vec::with_capacity(ring.level());
        for ((component, part), cofactor) in ring.0.parts(&a.residues).zip(self.0.top.cofactors()) {
            let mut digit = vec![0; part.len()];
            let pairs = digit.chunks_exact_mut(component.len()).zip(part.chunks_exact(component.len()));
            pairs.for_each(|(digit, x)| cofactor.apply(digit, x, &mut workspace));
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
    /// The tables for products modulo the component at a position, for as many digits as there are.
    fn word_products(&self, position: usize, radix: u32) -> Result<&WordProducts, RingError> {
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

    fn check_key(&self, key: [&[FermatPoly<Evaluation>]; 2]) -> Result<(), RingError> {
        let [length, other] = key.map(<[_]>::len);
        check_length("polynomials of a key half", length, other)?;
        // A key of a higher level has more: as many as that level has digits.
        let mut expected = self.digits.len();
        for part in key.into_iter().flatten() {
            let level = self.top.level_of(part)?;
            if level < self.ring.level() {
                return Err(RingError::NoSuchLevel { got: self.ring.level(), highest: level });
            }
            if level > self.ring.level() {
                expected = digits(&self.top.at_level(level)?, &self.options).len();
            }
        }
        check_length("polynomials of a key half", expected, length)
    }

    fn by_words(
        &self,
        digits: &[Vec<u64>],
        key: [&[FermatPoly<Evaluation>]; 2],
        radix: u32,
    ) -> Result<[FermatPoly<Evaluation>; 2], RingError> {
        let mut results = [self.ring.empty(), self.ring.empty()];
        let mut start = 0;
        for (position, component) in self.ring.fermat_modulus().components().iter().enumerate() {
            let range = start..start + self.ring.degree() * component.len();
            start = range.end;
            let products = self.word_products(position, radix)?;
            let mut sums = [products.zero(), products.zero()];
            for (i, digit) in digits.iter().enumerate() {
                let digit = products.lift_words(digit)?;
                for (sum, half) in sums.iter_mut().zip(key) {
                    if let Some(part) = half.get(i).and_then(|part| part.residues.get(range.clone())) {
                        products.mul_add(sum, &digit, &products.lift(part)?)?;
                    }
                }
            }
            for (sum, result) in sums.into_iter().zip(&mut results) {
                if let Some(out) = result.residues.get_mut(range.clone()) {
                    products.recover(sum, out)?;
                }
            }
        }
        Ok(results)
    }
}

/// `bits` bits of an integer from the bit `at` on.
fn cut(words: &[u64], at: usize, bits: u32) -> u64 {
    let word = |i: usize| u128::from(words.get(at / 64 + i).copied().unwrap_or(0));
    ((word(0) | word(1) << 64) >> (at % 64)) as u64 & ((1 << bits) - 1)
}

impl Gadget<FermatRing> for FermatGadget {
    type Digits = FermatDigits;

    fn options(&self) -> &GadgetOptions {
        &self.0.options
    }

    fn key_ring(&self) -> &FermatRing {
        &self.0.ring
    }

    fn level(&self) -> usize {
        self.0.ring.level()
    }

    fn at_level(&self, level: usize) -> Result<Self, RingError> {
        Self::with_level(&self.0.top, &self.0.options, level)
    }

    fn log2_special(&self) -> f64 {
        0.0
    }

    fn restrict_key(&self, a: &FermatPoly<Evaluation>) -> Result<FermatPoly<Evaluation>, RingError> {
        self.0.top.restrict(a, self.level())
    }

    fn digit_count(&self) -> usize {
        self.0.digits.len()
    }

    /// Digits are not centred: their mean is half their bound.
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

    /// g_i = q/q_i times a power of the radix modulo q_i, and 0 modulo all others.
    fn key_part(
        &self,
        zero: [FermatPoly<Evaluation>; 2],
        source: &FermatPoly<Evaluation>,
        i: usize,
    ) -> Result<[FermatPoly<Evaluation>; 2], RingError> {
        let count = self.digit_count();
        let Some(&(position, at)) = self.0.digits.get(i) else {
            return Err(out_of_range("digit", format_args!("below {count}"), i));
        };
        let [mut b, a] = zero;
        let ring = &self.0.ring;
        [&a, &b, source].into_iter().try_for_each(|part| ring.check(part))?;
        // q/q_i = ∓2^twos, where −1 = 2^h.
        let twos = self.0.top.fermat_modulus().twos(position) as usize;
        let parts = ring.0.parts_mut(&mut b.residues).zip(ring.0.parts(&source.residues));
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

    fn decompose(&self, a: &FermatPoly<Evaluation>) -> Result<FermatDigits, RingError> {
        let (inner, ring) = (&*self.0, &self.0.ring);
        let whole = self.whole_digits(a)?;
        let whole: Vec<(Component, Vec<u64>)> =
            ring.fermat_modulus().components().iter().copied().zip(whole).collect();
        let Some(radix) = inner.options.radix_bits else {
            return Ok(FermatDigits(Form::Whole(
                whole.iter().map(|(component, digit)| ring.spread(*component, digit)).collect(),
            )));
        };
        let of = |&(position, at): &(usize, usize)| -> Vec<u64> {
            let Some((component, digit)) = whole.get(position) else { return Vec::new() };
            digit.chunks_exact(component.len()).map(|digit| cut(digit, at, radix)).collect()
        };
        Ok(FermatDigits(Form::Words(inner.digits.iter().map(of).collect())))
    }

    fn product(
        &self,
        digits: &FermatDigits,
        key: [&[FermatPoly<Evaluation>]; 2],
    ) -> Result<[FermatPoly<Evaluation>; 2], RingError> {
        let inner = &*self.0;
        inner.check_key(key)?;
        let got = match &digits.0 {
            Form::Whole(digits) => digits.len(),
            Form::Words(digits) => digits.len(),
        };
        check_length("digits", self.digit_count(), got)?;
        match (&digits.0, inner.options.radix_bits) {
            (Form::Whole(digits), None) => {
                let restricted = |part: &FermatPoly<Evaluation>| self.restrict_key(part);
                let keys = key.iter().flat_map(|half| half.iter().take(got)).map(restricted);
                let keys = keys.collect::<Result<Vec<_>, _>>()?;
                let factors: Vec<&FermatPoly<Evaluation>> = digits.iter().chain(&keys).collect();
                let [first, second] = [1, 2]
                    .map(|half| -> Vec<(usize, usize)> { (0..got).map(|i| (i, half * got + i)).collect() });
                inner.ring.sums_of_products(&factors, [&first, &second])
            }
            (Form::Words(digits), Some(radix)) => inner.by_words(digits, key, radix),
            _ => Err(out_of_range("digits", "those of this gadget", "digits of another form")),
        }
    }
}

impl FermatRing {
    /// The polynomial with the residues of one component as its coefficients.
    fn spread(&self, component: Component, part: &[u64]) -> FermatPoly<Evaluation> {
        let mut poly = self.empty();
        for (target, residues) in self.0.parts_mut(&mut poly.residues) {
            for (out, x) in residues.chunks_exact_mut(target.len()).zip(part.chunks_exact(component.len())) {
                target.reduce(out, x);
            }
        }
        poly
    }
}
