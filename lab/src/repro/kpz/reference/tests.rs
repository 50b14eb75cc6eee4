//! Tests that results of the reference algorithms are right, and that counts are those of the formulas.

use chacha20::ChaCha20Rng;
use num_bigint::{BigInt, BigUint};
use num_traits::{Signed, ToPrimitive, Zero};
use rand_core::{Rng, SeedableRng};
use sunzi_math::{Crt, primes_below};

use super::key_switching::{self, Scheme, residues};
use super::multiplication::{self, Pair};
use super::{Basis, Counter, Counts, Limbs, add, conversion};
use crate::repro::kpz::formulas::{self, corrected};

const N: usize = 64;
const T: u64 = 257;
const SCHEMES: [Scheme; 2] = [Scheme::Bfv, Scheme::Bgv { plain_modulus: T }];

fn bases(counts: [usize; 2]) -> [Basis; 2] {
    let primes = primes_below(1 << 30, 2 * N as u64, counts.iter().sum()).unwrap();
    let (first, second) = primes.split_at(counts[0]);
    [Basis::new(N, first).unwrap(), Basis::new(N, second).unwrap()]
}

fn integers(basis: &Basis, x: &Limbs) -> Vec<BigInt> {
    let crt = Crt::new(basis.moduli()).unwrap();
    let at = |c| x.iter().map(|limb| limb[c]).collect::<Vec<u64>>();
    (0..N).map(|c| crt.reconstruct_centered(&at(c)).unwrap()).collect()
}

fn uniform(basis: &Basis, rng: &mut ChaCha20Rng) -> Limbs {
    basis.moduli().iter().map(|&q| (0..N).map(|_| rng.next_u64() % q).collect()).collect()
}

/// The residues of big integers modulo each prime of a basis.
fn big_residues(basis: &Basis, x: &[BigInt]) -> Limbs {
    let one = |q: &u64| {
        let q = BigInt::from(*q);
        x.iter().map(|x| (((x % &q) + &q) % &q).to_u64().unwrap()).collect()
    };
    basis.moduli().iter().map(one).collect()
}

/// A random integer from −bound to bound.
fn signed(rng: &mut ChaCha20Rng, bound: u64) -> i64 {
    (rng.next_u64() % (2 * bound + 1)) as i64 - bound as i64
}

fn ternary(rng: &mut ChaCha20Rng) -> Vec<i64> {
    (0..N).map(|_| signed(rng, 1)).collect()
}

fn big(x: &[i64]) -> Vec<BigInt> {
    x.iter().map(|&x| x.into()).collect()
}

/// Negacyclic product of two polynomials of big integers, by the definition.
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

fn plus(a: &[BigInt], b: &[BigInt]) -> Vec<BigInt> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

fn largest(basis: &Basis, x: &[BigInt]) -> BigInt {
    let q = BigInt::from(basis.product());
    let centred = |x: &BigInt| {
        let rest = ((x % &q) + &q) % &q;
        if &rest * 2 > q { rest - &q } else { rest }.abs()
    };
    x.iter().map(centred).max().unwrap()
}

/// Rounded quotient ⌊a/b⌉ of big integers.
fn rounded(a: BigInt, b: &BigInt) -> BigInt {
    num_integer::Integer::div_floor(&(a * 2 + b), &(b * 2))
}

#[test]
fn conversions_agree_with_integers() {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let counter = Counter::default();
    for (k, l) in [(1, 1), (2, 3), (5, 4), (7, 7)] {
        let [from, to] = bases([k, l]);
        let (big_q, big_p) = (BigInt::from(from.product()), BigInt::from(to.product()));
        let mut x = uniform(&from, &mut rng);
        // The ends of the range: 0, 1, −1, (Q − 1)/2 and its negative.
        let half: BigInt = (&big_q - 1) / 2;
        let ends =
            [0.into(), 1.into(), BigInt::from(-1), half.clone() - (&big_q >> 40), -half + (&big_q >> 40)];
        let limbs = big_residues(&from, &ends);
        for (limb, ends) in x.iter_mut().zip(&limbs) {
            limb[..5].copy_from_slice(ends);
        }
        let value = integers(&from, &x);
        assert_eq!(conversion::extend(&counter, &from, &to, &x).unwrap(), big_residues(&to, &value));
        let rough = integers(&to, &conversion::extend_roughly(&counter, &from, &to, &x).unwrap());
        for (rough, value) in rough.iter().zip(&value) {
            let within = (0..=k as i64 + 1).any(|u| {
                let u = (u - (k as i64 + 1) / 2) * &big_q;
                ((rough - value - u) % &big_p).is_zero()
            });
            assert!(within, "k = {k}");
        }
        let switched = integers(&to, &conversion::switch_roughly(&counter, &from, &to, &x).unwrap());
        for (switched, value) in switched.iter().zip(&value) {
            let error = (switched - rounded(value * &big_p, &big_q)) % &big_p;
            let error = error.clone().min(&error + &big_p).abs().min((&big_p - &error).abs());
            assert!(error <= BigInt::from(k / 2 + 1), "{error}, k = {k}");
        }
        for level in 1..=k {
            let kept = from.part(0, level);
            let down = conversion::switch_down(&counter, &from, level, &x).unwrap();
            let dropped = BigInt::from(from.part(level, k).product());
            let exact: Vec<BigInt> = value.iter().map(|v| rounded(v.clone(), &dropped)).collect();
            assert_eq!(down, big_residues(&kept, &exact), "k = {k}, level {level}");
            let up = conversion::switch_up(&counter, &from, level, &down);
            let exact: Vec<BigInt> = exact.iter().map(|v| v * &dropped).collect();
            assert_eq!(up, big_residues(&from, &exact));
        }
        let both = from.with(&to);
        let x = uniform(&both, &mut rng);
        let scaled = conversion::scale_down(&counter, &from, &to, T, &x).unwrap();
        let exact: Vec<BigInt> = integers(&both, &x).into_iter().map(|v| rounded(v * T, &big_q)).collect();
        assert_eq!(scaled, big_residues(&to, &exact));
    }
}

