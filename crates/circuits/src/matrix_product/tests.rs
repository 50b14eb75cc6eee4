//! Tests of products of matrices against clear sums, in both packings and all schemes.

use chacha20::ChaCha20Rng;
use chacha20::rand_core::{Rng as _, SeedableRng};
use sunzi_ckks::{LevelRange, Parameters};
use sunzi_encoding::{BatchEncoder, Encoder as _};
use sunzi_math::primes_below;
use sunzi_rlwe::{PublicKey, Security};

use super::*;

const INSECURE: Security = Security::InsecureForResearchOnly;

/// One modulus of some bits, n = 128.
fn one_level(bits: u32, scale_bits: u32) -> Context {
    let moduli = primes_below(1 << bits, 256, 1).unwrap();
    Context::new(&Parameters::new(7, moduli, vec![1], scale_bits, INSECURE)).unwrap()
}

/// Numbers between −0.7 and 0.7, two of which make a slot below 1.
fn numbers(count: usize, rng: &mut ChaCha20Rng) -> Vec<f64> {
    (0..count).map(|_| f64::from(rng.next_u32() as i32) / 2_f64.powi(31) * 0.7).collect()
}

/// U·M by sums of products; `inner` is the number of columns of U.
fn clear(inner: usize, columns: usize, u: &[f64], m: &[f64]) -> Vec<f64> {
    let entry = |row: &[f64], c: usize| row.iter().zip(m.chunks(columns)).map(|(u, m)| u * m[c]).sum();
    u.chunks(inner).flat_map(|row| (0..columns).map(move |c| entry(row, c))).collect()
}

