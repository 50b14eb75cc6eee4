//! The ring: that of residues, under another name.

use num_bigint::{BigInt, BigUint};
use rand_core::CryptoRng;
use sunzi_math::RingIndex;

use super::conversion::Arithmetic;
use super::{MultiPrecisionGadget, MultiPrecisionScaler};
use crate::{
    Coefficient, Domain, Evaluation, GadgetOptions, Poly, PolyRing, Ring, RingError, ScalerOptions, factor,
};

/// A [`Ring`] whose scaler and gadget compute with multi-precision integers, as \[BEHZ16\] measures them: BFV over it
/// is FV of [BEHZ16, section 2] with its products by transforms.
///
/// Its polynomials are those of the ring it wraps. Nothing about it takes constant time.
///
/// ```
/// use sunzi_math::primes_with_bits;
/// use sunzi_ring::{MultiPrecisionRing, PolyRing, Scaler, ScalerOptions};
///
/// let m = 2048;
/// let ring = MultiPrecisionRing::new(m, &primes_with_bits(62, m, 2)?)?;
/// let scaler = ring.scaler(17, &ScalerOptions::default())?;
/// let message: Vec<u64> = (0..1024).map(|i| i % 17).collect();
/// assert_eq!(scaler.decrypt(&ring.scale_plaintext(&message, 17)?)?, message);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct MultiPrecisionRing(Ring, Arithmetic);

impl MultiPrecisionRing {
    /// The ring of index m modulo the product of these primes, as [`Ring::new`].
    ///
    /// # Errors
    /// Those of [`Ring::new`].
    pub fn new(m: u64, moduli: &[u64]) -> Result<Self, RingError> {
        Ring::new(m, moduli).map(Self::with_ring)
    }

    /// The ring over the tables of another.
    #[must_use]
    pub const fn with_ring(ring: Ring) -> Self {
        Self(ring, Arithmetic::Words)
    }

    /// The same ring computing with GMP, to compare with.
    #[cfg(feature = "gmp")]
    #[must_use]
    pub fn with_gmp(self) -> Self {
        Self(self.0, Arithmetic::Gmp)
    }

    pub(super) const fn arithmetic(&self) -> Arithmetic {
        self.1
    }

    /// Another ring with the arithmetic of this one.
    pub(super) const fn rewrap(&self, ring: Ring) -> Self {
        Self(ring, self.1)
    }

    /// The ring of residues that this one wraps.
    #[must_use]
    pub const fn residues(&self) -> &Ring {
        &self.0
    }
}

impl PolyRing for MultiPrecisionRing {
    type Poly<D: Domain> = Poly<D>;
    type Scaler = MultiPrecisionScaler;
    type Gadget = MultiPrecisionGadget;

    fn ring_index(&self) -> &RingIndex {
        self.0.ring_index()
    }

    fn modulus(&self) -> &BigUint {
        self.0.modulus()
    }

    fn level(&self) -> usize {
        self.0.level()
    }

    fn is_nested(&self, lower: usize, higher: usize) -> bool {
        self.0.is_nested(lower, higher)
    }

    fn at_level(&self, level: usize) -> Result<Self, RingError> {
        self.0.at_level(level).map(|ring| self.rewrap(ring))
    }

    fn level_of<D: Domain>(&self, a: &Poly<D>) -> Result<usize, RingError> {
        self.0.level_of(a)
    }

    fn restrict<D: Domain>(&self, a: &Poly<D>, level: usize) -> Result<Poly<D>, RingError> {
        self.0.restrict(a, level)
    }

    fn mul_restricted_assign(&self, a: &mut Poly<Evaluation>, b: &Poly<Evaluation>) -> Result<(), RingError> {
        self.0.mul_restricted_assign(a, b)
    }

    fn mod_switch(&self, a: &Poly<Evaluation>, level: usize) -> Result<Poly<Evaluation>, RingError> {
        self.0.mod_switch(a, level)
    }

    fn mod_switch_sum(
        &self,
        a: &Poly<Evaluation>,
        b: &Poly<Coefficient>,
        level: usize,
    ) -> Result<Poly<Evaluation>, RingError> {
        self.0.mod_switch_sum(a, b, level)
    }

