//! Tests of products of encrypted matrices against clear sums, and of their errors against what they state.

use chacha20::ChaCha20Rng;
use chacha20::rand_core::{Rng as _, SeedableRng};
use sunzi_ckks::{Context, Evaluator, LevelRange, Parameters};
use sunzi_rlwe::{PublicKey, RlweError, Security};

use super::*;

/// Two moduli, 40 bits of scale.
fn context(log2_degree: u32, levels: usize) -> Context {
    let ranges = [LevelRange { levels, scale_bits: 40 }];
    let security = Security::InsecureForResearchOnly;
    Context::new(
        &Parameters::from_ranges(log2_degree, 55, &ranges, security).unwrap().with_digits(2).unwrap(),
    )
    .unwrap()
}

/// Numbers between −1 and 1.
fn numbers(count: usize, rng: &mut ChaCha20Rng) -> Vec<f64> {
    (0..count).map(|_| f64::from(rng.next_u32() as i32) / 2_f64.powi(31)).collect()
}

/// Products of `count` matrices by sums.
fn clear(count: usize, [rows, inner, columns]: [usize; 3], a: &[f64], b: &[f64]) -> Vec<f64> {
    let entry = |m: usize, i: usize, j: usize| -> f64 {
        (0..inner).map(|k| a[(m * rows + i) * inner + k] * b[(m * inner + k) * columns + j]).sum()
    };
    let places =
        (0..count * rows * columns).map(|at| (at / columns / rows, at / columns % rows, at % columns));
    places.map(|(m, i, j)| entry(m, i, j)).collect()
}

fn transposed(count: usize, [rows, columns]: [usize; 2], a: &[f64]) -> Vec<f64> {
    let entry = |m: usize, j: usize, i: usize| a[(m * rows + i) * columns + j];
    (0..count * rows * columns).map(|at| entry(at / rows / columns, at / rows % columns, at % rows)).collect()
}