fn largest_error(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn products_have_the_errors_they_state() {
    let mut rng = ChaCha20Rng::from_seed([1; 32]);
    for (packing, bits, scale_bits) in [(Packing::Slots, 55, 28), (Packing::Coefficients, 47, 24)] {
        let context = one_level(bits, scale_bits);
        let (secret, evaluator) =
            (SecretKey::generate(context.rlwe(), &mut rng).unwrap(), Evaluator::new(&context));
        let public = PublicKey::generate(context.rlwe(), &secret, &mut rng).unwrap();
        for [rows, inner, columns] in [[1, 1, 1], [3, 5, 128], [40, 33, 300]] {
            let (u, m) = (numbers(rows * inner, &mut rng), numbers(inner * columns, &mut rng));
            let plain = PlainMatrix::new(rows, inner, &u, 16).unwrap();
            let keys: [EncryptionKey<'_>; 2] = [(&secret).into(), (&public).into()];
            for key in keys {
                let encrypted =
                    EncryptedMatrix::encrypt(&context, columns, &m, packing, key, &mut rng).unwrap();
                let product = encrypted.multiplied(&evaluator, &plain).unwrap();
                assert_eq!((product.row_count(), product.columns()), (rows, columns));
                let opened = product.decrypt(&context, &secret).unwrap();
                let error = largest_error(&opened, &clear(inner, columns, &u, &m));
                let stated = product.deviation(&context);
                // Six deviations are exceeded once in 5e8 numbers; an estimate that is far too large is a defect too.
                assert!(
                    error < 6.0 * stated,
                    "{packing:?} {rows} {inner} {columns}: {error:e} of {stated:e}"
                );
                assert!(opened.len() < 30 || error > stated / 8.0, "{packing:?}: {error:e} of {stated:e}");
            }
        }
    }
}

/// Integers of 16 bits are not rounded: the scale is 1 and the result as exact as the encryption.
#[test]
fn integer_matrices_keep_their_integers() {
    let mut rng = ChaCha20Rng::from_seed([2; 32]);
    let context = one_level(55, 28);
    let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
    let u = [32767.0, -32767.0, 12345.0, 1.0];
    let plain = PlainMatrix::new(2, 2, &u, 16).unwrap();
    assert_eq!(plain.scale(), 1.0);
    let m = [0.5, -0.25, 0.125, 1.0];
    let key = (&secret).into();
    let encrypted = EncryptedMatrix::encrypt(&context, 2, &m, Packing::Slots, key, &mut rng).unwrap();
    let opened = encrypted.multiplied(&Evaluator::new(&context), &plain).unwrap();
    let opened = opened.decrypt(&context, &secret).unwrap();
    assert!(largest_error(&opened, &clear(2, 2, &u, &m)) < 0.05, "{opened:?}");
}

/// A product in slots is a usual ciphertext: it is rescaled and added like any other, also for rows of several levels.
#[test]
fn products_in_slots_go_on() {
    let mut rng = ChaCha20Rng::from_seed([3; 32]);
    let ranges = [LevelRange { levels: 3, scale_bits: 40 }];
    let parameters = Parameters::from_ranges(7, 50, &ranges, INSECURE).unwrap().with_digits(2).unwrap();
    let context = Context::new(&parameters).unwrap();
    let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
    let evaluator = Evaluator::new(&context);
    let (u, m) = (numbers(4, &mut rng), numbers(2 * 128, &mut rng));
    let key = (&secret).into();
    let encrypted = EncryptedMatrix::encrypt(&context, 128, &m, Packing::Slots, key, &mut rng).unwrap();
    let mut rows: Vec<Vec<Ciphertext>> = encrypted.rows().unwrap().to_vec();
    rows[1][0] = evaluator.level_to(&rows[1][0], 2).unwrap();
    let mixed = EncryptedMatrix::from_rows(&context, 128, rows).unwrap();
    let product = mixed.multiplied(&evaluator, &PlainMatrix::new(2, 2, &u, 40).unwrap()).unwrap();
    let rescaled = product.rows().unwrap().iter().map(|row| vec![evaluator.rescale(&row[0]).unwrap()]);
    let rescaled = EncryptedMatrix::from_rows(&context, 128, rescaled.collect()).unwrap();
    assert_eq!(rescaled.rows().unwrap()[0][0].metadata().level, 1);
    let opened = rescaled.decrypt(&context, &secret).unwrap();
    assert!(largest_error(&opened, &clear(2, 128, &u, &m)) < 1e-6);
}

#[test]
fn hostile_matrices_are_refused() {
    let mut rng = ChaCha20Rng::from_seed([4; 32]);
    let context = one_level(47, 24);
    let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
    let evaluator = Evaluator::new(&context);
    for packing in [Packing::Slots, Packing::Coefficients] {
        let mut encrypt = |columns: usize, entries: &[f64]| {
            EncryptedMatrix::encrypt(&context, columns, entries, packing, (&secret).into(), &mut rng)
        };
        for (columns, entries) in [(0, 4), (3, 4), (2, 0), (usize::MAX, 4)] {
            let refused = encrypt(columns, &vec![0.5; entries]);
            assert!(matches!(refused, Err(CircuitError::MatrixRows { .. })), "{columns} {entries}");
        }
        for wrong in [f64::NAN, f64::INFINITY, 1e30] {
            assert!(matches!(encrypt(1, &[wrong]), Err(CircuitError::Scheme(_))), "{wrong}");
        }
        let encrypted = encrypt(2, &[0.5; 4]).unwrap();
        // Three columns for two rows, and a product that might not fit its modulus.
        let wide = PlainMatrix::new(1, 3, &[1.0; 3], 16).unwrap();
        assert!(matches!(
            encrypted.multiplied(&evaluator, &wide),
            Err(CircuitError::Scheme(CkksError::Ring(_)))
        ));
        let large = PlainMatrix::new(1, 2, &[1.0; 2], 40).unwrap();
        let refused = encrypted.multiplied(&evaluator, &large);
        assert!(matches!(refused, Err(CircuitError::Scheme(CkksError::MessageTooLarge { .. }))));
    }
    for (rows, columns, entries, bits) in
        [(0, 1, 0, 16), (1, 0, 0, 16), (2, 2, 3, 16), (1, 1, 1, 1), (1, 1, 1, 53)]
    {
        assert!(PlainMatrix::new(rows, columns, &vec![1.0; entries], bits).is_err());
    }
    for wrong in [f64::NAN, f64::INFINITY, 1e20] {
        assert!(PlainMatrix::new(1, 1, &[wrong], 16).is_err());
    }
    assert!(evaluator.multiply_matrix(&PlainMatrix::new(1, 1, &[1.0], 16).unwrap(), &[]).is_err());
    // Rows of another key.
    let other = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
    let encoder = Encoder::new(&context, 64).unwrap();
    let mut encrypt = |key: &SecretKey| {
        context.encrypt_secret(&encoder.encode_real(&[0.5]).unwrap(), key, &mut rng).unwrap()
    };
    let (a, b) = (encrypt(&secret), encrypt(&other));
    let refused = evaluator.multiply_matrix(&PlainMatrix::new(1, 2, &[1.0; 2], 16).unwrap(), &[&a, &b]);
    assert!(refused.err().is_some_and(|error| error.to_string().contains("secret key")));
}

/// Entries that are signed integers of 8 bits, and t of 17: products modulo t, slot by slot.
fn exact(t: u64, n: usize, rng: &mut ChaCha20Rng) -> (Vec<i64>, Vec<Vec<u64>>, Vec<Vec<u64>>) {
    let u: Vec<i64> = (0..4 * 6).map(|_| i64::from(rng.next_u32() as i8)).collect();
    let m: Vec<Vec<u64>> = (0..6).map(|_| (0..n).map(|_| rng.next_u64() % t).collect()).collect();
    let entry = |row: &[i64], c: usize| {
        row.iter().zip(&m).map(|(&u, m)| i128::from(u) * i128::from(m[c])).sum::<i128>().rem_euclid(t.into())
            as u64
    };
    let product = u.chunks(6).map(|row| (0..n).map(|c| entry(row, c)).collect()).collect();
    (u, m, product)
}

#[test]
fn bfv_is_exact() {
    use sunzi_bfv::{Context, Evaluator, Parameters, PreparedMatrix};
    let mut rng = ChaCha20Rng::from_seed([5; 32]);
    let context = Context::new(&Parameters::builder().depth(1).plain_bits(17).build().unwrap()).unwrap();
    let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
    let public = PublicKey::generate(context.rlwe(), &secret, &mut rng).unwrap();
    let encoder = BatchEncoder::new(context.degree(), context.plain_modulus()).unwrap();
    let (u, m, expected) = exact(context.plain_modulus(), context.degree(), &mut rng);
    let rows: Vec<_> = m
        .iter()
        .map(|row| context.encrypt(&encoder.encode(row).unwrap(), &public, &mut rng).unwrap())
        .collect();
    let rows: Vec<_> = rows.iter().collect();
    let evaluator = Evaluator::new(&context);
    let product = evaluator.multiply_matrix(&PreparedMatrix::new(4, 6, &u).unwrap(), &rows).unwrap();
    for (row, expected) in product.iter().zip(&expected) {
        assert_eq!(&encoder.decode(&context.decrypt(row, &secret).unwrap()).unwrap(), expected);
    }
    // A product again, of rows that depend on each other, and entries that leave no message.
    let rows: Vec<_> = product.iter().collect();
    let again =
        evaluator.multiply_matrix(&PreparedMatrix::new(1, 4, &[1, 2, -3, 4]).unwrap(), &rows).unwrap();
    assert!(again[0].noise().deviation.bits() > product[0].noise().deviation.bits() + 3.0);
    let mut large = product.clone();
    for _ in 0..4 {
        let rows: Vec<_> = large.iter().collect();
        large =
            evaluator.multiply_matrix(&PreparedMatrix::new(4, 4, &[i64::MAX; 16]).unwrap(), &rows).unwrap();
    }
    assert!(context.bits_left(&large[0]) < 0.0);
    assert!(context.decrypt(&large[0], &secret).is_err());
}

#[test]
fn bgv_is_exact_and_counts_additions() {
    use sunzi_bgv::{BgvError, Context, Evaluator, Parameters, PreparedMatrix};
    let mut rng = ChaCha20Rng::from_seed([6; 32]);
    let parameters = Parameters::builder().depth(1).plain_bits(17).fresh_additions(6 * 128).build().unwrap();
    let context = Context::new(&parameters).unwrap();
    let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
    let encoder = BatchEncoder::new(context.degree(), context.plain_modulus()).unwrap();
    let (u, m, expected) = exact(context.plain_modulus(), context.degree(), &mut rng);
    let rows: Vec<_> = m
        .iter()
        .map(|row| context.encrypt_secret(&encoder.encode(row).unwrap(), &secret, &mut rng).unwrap())
        .collect();
    let rows: Vec<_> = rows.iter().collect();
    let evaluator = Evaluator::new(&context);
    let product = evaluator.multiply_matrix(&PreparedMatrix::new(4, 6, &u).unwrap(), &rows).unwrap();
    for (row, expected) in product.iter().zip(&expected) {
        assert_eq!(&encoder.decode(&context.decrypt(row, &secret).unwrap()).unwrap(), expected);
    }
    let refused = evaluator.multiply_matrix(&PreparedMatrix::new(1, 6, &[1000; 6]).unwrap(), &rows);
    assert!(matches!(refused, Err(BgvError::Undeclared(_))));
}