    fn divide_by_factor(
        &self,
        a: &Poly<Evaluation>,
        d: u64,
        rest: u64,
    ) -> Result<Poly<Evaluation>, RingError> {
        factor::divide_residues(&self.0, a, d, rest)
    }

    fn scale_up(&self, a: &Poly<Evaluation>) -> Result<Poly<Evaluation>, RingError> {
        self.0.scale_up(a)
    }

    fn zero<D: Domain>(&self) -> Poly<D> {
        self.0.zero()
    }

    fn from_signed(&self, coefficients: &[i64]) -> Result<Poly<Coefficient>, RingError> {
        self.0.from_signed(coefficients)
    }

    fn mod_raise(&self, a: &Poly<Evaluation>) -> Result<Poly<Evaluation>, RingError> {
        self.0.mod_raise(a)
    }

    fn from_signed_wide(&self, coefficients: &[i128]) -> Result<Poly<Coefficient>, RingError> {
        self.0.from_signed_wide(coefficients)
    }

    fn to_floats(&self, a: &Poly<Coefficient>) -> Result<Vec<f64>, RingError> {
        self.0.to_floats(a)
    }

    fn add_integer_assign(&self, a: &mut Poly<Evaluation>, c: &BigInt) -> Result<(), RingError> {
        self.0.add_integer_assign(a, c)
    }

    fn mul_monomial_assign(&self, a: &mut Poly<Evaluation>, exponent: u64) -> Result<(), RingError> {
        self.0.mul_monomial_assign(a, exponent)
    }

    fn from_integers(&self, coefficients: &[BigInt]) -> Result<Poly<Coefficient>, RingError> {
        self.0.from_integers(coefficients)
    }

    fn to_integers(&self, a: &Poly<Coefficient>) -> Result<Vec<BigInt>, RingError> {
        self.0.to_integers(a)
    }

    fn uniform<G: CryptoRng + ?Sized>(&self, rng: &mut G) -> Poly<Evaluation> {
        self.0.uniform(rng)
    }

    fn byte_len<D: Domain>(a: &Poly<D>) -> usize {
        Ring::byte_len(a)
    }

    fn to_evaluation(&self, a: Poly<Coefficient>) -> Result<Poly<Evaluation>, RingError> {
        self.0.to_evaluation(a)
    }

    fn to_coefficient(&self, a: Poly<Evaluation>) -> Result<Poly<Coefficient>, RingError> {
        self.0.to_coefficient(a)
    }

    fn add_assign<D: Domain>(&self, a: &mut Poly<D>, b: &Poly<D>) -> Result<(), RingError> {
        self.0.add_assign(a, b)
    }

    fn sub_assign<D: Domain>(&self, a: &mut Poly<D>, b: &Poly<D>) -> Result<(), RingError> {
        self.0.sub_assign(a, b)
    }

    fn neg_assign<D: Domain>(&self, a: &mut Poly<D>) -> Result<(), RingError> {
        self.0.neg_assign(a)
    }

    fn mul_assign(&self, a: &mut Poly<Evaluation>, b: &Poly<Evaluation>) -> Result<(), RingError> {
        self.0.mul_assign(a, b)
    }

    fn mul_add_assign(
        &self,
        acc: &mut Poly<Evaluation>,
        a: &Poly<Evaluation>,
        b: &Poly<Evaluation>,
    ) -> Result<(), RingError> {
        self.0.mul_add_assign(acc, a, b)
    }

    fn mul_integer_assign<D: Domain>(&self, a: &mut Poly<D>, c: &BigInt) -> Result<(), RingError> {
        self.0.mul_integer_assign(a, c)
    }

    fn automorphism<D: Domain>(&self, a: &Poly<D>, k: u64) -> Result<Poly<D>, RingError> {
        self.0.automorphism(a, k)
    }

    fn scale_plaintext(&self, message: &[u64], t: u64) -> Result<Poly<Coefficient>, RingError> {
        self.0.scale_plaintext(message, t)
    }

    fn scaler(&self, t: u64, options: &ScalerOptions) -> Result<MultiPrecisionScaler, RingError> {
        MultiPrecisionScaler::new(self, t, options)
    }

    fn gadget(&self, options: &GadgetOptions) -> Result<MultiPrecisionGadget, RingError> {
        MultiPrecisionGadget::new(self, options)
    }
}
