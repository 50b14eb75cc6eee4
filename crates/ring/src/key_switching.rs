//! The seam's part for key switching: digits, their products with keys, and the way down.

use std::any::Any;
use std::borrow::Cow;
use std::fmt::Debug;
use std::ops::Deref;
use std::sync::Arc;

use zeroize::Zeroize;

use crate::error::{check_level, no_such_digit};
use crate::multiplier::{Pairs, Turn, sums_of_whole_turns};
use crate::opaque::Opaque;
use crate::{Coefficient, Evaluation, GadgetOptions, Poly, Ring, RingError};

/// The digits of a polynomial, ready for products with several keys.
#[derive(Clone)]
pub struct Digits(#[doc(hidden)] pub Opaque);

/// A polynomial of a key as it is kept, for products with digits.
#[derive(Clone)]
pub struct KeyPart(#[doc(hidden)] pub Opaque);

/// A polynomial of the key ring as it is kept to multiply rotated ciphertexts of a level and of those nested in it.
#[derive(Clone)]
pub struct Multiplier(#[doc(hidden)] pub Opaque);

impl KeyPart {
    /// Bytes in memory.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.0.byte_len()
    }
}

impl Multiplier {
    /// Bytes in memory.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.0.byte_len()
    }
}

impl Zeroize for Multiplier {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}

/// Tables of key switching at one level; cheap to clone. What they do is listed at [`GadgetBackend`].
#[derive(Clone, Debug)]
pub struct Gadget(Arc<dyn GadgetBackend>);

impl Gadget {
    /// The tables of a storage.
    #[must_use]
    pub fn new(tables: impl GadgetBackend) -> Self {
        Self(Arc::new(tables))
    }

    /// The tables, if they are of this storage.
    #[must_use]
    pub fn tables<G: GadgetBackend>(&self) -> Option<&G> {
        let tables: &dyn Any = &*self.0;
        tables.downcast_ref()
    }
}

impl Deref for Gadget {
    type Target = dyn GadgetBackend;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

/// Digits for key switching over a ring R: ⟨decompose(c), g⟩ ≈ P·c (mod Q_l·P) for a vector g.
///
/// A gadget stands at a level l and has one for every lower level, which the same keys serve: g_j is P modulo the
/// moduli of digit j and 0 modulo all others, whatever the level [KPZ21, Remark B.3]. Secrets and keys live in the
/// [key ring](Self::key_ring) R modulo Q_l·P, whose first l levels are those of the ciphertext ring.
///
/// A key holds encryptions of g_i·s′ that are multiples of f_i, a divisor of g_i and q: 1 unless limbs are dropped
/// [BEHZ16, B.2], when f_i is the product of their moduli. An encryption of (g_i/f_i)·s′ times f_i is a sample
/// modulo q/f_i with the error of one modulo q: no easier to attack than a sample modulo q.
pub trait GadgetBackend: Any + Debug + Send + Sync {
    /// What it was made with: keys and ciphertexts of one computation must agree on it.
    fn options(&self) -> &GadgetOptions;
    /// R modulo Q_l·P: the moduli of the ring at this level, then the special ones.
    fn key_ring(&self) -> &Ring;
    /// l.
    fn level(&self) -> usize;
    /// The gadget of a level up to that of the ring it was made for; tables are made at first use.
    ///
    /// # Errors
    /// [`RingError::NoSuchLevel`].
    fn at_level(&self, level: usize) -> Result<Gadget, RingError>;
    /// log2 P; 0 without special moduli.
    fn log2_special(&self) -> f64;
    /// a, an element of the key ring of this level or of a higher one, in that of this level.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`].
    fn restrict_key(&self, a: &Poly<Evaluation>) -> Result<Poly<Evaluation>, RingError>;
    /// Digits a polynomial of this level has, and polynomials each half of a key for this level.
    fn digit_count(&self) -> usize;
    /// Bounds on the coefficients of f_i·digit_i, which multiply the i-th error of a key, for every i.
    fn digit_bounds(&self) -> Vec<DigitBound>;
    /// Upper bound on log2 of the coefficients of ⟨decompose(c), g⟩ − P·c, which multiply s′: −∞ where they are zero.
    fn log2_truncation(&self) -> f64 {
        f64::NEG_INFINITY
    }
    /// The i-th polynomials (f_i·b + g_i·s′, f_i·a) of a key, for an encryption (b, a) of zero and s′ of the key ring:
    /// without their zero limbs, hence not of the key ring where limbs are dropped.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`]; [`RingError::OutOfRange`] for `i` not below `digit_count`, and for dropped limbs
    /// below the highest level.
    fn key_part(
        &self,
        zero: [Poly<Evaluation>; 2],
        source: &Poly<Evaluation>,
        i: usize,
    ) -> Result<[Poly<Evaluation>; 2], RingError>;
    /// The ring that the i-th polynomials of a key are of: the key ring, unless limbs are dropped.
    ///
    /// # Errors
    /// [`RingError::OutOfRange`] for `i` not below `digit_count`.
    fn part_ring(&self, i: usize) -> Result<Ring, RingError> {
        if i < self.digit_count() {
            Ok(self.key_ring().clone())
        } else {
            Err(no_such_digit(self.digit_count(), i))
        }
    }
    /// f_i·a, the second of the i-th polynomials of a key, for a of the key ring.
    ///
    /// # Errors
    /// As [`key_part`](Self::key_part).
    fn uniform_part(&self, a: Poly<Evaluation>, i: usize) -> Result<Poly<Evaluation>, RingError> {
        let zero = self.key_ring().zero();
        let [_, a] = self.key_part([zero.clone(), a], &zero, i)?;
        Ok(a)
    }
    /// Keeps the i-th polynomial of a half of a key.
    ///
    /// # Errors
    /// As [`part_ring`](Self::part_ring); [`RingError::ShapeMismatch`] or [`RingError::OtherModulus`] for one of another ring.
    fn keep(&self, part: Poly<Evaluation>, i: usize) -> Result<KeyPart, RingError>;
    /// The i-th polynomial of a half of a key, which was kept.
    ///
    /// # Errors
    /// As [`keep`](Self::keep).
    fn kept(&self, part: &KeyPart, i: usize) -> Result<Poly<Evaluation>, RingError>;
    /// Bytes that a key for this level takes in memory.
    ///
    /// # Errors
    /// As [`part_ring`](Self::part_ring).
    fn key_bytes(&self) -> Result<usize, RingError> {
        let part = |i| Ok(self.keep(self.part_ring(i)?.zero(), i)?.byte_len());
        Ok(2 * (0..self.digit_count()).map(part).sum::<Result<usize, RingError>>()?)
    }
    /// The digits of a, of this level.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`].
    fn decompose(&self, a: &Poly<Evaluation>) -> Result<Digits, RingError>;
    /// ⟨digits, key_0⟩ and ⟨digits, key_1⟩ in the key ring, for the halves of a key of this level or a higher one.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`]; [`RingError::LengthMismatch`] when a half lacks polynomials.
    fn product(&self, digits: &Digits, key: [&[KeyPart]; 2]) -> Result<[Poly<Evaluation>; 2], RingError>;
    /// ⌊a·Q_j/(Q_l·P)⌉ of level j ≤ l for a in the key ring: the way back, and any modulus switch with it.
    ///
    /// # Errors
    /// As [`Backend::mod_switch`](crate::Backend::mod_switch).
    fn mod_down(&self, a: &Poly<Evaluation>, level: usize) -> Result<Poly<Evaluation>, RingError> {
        check_level(level, self.level())?;
        self.key_ring().mod_switch(a, level)
    }
    /// The same for several.
    ///
    /// # Errors
    /// As [`mod_down`](Self::mod_down).
    fn mod_down_all(
        &self,
        polys: &[&Poly<Evaluation>],
        level: usize,
    ) -> Result<Vec<Poly<Evaluation>>, RingError> {
        check_level(level, self.level())?;
        self.key_ring().mod_switch_all(polys, level)
    }
    /// One key switch at once: c_0 + c·key_0/P and c_1 + c·key_1/P, switched to modulus Q_j with one rounding, for c_0, c_1, c of this
    /// level l ≥ j; then X → X^k. What is not given is 0.
    ///
    /// # Errors
    /// As the steps it is made of.
    fn switch(
        &self,
        c: &Poly<Evaluation>,
        rest: [Option<&Poly<Evaluation>>; 2],
        key: [&[KeyPart]; 2],
        level: usize,
        exponent: u64,
    ) -> Result<[Poly<Evaluation>; 2], RingError> {
        self.switch_digits(&self.decompose(c)?, rest, key, level, exponent)
    }
    /// [`switch`](Self::switch) for the digits of c, which may meet any number of keys.
    ///
    /// # Errors
    /// As the steps it is made of.
    fn switch_digits(
        &self,
        digits: &Digits,
        rest: [Option<&Poly<Evaluation>>; 2],
        key: [&[KeyPart]; 2],
        level: usize,
        exponent: u64,
    ) -> Result<[Poly<Evaluation>; 2], RingError> {
        let ring = self.key_ring().at_level(level)?;
        let [first, second] = self.product(digits, key)?;
        let down = |mut half: Poly<Evaluation>, rest: Option<&Poly<Evaluation>>| {
            if let Some(rest) = rest {
                self.key_ring().add_assign(&mut half, &self.key_ring().scale_up(rest)?)?;
            }
            let half = self.mod_down(&half, level)?;
            if exponent == 1 { Ok(half) } else { ring.automorphism(&half, exponent) }
        };
        let [c0, c1] = rest;
        Ok([down(first, c0)?, down(second, c1)?])
    }
    /// A key switch without the way down, for sums that go down together: (P·c_0, 0) + ⟨decompose(c), key⟩ in the key ring,
    /// then X → X^k. `rest` is c_0, of this level, or P·c_0, or whatever else is to be added, of the key ring.
    ///
    /// # Errors
    /// As the steps it is made of.
    fn switch_extended(
        &self,
        c: &Poly<Evaluation>,
        rest: Option<&Poly<Evaluation>>,
        key: [&[KeyPart]; 2],
        exponent: u64,
    ) -> Result<[Poly<Evaluation>; 2], RingError> {
        self.switch_digits_extended(&self.decompose(c)?, rest, key, exponent)
    }
    /// [`switch_extended`](Self::switch_extended) for the digits of c.
    ///
    /// # Errors
    /// As the steps it is made of.
    fn switch_digits_extended(
        &self,
        digits: &Digits,
        rest: Option<&Poly<Evaluation>>,
        key: [&[KeyPart]; 2],
        exponent: u64,
    ) -> Result<[Poly<Evaluation>; 2], RingError> {
        let ring = self.key_ring();
        let [mut first, second] = self.product(digits, key)?;
        if let Some(rest) = rest {
            ring.add_assign(&mut first, &ring.scale_up(rest)?)?;
        }
        if exponent == 1 {
            return Ok([first, second]);
        }
        Ok([ring.automorphism(&first, exponent)?, ring.automorphism(&second, exponent)?])
    }
    /// Keeps a polynomial of the key ring.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`] or [`RingError::OtherModulus`] for one of another ring.
    fn multiplier(&self, a: Poly<Evaluation>) -> Result<Multiplier, RingError>;
    /// The polynomial that was kept.
    ///
    /// # Errors
    /// [`RingError::OtherStorage`] for one that another storage keeps.
    fn multiplied<'a>(&self, a: &'a Multiplier) -> Result<Cow<'a, Poly<Evaluation>>, RingError>;
    /// Bytes that one in X^`gap` will take at most, for a power of two.
    fn expected_multiplier_bytes(&self, _gap: usize) -> usize {
        self.key_ring().zero::<Evaluation>().byte_len()
    }
    /// For every list of terms (i, m_i) the pair Σ m_i·a_i, Σ m_i·b_i in the key ring over turns (a_i, b_i) of one ciphertext (c_0, c_1) of
    /// this level: (P·c_0, 0) + ⟨digits of c_1, key_i⟩ at X^k_i, or P·(c_0, c_1). Multipliers are those of one gadget.
    ///
    /// # Errors
    /// As [`switch_digits_extended`](Self::switch_digits_extended); [`RingError::OtherModulus`] for multipliers of another ring, or of a
    /// level that this one is not nested in; [`RingError::LengthMismatch`] for an index of no turn.
    fn sums_of_turns(
        &self,
        ciphertext: [&Poly<Evaluation>; 2],
        turns: &[Turn<'_>],
        lists: &[Vec<(usize, &Multiplier)>],
    ) -> Result<Pairs, RingError> {
        sums_of_whole_turns(self, ciphertext, turns, lists)
    }
    /// [`switch`](Self::switch) of (c_0, c_1, c) in coefficient form at this level: no transform is done twice.
    ///
    /// # Errors
    /// As the steps it is made of.
    fn switch_coefficients(
        &self,
        parts: [Poly<Coefficient>; 3],
        key: [&[KeyPart]; 2],
    ) -> Result<[Poly<Evaluation>; 2], RingError> {
        let ring = self.key_ring().at_level(self.level())?;
        let [c0, c1, c] = parts;
        let [c0, c1, c] = [ring.to_evaluation(c0)?, ring.to_evaluation(c1)?, ring.to_evaluation(c)?];
        self.switch(&c, [Some(&c0), Some(&c1)], key, self.level(), 1)
    }
}

/// How large a digit can be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DigitBound {
    /// log2 of the largest absolute value.
    pub log2_bound: f64,
    /// log2 of the largest absolute value of the mean for uniform c; −∞ for 0.
    pub log2_mean: f64,
}