struct Encrypted {
    message: Vec<BigInt>,
    parts: Pair,
}

/// An encryption (Q/t)·m + e of a random message m, hidden by a random second part.
fn encrypt(basis: &Basis, secret: &[i64], rng: &mut ChaCha20Rng) -> Encrypted {
    let q = BigInt::from(basis.product());
    let message: Vec<BigInt> = (0..N).map(|_| BigInt::from(rng.next_u64() % T)).collect();
    let c1 = uniform(basis, rng);
    let mask = product(&integers(basis, &c1), &big(secret));
    let hidden =
        message.iter().zip(mask).map(|(m, mask)| rounded(m * &q, &BigInt::from(T)) + signed(rng, 500) - mask);
    let c0 = big_residues(basis, &hidden.collect::<Vec<_>>());
    Encrypted { message, parts: [c0, c1] }
}

fn decrypt(basis: &Basis, secret: &[i64], parts: &[Limbs]) -> Vec<BigInt> {
    let q = BigInt::from(basis.product());
    let mut phase = vec![BigInt::zero(); N];
    let mut power = big(&[1]);
    power.resize(N, BigInt::zero());
    for part in parts {
        phase = plus(&phase, &product(&integers(basis, part), &power));
        power = product(&power, &big(secret));
    }
    phase.into_iter().map(|c| ((rounded(c * T, &q) % T) + T) % T).collect()
}

fn multiply(
    counts: [usize; 2],
    seed: u64,
    how: impl Fn(&Counter, &multiplication::Setting, &Pair, &Pair) -> [Limbs; 3],
) -> Counts {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let [ciphertext, auxiliary] = bases(counts);
    let secret = ternary(&mut rng);
    let [a, b] = [encrypt(&ciphertext, &secret, &mut rng), encrypt(&ciphertext, &secret, &mut rng)];
    let setting = multiplication::Setting { ciphertext, auxiliary, plain_modulus: T };
    let counter = Counter::default();
    let parts = how(&counter, &setting, &a.parts, &b.parts);
    let expected: Vec<BigInt> =
        product(&a.message, &b.message).into_iter().map(|c| ((c % T) + T) % T).collect();
    assert_eq!(decrypt(&setting.ciphertext, &secret, &parts), expected, "{counts:?}");
    counter.counts(N)
}

#[test]
fn products_decrypt_and_cost_what_table_1_says() {
    for k in 2..=7_u64 {
        let count = k as usize;
        let old = multiply([count, count + 1], k, |c, s, a, b| multiplication::original(c, s, a, b).unwrap());
        assert_eq!(old, formulas::original(k));
        let new =
            multiply([count, count], k, |c, s, a, b| multiplication::over_auxiliary(c, s, a, b).unwrap());
        assert_eq!(new, formulas::over_auxiliary(k));
        for level in 2..=k {
            let leveled = multiply([count, count], k + level, |c, s, a, b| {
                multiplication::leveled(c, s, level as usize, a, b).unwrap()
            });
            assert_eq!(leveled, corrected::leveled(k, level));
            assert_eq!(
                leveled == formulas::leveled(k, level),
                level == k,
                "only the top level is as printed"
            );
        }
    }
}