fn largest_error(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

struct Party {
    context: Context,
    secret: SecretKey,
    evaluator: Evaluator,
    rng: ChaCha20Rng,
}

impl Party {
    fn new(log2_degree: u32, levels: usize, seed: u8) -> Self {
        let (context, mut rng) = (context(log2_degree, levels), ChaCha20Rng::from_seed([seed; 32]));
        let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
        Self { evaluator: Evaluator::new(&context), context, secret, rng }
    }

    fn keys(&mut self, size: usize) -> MatrixKeys {
        MatrixKeys::generate(&self.context, &self.secret, size, &mut self.rng).unwrap()
    }

    fn encrypt(&mut self, size: usize, shape: [usize; 2], entries: &[f64], by: Lines) -> MatrixBatch {
        let key = (&self.secret).into();
        MatrixBatch::encrypt(&self.context, size, shape, entries, by, key, &mut self.rng).unwrap()
    }

    fn open(&self, batch: &MatrixBatch) -> Vec<f64> {
        batch.decrypt(&self.context, &self.secret).unwrap()
    }
}

/// Every number of subring slots: one integer, one slot, several; full and small shapes, full and part batches.
#[test]
fn products_are_right_and_have_the_errors_they_state() {
    for (log2_degree, size, count, shape) in [
        (6, 64, 1, [64, 64, 64]),
        (7, 64, 1, [64, 64, 64]),
        (9, 64, 4, [64, 64, 64]),
        (9, 64, 3, [1, 7, 2]),
        (9, 128, 2, [128, 100, 128]),
        (9, 512, 1, [30, 1, 512]),
        (10, 256, 1, [256, 33, 10]),
    ] {
        let mut party = Party::new(log2_degree, 1, 1);
        let keys = party.keys(size);
        let [rows, inner, columns] = shape;
        let (a, b) =
            (numbers(count * rows * inner, &mut party.rng), numbers(count * inner * columns, &mut party.rng));
        let expected = clear(count, shape, &a, &b);
        for (left, right) in [(Lines::Columns, Lines::Rows), (Lines::Rows, Lines::Columns)] {
            let x = party.encrypt(size, [rows, inner], &a, left);
            let y = party.encrypt(size, [inner, columns], &b, right);
            let product = x.multiplied(&party.evaluator, &y, &keys).unwrap();
            assert_eq!(
                (product.shape(), product.count(), product.lines()),
                ([rows, columns], count, Lines::Rows)
            );
            assert_eq!(product.ciphertexts().len(), rows);
            assert_eq!(product.ciphertexts()[0].metadata().level, 0);
            let (error, stated) = (largest_error(&party.open(&product), &expected), product.deviation());
            // An estimate that is far too large is a defect too.
            assert!(error < 6.0 * stated, "{log2_degree} {size} {shape:?}: {error:e} of {stated:e}");
            assert!(
                error > 0.05 * stated || left == Lines::Rows,
                "{size} {shape:?}: {error:e} of {stated:e}"
            );
        }
    }
}

/// Two key switches for an automorphism give what one gives, up to noise; public keys serve as secret ones.
#[test]
fn few_keys_serve() {
    let mut party = Party::new(9, 1, 2);
    let keys = MatrixKeys::generate_few(&party.context, &party.secret, 128, &mut party.rng).unwrap();
    assert!(keys.byte_len() < party.keys(128).byte_len() / 5);
    let public = PublicKey::generate(party.context.rlwe(), &party.secret, &mut party.rng).unwrap();
    let a = numbers(2 * 100 * 128, &mut party.rng);
    let key = (&public).into();
    let x =
        MatrixBatch::encrypt(&party.context, 128, [100, 128], &a, Lines::Rows, key, &mut party.rng).unwrap();
    let turned = x.by(&party.evaluator, Lines::Columns, &keys).unwrap();
    assert_eq!((turned.ciphertexts().len(), turned.lines()), (128, Lines::Columns));
    assert!(largest_error(&party.open(&turned), &a) < 6.0 * turned.deviation());
    // Aᵀ·A by the free transposition.
    let square = x.clone().transposed().multiplied(&party.evaluator, &x, &keys).unwrap();
    let expected = clear(2, [128, 100, 128], &transposed(2, [100, 128], &a), &a);
    assert!(largest_error(&party.open(&square), &expected) < 6.0 * square.deviation());
}

/// A·(B·C) and (A·B)·C over two levels.
#[test]
fn products_of_products() {
    let mut party = Party::new(8, 2, 3);
    let keys = party.keys(64);
    let all: Vec<Vec<f64>> = (0..3).map(|_| numbers(2 * 40 * 40, &mut party.rng)).collect();
    let all: Vec<Vec<f64>> = all.iter().map(|a| a.iter().map(|a| a / 6.0).collect()).collect();
    let [a, b, c] = [0, 1, 2].map(|i| party.encrypt(64, [40, 40], &all[i], Lines::Rows));
    let shape = [40; 3];
    let expected = clear(2, shape, &clear(2, shape, &all[0], &all[1]), &all[2]);
    let times = |a: &MatrixBatch, b: &MatrixBatch| a.multiplied(&party.evaluator, b, &keys).unwrap();
    for product in [times(&times(&a, &b), &c), times(&a, &times(&b, &c))] {
        assert_eq!(product.ciphertexts()[0].metadata().level, 0);
        let (error, stated) = (largest_error(&party.open(&product), &expected), product.deviation());
        assert!(error < 6.0 * stated, "{error:e} of {stated:e}");
    }
}

/// The printed bound on noise holds for every coefficient, on numbers that make errors as large as they get: all entries
/// the largest with one sign, and both factors one ciphertext again and again.
#[test]
fn bounds_hold_on_the_worst_numbers() {
    for (log2_degree, size, inner) in [(7, 64, 64), (7, 128, 100), (9, 64, 10)] {
        let mut party = Party::new(log2_degree, 1, 4);
        let keys = party.keys(size);
        let count = MatrixBatch::capacity(&party.context, size);
        let ones = vec![1.0; count * size];
        let line = party.encrypt(size, [1, size], &ones, Lines::Rows).lines[0].clone();
        let lines = vec![line; inner];
        let batch = |shape, by| MatrixBatch { lines: lines.clone(), size, count, shape, by };
        let (left, right) = (batch([size, inner], Lines::Columns), batch([inner, size], Lines::Rows));
        let product = left.multiplied(&party.evaluator, &right, &keys).unwrap();
        let error = largest_error(&party.open(&product), &vec![inner as f64; count * size * size]);
        assert!(error < 6.0 * product.deviation(), "{error:e} of {:e}", product.deviation());
        // Coefficients of the exact product are inner·scale at X^j, j < d: slots of equal numbers are constants.
        let row = &product.ciphertexts()[size / 2];
        let scale = row.metadata().scale;
        let opened = party.context.decrypt(row, &party.secret).unwrap();
        let coefficients = opened.to_coefficients(&party.context).unwrap();
        let n = party.context.degree();
        let expected = (inner as f64 * scale).round();
        let worst = (0..n).map(|j| (coefficients[j] - if j < size { expected } else { 0.0 }).abs());
        let worst = worst.fold(0.0, f64::max);
        let (bound, tail) = (row.noise().worst_case(n).bits().exp2(), row.noise().bound(n).bits().exp2());
        assert!(worst < bound && worst < tail, "{worst:e}, worst case {bound:e}, tail {tail:e}");
    }
}

/// Ciphertexts of the rows of a product serve other operations: a sum of products is a product of sums.
#[test]
fn rows_are_usual_ciphertexts() {
    let mut party = Party::new(8, 1, 5);
    let keys = party.keys(64);
    let (a, b) = (numbers(64 * 64, &mut party.rng), numbers(64 * 64, &mut party.rng));
    let (x, y) =
        (party.encrypt(64, [64, 64], &a, Lines::Columns), party.encrypt(64, [64, 64], &b, Lines::Rows));
    let product = x.multiplied(&party.evaluator, &y, &keys).unwrap();
    let lines: Vec<Ciphertext> =
        product.lines.iter().map(|row| party.evaluator.add(row, row).unwrap()).collect();
    let doubled = MatrixBatch { lines, ..product };
    let expected: Vec<f64> = clear(1, [64; 3], &a, &b).iter().map(|number| 2.0 * number).collect();
    assert!(largest_error(&party.open(&doubled), &expected) < 6.0 * doubled.deviation());
}

#[test]
fn refusals() {
    let mut party = Party::new(8, 1, 6);
    let encrypt = |party: &mut Party, size, shape, entries: &[f64]| {
        let (key, rng) = ((&party.secret).into(), &mut party.rng);
        MatrixBatch::encrypt(&party.context, size, shape, entries, Lines::Rows, key, rng).map(drop)
    };
    for shape in [[0, 1], [1, 0], [65, 1], [1, 65], [usize::MAX, 2]] {
        let refused = encrypt(&mut party, 64, shape, &[1.0; 65]);
        assert!(matches!(refused, Err(CircuitError::MatrixShape { .. })), "{shape:?}: {refused:?}");
    }
    for entries in [&[][..], &[1.0; 3]] {
        assert!(matches!(encrypt(&mut party, 64, [2, 1], entries), Err(CircuitError::MatrixRows { .. })));
    }
    for size in [0, 1, 32, 96, 512] {
        let scheme = |refused: Result<(), Error>| {
            matches!(refused, Err(CircuitError::Scheme(CkksError::Rlwe(RlweError::Ring(_)))))
        };
        assert!(scheme(encrypt(&mut party, size, [1, 1], &[1.0])), "{size}");
        let made = MatrixKeys::generate(&party.context, &party.secret, size, &mut party.rng);
        assert!(scheme(made.map(drop)), "{size}");
    }
    let many = encrypt(&mut party, 64, [1, 1], &[1.0; 3]);
    assert!(
        matches!(
            many,
            Err(CircuitError::Scheme(CkksError::Encoder(EncoderError::TooManyValues { got: 3, slots: 2 })))
        ),
        "{many:?}"
    );
    for number in [f64::NAN, f64::INFINITY, 1e300] {
        assert!(
            matches!(encrypt(&mut party, 64, [1, 1], &[number]), Err(CircuitError::Scheme(_))),
            "{number}"
        );
    }
}

#[test]
fn factors_that_do_not_fit_are_refused() {
    let mut party = Party::new(8, 1, 6);
    let keys = party.keys(64);
    let (a, b) = (numbers(64 * 3, &mut party.rng), numbers(2 * 64 * 3, &mut party.rng));
    let x = party.encrypt(64, [64, 3], &a, Lines::Columns);
    let evaluator = party.evaluator.clone();
    let other = party.encrypt(64, [64, 3], &a, Lines::Rows);
    let differ = |left, right, refused: Result<MatrixBatch, Error>| {
        assert!(
            matches!(refused, Err(CircuitError::LengthsDiffer { left: l, right: r }) if (l, r) == (left, right)),
            "{refused:?}"
        );
    };
    differ(3, 64, x.multiplied(&evaluator, &other, &keys));
    let two = party.encrypt(64, [3, 64], &b, Lines::Rows);
    differ(1, 2, x.multiplied(&evaluator, &two, &keys));
    let one = other.transposed().by(&evaluator, Lines::Rows, &keys).unwrap();
    let large = party.keys(128);
    assert!(matches!(
        x.multiplied(&evaluator, &one, &large),
        Err(CircuitError::PlanMismatch { got: 128, .. })
    ));
    // A level is taken, and keys of another secret are refused.
    let product = x.multiplied(&evaluator, &one, &keys).unwrap();
    let again = product.multiplied(&evaluator, &product, &keys);
    assert!(matches!(again, Err(CircuitError::Scheme(CkksError::LevelExhausted { .. }))), "{again:?}");
    let mut stranger = Party::new(8, 1, 7);
    let strange = stranger.keys(64);
    let refused = x.multiplied(&evaluator, &one, &strange);
    assert!(
        matches!(refused, Err(CircuitError::Scheme(CkksError::Rlwe(RlweError::KeyMismatch { .. })))),
        "{refused:?}"
    );
    // A key is missing.
    let none = MatrixKeys { galois: GaloisKeys::none(party.context.rlwe(), party.secret.id()), ..keys };
    let refused = x.multiplied(&evaluator, &one, &none);
    assert!(matches!(refused, Err(CircuitError::Scheme(CkksError::MissingRotation { .. }))), "{refused:?}");
}

/// Sums that may exceed the modulus are refused before any work.
/// Tests that a real ring, which has no powers of X, is refused before any work.
#[test]
fn real_rings_are_refused() {
    let security = Security::InsecureForResearchOnly;
    let parameters = Parameters::builder().depth(1).precision(15).log2_degree(8).real_slots(true);
    let context = Context::new(&parameters.security(security).build().unwrap()).unwrap();
    let mut rng = ChaCha20Rng::from_seed([9; 32]);
    let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
    let keys = MatrixKeys::generate(&context, &secret, 64, &mut rng).map(drop);
    let by = Lines::Rows;
    let batch = MatrixBatch::encrypt(&context, 64, [1, 1], &[1.0], by, (&secret).into(), &mut rng).map(drop);
    for refused in [keys, batch] {
        assert!(refused.unwrap_err().to_string().contains("in a whole ring"));
    }
}

#[test]
fn large_numbers_are_refused() {
    let mut party = Party::new(7, 1, 8);
    // Factors may have entries of up to 2^5, sums of 64 products of them do not fit.
    let ranges = [LevelRange { levels: 1, scale_bits: 40 }];
    let security = Security::InsecureForResearchOnly;
    let parameters = Parameters::from_ranges(7, 55, &ranges, security).unwrap().with_digits(2).unwrap();
    party.context = Context::new(&parameters.with_message_bits(5)).unwrap();
    party.evaluator = Evaluator::new(&party.context);
    let keys = party.keys(64);
    let x = party.encrypt(64, [64, 64], &[20.0; 64 * 64], Lines::Columns);
    let y = party.encrypt(64, [64, 64], &[20.0; 64 * 64], Lines::Rows);
    let refused = x.multiplied(&party.evaluator, &y, &keys);
    assert!(matches!(refused, Err(CircuitError::Scheme(CkksError::MessageTooLarge { .. }))), "{refused:?}");
}

/// Rows in slots, whose products stay in slots: of numbers at the ends of their range, at two levels, against bounds.
#[test]
fn rows_of_any_encoding_come_back_in_it() {
    for (log2_degree, size, [rows, inner]) in [(7, 64, [64, 5]), (9, 64, [3, 64]), (9, 256, [200, 2])] {
        let mut party = Party::new(log2_degree, 2, 7);
        let (keys, slots) = (party.keys(size), party.context.max_slots());
        let capacity = MatrixBatch::capacity(&party.context, size);
        let mut a = numbers(rows * inner, &mut party.rng);
        a[..2].copy_from_slice(&[1.0, -1.0]);
        let all = a.repeat(capacity);
        let columns = party.encrypt(size, [rows, inner], &all, Lines::Columns);
        let columns: Vec<&Ciphertext> = columns.ciphertexts().iter().collect();
        let encoder = sunzi_ckks::Encoder::new(&party.context, slots).unwrap();
        let mut b = numbers(inner * slots, &mut party.rng);
        b[..slots].fill(1.0);
        for level in [2, 1] {
            let scale = party.context.scale(level).unwrap();
            let encrypted = b.chunks(slots).map(|row| {
                let row = encoder.encode_real_at(row, level, scale).unwrap();
                party.context.encrypt_secret(&row, &party.secret, &mut party.rng).unwrap()
            });
            let lines: Vec<Ciphertext> = encrypted.collect();
            let lines: Vec<&Ciphertext> = lines.iter().collect();
            let lowered: Vec<Ciphertext> =
                columns.iter().map(|column| party.evaluator.level_to(column, level).unwrap()).collect();
            let lowered: Vec<&Ciphertext> = lowered.iter().collect();
            let products = keys.multiply(&party.evaluator, &lowered, &lines).unwrap();
            assert_eq!(products.len(), size);
            let expected = clear(1, [rows, inner, slots], &a, &b);
            for (i, product) in products.iter().enumerate() {
                let metadata = product.metadata();
                assert_eq!(metadata.level, level - 1);
                let plaintext = party.context.decrypt(product, &party.secret).unwrap();
                let got = encoder.decode_real(&plaintext).unwrap();
                let zero = vec![0.0; slots];
                let expected = expected.get(i * slots..(i + 1) * slots).unwrap_or(&zero);
                let (error, stated) = (largest_error(&got, expected), metadata.precision.deviation());
                assert!(error < 6.0 * stated, "row {i} of {size}: {error:e} of {stated:e}");
                let bound = product.noise().peak.bits().exp2() * party.context.degree() as f64 / 2.0;
                assert!(error <= bound / metadata.scale, "row {i}: {error:e} beyond the bound");
            }
        }
    }
}
