//! Gadget of the oracle: radix decomposition, D and P of [BEHZ16, eq. (7)], its smaller keys [B.2, eq. (22)], and remainders by products of
//! moduli with special moduli [KPZ21, B.2.3].

use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_traits::{One, ToPrimitive};
use sunzi_kernels::MAX_TERMS;
use sunzi_ring::storage::{check_length, check_radix, entry, group_moduli, no_such_digit};
use sunzi_ring::{
    Backend, DigitBound, Digits, Evaluation, Gadget, GadgetBackend, GadgetOptions, Opaque, PackedPoly, Poly,
    Residues, Ring, RingError,
};

use super::{BigRing, coefficients};

/// Default log2 of the radix ω of the oracle's digits.
const RADIX_BITS: u32 = 32;

/// Gadget of the oracle: digits by their definitions, at one level.
#[derive(Clone, Debug)]
pub struct BigGadget {
    /// Highest big-integer ring for which the gadget was made.
    top: BigRing,
    /// Big-integer ring of the gadget's level.
    ring: BigRing,
    key_ring: Ring,
    options: GadgetOptions,
    form: DigitForm,
}

#[derive(Clone, Debug)]
enum DigitForm {
    /// Radix digits: the ℓ = ⌈log_ω q⌉ digits of a radix ω for c in [−q/2, q/2), all in [−ω/2, ω/2] and without the lowest i:
    /// c is taken for a multiple of ω^i.
    Radix { bits: u32, digits: usize },
    /// Remainders [c]_{Q_j} for products of these moduli, with the indices of the digits.
    Remainders(Vec<(usize, Vec<usize>)>),
}

impl BigGadget {
    /// Makes the gadget for the highest level of a ring.
    pub(super) fn new(ring: &BigRing, options: &GadgetOptions) -> Result<Self, RingError> {
        Self::with_level(ring, options, ring.level())
    }

    fn with_level(top: &BigRing, options: &GadgetOptions, level: usize) -> Result<Self, RingError> {
        let ring = top.at_level(level)?;
        top.check_nested(level, top.level())?;
        let special: Vec<BigUint> = options.special_moduli.iter().map(|&p| p.into()).collect();
        let key_ring = ring.extended(&special)?;
        let form = match (special.is_empty(), options.digits) {
            (true, None) => Self::radix(&ring, options)?,
            (true, Some(digits)) => {
                return Err(RingError::out_of_range(
                    "digits",
                    "special moduli beside a number of digits",
                    digits,
                ));
            }
            (false, digits) => Self::remainders(top, level, options, digits, &special.iter().product())?,
        };
        Ok(Self { top: top.clone(), ring, key_ring: Ring::of(key_ring), options: options.clone(), form })
    }

    fn radix(ring: &BigRing, options: &GadgetOptions) -> Result<DigitForm, RingError> {
        let bits = options.radix_bits.unwrap_or(RADIX_BITS);
        check_radix(bits)?;
        let digits = usize::try_from(ring.modulus().bits().div_ceil(u64::from(bits)));
        let digits = digits.ok().filter(|&digits| digits <= MAX_TERMS).ok_or_else(|| {
            RingError::out_of_range("radix_bits", format_args!("at most {MAX_TERMS} digits"), bits)
        })?;
        if options.dropped_limbs >= digits {
            let expected = format_args!("below {digits}, the number of digits");
            return Err(RingError::out_of_range("dropped_limbs", expected, options.dropped_limbs));
        }
        Ok(DigitForm::Radix { bits, digits })
    }

    fn remainders(
        top: &BigRing,
        level: usize,
        options: &GadgetOptions,
        digits: Option<usize>,
        special: &BigUint,
    ) -> Result<DigitForm, RingError> {
        if options.radix_bits.is_some() || options.dropped_limbs > 0 {
            let expected = "none beside a radix or dropped limbs, which are for key switching without them";
            return Err(RingError::out_of_range("special_moduli", expected, options.special_moduli.len()));
        }
        let own = top.limbs(top.level());
        let moduli: Vec<BigUint> = own.iter().filter_map(|&limb| top.moduli().get(limb)).cloned().collect();
        if let Some(p) = options.special_moduli.iter().find(|&&p| moduli.contains(&p.into())) {
            return Err(RingError::NotCoprime { left: *p, right: *p });
        }
        let ranges = group_moduli(&moduli, special, digits)?;
        let groups = ranges.into_iter().map(|range| own.get(range).unwrap_or_default());
        Ok(DigitForm::Remainders(present(groups, top.limbs(level))))
    }

