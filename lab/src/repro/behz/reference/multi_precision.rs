//! Mult_MP of `[BEHZ16, B.3]` word for word: products by transforms modulo q and B', lifts and divisions by integers of
//! words of 30 bits, which are multiplied as at school.

use num_bigint::BigUint;
use num_traits::{One, ToPrimitive};
use sunzi_math::mod_inv;

use super::{Cost, Key, Steps, switch};
use crate::Result;
use crate::repro::kpz::reference::conversion::remainder;
use crate::repro::kpz::reference::multiplication::{Pair, each, tensor_values};
use crate::repro::kpz::reference::{Basis, Counter, Limbs, add};

/// Number of bits of a word, ν of the moduli of the baseline.
pub(crate) const BITS: usize = 30;
const MASK: u64 = (1 << BITS) - 1;

/// The steps whose costs [`multiply`] tells: those with big integers count multiplications of words.
pub(crate) const STEPS: [&str; 4] = ["lift", "product", "division", "relinearisation"];

/// Setting of a product by Mult_MP: a basis of q, a basis B' of one modulus more, and t.
pub(crate) struct Setting {
    pub(crate) q: Basis,
    pub(crate) auxiliary: Basis,
    pub(crate) t: u64,
}

/// The gadget ω^i of digits in radix ω = 2^30 `[BEHZ16, eq. (7)]`.
pub(crate) fn gadget(q: &Basis) -> Vec<BigUint> {
    (0..length(&q.product())).map(|i| BigUint::one() << (i * BITS)).collect()
}

/// Product of two ciphertexts by Mult_MP, and the cost of each of its [`STEPS`].
///
/// # Errors
/// Errors of the arithmetic, none of which is expected of a setting whose moduli are coprime.
pub(crate) fn multiply(setting: &Setting, [a, b]: [&Pair; 2], key: &Key) -> Result<(Pair, Vec<Cost>)> {
    let Setting { q, auxiliary, .. } = setting;
    let (degree, all) = (a[0].first().map_or(0, Vec::len), q.with(auxiliary));
    let mut steps = Steps::new(degree);
    let lift = Lift::new(q)?;
    let [a0, b0, a1, b1] = steps.run(|counter| {
        super::four([&a[0], &b[0], &a[1], &b[1]], |x| {
            let high = each_coefficient(x, auxiliary.moduli(), |residues, out| {
                lift.centred(counter, residues).remainders(counter, auxiliary.moduli(), out);
            });
            Ok([&x[..], &high[..]].concat())
        })
    })?;
    let product = steps.run(|counter| {
        let values = tensor_values(counter, &all, [a0, a1], [b0, b1])?;
        each(values, |x| counter.inverse(&all, x))
    })?;
    let rounding = Rounding::new(setting, &all)?;
    let [c0, c1, digits] = steps.run(|counter| {
        let [c0, c1, c2] = product;
        let residues = |x: &Limbs| rounding.residues(counter, q.moduli(), x);
        Ok([residues(&c0), residues(&c1), rounding.digits(counter, &lift, &c2)])
    })?;
    let [d0, d1] = steps.run(|counter| switch(counter, q, &digits, key))?;
    Ok(([add(q.moduli(), &c0, &d0), add(q.moduli(), &c1, &d1)], steps.costs))
}

/// What the division does to one polynomial: the residues of ⌊t/q·c⌉, and its digits in radix ω.
#[cfg(test)]
pub(super) fn divided(setting: &Setting, x: &Limbs) -> Result<[Limbs; 2]> {
    let Setting { q, auxiliary, .. } = setting;
    let (uncounted, rounding) = (Counter::default(), Rounding::new(setting, &q.with(auxiliary))?);
    let digits = rounding.digits(&uncounted, &Lift::new(q)?, x);
    Ok([rounding.residues(&uncounted, q.moduli(), x), digits])
}

