//! The dry ring, which stores no residues.

use std::io::BufRead;
use std::sync::Arc;

use num_bigint::{BigInt, BigUint};
use rand_core::CryptoRng;
use sunzi_kernels::IntegerMatrix;
use sunzi_math::{RingIndex, ToRingIndex};

use crate::backend::{check_blocks, check_columns};
use crate::basis::tag_of;
use crate::error::{
    check_automorphism, check_length, check_level, check_message, check_monomial, check_shape,
    supported_index,
};
use crate::ladder::{check_rungs, is_of_prefixes, places};
use crate::packing::rows_len;
use crate::{
    Append, Backend, Coefficient, Evaluation, PackingError, Poly, Representation, Residues, RingError, Shape,
};

/// Words of the error where a dry ring is asked for files, which need residues.
const FILES: &str = "neither write nor read files";
/// Words of the error where a dry ring is asked to decrypt, which needs residues.
pub(super) const NUMBERS: &str = "decrypt nothing";

/// The tag of dry polynomials modulo the given values: unlike the tags of rings that store residues.
pub(crate) fn dry_tag_of(values: &[u64]) -> u64 {
    !tag_of(values)
}

/// The ring R_q of [`Ring`](crate::Ring) with levels, moduli and sizes alone: every polynomial counts as zero.
/// Schemes keep beside polynomials equal levels, scales, bounds on noise and sizes in memory as over `Ring`, at next
/// to no cost: a dry run.
///
/// ```
/// use sunzi_ring::{HollowRing, Ring};
/// use sunzi_math::{DEFAULT_PRIME_BOUND, primes_below};
///
/// let m = 2048;
/// let ring = Ring::of(HollowRing::new(m, &primes_below(DEFAULT_PRIME_BOUND, m, 3)?)?);
/// let a = ring.mod_switch(&ring.zero(), 2)?;
/// assert_eq!((ring.level_of(&a)?, a.byte_len()), (2, 2 * 1024 * 8));
/// # Ok::<(), sunzi_ring::RingError>(())
/// ```
///
/// A dry ring has no numbers to decrypt and nothing to write to files: both are [`RingError::Dry`].
#[derive(Clone, Debug)]
pub struct HollowRing {
    index: Arc<RingIndex>,
    moduli: Arc<[u64]>,
    /// Moduli of each level: their indices, the tag of their polynomials, their product.
    rungs: Arc<[Rung]>,
    level: usize,
    modulus: Arc<BigUint>,
}

#[derive(Clone, Debug)]
struct Rung {
    limbs: Vec<usize>,
    tag: u64,
    modulus: Arc<BigUint>,
}

impl HollowRing {
    /// The dry ring of index m modulo q_1⋯q_k, for moduli that [`Ring::new`](crate::Ring::new) would take.
    ///
    /// # Errors
    /// [`RingError::UnsupportedIndex`]; [`RingError::LengthMismatch`] without moduli.
    pub fn new(m: impl ToRingIndex, moduli: &[u64]) -> Result<Self, RingError> {
        let rungs: Vec<Vec<usize>> = (1..=moduli.len()).map(|level| (0..level).collect()).collect();
        Self::with_rungs(m, moduli, &rungs)
    }

    /// The dry ring with the given rungs or, where there are none, the levels of [`new`](Self::new).
    ///
    /// # Errors
    /// Every error of [`with_rungs`](Self::with_rungs).
    pub fn of_levels(m: impl ToRingIndex, moduli: &[u64], rungs: &[Vec<usize>]) -> Result<Self, RingError> {
        if rungs.is_empty() { Self::new(m, moduli) } else { Self::with_rungs(m, moduli, rungs) }
    }

    /// The dry ring whose levels are the given sets of moduli, as in [`Ring::with_rungs`](crate::Ring::with_rungs).
    ///
    /// # Errors
    /// Every error of [`new`](Self::new); [`RingError::OutOfRange`] for sets that cannot be levels.
    pub fn with_rungs(m: impl ToRingIndex, moduli: &[u64], rungs: &[Vec<usize>]) -> Result<Self, RingError> {
        let index = Arc::new(supported_index(m)?);
        check_rungs(moduli, rungs)?;
        Self::of_rungs(index, moduli, rungs.iter().cloned())
    }

