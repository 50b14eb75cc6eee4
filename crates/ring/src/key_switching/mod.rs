//! Key switching: digits, their inner products with keys, and the division by P.
//!
//! [`Gadget`] is the interface for other layers, [`GadgetBackend`] the trait that a storage implements. Files for
//! residues in words:
//!
//! | file | step |
//! |---|---|
//! | `gadget.rs`, `tables.rs` | the RNS gadget and its keys; tables of every level |
//! | `digits.rs`, `grouping.rs` | the digits of a basis |
//! | `bounds.rs` | bounds on digits |
//! | `merging.rs` | fewer, larger digits below the highest level |
//! | `switch_cost.rs` | what a key switch costs, counted |
//! | `lift.rs` | tables of a digit modulo every target |
//! | `packed_key.rs` | residues of keys in 6 bytes |
//! | `inner_product.rs` | digits, their transforms, inner products with a key |
//! | `limbs.rs` | limbs of a key switch, block by block |
//! | `mod_down.rs` | division by P, and the automorphism |
//! | `rotation_sums.rs`, `multiplier.rs` | sums of products with rotated ciphertexts |
//! | `turns.rs` | sums of products of rotated polynomials with keys, one digit each |
//!
//! `dry.rs` has the bounds alone, for dry rings.

mod bounds;
mod digits;
mod dry;
mod gadget;
mod grouping;
mod inner_product;
mod lift;
mod limbs;
mod merging;
mod mod_down;
mod multiplier;
mod packed_key;
mod packed_sum;
mod rotation_sums;
pub mod switch_cost;
mod tables;
mod turns;

pub use digits::{RnsDigits, digits_of};
pub use dry::HollowGadget;
pub use grouping::group_moduli;
pub use inner_product::RnsDecomposition;
pub use merging::Merging;
pub use multiplier::{Pairs, RnsMultiplier, Rotation};
pub use packed_key::KeyPoly;
pub use tables::RnsGadget;

use std::any::Any;
use std::borrow::Cow;
use std::fmt::Debug;
use std::ops::{Deref, Range};
use std::sync::Arc;

use zeroize::Zeroize;

use crate::error::{check_level, no_such_digit};
use crate::opaque::{Content, Opaque};
use crate::{Coefficient, Evaluation, GadgetOptions, PackedPoly, Poly, Ring, RingError};