/// Computes a column of results from the column of residues of every coefficient; a row for each of `rows`.
fn each_coefficient(x: &Limbs, rows: &[u64], mut how: impl FnMut(&[u64], &mut [u64])) -> Limbs {
    let n = x.first().map_or(0, Vec::len);
    let mut limbs = vec![Vec::with_capacity(n); rows.len()];
    let mut out = vec![0; rows.len()];
    for i in 0..n {
        let residues: Vec<u64> = x.iter().filter_map(|limb| limb.get(i).copied()).collect();
        how(&residues, &mut out);
        limbs.iter_mut().zip(&out).for_each(|(limb, &word)| limb.push(word));
    }
    limbs
}

/// An integer as its sign and the words of its absolute value, lowest first.
struct Signed {
    negative: bool,
    words: Vec<u64>,
}

impl Signed {
    /// Remainders modulo moduli of one word: two multiplications for each word and modulus, one by a reciprocal.
    fn remainders(&self, counter: &Counter, moduli: &[u64], out: &mut [u64]) {
        for (out, &p) in out.iter_mut().zip(moduli) {
            let reciprocal = (1 << (2 * BITS)) / p;
            let rest = self.words.iter().rev().fold(0, |rest, word| {
                counter.add_products(2);
                let x = rest << BITS | word;
                let mut rest = x - (((x >> (BITS - 1)) * reciprocal) >> (BITS + 1)) * p;
                while rest >= p {
                    rest -= p;
                }
                rest
            });
            *out = if self.negative && rest > 0 { p - rest } else { rest };
        }
    }
}

/// Tables that take residues to the integer modulo their product.
struct Lift {
    /// The integers |(q/q_i)^-1|_{q_i}·(q/q_i).
    terms: Vec<Vec<u64>>,
    modulus: Vec<u64>,
    half: Vec<u64>,
    /// ⌊2^(30(k + 2) − 1)/q⌋ for q of k words.
    reciprocal: Vec<u64>,
}

impl Lift {
    fn new(basis: &Basis) -> Result<Self> {
        let q = basis.product();
        let count = length(&q);
        let term = |&q_i: &u64| {
            let quotient = &q / q_i;
            Ok(words(&(&quotient * mod_inv(remainder(&quotient, q_i), q_i)?), count))
        };
        let reciprocal = (BigUint::one() << (BITS * (count + 2) - 1)) / &q;
        Ok(Self {
            terms: basis.moduli().iter().map(term).collect::<Result<_>>()?,
            modulus: words(&q, count),
            half: words(&(&q / 2_u32), count),
            reciprocal: words(&reciprocal, length(&reciprocal)),
        })
    }

    /// The integer of these residues of least absolute value: k words times a residue for each of them.
    fn centred(&self, counter: &Counter, residues: &[u64]) -> Signed {
        let mut sum = vec![0; self.modulus.len() + 2];
        for (&x, term) in residues.iter().zip(&self.terms) {
            add_assign(&mut sum, &product(counter, term, &[x]));
        }
        let mut words = self.reduce(counter, sum);
        let negative = is_less(&self.half, &words);
        if negative {
            words = difference(&self.modulus, &words);
        }
        Signed { negative, words }
    }

    /// The residue in [0, q) of an integer.
    fn residue(&self, counter: &Counter, x: Signed) -> Vec<u64> {
        let rest = self.reduce(counter, x.words);
        if x.negative && rest.iter().any(|&word| word > 0) { difference(&self.modulus, &rest) } else { rest }
    }

    /// Reduces an integer of at most k + 2 words modulo q, by a precomputed quotient.
    fn reduce(&self, counter: &Counter, mut x: Vec<u64>) -> Vec<u64> {
        let count = self.modulus.len();
        x.resize(count + 2, 0);
        let estimate = product(counter, &x, &self.reciprocal);
        let high = estimate.get(count + 1..).unwrap_or_default();
        // One bit less than count + 2 words.
        let quotient: Vec<u64> = (0..2)
            .map(|i| {
                let word = |i: usize| high.get(i).copied().unwrap_or(0);
                (word(i) >> (BITS - 1) | word(i + 1) << 1) & MASK
            })
            .collect();
        let mut rest = difference(&x, &product(counter, &self.modulus, &quotient));
        while !is_less(&rest, &self.modulus) {
            rest = difference(&rest, &self.modulus);
        }
        rest.truncate(count);
        rest
    }
}

