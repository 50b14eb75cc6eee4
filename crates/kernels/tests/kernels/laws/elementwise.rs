//! Laws of loops with one result a word, at every length and at the ends of every range.

use num_bigint::BigUint;
use sunzi_kernels::{KernelError, MATRIX_BLOCK, Modulus};

use crate::oracle::{Words, hard_vectors, isas, mul, primes};

/// Returns moduli of every kind: transform primes, the smallest, odd and even ones.
fn moduli() -> Vec<u64> {
    let mut moduli = primes(64);
    moduli.extend([2, 3, 4, 5, 7, 1 << 16, (1 << 49) - 1, (1 << 49) + 1, 1 << 61, (1 << 62) - 1]);
    moduli.push(((1 << 52) / 18) | 1);
    moduli
}

fn each(check: impl Fn(Modulus, &[u64], &[u64])) {
    for q in moduli() {
        for len in [1, 7, 8, 9, 64, 67] {
            let vectors = hard_vectors(q - 1, len);
            for isa in isas() {
                let modulus = Modulus::with_isa(q, isa).unwrap();
                for (x, y) in vectors.iter().zip(vectors.iter().cycle().skip(1)) {
                    check(modulus, x, y);
                }
                check(modulus, &vectors[1], &vectors[1]);
            }
        }
    }
}

fn map(x: &[u64], y: &[u64], f: impl Fn(u64, u64) -> u64) -> Vec<u64> {
    x.iter().zip(y).map(|(&a, &b)| f(a, b)).collect()
}

/// Checks sums with mirror images for words below 2q, which stay there, and for reduced words.
#[test]
fn mirror_images_are_added() {
    for q in moduli() {
        for (len, most) in [0, 1, 7, 8, 9, 31, 64, 67].into_iter().flat_map(|len| [(len, q), (len, 2 * q)]) {
            let vectors = hard_vectors(most - 1, len.max(1));
            for (x, y) in
                vectors.iter().zip(vectors.iter().cycle().skip(1)).chain([(&vectors[1], &vectors[1])])
            {
                let (x, y) = (&x[..len], &y[..len]);
                for (isa, c) in isas().into_iter().flat_map(|isa| [0, 1, q / 2, q - 1].map(|c| (isa, c))) {
                    let modulus = Modulus::with_isa(q, isa).unwrap();
                    let (mut a, mut b) = (x.to_vec(), y.to_vec());
                    modulus.add_mirrored_assign(&mut a, &mut b, c).unwrap();
                    assert!(a.iter().chain(&b).all(|&word| word < most), "{modulus:?}");
                    for (i, (&u, &v)) in x.iter().zip(y.iter().rev()).enumerate() {
                        assert_eq!(a[i] % q, (u + mul(v, c, q)) % q, "{modulus:?}");
                        assert_eq!(b[len - 1 - i] % q, (v + mul(u, c, q)) % q, "{modulus:?}");
                    }
                }
            }
        }
        let modulus = Modulus::new(q).unwrap();
        assert!(modulus.add_mirrored_assign(&mut [0], &mut [], 0).is_err());
        assert!(modulus.add_mirrored_assign(&mut [0], &mut [0], q).is_err());
    }
}

