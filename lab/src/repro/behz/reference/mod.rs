//! The products of `[BEHZ16]` word for word, plain and slow, every operation counted.
//!
//! [`multiply`] is `[BEHZ16, Alg. 3]` in two forms: as Algorithms 2 and 3 read, and with every constant that can be
//! precomputed multiplied into the matrices and the inverse transforms, as appendix B.3 counts. Both give the same
//! residues. [`multi_precision`] is the baseline of B.3. What counts is what the formulas speak of: transforms of one
//! limb, and multiplications of two words. Additions and comparisons do not.

mod folded;
pub(super) mod known;
pub(super) mod multi_precision;
mod read;
#[cfg(test)]
mod tests;

use num_bigint::BigUint;
use sunzi_math::mod_inv;

use known::residues;

use crate::repro::kpz::reference::conversion::remainder;
use crate::repro::kpz::reference::multiplication::{Pair, each, tensor_values};
use crate::repro::kpz::reference::{Basis, Counter, Limbs, add, subtract};
use crate::{LabError, Result};

/// The steps whose costs [`multiply`] tells, with the last for the way back to the form of the operands.
pub(super) const STEPS: [&str; 7] = ["S0", "S1", "S2", "S3", "S4", "S5", "m̃"];

/// Setting of a product by `[BEHZ16, Alg. 3]`.
pub(super) struct Setting {
    /// Basis of the ciphertext modulus q.
    q: Basis,
    /// Basis B of as many moduli.
    b: Basis,
    /// The modulus m_sk alone, redundant beside B.
    sk: Basis,
    /// Modulus m̃ of the small Montgomery reduction, a power of two; 1 for lifts without it.
    m_tilde: u64,
    /// Plaintext modulus t.
    t: u64,
}

impl Setting {
    /// The setting of a product modulo the product of `moduli`, with the moduli of B_sk, m_sk last.
    ///
    /// # Errors
    /// [`LabError::Failed`] for moduli from 2^32 on, whose products the sums of a conversion have no room for.
    pub(super) fn new(degree: usize, moduli: &[u64], b_sk: &[u64], m_tilde: u64, t: u64) -> Result<Self> {
        if let Some(long) = moduli.iter().chain(b_sk).find(|&&modulus| modulus >> 32 != 0) {
            let text =
                format!("expected moduli below 2^32, got {long}: the reference sums products of words");
            return Err(LabError::Failed(text));
        }
        let (sk, b) =
            b_sk.split_last().map_or((&[][..], &[][..]), |(last, b)| (std::slice::from_ref(last), b));
        let basis = |moduli| Basis::new(degree, moduli);
        Ok(Self { q: basis(moduli)?, b: basis(b)?, sk: basis(sk)?, m_tilde, t })
    }

    /// The basis B_sk: B, then m_sk.
    fn b_sk(&self) -> Basis {
        self.b.with(&self.sk)
    }

    /// The modulus m_sk.
    fn m_sk(&self) -> u64 {
        self.sk.moduli().first().copied().unwrap_or(1)
    }

    /// The basis in which products are computed: q, then B_sk.
    fn all(&self) -> Basis {
        self.q.with(&self.b_sk())
    }

    /// The moduli of B_sk, then m̃.
    fn targets(&self) -> Vec<u64> {
        self.b_sk().moduli().iter().copied().chain([self.m_tilde]).collect()
    }
}

/// The form of a counted product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Steps as Algorithms 2 and 3 of `[BEHZ16]` read, one multiplication for each that is written.
    Read,
    /// Constants multiplied into matrices and inverse transforms; residues modulo q stay times |m̃·q_i/q|_{q_i}, in
    /// which FastBconv takes them `[BEHZ16, B.3]`.
    Folded,
}

/// Costs of a step of a product.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cost {
    /// Number of forward transforms of one limb.
    pub(super) ntt: u64,
    /// Number of inverse transforms of one limb.
    pub(super) inverse_ntt: u64,
    /// Number of multiplications of n pairs of words.
    pub(super) products: u64,
}

impl Cost {
    /// The cost of all steps together.
    pub(super) fn sum(steps: &[Self]) -> Self {
        steps.iter().fold(Self::default(), |sum, step| Self {
            ntt: sum.ntt + step.ntt,
            inverse_ntt: sum.inverse_ntt + step.inverse_ntt,
            products: sum.products + step.products,
        })
    }
}

/// Runs a step with a counter of its own, and notes its cost.
struct Steps {
    degree: usize,
    costs: Vec<Cost>,
}

impl Steps {
    fn new(degree: usize) -> Self {
        Self { degree, costs: Vec::new() }
    }

    fn run<T>(&mut self, step: impl FnOnce(&Counter) -> Result<T>) -> Result<T> {
        let counter = Counter::default();
        let result = step(&counter)?;
        let (counts, inverse_ntt) = (counter.counts(self.degree), counter.inverses());
        self.costs.push(Cost {
            ntt: counts.transforms - inverse_ntt,
            inverse_ntt,
            products: counts.products,
        });
        Ok(result)
    }
}

