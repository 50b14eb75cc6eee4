//! Tests that the counted products are the integers that the definitions give, and that counts are the formulas.

use chacha20::ChaCha20Rng;
use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_traits::{One, ToPrimitive, Zero};
use rand_core::{Rng, SeedableRng};
use sunzi_math::{Crt, primes_below};

use super::known::Known;
use super::*;

const N: usize = 64;
const T: u64 = 1024;

fn setting(k: usize, m_tilde: u64) -> Setting {
    let primes = primes_below(1 << 30, 2 * N as u64, 2 * k + 1).unwrap();
    let (q, b_sk) = primes.split_at(k);
    Setting::new(N, q, b_sk, m_tilde, T).unwrap()
}

fn uniform(basis: &Basis, rng: &mut ChaCha20Rng) -> Limbs {
    basis.moduli().iter().map(|&q| (0..N).map(|_| rng.next_u64() % q).collect()).collect()
}

fn residue(x: &BigInt, q: u64) -> u64 {
    x.mod_floor(&BigInt::from(q)).to_u64().unwrap()
}

/// Σ |x_i·factor·q_i/q|_{q_i}·(q/q_i) in integers: FastBconv without a target.
fn rough(basis: &Basis, x: &[u64], factor: u64) -> BigInt {
    let product = basis.product();
    let term = |(&q_i, &x): (&u64, &u64)| {
        let quotient = &product / q_i;
        let inverse = mod_inv(remainder(&quotient, q_i), q_i).unwrap();
        BigInt::from(BigUint::from(x) * factor * inverse % q_i * quotient)
    };
    basis.moduli().iter().zip(x).map(term).sum()
}

fn column(x: &Limbs, i: usize) -> Vec<u64> {
    x.iter().map(|limb| limb[i]).collect()
}

/// The lift of `[BEHZ16, Lemma 4]` in integers: (c″ + q·r)/m̃ with r = [−c″/q]_m̃.
fn lifted(setting: &Setting, x: &Limbs, i: usize) -> BigInt {
    let (q, m_tilde) = (BigInt::from(setting.q.product()), BigInt::from(setting.m_tilde));
    let rough = rough(&setting.q, &column(x, i), setting.m_tilde);
    let half = setting.m_tilde as i64 / 2;
    let r = (-half..half).map(BigInt::from);
    let sum = r.map(|r| &rough + &q * r).find(|sum| sum.is_multiple_of(&m_tilde)).unwrap();
    sum / m_tilde
}

/// The product of integer polynomials modulo X^n + 1.
fn product(a: &[BigInt], b: &[BigInt]) -> Vec<BigInt> {
    let mut sums = vec![BigInt::zero(); N];
    for (i, a) in a.iter().enumerate() {
        for (j, b) in b.iter().enumerate() {
            match i + j < N {
                true => sums[i + j] += a * b,
                false => sums[i + j - N] -= a * b,
            }
        }
    }
    sums
}

/// Parts c_0 and c_1 of the scaled product, and digits of c_2, by the definitions: (t·c − FastBconv(t·c))/q.
fn expected(setting: &Setting, a: &Pair, b: &Pair) -> [Limbs; 3] {
    let q = BigInt::from(setting.q.product());
    let lift = |x: &Limbs| (0..N).map(|i| lifted(setting, x, i)).collect::<Vec<_>>();
    let [a, b] = [a, b].map(|pair| [lift(&pair[0]), lift(&pair[1])]);
    let middle = product(&a[0], &b[1]).into_iter().zip(product(&a[1], &b[0])).map(|(x, y)| x + y).collect();
    let parts: [Vec<BigInt>; 3] = [product(&a[0], &b[0]), middle, product(&a[1], &b[1])];
    let floored = |c: &BigInt| {
        let residues: Vec<u64> = setting.q.moduli().iter().map(|&q| residue(&(c * setting.t), q)).collect();
        (c * setting.t - rough(&setting.q, &residues, 1)) / &q
    };
    let limbs = |part: Vec<BigInt>, factors: &[u64]| -> Limbs {
        let part: Vec<BigInt> = part.iter().map(floored).collect();
        let limb = |(&q, &f): (&u64, &u64)| part.iter().map(|x| residue(&(x * f), q)).collect();
        setting.q.moduli().iter().zip(factors).map(limb).collect()
    };
    let [c0, c1, c2] = parts;
    let one = vec![1; setting.q.count()];
    let digits = ratios(setting.q.moduli(), |q_i| (BigUint::one(), setting.q.product() / q_i)).unwrap();
    [limbs(c0, &one), limbs(c1, &one), limbs(c2, &digits)]
}

#[test]
fn both_forms_are_the_integers_of_the_definitions() {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    for (k, m_tilde) in [(1, 1 << 8), (2, 1 << 8), (3, 1 << 10), (5, 1 << 8)] {
        let setting = setting(k, m_tilde);
        let mut pair = || [uniform(&setting.q, &mut rng), uniform(&setting.q, &mut rng)];
        let (a, b) = (pair(), pair());
        let expected = expected(&setting, &a, &b);
        let read = scaled(&setting, &Form::Read.step(), &mut Steps::new(N), [&a, &b]).unwrap();
        assert!(read == expected, "k = {k}");
        let (uncounted, factors) = (Counter::default(), setting.representation().unwrap());
        let represented = |x: &Pair| [0, 1].map(|i| uncounted.scale(setting.q.moduli(), &x[i], &factors));
        let (a, b) = (represented(&a), represented(&b));
        let folded = scaled(&setting, &Form::Folded.step(), &mut Steps::new(N), [&a, &b]).unwrap();
        assert!(folded == expected, "k = {k}");
    }
}

