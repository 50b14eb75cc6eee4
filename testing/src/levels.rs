//! Circuits under BGV: inside a declared budget nothing is refused, outside it nothing is wrong.

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sunzi_bgv::{BgvError, Ciphertext, Context, Evaluator, Operations};
use sunzi_encoding::{BatchEncoder, Encoder, row_rotation_exponent, row_swap_exponent};
use sunzi_ring::PolyRing;
use sunzi_rlwe::{GaloisKeys, PublicKey, RelinearizationKey, SecretKey};

use crate::{Circuit, Operation};

/// Everybody's keys in one place: for tests only.
pub struct LevelParty<R: PolyRing> {
    /// The context.
    pub context: Context<R>,
    /// The secret key.
    pub secret: SecretKey<R>,
    /// The public key.
    pub public: PublicKey<R>,
    /// The relinearisation key.
    pub relinearization: RelinearizationKey<R>,
    /// Galois keys for every rotation.
    pub galois: GaloisKeys<R>,
    /// The slot encoder.
    pub encoder: BatchEncoder,
}

/// What running circuits showed.
#[derive(Clone, Debug, Default)]
pub struct LevelReport {
    /// What must not happen, in words.
    pub failures: Vec<String>,
    /// Values inside the budget, all of them decrypted.
    pub inside: usize,
    /// Values outside the budget that decrypted nevertheless.
    pub outside: usize,
    /// Operations that were refused, all outside the budget.
    pub refused: usize,
    /// Bits between the true noise and the bound of each value.
    pub gaps: Vec<f64>,
}

/// What a value has used, counted apart from the library.
#[derive(Clone, Copy)]
struct Book {
    level: usize,
    used: Operations,
    inside: bool,
}

impl Book {
    fn brought_to(self, level: usize) -> Self {
        if level == self.level { self } else { Self { level, used: Operations::default(), ..self } }
    }
}

struct Value<R: PolyRing> {
    ciphertext: Ciphertext<R>,
    book: Book,
}

impl<R: PolyRing> LevelParty<R> {
    /// Makes all keys from a seed, Galois keys for every rotation and the swap of rows among them.
    ///
    /// # Errors
    /// Those of key generation and encoding.
    pub fn new(context: Context<R>, seed: u64) -> Result<Self, BgvError> {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let (rlwe, degree) = (context.rlwe(), context.degree());
        let secret = SecretKey::generate(rlwe, &mut rng)?;
        let rotations = (0..degree as i64 / 2).map(|steps| row_rotation_exponent(degree, steps));
        let exponents = rotations.chain([row_swap_exponent(degree)]);
        Ok(Self {
            public: PublicKey::generate(rlwe, &secret, &mut rng)?,
            relinearization: RelinearizationKey::generate(rlwe, &secret, &mut rng)?,
            galois: GaloisKeys::generate(rlwe, &secret, exponents, &mut rng)?,
            encoder: BatchEncoder::new(degree, context.plain_modulus())?,
            secret,
            context,
        })
    }

    /// Runs the circuit under encryption, skipping what depends on refused values, and compares every value with the
    /// oracle.
    ///
    /// # Errors
    /// Those of encoding and decryption: there should be none.
    pub fn check(&self, circuit: &Circuit, seed: u64) -> Result<LevelReport, BgvError> {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let expected = circuit.run_clear();
        let mut values: Vec<Option<Value<R>>> = Vec::with_capacity(circuit.operations.len());
        let mut report = LevelReport::default();
        for (operation, expected) in circuit.operations.iter().zip(&expected) {
            let value = match self.book(operation, &values) {
                Some(book) => {
                    let result = self.step(circuit, operation, &values, &mut rng);
                    self.judge(operation, result, book, expected, &mut report)?
                }
                None => None,
            };
            values.push(value);
        }
        Ok(report)
    }

    fn judge(
        &self,
        operation: &Operation,
        result: Result<Ciphertext<R>, BgvError>,
        book: Result<Book, ()>,
        expected: &[u64],
        report: &mut LevelReport,
    ) -> Result<Option<Value<R>>, BgvError> {
        let ciphertext = match (result, &book) {
            (Ok(ciphertext), _) => ciphertext,
            (Err(BgvError::BudgetExceeded { .. }), Ok(Book { inside: false, .. }))
            | (Err(BgvError::DepthExceeded { .. }), Err(())) => {
                report.refused += 1;
                return Ok(None);
            }
            (Err(error), _) => {
                report.failures.push(format!("{operation:?} was refused: {error}"));
                return Ok(None);
            }
        };
        let Ok(book) = book else {
            report.failures.push(format!("{operation:?} went below the last level"));
            return Ok(None);
        };
        let message = self.encoder.encode(expected)?;
        if self.context.decrypt(&ciphertext, &self.secret)? != message {
            report.failures.push(format!("{operation:?} decrypts wrongly"));
        }
        if ciphertext.metadata().level() != book.level {
            report.failures.push(format!("{operation:?} left level {}", ciphertext.metadata().level()));
        }
        let measured = self.context.measure_noise(&ciphertext, &message, &self.secret)?;
        let bound = ciphertext.noise().bound(self.context.degree()).bits();
        if measured > bound || measured > ciphertext.noise().worst.bits() {
            report
                .failures
                .push(format!("{operation:?}: noise 2^{measured:.2} above {:?}", ciphertext.noise()));
        }
        report.gaps.push(bound - measured);
        *(if book.inside { &mut report.inside } else { &mut report.outside }) += 1;
        Ok(Some(Value { ciphertext, book }))
    }

