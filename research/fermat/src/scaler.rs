//! Products and decryption of BFV `[TSKJ20, 2.3; BEHZ16, Alg. 1 to 3]`.

use std::ops::RangeInclusive;

use sunzi_ring::storage::check_plaintext_modulus;
use sunzi_ring::{
    Backend, Coefficient, Decryption, Evaluation, MTilde, Poly, Ring, RingError, ScalerBackend,
    ScalerOptions, ScalingBounds, Side,
};

use crate::conversion::Conversions;
use crate::decryption::Decryptor;
use crate::limbs::Limbs;
use crate::{FermatRing, auxiliary};

/// Scaler of BFV over 2^g − 1: extension to q ∪ B_sk by m̃, scaling by t/q, decryption by γ.
///
/// Each operation of the scaler has one algorithm: of the options, m̃ = 2^8 and a γ are followed, m̃ = 2^16
/// stands for its absence, and the name of another product or decryption means this one.
///
/// [`Scaler::tables`](sunzi_ring::Scaler::tables) returns the type `FermatScaler` for its additional methods.
#[derive(Debug)]
pub struct FermatScaler {
    ring: FermatRing,
    /// Ring of BFV's products, with limbs modulo B_sk.
    wide: FermatRing,
    /// Ring of BFV's products over q and B_sk as its users see it.
    wide_handle: Ring,
    conversions: Conversions,
    decryptor: Decryptor,
    products: u64,
    bounds: ScalingBounds,
}

impl FermatScaler {
    pub(crate) fn new(ring: &FermatRing, t: u64, options: &ScalerOptions) -> Result<Self, RingError> {
        check_plaintext_modulus(t, 60)?;
        let q = ring.fermat_modulus();
        q.check_coprime(t)?;
        if *ring.modulus() <= (2 * t).into() {
            return Err(RingError::out_of_range(
                "modulus",
                format_args!("above 2t = {}", 2 * t),
                ring.modulus(),
            ));
        }
        let m_tilde_bits = if options.m_tilde == MTilde::Bits8 { 8 } else { 16 };
        let gamma = match options.decryption {
            Decryption::Gamma { gamma } => gamma,
            _ => None,
        };
        let decryptor = Decryptor::new(ring, t, gamma)?;
        let (plans, products) = auxiliary::choose(ring, t, m_tilde_bits)?;
        let wide = ring.with_limbs(Limbs::new(plans)?);
        let conversions = Conversions::new(&wide, t, m_tilde_bits)?;
        let k = q.level() as f64;
        let bounds = ScalingBounds {
            overflow: k / f64::from(m_tilde_bits).exp2(),
            scale_error: k,
            decryption_margin: decryptor.margin(),
            switching: None,
        };
        let (ring, wide_handle) = (ring.clone(), Ring::of(wide.clone()));
        Ok(Self { ring, wide, wide_handle, conversions, decryptor, products, bounds })
    }

    /// Computes FastBconv(a, q, {t, γ}), the first step of decryption on |γt·c(s)|_q.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`] for a polynomial of another ring.
    pub fn convert_to_plain(&self, a: &Poly<Coefficient>) -> Result<[Vec<u64>; 2], RingError> {
        self.decryptor.convert(self.ring.residues(a)?)
    }

    /// Computes FastBconv(a, q, B_sk), one limb of n words for each prime of B_sk.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`] for a polynomial of another ring.
    pub fn convert_to_auxiliary(&self, a: &Poly<Coefficient>) -> Result<Vec<u64>, RingError> {
        self.conversions.convert(self.ring.residues(a)?)
    }

    /// Primes of the auxiliary basis B_sk, m_sk last.
    #[must_use]
    pub fn auxiliary_moduli(&self) -> &[u64] {
        self.wide.0.limbs.as_ref().map_or(&[], |limbs| limbs.basis().values())
    }

    fn check_level(&self, level: usize) -> Result<(), RingError> {
        let top = self.ring.level();
        if level == top { Ok(()) } else { Err(RingError::out_of_range("level of a product", top, level)) }
    }
}

impl ScalerBackend for FermatScaler {
    fn levels(&self) -> RangeInclusive<usize> {
        let top = self.ring.level();
        top..=top
    }

    fn wide(&self, level: usize) -> Result<Ring, RingError> {
        self.check_level(level)?;
        Ok(self.wide_handle.clone())
    }

    fn extend(&self, a: &Poly<Evaluation>, _side: Side, level: usize) -> Result<Poly<Evaluation>, RingError> {
        self.check_level(level)?;
        Ok(self.wide.wrap(self.conversions.extend(self.ring.residues(a)?)?))
    }

    fn scale(&self, mut a: Poly<Evaluation>, level: usize) -> Result<Poly<Coefficient>, RingError> {
        self.check_level(level)?;
        let a = std::mem::take(self.wide.residues_mut(&mut a)?);
        Ok(self.ring.wrap(self.conversions.scale(a)?))
    }

    fn decrypt(&self, a: &Poly<Coefficient>) -> Result<Vec<u64>, RingError> {
        self.decryptor.decrypt(self.ring.residues(a)?)
    }

    fn product_capacity(&self) -> u64 {
        self.products
    }

    fn bounds(&self) -> &ScalingBounds {
        &self.bounds
    }
}
