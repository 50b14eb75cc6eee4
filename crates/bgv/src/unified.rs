//! Conversion of ciphertexts between BFV and BGV, which are the same polynomials `[KPZ21, app. A]`.
//!
//! With u = c/t, a BGV ciphertext of m (LSD) with factor f is, polynomial for polynomial and with the same noise, the
//! BFV ciphertext (MSD) of f·m. So a change of scheme is a change of label, and where the factor is not 1 a
//! multiplication by a constant. This module takes and returns parts, as neither scheme's crate knows the other.

use sunzi_ring::{Evaluation, Poly};
use sunzi_rlwe::{KeyId, Log2, NoiseBound, Trace};

use crate::{BgvError, Ciphertext, Context, Evaluator, Usage};

/// Parts, noise and key of a BFV ciphertext modulo Q, whose message is scaled by Q/t.
pub struct Unlabelled {
    /// Parts c_0, c_1, … of the ciphertext.
    pub parts: Vec<Poly<Evaluation>>,
    /// Noise bounds of the ciphertext.
    pub noise: NoiseBound,
    /// Name of the key that decrypts the ciphertext.
    pub key: KeyId,
    /// Trace of the ciphertext, which counts its re-encryptions.
    pub trace: Trace,
}

impl Evaluator {
    /// Converts a BFV ciphertext modulo Q, with all moduli of this context, to the BGV ciphertext of its message.
    ///
    /// Conversion to BGV is without loss if the noise is that of an encryption; noise that grew since takes levels:
    /// the ciphertext is given the highest level whose modulus switch reduces it to what multiplications at that level
    /// expect.
    ///
    /// # Errors
    /// [`BgvError::BudgetExceeded`] for more noise than decrypts; [`BgvError::Ring`] for parts of another ring;
    /// [`BgvError::Rlwe`] for fewer than two.
    pub fn from_most_significant(&self, source: Unlabelled) -> Result<Ciphertext, BgvError> {
        let (context, Unlabelled { parts, noise, key, trace }) = (self.context(), source);
        let depth = context.depth();
        let metadata = context.metadata(depth, context.top(), Usage::ONE)?;
        let top = Ciphertext::from_parts(parts, metadata, noise, key)?;
        context.check(&top)?;
        if context.bits_left(&top)? < 0.0 {
            return context.finish(top, "switch from BFV", &[&trace]);
        }
        let level = (0..=depth).rev().find(|&level| self.fits_level(&noise, level)).unwrap_or(0);
        if level == depth {
            return context.finish(top, "switch from BFV", &[&trace]);
        }
        let moved = self.mod_switch_to(&top, level)?;
        context.finish(moved, "switch from BFV", &[&trace])
    }

    /// Whether a modulus switch from the top to a level leaves no more noise than its operands are declared to have.
    fn fits_level(&self, noise: &NoiseBound, level: usize) -> bool {
        let context = self.context();
        let (Ok(top), Ok(place)) = (context.place(context.top()), context.place(level)) else { return false };
        let constant = if level == context.depth() { 1.0 } else { context.plain_modulus() as f64 / 2.0 };
        let mut switched = noise.times_norm(constant);
        if place.bits < top.bits {
            let ratio = Log2::from_bits(place.bits - top.bits);
            switched = switched.scaled(ratio).plus(context.rlwe().noise_model().mod_switch(2));
        }
        let declared = context.level_noise().get(level);
        declared.is_some_and(|declared| {
            context.noise_bound(&switched).bits() <= context.noise_bound(&declared.operand).bits() + 1e-6
        })
    }

    /// Converts a BGV ciphertext to the parts of a BFV ciphertext of its message modulo all of Q.
    ///
    /// Conversion to BFV is without loss at the highest level, where the factor is 1 and no modulus is missing; from
    /// lower levels it takes a product with the constant 1/f, which multiplies the noise by up to t/2, and with the
    /// moduli that are missing, which multiplies modulus and noise alike.
    ///
    /// # Errors
    /// [`BgvError::BudgetExceeded`] where the noise leaves no room for the constant; [`BgvError::PlainModulusMismatch`],
    /// [`BgvError::LevelMismatch`] or [`BgvError::Ring`] for a ciphertext of other parameters.
    pub fn to_most_significant(&self, a: &Ciphertext) -> Result<Unlabelled, BgvError> {
        let context: &Context = self.context();
        let place = context.check(a)?;
        let depth = context.depth();
        let ready = self.context().moved(a, depth, place)?;
        let left = context.room(place, ready.noise());
        if left < 0.0 {
            let level = a.metadata().level;
            return Err(BgvError::BudgetExceeded { operation: "switch to BFV", level, bits_short: -left });
        }
        let (own, top) = (context.place(place)?, context.place(context.top())?);
        let ratio = Log2::from_bits(top.bits - own.bits);
        let mut ready = ready.into_owned();
        if own.share > 0 {
            // The quotient of the word and the factor that counts: it makes what does not count a multiple of the word.
            let ring = context.ring_of(a)?;
            let others = ring.modulus() / &own.modulus;
            for part in ready.parts_mut() {
                ring.mul_integer_assign(part, &others.clone().into())?;
            }
        }
        let parts =
            ready.parts().iter().map(|part| context.ring().scale_up(part)).collect::<Result<_, _>>()?;
        let noise = if own.bits == top.bits { *ready.noise() } else { ready.noise().scaled(ratio) };
        Ok(Unlabelled { parts, noise, key: a.key(), trace: a.trace().clone() })
    }
}