    /// What the result will have used: nothing without its operands, an error beyond the depth.
    fn book(&self, operation: &Operation, values: &[Option<Value<R>>]) -> Option<Result<Book, ()>> {
        let of = |i: usize| values.get(i).and_then(Option::as_ref).map(|value| value.book);
        let depth = self.context.depth();
        let mut book = match *operation {
            Operation::Input(_) => Book { level: depth, used: Operations::default(), inside: true },
            Operation::Add(a, b) | Operation::Sub(a, b) => {
                let (a, b) = (of(a)?, of(b)?);
                let level = a.level.min(b.level);
                let (a, b) = (a.brought_to(level), b.brought_to(level));
                let used = Operations {
                    additions: a.used.additions + b.used.additions + 1,
                    rotations: a.used.rotations + b.used.rotations,
                    plain_products: a.used.plain_products.max(b.used.plain_products),
                };
                Book { level, used, inside: a.inside && b.inside }
            }
            Operation::Multiply(a, b) => {
                let (a, b) = (of(a)?, of(b)?);
                let Some(level) = a.level.min(b.level).checked_sub(1) else { return Some(Err(())) };
                Book { level, used: Operations::default(), inside: a.inside && b.inside }
            }
            Operation::Square(a) => {
                let a = of(a)?;
                let Some(level) = a.level.checked_sub(1) else { return Some(Err(())) };
                Book { level, used: Operations::default(), ..a }
            }
            Operation::Negate(a) | Operation::AddPlain(a, _) | Operation::SubPlain(a, _) => of(a)?,
            Operation::MultiplyPlain(a, _) => {
                let mut book = of(a)?;
                book.used.plain_products += 1;
                book
            }
            Operation::MultiplyScalar(a, c) => {
                let mut book = of(a)?;
                let factor = c.unsigned_abs().max(1);
                book.used.additions = (book.used.additions + 1) * factor - 1;
                book.used.rotations *= factor;
                book
            }
            Operation::Rotate(a, _) | Operation::Swap(a) => {
                let mut book = of(a)?;
                book.used.rotations += 1;
                book
            }
        };
        let declared = self.context.budget().at(book.level, depth);
        book.inside &= book.used.additions <= declared.additions
            && book.used.rotations <= declared.rotations
            && book.used.plain_products <= declared.plain_products;
        Some(Ok(book))
    }

    fn step(
        &self,
        circuit: &Circuit,
        operation: &Operation,
        values: &[Option<Value<R>>],
        rng: &mut ChaCha20Rng,
    ) -> Result<Ciphertext<R>, BgvError> {
        let evaluator = Evaluator::new(&self.context);
        let value = |i: usize| {
            let value = values.get(i).and_then(Option::as_ref);
            value.map(|value| &value.ciphertext).ok_or(BgvError::Empty { what: "a circuit" })
        };
        let input = |i: usize| self.encoder.encode(crate::circuit::row(&circuit.inputs, i));
        let (relinearization, galois) = (&self.relinearization, &self.galois);
        match *operation {
            Operation::Input(i) if i % 2 == 0 => self.context.encrypt(&input(i)?, &self.public, rng),
            Operation::Input(i) => self.context.encrypt_secret(&input(i)?, &self.secret, rng),
            Operation::Add(a, b) => evaluator.add(value(a)?, value(b)?),
            Operation::Sub(a, b) => evaluator.sub(value(a)?, value(b)?),
            Operation::Negate(a) => evaluator.negate(value(a)?),
            Operation::Multiply(a, b) => evaluator.multiply(value(a)?, value(b)?, relinearization),
            Operation::Square(a) => evaluator.square(value(a)?, relinearization),
            Operation::AddPlain(a, p) => evaluator.add_plain(value(a)?, &input(p)?),
            Operation::SubPlain(a, p) => evaluator.sub_plain(value(a)?, &input(p)?),
            Operation::MultiplyPlain(a, p) => evaluator.multiply_plain(value(a)?, &input(p)?),
            Operation::MultiplyScalar(a, c) => evaluator.multiply_scalar(value(a)?, c),
            Operation::Rotate(a, steps) => evaluator.rotate_rows(value(a)?, steps, galois),
            Operation::Swap(a) => evaluator.rotate_columns(value(a)?, galois),
        }
    }
}