    fn of_rungs(
        index: Arc<RingIndex>,
        moduli: &[u64],
        rungs: impl Iterator<Item = Vec<usize>>,
    ) -> Result<Self, RingError> {
        let rung = |limbs: Vec<usize>| {
            let values: Vec<u64> = limbs.iter().filter_map(|&limb| moduli.get(limb)).copied().collect();
            Rung { tag: dry_tag_of(&values), modulus: Arc::new(values.iter().product()), limbs }
        };
        let rungs: Arc<[Rung]> = rungs.map(rung).collect();
        let none = RingError::LengthMismatch { what: "moduli of a ring (at least)", expected: 1, got: 0 };
        let modulus = Arc::clone(&rungs.last().ok_or(none)?.modulus);
        Ok(Self { index, moduli: moduli.into(), level: rungs.len(), rungs, modulus })
    }

    /// The moduli of the dry ring, in order.
    pub(crate) fn moduli(&self) -> &[u64] {
        &self.moduli
    }

    /// The indices of the moduli of a level.
    pub(crate) fn limbs(&self, level: usize) -> &[usize] {
        self.rung(level).map_or(&[], |rung| &rung.limbs)
    }

    /// Whether every level l has the first l moduli.
    pub(super) fn is_of_prefixes(&self) -> bool {
        is_of_prefixes(self.rungs.iter().map(|rung| &*rung.limbs))
    }

    /// The dry ring with the levels up to this one, and one more level for each of the given moduli.
    pub(crate) fn extended(&self, others: &[u64]) -> Result<Self, RingError> {
        let own = self.limbs(self.level);
        let moduli: Vec<u64> = self.moduli.iter().chain(others).copied().collect();
        let below = self.rungs.iter().take(self.level).map(|rung| rung.limbs.clone());
        let above = (1..=others.len())
            .map(|count| own.iter().copied().chain((self.moduli.len()..).take(count)).collect());
        Self::of_rungs(Arc::clone(&self.index), &moduli, below.chain(above))
    }

    fn rung(&self, level: usize) -> Option<&Rung> {
        self.rungs.get(level.checked_sub(1)?)
    }

    fn shape_at(&self, level: usize) -> Shape {
        Shape { degree: self.degree(), limbs: self.limbs(level).len() }
    }

    fn place(&self, level: usize) -> Residues {
        Residues::hollow(self.shape_at(level), self.rung(level).map_or(0, |rung| rung.tag))
    }

    /// The dry ring at one of its levels.
    pub(crate) fn of_level(&self, level: usize) -> Result<Self, RingError> {
        check_level(level, self.level)?;
        let modulus = self.rung(level).map_or_else(|| Arc::clone(&self.modulus), |r| Arc::clone(&r.modulus));
        Ok(Self { level, modulus, ..self.clone() })
    }

    /// The polynomial of this ring, of which there is only one.
    pub(crate) fn own(&self) -> Residues {
        self.place(self.level)
    }

    /// Whether a polynomial belongs to a level.
    fn is_of_level(&self, level: usize, a: &Residues) -> bool {
        let own = self.place(level);
        (own.shape(), own.tag()) == (a.shape(), a.tag())
    }

    /// The values of the moduli of a level of the dry ring.
    pub(crate) fn values(&self, level: usize) -> Vec<u64> {
        self.limbs(level).iter().filter_map(|&limb| self.moduli.get(limb)).copied().collect()
    }

    fn check_both(&self, a: &Residues, b: &Residues) -> Result<(), RingError> {
        self.check(a)?;
        self.check(b)
    }

    /// Checks that level `lower` exists and is nested in level `higher`.
    fn check_nested(&self, lower: usize, higher: usize) -> Result<(), RingError> {
        check_level(lower, higher)?;
        if places(self.limbs(lower), self.limbs(higher)).iter().all(Option::is_some) {
            return Ok(());
        }
        Err(RingError::NotNested { level: lower, within: higher })
    }
}