/// The relinearisation key rlk of a gadget (g_i): pairs (g_i·s² − (a_i·s + e_i), a_i) of values.
pub(super) type Key = Vec<[Limbs; 2]>;

/// Makes the key of a secret, with the gadget g_i of the digits that are to be multiplied: q/q_i or ω^i.
pub(super) fn key(
    q: &Basis,
    secret: &[i64],
    gadget: &[BigUint],
    mut uniform: impl FnMut(u64) -> Vec<u64>,
    mut error: impl FnMut() -> Vec<i64>,
) -> Result<Key> {
    let uncounted = Counter::default();
    let values = |x: &[i64]| uncounted.forward(q, residues(q, x));
    let secret = values(secret)?;
    let square = uncounted.pointwise(q, &secret, &secret);
    gadget
        .iter()
        .map(|g| {
            let a: Limbs = q.moduli().iter().map(|&q| uniform(q)).collect();
            let hidden = add(q.moduli(), &uncounted.pointwise(q, &a, &secret), &values(&error())?);
            let factors: Vec<u64> = q.moduli().iter().map(|&q| remainder(g, q)).collect();
            let source = uncounted.scale(q.moduli(), &square, &factors);
            Ok([subtract(q.moduli(), &source, &hidden), a])
        })
        .collect()
}

/// The gadget q/q_i of the digits ξ_q `[BEHZ16, 4.5]`.
pub(super) fn rns_gadget(q: &Basis) -> Vec<BigUint> {
    q.moduli().iter().map(|&one| q.product() / one).collect()
}

/// Both scalar products of digits with a key, in coefficients: one transform of each digit modulo each q_j.
fn switch(counter: &Counter, q: &Basis, digits: &[Vec<u64>], key: &Key) -> Result<Pair> {
    let zero: Limbs = q.moduli().iter().map(|_| vec![0; digits.first().map_or(0, Vec::len)]).collect();
    let mut sums = [zero.clone(), zero];
    for (digit, key) in digits.iter().zip(key) {
        let everywhere = q.moduli().iter().map(|&q| digit.iter().map(|&x| x % q).collect()).collect();
        let values = counter.forward(q, everywhere)?;
        for (sum, key) in sums.iter_mut().zip(key) {
            *sum = add(q.moduli(), sum, &counter.pointwise(q, &values, key));
        }
    }
    let [c0, c1] = sums;
    Ok([counter.inverse(q, c0)?, counter.inverse(q, c1)?])
}

/// How a form does the steps to one polynomial, each of which it counts.
struct Step {
    /// S0: residues modulo q to B_sk and m̃.
    convert_up: fn(&Counter, &Setting, &Limbs) -> Result<Limbs>,
    /// S1: those to B_sk.
    reduce: fn(&Counter, &Setting, Limbs) -> Result<Limbs>,
    /// What the inverse transforms of S2 multiply the limbs of q and B_sk by.
    factors: fn(&Setting) -> Result<Vec<u64>>,
    /// S3: residues modulo q and B_sk to B_sk.
    floor: fn(&Counter, &Setting, Limbs) -> Result<Limbs>,
    /// S4: those to q, or to their digits ξ_q.
    convert_back: fn(&Counter, &Setting, &Limbs, bool) -> Result<Limbs>,
}

impl Form {
    fn step(self) -> Step {
        match self {
            Self::Read => read::STEPS,
            Self::Folded => folded::STEPS,
        }
    }
}

/// S0 and S1 of one polynomial, not counted: its lift modulo every prime of B_sk; where m̃ is 1 that of FastBconv alone,
/// in [0, kq).
pub(super) fn lift(setting: &Setting, x: &Limbs) -> Result<Limbs> {
    let uncounted = Counter::default();
    if setting.m_tilde == 1 {
        return read::fast_conversion(&uncounted, &setting.q, setting.b_sk().moduli(), x, 1);
    }
    let step = Form::Read.step();
    (step.reduce)(&uncounted, setting, (step.convert_up)(&uncounted, setting, x)?)
}

/// S0 to S4: two parts modulo q of the scaled product, and the digits ξ_q of the third.
fn scaled(setting: &Setting, step: &Step, steps: &mut Steps, [a, b]: [&Pair; 2]) -> Result<[Limbs; 3]> {
    let parts = [&a[0], &a[1], &b[0], &b[1]];
    let rough = steps.run(|counter| four(parts, |x| (step.convert_up)(counter, setting, x)))?;
    let lifted = steps.run(|counter| four(rough, |x| (step.reduce)(counter, setting, x)))?;
    let [a0, a1, b0, b1] = parts;
    let [high_a0, high_a1, high_b0, high_b1] = &lifted;
    let wide = |low: &Limbs, high: &Limbs| [&low[..], &high[..]].concat();
    let (a, b) = ([wide(a0, high_a0), wide(a1, high_a1)], [wide(b0, high_b0), wide(b1, high_b1)]);
    let all = setting.all();
    let factors = (step.factors)(setting)?;
    let product = steps.run(|counter| {
        let values = tensor_values(counter, &all, a, b)?;
        each(values, |x| counter.inverse_scaled(&all, x, &factors))
    })?;
    let [c0, c1, c2] = steps.run(|counter| each(product, |x| (step.floor)(counter, setting, x)))?;
    steps.run(|counter| {
        let back = |x: &Limbs, digits| (step.convert_back)(counter, setting, x, digits);
        Ok([back(&c0, false)?, back(&c1, false)?, back(&c2, true)?])
    })
}

