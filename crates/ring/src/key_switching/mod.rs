//! Key switching: digits, their inner products with keys, and the division by P.
//!
//! [`Gadget`] is what other layers use and [`GadgetBackend`] what a storage implements. Residues in words:
//!
//! | file | step |
//! |---|---|
//! | `gadget.rs`, `tables.rs` | the RNS gadget and its keys; tables of every level |
//! | `digits.rs`, `grouping.rs` | which digits there are |
//! | `lift.rs` | tables of a digit modulo every target |
//! | `packed_key.rs` | residues of keys in 6 bytes |
//! | `inner_product.rs` | digits, their transforms, inner products with a key |
//! | `mod_down.rs` | division by P, and the automorphism |
//! | `rotation_sums.rs`, `multiplier.rs` | sums of products with rotated ciphertexts |
//!
//! `dry.rs` has the bounds alone, for dry rings.

mod digits;
mod dry;
mod gadget;
mod grouping;
mod inner_product;
mod lift;
mod mod_down;
mod multiplier;
mod packed_key;
mod rotation_sums;
mod tables;

pub use digits::{RnsDigits, digits_of};
pub use dry::HollowGadget;
pub use grouping::group_moduli;
pub use inner_product::RnsDecomposition;
pub use multiplier::{Pairs, RnsMultiplier, Rotation};
pub use packed_key::KeyPoly;
pub use tables::RnsGadget;

use std::any::Any;
use std::borrow::Cow;
use std::fmt::Debug;
use std::ops::Deref;
use std::sync::Arc;

use zeroize::Zeroize;

use crate::error::{check_level, no_such_digit};
use crate::opaque::Opaque;
use crate::{Coefficient, Evaluation, GadgetOptions, Poly, Ring, RingError};

