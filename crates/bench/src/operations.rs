//! Every BFV operation, at the largest default modulus that 128-bit security allows each degree.

use std::cell::{Cell, RefCell};
use std::hint::black_box;
use std::ops::RangeInclusive;

use sunzi_bfv::{
    BatchEncoder, Ciphertext, Context, Encoder, Evaluator, Parameters, Plaintext, slot_sum_exponents,
};
use sunzi_math::{DEFAULT_PRIME_BOUND, add_mod, mul_mod, primes_below};
use sunzi_ring::Ring;
use sunzi_rlwe::security::max_log2_modulus;
use sunzi_rlwe::{GaloisKeys, PublicKey, RelinearizationKey, SecretKey, Security, randomness};

use crate::alternate;
use crate::check;
use crate::report::Row;
use crate::{BenchError, Options};

/// log2 of the degrees that are timed unless others are asked for.
pub const LOG_DEGREES: RangeInclusive<u32> = 12..=15;
/// Prime, and ≡ 1 (mod 2n) up to n = 2^15: batching works at every degree timed.
const PLAIN_MODULUS: u64 = 65537;
/// How far the timed rotation goes.
const STEPS: i64 = 1;

/// What is being timed, and how much of the run is done.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// The operation.
    pub name: &'static str,
    /// The degree.
    pub n: usize,
    /// Operations finished so far, over all degrees.
    pub done: usize,
    /// Operations in all.
    pub total: usize,
}

type Cipher = Ciphertext<Ring>;
type Operation<'a> = (&'static str, Box<dyn Fn() -> Result<(), BenchError> + 'a>);

/// Times every operation at every degree asked for; `progress` hears of each before it begins.
///
/// # Errors
/// A degree without a default parameter set; an operation that fails; threads that do not start.
pub fn run(options: &Options, progress: &mut (dyn FnMut(Progress) + Send)) -> Result<Vec<Row>, BenchError> {
    options.validate()?;
    let degrees: Vec<u32> = options.log_degrees(LOG_DEGREES).collect();
    if let Some(got) = degrees.iter().find(|log_n| !LOG_DEGREES.contains(log_n)) {
        let (low, high) = LOG_DEGREES.into_inner();
        return Err(BenchError::Degree { got: *got, low, high });
    }
    let threads = options.threads;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| BenchError::Threads { threads, reason: error.to_string() })?;
    pool.install(|| run_here(options, &degrees, progress))
}

