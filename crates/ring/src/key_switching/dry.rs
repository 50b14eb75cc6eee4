//! Digits for dry runs: only their bounds exist.

use zeroize::Zeroize;

use super::{DigitBound, Digits, Gadget, GadgetBackend, KeyPoly, RnsDigits};
use crate::error::{check_length, no_such_digit};
use crate::hollow::{HollowRing, dry_tag_of};
use crate::opaque::{Content, Opaque};
use crate::{Backend, Evaluation, GadgetOptions, PackedPoly, Poly, Residues, Ring, RingError, Shape};

/// The dry form of the gadget [`RnsGadget`](crate::RnsGadget), at one level.
#[derive(Clone, Debug)]
pub struct HollowGadget {
    /// Ring for which the gadget was made.
    top: HollowRing,
    level: usize,
    key_ring: HollowRing,
    /// Key ring of the gadget as its users see it.
    key_handle: Ring,
    options: GadgetOptions,
    digits: RnsDigits,
    log2_special: f64,
}

impl HollowGadget {
    pub(crate) fn new(handle: &Ring, options: &GadgetOptions) -> Result<Self, RingError> {
        let ring: &HollowRing = handle.storage_as()?;
        let highest = ring.limbs(ring.level());
        let moduli: Vec<u64> = highest.iter().filter_map(|&limb| ring.moduli().get(limb)).copied().collect();
        let digits = RnsDigits::new(options, &moduli)?;
        let log2_special = sunzi_math::log2_product(&options.special_moduli);
        let key_ring = ring.extended(&options.special_moduli)?;
        let (top, level, options) = (ring.clone(), ring.level(), options.clone());
        let key_handle = handle.with_storage(key_ring.clone());
        Ok(Self { top, level, key_ring, key_handle, options, digits, log2_special })
    }

    /// The places of the gadget's moduli among those of the highest level.
    fn limbs(&self) -> Vec<usize> {
        let places = crate::ladder::places(self.top.limbs(self.level), self.top.limbs(self.top.level()));
        places.into_iter().flatten().collect()
    }

    /// Checks that a belongs to the key ring of this level or of a higher one that this level is nested in.
    fn check_key(&self, a: &Residues) -> Result<(), RingError> {
        let Err(error) = self.key_ring.check(a) else { return Ok(()) };
        let special = &self.options.special_moduli;
        let degree = self.top.degree();
        let of_level = |level: &usize| {
            let values = [self.top.values(*level), special.clone()].concat();
            a.shape() == Shape { degree, limbs: values.len() } && a.tag() == dry_tag_of(&values)
        };
        let level = (self.level + 1..=self.top.level()).find(of_level).ok_or(error)?;
        if self.top.is_nested(self.level, level) {
            return Ok(());
        }
        Err(RingError::NotNested { level: self.level, within: level })
    }
}

/// A dry polynomial of a key: only the number of bytes that it would take packed.
#[derive(Clone)]
struct HollowPart {
    part: Poly<Evaluation>,
    bytes: usize,
}

/// Dry digits, which hold no words.
#[derive(Clone)]
struct HollowDigits;

impl Content for HollowPart {
    fn byte_len(&self) -> usize {
        self.bytes
    }
}

impl Zeroize for HollowPart {
    fn zeroize(&mut self) {}
}

impl Content for HollowDigits {
    fn byte_len(&self) -> usize {
        0
    }
}

impl Zeroize for HollowDigits {
    fn zeroize(&mut self) {}
}

impl GadgetBackend for HollowGadget {
    fn options(&self) -> &GadgetOptions {
        &self.options
    }

    fn key_ring(&self) -> &Ring {
        &self.key_handle
    }

    fn level(&self) -> usize {
        self.level
    }

    fn at_level(&self, level: usize) -> Result<Gadget, RingError> {
        if !self.top.is_nested(level, self.top.level()) {
            self.top.of_level(level)?;
            return Err(RingError::NotNested { level, within: self.top.level() });
        }
        let key_ring = self.top.of_level(level)?.extended(&self.options.special_moduli)?;
        let key_handle = self.key_handle.with_storage(key_ring.clone());
        Ok(Gadget::new(Self { level, key_ring, key_handle, ..self.clone() }))
    }

    fn log2_special(&self) -> f64 {
        self.log2_special
    }

    fn restrict_key(&self, a: &Poly<Evaluation>) -> Result<Poly<Evaluation>, RingError> {
        self.check_key(a)?;
        Ok(self.key_ring.own().into())
    }

    fn digit_count(&self) -> usize {
        self.digits.limbs_of(&self.limbs()).len()
    }

    fn digit_bounds(&self) -> Vec<DigitBound> {
        self.digits.bounds_of(&self.limbs())
    }

    fn key_part(
        &self,
        zero: [Poly<Evaluation>; 2],
        source: &Poly<Evaluation>,
        i: usize,
    ) -> Result<[Poly<Evaluation>; 2], RingError> {
        zero.iter().chain([source]).try_for_each(|a| self.key_ring.check(a))?;
        if i < self.digit_count() { Ok(zero) } else { Err(no_such_digit(self.digit_count(), i)) }
    }

    fn pack_part(&self, part: Poly<Evaluation>, i: usize) -> Result<PackedPoly, RingError> {
        self.part_ring(i)?;
        self.key_ring.check(&part)?;
        let moduli = self.key_ring.values(self.key_ring.level()).into_iter();
        let bytes = KeyPoly::len_of(self.key_ring.degree(), moduli);
        Ok(PackedPoly::new(HollowPart { part, bytes }))
    }

    fn unpack_part(&self, part: &PackedPoly, i: usize) -> Result<Poly<Evaluation>, RingError> {
        self.part_ring(i)?;
        let HollowPart { part, .. } = part.0.get()?;
        self.key_ring.check(part)?;
        Ok(part.clone())
    }

    fn decompose(&self, a: &Poly<Evaluation>) -> Result<Digits, RingError> {
        self.top.of_level(self.level)?.check(a)?;
        Ok(Digits(Opaque::new(HollowDigits)))
    }

    fn product(&self, digits: &Digits, key: [&[PackedPoly]; 2]) -> Result<[Poly<Evaluation>; 2], RingError> {
        digits.0.get::<HollowDigits>()?;
        for part in key.into_iter().flatten() {
            self.check_key(&part.0.get::<HollowPart>()?.part)?;
        }
        // The key must have enough polynomials; a key of a higher level may have more.
        let count = self.digit_count();
        key.into_iter()
            .try_for_each(|half| check_length("polynomials of a key half", count, half.len().min(count)))?;
        Ok([self.key_ring.own().into(), self.key_ring.own().into()])
    }
}