fn four<T, U>([a, b, c, d]: [T; 4], mut how: impl FnMut(T) -> Result<U>) -> Result<[U; 4]> {
    Ok([how(a)?, how(b)?, how(c)?, how(d)?])
}

/// Product of two ciphertexts by `[BEHZ16, Alg. 3]`, and the cost of each of its [`STEPS`]. In the folded form operands
/// and result are times |m̃·q_i/q|_{q_i}.
///
/// # Errors
/// Errors of the arithmetic, none of which is expected of a setting whose moduli are coprime.
pub(super) fn multiply(
    setting: &Setting,
    form: Form,
    operands: [&Pair; 2],
    key: &Key,
) -> Result<(Pair, Vec<Cost>)> {
    let mut steps = Steps::new(operands[0][0].first().map_or(0, Vec::len));
    let q = &setting.q;
    let [c0, c1, digits] = scaled(setting, &form.step(), &mut steps, operands)?;
    let [d0, d1] = steps.run(|counter| switch(counter, q, &digits, key))?;
    let product = [add(q.moduli(), &c0, &d0), add(q.moduli(), &c1, &d1)];
    let product = steps.run(|counter| match form {
        Form::Read => Ok(product),
        Form::Folded => {
            let factors = setting.representation()?;
            Ok(product.map(|part| counter.scale(q.moduli(), &part, &factors)))
        }
    })?;
    Ok((product, steps.costs))
}

impl Setting {
    /// The factors |m̃·q_i/q|_{q_i} in which the folded form has its residues.
    pub(super) fn representation(&self) -> Result<Vec<u64>> {
        let product = self.q.product();
        ratios(self.q.moduli(), |q_i| (self.m_tilde.into(), &product / q_i))
    }
}

/// The residue of a quotient num/den modulo p, for den coprime to p.
fn ratio(num: &BigUint, den: &BigUint, p: u64) -> Result<u64> {
    let inverse = mod_inv(remainder(den, p), p)?;
    Ok((u128::from(remainder(num, p)) * u128::from(inverse) % u128::from(p)) as u64)
}

/// The residue of a quotient modulo each of several moduli, on which the quotient depends.
fn ratios(moduli: &[u64], of: impl Fn(u64) -> (BigUint, BigUint)) -> Result<Vec<u64>> {
    moduli.iter().map(|&p| of(p)).zip(moduli).map(|((num, den), &p)| ratio(&num, &den, p)).collect()
}

/// The matrix of a conversion: for each target p a row of num/den modulo p over the sources.
fn matrix(from: &[u64], to: &[u64], of: impl Fn(u64, u64) -> (BigUint, BigUint)) -> Result<Vec<Vec<u64>>> {
    let entry = |p: u64, q: u64| of(q, p);
    let row = |&p: &u64| from.iter().map(|&q| entry(p, q)).map(|(num, den)| ratio(&num, &den, p)).collect();
    to.iter().map(row).collect()
}

/// Products of a matrix with residues, each reduced once: k·n multiplications for each row over k moduli.
///
/// Moduli below 2^32 keep sums of 2^64 terms within 128 bits.
fn convert(counter: &Counter, x: &[Vec<u64>], to: &[u64], rows: &[Vec<u64>]) -> Limbs {
    let n = x.first().map_or(0, Vec::len);
    let one = |(&p, row): (&u64, &Vec<u64>)| {
        let mut sums = vec![0_u128; n];
        for (limb, &factor) in x.iter().zip(row) {
            counter.add_products(limb.len());
            sums.iter_mut().zip(limb).for_each(|(sum, &x)| *sum += u128::from(x * factor));
        }
        sums.into_iter().map(|sum| (sum % u128::from(p)) as u64).collect()
    };
    to.iter().zip(rows).map(one).collect()
}

/// The residues of centred integers times a constant modulo each prime: n multiplications for each.
fn spread(counter: &Counter, x: &[i64], moduli: &[u64], factors: &[u64]) -> Limbs {
    let one = |(&p, &factor): (&u64, &u64)| x.iter().map(|&x| counter.multiply(x, factor, p)).collect();
    moduli.iter().zip(factors).map(one).collect()
}

/// Residues modulo m as integers from −m/2 on.
fn centred(limb: &[u64], m: u64) -> Vec<i64> {
    limb.iter().map(|&x| if 2 * x >= m { x as i64 - m as i64 } else { x as i64 }).collect()
}