    /// Returns the places of a key's polynomials that belong to the gadget's digits: a key of another level
    /// may have more between them.
    fn places_in(&self, part: Option<&Residues>) -> Result<Vec<usize>, RingError> {
        let DigitForm::Remainders(own) = &self.form else { return Ok((0..self.digit_count()).collect()) };
        let missing = |limb| RingError::MissingTable { table: "polynomial of a key", limb };
        let level = part.and_then(|part| self.key_level(part)).unwrap_or(self.level());
        let DigitForm::Remainders(of_key) = Self::with_level(&self.top, &self.options, level)?.form else {
            return Err(missing(0));
        };
        let place = |digit: usize| of_key.iter().position(|(other, _)| *other == digit);
        own.iter().map(|(digit, _)| place(*digit).ok_or(missing(*digit))).collect()
    }

    /// Returns the exponent log2 ω^z of the radix power of the i-th kept digit.
    fn exponent(&self, bits: u32, i: usize) -> u64 {
        (self.options.dropped_limbs + i) as u64 * u64::from(bits)
    }

    /// Returns the product Q_j of a digit's moduli.
    fn own(&self, limbs: &[usize]) -> BigInt {
        limbs.iter().filter_map(|&limb| self.ring.moduli().get(limb)).product::<BigUint>().into()
    }

    /// Returns the product P of the special moduli.
    fn special(&self) -> BigUint {
        self.key_ring.modulus() / self.ring.modulus()
    }

    /// Returns the level of a key from one of its polynomials.
    fn key_level(&self, part: &Residues) -> Option<usize> {
        let special = self.special();
        let of = |level: &usize| {
            self.top
                .at_level(*level)
                .is_ok_and(|ring| super::ring::tag(&(ring.modulus() * &special)) == part.tag())
        };
        (1..=self.top.level()).find(of)
    }

    /// Returns the gadget element g_i: ω^z, or P·(Q_l/Q_j)·|(Q_l/Q_j)^-1|_{Q_j}.
    fn element(&self, i: usize) -> Result<BigInt, RingError> {
        let missing = || no_such_digit(self.digit_count(), i);
        match &self.form {
            DigitForm::Radix { bits, .. } if i < self.digit_count() => {
                Ok(BigInt::one() << self.exponent(*bits, i))
            }
            DigitForm::Radix { .. } => Err(missing()),
            DigitForm::Remainders(ranges) => {
                let own = self.own(&ranges.get(i).ok_or_else(missing)?.1);
                let others = BigInt::from(self.ring.modulus().clone()) / &own;
                let inverse = others.extended_gcd(&own).x;
                Ok(BigInt::from(self.special()) * others * inverse)
            }
        }
    }

    /// Returns the i-th kept digit of every coefficient. In a radix: that of c + (ω/2)·(1 + ω + … + ω^(ℓ−2)),
    /// less ω/2; the last digit keeps the carry from the rounding of the others.
    fn digit(&self, coefficients: &[BigInt], i: usize) -> Vec<BigInt> {
        match &self.form {
            DigitForm::Radix { bits, digits } => {
                let half = BigInt::one() << (bits - 1);
                let lower = (0..*digits as u64 - 1).map(|z| z * u64::from(*bits));
                let offset = lower.map(|exponent| &half << exponent).sum::<BigInt>();
                let mask = (BigInt::one() << *bits) - 1_u32;
                let digit = |c: &BigInt| {
                    let shifted = (c + &offset) >> self.exponent(*bits, i);
                    if i + 1 == self.digit_count() { shifted } else { (shifted & &mask) - &half }
                };
                coefficients.iter().map(digit).collect()
            }
            DigitForm::Remainders(ranges) => {
                let own = ranges.get(i).map_or_else(BigInt::one, |(_, limbs)| self.own(limbs));
                let half: BigInt = &own >> 1_u32;
                coefficients.iter().map(|c| (c + &half).mod_floor(&own) - &half).collect()
            }
        }
    }
}

impl GadgetBackend for BigGadget {
    fn options(&self) -> &GadgetOptions {
        &self.options
    }

    fn key_ring(&self) -> &Ring {
        &self.key_ring
    }

    fn level(&self) -> usize {
        self.ring.level()
    }

    fn at_level(&self, level: usize) -> Result<Gadget, RingError> {
        Self::with_level(&self.top, &self.options, level).map(Gadget::new)
    }

    fn log2_special(&self) -> f64 {
        sunzi_math::log2(&self.special())
    }

    fn restrict_key(&self, a: &Poly<Evaluation>) -> Result<Poly<Evaluation>, RingError> {
        let keys: &BigRing = self.key_ring.storage_as()?;
        let Some(level) = self.key_level(a) else {
            keys.check(a)?;
            return Ok(a.clone());
        };
        self.top.check_nested(self.level(), level)?;
        let coefficients = &a.content::<coefficients::Coefficients>()?.values;
        Ok(keys.wrap(coefficients.iter().map(|x| x % keys.modulus()).collect()).into())
    }

    fn digit_count(&self) -> usize {
        match &self.form {
            DigitForm::Radix { digits, .. } => digits - self.options.dropped_limbs,
            DigitForm::Remainders(ranges) => ranges.len(),
        }
    }

