//! Steps S0 to S4 of `[BEHZ16, Alg. 3]` as appendix B.3 counts them: constants are precomputed wherever they can be.

use num_bigint::BigUint;
use num_traits::One;

use super::{Setting, Step, centred, convert, matrix, ratio, ratios, spread};
use crate::Result;
use crate::repro::kpz::reference::{Counter, Limbs, add};

/// The steps with folded constants.
pub(super) const STEPS: Step = Step { convert_up, reduce, factors, floor, convert_back };

/// S0 of one polynomial: its conversion to B_sk over m̃, and to −c″/q modulo m̃.
fn convert_up(counter: &Counter, setting: &Setting, x: &Limbs) -> Result<Limbs> {
    let (product, targets, m_tilde) = (setting.q.product(), setting.targets(), setting.m_tilde);
    let rows = matrix(setting.q.moduli(), &targets, |q_i, p| match p == m_tilde {
        true => ((m_tilde - 1).into(), q_i.into()),
        false => (product.clone(), BigUint::from(q_i) * m_tilde),
    })?;
    Ok(convert(counter, x, &targets, &rows))
}

/// S1 of one polynomial `[BEHZ16, Alg. 2]`.
fn reduce(counter: &Counter, setting: &Setting, mut x: Limbs) -> Result<Limbs> {
    let (b_sk, product) = (setting.b_sk(), setting.q.product());
    let r = centred(&x.pop().unwrap_or_default(), setting.m_tilde);
    let factors = ratios(b_sk.moduli(), |_| (product.clone(), setting.m_tilde.into()))?;
    Ok(add(b_sk.moduli(), &x, &spread(counter, &r, b_sk.moduli(), &factors)))
}

/// Constants that the limbs of a product are multiplied by: ξ_q of t·c without the factors of the operands; t/q modulo B with
/// (M/m_j)^-1 for S4; −t/(q·M) modulo m_sk.
fn factors(setting: &Setting) -> Result<Vec<u64>> {
    let Setting { q, b, sk, m_tilde, t } = setting;
    let (product, room) = (q.product(), b.product());
    let low = ratios(q.moduli(), |q_i| (&product / q_i * *t, BigUint::from(*m_tilde).pow(2)))?;
    let high = ratios(b.moduli(), |m| ((*t).into(), &product * (&room / m)))?;
    let last = ratios(sk.moduli(), |m| (BigUint::from(m - 1) * *t, &product * &room))?;
    Ok([low, high, last].concat())
}

/// S3 of one polynomial: (t·c − FastBconv(t·c))/q modulo B, over M/m_j, and modulo m_sk, over −M.
fn floor(counter: &Counter, setting: &Setting, mut x: Limbs) -> Result<Limbs> {
    let (b_sk, room, m_sk) = (setting.b_sk(), setting.b.product(), setting.m_sk());
    let high = x.split_off(setting.q.count());
    let rows = matrix(setting.q.moduli(), b_sk.moduli(), |q_i, m| match m == m_sk {
        true => (BigUint::one(), &room * q_i),
        false => ((m - 1).into(), &room / m * q_i),
    })?;
    Ok(add(b_sk.moduli(), &high, &convert(counter, &x, b_sk.moduli(), &rows)))
}

/// S4 of one polynomial `[BEHZ16, eq. (12) and (13)]`, back to q, or to ξ_q if `digits`.
fn convert_back(counter: &Counter, setting: &Setting, x: &Limbs, digits: bool) -> Result<Limbs> {
    let Setting { q, b, .. } = setting;
    let (product, room, m_sk) = (q.product(), b.product(), setting.m_sk());
    let (low, last) = x.split_at_checked(b.count()).unwrap_or((x, &[]));
    let row = matrix(b.moduli(), &[m_sk], |m, _| (BigUint::one(), m.into()))?;
    let alpha = add(&[m_sk], &convert(counter, low, &[m_sk], &row), last);
    let alpha = centred(&alpha.concat(), m_sk);
    let form = |p: u64| if digits { &product / p } else { BigUint::one() };
    let rows = matrix(b.moduli(), q.moduli(), |m, p| (&room / m, form(p)))?;
    let sums = convert(counter, low, q.moduli(), &rows);
    let negated =
        q.moduli().iter().map(|&p| ratio(&(&room * (p - 1)), &form(p), p)).collect::<Result<Vec<_>>>()?;
    Ok(add(q.moduli(), &sums, &spread(counter, &alpha, q.moduli(), &negated)))
}
