//! Random circuits under BGV: inside a declared budget of levels nothing is refused, outside it every operation.

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sunzi_bgv::{BgvError, Ciphertext, Context, Operations};
use sunzi_circuits::CircuitError;

use crate::{Circuit, Operation, Party, Report};

/// Report of runs of circuits under BGV.
#[derive(Clone, Debug, Default)]
pub struct LevelReport {
    /// Failures of the runs of circuits, in words.
    pub failures: Vec<String>,
    /// Number of values inside the budget of levels, all of them decrypted.
    pub inside: usize,
    /// Number of operations refused, all outside the budget of levels.
    pub refused: usize,
    /// Bits between the true noise and the bound of each value.
    pub gaps: Vec<f64>,
}

/// Budget of levels that a value has used, counted apart from the library.
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

struct Value {
    ciphertext: Ciphertext,
    book: Book,
}

impl Party<Context> {
    /// Runs the circuit under encryption, skipping values that depend on refused ones, and compares every value with the
    /// oracle.
    ///
    /// # Errors
    /// Every error of encoding and decryption, of which none is expected.
    pub fn check_budget(&self, circuit: &Circuit, seed: u64) -> Result<LevelReport, BgvError> {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let expected = circuit.run_clear();
        let mut values: Vec<Option<Value>> = Vec::with_capacity(circuit.operations.len());
        let mut report = LevelReport::default();
        for (operation, expected) in circuit.operations.iter().zip(&expected) {
            let value = match self.book(operation, &values) {
                Some(book) => {
                    let value = |i: usize| values.get(i).and_then(Option::as_ref).map(|v| &v.ciphertext);
                    let result = self.step(circuit, operation, value, &mut rng);
                    self.judge_budget(operation, result, book, expected, &mut report)?
                }
                None => None,
            };
            values.push(value);
        }
        Ok(report)
    }

    fn judge_budget(
        &self,
        operation: &Operation,
        result: Result<Ciphertext, CircuitError<BgvError>>,
        book: Result<Book, ()>,
        expected: &[u64],
        report: &mut LevelReport,
    ) -> Result<Option<Value>, BgvError> {
        let ciphertext = match (result, &book) {
            (Ok(ciphertext), _) => ciphertext,
            (Err(CircuitError::Scheme(BgvError::Undeclared(_))), Ok(Book { inside: false, .. }))
            | (Err(CircuitError::Scheme(BgvError::DepthExceeded { .. })), Err(())) => {
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
        let level = ciphertext.metadata().level();
        if level != book.level {
            report.failures.push(format!("{operation:?} left level {level} instead of {}", book.level));
        }
        let mut shown = Report::default();
        self.judge(operation, &ciphertext, expected, &mut shown)?;
        if !(shown.wrong.is_empty() && shown.above_worst.is_empty() && shown.above_deviation.is_empty()) {
            report.failures.push(format!("{shown:?}, {:?}", ciphertext.noise()));
        }
        report.gaps.extend(shown.gaps);
        if !book.inside {
            report.failures.push(format!("{operation:?} went beyond the declaration unnoticed"));
        }
        report.inside += 1;
        Ok(Some(Value { ciphertext, book }))
    }

    /// Returns the budget that the operation's result will have used: `None` without its operands, an error
    /// beyond the depth.
    fn book(&self, operation: &Operation, values: &[Option<Value>]) -> Option<Result<Book, ()>> {
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
            // A rotation by whole rows changes nothing and takes no key.
            Operation::Rotate(a, steps) if steps % (self.context.degree() / 2) as i64 == 0 => of(a)?,
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
}