    fn digit_bounds(&self) -> Vec<DigitBound> {
        match &self.form {
            DigitForm::Radix { bits, .. } => {
                let whole = DigitBound { log2_bound: f64::from(bits - 1), log2_mean: -1.0 };
                let mut bounds = vec![whole; self.digit_count()];
                if let Some(last) = bounds.last_mut() {
                    // ⌈(q/2)/ω^(ℓ−1)⌉.
                    let below = self.exponent(*bits, self.digit_count() - 1);
                    last.log2_bound = sunzi_math::log2(&((self.ring.modulus() >> (below + 1)) + 1_u32));
                }
                bounds
            }
            DigitForm::Remainders(ranges) => {
                let bound = |(_, limbs): &(usize, Vec<usize>)| DigitBound {
                    log2_bound: sunzi_math::log2(self.own(limbs).magnitude()) - 1.0,
                    log2_mean: if self.own(limbs).is_even() { -1.0 } else { f64::NEG_INFINITY },
                };
                ranges.iter().map(bound).collect()
            }
        }
    }

    /// Returns log2 of the truncation error (ω/2)·(1 + ω + … + ω^(i−1)) for i dropped digits: more than
    /// |c|_{ω^i}/2 by a factor ω/(ω − 1).
    fn log2_truncation(&self) -> f64 {
        match self.form {
            DigitForm::Radix { bits, .. } if self.options.dropped_limbs > 0 => {
                let radix = f64::from(bits).exp2();
                self.exponent(bits, 0).to_f64().unwrap_or(f64::INFINITY)
                    + (radix / 2.0 / (radix - 1.0)).log2()
            }
            _ => f64::NEG_INFINITY,
        }
    }

    fn key_part(
        &self,
        zero: [Poly<Evaluation>; 2],
        source: &Poly<Evaluation>,
        i: usize,
    ) -> Result<[Poly<Evaluation>; 2], RingError> {
        let element = self.element(i)?;
        let [mut b, a] = zero;
        self.key_ring.check(&a)?;
        let mut multiple = source.clone();
        self.key_ring.mul_integer_assign(&mut multiple, &element)?;
        self.key_ring.add_assign(&mut b, &multiple)?;
        Ok([b, a])
    }

    fn decompose(&self, a: &Poly<Evaluation>) -> Result<Digits, RingError> {
        let coefficients = self.ring.to_integers(&self.ring.to_coefficient(a.clone())?)?;
        let digits = (0..self.digit_count()).map(|i| self.digit(&coefficients, i)).collect();
        Ok(Digits(Opaque::new(coefficients::Digits(digits))))
    }

    fn product(&self, digits: &Digits, key: [&[PackedPoly]; 2]) -> Result<[Poly<Evaluation>; 2], RingError> {
        let (ring, coefficients::Digits(digits)) = (&self.key_ring, digits.0.get()?);
        let [b, a] = key.map(|half| half.iter().map(|part| part.0.get::<Poly<Evaluation>>()).collect());
        let (b, a): (Result<Vec<_>, _>, Result<Vec<_>, _>) = (b, a);
        let key = [b?, a?];
        check_length("digits", self.digit_count(), digits.len())?;
        let [length, other] = key.each_ref().map(Vec::len);
        check_length("polynomials of a key half", length, other)?;
        // A key of a higher level has more.
        check_length("polynomials of a key half", length.max(digits.len()), length)?;
        let first = key[0].first().map(|part| &***part);
        if first.is_some_and(|part| ring.check(part).is_ok()) {
            check_length("polynomials of a key half", digits.len(), length)?;
        }
        if let Some(level) = first.and_then(|part| self.key_level(part)) {
            self.top.check_nested(self.level(), level)?;
        }
        let places = self.places_in(first)?;
        let [mut first, mut second] = [ring.zero(), ring.zero()];
        for (digit, place) in digits.iter().zip(places) {
            let [b, a] = key.each_ref().map(|half| entry("polynomial of a key", half, place));
            let (a, b) = (a?, b?);
            let digit = ring.from_integers(digit)?.relabel();
            ring.mul_add_assign(&mut first, &digit, &self.restrict_key(b)?)?;
            ring.mul_add_assign(&mut second, &digit, &self.restrict_key(a)?)?;
        }
        Ok([first, second])
    }
}

/// Yields the groups of digits that have some of these moduli, with the moduli they have.
fn present<'a>(groups: impl Iterator<Item = &'a [usize]>, limbs: &[usize]) -> Vec<(usize, Vec<usize>)> {
    let own = |group: &[usize]| limbs.iter().copied().filter(|limb| group.contains(limb)).collect();
    let digits = (0..).zip(groups.map(own));
    digits.filter(|(_, limbs): &(usize, Vec<usize>)| !limbs.is_empty()).collect()
}
