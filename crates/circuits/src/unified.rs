//! Conversion from BFV to BGV and back, and the product between them `[KPZ21, app. A]`.
//!
//! | product | operands | computed as | noise for noises v, w |
//! |---|---|---|---|
//! | LSD × LSD | BGV, BGV | t·u·u′ modulo Q_l | t·v·w |
//! | LSD × MSD | BGV, BFV, or BFV alone: [`multiply_through_bgv`] | the same, read as BFV | t·v·w, times Q/Q_l with the modulus |
//! | MSD × MSD | BFV, BFV | (t/Q)·u·u′ over the integers | about δ²t(v + w) |
//!
//! Contexts must agree in ring, key switching and plaintext modulus; keys are then the same.

use sunzi_bfv::BfvError;
use sunzi_bgv::{BgvError, Unlabelled};
use sunzi_rlwe::RelinearizationKey;

/// Errors of conversions between BFV and BGV.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UnifiedError {
    /// An error of the BFV scheme.
    #[error(transparent)]
    Bfv(#[from] BfvError),
    /// An error of the BGV scheme.
    #[error(transparent)]
    Bgv(#[from] BgvError),
    /// The plaintext moduli of both contexts differ.
    #[error("BFV has plaintext modulus {bfv}, BGV {bgv}: make both contexts with one")]
    PlainModuli {
        /// Plaintext modulus of the BFV context.
        bfv: u64,
        /// Plaintext modulus of the BGV context.
        bgv: u64,
    },
}

/// Returns the BGV ciphertext of what a BFV ciphertext holds.
///
/// A fresh ciphertext keeps its parts and its noise; one whose noise grew is switched to the level that takes it.
///
/// # Errors
/// [`UnifiedError::PlainModuli`]; [`UnifiedError::Bgv`] for more noise than decrypts and for another ring.
pub fn to_bgv(
    evaluator: &sunzi_bgv::Evaluator,
    a: &sunzi_bfv::Ciphertext,
) -> Result<sunzi_bgv::Ciphertext, UnifiedError> {
    check(*a.metadata(), evaluator.context().plain_modulus())?;
    let (parts, trace) = (a.parts().to_vec(), a.trace().clone());
    let source = Unlabelled { parts, noise: *a.noise(), key: a.key(), trace };
    Ok(evaluator.from_most_significant(source)?)
}

/// Returns the BFV ciphertext of what a BGV ciphertext holds, modulo all of Q.
///
/// At the highest level it keeps its parts and its noise; from lower ones see
/// [`sunzi_bgv::Evaluator::to_most_significant`].
///
/// # Errors
/// [`UnifiedError::PlainModuli`]; [`UnifiedError::Bgv`] for a ciphertext of other parameters.
pub fn to_bfv(
    evaluator: &sunzi_bgv::Evaluator,
    a: &sunzi_bgv::Ciphertext,
) -> Result<sunzi_bfv::Ciphertext, UnifiedError> {
    let Unlabelled { parts, noise, key, trace } = evaluator.to_most_significant(a)?;
    let t = evaluator.context().plain_modulus();
    let mut made = sunzi_bfv::Ciphertext::from_parts(parts, t, noise, key).map_err(BfvError::from)?;
    // What is left in BFV is for the context of BFV to say, which is not here.
    made.record("switch from BGV", trace.left(), &[&trace]);
    Ok(made)
}

/// Computes a BFV product through BGV, LSD × MSD: both operands are switched down as for a BGV product,
/// multiplied without extension or scaling, relinearised, and labelled BFV again.
///
/// The noise of the product is that of BGV: t·v·w for what is left of the noises after the switch, and times
/// the quotient of the moduli and up to t/2 for the way back. That is more than a BFV product leaves, and it
/// takes a fraction of the time.
///
/// # Errors
/// [`UnifiedError::PlainModuli`]; [`UnifiedError::Bgv`] for operands with too much noise, other parameters or another key.
pub fn multiply_through_bgv(
    evaluator: &sunzi_bgv::Evaluator,
    a: &sunzi_bfv::Ciphertext,
    b: &sunzi_bfv::Ciphertext,
    key: &RelinearizationKey,
) -> Result<sunzi_bfv::Ciphertext, UnifiedError> {
    let (a, b) = (to_bgv(evaluator, a)?, to_bgv(evaluator, b)?);
    to_bfv(evaluator, &evaluator.multiply(&a, &b, key)?)
}

fn check(bfv: u64, bgv: u64) -> Result<(), UnifiedError> {
    if bfv == bgv { Ok(()) } else { Err(UnifiedError::PlainModuli { bfv, bgv }) }
}