impl Backend for HollowRing {
    fn stores_residues(&self) -> bool {
        false
    }

    fn ring_index(&self) -> &RingIndex {
        &self.index
    }

    fn modulus(&self) -> &BigUint {
        &self.modulus
    }

    fn level(&self) -> usize {
        self.level
    }

    fn is_nested(&self, lower: usize, higher: usize) -> bool {
        higher <= self.level && self.check_nested(lower, higher).is_ok()
    }

    fn at_level(&self, level: usize) -> Result<Arc<dyn Backend>, RingError> {
        Ok(Arc::new(self.of_level(level)?))
    }

    fn check(&self, a: &Residues) -> Result<(), RingError> {
        let own = self.place(self.level);
        check_shape(own.shape(), a.shape())?;
        if own.tag() == a.tag() { Ok(()) } else { Err(RingError::OtherModulus { shape: own.shape() }) }
    }

    fn level_of(&self, a: &Residues) -> Result<usize, RingError> {
        let own = |level: &usize| self.is_of_level(*level, a);
        match (1..=self.level).rev().find(own) {
            Some(level) => Ok(level),
            None if (1..=self.level).any(|level| self.shape_at(level) == a.shape()) => {
                Err(RingError::OtherModulus { shape: a.shape() })
            }
            None => Err(RingError::ShapeMismatch { expected: self.shape_at(self.level), got: a.shape() }),
        }
    }

    fn restrict(&self, a: &Residues, level: usize) -> Result<Residues, RingError> {
        self.check_nested(level, self.level_of(a)?)?;
        Ok(self.place(level))
    }

    fn matrix_product(
        &self,
        matrix: &IntegerMatrix,
        polys: &[&Residues],
        level: usize,
        _: Representation,
    ) -> Result<Vec<Residues>, RingError> {
        check_columns(matrix, polys.len())?;
        for poly in polys {
            self.check_nested(level, self.level_of(poly)?)?;
        }
        check_level(level, self.level)?;
        Ok((0..matrix.rows()).map(|_| self.place(level)).collect())
    }

    fn block_products(
        &self,
        size: usize,
        left: &[Vec<&Poly<Evaluation>>],
        right: &[Vec<&Poly<Evaluation>>],
        level: usize,
    ) -> Result<Vec<Vec<Poly<Evaluation>>>, RingError> {
        check_blocks(&self.index, size, [left, right])?;
        for poly in left.iter().chain(right).flatten() {
            self.check_nested(level, self.level_of(poly)?)?;
        }
        check_level(level, self.level)?;
        let products = || (0..size).map(|_| self.place(level).into()).collect();
        Ok((0..left.len() * right.len()).map(|_| products()).collect())
    }

    fn mod_switch(&self, a: &Poly<Evaluation>, level: usize) -> Result<Poly<Evaluation>, RingError> {
        check_level(level, self.level_of(a)?)?;
        Ok(self.place(level).into())
    }

    fn mod_switch_sum(
        &self,
        a: &Poly<Evaluation>,
        b: &Poly<Coefficient>,
        level: usize,
    ) -> Result<Poly<Evaluation>, RingError> {
        self.of_level(self.level_of(a)?)?.check(b)?;
        self.mod_switch(a, level)
    }

    fn masked(
        &self,
        parts: [&Poly<Evaluation>; 2],
        message: Option<&Poly<Coefficient>>,
        level: usize,
        _: &mut dyn CryptoRng,
    ) -> Result<[Poly<Evaluation>; 2], RingError> {
        parts.into_iter().try_for_each(|part| self.check(part))?;
        message.map_or(Ok(()), |message| self.check(message))?;
        check_level(level, self.level)?;
        Ok([self.place(level).into(), self.place(level).into()])
    }

    fn divide_by_factor(
        &self,
        a: &Poly<Evaluation>,
        _: u64,
        rest: u64,
    ) -> Result<Poly<Evaluation>, RingError> {
        let level = self.level_of(a)?;
        let lower = if rest == 1 { level.saturating_sub(1) } else { level };
        check_level(lower, level)?;
        Ok(self.place(lower).into())
    }