#[test]
fn sums_and_products() {
    each(|modulus, x, y| {
        let q = modulus.value();
        let run = |f: &dyn Fn(&mut [u64])| {
            let mut out = x.to_vec();
            f(&mut out);
            out
        };
        assert_eq!(run(&|a| modulus.add_assign(a, y).unwrap()), map(x, y, |a, b| (a + b) % q));
        assert_eq!(run(&|a| modulus.sub_assign(a, y).unwrap()), map(x, y, |a, b| (a + q - b) % q));
        assert_eq!(run(&|a| modulus.neg_assign(a)), map(x, y, |a, _| (q - a) % q));
        let (mut sum, mut difference) = (x.to_vec(), y.to_vec());
        modulus.sum_difference_assign(&mut sum, &mut difference).unwrap();
        assert_eq!(sum, map(x, y, |a, b| (a + b) % q));
        assert_eq!(difference, map(x, y, |a, b| (a + q - b) % q));
        assert_eq!(
            run(&|a| modulus.mul_assign(a, y).unwrap()),
            map(x, y, |a, b| mul(a, b, q)),
            "{modulus:?}"
        );
        assert_eq!(
            run(&|a| modulus.mul_add_assign(a, x, y).unwrap()),
            map(x, y, |a, b| (mul(a, b, q) + a) % q)
        );
        for negate in [false, true] {
            let small: Vec<i64> =
                y.iter().map(|&b| if negate { -b.cast_signed() } else { b.cast_signed() }).collect();
            let expected = map(x, y, |a, b| (if negate { a + q - b } else { a + b }) % q);
            assert_eq!(run(&|a| modulus.add_small_assign(a, &small).unwrap()), expected, "{modulus:?}");
        }
        assert_eq!(run(&|a| modulus.add_small_assign(a, &vec![-q.cast_signed(); x.len()]).unwrap()), x);
        assert_eq!(run(&|a| modulus.add_small_assign(a, &vec![q.cast_signed(); x.len()]).unwrap()), x);
        assert!(modulus.add_small_assign(&mut [0], &[]).is_err());
        let mut out = vec![u64::MAX; x.len()];
        modulus.sum_into(&mut out, x, y).unwrap();
        assert_eq!(out, sum);
        modulus.difference_into(&mut out, x, y).unwrap();
        assert_eq!(out, map(x, y, |a, b| (a + q - b) % q));
        for c in [0, 1, q / 2, q - 1] {
            assert_eq!(run(&|a| modulus.mul_scalar_assign(a, c).unwrap()), map(x, y, |a, _| mul(a, c, q)));
            let expected = map(x, y, |a, b| (a + mul(b, c, q)) % q);
            assert_eq!(run(&|a| modulus.add_scaled_assign(a, y, c).unwrap()), expected, "{modulus:?}");
            let expected = map(x, y, |a, b| mul((a + b) % q, c, q));
            assert_eq!(run(&|a| modulus.add_scale_assign(a, y, c).unwrap()), expected, "{modulus:?}");
            for rest in [0, 1, q, 1 << 61] {
                let shifted = run(&|a| modulus.shift_assign(a, c, rest).unwrap());
                assert_eq!(shifted, map(x, y, |a, _| (a + c) % q + rest), "{modulus:?}");
            }
        }
        assert!(
            modulus.sum_into(&mut out, x, &[]).is_err() && modulus.difference_into(&mut [], x, y).is_err()
        );
        assert!(modulus.add_scaled_assign(&mut out, y, q).is_err());
        assert!(modulus.add_scale_assign(&mut out, &[], 0).is_err());
        assert!(modulus.shift_assign(&mut out, q, 0).is_err());
    });
}

#[test]
fn products_of_two_by_two() {
    each(|modulus, x, y| {
        let q = modulus.value();
        let (x1, y1) = (map(x, y, |a, b| (a + b) % q), map(x, y, |a, _| q - 1 - a));
        for c in [0, 1, 2 % q, q / 2, q - 1] {
            let mut outs = [(); 3].map(|()| vec![u64::MAX; x.len()]);
            modulus.tensor(outs.each_mut().map(|out| &mut out[..]), [x, &x1], [y, &y1], c).unwrap();
            let scaled = |a: &[u64], b: &[u64]| map(a, b, |a, b| mul(c, mul(a, b, q), q));
            let crossed = map(&scaled(x, &y1), &scaled(&x1, y), |a, b| (a + b) % q);
            assert_eq!(outs, [scaled(x, y), crossed, scaled(&x1, &y1)], "{modulus:?}, {c}");
        }
        let mut outs = [(); 3].map(|()| vec![0; x.len()]);
        let mut run = |x1, c| modulus.tensor(outs.each_mut().map(|out| &mut out[..]), [x, x1], [y, y], c);
        assert!(run(&[], 0).is_err() && run(y, q).is_err());
    });
}

#[test]
fn lifts_of_any_bits() {
    for q in moduli() {
        let mut words = Words(q).below(u64::MAX, 61);
        words.extend([0, 1, q - 1, q, q + 1, 2 * q, (1 << 52) - 1, 1 << 52, 1 << 63, u64::MAX]);
        for isa in isas() {
            let modulus = Modulus::with_isa(q, isa).unwrap();
            let mut out = vec![0; words.len()];
            let small: Vec<u64> = words.iter().map(|w| w % q).collect();
            for (shift, mask) in [(0, u64::MAX), (3, (1 << 20) - 1), (40, u64::MAX), (63, 1)] {
                for offset in [0, 1, q - 1, q] {
                    for (words, reduces) in [(&words, true), (&small, false), (&small, true)] {
                        modulus.lift_into(&mut out, words, (shift, mask), offset, reduces).unwrap();
                        let lifted = |w: u64| (((w >> shift) & mask) % q + offset) % q;
                        assert_eq!(out, map(words, words, |w, _| lifted(w)), "{modulus:?}");
                    }
                }
            }
            assert!(modulus.lift_into(&mut out, &words, (0, 0), q + 1, true).is_err());
            assert!(modulus.lift_into(&mut out, &[], (0, 0), 0, true).is_err());
        }
    }
}