fn run_here(
    options: &Options,
    degrees: &[u32],
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<Vec<Row>, BenchError> {
    let mut rows = Vec::new();
    for log_n in degrees {
        let job = Job::new(*log_n)?;
        let correct = job.holds()?;
        let operations = job.operations();
        let total = operations.len() * degrees.len();
        for (name, operation) in operations {
            progress(Progress { name, n: job.n(), done: rows.len(), total });
            let row = job.time(name, &operation, options.rounds)?;
            rows.push(Row { correct, threads: Some(options.threads), ..row });
        }
    }
    Ok(rows)
}

/// Keys and data of one degree.
struct Job {
    context: Context,
    evaluator: Evaluator,
    encoder: BatchEncoder,
    secret: SecretKey<Ring>,
    public: PublicKey<Ring>,
    relinearization: RelinearizationKey<Ring>,
    galois: GaloisKeys<Ring>,
    values: [Vec<u64>; 2],
    plain: Plaintext,
    a: Cipher,
    b: Cipher,
    rng: RefCell<Box<dyn rand_core::CryptoRng>>,
}

impl Job {
    fn new(log_n: u32) -> Result<Self, BenchError> {
        let context = Context::new(&parameters(log_n)?)?;
        let mut rng: Box<dyn rand_core::CryptoRng> = Box::new(randomness::from_os()?);
        let rlwe = context.rlwe();
        let n = context.degree();
        let secret = SecretKey::generate(rlwe, &mut rng)?;
        let public = PublicKey::generate(rlwe, &secret, &mut rng)?;
        let relinearization = RelinearizationKey::generate(rlwe, &secret, &mut rng)?;
        let exponents = slot_sum_exponents(n, n);
        let galois = GaloisKeys::generate(rlwe, &secret, exponents, &mut rng)?;
        let encoder = BatchEncoder::new(n, PLAIN_MODULUS)?;
        let values = [1, 2].map(|seed| check::residues(n, PLAIN_MODULUS, seed));
        let [left, right] = &values;
        let plain = encoder.encode(right)?;
        let a = context.encrypt(&encoder.encode(left)?, &public, &mut rng)?;
        let b = context.encrypt(&plain, &public, &mut rng)?;
        Ok(Self {
            evaluator: Evaluator::new(&context),
            context,
            encoder,
            secret,
            public,
            relinearization,
            galois,
            values,
            plain,
            a,
            b,
            rng: RefCell::new(rng),
        })
    }

    fn n(&self) -> usize {
        self.context.degree()
    }

    fn time(
        &self,
        name: &'static str,
        operation: &dyn Fn() -> Result<(), BenchError>,
        rounds: usize,
    ) -> Result<Row, BenchError> {
        let failure = Cell::new(None);
        let series = alternate::alone(rounds, &mut || {
            if let Err(error) = operation() {
                failure.set(Some(error));
            }
        });
        if let Some(error) = failure.take() {
            return Err(error);
        }
        Ok(Row {
            name: name.to_owned(),
            n: self.n(),
            log_q: self.context.rlwe().log2_modulus(),
            ours_us: series.median(),
            isa: Some(sunzi_kernels::active_isa()?.to_string()),
            rounds,
            ..Row::default()
        })
    }

    fn operations(&self) -> Vec<Operation<'_>> {
        let mut all = self.key_operations();
        all.extend(self.message_operations());
        all.extend(self.evaluations());
        all
    }

    fn key_operations(&self) -> Vec<Operation<'_>> {
        let rlwe = self.context.rlwe();
        vec![
            operation("secret_key", || SecretKey::<Ring>::generate(rlwe, &mut **self.rng.borrow_mut())),
            operation("public_key", || PublicKey::generate(rlwe, &self.secret, &mut **self.rng.borrow_mut())),
            operation("relinearization_key", || {
                RelinearizationKey::generate(rlwe, &self.secret, &mut **self.rng.borrow_mut())
            }),
            operation("galois_key", || {
                let one = [sunzi_bfv::row_rotation_exponent(self.n(), STEPS)];
                GaloisKeys::generate(rlwe, &self.secret, one, &mut **self.rng.borrow_mut())
            }),
        ]
    }

    fn message_operations(&self) -> Vec<Operation<'_>> {
        let [_, right] = &self.values;
        vec![
            operation("encode", || self.encoder.encode(right)),
            operation("decode", || self.encoder.decode(&self.plain)),
            operation("encrypt_public", || {
                self.context.encrypt(&self.plain, &self.public, &mut **self.rng.borrow_mut())
            }),
            operation("encrypt_secret", || {
                self.context.encrypt_secret(&self.plain, &self.secret, &mut **self.rng.borrow_mut())
            }),
            operation("decrypt", || self.context.decrypt(&self.a, &self.secret)),
        ]
    }

    fn evaluations(&self) -> Vec<Operation<'_>> {
        let Self { evaluator, a, b, .. } = self;
        vec![
            operation("add", || evaluator.add(a, b)),
            operation("add_plain", || evaluator.add_plain(a, &self.plain)),
            operation("multiply_plain", || evaluator.multiply_plain(a, &self.plain)),
            operation("multiply", || evaluator.multiply_unrelinearized(a, b)),
            operation("multiply_relinearize", || evaluator.multiply(a, b, &self.relinearization)),
            operation("square_relinearize", || evaluator.square(a, &self.relinearization)),
            operation("rotate", || evaluator.rotate_rows(a, STEPS, &self.galois)),
            operation("swap_rows", || evaluator.rotate_columns(a, &self.galois)),
            operation("sum_slots", || evaluator.sum_slots(a, &self.galois)),
        ]
    }

    /// Whether each kind of result decrypts to what the plain numbers give.
    fn holds(&self) -> Result<bool, BenchError> {
        let Self { evaluator, a, b, plain, .. } = self;
        let t = PLAIN_MODULUS;
        let [left, right] = &self.values;
        let with = |f: &dyn Fn(u64, u64) -> u64| -> Vec<u64> {
            left.iter().zip(right).map(|(x, y)| f(*x, *y)).collect()
        };
        let half = self.n() / 2;
        let mut rotated = left.clone();
        for row in rotated.chunks_mut(half) {
            row.rotate_left(STEPS.unsigned_abs() as usize);
        }
        let mut swapped = left.clone();
        swapped.rotate_left(half);
        let total = left.iter().sum::<u64>() % t;

        let sum = with(&|x, y| add_mod(x, y, t));
        let product = with(&|x, y| mul_mod(x, y, t));
        let square = with(&|x, _| mul_mod(x, x, t));
        let rlk = &self.relinearization;
        let secretly = self.context.encrypt_secret(plain, &self.secret, &mut **self.rng.borrow_mut())?;
        let cases: [(Cipher, &[u64]); 11] = [
            (a.clone(), left),
            (secretly, right),
            (evaluator.add(a, b)?, &sum),
            (evaluator.add_plain(a, plain)?, &sum),
            (evaluator.multiply_plain(a, plain)?, &product),
            (evaluator.multiply_unrelinearized(a, b)?, &product),
            (evaluator.multiply(a, b, rlk)?, &product),
            (evaluator.square(a, rlk)?, &square),
            (evaluator.rotate_rows(a, STEPS, &self.galois)?, &rotated),
            (evaluator.rotate_columns(a, &self.galois)?, &swapped),
            (evaluator.sum_slots(a, &self.galois)?, &vec![total; self.n()]),
        ];
        for (ciphertext, expected) in &cases {
            let opened = self.context.decrypt(ciphertext, &self.secret)?;
            if self.encoder.decode(&opened)? != *expected {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Names `call`, drops what it returns where the optimiser cannot see that nobody looks.
fn operation<'a, T, E>(name: &'static str, call: impl Fn() -> Result<T, E> + 'a) -> Operation<'a>
where
    BenchError: From<E>,
{
    let call = move || {
        black_box(call()?);
        Ok(())
    };
    (name, Box::new(call))
}

/// As many default primes as 128-bit security allows at this degree.
fn parameters(log_n: u32) -> Result<Parameters, BenchError> {
    let limit = f64::from(max_log2_modulus(log_n, Security::Bits128).unwrap_or_default());
    let each = (DEFAULT_PRIME_BOUND as f64).log2();
    let count = (limit / each).floor().max(1.0) as usize;
    let moduli = primes_below(DEFAULT_PRIME_BOUND, 2 << log_n, count)?;
    Ok(Parameters::new(log_n, moduli, PLAIN_MODULUS, Security::Bits128))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_parameters_fit_the_security_table() {
        for log_n in LOG_DEGREES {
            assert!(parameters(log_n).unwrap().validate().is_ok(), "2^{log_n}");
        }
    }

    #[test]
    fn every_operation_is_timed_and_right() {
        let options = Options { rounds: 1, log_n: vec![12], ..Options::default() };
        let mut heard = 0;
        let rows = run(&options, &mut |_| heard += 1).unwrap();
        assert_eq!(rows.len(), heard);
        assert!(rows.iter().all(|row| row.correct && row.ours_us > 0.0), "{rows:?}");
    }

    #[test]
    fn a_degree_without_a_default_set_is_refused() {
        let options = Options { log_n: vec![16], ..Options::default() };
        let error = run(&options, &mut |_| ()).unwrap_err();
        assert!(matches!(error, BenchError::Degree { got: 16, .. }), "{error}");
    }
}
