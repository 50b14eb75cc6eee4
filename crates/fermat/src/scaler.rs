//! Products and decryption of BFV `[TSKJ20, 2.3; BEHZ16, Alg. 1 to 3]`.

use std::ops::RangeInclusive;
use std::sync::Arc;

use sunzi_ring::{
    Coefficient, Decryption, Evaluation, MTilde, PolyRing, RingError, Scaler, ScalerOptions, ScalingBounds,
    Side,
};

use crate::conversion::Conversions;
use crate::decryption::Decryptor;
use crate::error::out_of_range;
use crate::limbs::Limbs;
use crate::{FermatPoly, FermatRing, auxiliary};

/// Extension to q ∪ B_sk by m̃, scaling by t/q, decryption by γ.
///
/// There is one way for each: of the options, m̃ = 2^8 and a γ are followed, m̃ = 2^16 stands for its absence, and what names another
/// product or decryption means this one.
#[derive(Clone, Debug)]
pub struct FermatScaler(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    ring: FermatRing,
    /// With limbs modulo B_sk.
    wide: FermatRing,
    conversions: Conversions,
    decryptor: Decryptor,
    products: u64,
    bounds: ScalingBounds,
}

impl FermatScaler {
    pub(crate) fn new(ring: &FermatRing, t: u64, options: &ScalerOptions) -> Result<Self, RingError> {
        if t < 2 || t >> 60 != 0 {
            return Err(out_of_range("plaintext modulus", "2 <= t < 2^60", t));
        }
        let q = ring.fermat_modulus();
        q.check_coprime(t)?;
        if *ring.modulus() <= (2 * t).into() {
            return Err(out_of_range("modulus", format_args!("above 2t = {}", 2 * t), ring.modulus()));
        }
        let m_tilde_bits = if options.m_tilde == MTilde::Bits8 { 8 } else { 16 };
        let gamma = match options.decryption {
            Decryption::Gamma { gamma } => gamma,
            _ => None,
        };
        let decryptor = Decryptor::new(ring, t, gamma)?;
        let (plans, products) = auxiliary::choose(ring, t, m_tilde_bits)?;
        let wide = ring.with_limbs(Limbs::new(plans)?)?;
        let conversions = Conversions::new(&wide, t, m_tilde_bits)?;
        let k = q.level() as f64;
        let bounds = ScalingBounds {
            overflow: k / f64::from(m_tilde_bits).exp2(),
            scale_error: k,
            decryption_margin: decryptor.margin(),
            switching: None,
        };
        Ok(Self(Arc::new(Inner { ring: ring.clone(), wide, conversions, decryptor, products, bounds })))
    }

    /// FastBconv(a, q, {t, γ}): what decryption does to |γt·c(s)|_q first.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`].
    pub fn convert_to_plain(&self, a: &FermatPoly<Coefficient>) -> Result<[Vec<u64>; 2], RingError> {
        self.0.ring.check(a)?;
        self.0.decryptor.convert(a)
    }

    /// FastBconv(a, q, B_sk), one limb of n words for each prime of B_sk.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`].
    pub fn convert_to_auxiliary(&self, a: &FermatPoly<Coefficient>) -> Result<Vec<u64>, RingError> {
        self.0.ring.check(a)?;
        self.0.conversions.convert(a)
    }

    /// The primes of B_sk, m_sk last.
    #[must_use]
    pub fn auxiliary_moduli(&self) -> &[u64] {
        self.0.wide.0.limbs.as_ref().map_or(&[], |limbs| limbs.basis().values())
    }

    fn check_level(&self, level: usize) -> Result<(), RingError> {
        let top = self.0.ring.level();
        if level == top { Ok(()) } else { Err(out_of_range("level of a product", top, level)) }
    }
}

impl Scaler<FermatRing> for FermatScaler {
    fn levels(&self) -> RangeInclusive<usize> {
        let top = self.0.ring.level();
        top..=top
    }

    fn wide(&self, level: usize) -> Result<FermatRing, RingError> {
        self.check_level(level)?;
        Ok(self.0.wide.clone())
    }

    fn extend(
        &self,
        a: &FermatPoly<Evaluation>,
        _side: Side,
        level: usize,
    ) -> Result<FermatPoly<Evaluation>, RingError> {
        self.check_level(level)?;
        self.0.ring.check(a)?;
        self.0.conversions.extend(a)
    }

    fn scale(&self, a: FermatPoly<Evaluation>, level: usize) -> Result<FermatPoly<Coefficient>, RingError> {
        self.check_level(level)?;
        self.0.wide.check(&a)?;
        self.0.conversions.scale(a)
    }

    fn decrypt(&self, a: &FermatPoly<Coefficient>) -> Result<Vec<u64>, RingError> {
        self.0.ring.check(a)?;
        self.0.decryptor.decrypt(a)
    }

    fn product_capacity(&self) -> u64 {
        self.0.products
    }

    fn bounds(&self) -> &ScalingBounds {
        &self.0.bounds
    }
}
