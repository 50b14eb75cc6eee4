//! Scale-invariant operations of BFV: extension, scaling and decryption.

use std::any::Any;
use std::fmt::Debug;
use std::ops::{Deref, RangeInclusive};
use std::sync::Arc;

use zeroize::Zeroizing;

use crate::{Coefficient, Evaluation, Poly, Ring, RingError, ScalingBounds};

/// Side of an operand in a product: where one operand is switched to another modulus [KPZ21, Alg. 2] it is the left
/// one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// First operand of a product, the left one.
    Left,
    /// Second operand of a product, the right one.
    Right,
}

/// A sum of two polynomials; the second one exists where it saves transforms.
pub type Apart = (Poly<Coefficient>, Option<Poly<Evaluation>>);

/// Tables of the scale-invariant operations for one plaintext modulus; cheap to clone. The operations are listed at
/// [`ScalerBackend`].
#[derive(Clone, Debug)]
pub struct Scaler(Arc<dyn ScalerBackend>);

impl Scaler {
    /// Makes a scaler over the tables of a storage.
    #[must_use]
    pub fn new(tables: impl ScalerBackend) -> Self {
        Self(Arc::new(tables))
    }

    /// The tables of the scaler, if they have type `B`.
    #[must_use]
    pub fn tables<S: ScalerBackend>(&self) -> Option<&S> {
        let tables: &dyn Any = &*self.0;
        tables.downcast_ref()
    }
}

impl Deref for Scaler {
    type Target = dyn ScalerBackend;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

/// Operations of the scale-invariant part of BFV over a ring R modulo q = q_1⋯q_k: extend two operands, scale sums of
/// their products, decrypt.
///
/// A product is computed modulo q′ = q_1⋯q_ℓ for a level ℓ of [`levels`](Self::levels), in a ring that is wide enough. With
/// [`Multiplication::Behz`](crate::Multiplication) and [`Multiplication::Hps`](crate::Multiplication) ℓ = k, an operand a
/// of either side becomes a itself, and products are scaled by t/q. Otherwise a right operand becomes ⌊(q′/q)·a⌉, a left one
/// ⌊(P/q)·a⌉ for a modulus P ≈ q′, and products are scaled by t/P. Errors of all these operations:
/// [`bounds`](Self::bounds).
pub trait ScalerBackend: Any + Debug + Send + Sync {
    /// The levels at which the scaler can compute products; the last one is k.
    fn levels(&self) -> RangeInclusive<usize>;
    /// The ring in which products of extended polynomials are computed.
    ///
    /// # Errors
    /// [`RingError::OutOfRange`] for a level outside [`levels`](Self::levels), as in all methods with a level.
    fn wide(&self, level: usize) -> Result<Ring, RingError>;
    /// Extends a: returns a, switched to q′ or P, as an element of the wide ring: a lift a′ with ‖a′‖ ≤ (q′/2)(1 +
    /// ρ), or P for q′.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`]; [`RingError::OutOfRange`] for a level that does not exist.
    fn extend(&self, a: &Poly<Evaluation>, side: Side, level: usize) -> Result<Poly<Evaluation>, RingError>;
    /// Scales a: returns integers next to (t/q)·a or (t/P)·a, modulo q′, for a of the wide ring.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`]; [`RingError::OutOfRange`] for a level that does not exist.
    fn scale(&self, a: Poly<Evaluation>, level: usize) -> Result<Poly<Coefficient>, RingError>;
    /// Does [`scale`](Self::scale) with the result as a sum of two polynomials, of which one is in evaluation form
    /// already if that saves transforms.
    ///
    /// # Errors
    /// Every error of [`scale`](Self::scale).
    fn scale_apart(&self, a: Poly<Evaluation>, level: usize) -> Result<Apart, RingError> {
        Ok((self.scale(a, level)?, None))
    }
    /// Scales the three parts of a product, each as [`scale_apart`](Self::scale_apart) does; the last as
    /// [`scale`](Self::scale) does if it is to be `whole`.
    ///
    /// # Errors
    /// Every error of [`scale`](Self::scale).
    fn scale_parts(
        &self,
        [c0, c1, c2]: [Poly<Evaluation>; 3],
        level: usize,
        whole: bool,
    ) -> Result<[Apart; 3], RingError> {
        let last = if whole { (self.scale(c2, level)?, None) } else { self.scale_apart(c2, level)? };
        Ok([self.scale_apart(c0, level)?, self.scale_apart(c1, level)?, last])
    }
    /// Returns the three parts of a product of two ciphertexts, scaled as by
    /// [`scale_parts`](Self::scale_parts).
    ///
    /// # Errors
    /// Every error of [`extend`](Self::extend).
    fn multiply(
        &self,
        left: [&Poly<Evaluation>; 2],
        right: [&Poly<Evaluation>; 2],
        level: usize,
        whole: bool,
    ) -> Result<[Apart; 3], RingError> {
        multiply(self, left, right, level, whole)
    }
    /// Decrypts a: returns ⌊t·a/q⌉ mod t, right whenever the distance of t·a/q to an integer is at most the margin of
    /// the bounds.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`] for a polynomial of another shape.
    fn decrypt(&self, a: &Poly<Coefficient>) -> Result<Vec<u64>, RingError>;
    /// Does [`decrypt`](Self::decrypt) from the values of a, which belongs to `ring`.
    ///
    /// # Errors
    /// Every error of [`decrypt`](Self::decrypt).
    fn decrypt_values(&self, ring: &Ring, a: Zeroizing<Poly<Evaluation>>) -> Result<Vec<u64>, RingError> {
        self.decrypt(&*secret_coefficients(ring, a)?)
    }
    /// The number of products of two ciphertexts that may be summed in the wide ring before they are scaled, at least
    /// 1: each adds at most two products of polynomials to a polynomial.
    fn product_capacity(&self) -> u64;
    /// Bounds on the scaler's errors of extension, scaling and decryption.
    fn bounds(&self) -> &ScalingBounds;
}

/// Changes a secret polynomial to coefficients, which are erased when dropped, as its values are: both are the same
/// memory where the ring transforms in place.
///
/// # Errors
/// [`RingError::ShapeMismatch`] for a polynomial of another shape.
pub fn secret_coefficients(
    ring: &Ring,
    mut values: Zeroizing<Poly<Evaluation>>,
) -> Result<Zeroizing<Poly<Coefficient>>, RingError> {
    let values = std::mem::replace(&mut *values, ring.at_level(1)?.zero());
    Ok(Zeroizing::new(ring.to_coefficient(values)?))
}

/// Does [`ScalerBackend::multiply`] by its steps: extension, products, scaling.
pub(crate) fn multiply<S: ScalerBackend + ?Sized>(
    scaler: &S,
    [a0, a1]: [&Poly<Evaluation>; 2],
    [b0, b1]: [&Poly<Evaluation>; 2],
    level: usize,
    whole: bool,
) -> Result<[Apart; 3], RingError> {
    let extend = |part, side| scaler.extend(part, side, level);
    let (a0, a1) = (extend(a0, Side::Left)?, extend(a1, Side::Left)?);
    let (b0, b1) = (extend(b0, Side::Right)?, extend(b1, Side::Right)?);
    scaler.scale_parts(scaler.wide(level)?.tensor([&a0, &a1], [&b0, &b1], 1)?, level, whole)
}