/// The digits of a polynomial, ready for products with several keys.
#[derive(Clone)]
pub struct Digits(#[doc(hidden)] pub Opaque);

/// A polynomial of the key ring, packed to multiply rotated ciphertexts of a level and of levels nested in it.
#[derive(Clone)]
pub struct Multiplier(#[doc(hidden)] pub Opaque);

/// The polynomial c that a key switch cuts into digits; it has the level of the gadget.
#[derive(Clone, Copy)]
pub enum SwitchInput<'a> {
    /// Values of c at the roots of unity.
    Values(&'a Poly<Evaluation>),
    /// Coefficients of the polynomial c, as scaling returns them.
    Coefficients(&'a Poly<Coefficient>),
    /// Digits of the polynomial c, which may be multiplied by any number of keys.
    Digits(&'a Digits),
}

/// Polynomials c_0 and c_1 that a key switch adds to its halves; they have the level of the gadget.
#[derive(Clone, Copy)]
pub enum Addends<'a> {
    /// Values of the addends c_0 and c_1; a missing one is 0.
    Values([Option<&'a Poly<Evaluation>>; 2]),
    /// Coefficients of the addends c_0 and c_1, whose transforms are shared with those of the division by P.
    Coefficients([&'a Poly<Coefficient>; 2]),
}

impl Addends<'_> {
    /// Addends that are zero for both c_0 and c_1.
    pub const NONE: Self = Self::Values([None, None]);
}

/// A polynomial of the key ring after an automorphism: a(X^k).
#[derive(Clone, Copy)]
pub struct Turn<'a> {
    /// Polynomial a of the turn, in the key ring.
    pub of: &'a Poly<Evaluation>,
    /// Exponent k of the turn X → X^k.
    pub exponent: u64,
}

impl Multiplier {
    /// Length of the packed polynomial in memory, in bytes.
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

/// Tables of key switching at one level; cheap to clone. Their operations are listed at [`GadgetBackend`].
#[derive(Clone, Debug)]
pub struct Gadget(Arc<dyn GadgetBackend>);

impl Gadget {
    /// A gadget over the tables of a storage.
    #[must_use]
    pub fn new(tables: impl GadgetBackend) -> Self {
        Self(Arc::new(tables))
    }

    /// The tables of the gadget, if they have type `B`.
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
    /// The options of the gadget: keys and ciphertexts of one computation must agree on them.
    fn options(&self) -> &GadgetOptions;
    /// The key ring, R modulo Q_l·P: the moduli of the ring at this level, then the special ones.
    fn key_ring(&self) -> &Ring;
    /// The level l at which the gadget stands.
    fn level(&self) -> usize;
    /// The gadget of a level up to that of the ring it was made for; tables are made at first use.
    ///
    /// # Errors
    /// [`RingError::NoSuchLevel`] for 0 and above the level of that ring.
    fn at_level(&self, level: usize) -> Result<Gadget, RingError>;
    /// The size log2 P of the special moduli of the gadget; 0 without special moduli.
    fn log2_special(&self) -> f64;
    /// Takes a, an element of the key ring of this level or of a higher one, to the key ring of this level.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`] for a polynomial of another shape.
    fn restrict_key(&self, a: &Poly<Evaluation>) -> Result<Poly<Evaluation>, RingError>;
    /// The number of digits of a polynomial of this level, which is the number of polynomials in each half of a key
    /// for this level.
    fn digit_count(&self) -> usize;
    /// Bounds on the coefficients of f_i·digit_i, which multiply the i-th error of a key, for every i.
    fn digit_bounds(&self) -> Vec<DigitBound>;
    /// Upper bound on log2 of the coefficients of ⟨decompose(c), g⟩ − P·c, which multiply s′: −∞ where they are zero.
    fn log2_truncation(&self) -> f64 {
        f64::NEG_INFINITY
    }
    /// Returns the i-th polynomials (f_i·b + g_i·s′, f_i·a) of a key, for an encryption (b, a) of zero and s′ of the
    /// key ring: without their zero limbs, hence not of the key ring where limbs are dropped.
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
    /// The ring of the i-th polynomials of a key: the key ring, unless limbs are dropped.
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
    /// Returns f_i·a, the second of the i-th polynomials of a key, for a of the key ring.
    ///
    /// # Errors
    /// Every error of [`key_part`](Self::key_part).
    fn uniform_part(&self, a: Poly<Evaluation>, i: usize) -> Result<Poly<Evaluation>, RingError> {
        let zero = self.key_ring().zero();
        let [_, a] = self.key_part([zero.clone(), a], &zero, i)?;
        Ok(a)
    }
    /// Packs the i-th polynomial of a half of a key.
    ///
    /// # Errors
    /// Every error of [`part_ring`](Self::part_ring); [`RingError::ShapeMismatch`] or [`RingError::OtherModulus`] for
    /// a polynomial of another ring.
    fn pack_part(&self, part: Poly<Evaluation>, i: usize) -> Result<PackedPoly, RingError> {
        self.part_ring(i)?.check(&part)?;
        Ok(PackedPoly::new(part))
    }
    /// Unpacks the i-th polynomial of a half of a key.
    ///
    /// # Errors
    /// Every error of [`pack_part`](Self::pack_part).
    fn unpack_part(&self, part: &PackedPoly, i: usize) -> Result<Poly<Evaluation>, RingError> {
        let (ring, part) = (self.part_ring(i)?, part.0.get::<Poly<Evaluation>>()?);
        ring.check(part)?;
        Ok(part.clone())
    }
    /// Returns the packed sum of i-th polynomials of halves of keys.
    ///
    /// # Errors
    /// Every error of [`unpack_part`](Self::unpack_part).
    fn sum_parts(&self, parts: &[&PackedPoly], i: usize) -> Result<PackedPoly, RingError> {
        self.pack_part(self.unpacked_sum(parts, i)?, i)
    }
    /// Returns the sum of i-th polynomials of halves of keys, in evaluation form.
    ///
    /// # Errors
    /// Every error of [`unpack_part`](Self::unpack_part).
    fn unpacked_sum(&self, parts: &[&PackedPoly], i: usize) -> Result<Poly<Evaluation>, RingError> {
        let parts = parts.iter().map(|part| self.unpack_part(part, i)).collect::<Result<Vec<_>, _>>()?;
        self.part_ring(i)?.sum(&parts)
    }
    /// The number of bytes that a key for this level takes in memory.
    ///
    /// # Errors
    /// Every error of [`part_ring`](Self::part_ring).
    fn key_bytes(&self) -> Result<usize, RingError> {
        let part = |i| Ok(self.pack_part(self.part_ring(i)?.zero(), i)?.byte_len());
        Ok(2 * (0..self.digit_count()).map(part).sum::<Result<usize, RingError>>()?)
    }
    /// The gadget of this level with merged digits, for a [`switch`](Self::switch) that ends at level `to`: fewer, by sums of key
    /// polynomials, and no noisier than [`digit_bounds`](Self::digit_bounds) says. `None` where merging costs about as much, where
    /// level `to` has a modulus anew that merged digits divide by, and for storages that have none.
    ///
    /// # Errors
    /// Every error of [`at_level`](Self::at_level).
    fn merged(&self, to: usize) -> Result<Option<Gadget>, RingError> {
        let _ = to;
        Ok(None)
    }
    /// For every digit, the range of the digits at the highest level whose key polynomials add up to its own: of one, unless
    /// the gadget is a [merged](Self::merged) one.
    fn key_digits(&self) -> Vec<Range<usize>> {
        (0..self.digit_count()).map(|digit| digit..digit + 1).collect()
    }
    /// Cuts a polynomial a of this level into digits.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`] for a polynomial of another shape.
    fn decompose(&self, a: &Poly<Evaluation>) -> Result<Digits, RingError>;
    /// Cuts the polynomial with the given coefficients into digits.
    ///
    /// # Errors
    /// Every error of [`decompose`](Self::decompose).
    fn decompose_coefficients(&self, a: &Poly<Coefficient>) -> Result<Digits, RingError> {
        self.decompose(&self.key_ring().at_level(self.level())?.to_evaluation(a.clone())?)
    }
    /// Returns ⟨digits, key_0⟩ and ⟨digits, key_1⟩ in the key ring, for the halves of a key of this level or a higher
    /// one.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`]; [`RingError::LengthMismatch`] when a half lacks polynomials.
    fn product(&self, digits: &Digits, key: [&[PackedPoly]; 2]) -> Result<[Poly<Evaluation>; 2], RingError>;
    /// Divides by P, and switches the modulus with it: returns ⌊a·Q_j/(Q_l·P)⌉ of level j ≤ l for a in the key ring.
    ///
    /// # Errors
    /// Every error of [`Backend::mod_switch`](crate::Backend::mod_switch).
    fn mod_down(&self, a: &Poly<Evaluation>, level: usize) -> Result<Poly<Evaluation>, RingError> {
        check_level(level, self.level())?;
        self.key_ring().mod_switch(a, level)
    }
    /// Does [`mod_down`](Self::mod_down) for several polynomials.
    ///
    /// # Errors
    /// Every error of [`mod_down`](Self::mod_down).
    fn mod_down_all(
        &self,
        polys: &[&Poly<Evaluation>],
        level: usize,
    ) -> Result<Vec<Poly<Evaluation>>, RingError> {
        check_level(level, self.level())?;
        self.key_ring().mod_switch_all(polys, level)
    }
    /// Does a whole key switch: returns c_0 + c·key_0/P and c_1 + c·key_1/P, switched to modulus Q_j with one
    /// rounding, for c_0, c_1, c of this level l ≥ j; then X → X^k.
    ///
    /// # Errors
    /// Every error of the steps: decomposition, product, division and automorphism.
    fn switch(
        &self,
        input: SwitchInput<'_>,
        added: Addends<'_>,
        key: [&[PackedPoly]; 2],
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
    /// Does a key switch without the division by P, for sums that are divided together: returns (P·c_0, 0) +
    /// ⟨decompose(c), key⟩ in the key ring, then X → X^k. `added` is c_0, of this level, or P·c_0, or any other
    /// element of the key ring that is to be added.
    ///
    /// # Errors
    /// Every error of the steps: decomposition, product and automorphism.
    fn switch_extended(
        &self,
        input: SwitchInput<'_>,
        added: Option<&Poly<Evaluation>>,
        key: [&[PackedPoly]; 2],
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
    /// Packs a polynomial of the key ring, to multiply rotated ciphertexts.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`] or [`RingError::OtherModulus`] for a polynomial of another ring.
    fn multiplier(&self, a: Poly<Evaluation>) -> Result<Multiplier, RingError> {
        Ok(Multiplier(Opaque::new(self.restrict_key(&a)?)))
    }
    /// Unpacks the polynomial of a multiplier of this level or of a higher one, in the key ring.
    ///
    /// # Errors
    /// Every error of [`restrict_key`](Self::restrict_key); [`RingError::OtherStorage`] for a multiplier that another
    /// storage packed.
    fn multiplied(&self, a: &Multiplier) -> Result<Poly<Evaluation>, RingError> {
        self.restrict_key(a.0.get::<Poly<Evaluation>>()?)
    }
    /// The number of bytes that a multiplier in X^`gap` will take at most, for a power of two.
    fn expected_multiplier_bytes(&self, _gap: usize) -> usize {
        self.key_ring().zero::<Evaluation>().byte_len()
    }
    /// Returns, for every list of terms (i, m_i), the pair Σ m_i·a_i, Σ m_i·b_i in the key ring over rotations (a_i,
    /// b_i) of one ciphertext (c_0, c_1) of this level: (P·c_0, 0) + ⟨digits of c_1, key_i⟩ at X^k_i, or P·(c_0,
    /// c_1). Multipliers are those of one gadget.
    ///
    /// # Errors
    /// Every error of [`switch_extended`](Self::switch_extended); [`RingError::OtherModulus`] for multipliers of
    /// another ring, or of a
    /// level that this one is not nested in; [`RingError::LengthMismatch`] for an index of no rotation.
    fn sums_of_rotations(
        &self,
        ciphertext: [&Poly<Evaluation>; 2],
        rotations: &[Rotation<'_>],
        lists: &[Vec<(usize, &Multiplier)>],
    ) -> Result<Pairs, RingError> {
        multiplier::sums_of_whole_rotations(self, ciphertext, rotations, lists)
    }
    /// Returns Σ a_i(X^k_i)·(key_0i, key_1i) in the key ring, for keys whose i-th polynomials are packed as those of
    /// digit 0 and belong to the key ring: a key switch of polynomials so small that each is one digit.
    ///
    /// # Errors
    /// [`RingError::LengthMismatch`] unless both halves have a polynomial for every turn; [`RingError::ShapeMismatch`] or
    /// [`RingError::OtherModulus`] for polynomials of another ring; [`RingError::NotAnAutomorphism`].
    fn sum_of_turns(
        &self,
        turns: &[Turn<'_>],
        key: [&[PackedPoly]; 2],
    ) -> Result<[Poly<Evaluation>; 2], RingError> {
        multiplier::sum_of_whole_turns(self, turns, key)
    }
}

/// Returns the inner products ⟨digits, key⟩ for both halves of a key.
fn products<G: GadgetBackend + ?Sized>(
    gadget: &G,
    input: SwitchInput<'_>,
    key: [&[PackedPoly]; 2],
) -> Result<[Poly<Evaluation>; 2], RingError> {
    match input {
        SwitchInput::Values(c) => gadget.product(&gadget.decompose(c)?, key),
        SwitchInput::Coefficients(c) => gadget.product(&gadget.decompose_coefficients(c)?, key),
        SwitchInput::Digits(digits) => gadget.product(digits, key),
    }
}

/// Adds P·a to an element of the key ring where a has a lower level, and a itself where a belongs to the key ring.
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

/// Bounds on the size of a digit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DigitBound {
    /// Bound on |d|: log2 of the largest absolute value.
    pub log2_bound: f64,
    /// Bound on the mean for uniform c: log2 of its largest absolute value; −∞ for 0.
    pub log2_mean: f64,
}