/// Switches a random polynomial and returns the counts; checks c_0 + c_1·s − c·s′ is small, for BGV t times
/// something small.
fn switch(setting: &key_switching::Setting, radix_bits: Option<u32>, bound: BigInt, seed: u64) -> Counts {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let q = &setting.ciphertext;
    let [from, to] = [ternary(&mut rng), ternary(&mut rng)];
    let mut errors = ChaCha20Rng::seed_from_u64(seed + 1);
    let uniform_limb = |q: u64| (0..N).map(|_| rng.next_u64() % q).collect();
    let error = || (0..N).map(|_| signed(&mut errors, 20)).collect();
    let key = key_switching::key(setting, radix_bits, [&from, &to], uniform_limb, error).unwrap();
    let part = uniform(q, &mut errors);
    let coefficients = integers(q, &part);
    let uncounted = Counter::default();
    let given = match setting.scheme {
        Scheme::Bfv => part,
        Scheme::Bgv { .. } => uncounted.forward(q, part).unwrap(),
    };
    let counter = Counter::default();
    let parts = match setting.special.count() {
        0 => key_switching::bv(&counter, setting, radix_bits, &key, &given).unwrap(),
        _ => key_switching::hybrid(&counter, setting, &key, &given).unwrap(),
    };
    let [c0, c1] = match setting.scheme {
        Scheme::Bfv => parts,
        Scheme::Bgv { .. } => parts.map(|part| uncounted.inverse(q, part).unwrap()),
    };
    let mut difference = plus(&integers(q, &c0), &product(&integers(q, &c1), &big(&to)));
    let wanted = product(&coefficients, &big(&from));
    difference = difference.iter().zip(&wanted).map(|(a, b)| a - b).collect();
    let worst = largest(q, &difference);
    match setting.scheme {
        Scheme::Bfv => assert!(worst <= bound, "{worst} above {bound}"),
        Scheme::Bgv { plain_modulus } => {
            assert!(worst <= bound * plain_modulus, "{worst}");
            let modulus = BigInt::from(q.product());
            for x in difference {
                let x = ((x % &modulus) + &modulus) % &modulus;
                let x = if &x * 2 > modulus { x - &modulus } else { x };
                assert!((x % plain_modulus).is_zero(), "an error that is no multiple of t");
            }
        }
    }
    counter.counts(N)
}

#[test]
fn bv_switches_and_costs_what_b3_says() {
    for scheme in SCHEMES {
        for (l, radix_bits, w) in
            [(2, None, 1), (3, None, 1), (6, None, 1), (4, Some(15), 2), (3, Some(8), 4)]
        {
            let [ciphertext, _] = bases([l, 0]);
            let special = Basis::new(N, &[]).unwrap();
            let setting = key_switching::Setting { ciphertext, special, width: 1, scheme };
            let digit = 1_i64 << radix_bits.unwrap_or(30);
            let bound = BigInt::from(digit) * 20 * (l * w as usize * N) as i64;
            assert_eq!(switch(&setting, radix_bits, bound, 7), formulas::bv(scheme, l as u64, w));
        }
    }
}

#[test]
fn ghs_and_hybrid_switch_and_cost_what_b3_says() {
    for scheme in SCHEMES {
        for l in 1..=7_usize {
            for width in 1..=l {
                for k in [width, width + 1] {
                    let [ciphertext, special] = bases([l, k]);
                    let setting = key_switching::Setting { ciphertext, special, width, scheme };
                    let widths: Vec<u64> = setting.digits().iter().map(|(b, e)| (e - b) as u64).collect();
                    // ‖digit‖·e summed, over P, and the rounding of two parts.
                    let d = widths.len() as i64;
                    let bound = BigInt::from(
                        20 * d * (width as i64 + 1) * N as i64 + (k as i64 + 1) * (N as i64 + 1),
                    );
                    let counts = switch(&setting, None, bound, (l * 10 + width) as u64);
                    let [l, k, d, alpha] = [l, k, d as usize, width].map(|x| x as u64);
                    assert_eq!(counts, corrected::hybrid(scheme, l, k, &widths));
                    if d == 1 {
                        assert_eq!(counts, formulas::ghs(scheme, l, k));
                        assert!(k != l || counts == formulas::ghs_short(scheme, l));
                    }
                    if d * alpha != l {
                        continue;
                    }
                    assert_eq!(counts, formulas::hybrid(scheme, l, k, d, alpha));
                    if k == alpha {
                        assert_eq!(counts, corrected::hybrid_short(scheme, l, d, alpha));
                        let printed = formulas::hybrid_short(scheme, l, d, alpha);
                        assert_eq!(counts == printed, scheme != Scheme::Bfv || d == 1, "{l} {d}");
                    }
                }
            }
        }
    }
}

#[test]
fn the_oracle_of_these_tests_is_right() {
    let [basis, _] = bases([2, 0]);
    let x: Vec<i64> = (0..N as i64).map(|i| i - 5).collect();
    assert_eq!(integers(&basis, &residues(&basis, &x)), big(&x));
    let counter = Counter::default();
    let value = counter.forward(&basis, residues(&basis, &x)).unwrap();
    let square = counter.inverse(&basis, counter.pointwise(&basis, &value, &value)).unwrap();
    assert_eq!(integers(&basis, &square), product(&big(&x), &big(&x)));
    assert_eq!(counter.counts(N), Counts { transforms: 4, products: 2, floats: 0 });
    let twice = add(basis.moduli(), &value, &value);
    assert_ne!(twice, value);
    assert!(BigUint::from(1_u8) < basis.product());
}
