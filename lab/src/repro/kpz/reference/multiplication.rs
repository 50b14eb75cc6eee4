//! The products of `[KPZ21, Alg. 1, 2 and 3]`, with ciphertext parts in coefficient form.

use super::conversion::{extend, scale_down, switch_down, switch_roughly, switch_up};
use super::{Basis, Counter, Limbs, add, subtract};
use crate::Result;

/// Two parts of a ciphertext, in limbs.
pub type Pair = [Limbs; 2];

/// Setting of a product: a ciphertext modulus Q, an auxiliary modulus P and t.
#[derive(Clone)]
pub struct Setting {
    /// Basis of the ciphertext modulus Q.
    pub ciphertext: Basis,
    /// Basis of the auxiliary modulus P.
    pub auxiliary: Basis,
    /// Plaintext modulus t of the product.
    pub plain_modulus: u64,
}

/// Product by `[KPZ21, Alg. 1]`: both factors to QP, scaling by t/Q there, from P back to Q. P has one
/// modulus more than Q.
///
/// # Errors
/// No error is expected of a product.
pub fn original(counter: &Counter, setting: &Setting, a: &Pair, b: &Pair) -> Result<[Limbs; 3]> {
    let Setting { ciphertext: q, auxiliary: p, plain_modulus: t } = setting;
    let wide = |x: &Limbs| joined(x, &extend(counter, q, p, x)?);
    let product = tensor(counter, &q.with(p), [wide(&a[0])?, wide(&a[1])?], [wide(&b[0])?, wide(&b[1])?])?;
    each(product, |x| extend(counter, p, q, &scale_down(counter, q, p, *t, &x)?))
}

/// Product by `[KPZ21, Alg. 2]`: the first factor switched to P, both to QP, scaling by t/P there. P has as
/// many moduli as Q.
///
/// # Errors
/// No error is expected of a product.
pub fn over_auxiliary(counter: &Counter, setting: &Setting, a: &Pair, b: &Pair) -> Result<[Limbs; 3]> {
    let Setting { ciphertext: q, auxiliary: p, .. } = setting;
    let a = [switch_roughly(counter, q, p, &a[0])?, switch_roughly(counter, q, p, &a[1])?];
    switched(counter, setting, &a, b)
}

/// Product by `[KPZ21, Alg. 3]` with Remark 3.4: both factors to level ℓ, the first at once to P_ℓ; the
/// product back to Q.
///
/// # Errors
/// No error is expected of a product.
pub fn leveled(counter: &Counter, setting: &Setting, level: usize, a: &Pair, b: &Pair) -> Result<[Limbs; 3]> {
    let Setting { ciphertext: q, auxiliary: p, plain_modulus } = setting;
    let (ciphertext, auxiliary) = (q.part(0, level), p.part(0, level));
    let a = [switch_roughly(counter, q, &auxiliary, &a[0])?, switch_roughly(counter, q, &auxiliary, &a[1])?];
    let b = [switch_down(counter, q, level, &b[0])?, switch_down(counter, q, level, &b[1])?];
    let small = Setting { ciphertext, auxiliary, plain_modulus: *plain_modulus };
    let product = switched(counter, &small, &a, &b)?;
    each(product, |x| Ok(switch_up(counter, q, level, &x)))
}

/// The remaining steps of `[KPZ21, Alg. 2]` once the first factor is modulo P.
fn switched(counter: &Counter, setting: &Setting, a: &Pair, b: &Pair) -> Result<[Limbs; 3]> {
    let Setting { ciphertext: q, auxiliary: p, plain_modulus: t } = setting;
    // Limbs of P first: they are the ones to be divided away.
    let from_p = |x: &Limbs| joined(x, &extend(counter, p, q, x)?);
    let from_q = |x: &Limbs| joined(&extend(counter, q, p, x)?, x);
    let (a, b) = ([from_p(&a[0])?, from_p(&a[1])?], [from_q(&b[0])?, from_q(&b[1])?]);
    each(tensor(counter, &p.with(q), a, b)?, |x| scale_down(counter, p, q, *t, &x))
}

/// The tensor product of two ciphertexts in coefficient form.
fn tensor(counter: &Counter, basis: &Basis, a: Pair, b: Pair) -> Result<[Limbs; 3]> {
    each(tensor_values(counter, basis, a, b)?, |x| counter.inverse(basis, x))
}

/// The values of the tensor product of two ciphertexts, with three multiplications instead of four.
pub(crate) fn tensor_values(counter: &Counter, basis: &Basis, a: Pair, b: Pair) -> Result<[Limbs; 3]> {
    let forward = |x| counter.forward(basis, x);
    let ([a0, a1], [b0, b1]) = (a, b);
    let (a0, a1, b0, b1) = (forward(a0)?, forward(a1)?, forward(b0)?, forward(b1)?);
    let c0 = counter.pointwise(basis, &a0, &b0);
    let c2 = counter.pointwise(basis, &a1, &b1);
    let moduli = basis.moduli();
    let both = counter.pointwise(basis, &add(moduli, &a0, &a1), &add(moduli, &b0, &b1));
    let c1 = subtract(moduli, &subtract(moduli, &both, &c0), &c2);
    Ok([c0, c1, c2])
}

/// Does the same to the three parts of a product.
pub(crate) fn each(parts: [Limbs; 3], mut how: impl FnMut(Limbs) -> Result<Limbs>) -> Result<[Limbs; 3]> {
    let [c0, c1, c2] = parts;
    Ok([how(c0)?, how(c1)?, how(c2)?])
}

fn joined(first: &Limbs, second: &Limbs) -> Result<Limbs> {
    Ok(first.iter().chain(second).cloned().collect())
}
