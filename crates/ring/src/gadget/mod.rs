//! The RNS gadget: ξ_q and P_{RNS,q} of [BEHZ16, 4.5], its second radix [B.1] and its smaller keys [B.2].

mod digits;
mod product;

use std::fmt;
use std::sync::Arc;

use sunzi_kernels::{Buffer, Modulus};
use zeroize::Zeroizing;

use crate::basis::tag_of;
use crate::error::{check_shape, no_such_digit};
use crate::scratch::Scratch;
use crate::{Coefficient, Evaluation, Gadget, GadgetOptions, Poly, PolyRing, Ring, RingError, Shape};

use digits::Digit;
pub use digits::RnsDigits;

/// The digits of an RNS basis and the limbs of keys made for them. Cheap to clone.
#[derive(Clone)]
pub struct RnsGadget(Arc<Inner>);

struct Inner {
    ring: Ring,
    options: GadgetOptions,
    digits: RnsDigits,
    /// The tag of the limbs that keys for residue j keep.
    tags: Vec<u64>,
}

impl RnsGadget {
    pub(crate) fn new(ring: &Ring, options: &GadgetOptions) -> Result<Self, RingError> {
        let values = ring.basis().values();
        let digits = RnsDigits::new(options, values)?;
        let kept = |source| -> Vec<u64> {
            let values = values.iter().enumerate();
            values.filter(|&(limb, _)| digits.limb(source, limb).is_some()).map(|(_, &q)| q).collect()
        };
        let tags = (0..values.len()).map(|source| tag_of(&kept(source))).collect();
        Ok(Self(Arc::new(Inner { ring: ring.clone(), options: *options, digits, tags })))
    }

    fn digit(&self, i: usize) -> Result<&Digit, RingError> {
        self.0.digits.digits().get(i).ok_or_else(|| no_such_digit(self.digit_count(), i))
    }

    fn tag(&self, digit: &Digit) -> u64 {
        self.0.tags.get(digit.source).copied().unwrap_or(0)
    }

    /// The shape of the polynomials of a key.
    fn key_shape(&self) -> Shape {
        Shape { degree: self.0.ring.degree(), limbs: self.0.digits.key_limbs() }
    }

    /// Fails unless `part` can stand at digit `digit` of a key.
    fn check_part(&self, part: &Poly<Evaluation>, digit: &Digit) -> Result<(), RingError> {
        check_shape(self.key_shape(), part.shape())?;
        if part.tag() == self.tag(digit) {
            Ok(())
        } else {
            Err(RingError::OtherModulus { shape: part.shape() })
        }
    }

    /// q_I·a in the limbs where that is not zero.
    fn times_dropped(&self, a: &Poly<Evaluation>, digit: &Digit) -> Result<Poly<Evaluation>, RingError> {
        let Shape { degree, limbs } = self.key_shape();
        let mut part = Poly::new(Scratch::zeroed(degree * limbs), degree, self.tag(digit));
        let kept = (0..).zip(self.0.ring.basis().moduli()).zip(a.limbs());
        let kept = kept.filter(|&((limb, _), _)| self.0.digits.limb(digit.source, limb).is_some());
        for (out, ((_, modulus), limb)) in part.words_mut().chunks_exact_mut(degree).zip(kept) {
            out.copy_from_slice(limb);
            if self.0.options.dropped_limbs > 0 {
                let product = |product, q| modulus.mul(product, modulus.reduce(q));
                modulus.mul_scalar_assign(out, self.0.digits.dropped(digit.source).fold(1, product))?;
            }
        }
        Ok(part)
    }

    /// g = (q/q_j)·ω^z modulo q_j; zero modulo every other modulus.
    fn element(&self, digit: &Digit, modulus: &Modulus) -> u64 {
        let quotients = self.0.ring.basis().quotients_mod(modulus.value());
        let quotient = quotients.get(digit.source).copied().unwrap_or(0);
        modulus.mul(quotient, modulus.reduce(1 << digit.shift))
    }
}

impl Gadget<Ring> for RnsGadget {
    fn options(&self) -> &GadgetOptions {
        &self.0.options
    }

    fn digit_count(&self) -> usize {
        self.0.digits.count()
    }

    fn digit_bounds(&self) -> Vec<crate::DigitBound> {
        self.0.digits.bounds()
    }

    fn key_part(
        &self,
        zero: [Poly<Evaluation>; 2],
        source: &Poly<Evaluation>,
        i: usize,
    ) -> Result<[Poly<Evaluation>; 2], RingError> {
        let ring = &self.0.ring;
        zero.iter().chain([source]).try_for_each(|a| ring.check(a))?;
        let digit = self.digit(i)?;
        let [b, a] = zero;
        let [mut b, a] = [self.times_dropped(&b, digit)?, self.times_dropped(&a, digit)?];
        let limb = self.0.digits.limb(digit.source, digit.source).unwrap_or(0);
        let own = ring.basis().moduli().get(digit.source).zip(source.limb(digit.source));
        if let Some(((modulus, secret), out)) =
            own.zip(b.words_mut().chunks_exact_mut(ring.degree()).nth(limb))
        {
            // A multiple of the source secret.
            let mut multiple = Zeroizing::new(Buffer::from_slice(secret));
            modulus.mul_scalar_assign(&mut multiple, self.element(digit, modulus))?;
            modulus.add_assign(out, &multiple)?;
        }
        Ok([b, a])
    }

    fn product(
        &self,
        a: &Poly<Coefficient>,
        key: [&[Poly<Evaluation>]; 2],
    ) -> Result<[Poly<Evaluation>; 2], RingError> {
        product::product(self, a, key)
    }
}

impl fmt::Debug for RnsGadget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RnsGadget").field("ring", &self.0.ring).field("options", &self.0.options).finish()
    }
}