/// Tables of DR, ⌊t/q·c⌉ for c modulo q and B'.
struct Rounding {
    lift: Lift,
    /// ⌊2^(30·fraction)·t/q⌋, with fraction = 3k + 1 words behind the point.
    ratio: Vec<u64>,
    fraction: usize,
}

impl Rounding {
    fn new(setting: &Setting, all: &Basis) -> Result<Self> {
        let fraction = 3 * setting.q.count() + 1;
        let ratio = (BigUint::from(setting.t) << (BITS * fraction)) / setting.q.product();
        Ok(Self { lift: Lift::new(all)?, ratio: words(&ratio, length(&ratio)), fraction })
    }

    fn residues(&self, counter: &Counter, moduli: &[u64], x: &Limbs) -> Limbs {
        each_coefficient(x, moduli, |residues, out| {
            self.apply(counter, residues).remainders(counter, moduli, out);
        })
    }

    /// The digits of the result modulo q in radix ω, which are its words.
    fn digits(&self, counter: &Counter, lift: &Lift, x: &Limbs) -> Limbs {
        each_coefficient(x, &lift.modulus, |residues, out| {
            out.copy_from_slice(&lift.residue(counter, self.apply(counter, residues)));
        })
    }

    fn apply(&self, counter: &Counter, residues: &[u64]) -> Signed {
        let Signed { negative, words } = self.lift.centred(counter, residues);
        let mut scaled = product(counter, &words, &self.ratio);
        let mut half = vec![0; self.fraction];
        half.iter_mut().last().into_iter().for_each(|word| *word = 1 << (BITS - 1));
        add_assign(&mut scaled, &half);
        Signed { negative, words: scaled.split_off(self.fraction.min(scaled.len())) }
    }
}

/// Number of words of an integer.
fn length(x: &BigUint) -> usize {
    (x.bits() as usize).div_ceil(BITS)
}

fn words(x: &BigUint, length: usize) -> Vec<u64> {
    (0..length).map(|i| ((x >> (i * BITS)) & BigUint::from(MASK)).to_u64().unwrap_or(0)).collect()
}

/// Product as at school: one multiplication for each pair of words.
fn product(counter: &Counter, a: &[u64], b: &[u64]) -> Vec<u64> {
    counter.add_products(a.len() * b.len());
    let mut sums = vec![0; a.len() + b.len()];
    for (i, &a) in a.iter().enumerate() {
        let mut carry = 0;
        let (_, rest) = sums.split_at_mut(i);
        for (sum, &b) in rest.iter_mut().zip(b.iter().chain([&0])) {
            let all = a * b + *sum + carry;
            (*sum, carry) = (all & MASK, all >> BITS);
        }
    }
    sums
}

fn add_assign(a: &mut [u64], b: &[u64]) {
    let mut carry = 0;
    for (a, b) in a.iter_mut().zip(b.iter().chain(std::iter::repeat(&0))) {
        let sum = *a + b + carry;
        (*a, carry) = (sum & MASK, sum >> BITS);
    }
}

/// Difference a − b of integers with b ≤ a.
fn difference(a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut borrow = 0;
    let words = a.iter().zip(b.iter().chain(std::iter::repeat(&0)));
    words
        .map(|(a, b)| {
            let rest = a + (1 << BITS) - b - borrow;
            borrow = u64::from(rest <= MASK);
            rest & MASK
        })
        .collect()
}

/// Whether a < b, for lists of any lengths.
fn is_less(a: &[u64], b: &[u64]) -> bool {
    let word = |x: &[u64], i: usize| x.get(i).copied().unwrap_or(0);
    let unequal = (0..a.len().max(b.len())).rev().find(|&i| word(a, i) != word(b, i));
    unequal.is_some_and(|i| word(a, i) < word(b, i))
}