#[test]
fn reductions_of_any_word() {
    for q in moduli() {
        let mut words = Words(q).below(u64::MAX, 61);
        words.extend([0, 1, q - 1, q, q + 1, 2 * q, (1 << 52) - 1, 1 << 52, 1 << 63, u64::MAX]);
        let signed: Vec<i64> = words.iter().map(|w| w.cast_signed()).collect();
        for isa in isas() {
            let modulus = Modulus::with_isa(q, isa).unwrap();
            let mut out = vec![0; words.len()];
            modulus.reduce_into(&mut out, &words).unwrap();
            assert_eq!(out, map(&words, &words, |w, _| w % q), "{modulus:?}");
            modulus.reduce_signed_into(&mut out, &signed).unwrap();
            let residue = |w: &i64| i128::from(*w).rem_euclid(i128::from(q)) as u64;
            assert_eq!(out, signed.iter().map(residue).collect::<Vec<_>>(), "{modulus:?}");
        }
    }
}

#[test]
fn inner_products_of_any_length() {
    for q in moduli() {
        for terms in [0, 1, 2, 3, 16, 17, 31, 32, 33, 64, 65, 4096] {
            let len = if terms > 100 { 9 } else { 16 + 7 * (terms % 8) };
            for (x, y) in
                [(vec![q - 1; len], vec![q - 1; len]), (Words(1).below(q, len), Words(2).below(q, len))]
            {
                let (a, b) = (vec![&x[..]; terms], vec![&y[..]; terms]);
                let sum = |(&a, &b): (&u64, &u64)| {
                    let sum = BigUint::from(a) * BigUint::from(b) * BigUint::from(terms);
                    u64::try_from(sum % q).unwrap()
                };
                let expected: Vec<u64> = x.iter().zip(&y).map(sum).collect();
                // The other list of second factors: each but the first is 1.
                let ones = vec![1; len];
                let c: Vec<&[u64]> = (0..terms).map(|i| if i == 0 { &y[..] } else { &ones[..] }).collect();
                let sum = |(&a, &b): (&u64, &u64)| {
                    let sum = BigUint::from(a) * (BigUint::from(b) + BigUint::from(terms.max(1) - 1));
                    if terms == 0 { 0 } else { u64::try_from(sum % q).unwrap() }
                };
                let expected_second: Vec<u64> = x.iter().zip(&y).map(sum).collect();
                for isa in isas() {
                    let modulus = Modulus::with_isa(q, isa).unwrap();
                    let (mut out, mut second) = (vec![q; len], vec![q; len]);
                    modulus.inner_product(&mut out, &a, &b).unwrap();
                    assert_eq!(out, expected, "q {q}, {terms} terms, {isa}");
                    out.fill(q);
                    modulus.inner_product_pair([&mut out, &mut second], &a, [&b, &c]).unwrap();
                    assert_eq!((&out, &second), (&expected, &expected_second), "q {q}, {terms} terms, {isa}");
                    let [y, ones] = [&y, &ones].map(|words| packed(&modulus, words));
                    let b = vec![&y[..]; terms];
                    let c: Vec<&[u8]> = (0..terms).map(|i| if i == 0 { &y[..] } else { &ones[..] }).collect();
                    out.fill(q);
                    second.fill(q);
                    modulus.packed_inner_products([&mut out, &mut second], &a, [&b, &c]).unwrap();
                    assert_eq!(
                        (&out, &second),
                        (&expected, &expected_second),
                        "q {q}, {terms} in bytes, {isa}"
                    );
                }
            }
        }
    }
}

#[test]
fn products_with_packed_matrices_are_inner_products() {
    for q in moduli() {
        for isa in isas() {
            let modulus = Modulus::with_isa(q, isa).unwrap();
            for (rows, columns) in [(0, 0), (0, 3), (3, 0), (1, 1), (2, 2), (5, 3), (40, 4), (700, 1)] {
                let mut words = Words(rows as u64 + 1);
                let mut block = |i: usize| {
                    if i.is_multiple_of(3) { vec![q - 1; MATRIX_BLOCK] } else { words.below(q, MATRIX_BLOCK) }
                };
                let vectors = [(); 2].map(|()| (0..rows).map(&mut block).collect::<Vec<_>>());
                let matrix: Vec<_> = (0..rows * columns).map(&mut block).collect();
                let bytes = packed(&modulus, &matrix.concat());
                let [x, y] = vectors.each_ref().map(|vector| vector.concat());
                let [mut first, mut second] = [(); 2].map(|()| vec![q; columns * MATRIX_BLOCK]);
                modulus.packed_matrix_products([&mut first, &mut second], [&x, &y], &bytes).unwrap();
                for (vector, got) in vectors.iter().zip([&first, &second]) {
                    let vector: Vec<&[u64]> = vector.iter().map(Vec::as_slice).collect();
                    for (k, got) in got.chunks(MATRIX_BLOCK).enumerate() {
                        let column: Vec<&[u64]> =
                            matrix[k * rows..][..rows].iter().map(Vec::as_slice).collect();
                        let mut expected = [q; MATRIX_BLOCK];
                        modulus.inner_product(&mut expected, &vector, &column).unwrap();
                        assert_eq!(got, expected, "q {q}, column {k} of {rows} by {columns}, {isa}");
                    }
                }
                let mut refused = |x: &[u64], bytes: &[u8]| {
                    modulus.packed_matrix_products([&mut first, &mut second], [x, &y], bytes).unwrap_err()
                };
                if rows > 0 {
                    refused(&x[1..], &bytes);
                }
                if rows * columns > 0 {
                    let expected = modulus.packed_residues_len(rows * columns * MATRIX_BLOCK);
                    let got = expected - 1;
                    assert_eq!(refused(&x, &bytes[..got]), KernelError::PackedLength { expected, got });
                    let outs = [&mut first[1..], &mut second[1..]];
                    assert!(modulus.packed_matrix_products(outs, [&x, &y], &bytes).is_err());
                }
            }
        }
    }
}

