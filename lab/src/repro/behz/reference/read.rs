//! Steps S0 to S4 of `[BEHZ16, Alg. 3]` as they read: every multiplication that is written is done.

use num_bigint::BigUint;
use num_traits::One;

use super::{Setting, Step, centred, convert, matrix, ratios, spread};
use crate::Result;
use crate::repro::kpz::reference::{Basis, Counter, Limbs, add, subtract};

/// The steps as they read.
pub(super) const STEPS: Step = Step { convert_up, reduce, factors, floor, convert_back };

/// Constants that the limbs of a product are multiplied by: nothing.
fn factors(setting: &Setting) -> Result<Vec<u64>> {
    Ok(vec![1; setting.all().count()])
}

/// FastBconv `[BEHZ16, eq. (2)]` of factor·x: k·n multiplications for the digits and as many for each target.
pub(super) fn fast_conversion(
    counter: &Counter,
    from: &Basis,
    to: &[u64],
    x: &[Vec<u64>],
    factor: u64,
) -> Result<Limbs> {
    let product = from.product();
    let factors = ratios(from.moduli(), |q_i| (factor.into(), &product / q_i))?;
    let digits = counter.scale(from.moduli(), x, &factors);
    let rows = matrix(from.moduli(), to, |q_i, _| (&product / q_i, BigUint::one()))?;
    Ok(convert(counter, &digits, to, &rows))
}

/// S0 of one polynomial.
fn convert_up(counter: &Counter, setting: &Setting, x: &Limbs) -> Result<Limbs> {
    fast_conversion(counter, &setting.q, &setting.targets(), x, setting.m_tilde)
}

/// S1 of one polynomial, line by line of `[BEHZ16, Alg. 2]`.
fn reduce(counter: &Counter, setting: &Setting, mut x: Limbs) -> Result<Limbs> {
    let (b_sk, product, m_tilde) = (setting.b_sk(), setting.q.product(), setting.m_tilde);
    let last = x.pop().unwrap_or_default();
    let factor = ratios(&[m_tilde], |m| ((m - 1).into(), product.clone()))?;
    let r = centred(&counter.scale(&[m_tilde], &[last], &factor).concat(), m_tilde);
    let factors = ratios(b_sk.moduli(), |_| (product.clone(), BigUint::one()))?;
    let sums = add(b_sk.moduli(), &x, &spread(counter, &r, b_sk.moduli(), &factors));
    let inverses = ratios(b_sk.moduli(), |_| (BigUint::one(), m_tilde.into()))?;
    Ok(counter.scale(b_sk.moduli(), &sums, &inverses))
}

/// S3 of one polynomial: fastRNSFloor_q of t·c `[BEHZ16, 4.3]`.
fn floor(counter: &Counter, setting: &Setting, x: Limbs) -> Result<Limbs> {
    let (q, b_sk, all) = (&setting.q, setting.b_sk(), setting.all());
    let factors = vec![setting.t; all.count()];
    let mut low = counter.scale(all.moduli(), &x, &factors);
    let high = low.split_off(q.count());
    let rough = fast_conversion(counter, q, b_sk.moduli(), &low, 1)?;
    let inverses = ratios(b_sk.moduli(), |_| (BigUint::one(), q.product()))?;
    Ok(counter.scale(b_sk.moduli(), &subtract(b_sk.moduli(), &high, &rough), &inverses))
}

/// S4 of one polynomial: FastBconvSK `[BEHZ16, eq. (12) and (13)]`, whose two conversions share their digits; ξ_q of it
/// as S5 needs it if `digits`.
fn convert_back(counter: &Counter, setting: &Setting, x: &Limbs, digits: bool) -> Result<Limbs> {
    let Setting { q, b, .. } = setting;
    let (room, m_sk) = (b.product(), setting.m_sk());
    let (low, last) = x.split_at_checked(b.count()).unwrap_or((x, &[]));
    let targets = [&[m_sk], q.moduli()].concat();
    let mut both = fast_conversion(counter, b, &targets, low, 1)?;
    let sums = both.split_off(1);
    let inverse = ratios(&[m_sk], |_| (BigUint::one(), room.clone()))?;
    let alpha = counter.scale(&[m_sk], &subtract(&[m_sk], &both, last), &inverse);
    let alpha = centred(&alpha.concat(), m_sk);
    let factors = ratios(q.moduli(), |_| (room.clone(), BigUint::one()))?;
    let exact = subtract(q.moduli(), &sums, &spread(counter, &alpha, q.moduli(), &factors));
    if !digits {
        return Ok(exact);
    }
    let product = q.product();
    let factors = ratios(q.moduli(), |q_i| (BigUint::one(), &product / q_i))?;
    Ok(counter.scale(q.moduli(), &exact, &factors))
}