#[test]
fn lifts_are_uncentred_and_bounded_as_in_lemma_4() {
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    let setting = setting(6, 1 << 8);
    let x = uniform(&setting.q, &mut rng);
    let lifts = lift(&setting, &x).unwrap();
    let q = BigInt::from(setting.q.product());
    let crt = Crt::new(setting.b_sk().moduli()).unwrap();
    for i in 0..N {
        let got = crt.reconstruct_centered(&column(&lifts, i)).unwrap();
        assert_eq!(got, lifted(&setting, &x, i));
        // −q/2 ≤ c′ < q/2 + k·q/m̃: the overflow goes one way only.
        assert!(&got * 2 >= -&q && &got * 2 * 256 < &q * (256 + 2 * 6), "{got}");
        assert!(setting.q.moduli().iter().zip(&x).all(|(&q, limb)| residue(&got, q) == limb[i]));
    }
    assert!(Setting::new(N, &[(1 << 32) + 15], &[97], 256, T).is_err());
}

fn total(costs: &[Cost]) -> [u64; 3] {
    let Cost { ntt, inverse_ntt, products } = Cost::sum(costs);
    [ntt, inverse_ntt, products]
}

#[test]
fn counts_are_the_formulas_and_products_decrypt() {
    for k in [2, 3, 5] {
        let setting = setting(k, 1 << 16);
        let known = Known::new(&setting.q, N, T).unwrap();
        let key = known.key(&rns_gadget(&setting.q)).unwrap();
        let [a, b] = &known.pairs;
        let (product, costs) = multiply(&setting, Form::Read, [a, b], &key).unwrap();
        known.check(&product, "the form as it reads").unwrap();
        let k = k as u64;
        assert_eq!(total(&costs), [k * k + 8 * k + 4, 8 * k + 3, 12 * k * k + 51 * k + 24], "k = {k}");

        let (uncounted, moduli) = (Counter::default(), setting.q.moduli());
        let factors = setting.representation().unwrap();
        let [a, b] = [a, b].map(|x| [0, 1].map(|i| uncounted.scale(moduli, &x[i], &factors)));
        let (folded, costs) = multiply(&setting, Form::Folded, [&a, &b], &key).unwrap();
        assert_eq!(total(&costs), [k * k + 8 * k + 4, 8 * k + 3, 12 * k * k + 29 * k + 7], "k = {k}");
        assert!(folded == product.map(|part| uncounted.scale(moduli, &part, &factors)));
    }
}

#[test]
fn a_wrong_product_is_refused() {
    let setting = setting(2, 1 << 8);
    let known = Known::new(&setting.q, N, T).unwrap();
    let key = known.key(&rns_gadget(&setting.q)).unwrap();
    let (mut product, _) = multiply(&setting, Form::Read, [&known.pairs[0], &known.pairs[1]], &key).unwrap();
    product[0][0][5] = (product[0][0][5] + 1) % setting.q.moduli()[0];
    assert!(known.check(&product, "a test").unwrap_err().to_string().contains("a test"));
}

#[test]
fn multi_precision_rounds_exactly_and_decrypts() {
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    for k in [1, 2, 4] {
        let primes = primes_below(1 << 30, 2 * N as u64, 2 * k + 1).unwrap();
        let (q, auxiliary) = primes.split_at(k);
        let [q, auxiliary] = [q, auxiliary].map(|moduli| Basis::new(N, moduli).unwrap());
        let setting = multi_precision::Setting { q, auxiliary, t: T };
        let (q, all) = (BigInt::from(setting.q.product()), setting.q.with(&setting.auxiliary));
        // Exact at the ends of the range and in between.
        let mut x = uniform(&all, &mut rng);
        let half = BigInt::from(all.product() / 2_u32);
        for (i, end) in [BigInt::zero(), 1.into(), (-1).into(), half.clone(), -half].iter().enumerate() {
            x.iter_mut().zip(all.moduli()).for_each(|(limb, &p)| limb[i] = residue(end, p));
        }
        let crt = Crt::new(all.moduli()).unwrap();
        let [residues, digits] = multi_precision::divided(&setting, &x).unwrap();
        for i in 0..N {
            let c = crt.reconstruct_centered(&column(&x, i)).unwrap();
            let twice: BigInt = c * T * 2 + &q;
            let rounded = twice.div_floor(&(&q * 2));
            assert!(
                setting.q.moduli().iter().zip(&residues).all(|(&p, limb)| limb[i] == residue(&rounded, p))
            );
            let joined = digits.iter().rev().fold(BigInt::zero(), |sum, limb| (sum << 30) + limb[i]);
            assert_eq!(joined, rounded.mod_floor(&q), "k = {k}");
        }
        if k > 1 {
            let known = Known::new(&setting.q, N, T).unwrap();
            let key = known.key(&multi_precision::gadget(&setting.q)).unwrap();
            let [a, b] = &known.pairs;
            let (product, costs) = multi_precision::multiply(&setting, [a, b], &key).unwrap();
            known.check(&product, "Mult_MP").unwrap();
            let k = k as u64;
            assert_eq!(total(&costs)[..2], [k * k + 8 * k + 4, 8 * k + 3]);
            assert_eq!(costs[1].products + costs[3].products, 2 * k * k + 6 * k + 3);
        }
    }
}