/// The digits of a polynomial, ready for products with several keys.
#[derive(Clone)]
pub struct Digits(#[doc(hidden)] pub Opaque);

/// A packed polynomial of a key, for products with digits.
#[derive(Clone)]
pub struct KeyPart(#[doc(hidden)] pub Opaque);

/// A polynomial of the key ring, packed to multiply rotated ciphertexts of a level and of those nested in it.
#[derive(Clone)]
pub struct Multiplier(#[doc(hidden)] pub Opaque);

/// The polynomial c that a key switch cuts into digits, of the level of its gadget.
#[derive(Clone, Copy)]
pub enum SwitchInput<'a> {
    /// Values of c.
    Values(&'a Poly<Evaluation>),
    /// Coefficients of c, as scaling leaves them.
    Coefficients(&'a Poly<Coefficient>),
    /// Digits of c, which may meet any number of keys.
    Digits(&'a Digits),
}

/// Polynomials c_0 and c_1 that a key switch adds to its halves, of the level of its gadget.
#[derive(Clone, Copy)]
pub enum Addends<'a> {
    /// Values; what is not given is 0.
    Values([Option<&'a Poly<Evaluation>>; 2]),
    /// Coefficients, whose transforms are shared with those of the division by P.
    Coefficients([&'a Poly<Coefficient>; 2]),
}

impl Addends<'_> {
    /// Zeros.
    pub const NONE: Self = Self::Values([None, None]);
}

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
    /// Packs the i-th polynomial of a half of a key.
    ///
    /// # Errors
    /// As [`part_ring`](Self::part_ring); [`RingError::ShapeMismatch`] or [`RingError::OtherModulus`] for one of another ring.
    fn pack_part(&self, part: Poly<Evaluation>, i: usize) -> Result<KeyPart, RingError> {
        self.part_ring(i)?.check(&part)?;
        Ok(KeyPart(Opaque::new(part)))
    }
    /// Unpacks the i-th polynomial of a half of a key.
    ///
    /// # Errors
    /// As [`pack_part`](Self::pack_part).
    fn unpack_part(&self, part: &KeyPart, i: usize) -> Result<Poly<Evaluation>, RingError> {
        let (ring, part) = (self.part_ring(i)?, part.0.get::<Poly<Evaluation>>()?);
        ring.check(part)?;
        Ok(part.clone())
    }
    /// Bytes that a key for this level takes in memory.
    ///
    /// # Errors
    /// As [`part_ring`](Self::part_ring).
    fn key_bytes(&self) -> Result<usize, RingError> {
        let part = |i| Ok(self.pack_part(self.part_ring(i)?.zero(), i)?.byte_len());
        Ok(2 * (0..self.digit_count()).map(part).sum::<Result<usize, RingError>>()?)
    }
    /// The digits of a, of this level.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`].
    fn decompose(&self, a: &Poly<Evaluation>) -> Result<Digits, RingError>;
    /// The digits of the polynomial with these coefficients.
    ///
    /// # Errors
    /// As [`decompose`](Self::decompose).
    fn decompose_coefficients(&self, a: &Poly<Coefficient>) -> Result<Digits, RingError> {
        self.decompose(&self.key_ring().at_level(self.level())?.to_evaluation(a.clone())?)
    }
    /// ⟨digits, key_0⟩ and ⟨digits, key_1⟩ in the key ring, for the halves of a key of this level or a higher one.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`]; [`RingError::LengthMismatch`] when a half lacks polynomials.
    fn product(&self, digits: &Digits, key: [&[KeyPart]; 2]) -> Result<[Poly<Evaluation>; 2], RingError>;
    /// ⌊a·Q_j/(Q_l·P)⌉ of level j ≤ l for a in the key ring: the division by P, and any modulus switch with it.
    ///
    /// # Errors
    /// As [`Backend::mod_switch`](crate::Backend::mod_switch).
    fn mod_down(&self, a: &Poly<Evaluation>, level: usize) -> Result<Poly<Evaluation>, RingError> {
        check_level(level, self.level())?;
        self.key_ring().mod_switch(a, level)
    }
    /// [`mod_down`](Self::mod_down) of several polynomials.
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
    /// level l ≥ j; then X → X^k.
    ///
    /// # Errors
    /// As the steps it is made of.
    fn switch(
        &self,
        input: SwitchInput<'_>,
        added: Addends<'_>,
        key: [&[KeyPart]; 2],
        level: usize,
        exponent: u64,
    ) -> Result<[Poly<Evaluation>; 2], RingError> {
        let ring = self.key_ring();
        let [first, second] = products(self, input, key)?;
        let values = |a: &Poly<Coefficient>| ring.at_level(self.level())?.to_evaluation(a.clone());
        let [c0, c1] = match added {
            Addends::Values(added) => added.map(|a| a.map(Cow::Borrowed)),
            Addends::Coefficients([a, b]) => [values(a)?, values(b)?].map(|a| Some(Cow::Owned(a))),
        };
        let finish = |mut half: Poly<Evaluation>, added: Option<Cow<'_, Poly<Evaluation>>>| {
            add_multiple(ring, &mut half, added.as_deref())?;
            if level < ring.level() {
                half = self.mod_down(&half, level)?;
            }
            if exponent == 1 { Ok(half) } else { ring.at_level(level)?.automorphism(&half, exponent) }
        };
        Ok([finish(first, c0)?, finish(second, c1)?])
    }
    /// A key switch without the division by P, for sums that are divided together: (P·c_0, 0) + ⟨decompose(c), key⟩ in the key ring,
    /// then X → X^k. `added` is c_0, of this level, or P·c_0, or whatever else is to be added, of the key ring.
    ///
    /// # Errors
    /// As the steps it is made of.
    fn switch_extended(
        &self,
        input: SwitchInput<'_>,
        added: Option<&Poly<Evaluation>>,
        key: [&[KeyPart]; 2],
        exponent: u64,
    ) -> Result<[Poly<Evaluation>; 2], RingError> {
        let ring = self.key_ring();
        let [mut first, second] = products(self, input, key)?;
        add_multiple(ring, &mut first, added)?;
        if exponent == 1 {
            return Ok([first, second]);
        }
        Ok([ring.automorphism(&first, exponent)?, ring.automorphism(&second, exponent)?])
    }
    /// Packs a polynomial of the key ring.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`] or [`RingError::OtherModulus`] for one of another ring.
    fn multiplier(&self, a: Poly<Evaluation>) -> Result<Multiplier, RingError> {
        Ok(Multiplier(Opaque::new(self.restrict_key(&a)?)))
    }
    /// The polynomial of a multiplier of this level or of a higher one, in the key ring.
    ///
    /// # Errors
    /// As [`restrict_key`](Self::restrict_key); [`RingError::OtherStorage`] for one that another storage packed.
    fn multiplied(&self, a: &Multiplier) -> Result<Poly<Evaluation>, RingError> {
        self.restrict_key(a.0.get::<Poly<Evaluation>>()?)
    }
    /// Bytes that one in X^`gap` will take at most, for a power of two.
    fn expected_multiplier_bytes(&self, _gap: usize) -> usize {
        self.key_ring().zero::<Evaluation>().byte_len()
    }
    /// For every list of terms (i, m_i) the pair Σ m_i·a_i, Σ m_i·b_i in the key ring over rotations (a_i, b_i) of one ciphertext (c_0, c_1) of
    /// this level: (P·c_0, 0) + ⟨digits of c_1, key_i⟩ at X^k_i, or P·(c_0, c_1). Multipliers are those of one gadget.
    ///
    /// # Errors
    /// As [`switch_extended`](Self::switch_extended); [`RingError::OtherModulus`] for multipliers of another ring, or of a
    /// level that this one is not nested in; [`RingError::LengthMismatch`] for an index of no rotation.
    fn sums_of_rotations(
        &self,
        ciphertext: [&Poly<Evaluation>; 2],
        rotations: &[Rotation<'_>],
        lists: &[Vec<(usize, &Multiplier)>],
    ) -> Result<Pairs, RingError> {
        multiplier::sums_of_whole_rotations(self, ciphertext, rotations, lists)
    }
}

/// ⟨digits, key⟩ for both halves of a key.
fn products<G: GadgetBackend + ?Sized>(
    gadget: &G,
    input: SwitchInput<'_>,
    key: [&[KeyPart]; 2],
) -> Result<[Poly<Evaluation>; 2], RingError> {
    match input {
        SwitchInput::Values(c) => gadget.product(&gadget.decompose(c)?, key),
        SwitchInput::Coefficients(c) => gadget.product(&gadget.decompose_coefficients(c)?, key),
        SwitchInput::Digits(digits) => gadget.product(digits, key),
    }
}

/// Adds P·a to an element of the key ring for a of a lower level, and a itself for one of the key ring.
fn add_multiple(
    ring: &Ring,
    half: &mut Poly<Evaluation>,
    a: Option<&Poly<Evaluation>>,
) -> Result<(), RingError> {
    match a {
        None => Ok(()),
        Some(a) if ring.level_of(a)? == ring.level() => ring.add_assign(half, a),
        Some(a) => ring.add_assign(half, &ring.scale_up(a)?),
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