/// Packs words into bytes, with other bytes after the last: nothing may depend on them.
fn packed(modulus: &Modulus, words: &[u64]) -> Vec<u8> {
    let mut bytes = vec![0xA5; modulus.packed_residues_len(words.len()) + 5];
    modulus.pack_residues(&mut bytes, words).unwrap();
    bytes
}

#[test]
fn residues_in_bytes_are_those_packed_and_read_from_any_place() {
    for q in moduli() {
        for isa in isas() {
            let modulus = Modulus::with_isa(q, isa).unwrap();
            let width = modulus.residue_bytes();
            assert!(width == 8 || q - 1 < 1 << (8 * width));
            for len in (0..=34).chain([64, 100]) {
                for words in [vec![q - 1; len], vec![0; len], Words(3).below(q, len)] {
                    let bytes = packed(&modulus, &words);
                    let mut again = vec![u64::MAX; len];
                    modulus.unpack_residues(&mut again, &bytes).unwrap();
                    assert_eq!(again, words);
                    // Products with 1 of the packed factors from any place on.
                    for start in [0, 1, 3, 8, 13] {
                        let Some(rest) = words.get(start..) else { continue };
                        let (ones, from) = (vec![1; rest.len()], &bytes[start * width..]);
                        let [mut first, mut second] = [vec![q; rest.len()], vec![q; rest.len()]];
                        let enough = from.len() >= modulus.packed_residues_len(rest.len());
                        let product = modulus.packed_inner_products(
                            [&mut first, &mut second],
                            &[&ones],
                            [&[from], &[from]],
                        );
                        assert_eq!(product.is_ok(), enough);
                        assert!(
                            !enough || (first == rest && second == rest),
                            "q {q}, {len} from {start}, {isa}"
                        );
                    }
                }
            }
            let short = vec![0; modulus.packed_residues_len(9) - 1];
            let (mut first, mut second) = ([0; 9], [0; 9]);
            assert!(modulus.pack_residues(&mut short.clone(), &first).is_err());
            assert!(modulus.unpack_residues(&mut first, &short).is_err());
            let outs = [&mut first[..], &mut second[..]];
            assert!(modulus.packed_inner_products(outs, &[&[0; 9]], [&[&short], &[&short]]).is_err());
        }
    }
}

#[test]
fn sums_of_packed_residues_are_those_one_by_one() {
    for q in moduli() {
        for isa in isas() {
            let modulus = Modulus::with_isa(q, isa).unwrap();
            for (count, len) in [(0, 9), (1, 1), (2, 8), (3, 33), (8, 100), (17, 24), (300, 16)] {
                // The largest residues, whose sums pass every word, beside others.
                let term = |at: u64| if at % 3 == 2 { Words(at).below(q, len) } else { vec![q - 1; len] };
                let terms: Vec<Vec<u64>> = (0..count).map(term).collect();
                let bytes: Vec<Vec<u8>> = terms.iter().map(|term| packed(&modulus, term)).collect();
                let slices: Vec<&[u8]> = bytes.iter().map(Vec::as_slice).collect();
                let mut sum = vec![u64::MAX; len];
                modulus.sum_packed_into(&mut sum, &slices).unwrap();
                let mut expected = vec![0; len];
                terms.iter().for_each(|term| modulus.add_assign(&mut expected, term).unwrap());
                assert_eq!(sum, expected, "q {q}, {count} terms of {len}, {isa}");
            }
            let short = vec![0; modulus.packed_residues_len(9) - 1];
            assert!(modulus.sum_packed_into(&mut [0; 9], &[&short]).is_err());
        }
    }
}
