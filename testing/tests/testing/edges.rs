//! Modular arithmetic of every instruction set on every input where all can be tried, and at the ends of every range.

use sunzi_kernels::{Buffer, Isa, MAX_TERMS, Modulus};
use sunzi_testing::Figure;

fn isas() -> impl Iterator<Item = Isa> {
    Isa::ALL.into_iter().filter(|isa| isa.is_available())
}

/// Returns the words of all pairs, first and second ones.
fn pairs(words: &[u64]) -> [Vec<u64>; 2] {
    let all = |first: bool| {
        let pair = move |&a: &u64| words.iter().map(move |&b| if first { a } else { b });
        words.iter().flat_map(pair).collect()
    };
    [all(true), all(false)]
}

/// Runs every operation of two words on all pairs; returns how many results there were.
fn check_pairs(modulus: Modulus, words: &[u64]) -> usize {
    let q = modulus.value();
    let wide = |x: u128| (x % u128::from(q)) as u64;
    let [a, b] = pairs(words);
    let mut cases = 0;
    let mut check = |name: &str, out: &[u64], expected: &dyn Fn(u64, u64) -> u64| {
        for ((&x, &y), &got) in a.iter().zip(&b).zip(out) {
            assert_eq!(got, expected(x, y), "{name} of {x} and {y} modulo {q}, {}", modulus.isa());
        }
        cases += out.len();
    };
    let run = |operation: &dyn Fn(&mut [u64])| {
        let mut out = Buffer::from_slice(&a);
        operation(&mut out);
        out.to_vec()
    };
    let add = |x: u64, y: u64| wide(u128::from(x) + u128::from(y));
    let sub = |x: u64, y: u64| wide(u128::from(x) + u128::from(q - y));
    let mul = |x: u64, y: u64| wide(u128::from(x) * u128::from(y));
    check("a sum", &run(&|out| modulus.add_assign(out, &b).unwrap()), &add);
    check("a difference", &run(&|out| modulus.sub_assign(out, &b).unwrap()), &sub);
    check("a negative", &run(&|out| modulus.neg_assign(out)), &|x, _| sub(0, x));
    check("a product", &run(&|out| modulus.mul_assign(out, &b).unwrap()), &mul);
    let more = run(&|out| modulus.mul_add_assign(out, &b, &b).unwrap());
    check("a sum with a product", &more, &|x, y| add(x, mul(y, y)));
    let mut second = Buffer::from_slice(&b);
    let first = run(&|out| modulus.sum_difference_assign(out, &mut second.clone()).unwrap());
    modulus.sum_difference_assign(&mut Buffer::from_slice(&a), &mut second).unwrap();
    check("the sum of a butterfly", &first, &add);
    check("the difference of a butterfly", &second, &sub);
    for &c in words {
        let out = run(&|out| modulus.mul_scalar_assign(out, c).unwrap());
        check("a multiple", &out, &|x, _| mul(x, c));
    }
    cases
}

#[test]
fn small_moduli_are_right_on_every_pair() {
    let mut cases = 0;
    for isa in isas() {
        for q in (2..=40).chain([97, 128, 193, 257]) {
            cases += check_pairs(Modulus::with_isa(q, isa).unwrap(), &(0..q).collect::<Vec<_>>());
        }
    }
    Figure::new(15, "results of all pairs modulo 43 small moduli on every instruction set")
        .cases(cases, 1_000_000)
        .none_wrong(0);
}

/// Returns moduli around every power of two up to the largest modulus, odd and even, so around the widest of every table.
fn moduli() -> Vec<u64> {
    let around = |bits: u32| {
        let power = 1_u64 << bits;
        [power - 3, power - 1, power, power + 1, power / 18 * 17 + 1]
    };
    let widest = [(1 << 52) / 18, (1 << 52) / 18 + 1, (1 << 49) - 1, (1 << 50) + 1];
    (5..=61).flat_map(around).chain([(1 << 62) - 1, (1 << 62) - 2]).chain(widest).collect()
}

/// Returns the ends of the residues, their middle, and the powers of two between.
fn ends(q: u64) -> Vec<u64> {
    let powers = (0..62).flat_map(|bits| [(1_u64 << bits) - 1, 1 << bits]);
    let mut words: Vec<u64> =
        [0, 1, 2, q / 2 - 1, q / 2, q / 2 + 1, q - 2, q - 1].into_iter().chain(powers.step_by(5)).collect();
    words.retain(|&word| word < q);
    words.sort_unstable();
    words.dedup();
    words
}

#[test]
fn every_size_of_modulus_is_right_at_the_ends() {
    let mut cases = 0;
    for isa in isas() {
        for q in moduli() {
            let modulus = Modulus::with_isa(q, isa).unwrap();
            cases += check_pairs(modulus, &ends(q)) + check_reductions(modulus) + check_sums(modulus);
        }
    }
    Figure::new(15, "results at the ends of every size of modulus on every instruction set")
        .cases(cases, 1_000_000)
        .none_wrong(0);
}

/// Checks words next to multiples of q, of which there are few or many below 2^64, and next to powers of two.
fn check_reductions(modulus: Modulus) -> usize {
    let q = modulus.value();
    let multiples = [0, 1, 2, 3, u64::MAX / q / 2, u64::MAX / q - 1, u64::MAX / q];
    let next = |x: u64| [x.wrapping_sub(1), x, x.wrapping_add(1)];
    let mut words: Vec<u64> = multiples.into_iter().flat_map(|k| next(k.wrapping_mul(q))).collect();
    words.extend((0..64).flat_map(|bits| next(1 << bits)));
    let mut out = Buffer::zeroed(words.len());
    modulus.reduce_into(&mut out, &words).unwrap();
    assert!(words.iter().zip(&out[..]).all(|(&x, &got)| got == x % q), "modulo {q}, {}", modulus.isa());
    let signed: Vec<i64> = words.iter().map(|&x| x.cast_signed()).collect();
    modulus.reduce_signed_into(&mut out, &signed).unwrap();
    let expected = |x: i64| i128::from(x).rem_euclid(i128::from(q)) as u64;
    assert!(signed.iter().zip(&out[..]).all(|(&x, &got)| got == expected(x)), "modulo {q}");
    2 * words.len()
}

/// Checks lazy sums of as many largest products as are allowed, and of one more and one less than fill a group of them.
fn check_sums(modulus: Modulus) -> usize {
    let q = modulus.value();
    let (top, n) = (vec![q - 1; 9], 9);
    let square = u128::from(q - 1) * u128::from(q - 1) % u128::from(q);
    let lengths = [1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 65, MAX_TERMS - 1, MAX_TERMS];
    for terms in lengths {
        let rows = vec![&top[..]; terms];
        let mut out = Buffer::zeroed(n);
        modulus.inner_product(&mut out, &rows, &rows).unwrap();
        let expected = (square * terms as u128 % u128::from(q)) as u64;
        assert!(out.iter().all(|&x| x == expected), "{terms} terms modulo {q}, {}", modulus.isa());
    }
    lengths.len() * n
}