    fn scale_up(&self, a: &Poly<Evaluation>) -> Result<Poly<Evaluation>, RingError> {
        self.check_nested(self.level_of(a)?, self.level)?;
        Ok(self.own().into())
    }

    fn mod_raise(&self, a: &Poly<Evaluation>) -> Result<Poly<Evaluation>, RingError> {
        self.level_of(a)?;
        Ok(self.own().into())
    }

    fn zero(&self, _: Representation) -> Residues {
        self.place(self.level)
    }

    fn from_signed(&self, coefficients: &[i64]) -> Result<Poly<Coefficient>, RingError> {
        check_length("coefficients", self.degree(), coefficients.len())?;
        Ok(self.own().into())
    }

    fn from_signed_wide(&self, coefficients: &[i128]) -> Result<Poly<Coefficient>, RingError> {
        check_length("coefficients", self.degree(), coefficients.len())?;
        Ok(self.own().into())
    }

    fn from_integers(&self, coefficients: &[BigInt]) -> Result<Poly<Coefficient>, RingError> {
        check_length("coefficients", self.degree(), coefficients.len())?;
        Ok(self.own().into())
    }

    fn to_integers(&self, a: &Poly<Coefficient>) -> Result<Vec<BigInt>, RingError> {
        self.check(a)?;
        Err(RingError::Dry(NUMBERS))
    }

    fn error(&self, _: &mut dyn CryptoRng) -> Result<Poly<Coefficient>, RingError> {
        Ok(self.own().into())
    }

    fn uniform(&self, _: &mut dyn CryptoRng) -> Poly<Evaluation> {
        self.own().into()
    }

    fn to_evaluation(&self, a: Poly<Coefficient>) -> Result<Poly<Evaluation>, RingError> {
        self.check(&a)?;
        Ok(a.relabel())
    }

    fn to_coefficient(&self, a: Poly<Evaluation>) -> Result<Poly<Coefficient>, RingError> {
        self.check(&a)?;
        Ok(a.relabel())
    }

    fn add_assign(&self, a: &mut Residues, b: &Residues) -> Result<(), RingError> {
        self.check_both(a, b)
    }

    fn sub_assign(&self, a: &mut Residues, b: &Residues) -> Result<(), RingError> {
        self.check_both(a, b)
    }

    fn neg_assign(&self, a: &mut Residues) -> Result<(), RingError> {
        self.check(a)
    }

    fn mul_assign(&self, a: &mut Poly<Evaluation>, b: &Poly<Evaluation>) -> Result<(), RingError> {
        self.check_both(a, b)
    }

    fn mul_integer_assign(&self, a: &mut Residues, _: &BigInt) -> Result<(), RingError> {
        self.check(a)
    }

    fn add_integer_assign(&self, a: &mut Poly<Evaluation>, _: &BigInt) -> Result<(), RingError> {
        self.check(a)
    }

    fn mul_monomial_assign(&self, a: &mut Poly<Evaluation>, exponent: u64) -> Result<(), RingError> {
        check_monomial(exponent, &self.index)?;
        self.check(a)
    }

    fn automorphism(&self, a: &Residues, _: Representation, k: u64) -> Result<Residues, RingError> {
        self.check(a)?;
        check_automorphism(k, &self.index)?;
        Ok(a.clone())
    }

    fn scale_plaintext(&self, message: &[u64], t: u64) -> Result<Poly<Coefficient>, RingError> {
        check_message(message, t, self.degree())?;
        Ok(self.own().into())
    }

    fn packed_len(&self) -> usize {
        rows_len(self.degree(), &self.values(self.level))
    }

    fn pack(&self, _: &Residues, _: Representation, _: &mut dyn Append) -> Result<(), PackingError> {
        Err(RingError::Dry(FILES).into())
    }

    fn unpack(&self, _: Representation, _: &mut dyn BufRead) -> Result<Residues, PackingError> {
        Err(RingError::Dry(FILES).into())
    }
}
